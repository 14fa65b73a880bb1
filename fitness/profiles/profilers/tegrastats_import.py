"""Turn a log of tegrastats, made while one group ran over and over, into its demand and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretosoc.fitness.profiles.importing import Import
from paretosoc.fitness.profiles.profile_document import rounded
from paretosoc.fitness.profiles.profilers.demand_import import group_name
from paretosoc.fitness.profiles.profilers.tegrastats_log import PowerLog, board_mw, emc_percent


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
