"""Costs of groups from fits over clocks: a network's shared out, or its layers' added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.fitness.cost_model.clock_law import (
    DIGITS,
    LIMIT_PS,
    ROUNDING,
    ROUNDINGS,
    Array,
    Ratios,
    TimeParts,
    exact,
    parts_norm,
    rounded,
)
from paretosoc.fitness.cost_model.dvfs_forms import Clocks, TimeForm, clocks_of, power_mw, time_ms
from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.power import alone_idle_mw, ladder_shape
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.platforms.source import round_half_up
from paretosoc.sdf.grouping.groups import GroupedNetwork


@dataclass(frozen=True, eq=False)
class ModelledGroup:
    """A group on a unit, arrays [*operating points of the unit's clocks]."""

    time_ps: IntArray
    demand_kbps: IntArray
    dynamic_mw: IntArray | None
    """Above the power at all times while the unit alone is in use, or None if power was not
    fitted."""
    note: str
    is_share: bool
    """It is a share of its network's time, by the estimate."""
    is_one_clock: bool
    """Only the estimate says how the time follows the clocks."""
    time_residual: float
    """Largest relative error of the fits at their measurements (root mean square)."""
    power_residual: float


def modelled_groups(
    network: GroupedNetwork,
    launches: Sequence[Sequence[Launch]],
    platform: Platform,
    unit: Unit,
    parts: Sequence[TimeParts],
    models: Sequence[ClockProfile],
    board_mw: int,
) -> dict[int, ModelledGroup]:
    """Return the costs of the groups that the fits cover, by index.

    A fit of an entire network is shared out, at every choice of clocks, in proportion to the times
    that its form gives for the groups' shares of the estimate's parts. So the groups add up to the
    fit everywhere. Without one, a group whose launches were all fitted as layers takes
    their sum.

    Args:
        parts: estimates of all groups on this unit.
        models: those of the network, of any unit.

    Raises:
        PlatformError: on a time that is too long to be kept.
    """
    mine = [model for model in models if model.unit == unit.name]
    of_network = next((model for model in mine if model.layer is None), None)
    layers = {model.layer: model for model in mine if model.layer is not None}
    if not mine:
        return {}
    shape = ladder_shape(platform, unit)
    points = np.indices(shape).reshape(len(shape), -1).T.astype(np.int64)
    clocks = clocks_of(platform, unit, points)
    idle = alone_idle_mw(platform, unit, board_mw).reshape(-1)
    times: list[tuple[int, IntArray]] = []
    powers: dict[int, tuple[FloatArray | None, Sequence[ClockProfile]]] = {}
    if of_network is not None:
        law = partial(_shared_out, of_network, parts)
        times = list(enumerate(_picoseconds(law, platform, unit, points)))
        power = _dynamic(of_network, clocks, idle)
        powers = dict.fromkeys(range(len(parts)), (power, [of_network]))
    else:
        for g, group in enumerate(launches):
            chosen = _fitted(group, layers)
            if chosen:
                (time,) = _picoseconds(partial(_added, chosen), platform, unit, points)
                times.append((g, time))
                powers[g] = _mean_power(chosen, clocks, idle), chosen
    kind = of_network is not None, any(model.time_form is TimeForm.SHARES for model in mine)
    return {
        g: _group(platform, points, shape, parts[g], time, *powers[g], kind) for g, time in times
    }


def _picoseconds(
    law: Callable[[Clocks, type[float | Decimal]], list[Array]],
    platform: Platform,
    unit: Unit,
    points: IntArray,
) -> list[IntArray]:
    """Return times of a law that gives ms, rounded half up, in decimals if floats leave a doubt.
    Refuse those that are too long to keep."""
    found = []
    values = [time * PS_PER_MS for time in law(clocks_of(platform, unit, points), float)]
    error = ROUNDING * (ROUNDINGS + 2 * len(values))
    for place, value in enumerate(values):
        if value.max() >= LIMIT_PS:
            raise PlatformError(
                f"{unit.name}: a group's time must stay below 140 s, "
                f"got {value.max() / PS_PER_S:.0f} s by the fit over clocks"
            )
        times, sure = rounded(value, error)
        if not sure.all():
            with localcontext(Context(prec=DIGITS)):
                doubtful = law(clocks_of(platform, unit, points[~sure], Decimal), Decimal)[place]
                times[~sure] = [round_half_up(exact(time * PS_PER_MS)) for time in doubtful]
        found.append(np.maximum(times, 1))
    return found


def _shared_out(
    model: ClockProfile, parts: Sequence[TimeParts], clocks: Clocks, number: Callable[[float], Any]
) -> list[Array]:
    """Return ms per group, [points]."""
    compute, memory, host = (
        [number(share) for share in _shares([float(getattr(part, name)) for part in parts])]
        for name in ("compute", "memory", "fixed")
    )
    fastest = Ratios(Fraction(1), Fraction(1), Fraction(1))
    whole = [number(share) for share in _shares([float(part.at(fastest)) for part in parts])]
    time = {name: number(value) for name, value in model.time.items()}
    alone = [
        parts_norm(
            [
                time.get("compute_ms", 0) * compute[g] * clocks.own,
                time.get("memory_ms", 0) * memory[g] * clocks.memory,
                time.get("host_ms", 0) * host[g] * clocks.host,
            ],
            time.get("overlap", 1),
        )
        + time.get("fixed_ms", 0) * whole[g]
        for g in range(len(parts))
    ]
    total = sum(alone)
    of_network = time_ms(time, clocks)
    return [of_network * share / (total + (total == 0)) for share in alone]


def _shares(values: Sequence[float]) -> list[float]:
    total = sum(values)
    return [value / total if total else 1.0 / len(values) for value in values]


def _fitted(
    launches: Sequence[Launch], layers: dict[str, ClockProfile]
) -> list[ClockProfile] | None:
    """Return the fits of a group's launches, or None if one is missing."""
    chosen = []
    for launch in launches:
        if launch.is_free:
            continue
        names = [layer.name for layer in launch.layers if layer.name in layers]
        if not names:
            return None
        chosen += [layers[name] for name in names]
    return chosen


def _added(
    models: Sequence[ClockProfile], clocks: Clocks, number: type[float | Decimal]
) -> list[Array]:
    """Return one entry, the sum in ms, [points]."""
    times = [
        time_ms({name: number(value) for name, value in model.time.items()}, clocks)
        for model in models
    ]
    return [np.sum(times, axis=0)]


def _mean_power(
    models: Sequence[ClockProfile], clocks: Clocks, idle: IntArray
) -> FloatArray | None:
    times = [time_ms(model.time, clocks) for model in models]
    powers = [_dynamic(model, clocks, idle) for model in models]
    if any(power is None for power in powers):
        return None
    energies = [t * p for t, p in zip(times, powers, strict=True) if p is not None]
    mean: FloatArray = np.sum(energies, axis=0) / np.maximum(np.sum(times, axis=0), 1e-300)
    return mean


def _dynamic(model: ClockProfile, clocks: Clocks, idle: IntArray) -> FloatArray | None:
    if model.power_form is None:
        return None
    above: FloatArray = power_mw(model.power, clocks, model.power_form, model.time) - idle
    return np.maximum(above, 0.0)


def _group(
    platform: Platform,
    points: IntArray,
    shape: tuple[int, ...],
    parts: TimeParts,
    picoseconds: IntArray,
    power: FloatArray | None,
    models: Sequence[ClockProfile],
    kind: tuple[bool, bool],
) -> ModelledGroup:
    khz = np.array(platform.ladder_khz(platform.memory.domain), dtype=np.float64)
    peak = platform.memory.bytes_per_cycle * khz[points[:, -1]]
    demand = np.minimum(np.floor(float(parts.traffic) / picoseconds + 0.5), peak)
    return ModelledGroup(
        time_ps=picoseconds.reshape(shape),
        demand_kbps=demand.astype(np.int64).reshape(shape),
        dynamic_mw=None if power is None else np.floor(power + 0.5).astype(np.int64).reshape(shape),
        note=models[0].note,
        is_share=kind[0],
        is_one_clock=kind[1],
        time_residual=max(model.time_residual for model in models),
        power_residual=max(model.power_residual for model in models),
    )
