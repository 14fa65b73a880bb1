"""Priced times of what is left of networks, for the bound of the makespan. Compiled.

:mod:`fitness.branch_and_bound.prices` finds the prices. In a chain the transitions count, too, and
how many of them its limit leaves: the groups without a unit come last, and the least priced time of
them is found from the last one back, by the unit of the group before and the transitions left.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import NEVER


@jit
def fill_rests(plan, rules, n, p, tree):
    """Fill the least priced times of a chain from each open group on.

    They are NEVER if no way keeps the limit of transitions.
    """
    layers = 1 + _left_over(rules, n, tree)
    tree.rest_left[n] = layers - 1
    for back in range(rules.size[n]):
        g = rules.first[n] + rules.size[n] - 1 - back
        if tree.units[g] >= 0:
            return
        # With the group on each unit.
        for u in range(plan.units):
            price = rules.unit_price[p, u] + rules.network_price[p, n]
            for k in range(layers):
                priced = NEVER
                if rules.allowed[g * plan.units + u]:
                    after = tree.rest[p, g + 1, u, k] if back > 0 else np.int64(0)
                    if after != NEVER:
                        priced = price * tree.fastest[g * plan.units + u] + after
                tree.priced_from[u, k] = priced
        tree.rest_from[n] = g
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
                tree.rest[p, g, before, k] = least
    tree.open_chain[n, p] = NEVER
    for u in range(plan.units):
        tree.open_chain[n, p] = min(tree.open_chain[n, p], tree.priced_from[u, layers - 1])


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
def knows_rest(rules, n, tree):
    """Return whether ``tree.rest`` is filled for all open groups of a chain."""
    end = rules.first[n] + rules.size[n]
    first = min(tree.rest_from[n], end)
    if first == end or tree.rest_left[n] < _left_over(rules, n, tree):
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
            tree.priced[g, p] = rules.unit_price[p, u] * tree.least[g]
        else:
            tree.priced[g, p] = tree.priced_anywhere[g, p]


@jit
def _priced_step(plan, rules, n, g, p, tree):
    """Return the priced time of an assigned group of a chain, with the delay before it in its
    repeat."""
    u = tree.units[g]
    priced = (rules.unit_price[p, u] + rules.network_price[p, n]) * tree.least[g]
    if g > rules.first[n]:
        edge = rules.in_edge[rules.in_start[g]] + tree.units[g - 1] * plan.units + u
        priced += rules.network_price[p, n] * plan.transition_ps[edge]
    return priced


@jit
def _priced_after(plan, rules, n, g, p, tree):
    """Return the least priced time of a chain after an assigned group, to the end of its repeat, or
    0 if no way keeps the limit of transitions."""
    last = rules.first[n] + rules.size[n] - 1
    if tree.units[last] >= 0:
        return tree.priced[g, p]
    after = np.int64(0)
    while tree.units[g + 1] >= 0:
        g += 1
        after += _priced_step(plan, rules, n, g, p, tree)
    rest = tree.rest[p, g + 1, tree.units[g], _left_over(rules, n, tree)]
    return after if rest == NEVER else after + rest


@jit
def _priced_repeat(plan, rules, n, p, tree):
    """Return the least priced time of a whole repeat of a chain, likewise."""
    first = rules.first[n]
    if tree.units[first] < 0:
        whole = tree.open_chain[n, p]
        return np.int64(0) if whole == NEVER else whole
    after = _priced_after(plan, rules, n, first, p, tree)
    return _priced_step(plan, rules, n, first, p, tree) + after


@jit
def add_chain_left(plan, rules, n, now, tree):
    """Add the priced time of all groups of a chain that have not started to ``priced_left``."""
    g, first, repeats = tree.first_left[n], rules.first[n], tree.repeats_left[n]
    for p in range(rules.price_sum.shape[0]):
        left = np.int64(0)
        if repeats > 0:
            left = repeats * _priced_repeat(plan, rules, n, p, tree)
        if tree.begin_left[n] >= 0:
            left += rules.network_price[p, n] * (tree.begin_left[n] - now)
        if g == first:
            left += _priced_repeat(plan, rules, n, p, tree)
        elif g > first and tree.begin_left[n] >= 0 and tree.units[g] >= 0:
            # It waits: what is left of the delay before it is in its begin.
            price = rules.unit_price[p, tree.units[g]] + rules.network_price[p, n]
            left += price * tree.least[g] + _priced_after(plan, rules, n, g, p, tree)
        elif g > first:
            # The group before it runs, or it has no unit: the whole delay is still to come.
            left += _priced_after(plan, rules, n, g - 1, p, tree)
        tree.priced_left[p] += left
