"""The rates of running groups under contention; compiled. See :mod:`fitness.contention`."""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.layout import (
    BALANCE,
    CONTENTION_WIDTH,
    INTENSIVE_DEN,
    INTENSIVE_NUM,
    MINOR_DEN,
    MINOR_NUM,
    NORMAL,
    PEAK,
    PROPORTIONAL_DEN,
    PROPORTIONAL_NUM,
    TOTAL,
)
from fitness.simulator.state import (
    END,
    FREE,
    HEAVY_CAP,
    HEAVY_DEN,
    HEAVY_NUM,
    HEAVY_OFFSET,
    NEVER,
    NEXT_END,
    OWN,
    RATE,
    RUNNING_CHANGED,
    SINCE,
    UNIT_WIDTH,
    WORK,
)
from results.problem.problem import LOSS_LIMIT, WORK_PER_PS

MAX_LOSS = float(1 << 40)
"""Beyond every limit, and exact in floating point."""


@jit
def _ceil_div(numerator, denominator):
    # Unsigned division spares the sign handling of Python's floor division.
    d = np.uint64(denominator)
    return np.int64((np.uint64(numerator) + d - np.uint64(1)) // d)


@jit
def ceil_near(numerator, denominator, quotient):
    """The quotient rounded up, from one in floating point that is off by less than 1: vectors have
    no integer division."""
    down = np.int64(quotient)
    rest = numerator - down * denominator
    return down + np.int64(rest > 0) + np.int64(rest > denominator)


@jit
def ceil_times(numerator, denominator, inverse):
    """A loss of rate, rounded up, with 1 / the denominator in floating point."""
    return ceil_near(numerator, denominator, min(np.float64(numerator) * inverse, MAX_LOSS))


@jit
def heavy_slope(contention, at, own):
    """The slope in the others' demand y of a group with demand ``own``, beyond minor contention:
    numerator, denominator, offset and cap of ceil(min(max(y - offset, 0), cap) * num / den).

    ``contention`` holds a unit's parameters from ``at`` on. Chosen without branches: which region a
    group is in cannot be predicted.
    """
    total, balance = contention[at + TOTAL], contention[at + BALANCE]
    span = own + balance - total
    intensive = own >= total
    num = contention[at + INTENSIVE_NUM] * span
    num = num if intensive else contention[at + PROPORTIONAL_NUM]
    heavy = (own >= contention[at + NORMAL]) & (span > 0)
    den = contention[at + INTENSIVE_DEN]
    den = den if intensive else contention[at + PROPORTIONAL_DEN]
    return (
        num if heavy else np.int64(0),
        den,
        np.int64(0) if intensive else total - own,
        balance if intensive else span,
    )


@jit
def lost_products(others, peak, minor_num, offset, cap, num):
    """Numerators of the two losses of rate beside the others' demand."""
    return min(others, peak) * minor_num, min(max(others - offset, 0), cap) * num


@jit
def rate_after(minor, heavy):
    """The rate that the two losses leave."""
    return WORK_PER_PS - min(max(minor, heavy), LOSS_LIMIT)


@jit
def update_rates(plan, chosen, state, now, total):
    """A new contention interval: rates, ends where a rate has changed, and which end is next.

    ``total`` is the demand of all running groups in kB/s.
    """
    next_end = NEVER
    for u in range(plan.units):
        if state.unit[u * UNIT_WIDTH + FREE]:
            continue
        rate = np.int64(WORK_PER_PS)
        others = total - state.unit[u * UNIT_WIDTH + OWN]
        if others > 0 and chosen.contention[u * CONTENTION_WIDTH + MINOR_DEN] > 0:
            minor, heavy = lost_products(
                others,
                chosen.contention[u * CONTENTION_WIDTH + PEAK],
                chosen.contention[u * CONTENTION_WIDTH + MINOR_NUM],
                state.unit[u * UNIT_WIDTH + HEAVY_OFFSET],
                state.unit[u * UNIT_WIDTH + HEAVY_CAP],
                state.unit[u * UNIT_WIDTH + HEAVY_NUM],
            )
            rate = rate_after(
                _ceil_div(minor, chosen.contention[u * CONTENTION_WIDTH + MINOR_DEN]),
                _ceil_div(heavy, state.unit[u * UNIT_WIDTH + HEAVY_DEN]),
            )
        if rate != state.unit[u * UNIT_WIDTH + RATE]:
            work = state.unit[u * UNIT_WIDTH + WORK] - state.unit[u * UNIT_WIDTH + RATE] * (
                now - state.unit[u * UNIT_WIDTH + SINCE]
            )
            state.unit[u * UNIT_WIDTH + WORK] = work
            state.unit[u * UNIT_WIDTH + SINCE] = now
            state.unit[u * UNIT_WIDTH + RATE] = rate
            state.unit[u * UNIT_WIDTH + END] = now + _ceil_div(work, rate)
        next_end = min(next_end, state.unit[u * UNIT_WIDTH + END])
    state.scalar[NEXT_END] = next_end
    state.scalar[RUNNING_CHANGED] = 0
