"""Priced times of what is left of networks, for the bounds of makespan and energy. Compiled.

:mod:`fitness.branch_and_bound.prices` finds the prices. Block 0 of a table has the rows of the
makespan, block 1 those of energy. The rows of a block are the lanes of vectors. Table 0 of what is
left has the rows of the makespan, table 1 + s those of energy if only domains of the set s may be
on.

In a chain the transitions count, too, and how many of them its limit leaves: the groups without a
unit come last, and the least priced time of them is found from the last one back, by the unit of
the group before and the transitions left. It is NEVER, in all lanes, if no way keeps the limit.
"""

import numpy as np

from paretosoc.fitness.branch_and_bound.branching_rules import BLOCKS
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import NEVER
from paretosoc.fitness.simulator.types.vectors import all_lanes, integers, put
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def _block_of(t):
    return min(t, np.int64(1))


@jit
def _may_run(plan, rules, g, u, t):
    """Return whether a group may be on a unit if only domains of the set of table t may be on."""
    s = t - 1 if t > 0 else np.int64(rules.set_count - 1)
    return rules.allowed[g * plan.units + u] and rules.unit_set[u] & ~s == 0


@jit
def fill_open(plan, rules, n, t, tree):
    """Fill the missing entries of table t for the open groups of network n."""
    last = rules.first[n] + rules.size[n] - 1
    if rules.price_rows[_block_of(t)] == 0:
        return
    if not rules.is_chain[n]:
        if tree.rest_from[n, t] > 0:
            _fill_anywhere(plan, rules, n, t, tree)
    elif tree.units[last] < 0 and not _knows_rest(rules, n, t, tree):
        _fill_rests(plan, rules, n, t, tree)


@jit
def _fill_anywhere(plan, rules, n, t, tree):
    """Fill the smallest priced times of the groups of a graph."""
    for g in range(rules.first[n], rules.first[n] + rules.size[n]):
        least, runs = all_lanes(NEVER), False
        for u in range(plan.units):
            if _may_run(plan, rules, g, u, t):
                runs = True
                least = min(least, integers(tree.priced_on, (_block_of(t), g * plan.units + u)))
        put(tree.priced_anywhere, (t, g), least if runs else all_lanes(np.int64(0)))
    tree.rest_from[n, t] = 0


@jit
def _fill_rests(plan, rules, n, t, tree):
    """Fill the least priced times of a chain from each open group on."""
    b, layers = _block_of(t), 1 + _left_over(rules, n, tree)
    tree.rest_left[n, t] = layers - 1
    for back in range(rules.size[n]):
        g = rules.first[n] + rules.size[n] - 1 - back
        if tree.units[g] >= 0:
            return
        # With the group on each unit.
        for u in range(plan.units):
            runs = _may_run(plan, rules, g, u, t)
            own = integers(tree.priced_on, (b, g * plan.units + u))
            for k in range(layers):
                priced = all_lanes(NEVER)
                if runs and back == 0:
                    priced = own
                elif runs and tree.rest[t, g + 1, u, k, 0] != NEVER:
                    priced = own + integers(tree.rest, (t, g + 1, u, k))
                put(tree.priced_from, (u, k), priced)
        tree.rest_from[n, t] = g
        if g == rules.first[n]:
            break
        # After a group on each unit: it stays there, or moves.
        for before in range(plan.units):
            if _may_run(plan, rules, g - 1, before, t):
                _fill_after(plan, rules, n, t, g, before, layers, tree)
    whole = all_lanes(NEVER)
    for u in range(plan.units):
        whole = min(whole, integers(tree.priced_from, (u, layers - 1)))
    put(tree.open_chain, (n, t), whole)


@jit
def _fill_after(plan, rules, n, t, g, before, layers, tree):
    """Fill the least priced times of the rest of a chain from group g on, after a group on the unit
    ``before``, by the transitions left."""
    edge = rules.in_edge[rules.in_start[g]] + before * plan.units
    price = integers(rules.network_price, (_block_of(t), n))
    for k in range(layers):
        least = integers(tree.priced_from, (before, k))
        for u in range(plan.units):
            # Another number format of a unit is no transition.
            moves = rules.layers[n] > 0 and plan.unit_of[u] != plan.unit_of[before]
            left = k - 1 if moves else k
            if u != before and left >= 0 and tree.priced_from[u, left, 0] != NEVER:
                moving = price * plan.transition_ps[edge + u]
                least = min(least, integers(tree.priced_from, (u, left)) + moving)
        put(tree.rest, (t, g, before, k), least)


@jit
def _left_over(rules, n, tree):
    """Return how many transitions are left from the first open group of a chain on, 0 if they do
    not count. The groups before it are those that have units."""
    if rules.layers[n] == 0:
        return np.int64(0)
    return max(np.int64(0), rules.limit[n] - tree.transitions[n])


@jit
def _knows_rest(rules, n, t, tree):
    """Return whether table t of ``tree.rest`` is filled for all open groups of a chain."""
    end = rules.first[n] + rules.size[n]
    first = min(tree.rest_from[n, t], end)
    if first == end or tree.rest_left[n, t] < _left_over(rules, n, tree):
        return False
    return first == rules.first[n] or tree.units[first - 1] >= 0


