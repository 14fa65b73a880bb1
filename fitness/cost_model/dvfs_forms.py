"""Time and power of a piece of work over clocks: forms that are fitted to measurements.

With x = f0/f of the unit's own clock, y = h0/h of its host's, z = m0/m of the memory's (each 1 at
the fastest point):

    t = |compute x, memory z, host y|_p * (1 + stall (y - 1)) + fixed

|.|_p is the p-norm of :mod:`fitness.cost_model.clock_law`: p = 1 adds the parts (nothing overlaps),
a large p takes the largest (all overlaps). ``stall`` is a host that holds up the unit's own work,
whatever that unit's clock.

    P = static + own v(f) [share] + clock f/f0 + host v(h),      v(f) = f V^2 / (f0 V0^2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.cost_model.clock_law import Array, parts_norm
from paretosoc.platforms.platform import Platform, Unit


class TimeForm(Enum):
    """The parameters of a time that are free. The others are the platform's."""

    SHARES = "shares"
    """The time at the fastest clocks. The estimate of the network gives the parts."""
    OVERLAP = "overlap"
    """The parts."""
    OVERLAP_FITTED = "overlap-fitted"
    """The parts and p."""
    OVERLAP_STALL = "overlap-stall"
    """The parts and a host's stall."""


class PowerForm(Enum):
    """The parameters of a power that are free."""

    VOLTAGE = "voltage"
    SHARE = "share"
    """The unit's own part counts for the share of the time that it computes."""
    VOLTAGE_CLOCK = "voltage-clock"


@dataclass(frozen=True, eq=False)
class Clocks:
    """The slowdown of each clock against its fastest point, arrays of one shape, at least 1.
    ``own_v`` and ``host_v``: v(f) and v(h)."""

    own: Array
    host: Array
    memory: Array
    own_v: Array
    host_v: Array


MEANINGS = {
    "time_ms": "time at the fastest clocks",
    "compute_ms": "computing at the unit's fastest clock",
    "memory_ms": "moving data at the memory's fastest clock",
    "host_ms": "launching at the host's fastest clock",
    "stall": "share that a host at half its clock adds",
    "fixed_ms": "at any clock",
    "overlap": "exponent p of the norm of the parts: 1 adds them up",
    "static_mw": "at any clock",
    "own_mw": "at the unit's fastest clock, by voltage and clock",
    "clock_mw": "at the unit's fastest clock, by clock alone",
    "host_mw": "at the host's fastest clock",
}
"""Parameters, for people."""


def time_parameters(form: TimeForm, *, hosted: bool, fixed: bool = False) -> tuple[str, ...]:
    """Return the names of the free parameters. ``fixed`` adds a part that no clock changes."""
    if form is TimeForm.SHARES:
        return ("time_ms",)
    names = ["compute_ms", "memory_ms"]
    if hosted:
        names.append("host_ms")
    if hosted and form is TimeForm.OVERLAP_STALL:
        names.append("stall")
    if fixed:
        names.append("fixed_ms")
    if form is TimeForm.OVERLAP_FITTED:
        names.append("overlap")
    return tuple(names)


def power_parameters(form: PowerForm, *, hosted: bool) -> tuple[str, ...]:
    """Return the names of the free parameters."""
    names = ["static_mw", "own_mw"]
    if form is PowerForm.VOLTAGE_CLOCK:
        names.append("clock_mw")
    if hosted:
        names.append("host_mw")
    return tuple(names)


def time_ms(values: Mapping[str, Any], clocks: Clocks) -> Array:
    """Return milliseconds, in decimals if values and clocks are. Parameters that are not given are
    0, ``overlap`` 1."""
    whole = parts_norm(
        [
            values.get("compute_ms", 0) * clocks.own,
            values.get("memory_ms", 0) * clocks.memory,
            values.get("host_ms", 0) * clocks.host,
        ],
        values.get("overlap", 1),
    )
    stalled = whole * (1 + values.get("stall", 0) * (clocks.host - 1))
    result: Array = stalled + values.get("fixed_ms", 0)
    return result


def power_mw(
    values: dict[str, float], clocks: Clocks, form: PowerForm, times: dict[str, float]
) -> FloatArray:
    """Return milliwatts, the mean over the run. ``times``: parameters of the time, for SHARE."""
    own = values.get("own_mw", 0.0) * clocks.own_v
    if form is PowerForm.SHARE:
        share = times.get("compute_ms", 0.0) * clocks.own / time_ms(times, clocks)
        own = own * np.minimum(share, 1.0)
    return (
        values.get("static_mw", 0.0)
        + own
        + values.get("clock_mw", 0.0) / clocks.own
        + values.get("host_mw", 0.0) * clocks.host_v
    )


def clocks_of(
    platform: Platform, unit: Unit, points: NDArray[np.int64], number: type[float | Decimal] = float
) -> Clocks:
    """Return the clocks at operating points [n, clocks of the unit]."""
    slower, volts = {}, {}
    for column, name in enumerate(unit.clocks):
        ladder = platform.domain_by_name[name].operating_points
        khz = np.array([number(point.frequency_khz) for point in ladder])
        known = all(point.voltage_mv is not None for point in ladder)
        mv = np.array([number((known and point.voltage_mv) or 1) for point in ladder])
        v = khz * mv**2
        slower[name] = (khz[-1] / khz)[points[:, column]]
        volts[name] = (v / v[-1])[points[:, column]]
    one = np.full(len(points), number(1))
    own, memory = unit.clocks[0], unit.clocks[-1]
    return Clocks(
        own=slower[own],
        host=one if unit.host is None else slower[unit.host],
        memory=slower[memory],
        own_v=volts[own],
        host_v=one if unit.host is None else volts[unit.host],
    )
