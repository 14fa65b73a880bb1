"""Times of complete runs that trtexec prints: its summary in a log, or ``--exportTimes``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import stdev

from paretosoc.common.units import PS_PER_MS
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal, parse_exact

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
    try:
        return RunTime(Fraction(exact_decimal(found[0])) * PS_PER_MS, None)
    except PlatformError as error:
        raise PlatformError(f"{label}: {error}") from None


def _means(text: str) -> list[str]:
    """Return the mean in every summary of the compute time.

    It is in the line of the summary's title, or (TensorRT 7) in a separate line after the extremes.
    """
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
