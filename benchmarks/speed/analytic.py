"""Design points per second of Tang's closed form (phi_1 and phi_2) on one core.

The size is that of the example in Tang et al. (SAMOS'21), Fig. 3: 23 actors and 24 channels, on six
units with the ladders of a Jetson TX2. Costs are drawn. Random mappings at random clocks. Every
design point that the plain evaluator adds up is compared with the compiled one's result.

Usage: ``python -m benchmarks.speed.analytic [--json]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from benchmarks.harness.report import Column, parser, show
from benchmarks.harness.timing import best_seconds, timed
from benchmarks.problems.contended_problems import random_rows
from benchmarks.problems.random_problem import RandomShape, random_pipeline, random_problem
from paretosoc.fitness.check.members import closed_form as plain_analytic
from paretosoc.fitness.closed_form import make_load_evaluator
from paretosoc.results.problem.execution import ChannelUse
from paretosoc.results.problem.problem import Problem

COLUMNS = (
    Column("counted", "channels counted"),
    Column("actors", "actors", in_table=False),
    Column("channels", "channels", in_table=False),
    Column("units", "units", in_table=False),
    Column("required_per_second", "required /s", ",.0f"),
    Column("compiled_per_second", "compiled /s", ",.0f"),
    Column("plain_per_second", "plain /s", ",.0f"),
    Column("ratio", "ratio", ",.0f"),
    Column("fulfilled", "met"),
)
REQUIRED = 1_000_000
ACTORS = 23
SEED = 1


@dataclass(frozen=True)
class Speed:
    """Design points per second."""

    counted: str
    actors: int
    channels: int
    units: int
    required_per_second: int
    compiled_per_second: float
    plain_per_second: float
    ratio: float
    fulfilled: bool


def example(channels: ChannelUse) -> Problem:
    """Return 23 actors in a chain with two branches past a part of it, six units, twelve points
    each."""
    rng = np.random.default_rng(SEED)
    shape = RandomShape(
        networks=(1, 1),
        groups=(ACTORS, ACTORS),
        units=(6, 6),
        points=(12, 12),
        graphs=False,
        waiting=False,
        unsupported=0.0,
    )
    chain = random_problem(rng, shape)
    edges = (*chain.edges, (2, 5), (2, 13))
    zeros = np.zeros((len(edges), 6, 6), dtype=np.int64)
    return random_pipeline(rng, replace(chain, edges=edges, transition_ps=zeros), channels)


def measure(channels: ChannelUse, *, rows: int, plain_rows: int, repetitions: int) -> Speed:
    """Time the compiled evaluator on ``rows`` design points, the plain one on the first of them.

    Raises:
        AssertionError: if the two disagree.
    """
    problem = example(channels)
    population = random_rows(problem, rows)
    evaluate = make_load_evaluator(problem)
    first = evaluate(population[:plain_rows])
    compiled = rows / best_seconds(lambda: evaluate(population), repetitions=repetitions)
    designs = [problem.design_of(row) for row in population[:plain_rows]]
    added, seconds = timed(
        lambda: [plain_analytic.plain_loads(problem, design) for design in designs],
        short_s=math.inf,
        repetitions=2,
    )
    plain = plain_rows / seconds
    for index, loads in enumerate(added):
        same = (loads.period_ps, loads.energy_fj) == (
            first.period_ps[index],
            first.energy_fj[index],
        )
        if not same:
            raise AssertionError(f"{channels.value}: they disagree on design point {index}")
    return Speed(
        counted=channels.value,
        actors=problem.group_count,
        channels=len(problem.edges),
        units=len(problem.units),
        required_per_second=REQUIRED,
        compiled_per_second=compiled,
        plain_per_second=plain,
        ratio=compiled / plain,
        fulfilled=compiled >= REQUIRED,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the speeds of both variants of Eq. 7."""
    options = parser(
        "benchmarks.speed.analytic", "Design points per second of the closed form, one core."
    ).parse_args(arguments)
    speeds = [
        measure(channels, rows=50_000, plain_rows=200, repetitions=20) for channels in ChannelUse
    ]
    show(
        "phi_1 and phi_2 of 23 actors and 24 channels, design points per second on one core",
        COLUMNS,
        [asdict(speed) for speed in speeds],
        as_json=options.json,
        notes=["Compiled and plain gave the same integers wherever both were run."],
    )


if __name__ == "__main__":
    main()
