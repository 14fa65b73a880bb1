"""Lower bounds of the makespan while choices are open. Compiled.

Choices: ``units`` [groups], -1 if open, and ``points`` [domains], a mask of operating points. The
choice is simulated until an open one matters. From there on only two things count: the longest path
left and the work left, in the smallest stand-alone times over the choices.
"""

import numpy as np

from paretosoc.common.units import UHZ_PS
from paretosoc.fitness.branch_and_bound.branching_rules import BLOCKS
from paretosoc.fitness.branch_and_bound.priced_times import (
    fill_open,
    fill_priced,
    priced_left,
)
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import (
    NEVER,
)
from paretosoc.fitness.simulator.types.vectors import all_lanes, integers, put
from paretosoc.results.problem.arithmetic import BY_SOURCE, BY_TARGET, WORK_PER_PS

POINT_BITS = 63


@jit
def fill_unit(plan, rules, u, tree):
    """Fill the smallest costs of all groups on unit u, over the points in ``tree.points`` of its
    clocks.

    These are stand-alone times, dynamic energies, the least growth of both from repeat to repeat,
    their weighted sums by every row of prices, and the unit's smallest idle power.
    Entries of groups that may not be on the unit are NEVER.
    """
    for g in range(plan.groups):
        tree.fastest[g * plan.units + u] = NEVER
        tree.min_energy[g * plan.units + u] = NEVER
        if plan.grows:
            tree.step[g * plan.units + u] = NEVER
            tree.energy_step[g * plan.units + u] = NEVER
        for b in range(BLOCKS):
            put(tree.priced_on, (b, g * plan.units + u), all_lanes(NEVER))
    tree.min_idle[u] = NEVER
    clocks = plan.clock.shape[1]
    for c in range(clocks):
        tree.digit[c] = 0
        if plan.clock[u, c] >= 0:
            tree.digit[c] = _next_point(tree.points[plan.clock[u, c]], np.int64(0))
    while True:
        index = np.int64(0)
        for c in range(clocks):
            index += tree.digit[c] * plan.clock_stride[u, c]
        tree.min_idle[u] = min(tree.min_idle[u], plan.idle_mw[plan.idle_start[u] + index])
        row = plan.table_start[u] + index * plan.groups
        for g in range(plan.groups):
            at = g * plan.units + u
            if rules.allowed[at]:
                time = plan.cost[row + g].time_ps
                energy = time * plan.cost[row + g].dynamic_mw
                tree.fastest[at] = min(tree.fastest[at], time)
                tree.min_energy[at] = min(tree.min_energy[at], energy)
                if plan.grows:
                    step = plan.step_ps[row + g]
                    tree.step[at] = min(tree.step[at], step)
                    step *= plan.cost[row + g].dynamic_mw
                    tree.energy_step[at] = min(tree.energy_step[at], step)
                if rules.price_rows[1] > 0:
                    priced = _price_on(rules, 1, g, u) * time + energy
                    put(tree.priced_on, (1, at), min(integers(tree.priced_on, (1, at)), priced))
        c = clocks - 1
        while c >= 0:
            if plan.clock[u, c] >= 0:
                mask = tree.points[plan.clock[u, c]]
                tree.digit[c] = _next_point(mask, tree.digit[c] + 1)
                if tree.digit[c] < POINT_BITS:
                    break
                tree.digit[c] = _next_point(mask, np.int64(0))
            c -= 1
        if c < 0:
            break
    for g in range(plan.groups):
        at = g * plan.units + u
        if rules.allowed[at]:
            put(tree.priced_on, (0, at), _price_on(rules, 0, g, u) * tree.fastest[at])


@jit
def _price_on(rules, b, g, u):
    """Return the prices of the time of a group on a unit, by the rows of a block."""
    network = integers(rules.network_price, (b, rules.network[g]))
    return integers(rules.unit_price, (b, u)) + network


@jit
def _next_point(mask, k):
    """Return the lowest operating point of a mask from k on, or POINT_BITS if there is none."""
    while k < POINT_BITS and ((mask >> k) & 1) == 0:
        k += 1
    return k


