"""``dse import qai-hub``, ``hailo`` and ``rknn``: tables of networks that vendors publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import read_file
from paretosoc.dse.cli.measure.imported_profile import (
    MeasuringOptions,
    ProfileOptions,
    begin_import,
    finish,
    source_text,
    unit_names,
)
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import texts_by_name
from paretosoc.dse.inputs.yaml_loader import parse_yaml
from paretosoc.fitness.calibration.csv_table import read_log
from paretosoc.fitness.profiles.layer_names import names_of
from paretosoc.fitness.profiles.profile_document import Import
from paretosoc.fitness.profiles.vendor_tables import (
    CATALOGUE_NAMES,
    DEVICES,
    VendorTable,
    import_row,
    read_hailo,
    read_qai_hub,
    read_rknn,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.measurement import plain_name
from paretosoc.sdf.catalogue.catalogue import catalogue


@dataclass(frozen=True)
class TableOptions:
    """The networks of a table's rows, and its clocks."""

    network: Annotated[
        list[str] | None,
        Option("--network", "-n", help="Network of a row: ROW=NAME or ROW=FILE.onnx. Repeatable."),
    ] = None
    at: Annotated[
        list[str] | None,
        Option("--at", help="Clocks of the table: DOMAIN=MHZ for each. [default: max]"),
    ] = None


def qai_hub(
    files: Annotated[
        list[Path], Argument(help="Qualcomm AI Hub's perf.yaml files.", metavar="FILE...")
    ],
    platform: opt.PlatformName,
    device: Annotated[
        str | None, Option(help="Device of the table. [default: one with this platform]")
    ] = None,
    runtime: Annotated[str, Option(help="Runtime of the table.")] = "qnn_dlc",
    unit: Annotated[str, Option(help="Unit that ran the networks.")] = "npu",
    *,
    table: TableOptions,
    profile: ProfileOptions,
) -> None:
    """Take times of networks from Qualcomm AI Hub's tables."""
    device = device or DEVICES.get(platform)
    if device is None:
        raise WorkloadError(f"--device: a device of the table is required with {platform}")
    tables = [
        read_qai_hub(
            parse_yaml(read_file(file, PlatformError), str(file)),
            device=device,
            runtime=runtime,
            label=str(file),
        )
        for file in files
    ]
    source = source_text(profile.source, f"Qualcomm AI Hub, {device}, {runtime}", files)
    _import(tables, platform, unit, table, profile, source)


def hailo(
    files: Annotated[
        list[Path], Argument(help="Tables of Hailo's model zoo (.rst).", metavar="FILE...")
    ],
    platform: opt.PlatformName,
    unit: Annotated[str, Option(help="Unit that ran the networks.")] = "hailo",
    *,
    table: TableOptions,
    profile: ProfileOptions,
) -> None:
    """Take times of networks from Hailo's tables: 1 / FPS at batch 1."""
    tables = [read_hailo(read_log(file), label=str(file)) for file in files]
    source = source_text(profile.source, "Hailo model zoo", files)
    _import(tables, platform, unit, table, profile, source)


def rknn(
    files: Annotated[
        list[Path], Argument(help="README.md of Rockchip's model zoo.", metavar="FILE...")
    ],
    platform: opt.PlatformName,
    chip: Annotated[str, Option(help="Chip whose column is taken.")] = "RK3588",
    unit: Annotated[
        str, Option(help="Units that ran the networks. Comma-separated.")
    ] = "npu0,npu1,npu2",
    *,
    table: TableOptions,
    profile: ProfileOptions,
) -> None:
    """Take times of networks from Rockchip's table: 1 / FPS on one NPU core."""
    tables = [read_rknn(read_log(file), chip=chip, label=str(file)) for file in files]
    source = source_text(profile.source, f"RKNN model zoo, {chip}", files)
    _import(tables, platform, unit, table, profile, source)


def _import(
    tables: Sequence[VendorTable],
    platform: str,
    unit: str,
    table: TableOptions,
    options: ProfileOptions,
    source: str,
) -> None:
    """Build one profile of all rows whose network is known."""
    units = unit_names(unit)
    given = texts_by_name(table.network or (), "--network", "ROW=NAME")
    known = {plain_name(entry.name): entry.name for entry in catalogue()} | CATALOGUE_NAMES
    flagged = [text for read in tables for text in read.flagged]
    imports: list[Import] = []
    for row in (row for read in tables for row in read.rows):
        name = given.get(row.network) or known.get(plain_name(row.network))
        if name is None:
            flagged.append(
                f"{row.network}: not in the catalogue; --network {row.network}=FILE.onnx takes it"
            )
            continue
        measuring = MeasuringOptions(table.at or ["max"], row.precision)
        made = begin_import(name, platform, units, measuring, source)
        import_row(made, row, names_of(made.network), units=units)
        imports.append(made)
    if not imports:
        raise WorkloadError(
            "a row whose network is in the catalogue or given by --network is "
            f"required, got {'; '.join(flagged[:3]) or 'no rows'}"
        )
    finish(options, *imports, flagged=flagged)
