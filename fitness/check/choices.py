"""The choices of a tree: the choice that a node makes next, and its children in their order.

docs/concepts/certificate.md (The tree is the proof) has the rules. The order of choices only gives
the file its meaning: a tree with another order would prove the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.costs import fill_costs
from paretosoc.fitness.check.work import AT_CLOCK, AT_UNIT
from paretosoc.fitness.simulator.jit import jit

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work

CHOICES = UNIT, FASTER_HALF_FIRST, SLOWER_HALF_FIRST = range(3)


@jit
def open_choice(facts: Facts, work: Work, depth: Int) -> bool:
    """Open the choice of the node at this depth, whose timeline has stopped. Return False if none
    is left."""
    work.option[depth] = 0
    if work.stop[0] == AT_UNIT:
        work.kind[depth] = UNIT
        work.subject[depth] = work.stop[1]
        return True
    domain = np.int64(-1)
    if work.stop[0] == AT_CLOCK:
        work.kind[depth] = FASTER_HALF_FIRST
        u = work.stop[1]
        for c in range(facts.clock_start[u], facts.clock_start[u + 1]):
            if domain < 0 and _is_open(work, facts.clock[c]):
                domain = facts.clock[c]
        if domain < 0:
            domain = np.int64(facts.memory)
    elif facts.needs_power:
        work.kind[depth] = SLOWER_HALF_FIRST
        for d in range(facts.domains):
            if domain < 0 and _is_open(work, d) and _is_on(facts, work, d):
                domain = np.int64(d)
    if domain < 0:
        return False
    work.subject[depth] = domain
    work.saved[depth] = work.points[domain]
    return True


@jit
def _is_open(work: Work, d: Int) -> bool:
    return work.points[d] & (work.points[d] - 1) != 0


@jit
def _is_on(facts: Facts, work: Work, d: Int) -> bool:
    if facts.may_be_off[d] == 0:
        return True
    for u in range(facts.units):
        if work.groups_on[u] > 0:
            for c in range(facts.clock_start[u], facts.clock_start[u + 1]):
                if facts.clock[c] == d:
                    return True
    return False


@jit
def next_child(facts: Facts, work: Work, depth: Int) -> bool:
    """Make the next choice of the node at this depth that no limit forbids. Return False if none is
    left.

    The choice before it is taken back first.
    """
    if work.kind[depth] != UNIT:
        return _next_half(facts, work, depth)
    work.costs_at[depth + 1] = work.costs_at[depth]
    g = work.subject[depth]
    _take_back(facts, work, depth, g)
    while work.option[depth] < facts.units:
        u = work.option[depth]
        work.option[depth] += 1
        if facts.allowed[g, u] and not is_mirror_image(facts, work, u):
            if _place(facts, work, depth, g, u):
                return True
            _take_back(facts, work, depth, g)
    return False


@jit
def is_mirror_image(facts: Facts, work: Work, u: Int) -> bool:
    """Return whether nothing is on the unit, nor on an earlier unit that is interchangeable with
    it."""
    alike = facts.alike[u]
    return (
        alike >= 0
        and work.groups_on[facts.unit_of[u]] == 0
        and work.groups_on[facts.unit_of[alike]] == 0
    )


@jit
def _next_half(facts: Facts, work: Work, depth: Int) -> bool:
    d, half, points = work.subject[depth], work.option[depth], work.saved[depth]
    work.points[d] = points
    if half == 2:
        return False
    work.option[depth] += 1
    count = np.int64(0)
    for k in range(facts.points[d]):
        count += (points >> k) & 1
    lower, seen = np.int64(0), np.int64(0)
    for k in range(facts.points[d]):
        if (points >> k) & 1 and seen < count // 2:
            lower |= np.int64(1) << k
            seen += 1
    slower = (work.kind[depth] == SLOWER_HALF_FIRST) == (half == 0)
    work.points[d] = lower if slower else points & ~lower
    work.costs_at[depth + 1] = work.costs_at[depth] + 1
    fill_costs(facts, work, work.costs_at[depth + 1], d)
    return True


@jit
def put_on(facts: Facts, work: Work, g: Int, u: Int) -> None:
    """Put a group on a unit, without a look at any limit."""
    work.units[g] = u
    work.groups_on[facts.unit_of[u]] += 1


@jit
def _take_back(facts: Facts, work: Work, depth: Int, g: Int) -> None:
    """Take back the unit of a group, and the units of groups that had to follow it."""
    if work.units[g] < 0:
        return
    work.groups_on[facts.unit_of[work.units[g]]] -= 1
    work.units[g] = -1
    n = facts.network_of_group[g]
    for h in range(g + 1, facts.end_group[n]):
        if work.follows[h] == depth + 1:
            work.groups_on[facts.unit_of[work.units[h]]] -= 1
            work.units[h] = -1
            work.follows[h] = 0


@jit
def _place(facts: Facts, work: Work, depth: Int, g: Int, u: Int) -> bool:
    """Put the group, and those that must follow it, on a unit. Return False if a limit breaks."""
    put_on(facts, work, g, u)
    n = facts.network_of_group[g]
    most = facts.max_transitions[n]
    if most >= 0:
        changes = transitions(facts, work, n)
        if changes > most:
            return False
        if changes == most and facts.is_chain[n] and _has_one_format(facts, u):
            for h in range(g + 1, facts.end_group[n]):
                if work.units[h] < 0:
                    if facts.allowed[h, u] == 0:
                        return False
                    put_on(facts, work, h, u)
                    work.follows[h] = depth + 1
    if facts.max_loss_ppm[n] >= 0 and least_loss(facts, work, n) > facts.max_loss_ppm[n]:
        return False
    for f in range(facts.memory_cap_bytes.shape[0]):
        cap = facts.memory_cap_bytes[f]
        if cap >= 0 and least_memory(facts, work, f) > cap:
            return False
    for v in range(facts.units):
        if facts.max_segments[v] >= 0 and segments(facts, work, v) > facts.max_segments[v]:
            return False
    return True


@jit
def _has_one_format(facts: Facts, u: Int) -> bool:
    """Return whether no other entry is the same unit."""
    count = np.int64(0)
    for v in range(facts.units):
        count += facts.unit_of[v] == facts.unit_of[u]
    return count == 1


@jit
def least_loss(facts: Facts, work: Work, n: Int) -> Int:
    """Return the accuracy that the groups of network n cost at least, in ppm."""
    loss = np.int64(0)
    for g in range(facts.first_group[n], facts.end_group[n]):
        where = work.units[g] if work.units[g] >= 0 else facts.units
        loss += facts.loss_ppm[g, where]
    return loss


@jit
def least_memory(facts: Facts, work: Work, f: Int) -> Int:
    """Return the least memory of all networks in bytes: f = 0 of all pools, else of pool f - 1."""
    memory = np.int64(0)
    for g in range(facts.groups):
        where = work.units[g] if work.units[g] >= 0 else facts.units
        memory += facts.weight_bytes[f, g, where]
    for n in range(facts.networks):
        for p in range(max(1, facts.memory_cap_bytes.shape[0] - 1)):
            if f == 0 or p == f - 1:
                most = np.int64(0)
                for g in range(facts.first_group[n], facts.end_group[n]):
                    u = work.units[g]
                    pool = facts.pool[u] if u >= 0 else facts.only_pool[g]
                    if pool == p:
                        most = max(most, facts.activation_bytes[g])
                memory += most
        for u in range(facts.units):
            if facts.loads_whole[u] and (f == 0 or facts.pool[u] == f - 1):
                used = False
                for g in range(facts.first_group[n], facts.end_group[n]):
                    where = work.units[g] if work.units[g] >= 0 else facts.only_unit[g]
                    used |= where == u
                if used:
                    memory += facts.network_bytes[n, u]
    return memory


@jit
def transitions(facts: Facts, work: Work, n: Int) -> Int:
    """Count the edges of network n between two units."""
    changes = np.int64(0)
    for e in range(facts.edge_start[n], facts.edge_start[n + 1]):
        a, b = work.units[facts.edge_source[e]], work.units[facts.edge_target[e]]
        changes += a >= 0 and b >= 0 and facts.unit_of[a] != facts.unit_of[b]
    return changes


@jit
def segments(facts: Facts, work: Work, u: Int) -> Int:
    """Count the segments begun on the unit.

    A group begins one if it is the first of a network, or follows a group elsewhere or in another
    number format. Groups that follow an open one are not counted.
    """
    begun = np.int64(0)
    for g in range(facts.groups):
        if work.units[g] >= 0 and facts.unit_of[work.units[g]] == u:
            begins = g == facts.first_group[facts.network_of_group[g]]
            if not begins:
                begins = work.units[g - 1] >= 0 and work.units[g - 1] != work.units[g]
            begun += begins
    return begun