@jit
def fill_anywhere(plan, rules, tree):
    """Fill the minima over the units of the costs that :func:`fill_unit` has found."""
    for g in range(plan.groups):
        time, energy = NEVER, NEVER
        for u in range(plan.units):
            time = min(time, tree.fastest[g * plan.units + u])
            energy = min(energy, tree.min_energy[g * plan.units + u])
        tree.fastest_anywhere[g] = time
        tree.min_energy_anywhere[g] = energy
        if plan.grows:
            time, energy = NEVER, NEVER
            for u in range(plan.units):
                time = min(time, tree.step[g * plan.units + u])
                energy = min(energy, tree.energy_step[g * plan.units + u])
            tree.step_anywhere[g] = time
            tree.energy_step_anywhere[g] = energy
    for n in range(plan.networks):
        for r in range(tree.rest_from.shape[1]):
            tree.rest_from[n, r] = plan.groups


@jit
def choose_points(plan, points, chosen):
    """Look up the rows of the units' cost tables at the chosen operating points.

    ``unit_used`` becomes 0 for a unit if its clocks, or the memory's, are open.
    """
    memory_open = False
    memory_point = np.int64(0)
    if plan.memory_domain >= 0:
        mask = points[plan.memory_domain]
        memory_open = (mask & (mask - 1)) != 0
        while ((mask >> memory_point) & 1) == 0:
            memory_point += 1
    for u in range(plan.units):
        at = np.int64(0)
        open_clock = memory_open
        for c in range(plan.clock.shape[1]):
            d = plan.clock[u, c]
            if d >= 0:
                mask = points[d]
                open_clock |= (mask & (mask - 1)) != 0
                point = np.int64(0)
                while ((mask >> point) & 1) == 0:
                    point += 1
                at += point * plan.clock_stride[u, c]
        chosen.unit_used[u] = not open_clock
        chosen.table_row[u] = plan.table_start[u] + at * plan.groups
        chosen.contention[u] = plan.contention[u, memory_point]


@jit
def choose_units(plan, rules, units, n, chosen):
    """Look up the costs of the assigned groups of network n, after :func:`choose_points`.

    The stand-alone time of a group is -1 if clocks are open, or if transitions are its unit's work
    and the unit of a group that it feeds is open.
    """
    chosen.first_open[n] = -1
    for g in range(rules.first[n], rules.first[n] + rules.size[n]):
        u = units[g]
        if u < 0 and chosen.first_open[n] < 0:
            chosen.first_open[n] = g
        chosen.group[g].unit = u
        chosen.group[g].alone_ps = -1
        chosen.group[g].dynamic_mw = 0
        chosen.group[g].open_head = plan.groups
        if u >= 0 and chosen.unit_used[u]:
            at = chosen.table_row[u] + g
            chosen.group[g].alone_ps = plan.cost[at].time_ps
            if plan.moves:
                chosen.group[g].alone_ps += _moving(plan, rules, units, g)
                chosen.group[g].open_head = _open_head(plan, rules, units, g)
                if chosen.group[g].open_head < plan.groups:
                    chosen.group[g].alone_ps = -1
            chosen.group[g].demand_kbps = plan.cost[at].demand_kbps
            chosen.group[g].dynamic_mw = plan.cost[at].dynamic_mw


@jit
def _moving(plan, rules, units, g):
    """Return how much longer group g takes for the transitions that are its unit's work, as far as
    the units of its neighbours are assigned."""
    time = np.int64(0)
    for i in range(rules.in_start[g], rules.in_start[g + 1]):
        source = units[rules.in_group[i]]
        if source >= 0 and plan.mover[source * plan.units + units[g]] == BY_TARGET:
            time += plan.moving_ps[rules.in_edge[i] + source * plan.units + units[g]]
    for i in range(rules.out_start[g], rules.out_start[g + 1]):
        target = units[rules.out_group[i]]
        if target >= 0 and plan.mover[units[g] * plan.units + target] == BY_SOURCE:
            time += plan.moving_ps[rules.out_edge[i] + units[g] * plan.units + target]
    return time


@jit
def _open_head(plan, rules, units, g):
    """Return the first open group that group g feeds, if its unit does transitions to others, else
    the number of groups."""
    first = np.int64(plan.groups)
    if plan.mover[units[g] * plan.units + units[g]] == BY_TARGET:
        for i in range(rules.out_start[g], rules.out_start[g + 1]):
            if units[rules.out_group[i]] < 0:
                first = min(first, rules.out_group[i])
    return first


