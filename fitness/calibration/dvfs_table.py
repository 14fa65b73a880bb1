"""Tables of times, energies and powers at clocks, to calibrate on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.fitness.cost_model.power import domain_idle_mw
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import require_known
from paretosoc.platforms.ladder import ladder_index
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
    """Mean power of all that was measured, idle parts included, with clocks that are not the unit's
    at their parked point."""
    mj: float | None
    assumed_khz: tuple[tuple[str, int], ...] = ()
    """Clocks that the table does not give, and what each was taken to be."""


def read_measurements(path: Path, platform: Platform) -> list[ClockMeasurement]:
    """Return the rows of a CSV file with the columns ``network``, ``unit``, optional ``layer``,
    ``DOMAIN_mhz`` for clocks, and some of ``ms``, ``fps``, ``mw``, ``mj``. A clock that is left out
    is the fastest; one that the unit does not depend on, the parked one: what it draws above that
    at another clock is taken from the measured power.

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
    require_known(name, platform.unit_by_name, "a unit", f"{row.where}: unit")
    if not row.cells["network"]:
        raise PlatformError(f"{row.where}: network must not be empty")
    unit = platform.unit_by_name[name]
    for column, domain in clocks.items():
        is_off = platform.domain_by_name[domain].may_be_off and domain not in unit.clocks
        if row.cells[column] and is_off:
            raise PlatformError(
                f"{row.where}: {column} must be empty: {name} depends on "
                f"{', '.join(unit.clocks)}, and {domain} is off meanwhile"
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
    beside_mw = _beside_mw(row, platform, unit)
    if figures["mw"] is not None:
        figures["mw"] -= beside_mw
    if beside_mw and figures["mj"] is not None:
        if time is None:
            raise PlatformError(
                f"{row.where}: mj beside a clock that {name} does not depend on needs ms or fps"
            )
        figures["mj"] -= beside_mw * time / 1000
    for figure in ("mw", "mj"):
        value = figures[figure]
        if value is not None and value <= 0:
            raise PlatformError(
                f"{row.where}: {figure} must be above the {beside_mw} mW that clocks which {name} "
                f"does not depend on add to their parked ones, got {row.cells[figure]}"
            )
    return ClockMeasurement(
        network=row.cells["network"],
        layer=row.cells["layer"],
        unit=name,
        points=_points(row, platform, unit),
        ms=_float(time),
        mw=_float(figures["mw"]),
        mj=_float(figures["mj"]),
        assumed_khz=_assumed_khz(row, platform, unit),
    )


def _assumed_khz(row: TableRow, platform: Platform, unit: Unit) -> tuple[tuple[str, int], ...]:
    """Return the clocks that the row does not give, of those that its time or power depends on."""
    powered = row.cells["mw"] or row.cells["mj"]
    found = []
    for domain in platform.domains:
        own = domain.name in unit.clocks
        counts = own or (powered and not domain.may_be_off)
        if counts and len(domain.frequencies_khz) > 1 and not row.cells[f"{domain.name}_mhz"]:
            point = -1 if own else domain.parked
            found.append((domain.name, domain.frequencies_khz[point]))
    return tuple(found)


def _beside_mw(row: TableRow, platform: Platform, unit: Unit) -> int:
    """Return what clocks that the unit does not depend on draw more than at their parked points."""
    more = 0
    for domain in platform.domains:
        column = f"{domain.name}_mhz"
        megahertz = None if domain.name in unit.clocks else row.number(column)
        if megahertz is not None:
            where = f"{row.where}: {column}"
            point = ladder_index(platform.ladder_khz(domain.name), round(megahertz * 1000), where)
            drawn = domain_idle_mw(platform, domain.name)
            more += int(drawn[point] - drawn[domain.parked])
    return more


def _points(row: TableRow, platform: Platform, unit: Unit) -> tuple[int, ...]:
    points = []
    for domain in unit.clocks:
        column = f"{domain}_mhz"
        megahertz = row.number(column)
        ladder = platform.domain_by_name[domain].operating_points
        if megahertz is None:
            points.append(len(ladder) - 1)
            continue
        khz, where = round(megahertz * 1000), f"{row.where}: {column}"
        points.append(ladder_index(platform.ladder_khz(domain), khz, where))
    return tuple(points)


def point_table(rows: list[ClockMeasurement]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return [rows, clocks of their unit]."""
    return np.array([row.points for row in rows], dtype=np.int64)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
