"""A problem laid out in flat arrays for the compiled timeline."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from results.problem.problem import Problem

IntArray = NDArray[np.int64]

CONTENTION_FIELDS = (
    "normal_kbps",
    "total_kbps",
    "balance_kbps",
    "peak_kbps",
    "minor_num",
    "minor_den",
    "proportional_num",
    "proportional_den",
    "intensive_num",
    "intensive_den",
)
"""Columns of ``Plan.contention``, in order."""
NORMAL, TOTAL, BALANCE, PEAK = range(4)
MINOR_NUM, MINOR_DEN, PROPORTIONAL_NUM, PROPORTIONAL_DEN, INTENSIVE_NUM, INTENSIVE_DEN = range(
    4, 10
)

# Columns of Plan.instance.
GROUP, JOB, INCOMING, OUT_START, OUT_END = range(5)
# Columns of Plan.outgoing.
TARGET, TARGET_GROUP, EDGE_ROW, TARGET_JOINS = range(4)
# Columns of Plan.job.
SOURCE_START, SOURCE_END, SINKS, WAITS, NETWORK, NEXT, FIRST = range(7)
# Columns of Plan.network.
ARRIVAL, DEPENDENT_START, DEPENDENT_END, FIRST_JOB, JOBS_END, JOIN_START, JOIN_END = range(7)


INSTANCE_WIDTH, OUTGOING_WIDTH, JOB_WIDTH, NETWORK_WIDTH = 8, 4, 8, 8
"""Tables are flat, entry (row, column) at row * width + column."""
CONTENTION_WIDTH = len(CONTENTION_FIELDS)


class Plan(NamedTuple):
    """Everything that stays the same from design point to design point; all int64.

    An *instance* is a group in one repeat of its network, numbered (network, repeat, group); a
    *job* is one repeat of one network. Related figures are columns of one array: with an array for
    each, the compiled timeline spends a third of its time fetching their addresses.
    """

    groups: int
    units: int
    domains: int
    networks: int
    instances: int
    jobs: int
    instance: IntArray
    """[instances, INSTANCE_WIDTH]: its group, its job, edges it waits for, and its rows in
    ``outgoing``."""
    outgoing: IntArray
    """[edges of all instances, OUTGOING_WIDTH]: the instance fed, its group, where the edge begins
    in ``transition_ps``, 1 where the instance has other incoming edges too."""
    join: IntArray
    """Instances with several incoming edges."""
    job: IntArray
    """[jobs, JOB_WIDTH]: rows in ``source``; groups that feed no other; other jobs to wait for (the
    previous repeat, or the networks waited for); its network; the next repeat or -1; 1 for a first
    repeat."""
    source: IntArray
    """Instances without incoming edges, by job."""
    network: IntArray
    """[networks, NETWORK_WIDTH]: arrival in ps, and rows in ``dependent``, ``job`` and ``join``."""
    dependent: IntArray
    """First jobs of the networks that wait for a network, by network."""
    transition_ps: IntArray
    """Flat [edges, units, units]."""
    table_start: IntArray
    """[units]: where a unit's costs begin; inside, [operating points of its clocks, groups]."""
    time_ps: IntArray
    demand_kbps: IntArray
    dynamic_mw: IntArray
    clock: IntArray
    """[units, clocks]: domain, or -1."""
    clock_stride: IntArray
    """[units, clocks]"""
    idle_start: IntArray
    idle_mw: IntArray
    """Per unit [operating points of its clocks]."""
    static_start: IntArray
    static_mw: IntArray
    """Per domain [operating points]."""
    may_be_off: IntArray
    """[domains]"""
    board_mw: int
    memory_domain: int
    """-1 where no domain is the memory's."""
    contention: IntArray
    """[units, operating points of the memory, len(CONTENTION_FIELDS)]; all 0: no contention."""


