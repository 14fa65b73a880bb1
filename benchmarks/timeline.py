"""Design points per second of the timeline on one core, compiled and plain.

Two sizes, random mappings at random clocks, with contention: the reference problem (2 networks x 10
groups, 2 units), and 10 networks with 1,000 groups in all on 4 units, once all chains, as
explorations group networks by default, and once half of them graphs with many sources.
*Compiled* is the kernel that an exploration uses. *General* is the general kernel, which simulates
all but chains.

Times exclude compilation. Each is the best of many repetitions of about a millisecond, over the
same design points. Compiled and general take turns. So other load on the machine disturbs only some
of them: the rates are those of a core that no other program uses, not the average of a busy one.
Every design point is compared between the two kernels, and those that the plain evaluator simulates
with its results.

With ``--against COMMIT`` the kernels of another commit are measured in the same run: two processes,
one in a work tree of that commit, take turns, and must give the same makespans.

Usage: ``python -m benchmarks.timeline [--against COMMIT] [--json]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from benchmarks.harness import against
from benchmarks.harness.report import Column, parser, show
from benchmarks.harness.timing import best_of_each, timed
from benchmarks.oracles.frame_energy import frame_energy_fj
from benchmarks.problems.contended_problems import SIZE_COLUMNS, contended_problem, random_rows
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.simulate import Evaluation, Kernel, make_evaluator
from paretosoc.results.problem.problem import Problem

COLUMNS = (
    *SIZE_COLUMNS,
    Column("required_per_second", "required /s", ",.0f"),
    Column("compiled_per_second", "compiled /s", ",.0f"),
    Column("general_per_second", "general /s", ",.0f"),
    Column("plain_per_second", "plain /s", ",.2f"),
    Column("ratio", "ratio", ",.0f"),
    Column("fulfilled", "met"),
)


@dataclass(frozen=True)
class Speed:
    """Design points per second on one problem."""

    problem: str
    networks: int
    groups: int
    units: int
    required_per_second: int
    compiled_per_second: float
    general_per_second: float
    plain_per_second: float
    ratio: float
    fulfilled: bool


def small() -> Problem:
    """Return 2 networks of 10 groups, a GPU and a DLA, 14 x 4 operating points."""
    return reference_problem()


def large(*, graphs: bool) -> Problem:
    """Return 10 networks of 100 groups on 4 units, all with contention, as chains or also
    graphs."""
    return contended_problem(10, 100, 4, graphs=graphs)


def measure(
    name: str, problem: Problem, *, required: int, rows: int, plain_rows: int, repetitions: int
) -> Speed:
    """Time the compiled timeline on ``rows`` design points, the plain one on the first of them.

    Raises:
        AssertionError: if the two disagree.
    """
    population = random_rows(problem, rows)
    evaluate = make_evaluator(problem)
    first = evaluate(population[:plain_rows])
    general = make_evaluator(problem, kernel=Kernel.GENERAL)
    for field in fields(Evaluation):
        if not np.array_equal(
            *(getattr(simulate(population), field.name) for simulate in (evaluate, general))
        ):
            raise AssertionError(f"{name}: the compiled kernels disagree on {field.name}")
    fast, slow = best_of_each(
        (lambda: evaluate(population), lambda: general(population)), repetitions=repetitions
    )
    compiled = rows / fast
    designs = [problem.design_of(row) for row in population[:plain_rows]]
    timelines, seconds = timed(
        lambda: [plain_timeline.simulate(problem, design) for design in designs],
        short_s=math.inf,
        repetitions=2,
    )
    plain = plain_rows / seconds
    for index, (design, timeline) in enumerate(zip(designs, timelines, strict=True)):
        energy = frame_energy_fj(problem, design)
        if timeline.frame_end_ps[0] != first.makespan_ps[index] or energy != first.energy_fj[index]:
            raise AssertionError(f"{name}: the evaluators disagree on design point {index}")
    return Speed(
        problem=name,
        networks=len(problem.networks),
        groups=problem.group_count,
        units=len(problem.units),
        required_per_second=required,
        compiled_per_second=compiled,
        general_per_second=rows / slow,
        plain_per_second=plain,
        ratio=compiled / plain,
        fulfilled=compiled >= required,
    )


def run() -> list[Speed]:
    """Measure both sizes, the large one twice."""
    return [
        measure(
            "2 networks, 20 groups, 2 units",
            small(),
            required=1_000_000,
            rows=500,
            plain_rows=100,
            repetitions=4_000,
        ),
        *(
            measure(
                f"10 networks, 1,000 groups, 4 units; {name}",
                large(graphs=graphs),
                required=8_000,
                rows=64,
                plain_rows=1,
                repetitions=100,
            )
            for name, graphs in (("chains", False), ("also graphs", True))
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the speeds."""
    options_parser = parser("benchmarks.timeline", "Design points per second, one core.")
    against.add_option(options_parser)
    options = options_parser.parse_args(arguments)
    if options.against:
        show(
            f"Kernels of {options.against} and of now, design points per second on one core",
            against.COLUMNS,
            [asdict(ratio) for ratio in against.ratios_against(options.against)],
            as_json=options.json,
            notes=["Both gave the same makespans."],
        )
        return
    show(
        "Timeline under contention, design points per second on one core",
        COLUMNS,
        [asdict(speed) for speed in run()],
        as_json=options.json,
        notes=["Compiled and plain gave the same makespan and energy wherever both were run."],
    )


if __name__ == "__main__":
    main()
