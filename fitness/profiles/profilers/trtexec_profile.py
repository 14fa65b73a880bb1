"""Profiles per layer that TensorRT's trtexec writes: ``--exportProfile`` and ``--dumpProfile``.

Both print, for every row of the engine, the total and the mean time over all iterations, and newer
versions the median. Layer names in the JSON are not escaped, a killed run leaves it cut off, and
the log comes in two layouts: numbers first, or (older) the name first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.profiles.layer_names import short_name
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal, parse_exact

_NUMBER = r"-?[0-9][0-9.eE+-]*|-?nan|-?inf"
_ENTRY = re.compile(
    r'\{\s*"name"\s*:\s*"(?P<name>.*)"\s*,\s*"timeMs"\s*:\s*(?P<timeMs>' + _NUMBER + r")"
    r'\s*,\s*"averageMs"\s*:\s*(?P<averageMs>' + _NUMBER + r")"
    r'(?:\s*,\s*"medianMs"\s*:\s*(?P<medianMs>' + _NUMBER + r"))?"
    r'\s*,\s*"percentage"\s*:\s*(?:' + _NUMBER + r")\s*\}"
)
_TIMES = ("timeMs", "averageMs", "medianMs")
_COUNT = re.compile(r'\{\s*"count"\s*:\s*([0-9]{1,18})\s*\}')
_STAMP = re.compile(r"^(?:\[[^\]]*\] )?\[[A-Z]\] ?")
_TITLE = re.compile(r"=== Profile \(([0-9]{1,18}) iterations ?\) ===")
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?%?")


@dataclass(frozen=True)
class EngineRow:
    """One row of an engine's profile. Times are per iteration, in ps."""

    name: str
    mean_ps: Fraction
    median_ps: Fraction | None


@dataclass(frozen=True)
class EngineProfile:
    """The rows in the engine's order, and ``warnings`` about unreadable or contradictory rows."""

    rows: tuple[EngineRow, ...]
    iterations: int | None
    warnings: tuple[str, ...]


def parse_trtexec_profile(text: str, label: str) -> EngineProfile:
    """Read the profile in the text of a JSON file or of a log. Messages start with ``label``.

    Raises:
        PlatformError: if there is no profile in it, or more than one.
    """
    if re.match(r"\s*\[\s*(?:\{|\]|$)", text):
        profile = _from_json(text, label)
    elif _TITLE.search(text):
        profile = _from_log(text, label)
    else:
        raise PlatformError(
            f"{label}: must be what trtexec writes with --exportProfile (JSON) or --dumpProfile "
            "(a log), got a text without a profile"
        )
    if not profile.rows:
        why = f" ({profile.warnings[0]})" if profile.warnings else ""
        raise PlatformError(f"{label}: must have a row with a name and times, got none{why}")
    return profile


def _time(text: str | int | Any) -> Fraction | None:
    """Return milliseconds as ps, or None if the text is no number."""
    try:
        return Fraction(exact_decimal(str(text))) * PS_PER_MS
    except (ArithmeticError, PlatformError, ValueError):
        return None


def _row(
    name: str, times: Sequence[Any], iterations: int | None, warnings: list[str]
) -> EngineRow | None:
    total, mean, median = times
    total_ps, mean_ps = _time(total), _time(mean)
    median_ps = None if median is None else _time(median)
    for what, value, time in (("mean", mean, mean_ps), ("median", median, median_ps)):
        if time is not None and time < 0:
            warnings.append(
                f"{short_name(name)}: its {what} is negative, {value} ms; the row is not used"
            )
            return None
    if mean_ps is None:
        warnings.append(f"{short_name(name)}: time {mean} is none; the row is not used")
        return None
    if total_ps is not None and iterations and abs(total_ps - mean_ps * iterations) > total_ps / 50:
        warnings.append(
            f"{short_name(name)}: {mean} ms an iteration does not fit {total} ms in "
            f"{iterations} iterations"
        )
    return EngineRow(name, mean_ps, median_ps)


