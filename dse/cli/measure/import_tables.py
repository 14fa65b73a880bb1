"""``dse import tegrastats``, ``demand`` and ``transitions``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from rich.table import Table

from paretosoc.common.tables import plain_table
from paretosoc.dse.cli.measure.imported_profile import (
    MeasuringOptions,
    NetworkName,
    ProfileOptions,
    begin_import,
    finish,
    source_text,
    unit_names,
)
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.fitness.calibration.csv_table import read_log
from paretosoc.fitness.profiles.profilers.demand_import import import_demand, import_tegrastats
from paretosoc.fitness.profiles.profilers.jtop_log import parse_power_log
from paretosoc.fitness.profiles.profilers.tegrastats_log import Quantity, quantities
from paretosoc.fitness.profiles.profilers.transition_import import import_transitions

TableFile = Annotated[Path, Argument(help="A table (CSV).", metavar="TABLE.csv")]


def tegrastats(
    file: Annotated[
        Path, Argument(help="A log of tegrastats, or of jtop (CSV or JSON).", metavar="FILE")
    ],
    idle: Annotated[Path | None, Option(help="Log of the idle board, to be subtracted.")] = None,
    network: Annotated[
        str | None,
        Option("--network", "-n", help="Network that ran. Required for a profile."),
    ] = None,
    platform: Annotated[
        str | None, Option("--platform", "-p", help="Platform that it ran on.")
    ] = None,
    group: Annotated[
        str | None, Option(help="Group that ran throughout: a name or an index.")
    ] = None,
    unit: Annotated[str, Option(help="Unit that ran it. Comma-separated.")] = "gpu",
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
    as_json: opt.AsJson = False,
) -> None:
    """Show loads, clocks and power in a log. With --network, take a group's demand and power."""

    log = parse_power_log(read_log(file), str(file))
    rest = None if idle is None else parse_power_log(read_log(idle), str(idle))
    if network is None:
        if profile.output is not None or group is not None:
            raise WorkloadError("--network, --platform and --group are required for a profile")
        _show(quantities(log.samples), len(log.samples), log.warnings, as_json)
        return
    if platform is None or group is None:
        raise WorkloadError("--platform and --group are required with --network")

    units = unit_names(unit)
    source = source_text(profile.source, "tegrastats", [file])
    made = begin_import(network, platform, units, measuring, source)
    import_tegrastats(made, log, rest, str(file), units=units, group=group)
    finish(profile, made)


def demand(
    table: TableFile,
    network: NetworkName,
    platform: opt.PlatformName,
    gpu: Annotated[str, Option("--gpu", help="Profiled unit.")] = "gpu",
    dla: Annotated[str, Option("--dla", help="Units to estimate. Comma-separated.")] = "dla0",
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Estimate a DLA's memory demand: the GPU's times the ratio of memory loads."""

    gpus, dlas = unit_names(gpu), unit_names(dla)
    source = source_text(profile.source, "table", [table])
    made = begin_import(network, platform, [*gpus, *dlas], measuring, source)
    import_demand(made, table, gpu=gpus, dla=dlas)
    finish(profile, made)


def transitions(
    table: TableFile,
    network: NetworkName,
    platform: opt.PlatformName,
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take transition times from pairs of runs: with and without a hand-over."""

    source = source_text(profile.source, "pairs of runs", [table])
    made = begin_import(network, platform, None, measuring, source)
    import_transitions(made, table)
    finish(profile, made)


def _show(found: list[Quantity], samples: int, warnings: tuple[str, ...], as_json: bool) -> None:
    for text in warnings[:5]:
        say(text)
    if as_json:
        document = {"samples": samples, "quantities": [asdict(item) for item in found]}
        print(json.dumps(document, indent=2))
        return

    show(f"{samples} samples")
    show(_table(found))


def _table(found: list[Quantity]) -> Table:
    headings = (">samples", ">median", ">mean", ">least", ">most")
    table = plain_table("quantity", *headings, "unit")
    for item in found:
        figures = (f"{value:.5g}" for value in (item.median, item.mean, item.least, item.most))
        table.add_row(item.name, str(item.samples), *figures, item.unit)
    return table
