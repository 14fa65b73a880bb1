"""Costs of chains, and buffers of the timeline for two; compiled into
:mod:`fitness.simulator.chains.two_chains` and :mod:`fitness.many_chains_play`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fitness.simulator.layout import IntArray, Plan
from results.problem.problem import Problem

FloatArray = NDArray[np.float64]

LANES = 16
"""Design points that are played at the same time. A multiple of what a vector register holds; with
more, their tables leave the nearest cache."""
SLOTS = 2
"""Networks that can run at the same time."""
MAX_COSTS = 1 << 20
"""Rows of ``Chains.cost`` beyond which the table, 64 bytes a row, is not worth its memory."""

# Columns of Chains.cost.
COST_WORK, COST_DEMAND, COST_DYNAMIC, COST_NUM, COST_DEN, COST_OFFSET, COST_CAP, COST_MEMORY = (
    range(8)
)
# Columns of Chains.memory.
MEMORY_NUM, MEMORY_DEN, MEMORY_PEAK = range(3)
# Columns of Chains.chain.
CHAIN_FIRST, CHAIN_END, CHAIN_REPEATS, CHAIN_ARRIVAL = range(4)
COST_WIDTH, MEMORY_WIDTH, CHAIN_WIDTH = 8, 4, 4

# Fields of Lanes.figure: entry (field, lane) is at field + lane; of slot 1 SLOT_1 further on.
ROW, NOW, ENDED, NETWORKS_LEFT, DYNAMIC_FJ, BUSY_PS = range(0, 6 * LANES, LANES)
(
    GROUP,
    REPEATS_LEFT,
    UNIT,
    RUNS,
    WHEN,
    STARTED,
    WORK,
    DEMAND,
    DYNAMIC,
    HEAVY_NUM,
    HEAVY_DEN,
    HEAVY_OFFSET,
    HEAVY_CAP,
    MINOR_NUM,
    MINOR_DEN,
    PEAK,
) = range(6 * LANES, 22 * LANES, LANES)
SLOT_1 = 16 * LANES
FIGURES = 6 * LANES + SLOTS * SLOT_1
# Fields of Lanes.inverse.
HEAVY_INVERSE, MINOR_INVERSE = 0, LANES
INVERSE_SLOT_1 = 2 * LANES
INVERSES = SLOTS * INVERSE_SLOT_1


class Chains(NamedTuple):
    """What chains cost, the same for all design points; flat tables.

    A row of ``cost`` is a group on a unit at a choice of its clocks, in the order of
    ``Plan.time_ps``; a row of ``memory`` is a unit at an operating point of the memory.
    """

    cost: IntArray
    """[rows, COST_WIDTH]: work, below 0 where the unit cannot run the group; demand; dynamic power;
    slope in the other's demand, as fraction, offset and cap; row of ``memory``."""
    cost_inverse: FloatArray
    """[rows]: 1 / the denominator."""
    memory: IntArray
    """[rows, MEMORY_WIDTH]: slope of minor contention, as fraction, and its cap."""
    memory_inverse: FloatArray
    """[rows]: 1 / the denominator."""
    delay_ps: IntArray
    """[groups, units, units]: from the end of the group before on one unit until this one is ready
    on another; 0 for the first of a chain."""
    chain: IntArray
    """[networks, at least SLOTS; CHAIN_WIDTH]: first group, the one after the last, repeats (0
    where there is no second network), arrival."""


class Lanes(NamedTuple):
    """Where the timelines stand that are being played."""

    figure: IntArray
    """[FIGURES]. For each lane: its row, -1 where idle; the instant; where the figures of the slot
    are whose group ends now, -1 where none does; networks left; dynamic energy; busy time. For each
    slot of it: group; repeats left; unit; 1 where the group runs; when it ends, or else is ready;
    its start; work left; demand; dynamic power; slope, offset, cap; minor slope and its cap."""
    inverse: FloatArray
    """[INVERSES]: for each slot, 1 / the two denominators."""
    ending: IntArray
    """[LANES]: those in which a group ends now."""
    table_row: IntArray
    """[LANES, units]: where the costs at the chosen clocks begin."""
    unit_used: IntArray
    """[LANES, units]"""
    domain_on: IntArray
    """[domains]"""


def are_chains(problem: Problem) -> bool:
    """Whether all networks are chains of groups that do not wait for each other, and their costs
    fit a table."""
    chain = {(group, group + 1) for network in problem.networks for group in network.groups[:-1]}
    return (
        not any(network.waits_for for network in problem.networks)
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


def make_chains(problem: Problem, plan: Plan) -> Chains:
    """The tables of a problem for which :func:`are_chains` holds."""
    from fitness.simulator.chains.two_chains import fill_costs

    units = plan.units
    points = plan.contention.shape[1]
    memory_row = np.concatenate([_memory_rows(problem, u, points) for u in range(units)])
    delay = np.zeros((plan.groups, units, units), dtype=np.int64)
    for edge, (_, head) in enumerate(problem.edges):
        delay[head] = problem.transition_ps[edge]
    chain = np.zeros((max(SLOTS, plan.networks), CHAIN_WIDTH), dtype=np.int64)
    for n, network in enumerate(problem.networks):
        groups = network.groups
        chain[n] = groups.start, groups.stop, network.repeats, network.arrival_ps
    chains = Chains(
        cost=np.zeros(len(memory_row) * COST_WIDTH, dtype=np.int64),
        cost_inverse=np.zeros(len(memory_row)),
        memory=np.zeros(units * points * MEMORY_WIDTH, dtype=np.int64),
        memory_inverse=np.zeros(units * points),
        delay_ps=delay.reshape(-1),
        chain=chain.reshape(-1),
    )
    fill_costs(plan, chains, memory_row)
    return chains


def _memory_rows(problem: Problem, u: int, points: int) -> IntArray:
    """[rows of the unit's costs]: row of ``Chains.memory``."""
    unit = problem.units[u]
    counts = [len(problem.domains[clock].frequencies_khz) for clock in unit.clocks]
    at = np.zeros(counts, dtype=np.int64)
    if problem.memory_domain in unit.clocks:
        at += np.indices(counts)[unit.clocks.index(problem.memory_domain)]
    return np.repeat(u * points + at.reshape(-1), problem.group_count)


def make_lanes(plan: Plan) -> Lanes:
    """Buffers for one population after the other."""
    return Lanes(
        figure=np.ones(FIGURES, dtype=np.int64),
        inverse=np.ones(INVERSES),
        ending=np.zeros(LANES, dtype=np.int64),
        table_row=np.zeros(LANES * plan.units, dtype=np.int64),
        unit_used=np.zeros((LANES, plan.units), dtype=np.int64),
        domain_on=np.zeros(plan.domains, dtype=np.int64),
    )
