"""``dse import``: measurements of other tools become a profile that ``--profile`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paretosoc.dse.cli.measure import import_tables as command_import_tables
from paretosoc.dse.cli.measure import import_vendors as command_import_vendors
from paretosoc.dse.cli.measure.import_options import (
    MeasuringOptions,
    Medians,
    NetworkName,
    ProfileOptions,
    source_text,
)
from paretosoc.dse.cli.measure.imported_profile import (
    finish,
    measured_network,
    parse_providers,
    unit_names,
)
from paretosoc.dse.cli.shared.option_groups import with_option_groups
from paretosoc.dse.cli.shared.options import MAX_SIZE, PlatformName
from paretosoc.fitness.calibration.text_files import read_log
from paretosoc.fitness.profiles.layer_names import names_of
from paretosoc.fitness.profiles.profilers.engine_layers import is_layer_info, parse_layer_info
from paretosoc.fitness.profiles.profilers.onnxruntime_import import import_onnxruntime
from paretosoc.fitness.profiles.profilers.onnxruntime_profile import parse_onnxruntime_profile
from paretosoc.fitness.profiles.profilers.trtexec_import import import_trtexec
from paretosoc.fitness.profiles.profilers.trtexec_profile import parse_trtexec_profile
from paretosoc.platforms.errors import PlatformError


def register(app: typer.Typer) -> None:
    """Adds the command with one subcommand per tool."""
    group = typer.Typer(
        name="import",
        help="Read measurements of other tools into a profile.",
        no_args_is_help=True,
    )
    group.command("trtexec")(with_option_groups(trtexec))
    group.command("onnxruntime")(with_option_groups(onnxruntime))
    command_import_tables.register(group)
    command_import_vendors.register(group)
    app.add_typer(group)


def trtexec(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="JSON of --exportProfile or logs of --dumpProfile; also JSON of --exportLayerInfo "
            "of the same engine, which names the ONNX nodes of its layers.",
            metavar="FILE...",
        ),
    ],
    network: NetworkName,
    platform: PlatformName,
    unit: Annotated[
        str, typer.Option("--unit", help="Unit of rows without a DLA. Comma-separated.")
    ] = "gpu",
    dla: Annotated[
        str | None,
        typer.Option("--dla", help="Unit of DLA rows. Comma-separated."),
    ] = None,
    median: Medians = False,
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take times per layer from TensorRT's profiles."""

    units, dlas = unit_names(unit), unit_names(dla) if dla is not None else ()
    measured = measured_network(network, platform, [*units, *dlas], measuring)
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
    document, report = import_trtexec(
        profiles,
        names_of(measured.grouped, rows),
        measured.platform,
        measured.subject,
        units=units,
        dla=dlas,
        use_median=median,
        source=source_text(profile.source, "trtexec", files),
    )
    finish([measured], document, profile, report)


def onnxruntime(
    files: Annotated[
        list[Path],
        typer.Argument(help="Profiles written by ONNX Runtime sessions.", metavar="FILE..."),
    ],
    network: NetworkName,
    platform: PlatformName,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            "--unit", help="Unit of all nodes, or PROVIDER=UNIT. Repeatable. [default: cpu]"
        ),
    ] = None,
    skip: Annotated[
        int, typer.Option(min=0, max=MAX_SIZE, help="Number of warm-up runs to skip.")
    ] = 1,
    median: Medians = False,
    *,
    measuring: MeasuringOptions,
    profile: ProfileOptions,
) -> None:
    """Take times per node from ONNX Runtime's profiles."""

    providers = parse_providers(unit or ["cpu"])
    measured = measured_network(
        network,
        platform,
        [name for names in providers.values() for name in names],
        measuring,
    )
    document, report = import_onnxruntime(
        [
            (file.name, parse_onnxruntime_profile(read_log(file), str(file), skip=skip))
            for file in files
        ],
        names_of(measured.grouped),
        measured.platform,
        measured.subject,
        providers=providers,
        use_median=median,
        source=source_text(profile.source, "ONNX Runtime profile", files),
    )
    finish([measured], document, profile, report)
