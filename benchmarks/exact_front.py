"""Exact fronts: time, nodes and lemmas, from nothing and from an explorer's front, on one core and
more.

The proof from the explorer's front is made by each number of workers in turn (``--jobs 1,2``). All
give the same tree. An instance that does not end within the time limit is proved within an epsilon
instead, as ``dse explore`` does it: by searches with smaller and smaller tolerances.

Usage: ``python -m benchmarks.exact_front [--json] [--time-limit S] [--only TEXT]
[--jobs 1,2] [--against COMMIT]``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness.against import shown_against
from benchmarks.harness.instances import measure_chosen
from benchmarks.harness.report import Column, show
from benchmarks.harness.timing import timed
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.deadline import Deadline
from paretosoc.common.units import PPM
from paretosoc.dse.certificate.branch_and_bound import ExactResult, Incumbents, find_front
from paretosoc.dse.certificate.strategy import TOLERANCES_PPM
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem import Problem

TIME_LIMIT_S = 30.0
EVALUATIONS = 20_000
"""Evaluations of NSGA-II, whose front the second search starts from."""
SHORT_S = 1.0
"""A shorter run is repeated, and the shortest time taken."""
REPETITIONS = 5
SEED = 1
JOBS = "1,all"
COLUMNS = (
    Column("instance", "instance"),
    Column("groups", "groups", ",", in_table=False),
    Column("members", "members", ","),
    Column("complete", "complete"),
    Column("epsilon", "epsilon", ".3%"),
    Column("first_s", "from nothing s", ",.3f"),
    Column("first_nodes", "nodes", ","),
    Column("explorer_s", "NSGA-II s", ",.2f"),
    Column("proof_s", "from its front s", ",.3f"),
    Column("workers_s", "the same by workers s"),
    Column("speedup", "times faster", ",.2f"),
    Column("proof_nodes", "nodes", ","),
    Column("lemmas", "lemmas", ","),
    Column("required_s", "required s", ",.1f"),
    Column("fulfilled", "met"),
)


@dataclass(frozen=True)
class Instance:
    """``required_s``: the time that the search from nothing may take. ``members`` of its front, if
    known."""

    name: str
    required_s: float
    make: Callable[[], Problem]
    members: int | None = None


@dataclass(frozen=True)
class Measured:
    """One row. ``epsilon``: a share, None if nothing is known. A search from nothing is None if it
    was left out because the other one did not end.
    """

    instance: str
    groups: int
    members: int
    complete: bool
    epsilon: float | None
    first_s: float | None
    first_nodes: int | None
    explorer_s: float
    proof_s: float
    """By the first number of workers."""
    workers_s: str
    """By each number of workers, in their order."""
    speedup: float | None
    """Speed-up with the largest number of workers, None if the search is not complete."""
    proof_nodes: int
    lemmas: int
    required_s: float
    fulfilled: bool


def xavier_pair(
    *, units: tuple[str, ...] | None = None, fixed: tuple[tuple[str, str], ...] = ()
) -> Problem:
    """Return VGG-19 and ResNet-50 on Xavier, with at most two transitions each."""
    platform = load_platform("jetson-agx-xavier")
    options = Options(units=units, fixed=fixed, max_transitions=((None, 2),))
    return build_problem(workload_of(["vgg19", "resnet50"]), platform, options).problem


INSTANCES = (
    Instance("reference, 1 transition", 0.05, lambda: reference_problem(max_transitions=1), 35),
    Instance("reference, 2 transitions", 0.1, lambda: reference_problem(max_transitions=2), 60),
    Instance("reference, any transitions", 0.3, reference_problem, 73),
    Instance(
        "Xavier, GPU and a DLA, memory fixed",
        2.0,
        lambda: xavier_pair(units=("gpu", "dla0"), fixed=(("emc", "max"),)),
    ),
    Instance("Xavier, all units and clocks", 120.0, xavier_pair),
)


def measure(
    instance: Instance, *, time_limit_s: float = TIME_LIMIT_S, jobs: Sequence[int] = (1,)
) -> Measured:
    """Measure one instance, the proof by each number of workers.

    Raises:
        AssertionError: if two searches disagree with each other, or with known results.
    """
    problem = instance.make()
    known, explorer_s = _explored(problem)

    def proved(workers: int) -> tuple[ExactResult, float]:
        return _timed(
            lambda: find_front(
                problem, known=known, until=Deadline.after(time_limit_s), jobs=workers
            )
        )

    proof, proof_s = proved(jobs[0])
    first: ExactResult | None = None
    first_s = None
    seconds = [proof_s]
    if proof.complete:
        for workers in jobs[1:]:
            again, again_s = proved(workers)
            seconds.append(again_s)
            # The deadline paces rounds by the seconds that they take, so trees may differ.
            if again.complete and not np.array_equal(again.objectives, proof.objectives):
                raise AssertionError(f"{instance.name}: by {workers} workers another front")
        first, first_s = _timed(lambda: find_front(problem, jobs=1))
        if (first.objectives != proof.objectives).any():
            raise AssertionError(f"{instance.name}: two searches found different fronts")
        if instance.members not in (None, len(first.objectives)):
            raise AssertionError(f"{instance.name}: {len(first.objectives)} members")
    else:
        proof = _narrowed(problem, proof, time_limit_s, jobs=jobs[0])
    return Measured(
        instance=instance.name,
        groups=problem.group_count,
        members=len(proof.objectives),
        complete=first is not None,
        epsilon=None if proof.epsilon_ppm is None else proof.epsilon_ppm / PPM,
        first_s=first_s,
        first_nodes=None if first is None else first.nodes,
        explorer_s=explorer_s,
        proof_s=proof_s,
        workers_s=", ".join(f"{each:.3f}" for each in seconds),
        speedup=None if len(seconds) < 2 else seconds[0] / seconds[-1],
        proof_nodes=proof.nodes,
        lemmas=proof.tree.leaves,
        required_s=instance.required_s,
        fulfilled=first_s is not None and first_s <= instance.required_s,
    )


def _explored(problem: Problem) -> tuple[Incumbents, float]:
    engine = RestartingNsga2(DesignSpace(problem), seed=SEED)
    result = search(engine, make_outcomes(problem), Budget(EVALUATIONS))
    return Incumbents(result.objectives, result.rows), result.seconds


def _narrowed(
    problem: Problem, ended: ExactResult, time_limit_s: float, *, jobs: int
) -> ExactResult:
    """Return the smallest tolerance that is proved in the time, starting with an ended search."""
    best, left = ended, time_limit_s
    for tolerance in TOLERANCES_PPM:
        result = find_front(
            problem,
            known=Incumbents(best.objectives, best.rows),
            tolerance_ppm=tolerance,
            until=Deadline.after(left),
            jobs=jobs,
        )
        left -= result.seconds
        if not result.complete:
            return best
        best = result
        print(f"  within {tolerance / PPM:.2%}: {result.seconds:.1f} s", file=sys.stderr)
        if left <= 0:
            return best
    return best


def _timed(run: Callable[[], ExactResult]) -> tuple[ExactResult, float]:
    return timed(run, short_s=SHORT_S, repetitions=REPETITIONS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    compared = [column for column in COLUMNS if column.key in ("first_s", "proof_s")]
    if shown_against("benchmarks.exact_front", ["instance"], compared, arguments):
        return
    chosen, rows = measure_chosen(
        "benchmarks.exact_front",
        "Exact fronts, from nothing on one core.",
        INSTANCES,
        lambda instance, options: measure(
            instance, time_limit_s=options.time_limit, jobs=options.jobs
        ),
        time_limit_s=TIME_LIMIT_S,
        limits="of the exact search from the explorer's front, and of those within a tolerance",
        load=load_proof_code,
        add_options=_add_jobs,
        arguments=arguments,
    )
    workers = ", ".join(map(str, chosen.jobs))
    notes = [
        f"From NSGA-II's front after {EVALUATIONS:,} evaluations, seed {SEED}, by {workers} workers"
        f" on {os.cpu_count()} cores; from nothing by one.",
    ]
    if not all(row["complete"] for row in rows):
        notes.append(
            f"Not complete within {chosen.time_limit:g} s: epsilon is what was proved in as long"
            " again, nodes and lemmas those of the search that proved it."
        )
    show("Exact fronts", COLUMNS, rows, as_json=chosen.json, notes=notes)


def _add_jobs(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--jobs",
        type=_jobs,
        default=JOBS,
        metavar="LIST",
        help="numbers of workers, such as 1,2,all (all cores) (default: %(default)s)",
    )


def _jobs(text: str) -> list[int]:
    """Parse ``1,2,all`` as numbers of workers."""
    parts = [str(os.cpu_count() or 1) if part == "all" else part for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"numbers and 'all', with commas, required, got {text!r}")
    return [int(part) for part in parts]


if __name__ == "__main__":
    main()
