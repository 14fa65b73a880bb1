"""A platform as plain data and as lines of text, and how many of its entries are measured, derived
and assumed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.platforms.platform import Domain, Peak, Platform, Unit
from paretosoc.platforms.source import Source, Status

_WORDS = re.compile("_(bandwidth|fixed|point)(?=_(kbps|ns))")
"""Left out of keys."""
ENERGY = ("voltages", "power")
"""Topics that energy rests on, besides times."""
_TOPICS = {
    "ladder_source": "clocks",
    "lowest_host_source": "clocks",
    "voltage_source": "voltages",
    "memory": "times",
    "power": "power",
    "board_source": "power",
    "contention": "contention",
    "sharing": "contention",
    "support_source": "support",
    "rules": "support",
    "measurements": "networks",
    "profiles": "networks",
    "deployment": "deployment",
}
"""Kinds by the field that holds a source, or an object with one. All other fields are of times."""


def sources_by_topic(platform: Platform) -> dict[str, tuple[Source, ...]]:
    """Return every source that the platform's file gives, once."""
    found: dict[str, list[Source]] = {topic: [] for topic in _TOPICS.values()}
    for topic, source in _sources(platform, "times"):
        found[topic].append(source)
    return {topic: tuple(sources) for topic, sources in found.items()}


def _sources(part: object, topic: str) -> Iterator[tuple[str, Source]]:
    if isinstance(part, Source):
        yield topic, part
    elif isinstance(part, tuple):
        for entry in part:
            yield from _sources(entry, topic)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _sources(getattr(part, field.name), _TOPICS.get(field.name, topic))


def count_sources(platform: Platform) -> dict[str, Counter[Status]]:
    """Return, for each topic, how many of its entries have each status."""
    return {
        topic: Counter(source.status for source in sources)
        for topic, sources in sources_by_topic(platform).items()
    }


def _source(source: Source) -> dict[str, str]:
    return {"status": source.status.value, "source": source.text}


