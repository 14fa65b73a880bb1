"""The rates of running groups under contention; compiled. See :mod:`fitness.contention`."""

import numpy as np

from fitness.jit import jit
from fitness.plan import CONTENTION_WIDTH, MINOR_DEN, MINOR_NUM, PEAK
from fitness.timeline_state import (
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
from results.problem import LOSS_LIMIT, WORK_PER_PS


@jit
def _ceil_div(numerator, denominator):
    # Unsigned division spares the sign handling of Python's floor division.
    d = np.uint64(denominator)
    return np.int64((np.uint64(numerator) + d - np.uint64(1)) // d)


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
            minor = (
                min(others, chosen.contention[u * CONTENTION_WIDTH + PEAK])
                * chosen.contention[u * CONTENTION_WIDTH + MINOR_NUM]
            )
            loss = _ceil_div(minor, chosen.contention[u * CONTENTION_WIDTH + MINOR_DEN])
            overload = max(others - state.unit[u * UNIT_WIDTH + HEAVY_OFFSET], 0)
            heavy = (
                min(overload, state.unit[u * UNIT_WIDTH + HEAVY_CAP])
                * state.unit[u * UNIT_WIDTH + HEAVY_NUM]
            )
            loss = max(loss, _ceil_div(heavy, state.unit[u * UNIT_WIDTH + HEAVY_DEN]))
            rate -= min(loss, LOSS_LIMIT)
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
