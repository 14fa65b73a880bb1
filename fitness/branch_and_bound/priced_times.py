"""Priced times of what is left of networks, for the bound of the makespan. Compiled.

:mod:`fitness.branch_and_bound.prices` finds the prices. In a chain the transitions count, too, and
how many of them its limit leaves: the groups without a unit come last, and the least priced time of
them is found from the last one back, by the unit of the group before and the transitions left.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import NEVER
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def table_of(rules, p, s):
    """Return the table of a row of prices if only domains of the set s may be on."""
    if p < rules.time_rows:
        return p
    return p + s * (rules.price_sum.shape[0] - rules.time_rows)


@jit
def fill_rests(plan, rules, n, p, s, tree):
    """Fill the least priced times of a chain from each open group on, if only domains of the set s
    may be on.

    They are NEVER if no way keeps the limit of transitions.
    """
    r = table_of(rules, p, s)
    layers = 1 + _left_over(rules, n, tree)
    tree.rest_left[n, r] = layers - 1
    for back in range(rules.size[n]):
        g = rules.first[n] + rules.size[n] - 1 - back
        if tree.units[g] >= 0:
            return
        # With the group on each unit.
        for u in range(plan.units):
            on = rules.allowed[g * plan.units + u] and rules.unit_set[u] & ~s == 0
            for k in range(layers):
                priced = NEVER
                if on:
                    after = tree.rest[r, g + 1, u, k] if back > 0 else np.int64(0)
                    if after != NEVER:
                        priced = tree.priced_on[p, g * plan.units + u] + after
                tree.priced_from[u, k] = priced
        tree.rest_from[n, r] = g
        if g == rules.first[n]:
            break
        # After a group on each unit: it stays there, or moves if that can be cheaper.
        edge = rules.in_edge[rules.in_start[g]]
        for k in range(layers):
            cheapest = NEVER
            left = k - 1 if rules.layers[n] > 0 else k
            for u in range(plan.units):
                # Another number format of a unit is no transition.
                formats = rules.layers[n] > 0 and not rules.stays[u]
                if left >= 0 or formats:
                    cheapest = min(cheapest, tree.priced_from[u, k if formats else left])
            for before in range(plan.units):
                least = tree.priced_from[before, k]
                if least > cheapest:
                    least = _after_moving(plan, rules, n, p, edge, before, k, least, tree)
                tree.rest[r, g, before, k] = least
    tree.open_chain[n, r] = NEVER
    for u in range(plan.units):
        tree.open_chain[n, r] = min(tree.open_chain[n, r], tree.priced_from[u, layers - 1])


@jit
def fill_anywhere_of(plan, rules, n, p, s, tree):
    """Fill the smallest priced times of the groups of a graph, likewise."""
    r = table_of(rules, p, s)
    for g in range(rules.first[n], rules.first[n] + rules.size[n]):
        least = NEVER
        for u in range(plan.units):
            at = g * plan.units + u
            if rules.allowed[at] and rules.unit_set[u] & ~s == 0:
                least = min(least, tree.priced_on[p, at])
        tree.priced_anywhere[g, r] = 0 if least == NEVER else least
    tree.rest_from[n, r] = 0


@jit
def _after_moving(plan, rules, n, p, edge, before, k, least, tree):
    """Return the least priced time of the rest of a chain after a group on the unit ``before``, at
    most ``least``, with k transitions left."""
    for u in range(plan.units):
        moves = rules.layers[n] > 0 and plan.unit_of[u] != plan.unit_of[before]
        left = k - 1 if moves else k
        if left >= 0 and tree.priced_from[u, left] < least:
            delay = plan.transition_ps[edge + before * plan.units + u]
            priced = tree.priced_from[u, left] + rules.network_price[p, n] * delay
            least = min(least, priced)
    return least


@jit
def _left_over(rules, n, tree):
    """Return how many transitions are left from the first open group of a chain on, 0 if they do
    not count. The groups before it are those that have units."""
    if rules.layers[n] == 0:
        return np.int64(0)
    return max(np.int64(0), rules.limit[n] - tree.transitions[n])


@jit
def knows_rest(rules, n, r, tree):
    """Return whether table r of ``tree.rest`` is filled for all open groups of a chain."""
    end = rules.first[n] + rules.size[n]
    first = min(tree.rest_from[n, r], end)
    if first == end or tree.rest_left[n, r] < _left_over(rules, n, tree):
        return False
    return first == rules.first[n] or tree.units[first - 1] >= 0


@jit
def fill_priced(plan, rules, n, g, tree):
    """Fill the priced time of a group of a graph, or of what follows a group of a chain whose
    groups all have units."""
    u, last = tree.units[g], rules.first[n] + rules.size[n] - 1
    for p in range(rules.price_sum.shape[0]):
        if rules.is_chain[n]:
            after = np.int64(0)
            if g < last:
                after = _priced_step(plan, rules, n, g + 1, p, tree) + tree.priced[g + 1, p]
            tree.priced[g, p] = after
        elif u >= 0:
            tree.priced[g, p] = _priced_alone(plan, rules, n, g, p, tree)


@jit
def _priced_alone(plan, rules, n, g, p, tree):
    """Return the priced time of an assigned group."""
    u = tree.units[g]
    at = g * plan.units + u
    price = rules.unit_price[p, u] + rules.network_price[p, n]
    return tree.priced_on[p, at] + price * (tree.least[g] - tree.fastest[at])


@jit
def _priced_step(plan, rules, n, g, p, tree):
    """Return the priced time of an assigned group of a chain, with the delay before it in its
    repeat."""
    u = tree.units[g]
    priced = _priced_alone(plan, rules, n, g, p, tree)
    if g > rules.first[n]:
        edge = rules.in_edge[rules.in_start[g]] + tree.units[g - 1] * plan.units + u
        priced += rules.network_price[p, n] * plan.transition_ps[edge]
    return priced


@jit
def _priced_after(plan, rules, n, g, p, r, tree):
    """Return the least priced time of a chain after an assigned group, to the end of its repeat, or
    0 if no way keeps the limit of transitions."""
    last = rules.first[n] + rules.size[n] - 1
    if tree.units[last] >= 0:
        return tree.priced[g, p]
    after = np.int64(0)
    while tree.units[g + 1] >= 0:
        g += 1
        after += _priced_step(plan, rules, n, g, p, tree)
    rest = tree.rest[r, g + 1, tree.units[g], _left_over(rules, n, tree)]
    return after if rest == NEVER else after + rest


@jit
def _priced_repeat(plan, rules, n, p, r, tree):
    """Return the least priced time of a whole repeat of a chain, likewise."""
    first = rules.first[n]
    if tree.units[first] < 0:
        whole = tree.open_chain[n, r]
        return np.int64(0) if whole == NEVER else whole
    after = _priced_after(plan, rules, n, first, p, r, tree)
    return _priced_step(plan, rules, n, first, p, tree) + after


@jit
def _add_chain_left(plan, rules, n, now, begin, end, s, tree):
    """Add the priced time of all groups of a chain that have not started to ``priced_left``."""
    g, first, repeats = tree.first_left[n], rules.first[n], tree.repeats_left[n]
    for p in range(begin, end):
        r = table_of(rules, p, s)
        left = np.int64(0)
        if repeats > 0:
            left = repeats * _priced_repeat(plan, rules, n, p, r, tree)
        if tree.begin_left[n] >= 0:
            left += rules.network_price[p, n] * (tree.begin_left[n] - now)
        if g == first:
            left += _priced_repeat(plan, rules, n, p, r, tree)
        elif g > first and tree.begin_left[n] >= 0 and tree.units[g] >= 0:
            # It waits: what is left of the delay before it is in its begin.
            left += _priced_alone(plan, rules, n, g, p, tree)
            left += _priced_after(plan, rules, n, g, p, r, tree)
        elif g > first:
            # The group before it runs, or it has no unit: the whole delay is still to come.
            left += _priced_after(plan, rules, n, g - 1, p, r, tree)
        tree.priced_left[p] += left


@jit
def fill_priced_left(plan, rules, state, begin, end, s, tree):
    """Fill ``priced_left`` for rows of prices from ``begin`` to ``end``, if only domains of the set
    s may be on.

    Energies of running groups are not in it.
    """
    now = state.run.now
    for p in range(begin, end):
        tree.priced_left[p] = 0
    if rules.has_graphs:
        for i in range(plan.instances):
            g = plan.instance[i].group
            if state.log[i].end < 0 and not rules.is_chain[rules.network[g]]:
                for p in range(begin, end):
                    if tree.units[g] >= 0:
                        tree.priced_left[p] += tree.priced[g, p]
                    else:
                        tree.priced_left[p] += tree.priced_anywhere[g, table_of(rules, p, s)]
    for n in range(plan.networks):
        if rules.is_chain[n]:
            _add_chain_left(plan, rules, n, now, begin, end, s, tree)
    for q in range(plan.queues):
        if state.unit[q].free == 0:
            work = state.unit[q].work - state.unit[q].rate * (now - state.unit[q].since)
            left = -((-work) // WORK_PER_PS)
            g = state.place[state.unit[q].place].group
            u, n = tree.units[g], rules.network[g]
            for p in range(begin, end):
                price = rules.unit_price[p, u] + rules.network_price[p, n]
                tree.priced_left[p] += price * left
                if not rules.is_chain[n]:
                    tree.priced_left[p] -= tree.priced[g, p]
