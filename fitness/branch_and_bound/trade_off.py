"""A Lagrangian bound on makespan and energy together. Compiled.

The separate bounds assume the fastest *and* the lowest-energy unit and operating point for every
group, although it runs on one. With a multiplier v (mW, that is fJ per ps) for every network that
is a chain, every design point has for the groups g of its networks n that have not started

    E + sum of v_n (T - end_n) >= E' + sum over n and g of gain(v_n, g),
    gain(v, g) = min over units and points of (v t + e) - v min t - min e >= 0,

with E its dynamic energy, E' the bound of that, T its makespan and end_n the least end of the
network. The groups of a chain run one after the other, each with at least its time t and its energy
e. So if the right side is too large, no makespan below that of a member goes with an energy below
that of the member before it.

This must hold for every set of domains that may be on, with the idle power of the set and the
minimum over the units that need no other domain. A domain that may be off is either on, or its
units run nothing.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import NEVER

MAX_CUTS = 8


@jit
def fill_gains(plan, rules, tree):
    """Fill the gains of every group, on each unit and anywhere, for every rate.

    Called after :func:`fitness.branch_and_bound.bounds.fill_unit`.
    """
    for s in range(tree.has_set_gain.shape[0]):
        tree.has_set_gain[s] = 0
    rates = rules.rate_mw.shape[0]
    for g in range(plan.groups):
        fastest, energy = tree.fastest_anywhere[g], tree.min_energy_anywhere[g]
        for r in range(rates):
            tree.gain[g, r] = NEVER
        for u in range(plan.units):
            at = g * plan.units + u
            if rules.allowed[at]:
                for r in range(rates):
                    rate = rules.rate_mw[r]
                    mixed = tree.mixed[(r * plan.groups + g) * plan.units + u]
                    own = mixed - rate * tree.fastest[at] - tree.min_energy[at]
                    tree.gain_on[at, r] = own
                    tree.gain[g, r] = min(tree.gain[g, r], mixed - rate * fastest - energy)


@jit
def fill_tails(plan, rules, chosen, n, tree):
    """Fill the summed gains of a chain's groups from each group on, for every rate.

    Called after :func:`fill_gains`. Groups on a unit whose clocks are chosen gain nothing.
    """
    rates = rules.rate_mw.shape[0]
    if rates == 0 or not rules.trades[n]:
        return
    last = rules.first[n] + rules.size[n] - 1
    for back in range(rules.size[n]):
        g = last - back
        u = tree.units[g]
        for r in range(rates):
            total = tree.gain_tail[g + 1, r] if back > 0 else np.int64(0)
            if u < 0:
                total += tree.gain[g, r]
            elif not chosen.unit_used[u]:
                total += tree.gain_on[g * plan.units + u, r]
            tree.gain_tail[g, r] = total


@jit
def _fill_set_gain(plan, rules, tree, s):
    """Fill by how much more a chain gains from each group on, in all repeats, if all are open and
    only domains of the set s may be on, [groups, 1 + rates], or NEVER if one of them can be
    nowhere."""
    tree.has_set_gain[s] = 1
    rates = rules.rate_mw.shape[0]
    for n in range(plan.networks):
        for back in range(rules.size[n]):
            g = rules.first[n] + rules.size[n] - 1 - back
            for r in range(rates + 1):
                least = NEVER
                for u in range(plan.units):
                    at = g * plan.units + u
                    if rules.allowed[at] and rules.unit_set[u] & ~s == 0:
                        if r == 0:
                            least = min(least, tree.min_energy[at])
                        else:
                            row = ((r - 1) * plan.groups + g) * plan.units + u
                            least = min(least, tree.mixed[row])
                if least == NEVER:
                    tree.set_gain[s, g, r] = NEVER
                    continue
                least -= tree.min_energy_anywhere[g]
                if r > 0:
                    least -= rules.rate_mw[r - 1] * tree.fastest_anywhere[g] + tree.gain[g, r - 1]
                more = tree.set_gain[s, g + 1, r] if back > 0 else np.int64(0)
                tree.set_gain[s, g, r] = NEVER if more == NEVER else least * rules.repeats[n] + more


@jit
def _fill_left(plan, rules, tree, s):
    """Fill the gains of what has not started of every chain, [networks, 1 + rates], if only domains
    of the set s may be on. Return False if some group can be nowhere."""
    rates = rules.rate_mw.shape[0]
    every = s == rules.set_count - 1
    if not every and not tree.has_set_gain[s]:
        _fill_set_gain(plan, rules, tree, s)
    for n in range(plan.networks):
        if not rules.trades[n]:
            continue
        g, first, repeats = tree.first_left[n], rules.first[n], tree.repeats_left[n]
        if plan.has_engines:
            # Of assigned groups it is not known here whether their engine has begun.
            g, repeats = tree.first_open[n], np.int64(0)
        tree.left_gain[n, 0] = 0
        for r in range(rates):
            gain = repeats * tree.gain_tail[first, r] if repeats > 0 else np.int64(0)
            if g >= 0:
                gain += tree.gain_tail[g, r] * (rules.repeats[n] if plan.has_engines else 1)
            tree.left_gain[n, r + 1] = gain
        if not every and tree.first_open[n] >= 0:
            g = tree.first_open[n]
            if tree.set_gain[s, g, 0] == NEVER:
                return False
            for r in range(rates + 1):
                tree.left_gain[n, r] += tree.set_gain[s, g, r]
    return True


@jit
def _min_energy_at(plan, rules, tree, energy, power, time):
    """Return the least energy, which is convex, at the makespan ``time``, and its slope there.
    Every network takes its best multiplier."""
    least, growth = energy + power * time, power
    for n in range(plan.networks):
        if not rules.trades[n]:
            continue
        most, chosen = tree.left_gain[n, 0], np.int64(0)
        over = tree.end[n] - time
        for r in range(rules.rate_mw.shape[0]):
            value = tree.left_gain[n, r + 1] + rules.rate_mw[r] * over
            if value > most:
                most, chosen = value, rules.rate_mw[r]
        least += most
        growth -= chosen
    return least, growth


@jit
def _reaches(plan, rules, tree, energy, power, low_time, low, fall, high_time, high, rise, wanted):
    """Return whether the least energy is at least ``wanted`` between two makespans with ``low`` and
    ``high``, by cutting planes from both sides."""
    for _ in range(MAX_CUTS):
        # The two tangents meet here. Left of it and at it the one holds, right of it the other.
        span = high_time - low_time
        at = (high - low - rise * span) // (fall - rise)
        at = min(max(at, np.int64(0)), span)
        left = low + fall * at
        right = high + rise * (min(at + 1, span) - span)
        if left >= wanted and right >= wanted:
            return True
        least, growth = _min_energy_at(plan, rules, tree, energy, power, low_time + at)
        if least < wanted:
            return False
        if growth < 0:
            low_time, low, fall = low_time + at, least, growth
        else:
            high_time, high, rise = low_time + at, least, growth
    return False


@jit
def is_fathomed_by_trade_off(plan, rules, chosen, tree, idle, energy):
    """Return whether no design point below the present choice fits between two neighbouring
    members.

    Such a point would have a makespan below that of one member and an energy below that of the
    member before it, in the order of makespans. ``tree.vector`` must have the bounds of both alone.
    Every set of domains that may be on must leave no room.
    """
    if tree.progress.members == 0:
        return False
    needed = np.int64(0)
    for k in range(rules.optional.shape[0]):
        if chosen.domain_on[rules.optional[k]]:
            needed |= np.int64(1) << k
    s = np.int64(rules.set_count - 1)
    while s >= 0:
        if s & needed == needed:
            power = idle
            for k in range(rules.optional.shape[0]):
                if ((s & ~needed) >> k) & 1:
                    power += tree.min_static[rules.optional[k]]
                    for u in range(plan.units):
                        if plan.clock[u, 0] == rules.optional[k]:
                            power += tree.min_idle[u]
            if _fill_left(plan, rules, tree, s) and not _leaves_no_room(
                plan, rules, tree, power, energy
            ):
                return False
        s -= 1
    return True


@jit
def _member(place, time, count):
    """Return the row of a member from its place in the order of makespans."""
    return place if time == 0 else count - 1 - place


@jit
def _first_slower(tree, time, count):
    """Return the place of the first member whose makespan is above the bound, or their number."""
    low, high = np.int64(0), np.int64(count)
    while low < high:
        middle = (low + high) // 2
        if tree.closing[_member(middle, time, count), time] <= tree.vector[time]:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _leaves_no_room(plan, rules, tree, power, fixed):
    """Return the same for one set, with its idle power and ``tree.left_gain``. The tangent of the
    least energy, which is convex, is computed again where it is too low."""
    time, count = rules.trade_time, tree.progress.members
    if rules.period_ps >= 0:
        power, fixed = np.int64(0), fixed + power * rules.period_ps
    at, known = tree.vector[time], _first_slower(tree, time, count)
    if known == 0:
        # Faster than all members: no energy fathoms that.
        return False
    # Siblings are often left the same room. The loop would find it, too.
    step = tree.progress.last_step
    if known <= step < count:
        longest = tree.closing[_member(step, time, count), time]
        wanted = tree.closing[_member(step - 1, time, count), 1 - time]
        if longest <= rules.trade_longest:
            least, growth = _min_energy_at(plan, rules, tree, fixed, power, longest)
            if least < wanted:
                return False
    least, growth = _min_energy_at(plan, rules, tree, fixed, power, at)
    for step in range(known, count + 1):
        wanted = tree.closing[_member(step - 1, time, count), 1 - time]
        if wanted <= tree.vector[1 - time]:
            # Energies fall from member to member.
            return True
        tree.progress.last_step = step
        if least < wanted:
            return False
        if step < count:
            longest = tree.closing[_member(step, time, count), time]
        elif rules.period_ps >= 0:
            longest = rules.period_ps + 1
        elif power > 0:
            # Idle power alone makes the energy too large from there on.
            longest = wanted // power + 1
        else:
            return False
        if longest > rules.trade_longest:
            return False
        if longest <= at or least + growth * (longest - at) >= wanted:
            continue
        high, rise = _min_energy_at(plan, rules, tree, fixed, power, longest)
        if high < wanted:
            return False
        if rise > 0 and not _reaches(
            plan, rules, tree, fixed, power, at, least, growth, longest, high, rise, wanted
        ):
            return False
        at, least, growth = longest, high, rise
    return True
