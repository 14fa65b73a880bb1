"""Tables of times, energies and powers at clocks, to calibrate on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.fitness.cost_model.dvfs_forms import point_at
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Platform, Unit

FIGURES = ("ms", "fps", "mw", "mj")


@dataclass(frozen=True)
class ClockMeasurement:
    """One run: a network, or one of its layers, on a unit at one set of clocks."""

    network: str
    layer: str
    """Empty: the entire network."""
    unit: str
    points: tuple[int, ...]
    """Operating points of the unit's clocks, in their order."""
    ms: float | None
    mw: float | None
    """Mean power of all that was measured, idle parts included."""
    mj: float | None


def read_measurements(path: Path, platform: Platform) -> list[ClockMeasurement]:
    """Return the rows of a CSV file with the columns ``network``, ``unit``, optional ``layer``,
    ``DOMAIN_mhz`` for clocks (default: the fastest), and some of ``ms``, ``fps``, ``mw``, ``mj``.

    Raises:
        PlatformError: with the line, if a row names a unit or clock that the platform does not
            have, measures nothing, or gives a time or a power twice.
    """
    clocks = {f"{domain.name}_mhz": domain.name for domain in platform.domains}
    optional = ("layer", *clocks, *FIGURES)
    rows = read_table(path, ("network", "unit", *optional), optional=optional)
    return [_measurement(row, platform, clocks) for row in rows]


def _measurement(row: TableRow, platform: Platform, clocks: dict[str, str]) -> ClockMeasurement:
    name = row.cells["unit"]
    if name not in platform.unit_by_name:
        raise PlatformError(
            f"{row.where}: unit must be one of {', '.join(platform.unit_by_name)}, got {name!r}"
        )
    if not row.cells["network"]:
        raise PlatformError(f"{row.where}: network must not be empty")
    unit = platform.unit_by_name[name]
    for column, domain in clocks.items():
        if row.cells[column] and domain not in unit.clocks:
            raise PlatformError(
                f"{row.where}: {column} must be empty: {name} depends on {', '.join(unit.clocks)}"
            )
    figures = {figure: row.number(figure) for figure in FIGURES}
    for figure, value in figures.items():
        if value is not None and value <= 0:
            raise PlatformError(f"{row.where}: {figure} must be above 0")
    for first, second in (("ms", "fps"), ("mw", "mj")):
        if figures[first] is not None and figures[second] is not None:
            raise PlatformError(f"{row.where}: one of {first} and {second} only")
    if all(value is None for value in figures.values()):
        raise PlatformError(f"{row.where}: one of {', '.join(FIGURES)} is required")
    rate = figures["fps"]
    time = 1000 / rate if rate is not None else figures["ms"]
    return ClockMeasurement(
        network=row.cells["network"],
        layer=row.cells["layer"],
        unit=name,
        points=_points(row, platform, unit),
        ms=_float(time),
        mw=_float(figures["mw"]),
        mj=_float(figures["mj"]),
    )


def _points(row: TableRow, platform: Platform, unit: Unit) -> tuple[int, ...]:
    points = []
    for domain in unit.clocks:
        column = f"{domain}_mhz"
        megahertz = row.number(column)
        ladder = platform.domain_by_name[domain].operating_points
        if megahertz is None:
            points.append(len(ladder) - 1)
            continue
        points.append(point_at(platform, domain, round(megahertz * 1000), f"{row.where}: {column}"))
    return tuple(points)


def point_table(rows: list[ClockMeasurement]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return [rows, clocks of their unit]."""
    return np.array([row.points for row in rows], dtype=np.int64)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
