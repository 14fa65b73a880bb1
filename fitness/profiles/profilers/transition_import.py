"""Transition times from pairs of runs (HaX-CoNN 3.2): the time that one hand-over adds to a run.

A run whose engine also gives out the result of a group (TensorRT's ``markOutput``) shows, against
the same run without, the time of bringing that result to the memory: tau_out of its unit. One that
takes the group's result as an input (``addInput``) shows tau_in. Both together are the transition
(Eq. 2). A difference below zero is noise larger than the transition. It is flagged, and not used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt
from pathlib import Path
from statistics import stdev

from paretosoc.common.files import naming
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.fitness.profiles.measured_layers import ms_text
from paretosoc.fitness.profiles.profile_document import Import, rounded
from paretosoc.fitness.profiles.profilers.demand_import import group_name
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal, parse_exact
from paretosoc.platforms.platform import Platform

_TITLE = "GPU Compute"
_MEAN = re.compile(r"mean(?: =|:) ([0-9.]+) ms")


@dataclass(frozen=True)
class RunTime:
    """The mean time of one run, ps, and its standard error if single runs are known."""

    mean_ps: Fraction
    error_ps: float | None


def parse_run_time(text: str, label: str) -> RunTime:
    """Read the compute time of a run, from a log of trtexec or its exported times.

    Messages start with ``label``.

    Raises:
        PlatformError: if the text is neither, or holds several summaries.
    """
    if re.match(r"\s*\[\s*\{", text):
        return _from_samples(text, label)
    found = _means(text)
    if len(found) != 1:
        raise PlatformError(
            f"{label}: must be a log of trtexec with one line 'GPU Compute Time: ... mean = ...', "
            f"or what --exportTimes writes, got {len(found)} such lines"
        )
    with naming(label, PlatformError):
        return RunTime(Fraction(exact_decimal(found[0])) * PS_PER_MS, None)


def _means(text: str) -> list[str]:
    """Return the means of the compute time, in the title's line or (TensorRT 7) after the
    extremes."""
    found: list[str] = []
    in_summary = False
    for line in text.splitlines():
        _, title, rest = line.partition(_TITLE)
        if title:
            in_summary = not rest
        if (in_summary or rest.startswith((": ", " Time: "))) and (mean := _MEAN.search(line)):
            found.append(mean[1])
            in_summary = False
        elif not title and not ("min: " in line or "max: " in line):
            in_summary = False
    return found


def _from_samples(text: str, label: str) -> RunTime:
    values = [
        Fraction(entry["computeMs"]) * PS_PER_MS
        for entry in parse_exact(text.encode(), label)
        if isinstance(entry, dict) and not isinstance(entry.get("computeMs"), (str, type(None)))
    ]
    if not values:
        raise PlatformError(f"{label}: must have entries with computeMs, got none")
    mean = sum(values, Fraction(0)) / len(values)
    error = stdev(map(float, values)) / sqrt(len(values)) if len(values) > 1 else None
    return RunTime(mean, error)


COLUMNS = ("after", "from", "to", "base", "run")
ERRORS = 2
"""A difference of fewer standard errors is reported."""


def import_transitions(made: Import, path: Path) -> None:
    """Add the transitions of a table.

    A row names the group ``after`` which the network changes its unit (name, or number from 0).
    ``base`` and ``run`` are times in ms, or files of trtexec. With ``from`` alone the difference is
    tau_out of that unit, with ``to`` alone tau_in, with both the whole transition. Several units
    may share a row, separated by ``/``.

    Raises:
        PlatformError: on a row that names an unknown group or unit, or measures something twice.
    """
    measured_whole: dict[tuple[str, str, str], Fraction] = {}
    parts: dict[tuple[str, str, str], Fraction] = {}
    notes: dict[tuple[str, str, str], str] = {}
    for row in read_table(path, COLUMNS, optional=("from", "to")):
        after = group_name(row.cells["after"], made.network, row.where)
        sources, targets = (_units(row, column, made.platform) for column in ("from", "to"))
        if not sources and not targets:
            raise PlatformError(f"{row.where}: from, to or both are required")
        cost = _difference(made, row, path.parent)
        if cost is None:
            continue
        keys = [(after, u, v) for u in sources or [""] for v in targets or [""] if u != v]
        for key in keys:
            table = measured_whole if sources and targets else parts
            if key in table:
                raise PlatformError(f"{row.where}: measures again what a row before measured")
            table[key] = cost
            notes[key] = f"{row.cells['run']} less {row.cells['base']}"
    groups = [group.name for group in made.network.groups]
    # Transitions as tau_out + tau_in, if they were not measured as a whole.
    used: dict[tuple[str, str, str], Fraction] = {}
    for (after, out, _), out_ps in parts.items():
        for (other, _, into), into_ps in parts.items():
            key = after, out, into
            if after == other and out and into and out != into and key not in measured_whole:
                used[key] = out_ps + into_ps
                notes[key] = f"out: {notes[after, out, '']}; in: {notes[after, '', into]}"
    measured = measured_whole | used
    for key in sorted(measured, key=lambda key: (groups.index(key[0]), key[1:])):
        made.record["transitions"].append(
            {
                "after": key[0],
                "from": key[1],
                "to": key[2],
                "ms": rounded(measured[key] / PS_PER_MS, 9),
                "note": notes[key][:4000],
            }
        )
        made.lines.append(f"after {key[0]}, {key[1]} to {key[2]}: {ms_text(measured[key])}")
    for after, out, into in parts:
        if not any(k[0] == after and (k[1] == out or k[2] == into) for k in used):
            what = f"out of {out}" if out else f"into {into}"
            made.flagged.append(
                f"after {after}, {what}: the other half of the transition was not measured; "
                "not used"
            )
    if not measured:
        raise PlatformError(
            f"{path}: must measure a whole transition: from and to in one row, or a row of each"
        )


def _units(row: TableRow, column: str, platform: Platform) -> list[str]:
    names = [name.strip() for name in row.cells[column].split("/") if name.strip()]
    for name in names:
        if name not in platform.unit_by_name:
            raise PlatformError(
                f"{row.where}: {column} must name units ({', '.join(platform.unit_by_name)}), "
                f"got {name!r}"
            )
    return names


def _difference(made: Import, row: TableRow, folder: Path) -> Fraction | None:
    errors: list[float] = []

    def read(text: str, label: str) -> Fraction:
        time: RunTime = parse_run_time(text, label)
        errors.append(0.0 if time.error_ps is None else time.error_ps)
        return time.mean_ps / PS_PER_MS

    values = [row.number_or_file(column, folder, read) for column in ("base", "run")]
    if values[0] is None or values[1] is None:
        raise PlatformError(f"{row.where}: base and run are required")
    cost = (values[1][0] - values[0][0]) * PS_PER_MS
    shown = f"{values[1][1]} less {values[0][1]} is {ms_text(cost)}"
    if cost < 0:
        made.flagged.append(f"{row.where}: {shown}; a negative difference is not used")
        return None
    if errors and cost < ERRORS * hypot(*errors):
        error = ms_text(Fraction(hypot(*errors)))
        made.flagged.append(
            f"{row.where}: {shown}, within {ERRORS} standard errors ({error}) of nothing; used"
        )
    return cost
