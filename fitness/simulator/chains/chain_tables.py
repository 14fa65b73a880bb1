"""Costs of chains, and buffers for simulating two of them or many.

Compiled into :mod:`fitness.simulator.chains.two_chains` and
:mod:`fitness.simulator.chains.many_chains`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.layout import Plan, Structure
from paretosoc.fitness.simulator.types.tables import (
    LANES,
    RecordArray,
    Tables,
    columns,
    ones,
    record,
    records,
    zeros_for,
)
from paretosoc.results.problem.execution import SHARED, SearchedOrder

if TYPE_CHECKING:
    # Only for annotations: compiled code does not depend on the problem's classes.
    from paretosoc.results.problem.problem import Problem

SLOTS = 2
"""Networks that can run at the same time."""
LEAD_PS = 1 << 55
"""Times of a frame are below: as much earlier as this is ready what has a priority smaller by 1."""
GOES_ON = -(1 << 62)
"""When what continues an engine is ready: before all else, whatever the priorities."""
MAX_COSTS = 1 << 20
"""Rows of ``Chains.cost`` beyond which the table, 64 bytes a row, is not worth its memory."""

COST = record("work", "demand", "dynamic", "num", "den", "offset", "cap", "memory")
"""Work, below 0 if the unit cannot run the group; demand; dynamic power; slope in the other's
demand, as fraction, offset and cap; row of ``Chains.memory``."""
MEMORY = record("num", "den", "peak", "kbps")
"""Slope of minor contention, as fraction, and its cap; bandwidth of the memory."""
CHAIN = record("first", "end", "repeats", "arrival")
"""First group, the one after the last, repeats (0 if there is no second network), arrival."""
FIGURES = columns(
    **dict.fromkeys(
        ("row", "now", "ended", "networks_left", "dynamic_fj", "busy_ps", "lead"), (LANES, np.int64)
    ),
    **dict.fromkeys(
        (
            *("group", "repeats_left", "queue", "unit", "runs", "when", "started"),
            *("work", "demand", "share"),
            *("dynamic", "heavy_num", "heavy_den", "heavy_offset", "heavy_cap"),
            *("minor_num", "minor_den", "peak", "memory", "excess"),
        ),
        (SLOTS * LANES, np.int64),
    ),
    heavy_inverse=(SLOTS * LANES, np.float64),
    minor_inverse=(SLOTS * LANES, np.float64),
)
"""For each lane: its row, -1 if idle; the instant; where in the other columns the slot is whose
group ends now, if one does; networks left; dynamic energy; busy time; how much later the first
network may be ready than the second and still start before it. For each lane of slot
0, then of slot 1: group; repeats left; queue; unit; 1 if the group runs; when it ends, or else
is ready; its start; work left; demand; what it gets of the unit beside another one; dynamic power;
slope, offset, cap; minor slope and its cap; bandwidth of the memory,
and the loss beside the group in the other slot if both ask for more; 1 / the two denominators."""


MOST_QUEUES, MOST_CHAINS = 8, 63
"""Units and networks that :mod:`fitness.simulator.chains.many_chains` has room for."""
MANY = columns(
    **dict.fromkeys(("row", "now", "networks_left", "dynamic_fj", "busy_ps"), (LANES, np.int64)),
    **dict.fromkeys(
        (
            *("network", "runs", "when", "started", "work", "rate", "demand"),
            *("dynamic", "heavy_num", "heavy_den", "heavy_offset", "heavy_cap"),
            *("minor_num", "minor_den", "peak", "memory"),
        ),
        (MOST_QUEUES * LANES, np.int64),
    ),
    heavy_inverse=(MOST_QUEUES * LANES, np.float64),
    minor_inverse=(MOST_QUEUES * LANES, np.float64),
)
"""For each lane the figures of a design point, as in ``FIGURES``. For each lane of each queue those
of the group that runs there, ``runs`` 1, or of the last one. An idle queue has a demand of 0, and
``when`` is the instant at which the next group is ready for it."""


@dataclass(frozen=True, eq=False)
class Chains(Tables):
    """Costs of chains, the same for all design points.

    A row of ``cost`` is a group on a unit at a choice of its clocks, in the order of
    ``Plan.time_ps``. A row of ``memory`` is a unit at an operating point of the memory.
    """

    cost: RecordArray
    """[rows] of ``COST``"""
    memory: RecordArray
    """[rows] of ``MEMORY``"""
    delay_ps: IntArray
    """[groups, units, units]: time from the end of the group before on one unit until this one is
    ready on another, 0 for the first of a chain."""
    moving_ps: IntArray
    """[groups, units, units]: likewise, work of one of the two."""
    chain: RecordArray
    """[networks, at least SLOTS] of ``CHAIN``"""


@dataclass(frozen=True, eq=False)
class Lanes(Tables):
    """The state of the simulations in progress."""

    figure: RecordArray
    """One ``FIGURES``"""
    table_row: IntArray
    """[LANES, units]: begin of the costs at the chosen clocks."""
    unit_used: IntArray
    """[LANES, units]"""
    domain_on: IntArray
    """[domains]"""


@dataclass(frozen=True, eq=False)
class Crowd(Tables):
    """The state of the simulations of many chains in progress."""

    figure: RecordArray
    """One ``MANY``"""
    queue: IntArray
    """[units]: in which a unit's groups wait."""
    runs: NDArray[np.uint64]
    """[queues]: bit i is 1 if a group of the queue runs in lane i, as in the column of that name:
    the one is for loops over lanes, the other for vectors."""
    ends: NDArray[np.uint64]
    """[queues]: likewise if one ends now."""
    touched: NDArray[np.uint64]
    """[queues]: likewise if something may start now, unless one runs."""
    waits: NDArray[np.uint64]
    """[lanes, queues]: bit n is 1 if network n waits for the queue, or is on its way there."""
    group: Annotated[IntArray, "lanes x networks"]
    """The group of each network that runs or waits."""
    entry: Annotated[IntArray, "lanes x networks"]
    """Its row of ``Chains.cost``."""
    ready: Annotated[IntArray, "lanes x networks"]
    moving: Annotated[IntArray, "lanes x networks"]
    """Work of transitions that its unit does."""
    priority: Annotated[IntArray, "lanes x networks"]
    repeats_left: Annotated[IntArray, "lanes x networks"]
    table_row: Annotated[IntArray, "lanes x units"]
    """Begin of the costs at the chosen clocks."""
    unit_used: Annotated[IntArray, "lanes, units"]
    domain_on: Annotated[IntArray, "domains"]


