"""Table 7 of HaX-CoNN: what the solver on one core costs, here as CPU time on this host.

Usage: python -m examples.hax.table7 [--json]

The paper runs AlexNet on Orin's DLA beside a network on its GPU, and measures how much Z3 on a CPU
core slows the network down: at most 2 %. Without the board that cannot be measured. What can: the
CPU time that our search and proof take after a change of workload, and which share of one core that
is where workloads change every 10 s, as in Fig. 7. Once it is done, it costs nothing.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from rich.table import Table

from examples.hax.prediction import built_workload, json_wanted
from examples.hax.published import PLATFORMS, TABLE7_PERCENT
from examples.wide_console import wide_console
from paretosoc.dse.certificate.improve import FinalSchedule, improve, naive_schedule
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.warm_up import warm_up

CHANGE_EVERY_S = 10.0


@dataclass(frozen=True)
class Cost:
    """CPU seconds after a change, of all threads: until the last better schedule, and until
    the proof."""

    until_optimum_s: float
    until_proof_s: float
    status: str


def main() -> None:
    """Measures and prints."""
    as_json = json_wanted("Table 7 of HaX-CoNN: what the search costs the CPU.")
    warm_up()
    measured("alexnet")  # The first proof loads Z3.
    results = {name: measured(name) for name in TABLE7_PERCENT}
    if as_json:
        print(json.dumps({name: vars(cost) for name, cost in results.items()}, indent=2))
        return
    grid = Table(title="Table 7: AlexNet beside another network on Orin", title_justify="left")
    grid.add_column("network")
    for header in (
        *("published: slow-\ndown by Z3, %", "CPU ms until\nthe optimum"),
        *("CPU ms until\nthe proof", "share of one core\nover 10 s, %"),
    ):
        grid.add_column(header, justify="right")
    grid.add_column("")
    for name, cost in results.items():
        grid.add_row(
            name,
            f"{TABLE7_PERCENT[name]:.2f}",
            f"{1000 * cost.until_optimum_s:.1f}",
            f"{1000 * cost.until_proof_s:.0f}",
            f"{100 * cost.until_proof_s / CHANGE_EVERY_S:.2f}",
            cost.status,
        )
    wide_console().print(grid)


def measured(network: str) -> Cost:
    """CPU time of the search and the proof for AlexNet beside a network."""
    problem = built_workload(workload_of(["alexnet", network]), PLATFORMS["orin"]).problem
    start = naive_schedule(problem, clock=time.process_time)
    last = 0.0 if start is None else start.seconds
    for step in improve(problem, start, clock=time.process_time):
        if isinstance(step, FinalSchedule):
            status = "gap" if step.certificate is None else step.certificate.status.value
            return Cost(last, step.seconds, status)
        last = step.seconds
    raise AssertionError("a search ends with its end")


if __name__ == "__main__":
    main()
