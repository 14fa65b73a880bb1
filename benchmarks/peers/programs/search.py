"""A search, ours or pymoo's: the front of the reference problem in a given time, and the time until
the fastest design point of HaX-CoNN's sample. Both evaluate by our timeline, on one thread.

Usage: ``python -m benchmarks.peers.programs.search nsga2|pymoo-nsga2 SECONDS SEEDS``
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.peers.programs.answer import Answer, print_answer, version_of
from benchmarks.problems.hax_sample import KNOWN_BEST_MAKESPAN_PS, hax_sample
from benchmarks.problems.reference_problem import reference_problem
from benchmarks.problems.search_problems import reference_front
from benchmarks.search import MakeEngine, hypervolume_share
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.optimizers.pymoo_adapters import stock_nsga2
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.problem import Problem

ENGINES: dict[str, tuple[MakeEngine, str]] = {
    "nsga2": (RestartingNsga2, "paretosoc"),
    "pymoo-nsga2": (stock_nsga2, "pymoo"),
}
SAMPLE_TRANSITIONS = 1
"""Most changes of unit per network in HaX-CoNN's sample, as its public solver has it."""


def search_answer(engine: str, *, seconds: float, seeds: int) -> Answer:
    """Return medians of ``seeds`` searches of ``seconds`` each, with ``optimum_s`` if each found
    it."""
    make, distribution = ENGINES[engine]
    best = KNOWN_BEST_MAKESPAN_PS[True, SAMPLE_TRANSITIONS]
    problems = reference_problem(), hax_sample(max_transitions=SAMPLE_TRANSITIONS)
    for problem in problems:
        # Machine code is loaded before it counts.
        _search(make, problem, seed=seeds, seconds=0.0)
    runs = [_search(make, problems[0], seed=seed, seconds=seconds) for seed in range(seeds)]
    found = [
        _search(make, problems[1], seed=seed, seconds=seconds, until=best) for seed in range(seeds)
    ]
    reached = all(_fastest(run.archive) <= best for run in found)
    front = reference_front()
    return Answer(
        version=version_of(distribution),
        design_points_per_second=statistics.median(run.archive.added / run.seconds for run in runs),
        optimum_s=statistics.median(run.seconds for run in found) if reached else None,
        share_percent=statistics.median(
            hypervolume_share(run.archive.objectives, front) for run in runs
        ),
    )


@dataclass(frozen=True, eq=False)
class _Run:
    archive: Archive
    seconds: float


def _search(
    make: MakeEngine, problem: Problem, *, seed: int, seconds: float, until: int | None = None
) -> _Run:
    """Run batches until the time is up or the first objective is as small as ``until``."""
    space, evaluate = DesignSpace(problem), make_outcomes(problem, jobs=1)
    archive = Archive(space.width, len(problem.objectives), len(constraints_of(problem)))
    began = time.process_time()
    engine = make(space, seed=seed)
    while True:
        rows = engine.ask()
        outcomes = evaluate(rows)
        archive.add(rows, outcomes)
        spent = time.process_time() - began
        if spent >= seconds or (until is not None and _fastest(archive) <= until):
            return _Run(archive, spent)
        engine.tell(rows, outcomes)


def _fastest(archive: Archive) -> int:
    return int(archive.objectives[:, 0].min(initial=INT64_MAX))


def main(arguments: Sequence[str]) -> None:
    """Prints the answer."""
    engine, seconds, seeds = arguments
    print_answer(search_answer(engine, seconds=float(seconds), seeds=int(seeds)))


if __name__ == "__main__":
    main(sys.argv[1:])
