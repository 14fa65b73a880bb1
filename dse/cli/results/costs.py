"""``dse analyze costs``: the cost of every group on every unit, and its origin."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json
from paretosoc.dse.inputs.kinds_by_name import Clocks
from paretosoc.dse.problem.domains import clocks_at
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.text.costs import cost_rows, cost_tables


class Figure(Enum):
    """Figure that the table shows. JSON has all."""

    TIME = "time"
    DEMAND = "demand"
    POWER = "power"


def costs(
    folder: opt.Folder,
    at: Annotated[
        list[str] | None,
        Option(help="Clock: DOMAIN=MHZ, DOMAIN=max or DOMAIN=min. Repeatable. [default: max]"),
    ] = None,
    show: Annotated[Figure, Option(help="Column to show.")] = Figure.TIME,
    as_json: opt.AsJson = False,
) -> None:
    """Show the cost of every group on every unit, and its origin."""
    problem = read_results(folder).problem
    origins = read_costs(folder, problem)
    points = clocks_at(problem, Clocks().parse(at or (), "--at"))
    if as_json:
        document = {
            "precision": None if origins is None else origins.precision,
            "clocks_mhz": {
                domain.name: domain.frequencies_khz[point] / 1000
                for domain, point in zip(problem.domains, points.tolist(), strict=True)
            },
            "groups": cost_rows(problem, origins, points),
        }
        print_json(document)
        return

    console = open_console()
    console.print(cost_tables(problem, origins, points, figure=show.value, width=console.width))
