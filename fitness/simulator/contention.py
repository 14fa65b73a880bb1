"""The rates of running groups under contention. Compiled. See :mod:`fitness.contention`."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit, rare
from paretosoc.fitness.simulator.state import HIGH_FJ, NEVER
from paretosoc.fitness.simulator.types.vectors import as_floats, as_integers
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
    """Round a floating-point quotient that is off by less than 1 up to the exact integer.

    Vectors have no integer division.
    """
    down = as_integers(quotient)
    rest = numerator - down * denominator
    return down + as_integers(rest > 0) + as_integers(rest > denominator)


@jit
def ceil_times(numerator, denominator, inverse):
    """Return a loss of rate, rounded up. ``inverse``: 1 / the denominator in floating point."""
    return ceil_near(numerator, denominator, min(as_floats(numerator) * inverse, MAX_LOSS))


@jit
def heavy_slope(contention, own):
    """Return the slope of the loss beyond minor contention for a group with demand ``own``.

    In the others' demand y the loss is ceil(min(max(y - offset, 0), cap) * num / den). Returns
    (num, den, offset, cap).

    ``contention``: a unit's. Selected without branches, because the region of a group cannot be
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
    """Return the numerators of the two losses of rate beside the others' demand."""
    return min(others, peak) * minor_num, min(max(others - offset, 0), cap) * num


@jit
def excess_loss(asked, memory):
    """Return the loss of a group if it and its co-runners ask for more than the memory has."""
    if asked <= memory:
        return np.int64(0)
    return _ceil_div((asked - memory) * WORK_PER_PS, asked)


@jit
def rate_after(minor, heavy):
    """Return the rate that the larger of two losses leaves."""
    return WORK_PER_PS - min(max(minor, heavy), LOSS_LIMIT)


@rare
def settle_shared(plan, state, now):
    """Account the energy and the busy time of shared units since the last call."""
    for u in range(plan.units):
        if state.unit[u].sharing > 0:
            passed = now - state.unit[u].settled
            spent = state.unit[u].shared_mw * passed
            state.run.busy_ps += passed
            state.unit[u].settled = now
            if state.streams:
                state.account[1 + u] += spent
                if state.account[1 + u] >= HIGH_FJ:
                    state.account[1 + u] -= HIGH_FJ
                    state.account[1 + plan.units + u] += 1
            else:
                state.run.dynamic_fj += spent
                state.unit[u].drawn_fj += spent


@rare
def _share_units(plan, state, now):
    """Update demand, power and number of groups of shared units. Return the demand of all units."""
    settle_shared(plan, state, now)
    total = np.int64(0)
    for u in range(plan.units):
        state.unit[u].sharing = 0
        state.unit[u].seen_kbps = state.unit[u].demand
        state.unit[u].shared_mw = 0
    for q in range(plan.queues):
        u = plan.queue_unit[q]
        if plan.share[u * (plan.networks + 1) + 1] > 0 and not state.unit[q].free:
            state.unit[u].sharing += 1
            state.unit[u].seen_kbps = max(state.unit[u].seen_kbps, state.unit[q].demand)
            state.unit[u].shared_mw += state.unit[q].dynamic_mw
    for u in range(plan.units):
        total += state.unit[u].seen_kbps
        if state.unit[u].sharing > 0:
            state.unit[u].shared_mw = _ceil_div(state.unit[u].shared_mw, state.unit[u].sharing)
            state.unit[u].settled = now
    return total


@jit
def update_rates(plan, chosen, state, now, total):
    """Begin a new contention interval: update rates, changed ends, and the next end.

    ``total`` is the demand of all running groups in kB/s, if no unit is shared.
    """
    if plan.has_engines and plan.has_shared:
        total = _share_units(plan, state, now)
    next_end = NEVER
    for q in range(plan.queues):
        if state.unit[q].free:
            continue
        u, share = np.int64(q), np.int64(0)
        others = total - state.unit[q].demand
        if plan.has_engines and plan.has_shared:
            u = plan.queue_unit[q]
            others = total - state.unit[u].seen_kbps
            share = plan.share[u * (plan.networks + 1) + state.unit[u].sharing]
        rate = np.int64(WORK_PER_PS)
        if others > 0 and chosen.contention[u].minor_den > 0:
            minor, heavy = lost_products(
                others,
                chosen.contention[u].peak_kbps,
                chosen.contention[u].minor_num,
                state.unit[q].heavy_offset,
                state.unit[q].heavy_cap,
                state.unit[q].heavy_num,
            )
            excess = excess_loss(others + state.unit[q].demand, chosen.contention[u].memory_kbps)
            rate = rate_after(
                max(_ceil_div(minor, chosen.contention[u].minor_den), excess),
                _ceil_div(heavy, state.unit[q].heavy_den),
            )
        if share > 0:
            rate = max(rate * share // WORK_PER_PS, np.int64(1))
        if rate != state.unit[q].rate:
            work = state.unit[q].work - state.unit[q].rate * (now - state.unit[q].since)
            state.unit[q].work = work
            state.unit[q].since = now
            state.unit[q].rate = rate
            state.unit[q].end = now + _ceil_div(work, rate)
        next_end = min(next_end, state.unit[q].end)
    state.run.next_end = next_end
    state.run.running_changed = 0
