"""The options of a level of the search: the next one is made, the last one undone."""

import numpy as np

from paretosoc.fitness.branch_and_bound.search_tree import FASTER_FIRST, UNIT_CHOICE
from paretosoc.fitness.simulator.jit import jit


@jit
def assign(plan, rules, tree, g, u):
    """Put group g on unit u; return False if a rule forbids it. The caller undoes it either way."""
    tree.units[g] = u
    n = rules.network[g]
    tree.loss[n] += rules.loss[g * plan.units + u] - rules.least_loss[g]
    _hold(plan, rules, tree, g)
    _count_assigned(plan, rules, tree, g, np.int64(1))
    if rules.limit[n] >= 0 and tree.transitions[n] > rules.limit[n]:
        return False
    if rules.loss_limit[n] >= 0 and tree.loss[n] > rules.loss_limit[n]:
        return False
    for f in range(rules.memory_cap_bytes.shape[0]):
        if rules.memory_cap_bytes[f] >= 0 and tree.memory[f] > rules.memory_cap_bytes[f]:
            return False
    for v in range(plan.units):
        if rules.segments[v] >= 0 and tree.segments[v] > rules.segments[v]:
            return False
    return True


@jit
def _count_assigned(plan, rules, tree, g, step):
    """Add ``step`` to the counters that the unit of an assigned group changes."""
    unit = plan.unit_of[tree.units[g]]
    tree.named_on[unit] += step
    n = rules.network[g]
    tree.network_known[n] = 0
    for i in range(rules.in_start[g], rules.in_start[g + 1]):
        other = tree.units[rules.in_group[i]]
        if other >= 0 and plan.unit_of[other] != unit:
            tree.transitions[n] += step
    for i in range(rules.out_start[g], rules.out_start[g + 1]):
        other = tree.units[rules.out_group[i]]
        if other >= 0 and plan.unit_of[other] != unit:
            tree.transitions[n] += step
    begins = g == rules.first[n]
    if not begins:
        before = tree.units[g - 1]
        begins = before >= 0 and before != tree.units[g]
    if begins:
        tree.segments[unit] += step
    if g + 1 < rules.first[n] + rules.size[n]:
        after = tree.units[g + 1]
        if after >= 0 and after != tree.units[g]:
            tree.segments[plan.unit_of[after]] += step


@jit
def _unassign(plan, rules, tree, g):
    _count_assigned(plan, rules, tree, g, np.int64(-1))
    lost = rules.loss[g * plan.units + tree.units[g]] - rules.least_loss[g]
    tree.loss[rules.network[g]] -= lost
    _release(plan, rules, tree, g)
    tree.units[g] = -1


@jit
def _hold(plan, rules, tree, g):
    """Add the memory of a newly assigned group: weights, and its network's rise of activations."""
    n, at = rules.network[g], g * plan.units + tree.units[g]
    for f in range(tree.memory.shape[0]):
        tree.memory[f] += rules.more_bytes[f, at]
    for p in range(rules.place_figure.shape[0]):
        more = max(np.int64(0), rules.held_bytes[p, at] - tree.held[n, p])
        tree.raised[g, p] = more
        _raise(rules, tree, n, p, more)


@jit
def _release(plan, rules, tree, g):
    """Undo :func:`_hold`. The groups assigned last may be released in any order."""
    n, at = rules.network[g], g * plan.units + tree.units[g]
    for f in range(tree.memory.shape[0]):
        tree.memory[f] -= rules.more_bytes[f, at]
    for p in range(rules.place_figure.shape[0]):
        _raise(rules, tree, n, p, -tree.raised[g, p])


@jit
def _raise(rules, tree, n, p, more):
    """Add ``more`` bytes to the activations that network n holds at place p."""
    tree.held[n, p] += more
    tree.memory[0] += more
    if rules.place_figure[p] >= 0:
        tree.memory[rules.place_figure[p]] += more


@jit
def next_option(plan, rules, tree, level):
    """Make the next choice of a level that the rules allow. Return False if none is left."""
    if tree.kind[level] != UNIT_CHOICE:
        d = tree.subject[level]
        half = tree.option[level]
        tree.option[level] += 1
        if half > 1:
            return False
        # The faster half: bits above the middle of the set.
        mask, count = tree.saved[level], np.int64(0)
        for k in range(rules.ladder[d]):
            count += (mask >> k) & 1
        upper, seen = np.int64(0), np.int64(0)
        for k in range(rules.ladder[d]):
            if (mask >> k) & 1:
                seen += 1
                if 2 * seen > count:
                    upper |= np.int64(1) << k
        upper_now = (half == 0) == (tree.kind[level] == FASTER_FIRST)
        tree.points[d] = upper if upper_now else mask ^ upper
        tree.clock_known[d] = 0
        return True
    g = tree.subject[level]
    while tree.option[level] < plan.units:
        u = tree.option[level]
        tree.option[level] += 1
        if rules.allowed[g * plan.units + u] == 0:
            continue
        # Of interchangeable units with nothing on them, only the first is tried.
        alike = rules.alike[u]
        if (
            alike >= 0
            and tree.named_on[plan.unit_of[u]] == 0
            and tree.named_on[plan.unit_of[alike]] == 0
        ):
            continue
        fits = assign(plan, rules, tree, g, u)
        n = rules.network[g]
        if fits and rules.stays[u] and _is_settled(rules, tree, n):
            # No transition is left, so the rest of the chain stays here.
            for h in range(g + 1, rules.first[n] + rules.size[n]):
                if tree.units[h] < 0 and fits:
                    fits = rules.allowed[h * plan.units + u] == 1
                    if fits:
                        fits = assign(plan, rules, tree, h, u)
                        tree.forced[h] = level + 1
        if fits:
            return True
        undo_option(plan, rules, tree, level)
    return False


@jit
def _is_settled(rules, tree, n):
    """Return whether a chain has no transition left."""
    return rules.is_chain[n] and tree.transitions[n] == rules.limit[n]


@jit
def undo_option(plan, rules, tree, level):
    """Undo the choice of a level."""
    if tree.kind[level] != UNIT_CHOICE:
        tree.points[tree.subject[level]] = tree.saved[level]
        tree.clock_known[tree.subject[level]] = 0
        return
    g = tree.subject[level]
    n = rules.network[g]
    last = rules.first[n] + rules.size[n] - 1
    for h in range(last, g, -1):
        if tree.forced[h] == level + 1:
            _unassign(plan, rules, tree, h)
            tree.forced[h] = 0
    _unassign(plan, rules, tree, g)
