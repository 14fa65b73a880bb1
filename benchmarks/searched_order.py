"""What a search of the order is worth: fronts with priorities of networks and of groups beside
first come, first served.

The same search runs with each. A searched order allows all that a fixed one does, so the best that
is known is the front of all members found together. Hypervolume and makespan of each front are
compared with it.

Usage: ``python -m benchmarks.searched_order [--evaluations 60000] [--json | --markdown]``; some
minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from benchmarks.problems.search_problems import TEN_NETWORKS
from benchmarks.unit_changes import lost

EVALUATIONS = 60_000
ORDERS = {"fixed": None, "networks": "networks", "groups": "groups"}
COLUMNS = (
    Column("workload", "workload"),
    *(
        column
        for order in ORDERS
        for column in (
            Column(f"volume_{order}", f"{order}: hypervolume lost, %", ".2f"),
            Column(f"latency_{order}", "shortest makespan, %", "+.2f"),
        )
    ),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board, deployed to a runtime."""

    platform: str
    networks: tuple[str, ...]
    runtime: str | None = None

    def search(self, order: str | None, evaluations: int) -> dse.Front:
        """Return the front that the search finds."""
        problem = dse.Problem(
            list(self.networks),
            self.platform,
            groups=12,
            runtime=self.runtime,
            search_order=order,
        )
        return dse.explore(problem, "nsga2", max_evaluations=evaluations)


CASES = (
    Case("jetson-agx-xavier", ("vgg19", "resnet50")),
    Case("jetson-agx-orin", ("resnet50", "mobilenet_v2", "swin_t")),
    Case("jetson-agx-xavier", ("vgg19", "resnet101", "googlenet", "inception_v4")),
    Case("jetson-agx-xavier", ("vgg19", "resnet101", "googlenet", "inception_v4"), "none"),
    Case("rk3588", ("mobilenet_v2", "resnet50", "googlenet")),
    Case("jetson-agx-xavier", TEN_NETWORKS),
    Case("jetson-agx-xavier", TEN_NETWORKS, "none"),
)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    values = {
        name: case.search(order, evaluations).numeric.objective_array
        for name, order in ORDERS.items()
    }
    networks = ", ".join(case.networks) if len(case.networks) < 5 else f"{len(case.networks)} CNNs"
    runtime = f", `--runtime {case.runtime}`" if case.runtime else ""
    row: dict[str, Value] = {"workload": f"{networks} on {case.platform}{runtime}"}
    for name, (volume, latency, _) in lost(values).items():
        row |= {f"volume_{name}": volume, f"latency_{name}": latency}
    return row


if __name__ == "__main__":
    tabulate(
        "benchmarks.searched_order",
        "Fronts with a searched order, and first come, first served",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
    )