def _figures(entry: Any) -> dict[str, Any]:
    """Return the fields of an entry as JSON types, its source in keys of its own."""
    found: dict[str, Any] = {}
    for field in fields(entry):
        key, value = _WORDS.sub("", field.name), getattr(entry, field.name)
        found |= _source(value) if isinstance(value, Source) else {key: _plain(value)}
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    if is_dataclass(value):
        return _figures(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


def _domain(domain: Domain) -> dict[str, Any]:
    points = domain.operating_points
    return {
        "name": domain.name,
        "frequencies_khz": list(domain.frequencies_khz),
        "voltages_mv": [point.voltage_mv for point in points],
        "labels": [point.label for point in points],
        "may_be_off": domain.may_be_off,
        "parked_khz": points[domain.parked].frequency_khz,
        **(
            {}
            if domain.lowest_host_source is None
            else {
                "lowest_host_clock": {
                    "khz": points[domain.lowest_host].frequency_khz,
                    **_source(domain.lowest_host_source),
                }
            }
        ),
        "ladder": _source(domain.ladder_source),
        "voltage": _source(domain.voltage_source),
    }


def peak_gmacs_per_s(platform: Platform, unit: Unit, peak: Peak) -> float:
    """Return the peak of a unit at its fastest clock, in 10^9 multiply-accumulates per second."""
    fastest = platform.ladder_khz(unit.clocks[0])[-1]
    return float(peak.macs_per_cycle * fastest / 10**6)


def _unit(platform: Platform, unit: Unit) -> dict[str, Any]:
    return {
        "name": unit.name,
        "kind": unit.kind,
        "clocks": list(unit.clocks),
        "host": unit.host,
        "peaks": [
            {
                **_figures(peak),
                "gmacs_per_s": peak_gmacs_per_s(platform, unit, peak),
                "efficiency": {kind: float(share) for kind, share in peak.efficiency},
            }
            for peak in unit.peaks
        ],
        "bandwidth": {
            "share": float(unit.bandwidth_share),
            "kept_bytes": unit.kept_bytes,
            "kept_activation_bytes": unit.kept_activation_bytes,
            **_source(unit.bandwidth_source),
        },
        "clock_law": _figures(unit.clock_law),
        "fixed": {
            "ns_per_layer": unit.fixed_ns_per_layer,
            "own_share": float(unit.fixed_own_share),
            "separate": sorted(unit.separate_operations),
            **_source(unit.fixed_source),
        },
        "power": _plain(unit.power),
        "contention": _plain(unit.contention),
        **({} if unit.sharing is None else {"sharing": _figures(unit.sharing)}),
        "support": {
            "kinds": None if unit.supported_kinds is None else list(unit.supported_kinds),
            "unsupported_operations": list(unit.unsupported_operations),
            "cannot_run": [rule.reason for rule in unit.rules],
            "max_segments": unit.max_segments,
            **_source(unit.support_source),
        },
        **({"loads_whole_networks": True} if unit.loads_whole_networks else {}),
        **({"processor_types": list(unit.processor_types)} if unit.processor_types else {}),
    }


def platform_data(platform: Platform) -> dict[str, Any]:
    """Return the platform as JSON types, every value with its source."""
    memory = platform.memory
    return {
        "name": platform.name,
        "title": platform.title,
        "default_precision": platform.default_precision,
        "sha256": platform.sha256,
        "entries": {
            topic: {status.value: counts[status] for status in Status}
            for topic, counts in count_sources(platform).items()
        },
        "domains": [_domain(domain) for domain in platform.domains],
        "units": [_unit(platform, unit) for unit in platform.units],
        "memory": {
            "domain": memory.domain,
            "bytes_per_cycle": memory.bytes_per_cycle,
            "peak_kbps": platform.memory_peak_kbps,
            "capacity_bytes": memory.capacity_bytes,
            "idle_mw": list(memory.power.idle_mw),
            "busy_mw": list(memory.power.busy_mw),
            "power": _source(memory.power.source),
            **_source(memory.source),
        },
        **(
            {
                "memory_pools": [
                    {
                        **_figures(pool),
                        "units": [u.name for u in platform.units if u.memory_pool == pool.name],
                    }
                    for pool in platform.memory_pools
                ]
            }
            if platform.memory_pools
            else {}
        ),
        "transitions": _plain(platform.transitions),
        "board": {"mw": platform.board_mw, **_source(platform.board_source)},
        "pe_array": _plain(platform.pe_array),
        "measurements": [
            {
                "network": record.names[0],
                "units": list(record.units),
                "ms": None if record.time_ps is None else record.time_ps / PS_PER_MS,
                "precision": record.precision,
                "clocks_khz": dict(record.clocks_khz),
                **_source(record.source),
            }
            for record in platform.measurements
        ],
        "profiles": [
            {
                "network": profile.names[0],
                "groups": len(profile.groups),
                "layers": len(profile.layers),
                "precision": profile.precision,
                "clocks_khz": dict(profile.clocks_khz),
                **_source(profile.source),
            }
            for profile in platform.profiles
        ],
    }


def _by_status(counts: Counter[Status]) -> str:
    return ", ".join(f"{counts[status]} {status.value}" for status in Status)


def _from_to(low: str, high: str, unit: str) -> str:
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _watts(low: int, high: int) -> str:
    return _from_to(f"{low / 1000:.2f}", f"{high / 1000:.2f}", "W")


def platform_lines(platform: Platform) -> list[str]:
    """Return the platform in a few aligned lines of text. Sources are left to
    :func:`platform_data`."""
    lines = [f"{platform.name}: {platform.title}", "", "Clocks"]
    width = max(len(domain.name) for domain in platform.domains)
    for domain in platform.domains:
        points = domain.operating_points
        known = [point.voltage_mv for point in points if point.voltage_mv is not None]
        status = domain.voltage_source.status.value
        volts = f", {_from_to(str(known[0]), str(known[-1]), 'mV')} ({status})" if known else ""
        slowest, fastest = (f"{points[k].frequency_khz / 1000:g}" for k in (0, -1))
        host = domain.lowest_host_source
        from_mhz = points[domain.lowest_host].frequency_khz / 1000
        hosting = f", {from_mhz:g} MHz or more as a host ({host.status.value})" if host else ""
        capped = ""
        if domain.fastest is not None:
            capped = f", at most {points[domain.fastest].frequency_khz / 1000:g} MHz in this mode"
        lines.append(
            f"  {domain.name:<{width}}  {pluralize(len(points), 'point'):>9}, "
            f"{_from_to(slowest, fastest, 'MHz')} ({domain.ladder_source.status.value})"
            f"{capped}{hosting}{volts}{', may be off' if domain.may_be_off else ''}"
        )
    lines += ["", "Units"]
    width = max(len(unit.name) for unit in platform.units)
    for unit in platform.units:
        peaks = ", ".join(
            f"{peak.precision} {peak_gmacs_per_s(platform, unit, peak):.0f} GMAC/s"
            for peak in unit.peaks
        )
        table = unit.power[0]
        lines.append(
            f"  {unit.name:<{width}}  clocks {', '.join(unit.clocks)}; {peaks}; "
            f"idle {_watts(table.idle_mw[0], table.idle_mw[-1])}, "
            f"busy {_watts(table.busy_mw[0], table.busy_mw[-1])} ({table.source.status.value})"
        )
        errors = [f"{peak.precision} {peak.error.words}" for peak in unit.peaks if peak.error]
        said = "; ".join(errors) or "nobody measured other networks there"
        lines.append(f"  {'':<{width}}  errors of estimated times: {said}")
        if unit.separate_operations:
            alone = ", ".join(sorted(unit.separate_operations))
            lines.append(f"  {'':<{width}}  launched for themselves: {alone}")
        if unit.max_segments is not None or unit.rules:
            limit = "any number of" if unit.max_segments is None else f"at most {unit.max_segments}"
            rules = pluralize(len(unit.rules), "restriction")
            lines.append(f"  {'':<{width}}  {rules} on layers, {limit} segments")
    if any(peak.error for unit in platform.units for peak in unit.peaks):
        lines.append(
            "  Errors of estimates are those that fronts state and draw costs from, by Student's "
            "t. In brackets: median and 90th percentile of networks that were left out of the fit."
        )
    power = platform.memory.power
    timed = sum(record.time_ps is not None for record in platform.measurements)
    counts = count_sources(platform)
    every = sum(counts.values(), Counter[Status]())
    energy = sum((counts[topic] for topic in ENERGY), Counter[Status]())
    lines += [
        "",
        f"Memory  {platform.memory_peak_kbps / 10**6:.1f} GB/s at the fastest clock; "
        f"idle {_watts(power.idle_mw[0], power.idle_mw[-1])}, "
        f"at full bandwidth {_watts(power.busy_mw[0], power.busy_mw[-1])}",
        f"Board   {platform.board_mw / 1000:.2f} W always ({platform.board_source.status.value})",
        f"Number format  {platform.default_precision} by default",
        f"Measured  {pluralize(timed, 'network time')}, "
        f"{pluralize(len(platform.profiles), 'network')} by group",
        f"Entries  {_by_status(every)}; of voltage and power: {_by_status(energy)}",
    ]
    if platform.deployment is not None and platform.deployment.power_modes is not None:
        modes = ", ".join(mode.name for mode in platform.deployment.power_modes.modes)
        lines.append(f"Power modes  {modes}")
    for pool in platform.memory_pools:
        units = ", ".join(u.name for u in platform.units if u.memory_pool == pool.name)
        size = f"{pool.capacity_bytes / (1 << 20):g} MiB"
        lines.insert(-4, f"Pool    {pool.name}, {size}: {units} ({pool.source.status.value})")
    if platform.pe_array is not None:
        array = platform.pe_array
        lines.insert(
            -4,
            f"Array   {', '.join(map(str, array.counts))} x {array.unit}, {array.vaults} vaults, "
            f"{array.cache_bytes / 1024:g} KB of cache each ({array.source.status.value})",
        )
    return lines
