"""Design points per second of the long run, on one core, compiled and plain.

Networks that run freely: ten of 20 groups on four units, with contention, two frames of each in
flight, random mappings at random clocks, once all chains, once with graphs among them. The speed
depends on how often fast networks run while the slowest makes twelve frames, so the executions in a
design point's window are given too. And a pipeline of two networks of 10 groups, two frames in
flight. Times exclude compilation and are the best of many repetitions of a few milliseconds, over
the same design points. Those that the plain evaluator simulates are compared with its results.

Usage: ``python -m benchmarks.speed.free_running [--json]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.harness.report import Column, parser, show
from benchmarks.harness.timing import best_seconds, timed
from benchmarks.problems.contended_problems import SIZE_COLUMNS, contended_problem, random_rows
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.fitness.check.members.windows import PlainLongRun, simulate_long_run
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.results.problem.execution import FreeRunning, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

COLUMNS = (
    *SIZE_COLUMNS,
    Column("executions", "executions", ",.0f"),
    Column("required_per_second", "required /s", ",.0f"),
    Column("compiled_per_second", "compiled /s", ",.0f"),
    Column("plain_per_second", "plain /s", ",.2f"),
    Column("fulfilled", "met"),
)
REQUIRED = 3000


@dataclass(frozen=True)
class Speed:
    """Design points per second on one problem. ``executions``: of one design point, in the mean of
    those that the plain evaluator simulates. ``fulfilled``: None if nothing is required.
    """

    problem: str
    networks: int
    groups: int
    units: int
    executions: float
    required_per_second: int | None
    compiled_per_second: float
    plain_per_second: float
    fulfilled: bool | None


def ten_networks(*, graphs: bool) -> Problem:
    """Return 10 networks of 20 groups on 4 units, all with contention."""
    return replace(
        contended_problem(10, 20, 4, graphs=graphs),
        objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.POWER)),
        execution=FreeRunning(frames_in_flight=2),
    )


def measure(
    name: str,
    problem: Problem,
    *,
    required: int | None,
    rows: int,
    plain_rows: int,
    repetitions: int,
) -> Speed:
    """Time the compiled evaluator on ``rows`` design points, the plain one on the first of them.

    Raises:
        AssertionError: if the two disagree.
    """
    population = random_rows(problem, rows)
    evaluate = make_long_run_evaluator(problem)
    first = evaluate(population[:plain_rows])
    compiled = rows / best_seconds(lambda: evaluate(population), repetitions=repetitions)
    designs = [problem.design_of(row) for row in population[:plain_rows]]
    runs, seconds = timed(lambda: [simulate_long_run(problem, design) for design in designs])
    plain = plain_rows / seconds
    for index, run in enumerate(runs):
        begin, end = run.window_ps
        if (
            first.window_ps[index] != end - begin
            or tuple(first.stream_period_ps[index].tolist()) != run.periods_ps
            or first.dynamic_energies()[index] != list(run.dynamic_fj)
        ):
            raise AssertionError(f"{name}: the evaluators disagree on design point {index}")
    return Speed(
        problem=name,
        networks=len(problem.networks),
        groups=problem.group_count,
        units=len(problem.units),
        executions=sum(executions_in(problem, run) for run in runs) / len(runs),
        required_per_second=required,
        compiled_per_second=compiled,
        plain_per_second=plain,
        fulfilled=None if required is None else compiled >= required,
    )


def executions_in(problem: Problem, run: PlainLongRun) -> float:
    """Return about how many executions the window holds."""
    window = run.window_ps[1] - run.window_ps[0]
    counts = [network.repeats * len(network.groups) for network in problem.networks]
    if problem.execution.has_frame:
        counts = [sum(counts)]
    return sum(n * window / period for n, period in zip(counts, run.periods_ps, strict=True))


def run() -> list[Speed]:
    """Measure chains, then graphs, then a pipeline."""
    return [
        measure(
            "10 chains",
            ten_networks(graphs=False),
            required=REQUIRED,
            rows=200,
            plain_rows=3,
            repetitions=20,
        ),
        measure(
            "10 networks, graphs among them",
            ten_networks(graphs=True),
            required=None,
            rows=4,
            plain_rows=3,
            repetitions=300,
        ),
        measure(
            "pipeline of 2 networks",
            replace(reference_problem(), execution=Pipeline(frames_in_flight=2)),
            required=None,
            rows=100,
            plain_rows=10,
            repetitions=300,
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the speeds."""
    options = parser(
        "benchmarks.speed.free_running", "Design points per second, one core."
    ).parse_args(arguments)
    show(
        "The long run: design points per second on one core",
        COLUMNS,
        [asdict(speed) for speed in run()],
        as_json=options.json,
        notes=["Compiled and plain gave the same wherever both were run."],
    )


if __name__ == "__main__":
    main()
