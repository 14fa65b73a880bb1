"""Fig. 6 of HaX-CoNN: how much others on the DLA slow GoogLeNet down on Xavier's GPU.

Usage: python -m examples.hax.fig6 [--json]

The slowdown is what contention adds to GoogLeNet's groups: their time in the schedule over their
time alone. Naive: GoogLeNet on the GPU, the other network on the DLA, the faster one repeated to
match. Optimum: the certified schedule of the same workload. The figure's values are not in the
paper's text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from rich.table import Table

from examples.hax.prediction import built_workload, json_wanted, predict
from examples.hax.published import PLATFORMS, standalone_ms
from examples.wide_console import wide_console
from paretosoc.dse.baselines.base import at_fastest_clocks, whole_networks
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.front.schedule import Schedule

GOOGLENET = "googlenet"


@dataclass(frozen=True)
class Slowdown:
    """Of GoogLeNet beside another network; 0.1 is 10 % more time."""

    naive: float
    optimum: float
    status: str


def main() -> None:
    """Computes and prints."""
    as_json = json_wanted("Fig. 6 of HaX-CoNN: GoogLeNet's slowdown beside others.")
    # DenseNet has no time on Xavier's DLA in Table 5.
    others = [
        name
        for name, (_, dla) in standalone_ms("xavier").items()
        if dla is not None and name != GOOGLENET
    ]
    results = {name: predicted(name) for name in others}
    if as_json:
        print(json.dumps({name: vars(entry) for name, entry in results.items()}, indent=2))
        return
    grid = Table(title="Fig. 6: slowdown of GoogLeNet by contention, %", title_justify="left")
    grid.add_column("beside")
    grid.add_column("GPU & DLA", justify="right")
    grid.add_column("optimum", justify="right")
    grid.add_column("")
    for name, entry in results.items():
        grid.add_row(name, f"{100 * entry.naive:.1f}", f"{100 * entry.optimum:.1f}", entry.status)
    console = wide_console()
    console.print(grid)
    less = sum(entry.optimum < entry.naive for entry in results.values())
    console.print(f"Less in the optimum: {less} of {len(results)} (published: all)")


def predicted(other: str) -> Slowdown:
    """GoogLeNet beside one other network."""
    platform = PLATFORMS["xavier"]
    built = built_workload(workload_of([GOOGLENET, other]), platform, balance=True)
    space = DesignSpace(built.problem)
    gpu, dla = (
        next(u for u, unit in enumerate(built.problem.units) if unit.name == name)
        for name in ("gpu", "dla0")
    )
    (row,) = at_fastest_clocks(space, whole_networks(space, [gpu, dla])[None])
    naive = schedule_of(built.problem, built.problem.design_of(row))
    prediction = predict(built, platform)
    best = schedule_of(built.problem, prediction.comparison.optimum.member.design)
    return Slowdown(stretch(naive), stretch(best), prediction.status)


def stretch(schedule: Schedule) -> float:
    """What contention adds to network 0, as a share of its time alone."""
    rows = [row for row in schedule.groups if row.network == 0]
    return sum(row.end_ps - row.start_ps for row in rows) / sum(row.alone_ps for row in rows) - 1


if __name__ == "__main__":
    main()
