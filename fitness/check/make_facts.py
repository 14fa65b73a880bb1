"""Lay a problem and a claim about it out in tables for the check of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.check.facts import (
    ENERGY,
    LOSS,
    MAKESPAN,
    MEMORY,
    NETWORK,
    NONE,
    POWER,
    RATES,
    TOKEN_ENERGY,
    TOKEN_TIME,
    Facts,
)
from paretosoc.fitness.check.interpreted import BEYOND, numbers
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.work import BLOCKS
from paretosoc.fitness.simulator.types.tables import LANES
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.objectives import Kind, ObjectiveKind
from paretosoc.results.problem.problem import Problem

KINDS: dict[tuple[Kind, bool], int] = {
    (ObjectiveKind.LATENCY, False): MAKESPAN,
    (ObjectiveKind.LATENCY, True): NETWORK,
    (ObjectiveKind.INVERSE_LATENCY, False): RATES,
    (ObjectiveKind.ENERGY, False): ENERGY,
    (ObjectiveKind.POWER, False): POWER,
    (ObjectiveKind.TOKEN_RATE, True): TOKEN_TIME,
    (ObjectiveKind.TOKEN_ENERGY, True): TOKEN_ENERGY,
    (ObjectiveKind.ACCURACY_LOSS, False): LOSS,
    (ObjectiveKind.ACCURACY_LOSS, True): LOSS,
    (ObjectiveKind.MEMORY, False): MEMORY,
}
"""By kind, and whether it is of one network."""
_OF_ENERGY = {ENERGY, POWER, TOKEN_ENERGY}
PRICE_TIMES_TIME = MOST_FJ = 1 << 61
COMPILED_MASK_BITS = 62
MOST_COUNTED = 8
MOST_OPTIONAL = 3


@dataclass(frozen=True)
class Frames:
    """Frames that follow one another: at most ``in_flight`` at a time, up to the last one."""

    in_flight: int
    last: int | None


def make_facts(
    problem: Problem, claim: LemmaTarget, *, exact: bool = False, frames: Frames | None = None
) -> Facts:
    """Return the tables of a problem and a claim.

    Args:
        frames: for the timeline of a design point; by default one frame.
        exact: use Python's integers, for the interpreted check. Otherwise int64 is used, and the
            caller ensures that sums and products of the problem's figures fit.

    Raises:
        ResultError: without ``exact``, if a figure of the claim, or a product of its rates, needs
            more than 64 bits.
    """
    units, networks = problem.units, problem.networks
    model, execution = frames or Frames(1, 1), problem.execution
    own_streams = frames is not None and model.last is None
    own_streams &= problem.has_rates or not execution.has_frame
    instances, inputs = _instances(problem, model.in_flight)
    slots = [copy * len(networks) + n if own_streams else copy for copy, n, *_ in instances]
    followers: list[list[int]] = [[] for _ in instances]
    for i, entries in enumerate(inputs):
        for source, _ in entries:
            followers[source].append(i)
    behind = {i: [j for j, _ in row] for i, row in enumerate(inputs)}
    for i in range(1, len(instances)):
        if instances[i - 1][:3] == instances[i][:3]:
            behind[i].append(i - 1)
    order = TopologicalSorter(behind)
    edges = [[edge for edge in problem.edges if edge[0] in n.groups] for n in networks]
    chains = _int64(
        [
            [(g, g + 1) for g in network.groups[:-1]] == sorted(own)
            for network, own in zip(networks, edges, strict=True)
        ]
    )
    minimised = [problem.objectives[column] for column in claim.objectives]
    kinds = [KINDS[o.kind, o.network is not None] for o in minimised]
    limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
    may_be_off = [d for d, domain in enumerate(problem.domains) if domain.may_be_off]
    traded = set(kinds) == {MAKESPAN, ENERGY} and len(kinds) == 2
    prices = [row for row in claim.prices if traded or row[0] == 0]
    by_block = [[row[1:] for row in prices if row[0] == block] for block in range(BLOCKS)]
    traded &= bool(by_block[1])
    optional = may_be_off[:MOST_OPTIONAL] if traded else []
    needs = [sum(1 << k for k, d in enumerate(optional) if d in u.clocks) for u in units]
    most_points = max(len(domain.allowed) for domain in problem.domains)
    if most_points > COMPILED_MASK_BITS and not exact:
        raise ResultError(f"at most {COMPILED_MASK_BITS} operating points can be checked fast")
    dearest = max((max(2 * max(row[1:]), sum(row[1:])) for row in prices), default=0)
    if dearest * max(_longest_ps(problem), 1) > PRICE_TIMES_TIME and not exact:
        raise ResultError("prices: products with times need more than 64 bits")
    # Interpreted vectors have no more lanes than rows.
    lanes = max(1, *map(len, by_block)) if exact else LANES
    price = np.zeros((BLOCKS, len(units) + len(networks), lanes), dtype=numbers(exact))
    for block, own in enumerate(by_block):
        price[block, :, : len(own)] = _array(own, exact).reshape(len(own), price.shape[1]).T
    of_unit, of_network = price[:, : len(units)], price[:, len(units) :]
    of_one = [
        [u for u, f in enumerate(problem.unit_of) if f == first] for first in set(problem.unit_of)
    ]
    rows = _falling(claim.closing) if len(kinds) == 2 else claim.closing
    closing = _array([list(row) for row in rows], exact).reshape(len(rows), len(kinds))
    steps: list[tuple[int, int]] = []
    if traded:
        steps = _falling(closing[:, [kinds.index(MAKESPAN), kinds.index(ENERGY)]].tolist())
    return Facts(
        groups=problem.group_count,
        units=len(units),
        domains=len(problem.domains),
        networks=len(networks),
        instances=len(instances),
        streams=len(networks) if own_streams else 1,
        slots=slots[-1] + 1,
        in_flight=model.in_flight,
        last_frame=NONE if model.last is None else model.last,
        due_ps=(execution.period_ps or 0) if own_streams else 0,
        of_frames=frames is not None,
        slot_start=np.searchsorted(slots, range(slots[-1] + 2)).astype(np.int64),
        unit_of=_int64(problem.unit_of),
        unit_count=len(set(problem.unit_of)),
        queues=len(problem.queue_units),
        queue_of=_int64(problem.queue_of),
        queue_unit=_int64(problem.queue_units),
        runs_engines=_int64(problem.runs_engines),
        sharing_permille=_limits(
            unit.sharing_permille if unit.dispatch == SHARED else None for unit in units
        ),
        joins_engines=_int64(problem.joins_engines),
        has_joins=int(any(problem.joins_engines)),
        group_of=_int64([group for _, _, _, group, _ in instances]),
        network_of=_int64([n for _, n, _, _, _ in instances]),
        slot_of=_int64(slots),
        repeat_of=_int64([repeat for _, _, repeat, _, _ in instances]),
        priority=_int64([networks[n].priority for n in problem.network_of]),
        arrival_of=_int64([arrival for _, _, _, _, arrival in instances]),
        input_start=_starts(inputs),
        input=_int64([source for row in inputs for source, _ in row]),
        input_edge=_int64([edge for row in inputs for _, edge in row]),
        follower_start=_starts(followers),
        follower=_int64([i for row in followers for i in row]),
        order=_int64(order.static_order()),
        delay_ps=np.concatenate(
            (_moved_by(problem, NONE), problem.handovers_ps.astype(np.int64))
        ).reshape(-1),
        moves=_int64([unit.moves_tensors for unit in units]),
        source_ps=_moved_by(problem, 0),
        target_ps=_moved_by(problem, 1),
        allowed=problem.allowed.astype(np.int64),
        alike=_int64(interchangeable_before(problem)),
        network_of_group=_int64([n for n, network in enumerate(networks) for _ in network.groups]),
        first_group=_int64([network.groups.start for network in networks]),
        end_group=_int64([network.groups.stop for network in networks]),
        is_chain=chains,
        grows=int(any(unit.step_ps is not None for unit in units)),
        edge_start=_starts(edges),
        edge_source=_int64([a for own in edges for a, _ in own]),
        edge_target=_int64([b for own in edges for _, b in own]),
        edge_number=_int64([problem.edges.index(edge) for own in edges for edge in own]),
        max_transitions=_limits(network.max_transitions for network in networks),
        max_segments=_limits(unit.max_segments for unit in units),
        max_loss_ppm=_limits(network.max_loss_ppm for network in networks),
        loss_ppm=_with_least(problem, [unit.loss_ppm for unit in units]),
        weight_bytes=_weights(problem),
        activation_bytes=_int64([held for network in networks for held in network.held_bytes]),
        only_pool=_only(problem, [unit.memory_pool for unit in units]),
        pool=_int64([unit.memory_pool for unit in units]),
        loads_whole=_int64([unit.loads_whole_networks for unit in units]),
        only_unit=_only(problem, range(len(units))),
        network_bytes=_int64(
            [
                [
                    _known(problem, u.weight_bytes)[n.groups.start : n.groups.stop].sum()
                    for u in units
                ]
                for n in networks
            ]
        ),
        memory_cap_bytes=_limits(
            [problem.memory_cap_bytes, *(pool.cap_bytes for pool in problem.memory_pools)]
        ),
        deadline_ps=_limits(network.deadline_ps for network in networks),
        arrival_ps=_int64([network.arrival_ps for network in networks]),
        repeats=_int64([network.repeats for network in networks]),
        clock_start=_starts([unit.clocks for unit in units]),
        clock=_int64([d for unit in units for d in unit.clocks]),
        clock_stride=_int64(
            [
                int(np.prod([len(problem.domains[d].allowed) for d in unit.clocks[c + 1 :]]))
                for unit in units
                for c in range(len(unit.clocks))
            ]
        ),
        table_start=_int64([0, *accumulate(unit.idle_mw.size for unit in units)]),
        time_ps=_by_choice([unit.time_ps for unit in units]),
        step_ps=_by_choice([unit.steps_ps for unit in units]),
        demand_kbps=_by_choice([unit.demand_kbps for unit in units]),
        dynamic_mw=_by_choice([unit.dynamic_mw for unit in units]),
        idle_mw=_int64(np.concatenate([unit.idle_mw.reshape(-1) for unit in units])),
        static_mw=_int64(
            [
                [*domain.static_mw.tolist(), *[0] * (most_points - len(domain.static_mw))]
                for domain in problem.domains
            ]
        ),
        may_be_off=_int64([domain.may_be_off for domain in problem.domains]),
        points=_int64([len(domain.allowed) for domain in problem.domains]),
        memory=NONE if problem.memory_domain is None else problem.memory_domain,
        contention=_contention(problem),
        board_mw=problem.board_mw,
        needs_power=int(limited or bool(_OF_ENERGY & set(kinds))),
        cap_mw=_power_cap(problem),
        budget_fj=NONE if problem.energy_budget_fj is None else problem.energy_budget_fj,
        period_ps=NONE if problem.execution.period_ps is None else problem.execution.period_ps,
        objective=_int64(kinds),
        objective_network=_limits(o.network for o in minimised),
        closing=closing,
        makespan_column=kinds.index(MAKESPAN) if MAKESPAN in kinds else NONE,
        steps=_array(steps, exact).reshape(-1, 2),
        optional=_int64(optional),
        set_count=1 << len(optional),
        unit_set=_int64(needs),
        fits=_int64(
            [
                (problem.allowed & [need & ~on == 0 for need in needs]).any(axis=1).tolist()
                for on in range(1 << len(optional))
            ]
        ),
        price_rows=_int64(map(len, by_block)),
        unit_price=of_unit.copy(),
        network_price=of_network * chains[:, None],
        price_sum=sum((of_unit[:, own].max(axis=1) for own in of_one), of_network.sum(axis=1)),
        chain_edge=_int64(
            [
                problem.edges.index((g - 1, g))
                if chains[n] and g > networks[n].groups.start
                else NONE
                for g, n in enumerate(problem.network_of)
            ]
        ),
        counted=_int64(
            [
                limit if chain and limit is not None and limit < MOST_COUNTED else NONE
                for limit, chain in zip([n.max_transitions for n in networks], chains, strict=True)
            ]
        ),
        longest_ps=BEYOND if exact else PRICE_TIMES_TIME // max(dearest, 1),
        most_fj=BEYOND if exact else MOST_FJ,
        exact=exact,
    )


def _moved_by(problem: Problem, end: int) -> IntArray:
    """Return [edges, units, units]: transitions that the unit of the source (0) or the target (1)
    does, or that are delays (``NONE``); others are 0."""
    moves = [unit.moves_tensors for unit in problem.units]
    table = problem.transition_ps.astype(np.int64)
    for u, source in enumerate(moves):
        for v, target in enumerate(moves):
            mover = 1 if target else 0 if source else NONE
            if mover != end:
                table[:, u, v] = 0
    return table


def _instances(
    problem: Problem, copies: int
) -> tuple[list[tuple[int, int, int, int, int]], list[list[tuple[int, int]]]]:
    """Return all instances, (copy of the frame, network, repeat, group, arrival), and the inputs of
    each, (instance, edge)."""
    sizes = [n.repeats * len(n.group_names) for n in problem.networks]
    first = [0, *accumulate(sizes)]
    into: list[list[tuple[int, int]]] = [[] for _ in range(problem.group_count)]
    for e, (a, b) in enumerate(problem.edges):
        into[b].append((a, e))
    handed_to: list[list[tuple[int, int]]] = [[] for _ in into]
    for h, (a, b) in enumerate(problem.handovers, len(problem.edges)):
        network = problem.networks[problem.network_of[a]]
        last = first[problem.network_of[a] + 1] - network.groups.stop + a
        handed_to[b].append((last, h))
    rows: list[tuple[int, int, int, int, int]] = []
    inputs: list[list[tuple[int, int]]] = []
    for n, network in enumerate(problem.networks):
        size = len(network.group_names)
        for repeat in range(network.repeats):
            before = [
                (first[m] + end * len(problem.networks[m].group_names) - 1 - k, NONE)
                for m, end in problem.awaited(n, repeat + 1)
                for k in range(len(problem.networks[m].group_names))
            ]
            base = first[n] + repeat * size - network.first_group
            arrival = problem.ready_ps(n, repeat) if repeat == 0 or network.paced else 0
            for g in network.groups:
                fed = [(base + a, e) for a, e in into[g]]
                rows.append((0, n, repeat, g, 0 if fed else arrival))
                inputs.append([*(fed or before), *(handed_to[g] if repeat == 0 else [])])
    size = len(rows)
    return (
        [(copy, *row[1:]) for copy in range(copies) for row in rows],
        [[(copy * size + i, e) for i, e in row] for copy in range(copies) for row in inputs],
    )


def _with_least(problem: Problem, tables: Sequence[IntArray | None]) -> IntArray:
    """Return [groups, units + 1]: a value per unit, then the smallest over the allowed units."""
    rows = []
    for g, allowed in enumerate(problem.allowed.tolist()):
        row = [0 if table is None else int(table[g]) for table in tables]
        rows.append([*row, min(value for value, may in zip(row, allowed, strict=True) if may)])
    return _int64(rows)


def _known(problem: Problem, table: IntArray | None) -> IntArray:
    """Return a table [groups], or zeros if it is not known."""
    return np.zeros(problem.group_count, dtype=np.int64) if table is None else table


def _weights(problem: Problem) -> IntArray:
    """Return bytes of weights [all pools and each pool, groups, units + 1]."""
    tables = [None if u.loads_whole_networks else u.weight_bytes for u in problem.units]
    of_pools = [
        [table if problem.units[u].memory_pool == p else None for u, table in enumerate(tables)]
        for p in range(len(problem.memory_pools))
    ]
    return np.stack([_with_least(problem, given) for given in (tables, *of_pools)])


def _only(problem: Problem, values: Sequence[int]) -> IntArray:
    """Return [groups]: the value that all units of a group share, or ``NONE``."""
    return _int64(
        [
            only.pop()
            if len(only := {values[u] for u in np.flatnonzero(row).tolist()}) == 1
            else NONE
            for row in problem.allowed
        ]
    )


def _slowest_ps(problem: Problem) -> int:
    """Return the time of all groups one after the other, each on its slowest unit."""
    tables = [problem.frame_ps(u) for u in range(len(problem.units))]
    return sum(max(int(table[g].max()) for table in tables) for g in range(problem.group_count))


def _longest_ps(problem: Problem) -> int:
    """Return a time that all groups, delays and arrivals one after the other do not exceed."""
    repeats = [problem.networks[problem.network_of[source]].repeats for source, _ in problem.edges]
    delays = [int(table.max(initial=0)) for table in problem.transition_ps]
    late = sum(network.arrival_ps for network in problem.networks)
    often = zip(repeats, delays, strict=True)
    return _slowest_ps(problem) + sum(count * delay for count, delay in often) + late


def _falling(pairs: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the pairs, sorted by the first entry, whose second is below all earlier ones."""
    steps: list[tuple[int, int]] = []
    for first, second in sorted(tuple(pair) for pair in pairs):
        if not steps or second < steps[-1][1]:
            steps.append((first, second))
    return steps


