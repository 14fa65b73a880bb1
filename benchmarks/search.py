"""Searches side by side: engine x problem x evaluations x seconds x share of the hypervolume.

Problems (``benchmarks/problems/search_problems.py``): the reference problem, two networks on two
units of Xavier, and ten networks (1,027 layers, 197 groups) on all units of Xavier at all clocks.
The share is that of the exact front's hypervolume or, if the exact search does not end, of the
union of all fronts found here, up to 1.1 x the nadir of that front. Median and worst of all seeds.
Seconds are those of the whole search with two threads, compilation not counted. "own" is the part
of them that is not evaluation, per design point.

Usage: ``python -m benchmarks.search [--json | --markdown] [--seeds 10] [--problem NAME]
[--against COMMIT]``, or ``--exhaustive``, which computes the exact front of the reference problem
anew and compares it (minutes).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.harness.against import add_option, shown_against
from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.problems.search_problems import PROBLEMS, SearchProblem, reference_front
from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.search.base import Engine
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.annealing import AnnealingEngine
from paretosoc.dse.search.optimizers.plain import ExhaustiveEngine, RandomEngine
from paretosoc.dse.search.optimizers.pymoo_adapters import nsga2 as pymoo_loop
from paretosoc.dse.search.optimizers.pymoo_adapters import stock_nsga2
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import OutcomeFunction, Outcomes, make_outcomes
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.problem.problem import Problem

JOBS = 2
COLUMNS = (
    Column("problem", "problem"),
    Column("engine", "engine"),
    Column("evaluations", "evaluations", ",.0f"),
    Column("seconds", "seconds", ".2f"),
    Column("per_second", "evaluations /s", ",.0f"),
    Column("own_us", "own us", ".1f"),
    Column("members", "members", ",.0f"),
    Column("median_percent", "share, median", ".3f"),
    Column("worst_percent", "worst", ".3f"),
)
MakeEngine = Callable[..., Engine]


@dataclass(frozen=True)
class Contest:
    """An engine with its evaluations. None: as long as the engine before it took."""

    engine: str
    make: MakeEngine
    evaluations: int | None


@dataclass(frozen=True, eq=False)
class Run:
    """The result of one search."""

    objectives: IntArray
    evaluations: int
    seconds: float
    own_seconds: float


OURS = "nsga2"
STOCK = "pymoo-nsga2"
LOOP = "pymoo-nsga2, our operators"
CONTESTS: dict[str, tuple[Contest, ...]] = {
    "reference": (
        *(Contest(OURS, RestartingNsga2, n) for n in (5_000, 10_000, 20_000)),
        Contest("nsga2, population 1,000", partial(RestartingNsga2, population=1000), 20_000),
        *(Contest(STOCK, stock_nsga2, n) for n in (5_000, 20_000)),
        Contest(LOOP, pymoo_loop, 20_000),
        Contest("annealing", AnnealingEngine, 20_000),
        Contest("random", RandomEngine, 20_000),
    ),
    "two networks": (
        *(Contest(OURS, RestartingNsga2, n) for n in (5_000, 20_000)),
        Contest(STOCK, stock_nsga2, 20_000),
        Contest(LOOP, pymoo_loop, 20_000),
        Contest("annealing", AnnealingEngine, 20_000),
    ),
    "ten networks": (
        Contest(STOCK, stock_nsga2, 20_000),
        Contest("nsga2, as long as that", RestartingNsga2, None),
        Contest(OURS, RestartingNsga2, 20_000),
        Contest(LOOP, pymoo_loop, 20_000),
        Contest("nsga2, as long as that", RestartingNsga2, None),
        Contest("annealing", AnnealingEngine, 20_000),
    ),
}


def run_engine(engine: Engine, evaluate: OutcomeFunction, budget: Budget) -> Run:
    """Run one search, with its evaluations timed apart."""
    inside = 0.0

    def timed(rows: IntArray) -> Outcomes:
        nonlocal inside
        began = time.perf_counter()
        outcomes = evaluate(rows)
        inside += time.perf_counter() - began
        return outcomes

    began = time.perf_counter()
    result = search(engine, timed, budget)
    seconds = time.perf_counter() - began
    return Run(result.objectives, result.evaluations, seconds, seconds - inside)


def measure(problem: SearchProblem, seeds: int) -> tuple[list[dict[str, Value]], list[str]]:
    """Return a row for each contest, and the notes below the table."""
    stated = problem.make()
    space = DesignSpace(stated)
    evaluate = make_outcomes(stated, jobs=JOBS)
    # Load machine code, and compute all that depends on the problem alone, before time counts.
    run_engine(RestartingNsga2(space, seed=0), evaluate, Budget(1000))
    contests = CONTESTS[problem.name]
    runs: list[list[Run]] = []
    for contest in contests:
        found = []
        for seed in range(seeds):
            budget = Budget(contest.evaluations or sys.maxsize)
            if contest.evaluations is None:
                budget = Budget(sys.maxsize, seconds=runs[-1][seed].seconds)
            found.append(run_engine(contest.make(space, seed=seed), evaluate, budget))
        runs.append(found)
    rows: list[dict[str, Value]] = []
    if problem.solved:
        best, exact = _exact(problem.name, stated)
        rows.append(exact)
    else:
        union = np.concatenate([run.objectives for found in runs for run in found])
        best = union[non_dominated(union)]
    shares = [[hypervolume_share(run.objectives, best) for run in found] for found in runs]
    for contest, found, share in zip(contests, runs, shares, strict=True):
        evaluations = statistics.median(run.evaluations for run in found)
        rows.append(
            {
                "problem": problem.name,
                "engine": contest.engine,
                "evaluations": evaluations,
                "seconds": statistics.median(run.seconds for run in found),
                "per_second": statistics.median(run.evaluations / run.seconds for run in found),
                "own_us": 1e6
                * statistics.median(run.own_seconds / run.evaluations for run in found),
                "members": statistics.median(len(run.objectives) for run in found),
                "median_percent": statistics.median(share),
                "worst_percent": min(share),
            }
        )
    of = "the exact front" if problem.solved else "the union of the fronts found here"
    notes = [f"{problem.name}: shares of the hypervolume of {of}, {len(best)} members."]
    if problem.name == "ten networks":
        notes += _ahead(contests, shares)
    return rows, notes


def _exact(name: str, problem: Problem) -> tuple[IntArray, dict[str, Value]]:
    """Return the exact front by branch and bound, from nothing on one core, and the row about
    that."""
    find_front(problem, max_nodes=1)
    results = [find_front(problem) for _ in range(3)]
    if not results[0].complete:
        raise AssertionError(f"{name}: the exact search has not ended")
    front = results[0].objectives
    row: dict[str, Value] = {
        "problem": name,
        "engine": "exact, from nothing, one core",
        "evaluations": None,
        "seconds": statistics.median(result.seconds for result in results),
        "per_second": None,
        "own_us": None,
        "members": len(front),
        "median_percent": 100.0,
        "worst_percent": 100.0,
    }
    return front, row


def hypervolume_share(objectives: IntArray, best: IntArray) -> float:
    """Return the hypervolume in percent of that of ``best``."""
    reference = reference_point(best)
    inside = objectives[(objectives < reference).all(axis=1)]
    return 100.0 * hypervolume(inside, reference) / hypervolume(best, reference)


def _ahead(contests: Sequence[Contest], shares: Sequence[Sequence[float]]) -> list[str]:
    """Return how far ours is ahead of each of the others at equal evaluations and at equal time."""
    equal = shares[[contest.engine for contest in contests].index(OURS)]
    notes = []
    for index, contest in enumerate(contests):
        if contest.engine not in (STOCK, LOOP):
            continue
        later = next(i for i in range(index, len(contests)) if contests[i].evaluations is None)
        for what, ours in (("evaluations", equal), ("time", shares[later])):
            gains = [a / b - 1.0 if b else np.inf for a, b in zip(ours, shares[index], strict=True)]
            wins = sum(gain > 0.0 for gain in gains)
            middle = statistics.median(gains)
            notes.append(
                f"nsga2 against {contest.engine} at equal {what}: ahead for {wins} of "
                f"{len(gains)} seeds, by {min(gains):+.1%} at least, {middle:+.1%} in the median."
            )
    return notes


def exhaustive() -> bool:
    """Return whether exhaustive search finds the front that the file holds."""
    problem = PROBLEMS[0].make()
    engine = ExhaustiveEngine(DesignSpace(problem))
    run = run_engine(engine, make_outcomes(problem, jobs=JOBS), Budget(sys.maxsize))
    found = run.objectives[np.argsort(run.objectives[:, 0])]
    same = np.array_equal(found, reference_front())
    print(
        f"{run.evaluations:,} design points in {run.seconds:.0f} s, {len(found)} members, "
        f"{'as' if same else 'NOT as'} in the file"
    )
    return same


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Return 1 if the exhaustive search contradicts the file."""
    compared = [column for column in COLUMNS if column.key in ("seconds", "own_us")]
    names = ("problem", "engine", "evaluations")
    if shown_against("benchmarks.search", names, compared, arguments):
        return 0
    options = parser("benchmarks.search", "Searches side by side.")
    add_option(options)
    options.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options.add_argument("--seeds", type=int, default=10, help="searches each [default: 10]")
    options.add_argument(
        "--problem",
        action="append",
        choices=[problem.name for problem in PROBLEMS],
        help="only this one; may be given again",
    )
    options.add_argument(
        "--exhaustive", action="store_true", help="compute the reference problem's exact front"
    )
    chosen = options.parse_args(arguments)
    if chosen.exhaustive:
        return 0 if exhaustive() else 1
    rows: list[dict[str, Value]] = []
    notes: list[str] = []
    for problem in PROBLEMS:
        if chosen.problem is None or problem.name in chosen.problem:
            more, found = measure(problem, chosen.seeds)
            rows += more
            notes += found
    show(
        f"Searches, median and worst of {chosen.seeds} seeds, {JOBS} threads",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
        notes=notes,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
