"""From a log of tegrastats, made while one group ran over and over, to its demand and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretosoc.fitness.profiles.import_report import ImportReport
from paretosoc.fitness.profiles.profile_document import (
    Document,
    Subject,
    add_part,
    new_document,
    rounded,
)
from paretosoc.fitness.profiles.profilers.demand_import import group_name
from paretosoc.fitness.profiles.profilers.tegrastats_log import TegrastatsLog, board_mw, emc_percent
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.grouping.groups import GroupedNetwork


def import_tegrastats(
    log: TegrastatsLog,
    idle: TegrastatsLog | None,
    label: str,
    network: GroupedNetwork,
    platform: Platform,
    subject: Subject,
    *,
    units: Sequence[str],
    group: str,
    source: str,
) -> tuple[Document, ImportReport]:
    """Demand as the share of the memory's peak in use, and, with a log of the idle board, power.

    The load counts all traffic, that of the idle board too: where ``idle`` is given, its load is
    subtracted as well.

    Raises:
        PlatformError: where the log has no load, or there is no such group.
    """
    report = ImportReport(flagged=[f"{label}: {text}" for text in log.warnings])
    name = group_name(group, network, "--group")
    load = emc_percent(log, label)
    figures: dict[str, dict[str, Any]] = {}
    note = f"EMC load {float(load):g} %"
    if idle is not None:
        rest, power = emc_percent(idle, "--idle"), board_mw(log, label) - board_mw(idle, "--idle")
        load -= rest
        note += f" less {float(rest):g} % of the idle board"
        if power > 0:
            figures["power_mw"] = dict.fromkeys(units, rounded(power, 0))
            report.lines.append(f"{name}: {float(power) / 1000:g} W above the idle board")
        else:
            report.flagged.append(
                f"{label}: {float(power) / 1000:g} W above the idle board; a difference that is "
                "not positive is not used"
            )
    if load > 0:
        figures["demand_percent"] = dict.fromkeys(units, rounded(load, 3))
        report.lines.append(f"{name}: {float(load):g} % of the memory's peak")
    else:
        report.flagged.append(
            f"{label}: {float(load):g} % of the memory's peak; a load that is not positive is not "
            "used"
        )
    figures["notes"] = dict.fromkeys(units, note)
    document = new_document(platform, subject, source)
    add_part(document["networks"][0], "groups", [name], figures)
    return document, report
