"""Costs of a network's groups on a platform's units, at every operating point."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.plugins import plugin_errors
from paretosoc.common.text import did_you_mean, pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.cost_model.clock_law import TimeParts, ladder_costs
from paretosoc.fitness.cost_model.fusion import Launch, network_launches
from paretosoc.fitness.cost_model.power import busy_above_idle_mw, ladder_shape, traffic_mw
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.fitness.cost_model.support import Support, layer_support
from paretosoc.fitness.cost_model.tables import CostError, CostOrigin, NetworkCosts, UnitCosts
from paretosoc.fitness.costs import standard_errors, taught
from paretosoc.fitness.costs.fitted import ModelledGroup, modelled_groups
from paretosoc.fitness.costs.hardware_limits import notes_on_costs
from paretosoc.fitness.costs.measured import (
    MeasuredGroup,
    matches,
    measured_groups,
    measured_power,
    nearest_measurement,
    own_measurements,
    profiles_for,
)
from paretosoc.fitness.costs.scale_to_measured import calibrate, network_record, scaled_like
from paretosoc.fitness.costs.transitions import transition_times
from paretosoc.fitness.profiles.profile_file import CostModel, Profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.measurement import Comparison
from paretosoc.platforms.platform import Peak, Platform, Unit
from paretosoc.sdf.grouping.groups import GroupedNetwork, batched

MOST_REASONS = 4
"""Most reasons that a note on refused groups names."""


def network_costs(
    network: GroupedNetwork,
    platform: Platform,
    *,
    precision: str | None = None,
    units: Sequence[str] | None = None,
    profile: Profile | None = None,
    batch: int = 1,
) -> NetworkCosts:
    """Return the costs of every group on every unit, by the law of clocks.

    A measured group wins over a fit over clocks (a profile's ``models``), that over a calibration
    on the whole network's measured time, that over an estimate, which a profile's ``comparisons``
    of other networks scale. Results are integers in ps, kB/s
    and mW, the same on every machine.

    Args:
        network: the groups, for one image.
        precision: number format; None means the platform's default.
        units: names of the requested units; None means all. The result keeps the platform's order.
        profile: the user's own measurements, which win over all others.
        batch: images that are computed at once. Measurements hold for the batch that they were
            made at. A calibration on one image scales larger batches by the same factors.

    Raises:
        PlatformError: on a unit or precision that the platform does not have, a profile that does
            not fit the network, a measurement that no hardware explains, or a time above 140 s.
    """
    chosen = choose_units(platform, units)
    number_format = choose_precision(platform, precision)
    single, network = network, batched(network, batch)
    layers = [layer for group in network.groups for layer in group.layers]
    support = layer_support(layers, platform, number_format, batch)
    launches = {
        unit.name: network_launches(network, unit.separate_operations) for unit in platform.units
    }
    profile = profile or Profile((), "")
    own, fits, _ = own_measurements(single, platform, number_format, profile, batch)
    # The platform's profiles are for one grouping and do not apply to another.
    others = profiles_for(single, number_format, platform.profiles, batch)
    others = [record for record in others if matches(record, single)]
    peaks = {
        unit.name: unit.peak_by_format[number_format]
        for unit in platform.units
        if number_format in unit.peak_by_format
    }
    drafts = {
        unit.name: _draft(
            (single, network),
            platform,
            unit,
            peaks[unit.name],
            launches[unit.name],
            profile.comparisons,
        )
        for unit in platform.units
        if unit.name in peaks
    }
    parts = {name: draft.parts for name, draft in drafts.items()}
    measured: dict[tuple[str, int], list[MeasuredGroup]] = {}
    for records in (others, own):
        # Several clocks of one owner complement each other. The user's replace the platform's.
        of_owner: dict[tuple[str, int], list[MeasuredGroup]] = {}
        for record in records:
            found = measured_groups(network, launches, platform, record, parts)
            for key, entry in found.items():
                of_owner.setdefault(key, []).append(entry)
        measured |= of_owner
    board = platform.board_mw if profile.board_mw is None else profile.board_mw
    modelled = {
        unit.name: modelled_groups(
            network, launches[unit.name], platform, unit, parts[unit.name], fits, board
        )
        for unit in chosen
        if unit.name in drafts
    }
    costs = tuple(
        _unit_costs(
            network,
            platform,
            unit,
            drafts.get(unit.name),
            measured,
            modelled.get(unit.name, {}),
            support,
        )
        for unit in chosen
    )
    refusals = {draft.note for draft in drafts.values() if draft.origin is CostOrigin.CANNOT_RUN}
    result = NetworkCosts(
        network=network.name,
        units=costs,
        transition_ps=transition_times(network, platform, chosen, number_format, [*own, *others]),
        notes=(
            *dict.fromkeys(note for table in costs for note in table.note if note in refusals),
            *(
                note
                for unit, table in zip(chosen, costs, strict=True)
                if unit.name in peaks
                for note in notes_on_costs(network, platform, unit, peaks[unit.name], table, fits)
            ),
        ),
        refused=tuple(
            _refused(network, (table for table in costs if table.unit in peaks), refusals)
        ),
    )
    if profile.cost_model is None:
        return result
    return _by_cost_model(network, platform, result, profile.cost_model, profile.name)


def _by_cost_model(
    network: GroupedNetwork, platform: Platform, known: NetworkCosts, model: CostModel, name: str
) -> NetworkCosts:
    """Return the costs that a cost model of another package makes of known ones. Refuse failures
    and costs of another shape."""
    label = f"cost model {name!r} of another package: {network.name}"
    with plugin_errors(label, PlatformError):
        found = model(network, platform, known)
        for old, new in zip(known.units, found.units, strict=True):
            for field in ("time_ps", "demand_kbps", "dynamic_mw"):
                table, before = getattr(new, field), getattr(old, field)
                if table.shape != before.shape or table.dtype != before.dtype:
                    raise PlatformError(
                        f"{label}: {field} of {old.unit} must be {before.dtype} {before.shape}, "
                        f"got {table.dtype} {table.shape}"
                    )
            if ((new.time_ps == 0) | (new.time_ps < -1)).any():
                raise PlatformError(f"{label}: time_ps of {old.unit} must be positive, or -1")
            if (new.demand_kbps < 0).any() or (new.dynamic_mw < 0).any():
                raise PlatformError(f"{label}: figures of {old.unit} must not be negative")
    return found


def choose_units(platform: Platform, units: Sequence[str] | None) -> tuple[Unit, ...]:
    """Return the units of these names in the platform's order. None means all.

    Raises:
        PlatformError: on a name that is none, with the nearest suggested, or no name at all.
    """
    if units is None:
        return platform.units
    for name in units:
        if name not in platform.unit_by_name:
            hint = did_you_mean(name, platform.unit_by_name)
            raise PlatformError(f"platform {platform.name!r} has no unit {name!r} ({hint})")
    if not units:
        raise PlatformError(f"at least one unit of {platform.name!r} must be chosen, got none")
    return tuple(unit for unit in platform.units if unit.name in units)


def choose_precision(platform: Platform, precision: str | None) -> str:
    """Return ``precision``, or the platform's default.

    Raises:
        PlatformError: if no unit computes in it.
    """
    number_format = platform.default_precision if precision is None else precision
    known = dict.fromkeys(name for unit in platform.units for name in unit.peak_by_format)
    if number_format not in known:
        raise PlatformError(
            f"precision must be one that {platform.name!r} computes in ({', '.join(known)}), "
            f"got {number_format!r}"
        )
    return number_format


@dataclass(frozen=True)
class _Draft:
    """Estimates of all groups on one unit, calibrated if the network was measured there."""

    parts: list[TimeParts]
    origin: CostOrigin
    """``CANNOT_RUN`` if the platform's source has the network, but no time of it there."""
    note: str
    error: CostError


def _draft(
    networks: tuple[GroupedNetwork, GroupedNetwork],
    platform: Platform,
    unit: Unit,
    peak: Peak,
    launches: Sequence[Sequence[Launch]],
    comparisons: Sequence[Comparison],
) -> _Draft:
    """Return the draft. ``networks``: for one image, and for the batch. ``launches``: of the
    batch, on this unit. ``comparisons``: of the user, of any unit."""
    single, network = networks
    precision = peak.precision
    model = unit_model(unit, platform, peak)
    parts = network_parts(launches, model)
    macs = sum(group.macs for group in single.groups)
    record = network_record(platform, network.name, macs, unit.name, precision)
    if record is None:
        error = before = standard_errors.estimated(peak)
        here = unit.name, precision
        lessons = [one for one in comparisons if (one.unit, one.precision) == here]
        if lessons:
            factor, error = taught.posterior(before, lessons)
            parts = [taught.scaled(part, factor) for part in parts]
            sure = taught.words(factor, before, error, lessons)
        else:
            sure = "an estimate" + ("" if peak.error is None else f": {peak.error.words}")
        return _Draft(parts, CostOrigin.ESTIMATED, sure, error)
    if record.time_ps is None:
        units = ", ".join(record.units)
        note = f"the network counts as not supported on {units}: {record.source.text}"
        return _Draft(parts, CostOrigin.CANNOT_RUN, note, CostError())
    clocks = ", ".join(f"{name} {khz / 1000:g} MHz" for name, khz in record.clocks_khz)
    taken = f"{record.names[0]} takes {record.time_ps / PS_PER_MS:g} ms at {clocks}"
    note = f"{taken}: {record.source.text}"
    if single is network:
        scaled = calibrate(parts, unit, platform, record)
    else:
        of_one = network_parts(network_launches(single, unit.separate_operations), model)
        scaled_one = calibrate(of_one, unit, platform, record)
        scaled = [scaled_like(*each) for each in zip(parts, of_one, scaled_one, strict=True)]
    error = standard_errors.calibrated(1 if single is network else 2, record.clocks_khz)
    return _Draft(scaled, CostOrigin.CALIBRATED, note, error)


def _group_reasons(network: GroupedNetwork, support: Support, unit: str) -> list[str | None]:
    """Return why the unit cannot run each group: the first such layer, and its reason."""
    column = support.units.index(unit)
    reasons: list[str | None] = []
    first = 0
    for group in network.groups:
        reason = None
        for index in range(first, first + len(group.layers)):
            why = support.reasons[index][column]
            if why is not None:
                reason = f"{support.layers[index]}: {why}"
                break
        reasons.append(reason)
        first += len(group.layers)
    return reasons


def _refused(
    network: GroupedNetwork, costs: Iterable[UnitCosts], known: Container[str]
) -> list[str]:
    """Return notes on groups that rules of units forbid, with their share of the work."""
    units: dict[tuple[int, ...], list[UnitCosts]] = {}
    for table in costs:
        groups = tuple(
            index
            for index, origin in enumerate(table.origin)
            if origin is CostOrigin.CANNOT_RUN and table.note[index] not in known
        )
        units.setdefault(groups, []).append(table)
    units.pop((), None)
    work = max(1, sum(group.macs for group in network.groups))
    return [
        f"{', '.join(table.unit for table in tables)} cannot run {len(groups)} of "
        f"{pluralize(len(network.groups), 'group')}, "
        f"{100 * sum(network.groups[index].macs for index in groups) / work:.0f} % of its "
        f"multiply-accumulates: {_reasons(tables[0].note[index] for index in groups)}"
        for groups, tables in units.items()
    ]


def _reasons(notes: Iterable[str]) -> str:
    """Return the first note of each reason, at most ``MOST_REASONS``. A note is the name of a layer
    and a reason."""
    first: dict[str, str] = {}
    for note in notes:
        first.setdefault(note.split(": ", 1)[-1], note)
    left = len(first) - MOST_REASONS
    more = [f"and {left} more"] if left > 0 else []
    return "; ".join([*list(first.values())[:MOST_REASONS], *more])


def _unit_costs(
    network: GroupedNetwork,
    platform: Platform,
    unit: Unit,
    draft: _Draft | None,
    measured: dict[tuple[str, int], list[MeasuredGroup]],
    modelled: dict[int, ModelledGroup],
    support: Support,
) -> UnitCosts:
    shape = ladder_shape(platform, unit)
    times = np.full((len(network.groups), *shape), -1, dtype=np.int64)
    demands = np.zeros_like(times)
    powers = np.zeros_like(times)
    stated: list[tuple[CostOrigin, str, CostError]] = []
    busy = busy_above_idle_mw(platform, unit)
    # A time of the whole network, or of this very group, proves that the unit can run it.
    proved = draft is not None and draft.origin is CostOrigin.CALIBRATED
    for index, reason in enumerate(_group_reasons(network, support, unit.name)):
        entries = measured.get((unit.name, index), [])
        timed = [entry for entry in entries if entry.has_time]
        model = None if timed else modelled.get(index)
        proof = reason is None or proved or any(entry.is_alone for entry in timed)
        if draft is None or not proof:
            stated.append((CostOrigin.CANNOT_RUN, reason or "", CostError()))
            continue
        # So does one of the network, or of the group's layers, if only the source had no time.
        if draft.origin is CostOrigin.CANNOT_RUN and not timed and model is None:
            stated.append((draft.origin, draft.note, draft.error))
            continue
        if model is not None:
            times[index], demands[index] = model.time_ps, model.demand_kbps
            powers[index] = busy + traffic_mw(platform, demands[index])
            if model.dynamic_mw is not None:
                powers[index] = model.dynamic_mw
            stated.append((CostOrigin.CALIBRATED, model.note, standard_errors.fitted(model)))
            continue
        label = f"network {network.name!r}, group {network.groups[index].name!r} on {unit.name}"
        times[index], demands[index], powers[index] = over_ladder(
            platform,
            unit,
            [entry.parts for entry in entries] or [draft.parts[index]],
            entries,
            label,
        )
        if timed:
            error = standard_errors.measured(timed)
            stated.append((CostOrigin.MEASURED, timed[0].source, error))
        else:
            stated.append((draft.origin, draft.note, draft.error))
    return UnitCosts(
        unit=unit.name,
        clocks=unit.clocks,
        time_ps=times,
        demand_kbps=demands,
        dynamic_mw=powers,
        origin=tuple(origin for origin, _, _ in stated),
        note=tuple(note for _, note, _ in stated),
        error=tuple(error for _, _, error in stated),
    )


def over_ladder(
    platform: Platform,
    unit: Unit,
    choices: Sequence[TimeParts],
    entries: Sequence[MeasuredGroup],
    label: str,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return times, demands and powers [*operating points of the unit's clocks]: demands are what
    is requested, if that was measured, else the traffic; powers are those above idle.

    Of several measurements the nearest holds: the one with the smallest product of clock ratios,
    the host's left out.
    """
    own, *host, memory = map(platform.ladder_khz, unit.clocks)
    ladders = own, host[0] if host else (1,), memory
    tables = [_three_costs(platform, parts, ladders, label) for parts in choices]
    chosen = tables[0]
    if len(tables) > 1:
        nearest = nearest_measurement(platform, unit, entries)[:, None, :]
        chosen = [np.choose(nearest, [table[k] for table in tables]) for k in range(3)]
    shape = ladder_shape(platform, unit)
    times, traffic, demands = (table.reshape(shape) for table in chosen)
    powers = busy_above_idle_mw(platform, unit) + traffic_mw(platform, traffic)
    if any(entry.power_mw is not None for entry in entries):
        powers = measured_power(platform, unit, powers, entries)
    return times, demands, powers


def _three_costs(
    platform: Platform,
    parts: TimeParts,
    ladders: tuple[Sequence[int], Sequence[int], Sequence[int]],
    label: str,
) -> list[IntArray]:
    peak = platform.memory.bytes_per_cycle
    times, traffic = ladder_costs(parts, ladders, peak, label)
    if parts.requested is None:
        return [times, traffic, traffic]
    requested = replace(parts, traffic=max(parts.traffic, parts.requested))
    return [times, traffic, ladder_costs(requested, ladders, peak, label)[1]]
