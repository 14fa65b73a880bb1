"""An importer: a text file with a layer and its milliseconds in each line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from paretosoc.dse.cli.measure.imported_profile import (
    MeasuringOptions,
    NetworkName,
    ProfileOptions,
    begin_import,
    finish,
)
from paretosoc.dse.cli.shared.options import PlatformName
from paretosoc.dse.cli.shared.parameters import Argument, Option


def stopwatch(
    file: Annotated[Path, Argument(help="Lines of LAYER MILLISECONDS.")],
    network: NetworkName,
    platform: PlatformName,
    unit: Annotated[str, Option(help="Unit that ran the layers.")] = "gpu",
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take times of layers that somebody stopped by hand."""
    made = begin_import(network, platform, [unit], measuring, f"stopwatch, {file.name}")
    for line in file.read_text("utf-8").splitlines():
        layer, milliseconds = line.rsplit(maxsplit=1)
        made.add_part("layers", [layer], {"ms": {unit: float(milliseconds)}})
    finish(profile, made)