@jit
def fill_priced(plan, rules, n, g, tree):
    """Fill the priced time of a group of a graph, or of what follows a group of a chain whose
    groups all have units."""
    last = rules.first[n] + rules.size[n] - 1
    for b in range(BLOCKS):
        if rules.price_rows[b] > 0:
            if not rules.is_chain[n]:
                put(tree.priced, (b, g), _priced_alone(plan, rules, n, g, b, tree))
            elif g == last:
                put(tree.priced, (b, g), all_lanes(np.int64(0)))
            else:
                after = integers(tree.priced, (b, g + 1))
                step = _priced_step(plan, rules, n, g + 1, b, tree)
                put(tree.priced, (b, g), step + after)


@jit
def _priced_alone(plan, rules, n, g, b, tree):
    """Return the priced time of an assigned group."""
    u = tree.units[g]
    at = g * plan.units + u
    priced = integers(tree.priced_on, (b, at))
    if tree.least[g] == tree.fastest[at]:
        return priced
    price = integers(rules.unit_price, (b, u)) + integers(rules.network_price, (b, n))
    return priced + price * (tree.least[g] - tree.fastest[at])


@jit
def _priced_step(plan, rules, n, g, b, tree):
    """Return the priced time of an assigned group of a chain, with the delay before it in its
    repeat."""
    u = tree.units[g]
    priced = _priced_alone(plan, rules, n, g, b, tree)
    if g == rules.first[n] or tree.units[g - 1] == u:
        return priced
    edge = rules.in_edge[rules.in_start[g]] + tree.units[g - 1] * plan.units + u
    return priced + integers(rules.network_price, (b, n)) * plan.transition_ps[edge]


@jit
def _priced_after(plan, rules, n, g, t, tree):
    """Return the least priced time of a chain after an assigned group, to the end of its repeat, or
    0 if no way keeps the limit of transitions."""
    b, last = _block_of(t), rules.first[n] + rules.size[n] - 1
    if tree.units[last] >= 0:
        return integers(tree.priced, (b, g))
    after = all_lanes(np.int64(0))
    while tree.units[g + 1] >= 0:
        g += 1
        after = after + _priced_step(plan, rules, n, g, b, tree)
    left = _left_over(rules, n, tree)
    if tree.rest[t, g + 1, tree.units[g], left, 0] != NEVER:
        after = after + integers(tree.rest, (t, g + 1, tree.units[g], left))
    return after


@jit
def _priced_repeat(plan, rules, n, t, tree):
    """Return the least priced time of a whole repeat of a chain, likewise."""
    first = rules.first[n]
    if tree.units[first] >= 0:
        step = _priced_step(plan, rules, n, first, _block_of(t), tree)
        return step + _priced_after(plan, rules, n, first, t, tree)
    if tree.open_chain[n, t, 0] == NEVER:
        return all_lanes(np.int64(0))
    return integers(tree.open_chain, (n, t))


@jit
def _chain_left(plan, rules, n, now, t, tree):
    """Return the priced time of all groups of a chain that have not started."""
    b, g, first = _block_of(t), tree.first_left[n], rules.first[n]
    repeats = tree.repeats_left[n] + np.int64(g == first)
    left = all_lanes(np.int64(0))
    if repeats > 0:
        left = _priced_repeat(plan, rules, n, t, tree) * repeats
    if tree.begin_left[n] >= 0:
        left = left + integers(rules.network_price, (b, n)) * (tree.begin_left[n] - now)
    if g > first and tree.begin_left[n] >= 0 and tree.units[g] >= 0:
        # It waits: what is left of the delay before it is in its begin.
        left = left + _priced_alone(plan, rules, n, g, b, tree)
        left = left + _priced_after(plan, rules, n, g, t, tree)
    elif g > first:
        # The group before it runs, or it has no unit: the whole delay is still to come.
        left = left + _priced_after(plan, rules, n, g - 1, t, tree)
    return left


@jit
def priced_left(plan, rules, state, t, tree):
    """Return the priced times of all that is left, by table t.

    Energies of running groups are not in it.
    """
    now, b, left = state.run.now, _block_of(t), all_lanes(np.int64(0))
    if rules.has_graphs:
        for i in range(plan.instances):
            g = plan.instance[i].group
            if state.log[i].end < 0 and not rules.is_chain[rules.network[g]]:
                if tree.units[g] >= 0:
                    left = left + integers(tree.priced, (b, g))
                else:
                    left = left + integers(tree.priced_anywhere, (t, g))
    for n in range(plan.networks):
        if rules.is_chain[n]:
            left = left + _chain_left(plan, rules, n, now, t, tree)
    for q in range(plan.queues):
        if state.unit[q].free == 0:
            work = state.unit[q].work - state.unit[q].rate * (now - state.unit[q].since)
            g = state.place[state.unit[q].place].group
            u, n = tree.units[g], rules.network[g]
            price = integers(rules.unit_price, (b, u)) + integers(rules.network_price, (b, n))
            left = left + price * -((-work) // WORK_PER_PS)
            if not rules.is_chain[n]:
                left = left - integers(tree.priced, (b, g))
    return left
