"""Options that several commands share, as types for their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from paretosoc.dse.inputs.arguments import MAX_COUNT as MAX_COUNT
from paretosoc.dse.inputs.arguments import MAX_SECONDS as MAX_SECONDS
from paretosoc.dse.inputs.arguments import MAX_SEED as MAX_SEED
from paretosoc.dse.workload.scenarios import Scenario

MAX_SIZE = 1_000_000
"""Of every option that says how large or how many something is: above all that a network has."""


def check_number(value: float | None) -> float | None:
    """Reject NaN, which compares with no limit of a range."""
    if value is not None and isnan(value):
        raise typer.BadParameter("a number is required, got nan")
    return value


NetworkNames = Annotated[
    list[str],
    typer.Argument(
        help="Networks: names (see 'dse networks'), .onnx files, NAME*COPIES, or one "
        "workload file (.yaml, .json)."
    ),
]
PlatformName = Annotated[
    str,
    typer.Option("--platform", "-p", help="Platform: a name (see 'dse platforms') or a JSON file."),
]
Folder = Annotated[Path, typer.Argument(help="Result folder.", metavar="DIR")]
DaskAddress = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Address of a Dask scheduler, or its scheduler file."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Serve a page on this machine that shows the run. Needs the extra live."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing result.")]

TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.001,
        max=MAX_SECONDS,
        callback=check_number,
        help="Time limit in seconds; compiling kernels, at the first use, comes before it.",
    ),
]
LossFile = Annotated[
    Path | None,
    typer.Option(
        "--losses",
        help="Table (CSV) of the accuracy that number formats cost: network, layer, format, "
        "loss_ppm, and optionally metric.",
    ),
]
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        "--profile", help="Profile with your own measurements (JSON), or a cost model by name."
    ),
]
Dimensions = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        help="Size of a dynamic dimension, for one network or all: [NETWORK:]NAME=N, or "
        "[NETWORK:]INPUT:AXIS=N for one input. Repeatable.",
    ),
]
Batches = Annotated[
    list[str] | None,
    typer.Option(
        "--batch",
        help="Images computed at once, for one network or all: [NETWORK=]N. Repeatable.",
    ),
]
MemberName = Annotated[
    str,
    typer.Option(
        "--member", help="Member: an index, or a name such as fastest, knee or lowest-energy."
    ),
]
ModelFiles = Annotated[
    list[str] | None,
    typer.Option("--model", help="New location of a model: NETWORK=FILE. Repeatable."),
]
ScenarioName = Annotated[
    Scenario | None,
    typer.Option(
        "--scenario",
        help="Scenario of HaX-CoNN. instances: copies of one network; same-input: several "
        "networks on one input; stream: a pipeline of networks.",
    ),
]
Balance = Annotated[
    bool, typer.Option("--balance", help="Repeat faster networks to match the slowest.")
]


@dataclass(frozen=True)
class ScenarioOptions:
    """Options for running the networks together, in addition to a workload file."""

    scenario: ScenarioName = None
    balance: Balance = False


@dataclass(frozen=True)
class InputOptions:
    """Options for data on the networks beside their models."""

    profile: ProfileFile = None
    losses: LossFile = None
    dim: Dimensions = None
    batch: Batches = None
