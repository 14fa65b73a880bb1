"""The bound of a lemma once more, read off the plain schedule of one of its design points."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import numpy as np

from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.contention import lost_rate
from paretosoc.results.front.certificate import NOT_NAMED
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem

Instance = tuple[int, int, int]
"""(network, repeat, group)"""


def bound_from_schedule(
    problem: Problem, units: list[int], points: list[list[int]], design: DesignPoint
) -> tuple[int, list[int]]:
    """(bound of the makespan, bounds of the networks' latencies).

    Args:
        problem: where the choices are made.
        units: [groups], as a lemma names them.
        points: [domains]: allowed operating points that the lemma names.
        design: any design point with these choices. Up to the stop it does what all do, so its
            schedule says when that is, and what has happened until then.
    """
    rows = {
        (row.network, row.repeat, row.group): row
        for row in plain_timeline.simulate(problem, design).schedule.groups
    }

    delays = np.concatenate((problem.delay_ps, problem.handovers_ps))

    def moving(group: int) -> int:
        # A transition is known to be work if both of its units are named.
        work = 0
        for e, ends in enumerate(problem.edges):
            ours = [units[g] for g in ends]
            if group in ends and NOT_NAMED not in ours:
                mover = ends[1] if problem.units[ours[1]].moves_tensors else ends[0]
                if mover == group and problem.units[units[mover]].moves_tensors:
                    work += int(problem.transition_ps[e][tuple(ours)])
        return work

    def values(group: int, unit: int, table: str) -> set[int]:
        clocks = product(*(points[clock] for clock in problem.units[unit].clocks))
        return {int(getattr(problem.units[unit], table)[(group, *at)]) for at in clocks}

    def smallest(group: int, table: str) -> int:
        named = units[group]
        candidates = [named] if named != NOT_NAMED else range(len(problem.units))
        return min(
            min(values(group, unit, table)) for unit in candidates if problem.allowed[group, unit]
        )

    def waits_for(instance: Instance) -> list[tuple[Instance, int | None]]:
        n, repeat, group = instance
        network = problem.networks[n]
        inputs = [
            ((n, repeat, source), edge)
            for edge, (source, target) in enumerate(problem.edges)
            if target == group
        ]
        if inputs or repeat > 1:
            before = [((n, repeat - 1, g), None) for g in network.groups]
        else:
            before = [
                ((m, problem.networks[m].repeats, g), None)
                for m in network.waits_for
                for g in problem.networks[m].groups
            ]
        if repeat == 1:
            for h, (source, target) in enumerate(problem.handovers, len(problem.edges)):
                m = problem.network_of[source]
                if target == group:
                    handed_over = (m, problem.networks[m].repeats, source), h
                    (inputs or before).append(handed_over)
        return inputs or before

    def certain(unit: int) -> bool:
        memory = () if problem.memory_domain is None else (problem.memory_domain,)
        return all(len(points[d]) == 1 for d in (*problem.units[unit].clocks, *memory))

    def hands_to_open(group: int) -> bool:
        heads = [target for source, target in problem.edges if source == group]
        moves = problem.units[units[group]].moves_tensors
        return moves and any(units[head] == NOT_NAMED for head in heads)

    stops = []
    for instance, row in rows.items():
        if units[row.group] == NOT_NAMED:
            stops.append(max((rows[other].end_ps for other, _ in waits_for(instance)), default=0))
        elif not certain(row.unit) or hands_to_open(row.group):
            stops.append(row.start_ps)
    now = min(stops, default=max(row.end_ps for row in rows.values()))

    instants = sorted({t for row in rows.values() for t in (row.start_ps, row.end_ps)} | {now})
    memory_point = (
        0 if problem.memory_domain is None else int(design.operating_points[problem.memory_domain])
    )

    def demand(group: int, unit: int) -> int:
        clocks = (int(design.operating_points[c]) for c in problem.units[unit].clocks)
        return int(problem.units[unit].demand_kbps[(group, *clocks)])

    def time_left(instance: Instance) -> int:
        """Least time that what runs at ``now`` takes from there."""
        row = rows[instance]
        work = row.alone_ps * WORK_PER_PS
        table = problem.units[row.unit].contention
        for begin, end in pairwise(instants):
            if row.start_ps <= begin and end <= now:
                others = sum(
                    demand(other.group, other.unit)
                    for other in rows.values()
                    if other.start_ps <= begin < other.end_ps and other is not row
                )
                own = demand(row.group, row.unit)
                lost = 0 if table is None else lost_rate(table, memory_point, own, others)
                work -= (WORK_PER_PS - lost) * (end - begin)
        return -(-work // WORK_PER_PS)

    @cache
    def still_to_do(instance: Instance) -> int:
        row = rows[instance]
        if row.end_ps <= now:
            return 0
        if row.start_ps < now:
            return time_left(instance)
        longer = (row.repeat - 1) * smallest(row.group, "steps_ps")
        return smallest(row.group, "time_ps") + longer + moving(row.group)

    @cache
    def least_end(instance: Instance) -> int:
        row = rows[instance]
        if row.end_ps <= now:
            return row.end_ps
        start = now
        if row.start_ps >= now:
            inputs = waits_for(instance)
            if row.repeat == 1 and row.group not in {target for _, target in problem.edges}:
                start = max(start, problem.networks[row.network].arrival_ps)
            for other, edge in inputs:
                ends = units[other[2]], units[row.group]
                known = edge is not None and NOT_NAMED not in ends
                delay = int(delays[(edge, *ends)]) if known else 0
                start = max(start, least_end(other) + delay)
        return start + still_to_do(instance)

    network_ends = [
        max(least_end(instance) for instance in rows if instance[0] == n)
        for n in range(len(problem.networks))
    ]
    everything = sum(still_to_do(instance) for instance in rows)
    bounds = [*network_ends, now - -everything // len(problem.units)]
    for unit in range(len(problem.units)):
        bounds.append(now + sum(still_to_do(i) for i in rows if units[i[2]] == unit))
    return max(bounds), [
        end - network.arrival_ps
        for end, network in zip(network_ends, problem.networks, strict=True)
    ]
