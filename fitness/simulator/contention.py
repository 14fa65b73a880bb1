"""The rates of running groups under contention; compiled. See :mod:`fitness.contention`."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import (
    NEVER,
)
from paretosoc.fitness.simulator.vectors import as_floats, as_integers
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS

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
    down = as_integers(quotient)
    rest = numerator - down * denominator
    return down + as_integers(rest > 0) + as_integers(rest > denominator)


@jit
def ceil_times(numerator, denominator, inverse):
    """A loss of rate, rounded up, with 1 / the denominator in floating point."""
    return ceil_near(numerator, denominator, min(as_floats(numerator) * inverse, MAX_LOSS))


@jit
def heavy_slope(contention, own):
    """The slope in the others' demand y of a group with demand ``own``, beyond minor contention:
    numerator, denominator, offset and cap of ceil(min(max(y - offset, 0), cap) * num / den).

    ``contention``: a unit's. Chosen without branches: which region a group is in cannot be
    predicted.
    """
    total, balance = contention.total_kbps, contention.balance_kbps
    span = own + balance - total
    intensive = own >= total
    num = contention.intensive_num * span
    num = num if intensive else contention.proportional_num
    heavy = (own >= contention.normal_kbps) & (span > 0)
    den = contention.intensive_den
    den = den if intensive else contention.proportional_den
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
        if state.unit[u].free:
            continue
        rate = np.int64(WORK_PER_PS)
        others = total - state.unit[u].demand
        if others > 0 and chosen.contention[u].minor_den > 0:
            minor, heavy = lost_products(
                others,
                chosen.contention[u].peak_kbps,
                chosen.contention[u].minor_num,
                state.unit[u].heavy_offset,
                state.unit[u].heavy_cap,
                state.unit[u].heavy_num,
            )
            rate = rate_after(
                _ceil_div(minor, chosen.contention[u].minor_den),
                _ceil_div(heavy, state.unit[u].heavy_den),
            )
        if rate != state.unit[u].rate:
            work = state.unit[u].work - state.unit[u].rate * (now - state.unit[u].since)
            state.unit[u].work = work
            state.unit[u].since = now
            state.unit[u].rate = rate
            state.unit[u].end = now + _ceil_div(work, rate)
        next_end = min(next_end, state.unit[u].end)
    state.run.next_end = next_end
    state.run.running_changed = 0