def _contention(problem: Problem) -> IntArray:
    points = 1
    if problem.memory_domain is not None:
        points = len(problem.domains[problem.memory_domain].allowed)
    table = np.full((len(problem.units), points, 11), NONE, dtype=np.int64)
    for u, unit in enumerate(problem.units):
        if unit.contention is not None:
            table[u] = np.stack(list(unit.contention.columns.values()), axis=1)
    return table


def _power_cap(problem: Problem) -> int:
    """Return the power cap, or ``NONE`` if nothing can exceed it."""
    power = problem.board_mw
    power += sum(int(domain.static_mw.max(initial=0)) for domain in problem.domains)
    for unit in problem.units:
        power += int(unit.idle_mw.max(initial=0)) + int(unit.dynamic_mw.max(initial=0))
    cap = problem.power_cap_mw
    return NONE if cap is None or cap >= power else cap


def _by_choice(tables: Sequence[IntArray]) -> IntArray:
    """Return tables [groups, *operating points] of all units as one of [choices, groups]."""
    rows = [table.reshape(len(table), -1).T for table in tables]
    return np.ascontiguousarray(np.concatenate(rows), dtype=np.int64)


def _limits(values: Iterable[int | None]) -> IntArray:
    return _int64([NONE if value is None else value for value in values])


def _starts(rows: Sequence[Sequence[object]]) -> IntArray:
    return _int64([0, *accumulate(len(row) for row in rows)])


def _int64(values: Iterable[object]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


def _array(values: Iterable[object], exact: bool) -> IntArray:
    """Return figures of the claim, which may need more than 64 bits."""
    try:
        return np.array(list(values), dtype=numbers(exact))
    except OverflowError:
        raise ResultError("a figure of the claim needs more than 64 bits") from None
