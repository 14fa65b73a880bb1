"""A bound on makespan and energy together, by rows of prices. Compiled.

A row has prices w of units and v of networks, in mW, that is fJ per ps. What is left from now on is
done by every unit, and by every network that is a chain, within the rest of the makespan T. So

    E >= E' + sum over groups of ((w + v) t + e) + sum over transitions of v x delay
         - (sum of w + sum of v) (T - now)

with E the dynamic energy, E' that of what has started, and t and e the time and energy of a group.
Each group takes its best unit and point, see :mod:`fitness.branch_and_bound.priced_times`. This is
a line over T. So if the lines are too high, no makespan below that of a member goes with an energy
below that of the member before it.

This must hold for every set of domains that may be on, with the idle power of the set and units
that need no other domain. A domain that may be off is either on, or its units run nothing.
"""

import numpy as np

from paretosoc.fitness.branch_and_bound.priced_times import fill_open, priced_left
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.vectors import integers, put

MAX_CUTS = 8


@jit
def _can_run_all(plan, rules, chosen, s):
    """Return whether all open groups of chains can run if only domains of the set s may be on."""
    for n in range(plan.networks):
        g = chosen.first_open[n]
        if rules.is_chain[n] and g >= 0 and rules.last_unfit[s, n] >= g:
            return False
    return True


@jit
def _fill_lines(plan, rules, state, tree, s, energy):
    """Fill by how much the energy at a makespan of 0 is above ``energy``, the bound of the dynamic
    energy, on the line of every row."""
    for n in range(plan.networks):
        fill_open(plan, rules, n, 1 + s, tree)
    more = priced_left(plan, rules, state, 1 + s, tree) + (tree.spent[0] - energy)
    put(tree.line, 0, more + integers(rules.price_sum, (1,)) * state.run.now)


@jit
def _min_energy_at(rules, tree, energy, power, time):
    """Return the least energy, which is convex, at the makespan ``time``, and its slope."""
    more, slope = np.int64(0), np.int64(0)
    for p in range(rules.price_rows[1]):
        value = tree.line[p] - rules.price_sum[1, p] * time
        if value > more:
            more, slope = value, rules.price_sum[1, p]
    return energy + power * time + more, power - slope


@jit
def _reaches(rules, tree, energy, power, low_time, low, fall, high_time, high, rise, wanted):
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
        least, growth = _min_energy_at(rules, tree, energy, power, low_time + at)
        if least < wanted:
            return False
        if growth < 0:
            low_time, low, fall = low_time + at, least, growth
        else:
            high_time, high, rise = low_time + at, least, growth
    return False


@jit
def is_fathomed_by_trade_off(plan, rules, chosen, state, tree, idle, energy):
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
            if _can_run_all(plan, rules, chosen, s):
                _fill_lines(plan, rules, state, tree, s, energy)
                if not _leaves_no_room(rules, tree, power, energy):
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
def _leaves_no_room(rules, tree, power, fixed):
    """Return the same for one set, with its idle power and lines.

    The tangent of the least energy, which is convex, is computed again if it is too low.
    """
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
            least, growth = _min_energy_at(rules, tree, fixed, power, longest)
            if least < wanted:
                return False
    least, growth = _min_energy_at(rules, tree, fixed, power, at)
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
        high, rise = _min_energy_at(rules, tree, fixed, power, longest)
        if high < wanted:
            return False
        if rise > 0 and not _reaches(
            rules, tree, fixed, power, at, least, growth, longest, high, rise, wanted
        ):
            return False
        at, least, growth = longest, high, rise
    return True
