"""Reading measured networks out of platform and profile documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from paretosoc.common.documents.document import read_document
from paretosoc.common.documents.marks import Fault
from paretosoc.common.text import did_you_mean
from paretosoc.common.units import PS_PER_MS
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.ladder import ladder_index
from paretosoc.platforms.measurement import (
    Clocks,
    NetworkProfile,
    NetworkTime,
    PartMeasurement,
    TransitionMeasurement,
    UnitMeasurement,
)
from paretosoc.platforms.platform import Domain, Memory, Unit
from paretosoc.platforms.source import Source, Status, round_half_up

T = TypeVar("T")
_FIGURES = ("ms", "traffic_gbps", "traffic_percent", "requested_percent", "power_mw")
"""The figures of a part by unit."""


def read_figures(kind: type[T], entry: Mapping[str, Any], where: str) -> T:
    """Return an entry that fits the schema. ``where`` is its place.

    Raises:
        PlatformError: on a figure that is no whole number of its unit. It names the place.
    """
    try:
        return read_document(kind, entry)
    except Fault as fault:
        raise PlatformError(f"{where}{fault.path} {fault.requirement}") from None


def read_source(figure: Mapping[str, Any]) -> Source:
    """Return ``source`` and ``status`` of a figure."""
    return Source(Status(figure["status"]), figure["source"])


def integer_of(value: int | Decimal, factor: int, what: str, unit: str) -> int:
    """Return ``value`` x ``factor``, which must be an integer number of ``unit``.

    Raises:
        PlatformError: if it is not an integer. The message begins with ``what``, the place of the
            value.
    """
    scaled = Fraction(value) * factor
    if scaled.denominator != 1:
        raise PlatformError(f"{what} must be a whole number of {unit}, got {value}")
    return scaled.numerator


def require_known(name: str, known: Collection[str], what: str, where: str) -> None:
    """Check that a name is one of those known.

    Raises:
        PlatformError: if it is none. The message has all of them, and the nearest.
    """
    if name not in known:
        hint = did_you_mean(name, known, "", most=1)
        listed = f"{', '.join(known)}{hint and f'; {hint}'}"
        raise PlatformError(f"{where} must name {what} ({listed}), got {name!r}")


def require_distinct(values: Sequence[str], where: str, key: str) -> None:
    """Check that no value is there twice.

    Raises:
        PlatformError: naming the value.
    """
    for value in values:
        if values.count(value) > 1:
            raise PlatformError(f"{where} must have distinct {key}s, got {value!r} twice")


def read_clocks(document: Mapping[str, Any], domains: Mapping[str, Domain], where: str) -> Clocks:
    """Return the clocks of a record. Each must be on its domain's ladder."""
    clocks = []
    for name, mhz in document.items():
        path = f"{where}.{name}"
        require_known(name, domains, "a domain", path)
        khz = integer_of(mhz, 1000, path, "kHz")
        ladder = [point.frequency_khz for point in domains[name].operating_points]
        clocks.append((name, ladder[ladder_index(ladder, khz, path)]))
    return tuple(clocks)


def _check_unit(
    name: str, units: Mapping[str, Unit], clocks: Clocks, precision: str, where: str
) -> None:
    require_known(name, units, "a unit", where)
    unit = units[name]
    given = {domain for domain, _ in clocks}
    for domain in unit.clocks:
        if domain not in given and domain != unit.host:
            raise PlatformError(
                f"{where}: clocks_mhz must name the clock {domain!r} of unit {name!r}, "
                f"got {', '.join(sorted(given))}"
            )
    if precision not in unit.peak_by_format:
        raise PlatformError(
            f"{where}: precision must be one that unit {name!r} computes in, got {precision!r}"
        )


def read_network_time(
    record: Mapping[str, Any], domains: Mapping[str, Domain], units: Mapping[str, Unit], where: str
) -> NetworkTime:
    """Return one entry of a platform's ``measurements``.

    Raises:
        PlatformError: on a clock, unit or precision that the platform does not have.
    """
    clocks = read_clocks(record["clocks_mhz"], domains, f"{where}.clocks_mhz")
    for index, name in enumerate(record["units"]):
        _check_unit(name, units, clocks, record["precision"], f"{where}.units[{index}]")
        _check_peak(record, units[name], clocks, where)
    return NetworkTime(
        names=(record["network"], *record.get("aliases", ())),
        macs=record["macs"],
        units=tuple(record["units"]),
        time_ps=None if record["ms"] is None else max(1, _ps(record["ms"])),
        precision=record["precision"],
        clocks_khz=clocks,
        source=read_source(record),
    )


def _check_peak(record: Mapping[str, Any], unit: Unit, clocks: Clocks, where: str) -> None:
    peak = unit.peak_by_format[record["precision"]]
    khz = dict(clocks)[unit.clocks[0]]
    # Operations over operations per ms.
    least = record["macs"] / (peak.macs_per_cycle * khz)
    if record["ms"] is not None and Fraction(record["ms"]) < least:
        raise PlatformError(
            f"{where}.ms must be at least {float(least):.3g}, the time of {record['macs']} "
            f"multiply-accumulates at the {peak.precision} peak of {unit.name!r} at "
            f"{khz / 1000:g} MHz, got {record['ms']}: another number format, or another network?"
        )