def make_plan(problem: Problem) -> Plan:
    """Lays the problem out."""
    instance: list[list[int]] = []
    outgoing: list[list[int]] = []
    job: list[list[int]] = []
    units = len(problem.units)
    source: list[int] = []
    network_rows: list[list[int]] = []
    dependent: list[int] = []
    first_job = np.cumsum([0] + [network.repeats for network in problem.networks]).tolist()
    edges_from: dict[int, list[tuple[int, int]]] = {}
    incoming = [0] * problem.group_count
    for index, (tail, head) in enumerate(problem.edges):
        edges_from.setdefault(tail, []).append((head, index))
        incoming[head] += 1
    joins = 0
    for n, network in enumerate(problem.networks):
        own_joins = network.repeats * sum(incoming[group] > 1 for group in network.groups)
        for repeat in range(network.repeats):
            base = len(instance) - network.first_group
            first_source = len(source)
            source += [base + group for group in network.groups if incoming[group] == 0]
            for group in network.groups:
                first_out = len(outgoing)
                outgoing += [
                    [base + head, head, e * units * units, int(incoming[head] > 1)]
                    for head, e in edges_from.get(group, ())
                ]
                instance.append([group, len(job), incoming[group], first_out, len(outgoing)])
            job.append(
                [
                    first_source,
                    len(source),
                    sum(not edges_from.get(group) for group in network.groups),
                    1 if repeat else len(network.waits_for),
                    n,
                    len(job) + 1 if repeat + 1 < network.repeats else -1,
                    int(repeat == 0),
                ]
            )
        first_dependent = len(dependent)
        dependent += [first_job[m] for m, o in enumerate(problem.networks) if n in o.waits_for]
        network_rows.append(
            [
                *(network.arrival_ps, first_dependent, len(dependent)),
                *(first_job[n], first_job[n + 1], joins, joins + own_joins),
            ]
        )
        joins += own_joins

    clocks = max(len(unit.clocks) for unit in problem.units)
    clock = np.full((len(problem.units), clocks), -1, dtype=np.int64)
    stride = np.zeros((len(problem.units), clocks), dtype=np.int64)
    for u, unit in enumerate(problem.units):
        size = 1
        for c in reversed(range(len(unit.clocks))):
            clock[u, c], stride[u, c] = unit.clocks[c], size
            size *= len(problem.domains[unit.clocks[c]].frequencies_khz)
    return Plan(
        groups=problem.group_count,
        units=len(problem.units),
        domains=len(problem.domains),
        networks=len(problem.networks),
        instances=len(instance),
        jobs=len(job),
        instance=_table(instance, INSTANCE_WIDTH),
        outgoing=_table(outgoing, OUTGOING_WIDTH),
        join=np.array([i for i, row in enumerate(instance) if row[INCOMING] > 1], dtype=np.int64),
        job=_table(job, JOB_WIDTH),
        source=np.array(source, dtype=np.int64),
        network=_table(network_rows, NETWORK_WIDTH),
        dependent=np.array(dependent, dtype=np.int64),
        transition_ps=np.array(problem.transition_ps, dtype=np.int64).reshape(-1),
        table_start=_starts([unit.time_ps.size for unit in problem.units]),
        time_ps=np.concatenate([_by_point(unit.time_ps) for unit in problem.units]),
        demand_kbps=np.concatenate([_by_point(unit.demand_kbps) for unit in problem.units]),
        dynamic_mw=np.concatenate([_by_point(unit.dynamic_mw) for unit in problem.units]),
        clock=clock,
        clock_stride=stride,
        idle_start=_starts([unit.idle_mw.size for unit in problem.units]),
        idle_mw=np.concatenate([unit.idle_mw.reshape(-1) for unit in problem.units]),
        static_start=_starts([domain.static_mw.size for domain in problem.domains]),
        static_mw=np.concatenate([domain.static_mw for domain in problem.domains]),
        may_be_off=np.array([domain.may_be_off for domain in problem.domains], dtype=np.int64),
        board_mw=problem.board_mw,
        memory_domain=-1 if problem.memory_domain is None else problem.memory_domain,
        contention=_contention(problem),
    )


def _contention(problem: Problem) -> IntArray:
    points = 1
    if problem.memory_domain is not None:
        points = len(problem.domains[problem.memory_domain].frequencies_khz)
    rows = np.zeros((len(problem.units), points, len(CONTENTION_FIELDS)), dtype=np.int64)
    for u, unit in enumerate(problem.units):
        if unit.contention is not None:
            for column, name in enumerate(CONTENTION_FIELDS):
                rows[u, :, column] = getattr(unit.contention, name)
    return rows


def _by_point(table: IntArray) -> IntArray:
    """[groups, *points] -> flat [points, groups]: the groups of one choice of clocks together."""
    return np.ascontiguousarray(table.reshape(table.shape[0], -1).T).reshape(-1)


def _table(rows: list[list[int]], width: int) -> IntArray:
    table = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table.reshape(-1)


def _starts(sizes: list[int]) -> IntArray:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
