"""What a search misses that takes transitions for delays.

With TensorRT transitions are work of the GPU. For each workload a front is searched with
transitions that occupy nothing, and one with the rule. Members of the first are then simulated with
the rule. The table says how long the transitions of a member are, against its makespan, by how much
its makespan grows, how many members others then dominate, and the share of the second front's
hypervolume that is left.

Usage: ``python -m benchmarks.accuracy.transitions [--evaluations 20000] [--json | --markdown]``;
two minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.harness.report import Column, Value, tabulate
from benchmarks.ten_networks import explore
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.runtimes import Runtime

EVALUATIONS = 20_000
COLUMNS = (
    Column("workload", "workload"),
    Column("share", "transitions, % of the makespan", ".1f"),
    Column("longer", "longer by %", ".1f"),
    Column("most", "most", ".1f"),
    Column("dominated", "then dominated, %", ".0f"),
    Column("kept", "hypervolume kept, %", ".2f"),
    Column("fastest", "fastest is slower by %", ".1f"),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board."""

    platform: str
    networks: tuple[str, ...]


CASES = (
    Case("jetson-agx-xavier", ("vgg19", "resnet50")),
    Case("jetson-agx-xavier", ("googlenet", "resnet101")),
    Case("jetson-agx-xavier", ("vgg19", "resnet152")),
    Case("jetson-agx-xavier", ("inception_v4", "resnet152")),
    Case("jetson-agx-xavier", ("mobilenet_v2", "resnet50", "googlenet")),
    Case("jetson-agx-xavier", ("squeezenet", "resnet18", "vgg19")),
    Case("jetson-agx-orin", ("resnet50", "yolo11n")),
    Case("jetson-agx-orin", ("vgg19", "resnet50")),
    Case("jetson-agx-orin", ("efficientnet_b0", "mobilenet_v2")),
    Case("jetson-agx-orin", ("resnet50", "mobilenet_v2", "swin_t")),
    Case("jetson-agx-orin", ("yolov8s", "resnet18", "squeezenet")),
)


def as_delays(problem: Problem) -> Problem:
    """Return the problem with transitions that occupy no unit."""
    units = tuple(replace(unit, moves_tensors=False) for unit in problem.units)
    return replace(problem, units=units)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    workload, chip = workload_of(list(case.networks)), load_platform(case.platform)
    problem = build_problem(workload, chip, Options(groups=12, runtime=Runtime.TRTEXEC)).problem
    planned, right = (explore(one, evaluations) for one in (as_delays(problem), problem))
    before = make_outcomes(as_delays(problem))(planned).objectives
    played = make_outcomes(problem)(planned).objectives
    best = make_outcomes(problem)(right).objectives
    longer = 100 * (played[:, 0] / before[:, 0] - 1)
    reference = reference_point(np.concatenate([best, played]))
    moving = problem.moving_ps(planned[:, : problem.group_count]).sum(axis=1)
    return {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "share": 100 * float(np.median(moving / before[:, 0])),
        "longer": float(np.median(longer)),
        "most": float(longer.max()),
        "dominated": 100 * (1 - len(non_dominated(played)) / len(played)),
        "kept": 100 * hypervolume(played, reference) / hypervolume(best, reference),
        "fastest": 100 * (float(played[:, 0].min()) / float(best[:, 0].min()) - 1),
    }


if __name__ == "__main__":
    tabulate(
        "benchmarks.accuracy.transitions",
        "Fronts searched with transitions as delays, played with them as work of the GPU",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
    )
