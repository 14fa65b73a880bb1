"""Options of how networks are cut, and which units and clocks they may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from paretosoc.dse.cli.shared.options import MAX_SIZE
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS

GroupCount = Annotated[
    int | None,
    typer.Option("--groups", min=1, max=MAX_SIZE, help="Approximate number of groups per network."),
]
Branches = Annotated[
    bool, typer.Option("--branches", help="Make parallel branches separate groups.")
]
EachLayer = Annotated[bool, typer.Option("--each-layer", help="Cut at every legal place.")]
MaxTransitions = Annotated[
    int | None,
    typer.Option(
        "--max-transitions",
        min=0,
        max=MAX_SIZE,
        help="Maximum number of unit changes per network.",
    ),
]
Units = Annotated[
    str | None, typer.Option("--units", help="Units to use, comma-separated. [default: all]")
]
Fixed = Annotated[
    list[str] | None,
    typer.Option("--fix", help="Fix a clock: DOMAIN=MHZ, DOMAIN=max or DOMAIN=min. Repeatable."),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="Number format, such as fp16, or formats that groups choose among, such as int8,fp16.",
    ),
]
Pins = Annotated[
    list[str] | None,
    typer.Option("--pin", help="Pin groups (from 0) to a unit: NET:FIRST-LAST=UNIT. Repeatable."),
]
SearchPriorities = Annotated[
    bool,
    typer.Option(
        "--search-priorities",
        help=f"Search the networks' priorities, from 0 to {PRIORITY_LEVELS - 1}.",
    ),
]


@dataclass(frozen=True)
class SpaceOptions:
    """How networks are cut, and which units and clocks they may have."""

    groups: GroupCount = None
    branches: Branches = False
    each_layer: EachLayer = False
    max_transitions: MaxTransitions = None
    units: Units = None
    fix: Fixed = None
    precision: Precision = None
    pin: Pins = None
    search_priorities: SearchPriorities = False
