"""Turn a table of throughputs and memory loads, or a log of them, into demands of a profile.

The memory demand of a unit that no profiler looks into is estimated in four steps (HaX-CoNN 3.3).

1. The demand of every group on the GPU is measured (Nsight Compute).
2. The load of the memory controller (EMC) is measured while each group runs on the GPU, and again
   while it runs on the other unit.
3. The demand there is the GPU's, divided by the ratio of the two loads, GPU over unit.
4. The contention model turns demands into slowdowns. The timeline does this.

``tegrastats`` prints loads in integer percent, so a small load makes a coarse ratio: every estimate
carries the interval that half a percent either way leaves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.fitness.profiles.profile_document import Import, rounded
from paretosoc.fitness.profiles.profilers.jtop_log import parse_power_log
from paretosoc.fitness.profiles.profilers.tegrastats_log import PowerLog, board_mw, emc_percent
from paretosoc.platforms.errors import PlatformError
from paretosoc.sdf.grouping.groups import GroupedNetwork

COLUMNS = ("group", "layer", "gpu_gbps", "gpu_percent", "gpu_emc", "dla_emc")
OPTIONAL = ("group", "layer", "gpu_gbps", "gpu_percent")
HALF_PERCENT = Fraction(1, 2)


@dataclass(frozen=True)
class DemandEstimate:
    """Demand in GB/s, with the bounds that rounded loads leave."""

    gbps: Fraction
    least: Fraction
    most: Fraction | None
    """None if the GPU's load may be nothing."""


def estimate_demand(
    gpu_gbps: Fraction, gpu_emc_percent: Fraction, unit_emc_percent: Fraction
) -> DemandEstimate | None:
    """Return step 3, or None if the GPU's load is 0: there is no ratio then."""
    if gpu_emc_percent <= 0:
        return None
    low = gpu_emc_percent - HALF_PERCENT
    return DemandEstimate(
        gbps=gpu_gbps * unit_emc_percent / gpu_emc_percent,
        least=gpu_gbps
        * max(unit_emc_percent - HALF_PERCENT, Fraction(0))
        / (gpu_emc_percent + HALF_PERCENT),
        most=gpu_gbps * (unit_emc_percent + HALF_PERCENT) / low if low > 0 else None,
    )


def import_demand(made: Import, path: Path, *, gpu: Sequence[str], dla: Sequence[str]) -> None:
    """Add the GPU's measured demands and the estimated ones of the DLA.

    A row names a ``group`` (name, or number from 0) or a ``layer``. ``gpu_gbps`` is the traffic
    that reached the memory while it ran on the GPU, ``gpu_percent`` the use of the busiest part of
    the memory system (Nsight Compute's memory throughput). ``gpu_emc`` and ``dla_emc`` are loads in
    percent, or tegrastats logs made while it ran.

    Raises:
        PlatformError: on a row that names nothing of the network, or says too little or too much.
    """
    memory = made.platform.memory
    peak = Fraction(memory.bytes_per_cycle * dict(made.subject.clocks_khz)[memory.domain], 10**6)
    for row in read_table(path, COLUMNS, optional=OPTIONAL):
        key, name = _named(row, made.network)
        gbps = _throughput(row, peak)
        loads = [row.number_or_file(column, path.parent, _load) for column in COLUMNS[-2:]]
        is_traffic = row.number("gpu_gbps") is not None
        key_of, scale = ("traffic_gbps", 1) if is_traffic else ("requested_percent", 100 / peak)
        figures: dict[str, dict[str, Any]] = {key_of: dict.fromkeys(gpu, rounded(gbps * scale, 6))}
        if loads[0] is None or loads[1] is None:
            made.flagged.append(
                f"{row.where}: the demand on {', '.join(dla)} needs gpu_emc and dla_emc; not made"
            )
        else:
            (gpu_load, gpu_text), (dla_load, dla_text) = loads[0], loads[1]
            if max(gpu_load, dla_load) > 100:
                raise PlatformError(
                    f"{row.where}: gpu_emc and dla_emc must be at most 100 %, got {gpu_text} and "
                    f"{dla_text}"
                )
            estimate = estimate_demand(gbps, gpu_load, dla_load)
            if estimate is None or rounded(estimate.gbps, 6) == 0:
                made.flagged.append(
                    f"{row.where}: loads of {gpu_text} and {dla_text} give no demand; not made"
                )
            else:
                most = "any" if estimate.most is None else f"{float(estimate.most):.4g}"
                note = (
                    f"demand estimated (HaX-CoNN 3.3): {float(gbps):.4g} GB/s on {gpu[0]} x EMC "
                    f"{float(dla_load):g} % / {float(gpu_load):g} % ({dla_text} / {gpu_text}); "
                    f"loads in whole percent leave {float(estimate.least):.4g} to {most} GB/s"
                )
                figures[key_of] |= dict.fromkeys(dla, rounded(estimate.gbps * scale, 6))
                figures["notes"] = dict.fromkeys(dla, note)
                made.lines.append(
                    f"{name}: {float(estimate.gbps):.4g} GB/s on {', '.join(dla)} "
                    f"({float(estimate.least):.4g} to {most})"
                )
        made.add_part(key, [name], figures)


def _load(text: str, label: str) -> Fraction:
    return emc_percent(parse_power_log(text, label), label)


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
    """Return the name of the group that a cell names, by name or by number from 0.

    Raises:
        PlatformError: if there is none.
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


def import_tegrastats(
    made: Import,
    log: PowerLog,
    idle: PowerLog | None,
    label: str,
    *,
    units: Sequence[str],
    group: str,
) -> None:
    """Add traffic as the share of the memory's peak in use, and, with a log of the idle board,
    power.

    The load counts all traffic, also of the idle board. If ``idle`` is given, its load is
    subtracted as well.

    Raises:
        PlatformError: if the log has no load, or there is no such group.
    """
    made.flagged += [f"{label}: {text}" for text in log.warnings]
    name = group_name(group, made.network, "--group")
    load = emc_percent(log, label)
    figures: dict[str, dict[str, Any]] = {}
    note = f"EMC load {float(load):g} %"
    if idle is not None:
        rest, power = emc_percent(idle, "--idle"), board_mw(log, label) - board_mw(idle, "--idle")
        load -= rest
        note += f" less {float(rest):g} % of the idle board"
        if power > 0:
            figures["power_mw"] = dict.fromkeys(units, rounded(power, 0))
            made.lines.append(f"{name}: {float(power) / 1000:g} W above the idle board")
        else:
            made.flagged.append(
                f"{label}: {float(power) / 1000:g} W above the idle board; a difference that is "
                "not positive is not used"
            )
    if load > 0:
        figures["traffic_percent"] = dict.fromkeys(units, rounded(load, 3))
        made.lines.append(f"{name}: {float(load):g} % of the memory's peak")
    else:
        made.flagged.append(
            f"{label}: {float(load):g} % of the memory's peak; a load that is not positive is not "
            "used"
        )
    figures["notes"] = dict.fromkeys(units, note)
    made.add_part("groups", [name], figures)
