"""Random problems, for tests against oracles and for speed at a given size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.contention import contention_table
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import Source, Status
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import (
    DISPATCHES,
    SHARED,
    ChannelUse,
    ClosedForm,
    IdleTime,
    Rates,
    SearchedOrder,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import (
    ChannelCosts,
    ContentionTable,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from paretosoc.results.problem.problem import DesignPoint, Problem

_SOURCE = Source(Status.ASSUMED, "drawn at random")


@dataclass(frozen=True)
class RandomShape:
    """The shape of a random problem. Pairs are inclusive bounds."""

    networks: tuple[int, int] = (1, 4)
    groups: tuple[int, int] = (1, 5)
    units: tuple[int, int] = (1, 4)
    points: tuple[int, int] = (1, 3)
    graphs: bool = True
    """Groups of a network may form a graph instead of a chain."""
    waiting: bool = True
    """Networks may wait for others, arrive late, and run several times a frame."""
    phases: bool = False
    """Repeats may take longer and longer, and networks that wait for others take over from them."""
    contention: bool = True
    any_slopes: bool = False
    """Whether contention has any slopes. If not, a larger demand never means a smaller loss."""
    unsupported: float = 0.1
    """Share of (group, unit) pairs that cannot run."""
    ties: bool = False
    """Times are few small multiples, so that much happens at the same instant."""
    copies: bool = False
    """A network may be a copy of the one before it: same groups, edges and costs."""


@dataclass(frozen=True)
class _Structure:
    """Networks and edges, and the source of the costs of each group and edge: itself or, in a copy,
    its original."""

    networks: tuple[ProblemNetwork, ...]
    edges: tuple[tuple[int, int], ...]
    group_costs: IntArray
    edge_costs: IntArray


def random_problem(rng: np.random.Generator, shape: RandomShape) -> Problem:
    """Draw a problem. Every group can run on at least one unit."""

    def between(bounds: tuple[int, int]) -> int:
        return int(rng.integers(bounds[0], bounds[1] + 1))

    structure = _structure(rng, shape, between)
    edges, of_group = structure.edges, structure.group_costs
    groups = len(of_group)
    unit_count = between(shape.units)
    domain_count = unit_count + 1
    memory = domain_count - 1
    points = [between(shape.points) for _ in range(domain_count)]
    domains = tuple(
        ProblemDomain(
            name="memory" if d == memory else f"clock{d}",
            frequencies_khz=tuple(1000 * (k + 1) for k in range(points[d])),
            voltages_mv=(None,) * points[d],
            may_be_off=d != memory and bool(rng.integers(2)),
            static_mw=np.sort(rng.integers(0, 500, points[d])),
            allowed=np.ones(points[d], dtype=np.bool_),
        )
        for d in range(domain_count)
    )
    supported = rng.random((groups, unit_count)) >= shape.unsupported
    supported[np.arange(groups), rng.integers(0, unit_count, groups)] = True
    supported = supported[of_group]
    demands, units = [], []
    for u in range(unit_count):
        # Some units share a clock, and some have a host's clock too.
        own = int(rng.integers(0, u + 1)) if rng.integers(4) == 0 else u
        clocks: tuple[int, ...] = (own, memory)
        if own > 0 and rng.integers(4) == 0:
            clocks = (own, own - 1, memory)
        size = (groups, *(points[clock] for clock in clocks))
        time = _times(rng, size, ties=shape.ties)[of_group]
        demand = rng.integers(0, 90_000_000, size)[of_group]
        run = supported[:, u].reshape(-1, *([1] * len(clocks)))
        demands.append(np.where(run, demand, 0))
        power = rng.integers(0, 9000, size)[of_group] * run
        units.append((clocks, np.where(run, time, -1), power))
    transition = _transitions(rng, len(edges), unit_count, ties=shape.ties)
    drawn = Problem(
        networks=structure.networks,
        edges=edges,
        transition_ps=transition[structure.edge_costs],
        domains=domains,
        units=tuple(
            ProblemUnit(
                name=f"unit{u}",
                clocks=clocks,
                time_ps=time.astype(np.int64),
                demand_kbps=demands[u].astype(np.int64),
                dynamic_mw=power.astype(np.int64),
                idle_mw=_idle_mw(rng, domains, clocks),
                contention=_contention(rng, points[memory]) if shape.contention else None,
            )
            for u, (clocks, time, power) in enumerate(units)
        ),
        memory_domain=memory,
        board_mw=int(rng.integers(0, 5000)),
        allowed=supported,
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )
    # With numbers of their own: everything else is drawn as without.
    if shape.phases:
        drawn = _with_phases(rng.spawn(1)[0], drawn, ties=shape.ties)
    if shape.any_slopes:
        drawn = _with_any_slopes(rng.spawn(1)[0], drawn)
    return _with_bandwidth(rng.spawn(1)[0], drawn)


def _with_bandwidth(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with a memory that often has less than two groups ask for, in three of
    four cases."""
    tables = [unit.contention for unit in problem.units if unit.contention is not None]
    if not tables or rng.integers(4) == 0:
        return problem
    memory = 1000 * rng.integers(30_000, 180_000, len(tables[0].peak_kbps))
    units = [
        replace(unit, contention=unit.contention and replace(unit.contention, memory_kbps=memory))
        for unit in problem.units
    ]
    return replace(problem, units=tuple(units))


