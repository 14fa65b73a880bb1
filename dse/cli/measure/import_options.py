"""Options that the import commands share, as types for their parameters and groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from paretosoc.dse.cli.shared.options import Dimensions
from paretosoc.dse.cli.shared.space_options import GroupCount, Precision

NetworkName = Annotated[
    str, typer.Option("--network", "-n", help="Network: a name or an .onnx file.")
]
At = Annotated[
    list[str] | None,
    typer.Option("--at", help="Clocks of the measurement: DOMAIN=MHZ for each, or max."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Output profile. [default: print a report only]"),
]
Merge = Annotated[bool, typer.Option("--merge", help="Add to the profile in the output file.")]
Replace = Annotated[bool, typer.Option("--force", help="Replace the output file.")]
Source = Annotated[
    str | None, typer.Option("--source", help="Board and software, recorded with the values.")
]
Medians = Annotated[
    bool, typer.Option("--median", help="Use medians of the runs instead of means.")
]


@dataclass(frozen=True)
class MeasuringOptions:
    """How a network was cut, and at which clocks it ran, when it was measured."""

    at: At = None
    precision: Precision = None
    dim: Dimensions = None
    groups: GroupCount = None


@dataclass(frozen=True)
class ProfileOptions:
    """Options for the output profile."""

    source: Source = None
    output: Output = None
    merge: Merge = False
    force: Replace = False


def source_text(given: str | None, tool: str, files: Sequence[Path]) -> str:
    """Return the origin of a profile as text."""
    names = ", ".join(file.name for file in files[:5]) + (", ..." if len(files) > 5 else "")
    return f"{given}: {tool}, {names}" if given else f"{tool}, {names}"