@jit
def fill_paths(plan, rules, n, tree):
    """Fill the smallest times and longest paths of network n.

    Times and the longest paths from a group on are per group, the path through the network is per
    network. All are those of a first repeat, and have beside them their least growth from repeat to
    repeat.
    """
    longest, growth = np.int64(0), np.int64(0)
    first = rules.first[n]
    last = first + rules.size[n] - 1
    fill_open(plan, rules, n, np.int64(0), tree)
    for back in range(rules.size[n]):
        g = last - back
        u = tree.units[g]
        time = tree.fastest[g * plan.units + u] if u >= 0 else tree.fastest_anywhere[g]
        if plan.moves and u >= 0:
            time += _moving(plan, rules, tree.units, g)
        after, next_group = np.int64(0), np.int64(-1)
        for i in range(rules.out_start[g], rules.out_start[g + 1]):
            h = rules.out_group[i]
            way = tree.tail[h]
            if u >= 0 and tree.units[h] >= 0:
                way += plan.transition_ps[rules.out_edge[i] + u * plan.units + tree.units[h]]
            if way >= after:
                after, next_group = way, np.int64(h)
        tree.least[g] = time
        tree.tail[g] = time + after
        if u >= 0 and (not rules.is_chain[n] or tree.units[last] >= 0):
            fill_priced(plan, rules, n, g, tree)
        if plan.grows:
            step = tree.step[g * plan.units + u] if u >= 0 else tree.step_anywhere[g]
            tree.least_step[g] = step
            tree.tail_step[g] = step + (tree.tail_step[next_group] if next_group >= 0 else 0)
        if tree.tail[g] >= longest:
            longest, growth = tree.tail[g], tree.tail_step[g]
    tree.path[n] = longest
    tree.path_step[n] = growth


@jit
def makespan_bound(plan, rules, state, tree):
    """Return a lower bound of the makespan of all design points with these choices.

    It starts from the present state, after :func:`fill_paths`, and leaves the bounds of the
    networks' ends in ``tree.end``, and what has not started of chains in ``tree.first_left``,
    ``tree.repeats_left`` and ``tree.begin_left``. Returns NEVER if a deadline or the period must be
    missed.
    """
    now, end = state.run.now, tree.end
    for n in range(plan.networks):
        end[n] = -1
        tree.first_left[n] = -1
        tree.repeats_left[n] = 0
        tree.begin_left[n] = now
    # Running groups: their work left, rounded up, then the path behind them.
    for u in range(plan.queues):
        if state.unit[u].free == 0:
            place = state.unit[u].place
            left = _work_left(state, u, now)
            begin = now + left - _least_of(plan, state, tree, place)
            _raise_end(plan, rules, state, tree, place, begin)
            _begin_left(plan, rules, state, tree, place, np.int64(-1), np.int64(1))
    # Assigned groups that wait: no earlier than their ready time.
    for heap in range(plan.queues):
        for i in range(state.unit[heap].queued):
            place = state.heap[heap, i].place
            ready = max(now, state.heap[heap, i].ready)
            _raise_end(plan, rules, state, tree, place, ready)
            _begin_left(plan, rules, state, tree, place, ready, np.int64(0))
    # Unassigned groups whose inputs are there: no earlier than now.
    for i in range(state.run.open_count):
        place = state.open[i]
        g = state.place[place].group
        arrival = plan.network[rules.network[g]].arrival_ps
        begin = max(now, arrival)
        _raise_end(plan, rules, state, tree, place, begin)
        _begin_left(plan, rules, state, tree, place, begin, np.int64(0))
    # Networks in the order of their dependencies: one that has not started waits for the ends of
    # others, whose bounds are known by then.
    bound = now
    for i in range(plan.networks):
        n = rules.order[i]
        arrival = plan.network[n].arrival_ps
        if end[n] < 0:
            if _has_ended(plan, rules, state, n):
                end[n] = state.latency[0, n] + arrival
            else:
                begin = max(now, arrival)
                for w in range(rules.wait_start[n], rules.wait_start[n + 1]):
                    begin = max(begin, end[rules.wait_network[w]])
                end[n] = begin + _repeats_from(plan, rules, tree, n, np.int64(0))
                tree.repeats_left[n] = rules.repeats[n]
                tree.begin_left[n] = begin
        if rules.deadline[n] >= 0 and end[n] - arrival > rules.deadline[n]:
            return NEVER
        bound = max(bound, end[n])
    if rules.period_ps >= 0 and bound > rules.period_ps:
        return NEVER
    return max(bound, _work_bound(plan, rules, state, tree))


