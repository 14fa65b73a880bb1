"""What the limit on changes of unit costs: fronts with one and two changes per network beside the
best that is known without a limit.

The same search runs without a limit and with each limit. Everything that a limit allows is allowed
without it, so the front of the whole space is that of all members found together. Hypervolume,
makespan and energy of a limit's front are compared with it.

Usage: ``python -m benchmarks.unit_changes [--evaluations 60000] [--json | --markdown]``; some
minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from paretosoc.common.arrays import IntArray
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point

EVALUATIONS = 60_000
LIMITS = (None, 1)
"""The default, two more than layers that a unit cannot run force, and one."""
COLUMNS = (
    Column("workload", "workload"),
    Column("most", "most changes without limit"),
    Column("volume_default", "default: hypervolume lost, %", ".2f"),
    Column("latency_default", "shortest makespan, %", "+.2f"),
    Column("energy_default", "lowest energy, %", "+.2f"),
    Column("volume_1", "one change: hypervolume lost, %", ".2f"),
    Column("latency_1", "shortest makespan, %", "+.2f"),
    Column("energy_1", "lowest energy, %", "+.2f"),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board."""

    platform: str
    networks: tuple[str, ...]

    def search(self, limit: int | str | None, evaluations: int) -> dse.Front:
        """Return the front that the search finds."""
        problem = dse.Problem(list(self.networks), self.platform, groups=12, max_transitions=limit)
        return dse.explore(problem, "nsga2", max_evaluations=evaluations)


CASES = (
    Case("jetson-agx-xavier", ("vgg19", "resnet50")),
    Case("jetson-agx-xavier", ("googlenet", "resnet101")),
    Case("jetson-agx-xavier", ("vgg19", "resnet101", "googlenet", "inception_v4")),
    Case("jetson-agx-orin", ("resnet50", "mobilenet_v2", "swin_t")),
    Case("jetson-agx-orin", ("vit_b_16", "efficientnet_b0")),
    Case("jetson-orin-nx-16gb", ("yolo11n", "resnet50")),
    Case("jetson-xavier-nx", ("inception_v4", "squeezenet", "resnet18")),
    Case("rk3588", ("mobilenet_v2", "resnet50")),
    Case("jetson-xavier-nx", ("vgg19", "mobilenet_v2")),
    Case("jetson-agx-orin-32gb", ("swin_t", "yolov8s")),
)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    free = case.search("any", evaluations)
    fronts = {
        "any": free.numeric.objective_array,
        **{
            "default" if limit is None else str(limit): case.search(
                limit, evaluations
            ).numeric.objective_array
            for limit in LIMITS
        },
    }
    row: dict[str, Value] = {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "most": max(member.transitions for member in free),
    }
    for name, (volume, latency, energy) in lost(fronts).items():
        if name != "any":
            row |= {f"volume_{name}": volume, f"latency_{name}": latency, f"energy_{name}": energy}
    return row


def lost(fronts: Mapping[str, IntArray]) -> dict[str, tuple[float, float, float]]:
    """Return what each front of makespan and energy [members, 2] loses against all together, in
    percent: of the hypervolume, and how much longer its shortest makespan and how much higher its
    lowest energy is."""
    every = np.concatenate(list(fronts.values()))
    best = every[non_dominated(every)]
    reference = reference_point(every)
    whole = hypervolume(best, reference)
    least = best.min(axis=0).astype(np.float64)
    return {
        name: (
            100 * (1 - hypervolume(found, reference) / whole),
            *(100 * (found.min(axis=0) / least - 1)).tolist(),
        )
        for name, found in fronts.items()
    }


if __name__ == "__main__":
    tabulate(
        "benchmarks.unit_changes",
        "Fronts with a limit on changes of unit, and without",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
    )
