"""The compiled analysis of guarantees, and the order that each unit keeps laid out for it.

Queues and shares of units are those of :class:`fitness.simulator.layout.Plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Annotated

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.simulator.layout import Plan, make_plan
from paretosoc.fitness.simulator.state import WAITING_GROUP, make_chosen, make_state
from paretosoc.fitness.simulator.threads import RowSimulator, share_rows
from paretosoc.fitness.simulator.types.tables import RecordArray, Tables, record, records, zeros_for
from paretosoc.results.problem.problem import Problem

LATE, EARLY = SIDES = (0, 1)
"""Indices of the two timelines."""
QUEUE = record("start", "count")
"""Begin of a queue in ``Tracks.queued``, and its length."""
TRACK = record("next", "running", "left", "rate", "ready")
"""A queue in one timeline: the position that starts next, the instance that runs or -1, its work
left, its rate, and when the next may start, -1 if something that it waits for has not ended."""


@dataclass(frozen=True, eq=False)
class OrderRules(Tables):
    """Everything that is the same for all design points."""

    least_permille: int
    most_permille: int
    input_start: IntArray
    """[instances + 1]: rows of an instance in the next two."""
    source: IntArray
    """Instances whose ends it waits for."""
    edge_row: IntArray
    """Begin of the edge in ``Plan.transition_ps``, or -1 if none is passed."""
    release_ps: IntArray
    """[instances]: when it may start at the earliest."""
    late_by_ps: IntArray
    """[instances]: how much later that may be."""
    due_ps: IntArray
    """[instances]: from when the latency of its job counts."""
    network: IntArray
    """[instances]"""
    rank: IntArray
    """[instances]: each after all that it waits for."""


@dataclass(frozen=True, eq=False)
class Tracks(Tables):
    """The two timelines, and the order that both keep."""

    heap: RecordArray
    """[instances] of ``WAITING_GROUP``: sorts them."""
    sorted: Annotated[IntArray, "instances"]
    """In the order of their starts in the schedule."""
    queue: RecordArray
    """[queues] of ``QUEUE``"""
    queued: Annotated[IntArray, "instances"]
    """By queue, in order."""
    queue_at: Annotated[IntArray, "instances"]
    """Its queue."""
    position: Annotated[IntArray, "instances"]
    """In its queue."""
    head: Annotated[IntArray, "instances"]
    """The first of its engine, itself if its unit takes groups."""
    tail: Annotated[IntArray, "instances"]
    """Likewise the last."""
    behind: Annotated[IntArray, "instances, queues"]
    """How many of a queue must have ended before it starts."""
    ahead: Annotated[IntArray, "instances, queues"]
    """From which position on all wait for its end."""
    end: Annotated[IntArray, "sides, instances"]
    """Or -1."""
    track: RecordArray
    """[sides, queues] of ``TRACK``"""


def make_order_rules(
    problem: Problem, plan: Plan, tolerance_permille: tuple[int, int]
) -> OrderRules:
    """Return the inputs and releases of all instances, as arrays."""
    inputs = _inputs(problem, plan)
    job = plan.instance.job
    first = np.zeros(plan.instances, dtype=np.int64)
    first[plan.source] = 1
    return OrderRules(
        least_permille=tolerance_permille[0],
        most_permille=tolerance_permille[1],
        input_start=np.cumsum([0, *(len(row) for row in inputs)]),
        source=_int64(source for row in inputs for source, _ in row),
        edge_row=_int64(edge for row in inputs for _, edge in row),
        release_ps=plan.job.release_ps[job] * first,
        late_by_ps=_int64(n.jitter_ps for n in problem.networks)[plan.job.network[job]] * first,
        due_ps=plan.job.counts_from_ps[job].copy(),
        network=plan.job.network[job].copy(),
        rank=_ranks([[source for source, _ in row] for row in inputs]),
    )


def make_tracks(plan: Plan) -> Tracks:
    """Return buffers for one design point after the other."""
    return zeros_for(
        Tracks,
        {"instances": plan.instances, "queues": plan.queues, "sides": len(SIDES)},
        heap=records(WAITING_GROUP, plan.instances),
        queue=records(QUEUE, plan.queues),
        track=records(TRACK, len(SIDES), plan.queues),
    )


def _inputs(problem: Problem, plan: Plan) -> list[list[tuple[int, int]]]:
    """Return (instance, edge row or -1) of each instance's inputs. Of a repeat that must end, the
    groups that feed no other."""
    inputs: list[list[tuple[int, int]]] = [
        [
            (int(entry.source), int(entry.edge_row))
            for entry in plan.input[plan.input_start[i] : plan.input_start[i + 1]]
        ]
        for i in range(plan.instances)
    ]
    sinks: list[list[int]] = [[] for _ in range(plan.jobs)]
    for i in range(plan.instances):
        if plan.instance.is_last[i]:
            sinks[int(plan.instance.job[i])].append(i)
    first_job = plan.network.first_job.tolist()
    for n, network in enumerate(problem.networks):
        for repeat in range(network.repeats):
            job = first_job[n] + repeat
            awaited = [first_job[m] + end - 1 for m, end in problem.awaited(n, repeat + 1)]
            for i in plan.source[plan.job.source_start[job] : plan.job.source_end[job]].tolist():
                inputs[i] += [(sink, -1) for other in awaited for sink in sinks[other]]
    return inputs


def _ranks(inputs: Sequence[Sequence[int]]) -> IntArray:
    """Return the place of each instance in the order in which the smallest comes next of those that
    wait for nothing any more."""
    feeds: list[list[int]] = [[] for _ in inputs]
    for i, row in enumerate(inputs):
        for source in row:
            feeds[source].append(i)
    missing = [len(row) for row in inputs]
    free = [i for i, count in enumerate(missing) if not count]
    heapify(free)
    ranks = np.zeros(len(inputs), dtype=np.int64)
    for rank in range(len(inputs)):
        i = heappop(free)
        ranks[i] = rank
        for target in feeds[i]:
            missing[target] -= 1
            if not missing[target]:
                heappush(free, target)
    return ranks


def _int64(values: Iterable[object]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Guarantees:
    """Upper bounds for n design points. The bounds of impossible ones mean nothing."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    makespan_ps: IntArray
    """[n]"""
    latency_ps: IntArray
    """[n, networks]"""


GuaranteeFunction = Callable[[IntArray], Guarantees]


def make_guarantees(
    problem: Problem, tolerance_permille: tuple[int, int], *, jobs: int = 1
) -> GuaranteeFunction:
    """Return a function from rows [n, groups + domains] to bounds on one frame alone.

    Args:
        tolerance_permille: each group takes from the first to the second of its time.
    """
    plan = make_plan(problem)
    rules = make_order_rules(problem, plan, tolerance_permille)

    def simulator() -> RowSimulator:
        from paretosoc.fitness.guarantee.kernel import bound_rows

        chosen, tracks = make_chosen(plan), make_tracks(plan)
        # The type that other simulations with a log have: compiled once.
        state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
        return lambda rows, *out: bound_rows(plan, rules, rows, chosen, state, tracks, *out)

    bound = share_rows([simulator() for _ in range(jobs)])

    def guarantees(rows: IntArray) -> Guarantees:
        found = Guarantees(
            possible=np.zeros(len(rows), dtype=np.bool_),
            makespan_ps=np.zeros(len(rows), dtype=np.int64),
            latency_ps=np.zeros((len(rows), len(problem.networks)), dtype=np.int64),
        )
        bound(rows, found.possible, found.makespan_ps, found.latency_ps)
        return found

    return guarantees
