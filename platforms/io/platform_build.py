"""Build a consistent platform from a platform document that fits the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import (
    integer_of,
    read_figures,
    read_network_profile,
    read_network_time,
    read_source,
    require_distinct,
    require_known,
)
from paretosoc.platforms.io.power_model import power_mw, read_deployment, voltages_mv
from paretosoc.platforms.platform import (
    SHARED_POOL,
    ClockLaw,
    Contention,
    Domain,
    Memory,
    MemoryPool,
    OperatingPoint,
    Peak,
    PeArray,
    Platform,
    PowerTable,
    Rule,
    Sharing,
    Transition,
    Unit,
)
from paretosoc.platforms.source import round_half_up

MAX_BANDWIDTH_KBPS = 10**10
"""10 TB/s: demand x power then stays in 64 bits."""


def build_platform(document: Mapping[str, Any], sha256: str) -> Platform:
    """Return the platform of a document that fits ``platform.schema.json``.

    Raises:
        PlatformError: naming the place, the requirement and the value.
    """
    domains = tuple(
        _domain(entry, f"domains[{index}]") for index, entry in enumerate(document["domains"])
    )
    require_distinct([domain.name for domain in domains], "domains", "name")
    domain_by_name = {domain.name: domain for domain in domains}
    memory = _memory(document["memory"], domain_by_name)
    units = tuple(
        _unit(entry, domain_by_name, memory, f"units[{index}]")
        for index, entry in enumerate(document["units"])
    )
    require_distinct([unit.name for unit in units], "units", "name")
    pools = tuple(
        _memory_pool(entry, f"memory_pools[{index}]")
        for index, entry in enumerate(document.get("memory_pools", ()))
    )
    _check_pools(pools, units)
    unit_by_name = {unit.name: unit for unit in units}
    precision = document["default_precision"]
    if not any(precision in unit.peak_by_format for unit in units):
        raise PlatformError(
            f"default_precision must be one that some unit computes in, got {precision!r}"
        )
    transitions = tuple(
        read_figures(Transition, entry, f"transitions[{index}]")
        for index, entry in enumerate(document["transitions"])
    )
    _check_transitions(transitions, unit_by_name)
    return Platform(
        name=document["name"],
        title=document["title"],
        domains=domains,
        units=units,
        memory=memory,
        transitions=transitions,
        board_mw=round_half_up(Fraction(document["board"]["mw"])),
        board_source=read_source(document["board"]),
        default_precision=document["default_precision"],
        measurements=tuple(
            read_network_time(entry, domain_by_name, unit_by_name, f"measurements[{index}]")
            for index, entry in enumerate(document.get("measurements", ()))
        ),
        profiles=tuple(
            read_network_profile(entry, domain_by_name, unit_by_name, memory, f"profiles[{index}]")
            for index, entry in enumerate(document.get("profiles", ()))
        ),
        sha256=sha256,
        deployment=read_deployment(document.get("deployment"), domain_by_name, unit_by_name),
        pe_array=_pe_array(document.get("pe_array"), unit_by_name),
        memory_pools=pools,
    )


def _pe_array(entry: Mapping[str, Any] | None, units: Mapping[str, Unit]) -> PeArray | None:
    if entry is None:
        return None
    array = read_figures(PeArray, entry, "pe_array")
    require_known(array.unit, units, "a unit", "pe_array.unit")
    if list(array.counts) != sorted(array.counts):
        counts = ", ".join(map(str, array.counts))
        raise PlatformError(f"pe_array.counts must rise, got {counts}")
    return array


def _domain(entry: Mapping[str, Any], where: str) -> Domain:
    ladder = entry["ladder"]
    frequencies = [
        integer_of(value, 1000, f"{where}.ladder.frequencies_mhz[{index}]", "kHz")
        for index, value in enumerate(ladder["frequencies_mhz"])
    ]
    for index, (slower, faster) in enumerate(pairwise(frequencies), start=1):
        if faster <= slower:
            raise PlatformError(
                f"{where}.ladder.frequencies_mhz[{index}] must be above the one before it "
                f"({slower / 1000:g}), got {faster / 1000:g}"
            )
    labels = ladder.get("labels", [""] * len(frequencies))
    if len(labels) != len(frequencies):
        raise PlatformError(
            f"{where}.ladder.labels must have one label per frequency ({len(frequencies)}), "
            f"got {len(labels)}"
        )

    def point(value: Any, place: str) -> int:
        khz = integer_of(value, 1000, f"{where}.{place}", "kHz")
        if khz not in frequencies:
            raise PlatformError(f"{where}.{place} must be on the domain's ladder, got {value}")
        return frequencies.index(khz)

    parked = point(entry["parked_mhz"], "parked_mhz")
    host = entry.get("lowest_host_clock")
    lowest = 0 if host is None else point(host["mhz"], "lowest_host_clock.mhz")
    if parked < lowest:
        slowest = frequencies[lowest] / 1000
        raise PlatformError(
            f"{where}.parked_mhz must be at least lowest_host_clock.mhz ({slowest:g}), "
            f"got {entry['parked_mhz']}"
        )
    voltages = voltages_mv(entry["voltage"], frequencies, f"{where}.voltage")
    return Domain(
        name=entry["name"],
        operating_points=tuple(
            OperatingPoint(frequency, voltage, label)
            for frequency, voltage, label in zip(frequencies, voltages, labels, strict=True)
        ),
        may_be_off=entry["may_be_off"],
        parked=parked,
        ladder_source=read_source(ladder),
        voltage_source=read_source(entry["voltage"]),
        lowest_host=lowest,
        lowest_host_source=None if host is None else read_source(host),
    )


def _domain_named(name: str, domains: Mapping[str, Domain], where: str) -> Domain:
    require_known(name, domains, "a domain", where)
    return domains[name]


def _power(entry: Mapping[str, Any], domains: Mapping[str, Domain], where: str) -> PowerTable:
    points = _domain_named(entry["domain"], domains, f"{where}.domain").operating_points
    frequencies = [point.frequency_khz for point in points]
    voltages = [point.voltage_mv for point in points]
    idle = power_mw(entry["idle"], frequencies, voltages, f"{where}.idle")
    busy = power_mw(entry["busy"], frequencies, voltages, f"{where}.busy")
    for frequency, low, high in zip(frequencies, idle, busy, strict=True):
        if high < low:
            raise PlatformError(
                f"{where}.busy must be at least idle ({low} mW at {frequency / 1000:g} MHz), "
                f"got {high} mW"
            )
    return PowerTable(entry["domain"], idle, busy, read_source(entry))


def _memory(entry: Mapping[str, Any], domains: Mapping[str, Domain]) -> Memory:
    domain = _domain_named(entry["domain"], domains, "memory.domain")
    if domain.may_be_off:
        raise PlatformError(
            f"memory.domain must name a domain that may not be off, got {domain.name!r}"
        )
    if entry["power"]["domain"] != domain.name:
        raise PlatformError(
            f"memory.power.domain must be the memory's ({domain.name!r}), "
            f"got {entry['power']['domain']!r}"
        )
    peak_kbps = entry["bytes_per_cycle"] * domain.operating_points[-1].frequency_khz
    if peak_kbps > MAX_BANDWIDTH_KBPS:
        raise PlatformError(
            "memory.bytes_per_cycle must give at most 10 TB/s at the fastest clock, "
            f"got {entry['bytes_per_cycle']}"
        )
    return Memory(
        domain=domain.name,
        bytes_per_cycle=entry["bytes_per_cycle"],
        power=_power(entry["power"], domains, "memory.power"),
        source=read_source(entry),
        capacity_bytes=entry["capacity_gib"] << 30 if "capacity_gib" in entry else None,
    )


def _memory_pool(entry: Mapping[str, Any], where: str) -> MemoryPool:
    if entry["name"] == SHARED_POOL:
        raise PlatformError(
            f"{where}.name must not be {SHARED_POOL!r}, the memory of all units that name no pool"
        )
    return read_figures(MemoryPool, entry, where)


def _check_pools(pools: Sequence[MemoryPool], units: Sequence[Unit]) -> None:
    names = [pool.name for pool in pools]
    require_distinct(names, "memory_pools", "name")
    for index, unit in enumerate(units):
        if unit.memory_pool is not None and unit.memory_pool not in names:
            raise PlatformError(
                f"units[{index}].memory_pool must name one of memory_pools "
                f"({', '.join(names) or 'there are none'}), got {unit.memory_pool!r}"
            )
    for index, name in enumerate(names):
        if all(unit.memory_pool != name for unit in units):
            raise PlatformError(f"memory_pools[{index}] must be that of a unit, got {name!r}")


def _unit(
    entry: Mapping[str, Any], domains: Mapping[str, Domain], memory: Memory, where: str
) -> Unit:
    clocks = tuple(entry["clocks"])
    for index, name in enumerate(clocks):
        _domain_named(name, domains, f"{where}.clocks[{index}]")
    if clocks[-1] != memory.domain:
        raise PlatformError(
            f"{where}.clocks must end with the memory's domain {memory.domain!r}, "
            f"got {clocks[-1]!r}"
        )
    host = entry["host"]
    expected = (clocks[0], memory.domain) if host is None else (clocks[0], host, memory.domain)
    if clocks != expected or clocks[0] == memory.domain:
        raise PlatformError(
            f"{where}.clocks must be the unit's own domain, its host's if it has one "
            f"(host: {host!r}), the memory's ({memory.domain!r}), got {', '.join(clocks)}"
        )
    if host is not None and domains[host].may_be_off:
        raise PlatformError(f"{where}.host must name a domain that may not be off, got {host!r}")
    power = tuple(
        _power(table, domains, f"{where}.power[{index}]")
        for index, table in enumerate(entry["power"])
    )
    if tuple(table.domain for table in power) != clocks[:-1]:
        raise PlatformError(
            f"{where}.power must have one table for each of {', '.join(clocks[:-1])} in order, "
            f"got {', '.join(table.domain for table in power)}"
        )
    peaks = tuple(
        read_figures(Peak, peak, f"{where}.peaks[{index}]")
        for index, peak in enumerate(entry["peaks"])
    )
    require_distinct([peak.precision for peak in peaks], f"{where}.peaks", "precision")
    for index, peak in enumerate(peaks if entry["kind"] != "cpu" else ()):
        known = dict(peak.efficiency)
        for key in ("activation_operations", "joined_operations", "result_operations"):
            if getattr(peak.tile, key) and "elements" not in known:
                raise PlatformError(
                    f"{where}.peaks[{index}].tile.{key}: efficiency of 'elements' is required, "
                    f"got {', '.join(known)}"
                )
    support, fixed, contention = entry["support"], entry["fixed"], entry["contention"]
    kept, kept_activations = (
        integer_of(entry["bandwidth"].get(key, 0), 1 << 20, f"{where}.bandwidth.{key}", "bytes")
        for key in ("kept_mib", "kept_activations_mib")
    )
    return Unit(
        name=entry["name"],
        kind=entry["kind"],
        clocks=clocks,
        host=host,
        peaks=peaks,
        bandwidth_share=Fraction(entry["bandwidth"]["share"]),
        bandwidth_source=read_source(entry["bandwidth"]),
        kept_bytes=kept,
        kept_activation_bytes=kept_activations,
        clock_law=read_figures(ClockLaw, entry["clock_law"], f"{where}.clock_law"),
        fixed_ns_per_layer=integer_of(
            fixed["us_per_layer"], 1000, f"{where}.fixed.us_per_layer", "ns"
        ),
        fixed_own_share=Fraction(fixed.get("own_share", 0)),
        fixed_source=read_source(fixed),
        separate_operations=frozenset(fixed.get("separate", ())),
        power=power,
        contention=None if contention is None else read_figures(Contention, contention, where),
        supported_kinds=None if support["kinds"] is None else tuple(support["kinds"]),
        unsupported_operations=tuple(support["unsupported_operations"]),
        rules=tuple(
            _rule(rule, f"{where}.support.rules[{index}]")
            for index, rule in enumerate(support["rules"])
        ),
        max_segments=support["max_segments"],
        support_source=read_source(support),
        memory_pool=entry.get("memory_pool"),
        loads_whole_networks=entry.get("loads_whole_networks", False),
        sharing=_sharing(entry.get("sharing"), f"{where}.sharing"),
        processor_types=tuple(entry.get("processor_types", ())),
    )


def _sharing(entry: Mapping[str, Any] | None, where: str) -> Sharing | None:
    if entry is None:
        return None
    found = read_figures(Sharing, entry, where)
    if not found.least_permille <= found.permille <= found.most_permille:
        raise PlatformError(
            f"{where}: least_percent, percent, most_percent must rise, got "
            f"{found.least_permille}, {found.permille}, {found.most_permille}"
        )
    return found


def _rule(entry: Mapping[str, Any], where: str) -> Rule:
    bounds = [key for key in ("minimum", "maximum", "allowed") if key in entry]
    if bounds and "limit" not in entry:
        raise PlatformError(f"{where} must have limit where it has {bounds[0]}, got none")
    if "limit" in entry and not bounds:
        raise PlatformError(f"{where} must have minimum, maximum or allowed with limit, got none")
    return read_figures(Rule, entry, where)


def _check_transitions(transitions: Sequence[Transition], units: Mapping[str, Unit]) -> None:
    named = [transition.unit for transition in transitions]
    require_distinct(named, "transitions", "unit")
    for index, name in enumerate(named):
        require_known(name, units, "a unit", f"transitions[{index}].unit")
    for name in units:
        if name not in named:
            raise PlatformError(f"transitions must have an entry for unit {name!r}, got none")
