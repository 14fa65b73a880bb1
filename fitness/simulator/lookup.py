"""The costs of a design point at its clocks, its idle power, transitions and segments. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.results.problem.arithmetic import BY_SOURCE


@jit
def clock_index(plan, row, u):
    """Return the flat index of the choice that ``row`` makes of the unit's clocks."""
    at = np.int64(0)
    for c in range(plan.clock.shape[1]):
        if plan.clock[u, c] >= 0:
            at += row[plan.groups + plan.clock[u, c]] * plan.clock_stride[u, c]
    return at


@jit
def group_priority(plan, row, g):
    """Return the priority of group ``g``, from ``row`` if it is searched."""
    if plan.searches_priorities:
        return row[plan.groups + plan.domains + plan.priority_of[g]]
    return plan.priority[g]


@jit
def switch_domains(plan, unit_used, domain_on):
    """Fill which domains are on, from the units that have groups, ``unit_used`` [units]."""
    for d in range(plan.domains):
        domain_on[d] = 1 - plan.may_be_off[d]
    for u in range(plan.units):
        for c in range(plan.clock.shape[1]):
            if unit_used[u] and plan.clock[u, c] >= 0:
                domain_on[plan.clock[u, c]] = 1


@jit
def choose(plan, row, chosen):
    """Look up the costs of the choices of ``row``. Return False if a unit cannot run a group.

    A row is [groups + domains], and priorities if they are searched.
    """
    memory_point = np.int64(0)
    if plan.memory_domain >= 0:
        memory_point = row[plan.groups + plan.memory_domain]
    for u in range(plan.units):
        chosen.table_row[u] = plan.table_start[u] + clock_index(plan, row, u) * plan.groups
        chosen.unit_used[u] = 0
        chosen.contention[u] = plan.contention[u, memory_point]
    possible = True
    for g in range(plan.groups):
        u = row[g]
        at = chosen.table_row[u] + g
        chosen.unit_used[u] = 1
        cost = plan.cost[at]
        chosen.group[g].unit = row[g]
        chosen.group[g].alone_ps = cost.time_ps
        chosen.group[g].demand_kbps = cost.demand_kbps
        chosen.group[g].dynamic_mw = cost.dynamic_mw
        possible &= cost.time_ps >= 0
    if plan.moves and possible:
        for e in range(plan.edge.shape[0]):
            source, target = plan.edge[e, 0], plan.edge[e, 1]
            at = row[source] * plan.units + row[target]
            group = source if plan.mover[at] == BY_SOURCE else target
            chosen.group[group].alone_ps += plan.moving_ps[e * plan.units * plan.units + at]
    if plan.searches_priorities:
        for g in range(plan.groups):
            chosen.priority[g] = group_priority(plan, row, g)
    switch_domains(plan, chosen.unit_used, chosen.domain_on)
    return possible


@jit
def alone_time(plan, chosen, state, place):
    """Return the stand-alone time of the group at a place, in its repeat."""
    group = state.place[place].group
    time = chosen.group[group].alone_ps
    if plan.grows:
        row = chosen.table_row[chosen.group[group].unit] + group
        time += plan.instance[state.place[place].instance].repeat * plan.step_ps[row]
    return time


@jit
def idle_power(plan, row, domain_on):
    """Return the idle power in mW of everything that is on."""
    power = np.int64(plan.board_mw)
    for d in range(plan.domains):
        if domain_on[d]:
            power += plan.static_mw[plan.static_start[d] + row[plan.groups + d]]
    for u in range(plan.units):
        if domain_on[plan.clock[u, 0]]:
            power += plan.idle_mw[plan.idle_start[u] + clock_index(plan, row, u)]
    return power


@jit
def count_segments(edges, network, unit_of, is_first, rows, transitions, segments):
    """Count ``transitions`` [n, networks] and ``segments`` [n, units] of ``rows`` [n, groups].

    Rows may have further columns. A transition is an edge between two units. A group begins a
    segment if it is the first of a network or follows one elsewhere or in another number format.

    ``edges`` [edges, 2]: source and target. ``network`` [edges]: the edge's network. ``unit_of``
    [units]: the first entry of the same unit. ``is_first`` [groups]: 1 for the first group of a
    network.
    """
    for r in range(rows.shape[0]):
        transitions[r, :] = 0
        segments[r, :] = 0
        for e in range(edges.shape[0]):
            if unit_of[rows[r, edges[e, 0]]] != unit_of[rows[r, edges[e, 1]]]:
                transitions[r, network[e]] += 1
        for g in range(is_first.shape[0]):
            if is_first[g] == 1 or rows[r, g] != rows[r, g - 1]:
                segments[r, unit_of[rows[r, g]]] += 1