@jit
def _work_left(state, u, now):
    """Return the stand-alone time left of the group that runs on u, in ps, rounded up."""
    work = state.unit[u].work - state.unit[u].rate * (now - state.unit[u].since)
    return -((-work) // WORK_PER_PS)


@jit
def _least_of(plan, state, tree, place):
    """Return the smallest stand-alone time of the group at a place, in its repeat."""
    g = state.place[place].group
    least = tree.least[g]
    if plan.grows:
        least += plan.instance[state.place[place].instance].repeat * tree.least_step[g]
    return least


@jit
def _repeats_from(plan, rules, tree, n, first):
    """Return the least time of the repeats of network n from ``first`` on."""
    count = rules.repeats[n] - first
    time = count * tree.path[n]
    if plan.grows:
        # The sum of first, ..., first + count - 1.
        time += (count * first + count * (count - 1) // 2) * tree.path_step[n]
    return time


@jit
def _raise_end(plan, rules, state, tree, place, begin):
    """Raise the bound of a network's end by the path left after one of its groups begins at
    ``begin``."""
    g = state.place[place].group
    n = rules.network[g]
    repeat = plan.instance[state.place[place].instance].repeat
    job_end = begin + tree.tail[g]
    if plan.grows:
        job_end += repeat * tree.tail_step[g]
    tree.end[n] = max(tree.end[n], job_end + _repeats_from(plan, rules, tree, n, repeat + 1))


@jit
def _begin_left(plan, rules, state, tree, place, begin, running):
    """Record what a chain has left: a group and all after it, or all after it if it is running.

    ``begin`` is the least start of a group that is not running, else -1.
    """
    n = rules.network[state.place[place].group]
    tree.begin_left[n] = begin
    g = np.int64(state.place[place].group) + running
    repeat = plan.instance[state.place[place].instance].repeat
    tree.first_left[n] = g if g < rules.first[n] + rules.size[n] else -1
    tree.repeats_left[n] = rules.repeats[n] - 1 - repeat


@jit
def _has_ended(plan, rules, state, n):
    for i in range(rules.repeats[n] * rules.size[n]):
        if state.log[rules.first_instance[n] + i].end < 0:
            return False
    return True


@jit
def _work_bound(plan, rules, state, tree):
    """Return the bound from the work left: spread evenly over all units, priced (without the growth
    of later repeats), or on one unit."""
    now, load = state.run.now, tree.load
    total = np.int64(0)
    for u in range(plan.units):
        load[u] = 0
    for i in range(plan.instances):
        if state.log[i].end < 0:
            g = plan.instance[i].group
            least = tree.least[g]
            if plan.grows:
                least += plan.instance[i].repeat * tree.least_step[g]
            total += least
            if tree.units[g] >= 0:
                load[plan.unit_of[tree.units[g]]] += least
    most = np.int64(0)
    for q in range(plan.queues):
        if state.unit[q].free == 0:
            # A running group counts with its remaining work only.
            left = _work_left(state, q, now)
            done = _least_of(plan, state, tree, state.unit[q].place) - left
            load[plan.queue_unit[q]] -= done
            total -= done
    for u in range(plan.units):
        most = max(most, load[u])
    if rules.price_rows[0] > 0:
        put(tree.line, 0, priced_left(plan, rules, state, np.int64(0), tree))
        for p in range(rules.price_rows[0]):
            most = max(most, -((-tree.line[p]) // rules.price_sum[0, p]))
    return now + max(most, -((-total) // plan.unit_count))


@jit
def token_time_bound(plan, rules, state, tree, n):
    """Return the least time per repeat of network n, rounded up, after :func:`makespan_bound`.

    The time runs from the ends of all networks that it waits for, or its arrival, to its own end.
    If one of these ends is open, only the repeats' own times count.
    """
    begin, has_begun = np.int64(plan.network[n].arrival_ps), True
    for w in range(rules.wait_start[n], rules.wait_start[n + 1]):
        other = rules.wait_network[w]
        has_begun &= _has_ended(plan, rules, state, other)
        begin = max(begin, tree.end[other])
    time = tree.end[n] - begin
    if not has_begun:
        time = _repeats_from(plan, rules, tree, n, np.int64(0))
    return -((-time) // rules.repeats[n])


@jit
def rate_sum_bound(plan, end):
    """Return -sum of floor(10^18 ps / LB_n) in uHz (Eq. 10, minimised), a lower bound.

    LB_n comes from ``end``, the bounds of the networks' ends that :func:`makespan_bound` fills.
    """
    total = np.int64(0)
    for n in range(plan.networks):
        latency = end[n] - plan.network[n].arrival_ps
        total += UHZ_PS // max(latency, np.int64(1))
    return -total