def _from_json(text: str, label: str) -> EngineProfile:
    try:
        document = parse_exact(text.encode("utf-8", "replace"), label)
    except PlatformError:
        return _from_broken_json(text)
    warnings: list[str] = []
    iterations, rows = None, []
    for entry in document:
        if isinstance(entry, dict) and isinstance(entry.get("count"), int):
            iterations = int(entry["count"])
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            row = _row(entry["name"], [*map(entry.get, _TIMES)], iterations, warnings)
            rows += [row] if row else []
        else:
            warnings.append("an entry is neither a row nor the number of iterations; left out")
    return EngineProfile(tuple(rows), iterations, tuple(warnings))


def _from_broken_json(text: str) -> EngineProfile:
    """Read the profile by lines: names may have quotation marks, and the file may be cut off."""
    warnings: list[str] = []
    iterations, rows = None, []
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        if count := _COUNT.search(line):
            iterations = int(count[1])
        elif entry := _ENTRY.match(line, max(0, line.find("{"))):
            row = _row(entry["name"], entry.group(*_TIMES), iterations, warnings)
            rows += [row] if row else []
        elif line.strip() not in ("[", "]"):
            where = "the last line is cut off" if number == len(lines) else "a line is no row"
            warnings.append(f"{where}, and left out: {short_name(line.strip())}")
    if lines and lines[-1].strip() != "]":
        warnings.append("the closing bracket is missing: rows may be missing, too")
    return EngineProfile(tuple(rows), iterations, tuple(warnings))


def _from_log(text: str, label: str) -> EngineProfile:
    lines = [_STAMP.sub("", line).rstrip() for line in text.splitlines()]
    titles = [number for number, line in enumerate(lines) if _TITLE.search(line)]
    if len(titles) > 1:
        raise PlatformError(f"{label}: must hold one profile, got {len(titles)}")
    found = _TITLE.search(lines[titles[0]])
    assert found is not None
    iterations = int(found[1])
    after = iter(lines[titles[0] + 1 :])
    header = next((line for line in after if "Layer" in line and "Time" in line), "")
    if not header:
        raise PlatformError(f"{label}: the profile must have a line that names its columns")
    name_first = header.split()[0] == "Layer"
    columns = 4 if "Median" in header else 3
    warnings: list[str] = []
    rows: list[EngineRow] = []
    total: Fraction | None = None
    added = slack = Fraction(0)
    for line in after:
        cells = _cells(line, columns, name_first)
        if cells is None:
            if line.strip():
                break
            continue
        name, numbers = cells
        printed, summed = _time(numbers[1]), _time(numbers[0])
        slack += _half_unit(numbers[0])
        if name == "Total":
            total = summed
            break
        if summed is not None:
            added += summed
        # The mean has four decimals, in old versions two: too few for short layers. The total over
        # all iterations says more.
        printed_median = numbers[2] if columns == 4 else None
        negative = any(number.startswith("-") for number in numbers[: columns - 1])
        if iterations and printed is not None and summed is not None and not negative:
            mean = summed / iterations
            if abs(mean - printed) <= _half_unit(numbers[1]) + _half_unit(numbers[0]) / iterations:
                median = None if printed_median is None else _time(printed_median)
                rows.append(EngineRow(name, mean, median))
                continue
        row = _row(name, (*numbers[:2], printed_median), iterations, warnings)
        rows += [row] if row else []
    if total is None:
        warnings.append("the row Total is missing: the log may be cut off")
    elif abs(added - total) > slack:
        warnings.append("the rows do not add up to the row Total: some may be missing")
    return EngineProfile(tuple(rows), iterations, tuple(warnings))


def _half_unit(number: str) -> Fraction:
    """Return half a unit of the last printed decimal of a number of ms, in ps."""
    return Fraction(PS_PER_MS, 2 * 10 ** len(number.partition(".")[2]))


def _cells(line: str, columns: int, name_first: bool) -> tuple[str, Sequence[str]] | None:
    """Return the name and numbers of a row, or None if the line is none."""
    words = line.split()
    if len(words) <= columns:
        return None
    numbers = words[-columns:] if name_first else words[:columns]
    if not all(_PLAIN_NUMBER.fullmatch(word) for word in numbers):
        return None
    # The name keeps its inner spaces, so it is cut out of the line rather than put together.
    gaps = [match.span() for match in re.finditer(r"\S+", line)]
    start, end = (0, -columns - 1) if name_first else (columns, -1)
    return line[gaps[start][0] : gaps[end][1]], [word.rstrip("%") for word in numbers]
