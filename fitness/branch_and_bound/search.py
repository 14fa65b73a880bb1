"""Branch and bound over units and operating points, with one objective or several; compiled.

A node is a partial choice. It is simulated until an open choice matters. If a member is at least as
good as its bounds it is closed. Otherwise the open choice is branched on: a group goes on each unit
that it may have, or the operating points of a domain are split in two halves. A complete choice
that no member closes becomes a member. The log has a node after the other, of the kinds of
:mod:`results.front.proof_tree`.
"""

import numpy as np

from paretosoc.fitness.branch_and_bound.archive import (
    fathoming_makespan,
    insert_member,
    is_fathomed,
)
from paretosoc.fitness.branch_and_bound.bounds import (
    choose_points,
    choose_units,
    fill_anywhere,
    fill_paths,
    fill_unit,
    makespan_bound,
    rate_sum_bound,
    token_time_bound,
)
from paretosoc.fitness.branch_and_bound.branching_rules import (
    ENERGY,
    LOSS,
    MAKESPAN,
    MEMORY,
    NETWORK_LATENCY,
    POWER,
    TOKEN_ENERGY,
    TOKEN_TIME,
)
from paretosoc.fitness.branch_and_bound.limits import (
    breaks_power_limits,
    fill_static,
    min_dynamic_energy,
    min_idle_power,
)
from paretosoc.fitness.branch_and_bound.options import assign, next_option, undo_option
from paretosoc.fitness.branch_and_bound.search_tree import (
    DONE,
    FASTER_FIRST,
    LOG_FULL,
    MEMBERS_FULL,
    NODE_LIMIT,
    SLOWER_FIRST,
    UNIT_CHOICE,
)
from paretosoc.fitness.branch_and_bound.snapshots import (
    assigned_since,
    load_snapshot,
    resume,
    save_snapshot,
)
from paretosoc.fitness.branch_and_bound.trade_off import is_fathomed_by_trade_off
from paretosoc.fitness.simulator.general import advance, begin
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import (
    NEVER,
)
from paretosoc.results.front.proof_tree import (
    MEMBERS,
    PART,
    POWER_LIMIT,
    SPLIT,
    TIME_LIMIT,
    TRADE_OFF,
)


@jit
def _update_costs(plan, rules, chosen, tree):
    """Update the costs and paths that changed choices affect since the last node."""
    changed = False
    for d in range(plan.domains):
        if tree.clock_known[d] == 0:
            changed = True
            fill_static(plan, rules, d, tree)
    if changed:
        for u in range(plan.units):
            known = True
            for c in range(plan.clock.shape[1]):
                known &= plan.clock[u, c] < 0 or tree.clock_known[plan.clock[u, c]] == 1
            if not known:
                fill_unit(plan, rules, u, tree)
        fill_anywhere(plan, rules, tree)
        choose_points(plan, tree.points, chosen)
        for n in range(plan.networks):
            tree.network_known[n] = 0
        for d in range(plan.domains):
            tree.clock_known[d] = 1
    for n in range(plan.networks):
        if tree.network_known[n] == 0:
            choose_units(plan, rules, tree.units, n, chosen)
            fill_paths(plan, rules, n, tree)
            tree.network_known[n] = 1


@jit
def _resume_simulation(plan, rules, chosen, state, tree):
    """Resume from the snapshot at which the last choice was open, until another one matters."""
    level = tree.progress.depth - 1
    if level < 0:
        begin(plan, chosen, state)
    else:
        load_snapshot(plan, state, tree.snapshot[level])
        if tree.kind[level] == UNIT_CHOICE:
            g = tree.subject[level]
            assigned_since(plan, rules, chosen, state, g)
            n = rules.network[g]
            for h in range(g + 1, rules.first[n] + rules.size[n]):
                if tree.forced[h] == level + 1:
                    assigned_since(plan, rules, chosen, state, h)
        resume(plan, rules, chosen, state)
    while state.run.frames_left > 0:
        if not advance(plan, chosen, state):
            break


