"""The choices of a problem laid out for branch and bound."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.branch_and_bound.branching_rules import (
    BLOCKS,
    ENERGY,
    LOSS,
    MAKESPAN,
    MEMORY,
    NETWORK_LATENCY,
    POWER,
    RATE_SUM,
    TOKEN_ENERGY,
    TOKEN_TIME,
    UNLIMITED,
    BranchingRules,
)
from paretosoc.fitness.memory import memory_tables_of
from paretosoc.fitness.simulator.types.tables import LANES
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.limits import (
    DEADLINE,
    POOL,
    SEGMENTS,
    TRANSITIONS,
    limits_by_owner,
    limits_power,
)
from paretosoc.results.problem.limits import ENERGY as ENERGY_BUDGET
from paretosoc.results.problem.limits import LOSS as LOSS_LIMIT
from paretosoc.results.problem.limits import MEMORY as MEMORY_CAP
from paretosoc.results.problem.limits import POWER as POWER_CAP
from paretosoc.results.problem.objectives import Kind, ObjectiveKind
from paretosoc.results.problem.problem import Problem

MOST_OPTIONAL = 3
"""Domains whose being on or off the trade-off of makespan and energy distinguishes."""
PRICE_TIMES_TIME = 1 << 61
MOST_LAYERS = 8
"""Priced times tell apart how many transitions are left if fewer are allowed."""
_OBJECTIVES: dict[tuple[Kind, bool], int] = {
    (ObjectiveKind.LATENCY, False): MAKESPAN,
    (ObjectiveKind.LATENCY, True): NETWORK_LATENCY,
    (ObjectiveKind.INVERSE_LATENCY, False): RATE_SUM,
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


def make_branching_rules(
    problem: Problem,
    *,
    objectives: Sequence[int],
    prices: Sequence[Sequence[int]] = (),
    tolerance_ppm: int = 0,
) -> BranchingRules:
    """Return the choices of a problem as flat arrays.

    ``objectives`` are the positions of the objectives that count, ``prices`` the rows of
    :func:`fitness.branch_and_bound.prices.load_prices`, or none.
    """
    units = len(problem.units)
    groups = problem.group_count
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(groups)]
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(groups)]
    for e, (source, target) in enumerate(problem.edges):
        incoming[target].append((source, e * units * units))
        outgoing[source].append((target, e * units * units))
    networks = problem.networks
    minimised = [problem.objectives[column] for column in objectives]
    kinds = [_OBJECTIVES[entry.kind, entry.network is not None] for entry in minimised]
    instances = [network.repeats * len(network.group_names) for network in networks]
    order = TopologicalSorter({n: set(network.waits_for) for n, network in enumerate(networks)})
    chains = chains_of(problem)
    losses, least_loss = _sums(problem, [unit.loss_ppm for unit in problem.units])
    memory = _memory(problem)
    limits = limits_by_owner(problem, TRANSITIONS)
    trades = has_trade_off(problem, objectives)
    rows = [row for row in prices if trades or row[0] == 0]
    price_rows = [sum(row[0] == block for row in rows) for block in range(BLOCKS)]
    price = np.zeros((BLOCKS, units + len(networks), LANES), dtype=np.int64)
    for block, count in enumerate(price_rows):
        own = [row[1:] for row in rows if row[0] == block]
        price[block, :, :count] = (
            np.array(own, dtype=np.int64).reshape(count, units + len(networks)).T
        )
    # A unit counts once, with the largest price of its number formats.
    formats = [[u for u, o in enumerate(problem.unit_of) if o == unit] for unit in problem.unit_of]
    dearest = max((max(2 * max(row[1:]), sum(row[1:])) for row in rows), default=1)
    optional = optional_domains(problem) if price_rows[1] else []
    needed = [sum(1 << k for k, d in enumerate(optional) if d in u.clocks) for u in problem.units]
    return BranchingRules(
        allowed=problem.allowed.astype(np.int64).reshape(-1),
        alike=_ints(list(interchangeable_before(problem))),
        network=_ints([n for n, network in enumerate(networks) for _ in network.groups]),
        in_start=_starts(incoming),
        in_group=_ints([g for row in incoming for g, _ in row]),
        in_edge=_ints([edge for row in incoming for _, edge in row]),
        out_start=_starts(outgoing),
        out_group=_ints([g for row in outgoing for g, _ in row]),
        out_edge=_ints([edge for row in outgoing for _, edge in row]),
        first=_ints([network.first_group for network in networks]),
        size=_ints([len(network.group_names) for network in networks]),
        repeats=_ints([network.repeats for network in networks]),
        first_job=_ints([sum(o.repeats for o in networks[:n]) for n in range(len(networks))]),
        first_instance=_ints([sum(instances[:n]) for n in range(len(networks))]),
        order=_ints(list(order.static_order())),
        wait_start=_starts([network.waits_for for network in networks]),
        wait_network=_ints([m for network in networks for m in network.waits_for]),
        is_chain=_ints([int(chain) for chain in chains]),
        stays=_ints([problem.unit_of.count(first) == 1 for first in problem.unit_of]),
        limit=limits,
        layers=_ints([limit + 1 if 0 <= limit < MOST_LAYERS else 0 for limit in limits.tolist()]),
        segments=limits_by_owner(problem, SEGMENTS),
        loss_limit=limits_by_owner(problem, LOSS_LIMIT),
        loss=losses,
        least_loss=least_loss,
        **memory,
        deadline=limits_by_owner(problem, DEADLINE),
        ladder=_ints([len(domain.frequencies_khz) for domain in problem.domains]),
        objective=_ints(kinds),
        objective_network=_ints([-1 if o.network is None else o.network for o in minimised]),
        needs_power=int(limits_power(problem) or bool(_OF_ENERGY & set(kinds))),
        optional=_ints(optional),
        set_count=1 << len(optional),
        unit_set=_ints(needed),
        last_unfit=_last_unfit(problem, needed, 1 << len(optional)),
        price_rows=_ints(price_rows),
        has_graphs=int(not all(chains)),
        unit_price=np.ascontiguousarray(price[:, :units]),
        network_price=price[:, units:] * _ints([int(chain) for chain in chains])[:, None],
        price_sum=price[:, units:].sum(axis=1)
        + sum(price[:, own].max(axis=1) for u, own in enumerate(formats) if own[0] == u),
        trade_time=kinds.index(MAKESPAN) if price_rows[1] else -1,
        trade_longest=PRICE_TIMES_TIME // max(dearest, 1),
        tolerance_ppm=tolerance_ppm,
        power_cap_mw=_power_cap(problem),
        energy_budget_fj=int(limits_by_owner(problem, ENERGY_BUDGET)[0]),
        period_ps=_limit(problem.execution.period_ps),
    )


def chains_of(problem: Problem) -> list[bool]:
    """Return [networks]: whether group i feeds group i + 1 and nothing else."""
    edges = set(problem.edges)
    return [
        {(g, g + 1) for g in network.groups[:-1]}
        == {edge for edge in edges if edge[0] in network.groups}
        for network in problem.networks
    ]


def _sums(problem: Problem, tables: Sequence[IntArray | None]) -> tuple[IntArray, IntArray]:
    """Return an additive quantity by unit, [groups x units], 0 if unknown, and its minimum over
    allowed units, [groups]."""
    none = np.zeros(problem.group_count, dtype=np.int64)
    rows = np.stack([none if table is None else table for table in tables], axis=1)
    return rows.reshape(-1), _least(problem, rows)


def _least(problem: Problem, tables: IntArray) -> IntArray:
    """Return the minimum of [..., groups, units] over allowed units, [..., groups]."""
    least: IntArray = np.where(problem.allowed, tables, np.iinfo(np.int64).max).min(axis=-1)
    return least.astype(np.int64)


def _memory(problem: Problem) -> dict[str, IntArray]:
    """Return the fields of memory: a figure for all pools together, and one per named pool."""
    tables, named = memory_tables_of(problem), bool(problem.memory_pools)
    weights, cells = tables.weights, problem.group_count * len(problem.units)
    every = weights.sum(axis=0, keepdims=True)[: len(weights)]
    figures = np.concatenate((every, weights)) if named else every
    caps = [limits_by_owner(problem, kind) for kind in (MEMORY_CAP, POOL)]
    first = [network.first_group for network in problem.networks]
    least_held = np.maximum.reduceat(_least(problem, tables.held), first, axis=1)
    least_weights = _least(problem, figures)
    least = least_weights.sum(axis=1)
    least[:1] += least_held.sum()
    if named:
        np.add.at(least, tables.pool_of_place + 1, least_held.sum(axis=1))
    # Memory that is held on any mapping needs no place in the search.
    varies = (tables.held != tables.held[:, :, :1]).any(axis=(1, 2))
    held = tables.held[varies]
    return {
        "more_bytes": (figures - least_weights[:, :, None]).reshape(len(figures), cells),
        "least_bytes": least,
        "held_bytes": held.reshape(len(held), cells),
        "least_held_bytes": least_held[varies].T,
        "place_figure": np.where(named, tables.pool_of_place + 1, -1)[varies],
        "memory_cap_bytes": np.concatenate(caps)[: len(figures)],
    }


def has_trade_off(problem: Problem, objectives: Sequence[int]) -> bool:
    """Return whether the objectives are makespan and energy, and rows of energy bound them."""
    chosen = [problem.objectives[column] for column in objectives]
    kinds = {(o.kind, o.network) for o in chosen}
    both = {(ObjectiveKind.LATENCY, None), (ObjectiveKind.ENERGY, None)}
    return len(chosen) == 2 and kinds == both and not problem.execution.frames_overlap


def _last_unfit(problem: Problem, needed: Sequence[int], sets: int) -> IntArray:
    """Return [sets, networks]: the last group that no unit can run that needs no other domain."""
    rows = []
    for on in range(sets):
        fits = [need & ~on == 0 for need in needed]
        runs = [bool((may & fits).any()) for may in problem.allowed]
        rows.append(
            [max((g for g in n.groups if not runs[g]), default=-1) for n in problem.networks]
        )
    return np.array(rows, dtype=np.int64)


def optional_domains(problem: Problem) -> list[int]:
    """Return the first domains that may be off, at most ``MOST_OPTIONAL``."""
    return [d for d, domain in enumerate(problem.domains) if domain.may_be_off][:MOST_OPTIONAL]


def largest_power_mw(problem: Problem) -> int:
    """Return an upper bound of the power that a design point draws at any instant."""
    power = problem.board_mw
    power += sum(int(domain.static_mw.max(initial=0)) for domain in problem.domains)
    for unit in problem.units:
        power += int(unit.idle_mw.max(initial=0)) + int(unit.dynamic_mw.max(initial=0))
        if unit.channels is not None:
            power += int(unit.channels.busy_mw.max(initial=0))
    return power


def _power_cap(problem: Problem) -> int:
    """Return the power cap, or UNLIMITED if nothing can exceed it: kernels multiply it with times,
    in int64."""
    cap = int(limits_by_owner(problem, POWER_CAP)[0])
    return UNLIMITED if cap >= largest_power_mw(problem) else cap


def _limit(value: int | None) -> int:
    return UNLIMITED if value is None else value


def _ints(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _starts(rows: Sequence[Sequence[object]]) -> IntArray:
    return np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
