"""A problem laid out in flat arrays for the compiled timeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.types.tables import RecordArray, Tables, record, records
from paretosoc.results.problem.arithmetic import SHARING_WHOLE, WORK_PER_PS
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.parts import NO_LIMIT_KBPS

if TYPE_CHECKING:
    # Only for annotations: compiled code does not depend on the problem's classes.
    from paretosoc.results.problem.problem import Problem

INSTANCE = record("group", "job", "incoming", "out_start", "out_end", "repeat", "is_last")
"""A group in one repeat of its network: its group, its job; what it waits for: edges, hand-overs
and, if there are no edges, the begin of the job (counted if there are hand-overs, or engines may
join its network in their middle); its rows in ``Plan.outgoing``;
the repeat, from 0; 1 if no edge leads on inside its repeat."""
INPUT = record("source", "group", "edge_row")
"""The instance that an edge or hand-over comes from, its group, where it begins in
``Plan.transition_ps``."""
OUTGOING = record("target", "group", "edge_row", "joins")
"""The instance fed, its group, where the edge begins in ``Plan.transition_ps``, 1 if the
instance has other incoming edges too."""
JOB = record(
    *("source_start", "source_end", "sinks", "waits", "network", "next", "is_first"),
    *("release_ps", "counts_from_ps", "responds"),
)
"""One repeat of a network: rows in ``Plan.source``; groups that feed no other; other jobs to wait
for (the previous repeat, or the networks waited for); its network; the next repeat or -1; 1 for a
first repeat; from the frame's release, when it may begin, and from when its latency counts; 1 if
its end is a response of a network with a rate."""
NETWORK = record(
    *("arrival_ps", "dependent_start", "dependent_end", "first_job", "jobs_end"),
    *("join_start", "join_end", "late_ps", "joins_engines"),
)
"""Arrival, rows in ``Plan.dependent``, ``job`` and ``join``; with rates, beyond which
response it is late; 1 if engines may read or be read in their middle."""
COST = record("time_ps", "demand_kbps", "dynamic_mw")
"""A group on a unit at a choice of its clocks. The time is below 0 if the unit cannot run it."""
CONTENTION = record(
    *("normal_kbps", "total_kbps", "balance_kbps", "peak_kbps", "minor_num", "minor_den"),
    *("proportional_num", "proportional_den", "intensive_num", "intensive_den"),
    "memory_kbps",
)
"""The fields of :class:`results.problem.problem.ContentionTable`; if there is none, a
memory without limit and otherwise 0."""


@dataclass(frozen=True, eq=False)
class Plan(Tables):
    """Everything that stays the same from design point to design point.

    An *instance* is a group in one repeat of its network, numbered (network, repeat, group). A
    *job* is one repeat of one network.
    """

    groups: int
    units: int
    domains: int
    networks: int
    instances: int
    jobs: int
    instance: RecordArray
    """[instances] of ``INSTANCE``"""
    outgoing: RecordArray
    """[edges of all instances] of ``OUTGOING``"""
    input: RecordArray
    """[edges of all instances] of ``INPUT``"""
    input_start: IntArray
    """[instances + 1]: rows of an instance in ``input``."""
    join: IntArray
    """Instances that wait for more than one thing."""
    job: RecordArray
    """[jobs] of ``JOB``"""
    source: IntArray
    """Instances without incoming edges, by job."""
    network: RecordArray
    """[networks] of ``NETWORK``"""
    dependent: IntArray
    """First jobs of the networks that wait for a network, by network."""
    period_ps: int
    """Time from release to release of a frame of networks with rates, 0 without rates."""
    has_priorities: int
    """1 if groups differ in priority, or may do so."""
    searches_priorities: int
    """1 if rows end with priorities."""
    priority: IntArray
    """[groups]: the priority, if rows have none."""
    priority_of: IntArray
    """[groups]: which of a row's priorities is that of the group."""
    transition_ps: IntArray
    """Flat [edges, then hand-overs; units, units]: delays, 0 for transitions that are work."""
    moves: int
    """1 if transitions of some unit are its work."""
    mover: IntArray
    """Flat [units, units]: ``BY_SOURCE``, ``BY_TARGET`` or ``BY_NOBODY``."""
    moving_ps: IntArray
    """Flat [edges, units, units]: work of transitions, 0 for those that are delays."""
    edge: IntArray
    """[edges, 2]: source and target group."""
    unit_of: IntArray
    """[units]: the entry at which groups queue, the first of the same unit, or its own index if
    number formats are not chosen."""
    unit_count: int
    """Units, whatever their number formats."""
    queues: int
    queue_of: IntArray
    """Flat [networks, units]: queue in which the groups of a network wait for an entry. A queue has
    the number of its unit's first entry. Further ones of shared units follow."""
    queue_unit: IntArray
    """[queues]: the first entry of its unit."""
    runs_engines: IntArray
    """[units]"""
    has_engines: bool
    """Whether a unit runs engines. It is part of the type, as tests at every event cost a tenth of
    the speed."""
    share: IntArray
    """Flat [units, networks + 1]: share of each of so many engines that run at once, in
    WORK_PER_PS, or 0 if the unit is not shared."""
    has_shared: int
    """1 if a unit is shared."""
    table_start: IntArray
    """[units]: begin of a unit's costs, which are [operating points of its clocks, groups]."""
    cost: RecordArray
    """[rows] of ``COST``"""
    grows: int
    """1 if repeats take longer and longer."""
    step_ps: IntArray
    """[rows]: time that each further repeat adds."""
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
    """-1 if no domain is the memory's."""
    contention: RecordArray
    """[units, operating points of the memory] of ``CONTENTION``"""