def _with_any_slopes(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with slopes of contention that belong to other thresholds, on half of the
    units."""
    units = []
    for unit in problem.units:
        table = unit.contention
        if table is not None and rng.integers(2):
            slopes = {}
            for name, column in table.columns.items():
                # Smaller fractions stay inside int64.
                low, high = (100, 301) if name.endswith("_den") else (0, 101)
                if not name.endswith("_kbps"):
                    slopes[name] = column * rng.integers(low, high, len(column)) // 100
            unit = replace(unit, contention=replace(table, **slopes))
        units.append(unit)
    return replace(problem, units=tuple(units))


def _with_phases(rng: np.random.Generator, problem: Problem, *, ties: bool) -> Problem:
    """Return the problem with steps of a tenth of the times on some units, and hand-overs."""
    units = []
    for unit in problem.units:
        largest = 1000 if ties else np.maximum(unit.time_ps, 0) // 10
        step = rng.integers(0, largest + np.int64(1), unit.time_ps.shape)
        units.append(replace(unit, step_ps=step) if rng.integers(3) else unit)
    pairs = [
        (int(rng.choice(problem.networks[m].groups)), int(rng.choice(network.groups)))
        for network in problem.networks
        for m in network.waits_for
        for _ in range(int(rng.integers(0, 4)))
    ]
    handovers = tuple(dict.fromkeys(pairs))
    return replace(
        problem,
        units=tuple(units),
        handovers=handovers,
        handover_ps=_transitions(rng, len(handovers), len(units), ties=ties),
    )


def with_priorities(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with priorities from 0 to 2.

    If it has several networks, it has a search of them now and then instead.
    """
    if len(problem.networks) > 1 and rng.integers(3) == 0:
        order = SearchedOrder.GROUPS if rng.integers(2) else SearchedOrder.NETWORKS
        return replace(problem, searched_order=order)
    return with_fixed_priorities(rng, problem)


def with_dispatch(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with units that run engines, are shared, or do the transitions to and from
    them, each now and then.

    It is as before in half of all cases, and in the closed form.
    """
    if isinstance(problem.execution, ClosedForm) or rng.integers(2):
        return problem
    drawn = [
        (DISPATCHES[int(rng.integers(len(DISPATCHES)))], int(rng.integers(0, 500)))
        for _ in problem.units
    ]
    moves = rng.spawn(1)[0].integers(3, size=len(drawn)) == 0
    units = []
    for u, unit in zip(problem.unit_of, problem.units, strict=True):
        dispatch, permille = drawn[u]
        sharing = permille if dispatch == SHARED else 0
        moving = bool(moves[u])
        units.append(
            replace(unit, dispatch=dispatch, sharing_permille=sharing, moves_tensors=moving)
        )
    # Slow transitions: inputs in the middle of an engine come long after its first ones.
    factor = (1, 20)[int(rng.integers(2))]
    return replace(
        problem,
        units=tuple(units),
        transition_ps=factor * problem.transition_ps,
        handover_ps=None if problem.handover_ps is None else factor * problem.handover_ps,
    )


def with_fixed_priorities(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with priorities from 0 to 2."""
    networks = [replace(n, priority=int(rng.integers(3))) for n in problem.networks]
    return replace(problem, networks=tuple(networks))


def with_rates(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with rates of its own for most networks, and objectives and limits of
    responses.

    Some rates are so high or so late that work runs over the end of the period, or that the units
    are overloaded. No network waits for another one.
    """
    units = range(len(problem.units))
    longest = 1 + sum(int(problem.frame_ps(u).max()) for u in units) // len(units)

    def limit(most: int) -> int | None:
        return int(rng.integers(0, most)) if rng.integers(4) == 0 else None

    def with_rate(network: ProblemNetwork) -> ProblemNetwork:
        if rng.integers(4) == 0:
            return replace(network, waits_for=())
        many = rng.integers(8) == 0
        return replace(
            network,
            waits_for=(),
            paced=True,
            repeats=int(rng.integers(20, 43) if many else rng.integers(1, 5)),
            deadline_ps=limit(4 * longest),
            deadline_95_ps=limit(4 * longest),
            max_jitter_ps=limit(2 * longest),
            max_misses=limit(3),
        )

    # Nothing is known of accuracy and memory, and nothing is guaranteed.
    unknown = (ObjectiveKind.ACCURACY_LOSS, ObjectiveKind.MEMORY, ObjectiveKind.GUARANTEED_RESPONSE)
    kinds = [kind for kind in ObjectiveKind if Rates in kind.spec.models and kind not in unknown]
    drawn = [
        Objective(
            kind,
            int(rng.integers(len(problem.networks)))
            if kind.spec.of_one_network and rng.integers(2)
            else None,
        )
        for kind in rng.permutation(np.array(kinds, dtype=object)).tolist()
    ]
    rated = replace(
        problem,
        networks=tuple(map(with_rate, problem.networks)),
        objectives=tuple(drawn[: int(rng.integers(2, 6))]),
    )
    # The period is from half to twice the least time of its work on one unit.
    times = [rated.frame_ps(u).reshape(problem.group_count, -1).max(axis=1) for u in units]
    best = np.where(np.stack(times) > 0, np.stack(times), np.iinfo(np.int64).max).min(axis=0)
    period = 1 + int(best.sum()) * int(rng.integers(4, 17)) // 8
    networks = [
        replace(network, arrival_ps=int(rng.integers(0, 2 * period)))
        if rng.integers(3) == 0
        else network
        for network in rated.networks
    ]
    return replace(rated, networks=tuple(networks), execution=Rates(period))


def with_waiting_releases(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem, in which networks have rates, with some that wait for one or two earlier
    ones."""
    networks = [
        replace(
            network,
            waits_for=tuple(sorted({int(m) for m in rng.integers(n, size=rng.integers(1, 3))})),
        )
        if n and rng.integers(3)
        else network
        for n, network in enumerate(problem.networks)
    ]
    return replace(problem, networks=tuple(networks))


def with_batches(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with batches of up to four images for some networks.

    Those of networks with a rate may have to wait for their last image.
    """
    longest = 1 + max(int(problem.frame_ps(u).max()) for u in range(len(problem.units)))
    networks = []
    for network in problem.networks:
        if rng.integers(3) == 0:
            wait = int(rng.integers(0, longest)) if network.paced else 0
            network = replace(network, batch=int(rng.integers(1, 5)), batch_wait_ps=wait)
        networks.append(network)
    return replace(problem, networks=tuple(networks))


def random_pipeline(
    rng: np.random.Generator,
    problem: Problem,
    channels: ChannelUse,
    idle_time: IdleTime = IdleTime.PERIOD,
) -> Problem:
    """Return the problem in closed form with throughput and energy as objectives.

    The times and powers of its channels are drawn.
    """
    units = []
    for unit in problem.units:
        clock = int(rng.choice(unit.clocks))
        points = len(problem.domains[clock].frequencies_khz)
        write, read, power = (rng.integers(0, high, points) for high in (3000, 3000, 5000))
        units.append(replace(unit, channels=ChannelCosts(clock, write, read, power)))
    return replace(
        problem,
        units=tuple(units),
        edge_tokens=rng.integers(0, 10**6, len(problem.edges)),
        objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
        execution=ClosedForm(channels, idle_time),
    )


def random_design(rng: np.random.Generator, problem: Problem) -> DesignPoint:
    """Draw a design point that the problem allows."""
    units = [int(rng.choice(np.flatnonzero(row))) for row in problem.allowed]
    points = [int(rng.choice(np.flatnonzero(domain.allowed))) for domain in problem.domains]
    priorities = None
    if problem.priority_count:
        priorities = rng.integers(0, PRIORITY_LEVELS, problem.priority_count)
    return DesignPoint(
        np.array(units, dtype=np.int64), np.array(points, dtype=np.int64), priorities
    )


def _structure(
    rng: np.random.Generator, shape: RandomShape, between: Callable[[tuple[int, int]], int]
) -> _Structure:
    networks: list[ProblemNetwork] = []
    edges: list[tuple[int, int]] = []
    group_costs: list[int] = []
    edge_costs: list[int] = []
    first = first_edge = 0
    for n in range(between(shape.networks)):
        if n > 0 and shape.copies and rng.integers(3) == 0:
            size = len(networks[-1].group_names)
            copied = edges[first_edge:]
            group_costs += group_costs[-size:]
            edge_costs += edge_costs[first_edge:]
            first_edge = len(edges)
            edges += [(source + size, target + size) for source, target in copied]
        else:
            size = between(shape.groups)
            first_edge = len(edges)
            edges += _edges(rng, first, size, graph=shape.graphs and bool(rng.integers(2)))
            group_costs += range(first, first + size)
            edge_costs += range(first_edge, len(edges))
        networks.append(
            ProblemNetwork(
                name=f"network{n}",
                first_group=first,
                group_names=tuple(f"g{g}" for g in range(size)),
                repeats=int(rng.integers(1, 4)) if shape.waiting and rng.integers(3) == 0 else 1,
                waits_for=tuple(m for m in range(n) if shape.waiting and rng.integers(5) == 0),
                arrival_ps=int(rng.integers(0, 4)) * (1000 if shape.ties else 10**8)
                if shape.waiting and rng.integers(3) == 0
                else 0,
            )
        )
        first += size
    return _Structure(
        tuple(networks),
        tuple(edges),
        np.array(group_costs, dtype=np.int64),
        np.array(edge_costs, dtype=np.int64),
    )


def _edges(
    rng: np.random.Generator, first: int, size: int, *, graph: bool
) -> list[tuple[int, int]]:
    if not graph:
        return [(first + g, first + g + 1) for g in range(size - 1)]
    edges = []
    for target in range(1, size):
        count = min(target, int(rng.integers(0, 3)))
        for source in sorted(rng.choice(target, count, replace=False).tolist()):
            edges.append((first + source, first + target))
    return edges


def _idle_mw(
    rng: np.random.Generator, domains: tuple[ProblemDomain, ...], clocks: tuple[int, ...]
) -> IntArray:
    """Draw [*operating points of ``clocks``], the same at all points of a host that may be off."""
    idle = rng.integers(0, 900, [len(domains[clock].frequencies_khz) for clock in clocks])
    for axis, clock in enumerate(clocks[1:], start=1):
        if domains[clock].may_be_off:
            idle[:] = np.take(idle, [0], axis=axis)
    return idle


def _times(rng: np.random.Generator, size: tuple[int, ...], *, ties: bool) -> IntArray:
    if ties:
        return rng.integers(1, 4, size) * 1000
    return rng.integers(1, 10**9, size)


def _transitions(rng: np.random.Generator, edges: int, units: int, *, ties: bool) -> IntArray:
    size = (edges, units, units)
    delay = rng.integers(0, 3, size) * 1000 if ties else rng.integers(0, 10**8, size)
    delay = np.where(rng.random(size) < 0.2, 0, delay)
    delay[:, np.arange(units), np.arange(units)] = 0
    return delay.astype(np.int64)


def _contention(rng: np.random.Generator, points: int) -> ContentionTable | None:
    if rng.integers(6) == 0:
        return None
    draw = [int(value) * 100_000 for value in rng.integers(100, 1300, 4)]
    parameters = Contention(
        normal_bandwidth_kbps=draw[0],
        total_bandwidth_kbps=draw[1],
        balance_point_kbps=draw[2],
        peak_bandwidth_kbps=draw[3],
        max_minor_percent=Fraction(int(rng.integers(0, 200)), 10),
        rate_percent_per_gbps=Fraction(int(rng.integers(0, 20)), 10),
        source=_SOURCE,
    )
    scale = [Fraction(k + 1, points) for k in range(points)]
    return contention_table(parameters, scale, [90_000_000] * points)