@jit
def _objective_bounds(plan, rules, state, tree, makespan, idle, energy):
    """Fill ``tree.vector`` from the makespan's bound, the ends, idle power and dynamic energy.
    Return the makespan's column, or -1."""
    column = -1
    time = rules.period_ps if rules.period_ps >= 0 else makespan
    for j in range(tree.vector.shape[0]):
        kind, n = rules.objective[j], rules.objective_network[j]
        if kind == MAKESPAN:
            tree.vector[j] = makespan
            column = j
        elif kind == NETWORK_LATENCY:
            tree.vector[j] = tree.end[n] - plan.network[n].arrival_ps
        elif kind == TOKEN_TIME:
            tree.vector[j] = token_time_bound(plan, rules, state, tree, n)
        elif kind == TOKEN_ENERGY:
            tree.vector[j] = (idle * time + energy) // rules.repeats[n]
        elif kind == ENERGY:
            tree.vector[j] = idle * time + energy
        elif kind == POWER:
            whole = idle * time + energy
            tree.vector[j] = (whole // time) * 1000 + (whole % time) * 1000 // time
        elif kind == LOSS:
            tree.vector[j] = np.int64(0)
            for m in range(plan.networks):
                if n < 0 or n == m:
                    tree.vector[j] += tree.loss[m]
        elif kind == MEMORY:
            tree.vector[j] = tree.memory[0]
        else:
            tree.vector[j] = rate_sum_bound(plan, tree.end)
    return column


@jit
def _bound_here(plan, rules, chosen, state, tree):
    """Simulate the present choice until another matters, and bound the subtree. Return the reason
    that closes it, or ``SPLIT``."""
    _update_costs(plan, rules, chosen, tree)
    _resume_simulation(plan, rules, chosen, state, tree)
    makespan = makespan_bound(plan, rules, state, tree)
    if makespan == NEVER:
        return TIME_LIMIT
    idle, energy = np.int64(0), np.int64(0)
    if rules.needs_power:
        idle = min_idle_power(plan, tree, chosen)
        energy = min_dynamic_energy(plan, tree, chosen, state)
    column = _objective_bounds(plan, rules, state, tree, makespan, idle, energy)
    if rules.power_cap_mw >= 0 or rules.energy_budget_fj >= 0:
        complete = state.run.frames_left == 0
        closing = NEVER
        if rules.power_cap_mw >= 0 and rules.period_ps < 0:
            closing = fathoming_makespan(tree, tree.vector, column)
        if breaks_power_limits(rules, idle, energy, makespan, complete, closing):
            return POWER_LIMIT
    if is_fathomed(tree, tree.closing, tree.vector):
        return MEMBERS
    if rules.trade_time < 0 or state.run.frames_left == 0:
        return SPLIT
    if is_fathomed_by_trade_off(plan, rules, chosen, state, tree, idle, energy):
        return TRADE_OFF
    return SPLIT


@jit
def _open_power_domain(plan, rules, tree, chosen):
    """Return a domain that is on with open points after the timeline is complete, -1 if none is or
    power does not count."""
    if rules.needs_power:
        for d in range(plan.domains):
            if chosen.domain_on[d] and (tree.points[d] & (tree.points[d] - 1)) != 0:
                return np.int64(d)
    return np.int64(-1)


@jit
def _open_level(plan, chosen, state, tree, power_domain):
    """Open a level for the choice that stopped the simulation, or for the domain given."""
    level = tree.progress.depth
    if power_domain >= 0:
        tree.kind[level] = SLOWER_FIRST
        tree.subject[level] = power_domain
        tree.saved[level] = tree.points[power_domain]
    elif state.run.open_count > 0:
        first = state.open[0]
        for i in range(1, state.run.open_count):
            first = min(first, state.open[i])
        g = np.int64(state.place[first].group)
        if chosen.group[g].unit >= 0:
            g = chosen.first_open[plan.job[plan.instance[first].job].network]
        tree.kind[level] = UNIT_CHOICE
        tree.subject[level] = g
    elif chosen.unit_used[state.run.open_unit]:
        # Its clocks are chosen: what is open is the unit that it hands its result to.
        tree.kind[level] = UNIT_CHOICE
        tree.subject[level] = state.run.open_head
    else:
        u = state.run.open_unit
        d = np.int64(plan.memory_domain)
        for c in range(plan.clock.shape[1]):
            clock = plan.clock[u, plan.clock.shape[1] - 1 - c]
            if clock >= 0 and (tree.points[clock] & (tree.points[clock] - 1)) != 0:
                d = clock
        tree.kind[level] = FASTER_FIRST
        tree.subject[level] = d
        tree.saved[level] = tree.points[d]
    tree.option[level] = 0
    for j in range(tree.vector.shape[0]):
        tree.bound[level, j] = tree.vector[j]
    save_snapshot(plan, state, tree.snapshot[level])
    tree.progress.depth = level + 1


@jit
def _log(tree, kind):
    tree.log[tree.progress.logged] = kind
    tree.progress.logged += 1


@jit
def _hand_over(plan, tree):
    """Hand the present choice to another worker, with the largest bounds of those above it."""
    at = tree.progress.parts
    for g in range(plan.groups):
        tree.part_units[at, g] = tree.units[g]
    for d in range(plan.domains):
        tree.part_points[at, d] = tree.points[d]
    for j in range(tree.vector.shape[0]):
        highest = tree.root_bound[j]
        for level in range(tree.progress.depth):
            highest = max(highest, tree.bound[level, j])
        tree.part_bound[at, j] = highest
    tree.progress.parts = at + 1
    _log(tree, PART)
    tree.progress.backtracking = 1


@jit
def begin_subtree(plan, rules, tree, units, points):
    """Make a choice, ``units`` [groups] and ``points`` [domains], the root of a new search."""
    for n in range(plan.networks):
        tree.transitions[n] = 0
        tree.network_known[n] = 0
        tree.loss[n] = 0
    for u in range(plan.units):
        tree.segments[u] = 0
        tree.named_on[u] = 0
    for f in range(tree.memory.shape[0]):
        tree.memory[f] = rules.least_bytes[f]
    for n in range(plan.networks):
        for p in range(rules.place_figure.shape[0]):
            tree.held[n, p] = rules.least_held_bytes[n, p]
    for g in range(plan.groups):
        tree.units[g] = -1
        tree.forced[g] = 0
        tree.loss[rules.network[g]] += rules.least_loss[g]
    for g in range(plan.groups):
        if units[g] >= 0:
            assign(plan, rules, tree, g, units[g])
    for d in range(plan.domains):
        tree.points[d] = points[d]
        tree.clock_known[d] = 0
    tree.progress.depth = 0
    tree.progress.nodes = 0
    tree.progress.logged = 0
    tree.progress.parts = 0
    tree.progress.backtracking = 0
    tree.progress.ending = 0


@jit
def search_nodes(plan, rules, chosen, state, tree, nodes):
    """Search at most ``nodes`` more nodes. Return why it ended: DONE, NODE_LIMIT, LOG_FULL or
    MEMBERS_FULL.

    A node that a member closes stays closed when a better member takes its place.
    """
    limit = tree.progress.nodes + nodes
    while True:
        # Backtrack: undo the deepest choice and take its next option, or go up a level.
        if tree.progress.backtracking:
            level = tree.progress.depth - 1
            if level < 0:
                return DONE
            undo_option(plan, rules, tree, level)
            if next_option(plan, rules, tree, level):
                tree.progress.backtracking = 0
            else:
                tree.progress.depth = level
                # All options are closed: backtrack to the level above.
                tree.kind[level] = -1
                if level == 0:
                    return DONE
            continue
        # The caller empties and grows buffers, so that nothing is allocated here.
        if tree.progress.logged == tree.log.shape[0]:
            return LOG_FULL
        if tree.progress.ending:
            if tree.progress.parts == tree.part_units.shape[0]:
                return LOG_FULL
            _hand_over(plan, tree)
            continue
        if tree.progress.members == tree.objectives.shape[0]:
            return MEMBERS_FULL
        if tree.progress.nodes >= limit:
            return NODE_LIMIT
        # Bound the present choice.
        tree.progress.nodes += 1
        kind = _bound_here(plan, rules, chosen, state, tree)
        # Simulated to the end: either operating points are open that only the power depends on, or
        # the choice is complete and becomes a member.
        power_domain = np.int64(-1)
        if kind == SPLIT and state.run.frames_left == 0:
            power_domain = _open_power_domain(plan, rules, tree, chosen)
            if power_domain < 0:
                # Not closed, also within the tolerance: better than all members in some objective.
                insert_member(tree, tree.vector, rules.tolerance_ppm)
                kind = MEMBERS
        _log(tree, kind)
        if kind != SPLIT:
            tree.progress.backtracking = 1
            continue
        # Branch on the choice that stopped the simulation.
        _open_level(plan, chosen, state, tree, power_domain)
        level = tree.progress.depth - 1
        if not next_option(plan, rules, tree, level):
            tree.progress.depth = level
            tree.progress.backtracking = 1