def make_plan(problem: Problem) -> Plan:
    """Lay the problem out."""
    return _laid_out(Structure(problem)).with_values(**_costs(problem))


class Structure:
    """All of a problem that its plan has besides costs. Problems that differ in costs, as those
    that are drawn from errors do, share the very objects."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        shared: tuple[object, ...] = (
            *(problem.networks, problem.edges, problem.handovers, problem.execution),
            *(problem.transition_ps, problem.handover_ps),
            *(unit.contention for unit in problem.units),
        )
        self._key = (
            *map(id, shared),
            *(problem.searched_order, problem.memory_domain),
            *((len(domain.frequencies_khz), domain.may_be_off) for domain in problem.domains),
            *((unit.unit, *unit.clocks) for unit in problem.units),
            *((unit.dispatch, unit.moves_tensors) for unit in problem.units),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


# The problem in the cache keeps the objects alive that others are compared with.
@lru_cache(maxsize=2)
def _laid_out(structure: Structure) -> Plan:
    """Return the plan of the first problem with this structure."""
    problem = structure.problem
    graph = _unroll(problem)
    job: list[list[int]] = []
    source: list[int] = []
    network_rows: list[list[int]] = []
    dependent: list[int] = []
    first_job = np.cumsum([0] + [network.repeats for network in problem.networks]).tolist()
    fed = {target for _, target in problem.edges}
    feeding = {tail for tail, _ in problem.edges}
    joins = 0
    for n, network in enumerate(problem.networks):
        for repeat in range(network.repeats):
            base = graph.first[n] + repeat * len(network.groups) - network.first_group
            first_source = len(source)
            source += [base + group for group in network.groups if group not in fed]
            job.append(
                [
                    first_source,
                    len(source),
                    sum(group not in feeding for group in network.groups),
                    1 if repeat else len(network.waits_for),
                    n,
                    len(job) + 1 if repeat + 1 < network.repeats else -1,
                    int(repeat == 0),
                    problem.ready_ps(n, repeat) if network.paced or not repeat else 0,
                    problem.release_ps(n, repeat),
                    int(problem.has_rates and (network.paced or repeat + 1 == network.repeats)),
                ]
            )
        own = graph.instance[graph.first[n] : graph.first[n + 1]]
        own_joins = sum(problem.joins_engines[n] or row[2] > 1 for row in own)
        first_dependent = len(dependent)
        dependent += [first_job[m] for m, o in enumerate(problem.networks) if n in o.waits_for]
        network_rows.append(
            [
                *(network.arrival_ps, first_dependent, len(dependent)),
                *(first_job[n], first_job[n + 1], joins, joins + own_joins),
                problem.late_ps(n) if problem.has_rates else 0,
                int(problem.joins_engines[n]),
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
        instances=len(graph.instance),
        jobs=len(job),
        instance=_table(graph.instance, INSTANCE),
        outgoing=_table(graph.outgoing, OUTGOING),
        input=_table(graph.input, INPUT),
        input_start=np.array(graph.input_start, dtype=np.int64),
        join=np.array(
            [
                i
                for i, (_, of_job, incoming, *_) in enumerate(graph.instance)
                if incoming > 1 or problem.joins_engines[job[of_job][4]]
            ],
            dtype=np.int64,
        ),
        job=_table(job, JOB),
        source=np.array(source, dtype=np.int64),
        network=_table(network_rows, NETWORK),
        dependent=np.array(dependent, dtype=np.int64),
        period_ps=(problem.execution.period_ps or 0) if problem.has_rates else 0,
        has_priorities=int(problem.has_priorities),
        searches_priorities=int(problem.searched_order is not None),
        priority=np.array(
            [problem.networks[n].priority for n in problem.network_of], dtype=np.int64
        ),
        priority_of=np.array(problem.priority_of, dtype=np.int64),
        transition_ps=np.concatenate((problem.delay_ps, problem.handovers_ps))
        .astype(np.int64)
        .reshape(-1),
        moves=int(any(unit.moves_tensors for unit in problem.units)),
        mover=problem.mover.reshape(-1),
        moving_ps=(problem.transition_ps - problem.delay_ps).reshape(-1),
        edge=np.array(problem.edges, dtype=np.int64).reshape(-1, 2),
        unit_of=np.array(problem.unit_of, dtype=np.int64),
        unit_count=len(set(problem.unit_of)),
        queues=len(problem.queue_units),
        queue_of=np.array(problem.queue_of, dtype=np.int64).reshape(-1),
        queue_unit=np.array(problem.queue_units, dtype=np.int64),
        runs_engines=np.array(problem.runs_engines, dtype=np.int64),
        has_engines=bool(any(problem.runs_engines)),
        has_shared=int(any(unit.dispatch == SHARED for unit in problem.units)),
        clock=clock,
        clock_stride=stride,
        may_be_off=np.array([domain.may_be_off for domain in problem.domains], dtype=np.int64),
        memory_domain=-1 if problem.memory_domain is None else problem.memory_domain,
        contention=_contention(problem),
        **_costs(problem),
    )


def _costs(problem: Problem) -> dict[str, Any]:
    """Return the fields of a plan that costs make."""
    units, domains = problem.units, problem.domains
    cost = records(COST, sum(unit.time_ps.size for unit in units))
    for name in COST.names or ():
        cost[name] = np.concatenate([by_point(getattr(unit, name)) for unit in units])
    return {
        "share": _shares(problem),
        "table_start": _starts([unit.time_ps.size for unit in units]),
        "cost": cost,
        "grows": int(any(unit.step_ps is not None for unit in units)),
        "step_ps": np.concatenate([by_point(unit.steps_ps) for unit in units]),
        "idle_start": _starts([unit.idle_mw.size for unit in units]),
        "idle_mw": np.concatenate([unit.idle_mw.reshape(-1) for unit in units]),
        "static_start": _starts([domain.static_mw.size for domain in domains]),
        "static_mw": np.concatenate([domain.static_mw for domain in domains]),
        "board_mw": problem.board_mw,
    }


def _shares(problem: Problem) -> IntArray:
    shares = np.zeros((len(problem.units), len(problem.networks) + 1), dtype=np.int64)
    for u, unit in enumerate(problem.units):
        if unit.dispatch == SHARED:
            count = np.arange(1, shares.shape[1])
            costs = SHARING_WHOLE + np.where(count > 1, unit.sharing_permille, 0)
            shares[u, 1:] = WORK_PER_PS * SHARING_WHOLE // (count * costs)
    return shares.reshape(-1)


@dataclass(frozen=True)
class _Unrolled:
    """Rows of the tables of instances."""

    first: list[int]
    """[networks + 1]: first instance."""
    instance: list[list[int]]
    outgoing: list[list[int]]
    input: list[list[int]]
    input_start: list[int]


def _unroll(problem: Problem) -> _Unrolled:
    """Return every group in every repeat, with its inputs and its successors."""
    networks, units = problem.networks, len(problem.units)
    sizes = [network.repeats * len(network.groups) for network in networks]
    first: list[int] = np.cumsum([0, *sizes]).tolist()
    network_of = problem.network_of
    inputs: list[list[list[int]]] = [[] for _ in range(first[-1])]
    feeds: list[list[list[int]]] = [[] for _ in inputs]

    def at(group: int, repeat: int) -> int:
        network = networks[network_of[group]]
        place = repeat * len(network.groups) + group - network.first_group
        return first[network_of[group]] + place

    def lead(tail: int, tail_repeat: int, head: int, head_repeat: int, edge: int) -> None:
        source, target, row = at(tail, tail_repeat), at(head, head_repeat), edge * units * units
        inputs[target].append([source, tail, row])
        feeds[source].append([target, head, row])

    for edge, (tail, head) in enumerate(problem.edges):
        for repeat in range(networks[network_of[tail]].repeats):
            lead(tail, repeat, head, repeat, edge)
    for handover, (tail, head) in enumerate(problem.handovers):
        last = networks[network_of[tail]].repeats - 1
        lead(tail, last, head, 0, len(problem.edges) + handover)
    # Groups with hand-overs but no edges wait for the begin of their job, too.
    fed, feeding = ({edge[end] for edge in problem.edges} for end in (1, 0))
    order = [
        (group, repeat, job)
        for job, (network, repeat) in enumerate((n, r) for n in networks for r in range(n.repeats))
        for group in network.groups
    ]
    joins = [problem.joins_engines[network_of[group]] for group, _, _ in order]
    incoming = [
        len(inputs[i]) + ((bool(inputs[i]) or joins[i]) and group not in fed)
        for i, (group, _, _) in enumerate(order)
    ]
    in_start, out_start = (
        np.cumsum([0] + [len(row) for row in rows]).tolist() for rows in (inputs, feeds)
    )
    return _Unrolled(
        first=first,
        instance=[
            [
                *(group, job, incoming[i], out_start[i], out_start[i + 1]),
                *(repeat, int(group not in feeding)),
            ]
            for i, (group, repeat, job) in enumerate(order)
        ],
        outgoing=[
            [*entry, int(joins[entry[0]] or incoming[entry[0]] > 1)]
            for row in feeds
            for entry in row
        ],
        input=[entry for row in inputs for entry in row],
        input_start=in_start,
    )


def _contention(problem: Problem) -> RecordArray:
    points = 1
    if problem.memory_domain is not None:
        points = len(problem.domains[problem.memory_domain].frequencies_khz)
    rows = records(CONTENTION, len(problem.units), points)
    rows["memory_kbps"] = NO_LIMIT_KBPS
    for u, unit in enumerate(problem.units):
        if unit.contention is not None:
            for name in CONTENTION.names or ():
                rows[name][u] = unit.contention.columns[name]
    return rows


def by_point(table: IntArray) -> IntArray:
    """Return [groups, *points] as flat [points, groups]: one choice of clocks after the other."""
    return np.ascontiguousarray(table.reshape(table.shape[0], -1).T).reshape(-1)


def _table(rows: list[list[int]], dtype: np.dtype[np.void]) -> RecordArray:
    return np.array([tuple(row) for row in rows], dtype=dtype).view(np.recarray)


def _starts(sizes: list[int]) -> IntArray:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
