"""Section 5.4 of MapFormer: how long each manager takes to answer for ten networks.

Usage: python -m examples.mapformer.response_time [--json] [--mixes N]

Seconds on this machine, the timeline in the place of the board: so the genetic algorithm, which
runs every candidate on the board, answers at once here. Preparing the workload is not counted.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from statistics import mean

from rich.table import Table

from examples.mapformer.contenders import MANAGERS, MAPFORMER, manager, mapformer
from examples.mapformer.figure_options import figure_options
from examples.mapformer.mixes import mixes, problem_of
from examples.mapformer.published import RESPONSE_S
from examples.wide_console import wide_console
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.fitness.warm_up import warm_up

SIZE, CAP_W, MIXES = 10, 15, 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    title = "Response times of managers, measured here."
    options = figure_options(title, arguments, mixes=MIXES, drawn=False)
    seconds = measure(options.mixes)
    if options.as_json:
        print(json.dumps(seconds, indent=2))
        return
    grid = Table(title="Seconds to answer for ten networks", title_justify="left")
    for heading in ("manager", "mean here", "longest here", "on the paper's board"):
        grid.add_column(heading, justify="left" if heading == "manager" else "right")
    for name, values in seconds.items():
        published = RESPONSE_S.get(name)
        shown = "" if published is None else f"{published:g}"
        grid.add_row(name, f"{mean(values):.2f}", f"{max(values):.2f}", shown)
    wide_console().print(grid)


def measure(count: int) -> dict[str, list[float]]:
    """Seconds of everybody on every mix, machine code and weights loaded before."""
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    seconds: dict[str, list[float]] = {name: [] for name in (*MANAGERS, MAPFORMER)}
    for mix in mixes(SIZE, CAP_W, count):
        problem = problem_of(mix, known)
        if mix.number == 0:
            mapformer(problem, 0)
        for name in MANAGERS:
            seconds[name].append(manager(name, problem, mix.number).seconds)
        seconds[MAPFORMER].append(mapformer(problem, mix.number).seconds)
    return seconds


if __name__ == "__main__":
    main()
