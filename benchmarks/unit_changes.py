"""What the limit on changes of unit costs: fronts with one and two changes per network beside the
best that is known without a limit.

The same search runs without a limit and with each limit. Everything that a limit allows is allowed
without it, so the front of the whole space is that of all members found together. Hypervolume,
makespan and energy of a limit's front are compared with it.

Usage: ``python -m benchmarks.unit_changes [--evaluations 60000] [--json | --markdown]``; some
minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, parser, show
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
    values = {limit: _values(case.search(limit, evaluations)) for limit in LIMITS}
    every = np.concatenate([_values(free), *values.values()])
    best = every[non_dominated(every)]
    reference = reference_point(every)
    whole = hypervolume(best, reference)
    row: dict[str, Value] = {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "most": max(member.transitions for member in free),
    }
    for limit, found in values.items():
        name = "default" if limit is None else str(limit)
        row[f"volume_{name}"] = 100 * (1 - hypervolume(found, reference) / whole)
        row[f"latency_{name}"] = _more(found, best, 0)
        row[f"energy_{name}"] = _more(found, best, 1)
    return row


def _more(values: IntArray, best: IntArray, objective: int) -> float:
    return 100 * (float(values[:, objective].min()) / float(best[:, objective].min()) - 1)


def _values(front: dse.Front) -> IntArray:
    return np.array([member.objectives for member in front.numeric.members], dtype=np.int64)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases and print the table."""
    options = parser("benchmarks.unit_changes", "fronts with one and two changes of unit")
    options.add_argument("--markdown", action="store_true", help="print Markdown")
    options.add_argument("--evaluations", type=int, default=EVALUATIONS, help="of each search")
    chosen = options.parse_args(arguments)
    rows = [measure(case, chosen.evaluations) for case in CASES]
    show(
        "Fronts with a limit on changes of unit, and without",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )


if __name__ == "__main__":
    main()
