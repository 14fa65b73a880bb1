"""From a table of throughputs and memory loads to the demands in a profile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.fitness.profiles.import_report import ImportReport
from paretosoc.fitness.profiles.profile_document import (
    Document,
    Subject,
    add_part,
    new_document,
    rounded,
)
from paretosoc.fitness.profiles.profilers.demand_estimate import estimate_demand
from paretosoc.fitness.profiles.profilers.tegrastats_log import emc_percent, parse_tegrastats
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.grouping.groups import GroupedNetwork

COLUMNS = ("group", "layer", "gpu_gbps", "gpu_percent", "gpu_emc", "dla_emc")
OPTIONAL = ("group", "layer", "gpu_gbps", "gpu_percent")


def import_demand(
    path: Path,
    network: GroupedNetwork,
    platform: Platform,
    subject: Subject,
    *,
    gpu: Sequence[str],
    dla: Sequence[str],
    source: str,
) -> tuple[Document, ImportReport]:
    """The GPU's measured demands and the estimated ones of the DLA as a profile document.

    A row names a ``group`` (name, or number from 0) or a ``layer``; ``gpu_gbps`` or ``gpu_percent``
    (of the memory's peak at the clocks) is the throughput that was profiled on the GPU;
    ``gpu_emc`` and ``dla_emc`` are loads in percent, or tegrastats logs made while it ran.

    Raises:
        PlatformError: on a row that names nothing of the network, or says too little or too much.
    """
    document = new_document(platform, subject, source)
    report = ImportReport()
    peak = Fraction(
        platform.memory.bytes_per_cycle * dict(subject.clocks_khz)[platform.memory.domain], 10**6
    )
    for row in read_table(path, COLUMNS, optional=OPTIONAL):
        key, name = _named(row, network)
        gbps = _throughput(row, peak)
        loads = [row.number_or_file(column, path.parent, _load) for column in COLUMNS[-2:]]
        figures: dict[str, dict[str, Any]] = {"demand_gbps": dict.fromkeys(gpu, rounded(gbps, 6))}
        if loads[0] is None or loads[1] is None:
            report.flagged.append(
                f"{row.where}: the demand on {', '.join(dla)} needs gpu_emc and dla_emc; not made"
            )
        else:
            (gpu_load, gpu_text), (dla_load, dla_text) = loads[0], loads[1]
            made = estimate_demand(gbps, gpu_load, dla_load)
            if made is None or rounded(made.gbps, 6) == 0:
                report.flagged.append(
                    f"{row.where}: loads of {gpu_text} and {dla_text} give no demand; not made"
                )
            else:
                most = "any" if made.most is None else f"{float(made.most):.4g}"
                note = (
                    f"demand estimated (HaX-CoNN 3.3): {float(gbps):.4g} GB/s on {gpu[0]} x EMC "
                    f"{float(dla_load):g} % / {float(gpu_load):g} % ({dla_text} / {gpu_text}); "
                    f"loads in whole percent leave {float(made.least):.4g} to {most} GB/s"
                )
                figures["demand_gbps"] |= dict.fromkeys(dla, rounded(made.gbps, 6))
                figures["notes"] = dict.fromkeys(dla, note)
                report.lines.append(
                    f"{name}: {float(made.gbps):.4g} GB/s on {', '.join(dla)} "
                    f"({float(made.least):.4g} to {most})"
                )
        add_part(document["networks"][0], key, [name], figures)
    return document, report


def _load(text: str, label: str) -> Fraction:
    return emc_percent(parse_tegrastats(text, label), label)


def _throughput(row: TableRow, peak_gbps: Fraction) -> Fraction:
    gbps, percent = row.number("gpu_gbps"), row.number("gpu_percent")
    if (gbps is None) == (percent is None):
        raise PlatformError(f"{row.where}: one of gpu_gbps and gpu_percent is required")
    value = gbps if gbps is not None else (percent or Fraction(0)) * peak_gbps / 100
    if not 0 < value <= peak_gbps:
        raise PlatformError(
            f"{row.where}: the GPU's throughput must be above 0 and at most the memory's peak of "
            f"{float(peak_gbps):g} GB/s at these clocks, got {float(value):g}"
        )
    return value


def _named(row: TableRow, network: GroupedNetwork) -> tuple[str, str]:
    group, layer = row.cells["group"], row.cells["layer"]
    if bool(group) == bool(layer):
        raise PlatformError(f"{row.where}: one of group and layer is required")
    if group:
        return "groups", group_name(group, network, row.where)
    known = {item.name for part in network.groups for item in part.layers}
    if layer not in known:
        raise PlatformError(
            f"{row.where}: layer must be one of the network's {len(known)}, got {layer!r}"
        )
    return "layers", layer


def group_name(text: str, network: GroupedNetwork, where: str) -> str:
    """The name of the group that a cell names, by name or by number from 0.

    Raises:
        PlatformError: where there is none.
    """
    names = [group.name for group in network.groups]
    if text in names:
        return text
    if re.fullmatch("[0-9]{1,9}", text) and int(text) < len(names):
        return names[int(text)]
    raise PlatformError(
        f"{where}: group must be a number from 0 to {len(names) - 1} or a name such as "
        f"{names[0]!r}, got {text!r}"
    )
