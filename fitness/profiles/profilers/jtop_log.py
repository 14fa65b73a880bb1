"""Logs of ``jtop.stats`` of jetson-stats: CSV with a header, a JSON list, or a JSON row per line.

Loads are in percent, powers in mW, clocks of engines in kHz; ``OFF`` is one that is off.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from paretosoc.fitness.profiles.profilers.tegrastats_log import (
    BOARD_RAILS,
    PowerLog,
    Sample,
    parse_tegrastats,
)
from paretosoc.platforms.errors import PlatformError

_CPU = re.compile(r"CPU[0-9]{1,4}")
_DLA = re.compile(r"DLA([0-9])(?:_CORE)?")
_RAIL = re.compile(r"Power (.+)")
_TOTAL = "TOT"
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def parse_power_log(text: str, label: str) -> PowerLog:
    """Return the samples in a log of tegrastats or jtop.

    Raises:
        PlatformError: if there is no sample. The message begins with ``label``.
    """
    head = text.lstrip()[:1000]
    if head.startswith("RAM ") or not ("uptime" in head or head.startswith(("[", "{"))):
        return parse_tegrastats(text, label)
    rows, warnings = _rows(text, label)
    samples = [_sample(row) for row in rows if any(_RAIL.fullmatch(key) for key in row)]
    if len(samples) < len(rows):
        warnings.append(f"{len(rows) - len(samples)} rows without power; left out")
    if not samples:
        raise PlatformError(f"{label}: must hold rows of jtop with 'Power TOT', got none")
    return PowerLog(tuple(samples), tuple(warnings))


def _rows(text: str, label: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    if not text.lstrip().startswith(("[", "{")):
        rows = list(csv.DictReader(io.StringIO(text)))
        # A row that is cut off, as at the end of a log, lacks its last fields.
        whole = [row for row in rows if None not in row.values() and None not in row]
        cut = len(rows) - len(whole)
        return [*whole], [f"{cut} rows are cut off; left out"] if cut else []
    try:
        found = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
    except (ValueError, RecursionError) as error:
        raise PlatformError(f"{label}: is no JSON of jtop: {error}") from None
    return [row for row in found if isinstance(row, Mapping)], []


def _sample(row: Mapping[str, Any]) -> Sample:
    rails = {
        found[1]: round(power)
        for key, value in row.items()
        if (found := _RAIL.fullmatch(key)) and (power := _number(value)) is not None
    }
    total = rails.pop(_TOTAL, None)
    if total is not None:
        rails.setdefault(BOARD_RAILS[0], total)
    cores = [load for key in row if _CPU.fullmatch(key) and (load := _number(row[key])) is not None]
    clocks = {
        int(found[1]): round(khz / 1000)
        for key, value in row.items()
        if (found := _DLA.fullmatch(key)) and (khz := _number(value)) is not None
    }
    emc, gpu = _number(row.get("EMC")), _number(row.get("GPU"))
    return Sample(
        emc_percent=None if emc is None else round(emc),
        emc_mhz=None,
        gpu_percent=None if gpu is None else round(gpu),
        gpu_mhz=None,
        dla_mhz=clocks,
        cpu_percent=sum(cores, Fraction(0)) / len(cores) if cores else None,
        rails_mw=rails,
    )


def _number(value: Any) -> Fraction | None:
    """Return a number as CSV or JSON has it, or None for others, as of what is off."""
    text = str(value).strip()
    return Fraction(text) if _NUMBER.fullmatch(text) else None
