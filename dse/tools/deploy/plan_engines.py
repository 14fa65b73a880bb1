"""The plan of a member's engines, from its schedule."""

from __future__ import annotations

from collections import Counter

import networkx as nx

from paretosoc.common.options import as_written
from paretosoc.common.units import PS_PER_NS
from paretosoc.dse.tools.host.machine.execution_plan import make_execution_plan
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.deployment_document import EnginePlan, PlannedRun
from paretosoc.results.problem.execution import GROUP, SHARED

Key = tuple[int, int, int]
"""Network, repeat, segment."""


def plan_engines(deployment: Deployment) -> EnginePlan | None:
    """Return the plan of one frame, or None if networks have no common frame.

    On units that take groups one at a time, a segment takes the place of its first group.
    """
    problem, design = deployment.problem, deployment.member.design
    if not problem.execution.has_frame:
        return None
    instances = make_execution_plan(problem, design, frames=1, in_flight=1).instances
    segment_of = deployment.segment_of
    key_of: list[Key] = [
        (each.network, each.repeat, segment_of[each.group].number) for each in instances
    ]
    start: dict[Key, int] = {}
    ready_ns: dict[Key, int] = {}
    waits: dict[Key, set[Key]] = {key: set() for key in key_of}
    for key, each in zip(key_of, instances, strict=True):
        start[key] = min(each.start_ps, start.get(key, each.start_ps))
        ready_ns[key] = max(each.arrival_ns or 0, ready_ns.get(key, 0))
        waits[key] |= {key_of[other] for other in each.after} - {key}
    queue_of = {}
    for s in segment_of.values():
        name = deployment.unit_name(s)
        if problem.units[s.unit].dispatch == SHARED:
            name += f"/{deployment.network_name(s)}"
        queue_of[s.network, s.number] = name
    graph = nx.DiGraph([(source, key) for key, sources in waits.items() for source in sources])
    graph.add_nodes_from(waits)
    # By start, each after all that it waits for.
    order = list(nx.lexicographical_topological_sort(graph, lambda key: (start[key], key)))
    place = {key: k for k, key in enumerate(order)}
    runs = [
        PlannedRun(
            *(n, repeat, segment, queue_of[n, segment]),
            tuple(sorted(place[other] for other in waits[n, repeat, segment])),
            release_ns=problem.release_ps(n, repeat - 1) // PS_PER_NS,
            ready_ns=ready_ns[n, repeat, segment],
        )
        for n, repeat, segment in order
    ]
    period = problem.execution.period_ps
    return EnginePlan(
        runs=tuple(runs),
        period_ns=None if period is None else period // PS_PER_NS,
        predicted_ns=tuple(value // PS_PER_NS for value in deployment.member.latencies_ps),
        guaranteed_ns=_guaranteed_ns(deployment),
    )


def plan_notes(deployment: Deployment) -> list[str]:
    """Return a note for the user if networks share a unit that takes groups, as no runtime does."""
    segments = [
        (deployment.unit_name(s), s)
        for s in deployment.all_segments
        if deployment.problem.units[s.unit].dispatch == GROUP
    ]
    networks = Counter(unit for unit, _ in {(unit, s.network) for unit, s in segments})
    units = sorted({unit for unit, s in segments if s.last > s.first and networks[unit] > 1})
    if not units:
        return []
    return [
        f"{', '.join(units)}: the front lets groups of other networks run between those of an "
        "engine, which runs to its end: latencies are others than predicted. A search with "
        f"{as_written('runtime', 'NAME')} plans what runs."
    ]


def _guaranteed_ns(deployment: Deployment) -> tuple[int, ...] | None:
    problem = deployment.problem
    if problem.tolerance_permille is None:
        return None
    bounds = make_guarantees(problem, problem.tolerance_permille)(
        deployment.member.design.row[None]
    )
    if problem.has_rates and bounds.makespan_ps[0] > (problem.execution.period_ps or 0):
        return None
    return tuple(-(-value // PS_PER_NS) for value in bounds.latency_ps[0].tolist())
