"""What a short makespan costs: a bound on makespan and energy together; compiled.

The bounds of the two alone think of the fastest and of the lowest energy unit for every open group,
though it has only one. With an exchange rate v (mW, that is fJ per ps) for every network that is a
chain, every design point has for the open groups g of its networks n

    E + sum of v_n (T - end_n) >= E' + sum over n and g of gain(v_n, g),
    gain(v, g) = min over units of (v t + e) - v min t - min e >= 0,

with E its dynamic energy, E' the bound of that, T its makespan and end_n the least end of the
network: the groups of a chain run one after the other, each in its time t at least, with the energy
e at least. So a makespan below that of a member cannot go with an energy below that of the member
before it, where the right side is too large for that.
"""

import numpy as np

from fitness.simulator.jit import jit

MAX_CUTS = 8


@jit
def fill_gains(plan, space, b):
    """Gains of all groups of a chain from a group on, for every rate [rates, groups]; after
    :func:`fitness.branch_and_bound.bounds.fill_unit`."""
    for r in range(space.rate_mw.shape[0]):
        rate = space.rate_mw[r]
        for n in range(plan.networks):
            total = np.int64(0)
            for back in range(space.size[n]):
                g = space.first[n] + space.size[n] - 1 - back
                at = (r * plan.groups + g) * plan.units
                least = b.mixed[at]
                for u in range(1, plan.units):
                    least = min(least, b.mixed[at + u])
                total += least - rate * b.fastest_anywhere[g] - b.frugal_anywhere[g]
                b.gain[r * plan.groups + g] = total * space.repeats[n]


@jit
def _least_at(plan, space, b, energy, power, time):
    """The least energy of the whole time at the makespan ``time``, and how it grows with that:
    every network takes the rate that is best for it. As a function of the makespan it is convex."""
    least, growth = energy + power * time, power
    for n in range(plan.networks):
        g = b.first_open[n]
        if g < 0:
            continue
        most, chosen = np.int64(0), np.int64(0)
        for r in range(space.rate_mw.shape[0]):
            value = b.gain[r * plan.groups + g] + space.rate_mw[r] * (b.end[n] - time)
            if value > most:
                most, chosen = value, space.rate_mw[r]
        least += most
        growth -= chosen
    return least, growth


@jit
def _reaches(plan, space, b, energy, power, shortest, longest, wanted):
    """Whether the least energy is at least ``wanted`` for every makespan from ``shortest`` to
    ``longest``: cutting planes from both sides."""
    low, low_growth = _least_at(plan, space, b, energy, power, shortest)
    if low < wanted:
        return False
    if low_growth >= 0:
        return True
    high, high_growth = _least_at(plan, space, b, energy, power, longest)
    if high < wanted:
        return False
    if high_growth <= 0:
        return True
    for _ in range(MAX_CUTS):
        # Where the two tangents meet; left of it and there the one holds, right of it the other.
        span = longest - shortest
        at = (high - low - high_growth * span) // (low_growth - high_growth)
        at = min(max(at, np.int64(0)), span)
        left = low + low_growth * at
        right = high + high_growth * (min(at + 1, span) - span)
        if left >= wanted and right >= wanted:
            return True
        least, growth = _least_at(plan, space, b, energy, power, shortest + at)
        if least < wanted:
            return False
        if growth < 0:
            shortest, low, low_growth = shortest + at, least, growth
        else:
            longest, high, high_growth = shortest + at, least, growth
    return False


@jit
def is_traded_off(plan, space, b, idle, energy):
    """Whether no design point below the present choice has a makespan below that of one member and
    an energy below that of the member before it, in the order of makespans; after the bounds of the
    two alone are in ``b.vector``."""
    time, count = space.trade_time, b.progress.members
    if count == 0:
        return False
    power, fixed = idle, energy
    if space.period_ps >= 0:
        power, fixed = np.int64(0), energy + idle * space.period_ps
    # Members are in the order of the first objective, whichever that is.
    for step in range(count + 1):
        fast, slow = (step, step - 1) if time == 0 else (step - 1, step)
        if not 0 <= slow < count:
            if b.vector[time] < b.closing[fast, time]:
                # Faster than all members: no energy closes that.
                return False
            continue
        most = b.closing[slow, 1 - time]
        if 0 <= fast < count:
            longest = b.closing[fast, time]
        elif space.period_ps >= 0:
            longest = space.period_ps + 1
        elif power > 0:
            # Idle power alone makes the energy too large from there on.
            longest = most // power + 1
        else:
            return False
        if longest <= b.vector[time] or most <= b.vector[1 - time]:
            continue
        if longest > space.trade_longest:
            return False
        if not _reaches(plan, space, b, fixed, power, b.vector[time], longest, most):
            return False
    return True