def _read_parts(
    parts: Sequence[Mapping[str, Any]],
    clocks: Clocks,
    precision: str,
    memory: Memory,
    units: Mapping[str, Unit],
    where: str,
) -> tuple[PartMeasurement, ...]:
    khz = dict(clocks)
    result = []
    for index, part in enumerate(parts):
        path = f"{where}[{index}]"
        for key in (*_FIGURES, "notes"):
            for name in part.get(key, {}):
                _check_unit(name, units, clocks, precision, f"{path}.{key}")
        both = set(part.get("traffic_gbps", {})) & set(part.get("traffic_percent", {}))
        if both:
            raise PlatformError(
                f"{path} must give the traffic of a unit once, "
                f"got both traffic_gbps and traffic_percent of {min(both)!r}"
            )
        named = [name for name in units if any(name in part.get(key, {}) for key in _FIGURES)]
        measurements = []
        for name in named:
            time = part.get("ms", {}).get(name)
            gbps = part.get("traffic_gbps", {}).get(name)
            percent = part.get("traffic_percent", {}).get(name)
            requested = part.get("requested_percent", {}).get(name)
            power = part.get("power_mw", {}).get(name)
            peak = memory.bytes_per_cycle * khz[memory.domain]
            traffic = _share(percent, peak)
            if gbps is not None:
                traffic = round_half_up(Fraction(gbps) * 10**6)
                if traffic > peak:
                    raise PlatformError(
                        f"{path}.traffic_gbps.{name} must be at most {peak / 10**6:g}, the "
                        f"memory's bandwidth at {khz[memory.domain] / 1000:g} MHz, got {gbps}"
                    )
            measurements.append(
                UnitMeasurement(
                    unit=name,
                    time_ps=None if time is None else max(1, _ps(time)),
                    traffic_kbps=traffic,
                    requested_kbps=_share(requested, peak),
                    power_mw=None if power is None else round_half_up(Fraction(power)),
                    note=part.get("notes", {}).get(name, ""),
                )
            )
        names = tuple(part["names"]) if "names" in part else (part.get("name", ""),)
        result.append(
            PartMeasurement(
                tuple(filter(None, names)), part.get("convolutions"), tuple(measurements)
            )
        )
    return tuple(result)


def _check_names(key: str, entries: Sequence[PartMeasurement], where: str) -> None:
    """Check that every part has a name or none has, and nothing is measured twice on one unit."""
    named = [part for part in entries if part.names]
    if named and len(named) < len(entries):
        raise PlatformError(f"{where}.{key} must name all of its items or none")
    for names, count in Counter(part.names for part in named).items():
        if count > 1:
            raise PlatformError(f"{where}.{key} must name each once, got {names[0]!r} twice")
    seen: set[tuple[str, str, str]] = set()
    for part in named:
        for item in part.units:
            for figure in ("time_ps", "traffic_kbps", "requested_kbps", "power_mw"):
                if getattr(item, figure) is None:
                    continue
                for name in part.names:
                    if (name, item.unit, figure) in seen:
                        raise PlatformError(
                            f"{where}.{key} must name each once, got {name!r} twice on {item.unit}"
                        )
                    seen.add((name, item.unit, figure))


def _share(percent: int | Decimal | None, peak: int) -> int | None:
    return None if percent is None else round_half_up(Fraction(percent) * peak / 100)


def _ps(ms: int | Decimal) -> int:
    return round_half_up(Fraction(ms) * PS_PER_MS)


def read_network_profile(
    record: Mapping[str, Any],
    domains: Mapping[str, Domain],
    units: Mapping[str, Unit],
    memory: Memory,
    where: str,
) -> NetworkProfile:
    """Return one measured network of a platform's ``profiles`` or of a profile file.

    Raises:
        PlatformError: on a clock, unit or precision that the platform does not have, a group or
            layer named twice, or groups of which only some are named.
    """
    clocks = read_clocks(record["clocks_mhz"], domains, f"{where}.clocks_mhz")
    precision = record["precision"]
    parts = {
        key: _read_parts(record.get(key, ()), clocks, precision, memory, units, f"{where}.{key}")
        for key in ("groups", "layers")
    }
    for key, entries in parts.items():
        _check_names(key, entries, where)
    transitions = []
    for index, entry in enumerate(record.get("transitions", ())):
        path = f"{where}.transitions[{index}]"
        found = read_figures(TransitionMeasurement, entry, path)
        for key, name in (("from", found.source_unit), ("to", found.target_unit)):
            require_known(name, units, "a unit", f"{path}.{key}")
        if found.source_unit == found.target_unit:
            raise PlatformError(
                f"{path} must go from one unit to another, got {found.source_unit!r} twice"
            )
        transitions.append(found)
    return NetworkProfile(
        names=(record["network"], *record.get("aliases", ())),
        macs=record.get("macs"),
        precision=precision,
        clocks_khz=clocks,
        groups=parts["groups"],
        layers=parts["layers"],
        transitions=tuple(transitions),
        source=read_source(record),
        batch=record.get("batch", 1),
    )
