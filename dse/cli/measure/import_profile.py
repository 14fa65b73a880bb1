"""``dse import``: measurements of other tools become a profile that ``--profile`` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import click
from rich.table import Table

from paretosoc.common.plugins import Registry
from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.dse.cli.measure.import_vendors import hailo, qai_hub, rknn
from paretosoc.dse.cli.measure.imported_profile import (
    MeasuringOptions,
    Medians,
    NetworkName,
    ProfileOptions,
    begin_import,
    finish,
    parse_providers,
    source_text,
    unit_names,
)
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import command_of
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import print_json, say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.fitness.calibration.csv_table import read_log
from paretosoc.fitness.profiles.layer_names import names_of
from paretosoc.fitness.profiles.profilers.demand_import import import_demand, import_tegrastats
from paretosoc.fitness.profiles.profilers.jtop_log import parse_power_log
from paretosoc.fitness.profiles.profilers.onnxruntime_profile import (
    import_onnxruntime,
    parse_onnxruntime_profile,
)
from paretosoc.fitness.profiles.profilers.tegrastats_log import Quantity, quantities
from paretosoc.fitness.profiles.profilers.transition_import import import_transitions
from paretosoc.fitness.profiles.profilers.trtexec_import import (
    import_trtexec,
    is_layer_info,
    parse_layer_info,
)
from paretosoc.fitness.profiles.profilers.trtexec_profile import parse_trtexec_profile
from paretosoc.platforms.errors import PlatformError

TableFile = Annotated[Path, Argument(help="A table (CSV).", metavar="TABLE.csv")]


def tegrastats(
    file: Annotated[
        Path, Argument(help="A log of tegrastats, or of jtop (CSV or JSON).", metavar="FILE")
    ],
    idle: Annotated[Path | None, Option(help="Log of the idle board, to be subtracted.")] = None,
    network: Annotated[
        str | None, Option("--network", "-n", help="Network that ran. Required for a profile.")
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
    if network is None:
        of_profile = (*vars(measuring), *vars(profile), "platform", "group", "unit")
        refuse_options("needs --network", *of_profile)
    else:
        refuse_options("is for a log, without --network", "as_json")
    log = parse_power_log(read_log(file), str(file))
    rest = None if idle is None else parse_power_log(read_log(idle), str(idle))
    if network is None:
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
        print_json(document)
        return

    show(pluralize(samples, "sample"))
    show(_table(found))


def _table(found: list[Quantity]) -> Table:
    headings = (">samples", ">median", ">mean", ">least", ">most")
    table = plain_table("quantity", *headings, "unit")
    for item in found:
        figures = (f"{value:.5g}" for value in (item.median, item.mean, item.least, item.most))
        table.add_row(item.name, str(item.samples), *figures, item.unit)
    return table


def command() -> click.Group:
    """Return the command with one subcommand per tool."""
    return click.Group(
        "import",
        [_command_of_importer(name) for name in IMPORTERS.names()],
        help="Read measurements of other tools into a profile.",
        no_args_is_help=True,
    )


def _command_of_importer(name: str) -> click.Command:
    """Return an importer's command. One of a package that cannot be loaded, or is no function of a
    command, says so when it runs."""
    try:
        importer = IMPORTERS.get(name, "dse import")

        @wraps(importer)
        def guarded(**given: Any) -> None:
            with IMPORTERS.guard(name, "dse import"):
                importer(**given)

        words = "dse import: parameters annotated as those of the program's importers are required:"
        with IMPORTERS.guard(name, words):
            return command_of(name, guarded)
    except PlatformError as error:
        reason = error

    def refuse() -> None:
        """Print why this importer cannot be loaded."""
        raise reason

    refusing = command_of(name, refuse)
    refusing.ignore_unknown_options = refusing.allow_extra_args = True
    return refusing


def trtexec(
    files: Annotated[
        list[Path],
        Argument(
            help="JSON of --exportProfile or logs of --dumpProfile; also JSON of --exportLayerInfo "
            "of the same engine, which names the ONNX nodes of its layers.",
            metavar="FILE...",
        ),
    ],
    network: NetworkName,
    platform: opt.PlatformName,
    unit: Annotated[
        str, Option("--unit", help="Unit of rows without a DLA. Comma-separated.")
    ] = "gpu",
    dla: Annotated[str | None, Option("--dla", help="Unit of DLA rows. Comma-separated.")] = None,
    median: Medians = False,
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take times per layer from TensorRT's profiles."""

    units, dlas = unit_names(unit), unit_names(dla) if dla is not None else ()
    source = source_text(profile.source, "trtexec", files)
    made = begin_import(network, platform, [*units, *dlas], measuring, source)
    profiles, rows = [], dict[str, tuple[str, ...]]()
    for file in files:
        text = read_log(file)
        if is_layer_info(text):
            rows |= parse_layer_info(text, str(file))
        else:
            profiles.append((file.name, parse_trtexec_profile(text, str(file))))
    if not profiles:
        raise PlatformError(
            f"{files[0]}: a dump of the inspector has no times: the JSON of --exportProfile of the "
            "same engine is required beside it"
        )
    names = names_of(made.network, rows)
    import_trtexec(made, profiles, names, units=units, dla=dlas, use_median=median)
    finish(profile, made)


def onnxruntime(
    files: Annotated[
        list[Path], Argument(help="Profiles written by ONNX Runtime sessions.", metavar="FILE...")
    ],
    network: NetworkName,
    platform: opt.PlatformName,
    unit: Annotated[
        list[str] | None,
        Option("--unit", help="Unit of all nodes, or PROVIDER=UNIT. Repeatable. [default: cpu]"),
    ] = None,
    skip: Annotated[
        int, Option(min=0, max=opt.MAX_SIZE, help="Number of warm-up runs to skip.")
    ] = 1,
    median: Medians = False,
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take times per node from ONNX Runtime's profiles."""

    providers = parse_providers(unit or ["cpu"])
    units = [name for names in providers.values() for name in names]
    source = source_text(profile.source, "ONNX Runtime profile", files)
    made = begin_import(network, platform, units, measuring, source)
    profiles = [
        (file.name, parse_onnxruntime_profile(read_log(file), str(file), skip=skip))
        for file in files
    ]
    names = names_of(made.network)
    import_onnxruntime(made, profiles, names, providers=providers, use_median=median)
    finish(profile, made)


IMPORTERS: Registry[Callable[..., None]] = Registry(
    "paretosoc.importers",
    "an importer",
    callable,
    "the function of a command",
    {
        "trtexec": trtexec,
        "onnxruntime": onnxruntime,
        "tegrastats": tegrastats,
        "demand": demand,
        "transitions": transitions,
        "qai-hub": qai_hub,
        "hailo": hailo,
        "rknn": rknn,
    },
    PlatformError,
)
"""Subcommands of ``dse import``. Each begins with :func:`begin_import`, fills what that returns,
and ends with :func:`finish`."""