def are_chains(problem: Problem) -> bool:
    """Return whether the simulation of chains is possible.

    All networks must be chains of groups that do not wait for each other, without rates of their
    own, and with one priority each. All their repeats must take the same time, and their costs must
    fit a table.
    """
    chain = {(group, group + 1) for network in problem.networks for group in network.groups[:-1]}
    return (
        not problem.has_rates
        and problem.searched_order is not SearchedOrder.GROUPS
        and not any(network.waits_for for network in problem.networks)
        and all(unit.step_ps is None for unit in problem.units)
        and len(problem.edges) == len(chain)
        and set(problem.edges) == chain
        and all(
            unit.contention is None
            or problem.memory_domain is None
            or problem.memory_domain in unit.clocks
            for unit in problem.units
        )
        and sum(unit.time_ps.size for unit in problem.units) <= MAX_COSTS
    )


def are_separate(problem: Problem) -> bool:
    """Return whether :mod:`fitness.simulator.chains.many_chains` can simulate chains: every unit
    runs one group at a time, and there is room for all."""
    return (
        all(unit.dispatch != SHARED for unit in problem.units)
        and len(problem.networks) <= MOST_CHAINS
        and len(set(problem.unit_of)) <= MOST_QUEUES
    )


def make_chains(problem: Problem, plan: Plan) -> Chains:
    """Return the tables of a problem for which :func:`are_chains` holds."""
    from paretosoc.fitness.simulator.chains.two_chains import fill_costs

    chains, memory_row = _without_costs(Structure(problem), plan.contention.shape[1])
    chains = chains.with_values(
        cost=records(COST, len(memory_row)),
        memory=records(MEMORY, len(chains.memory)),
    )
    fill_costs(plan, chains, memory_row)
    return chains


@lru_cache(maxsize=2)
def _without_costs(structure: Structure, points: int) -> tuple[Chains, IntArray]:
    """Return the tables of all problems with this structure, and the row of ``Chains.memory`` of
    each cost. ``points``: operating points of the memory."""
    problem = structure.problem
    groups, units = problem.group_count, len(problem.units)
    delay = np.zeros((groups, units, units), dtype=np.int64)
    moving = np.zeros_like(delay)
    for edge, (_, head) in enumerate(problem.edges):
        delay[head] = problem.delay_ps[edge]
        moving[head] = problem.transition_ps[edge] - problem.delay_ps[edge]
    chain = records(CHAIN, max(SLOTS, len(problem.networks)))
    for n, network in enumerate(problem.networks):
        chain[n] = network.groups.start, network.groups.stop, network.repeats, network.arrival_ps
    chains = Chains(
        records(COST, 0),
        records(MEMORY, units * points),
        delay.reshape(-1),
        moving.reshape(-1),
        chain,
    )
    return chains, np.concatenate([_memory_rows(problem, u, points) for u in range(units)])


def _memory_rows(problem: Problem, u: int, points: int) -> IntArray:
    """Return [rows of the unit's costs]: the row of ``Chains.memory``."""
    unit = problem.units[u]
    counts = [len(problem.domains[clock].frequencies_khz) for clock in unit.clocks]
    at = np.zeros(counts, dtype=np.int64)
    if problem.memory_domain in unit.clocks:
        at += np.indices(counts)[unit.clocks.index(problem.memory_domain)]
    return np.repeat(u * points + at.reshape(-1), problem.group_count)


def make_lanes(plan: Plan) -> Lanes:
    """Return buffers for one population after the other."""
    return Lanes(
        figure=ones(FIGURES),
        table_row=np.zeros(LANES * plan.units, dtype=np.int64),
        unit_used=np.zeros((LANES, plan.units), dtype=np.int64),
        domain_on=np.zeros(plan.domains, dtype=np.int64),
    )


def make_crowd(plan: Plan) -> Crowd:
    """Return buffers for one population after the other, of many chains."""
    return zeros_for(
        Crowd,
        {
            "lanes": LANES,
            "units": plan.units,
            "domains": plan.domains,
            "lanes x units": LANES * plan.units,
            "lanes x networks": LANES * plan.networks,
        },
        queue=np.unique(plan.unit_of, return_inverse=True)[1].astype(np.int64),
        runs=np.zeros(plan.unit_count, dtype=np.uint64),
        ends=np.zeros(plan.unit_count, dtype=np.uint64),
        touched=np.zeros(plan.unit_count, dtype=np.uint64),
        waits=np.zeros((LANES, plan.unit_count), dtype=np.uint64),
        figure=ones(MANY),
    )
