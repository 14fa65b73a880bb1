"""A Lagrangian bound on makespan and energy together. Compiled.

The separate bounds assume the fastest *and* the lowest-energy unit for every open group, although
it runs on one. With a multiplier v (mW, that is fJ per ps) for every network that is a chain, every
design point has for the open groups g of its networks n

    E + sum of v_n (T - end_n) >= E' + sum over n and g of gain(v_n, g),
    gain(v, g) = min over units of (v t + e) - v min t - min e >= 0,

with E its dynamic energy, E' the bound of that, T its makespan and end_n the least end of the
network. The groups of a chain run one after the other, each with at least its time t and its energy
e. So if the right side is too large, no makespan below that of a member goes with an energy below
that of the member before it.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit

MAX_CUTS = 8


@jit
def fill_gains(plan, rules, tree):
    """Fill the summed gains of a chain's groups from each group on, for every rate: [rates,
    groups].

    Called after :func:`fitness.branch_and_bound.bounds.fill_unit`.
    """
    for r in range(rules.rate_mw.shape[0]):
        rate = rules.rate_mw[r]
        for n in range(plan.networks):
            total = np.int64(0)
            for back in range(rules.size[n]):
                g = rules.first[n] + rules.size[n] - 1 - back
                at = (r * plan.groups + g) * plan.units
                least = tree.mixed[at]
                for u in range(1, plan.units):
                    least = min(least, tree.mixed[at + u])
                total += least - rate * tree.fastest_anywhere[g] - tree.min_energy_anywhere[g]
                tree.gain[r * plan.groups + g] = total * rules.repeats[n]


@jit
def _min_energy_at(plan, rules, tree, energy, power, time):
    """Return the least energy at the makespan ``time``, and its slope there.

    Every network takes its best multiplier. The least energy is convex in the makespan.
    """
    least, growth = energy + power * time, power
    for n in range(plan.networks):
        g = tree.first_open[n]
        if g < 0:
            continue
        most, chosen = np.int64(0), np.int64(0)
        for r in range(rules.rate_mw.shape[0]):
            value = tree.gain[r * plan.groups + g] + rules.rate_mw[r] * (tree.end[n] - time)
            if value > most:
                most, chosen = value, rules.rate_mw[r]
        least += most
        growth -= chosen
    return least, growth


@jit
def _reaches(plan, rules, tree, energy, power, shortest, longest, wanted):
    """Return whether the least energy is at least ``wanted`` for every makespan from ``shortest``
    to ``longest``.

    Works with cutting planes from both sides.
    """
    low, low_growth = _min_energy_at(plan, rules, tree, energy, power, shortest)
    if low < wanted:
        return False
    if low_growth >= 0:
        return True
    high, high_growth = _min_energy_at(plan, rules, tree, energy, power, longest)
    if high < wanted:
        return False
    if high_growth <= 0:
        return True
    for _ in range(MAX_CUTS):
        # The two tangents meet here. Left of it and at it the one holds, right of it the other.
        span = longest - shortest
        at = (high - low - high_growth * span) // (low_growth - high_growth)
        at = min(max(at, np.int64(0)), span)
        left = low + low_growth * at
        right = high + high_growth * (min(at + 1, span) - span)
        if left >= wanted and right >= wanted:
            return True
        least, growth = _min_energy_at(plan, rules, tree, energy, power, shortest + at)
        if least < wanted:
            return False
        if growth < 0:
            shortest, low, low_growth = shortest + at, least, growth
        else:
            longest, high, high_growth = shortest + at, least, growth
    return False


@jit
def is_fathomed_by_trade_off(plan, rules, tree, idle, energy):
    """Return whether no design point below the present choice fits between two neighbouring
    members.

    Such a point would have a makespan below that of one member and an energy below that of the
    member before it, in the order of makespans. ``tree.vector`` must have the bounds of both alone.
    """
    time, count = rules.trade_time, tree.progress.members
    if count == 0:
        return False
    power, fixed = idle, energy
    if rules.period_ps >= 0:
        power, fixed = np.int64(0), energy + idle * rules.period_ps
    # Members are in the order of the first objective, whichever that is.
    for step in range(count + 1):
        fast, slow = (step, step - 1) if time == 0 else (step - 1, step)
        if not 0 <= slow < count:
            if tree.vector[time] < tree.closing[fast, time]:
                # Faster than all members: no energy fathoms that.
                return False
            continue
        most = tree.closing[slow, 1 - time]
        if 0 <= fast < count:
            longest = tree.closing[fast, time]
        elif rules.period_ps >= 0:
            longest = rules.period_ps + 1
        elif power > 0:
            # Idle power alone makes the energy too large from there on.
            longest = most // power + 1
        else:
            return False
        if longest <= tree.vector[time] or most <= tree.vector[1 - time]:
            continue
        if longest > rules.trade_longest:
            return False
        if not _reaches(plan, rules, tree, fixed, power, tree.vector[time], longest, most):
            return False
    return True
