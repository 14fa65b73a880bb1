"""The choices that a branch and bound may make, as flat arrays for the kernels.

:mod:`fitness.branch_and_bound.choices` fills them.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.types.tables import Tables

UNLIMITED = -1
BLOCKS = 2
"""Of rows of prices: those of the makespan, then those of energy."""
# Minimised figures, entries of BranchingRules.objective.
MAKESPAN, NETWORK_LATENCY, RATE_SUM, ENERGY, POWER, TOKEN_TIME, TOKEN_ENERGY, LOSS, MEMORY = range(
    9
)


@dataclass(frozen=True, eq=False)
class BranchingRules(Tables):
    """The mapping rules and the shape of the networks. All arrays are int64.

    Lists of lists are flat, entry i between ``X_start[i]`` and ``X_start[i + 1]``.
    """

    allowed: IntArray
    """[groups x units]: 1 if a group may be on a unit."""
    alike: IntArray
    """[units]: the last one before it that is interchangeable with it, or -1."""
    network: IntArray
    """[groups]"""
    in_start: IntArray
    in_group: IntArray
    in_edge: IntArray
    """Groups that feed a group, and the begin of the edge in ``Plan.transition_ps``."""
    out_start: IntArray
    out_group: IntArray
    out_edge: IntArray
    """Groups that a group feeds, and the begin of the edge in ``Plan.transition_ps``."""
    first: IntArray
    """[networks]: first group."""
    size: IntArray
    repeats: IntArray
    first_job: IntArray
    first_instance: IntArray
    order: IntArray
    """[networks]: every network after those that it waits for."""
    wait_start: IntArray
    wait_network: IntArray
    is_chain: IntArray
    """[networks]: 1 if group i feeds group i + 1 and nothing else."""
    stays: IntArray
    """[units]: 1 if a group after which no transition is left forces the next one to the same
    entry: the unit has one number format."""
    limit: IntArray
    """[networks]: maximum number of transitions, or ``UNLIMITED``."""
    layers: IntArray
    """[networks]: 1 + ``limit`` if priced times depend on the transitions that are left, else 0."""
    segments: IntArray
    """[units]: maximum number of segments, or ``UNLIMITED``."""
    loss_limit: IntArray
    """[networks]: maximum loss of accuracy in ppm, or ``UNLIMITED``."""
    loss: IntArray
    """[groups x units]: accuracy that a group costs, in ppm, or 0 if it is not known."""
    least_loss: IntArray
    """[groups]: the smallest of them over the units that a group may be on."""
    more_bytes: IntArray
    """[figures, groups x units]: memory of a group's constants beyond the least over the units that
    it may be on. Figure 0 is of all pools together, the others are of each pool that has a name.
    There are no figures if memory is not counted."""
    least_bytes: IntArray
    """[figures]: memory that is held on any mapping."""
    held_bytes: IntArray
    """[places, groups x units]: least memory that a network holds, see :mod:`fitness.memory`."""
    least_held_bytes: IntArray
    """[networks, places]: memory that it holds there on any mapping."""
    place_figure: IntArray
    """[places]: the figure of its pool, or -1."""
    memory_cap_bytes: IntArray
    """[figures]: or ``UNLIMITED``."""
    deadline: IntArray
    """[networks]: maximum latency in ps, or ``UNLIMITED``."""
    ladder: IntArray
    """[domains]: operating points."""
    objective: IntArray
    """[objectives]: the minimised figure, such as ``MAKESPAN``."""
    objective_network: IntArray
    """[objectives]: whose latency or tokens, or -1."""
    needs_power: int
    """1 if power or energy is minimised or limited."""
    optional: IntArray
    """Domains that :mod:`fitness.branch_and_bound.trade_off` assumes to be on or off."""
    set_count: int
    """Sets of them. Bit k of a set is 1 if ``optional[k]`` may be on."""
    unit_set: IntArray
    """[units]: those that it needs."""
    last_unfit: IntArray
    """[sets, networks]: the last group that no unit can run with these domains, or -1."""
    price_rows: IntArray
    """[blocks]: rows of prices. There are none of energy unless makespan and energy are the two
    objectives."""
    unit_price: IntArray
    """[blocks, units, rows]: see :mod:`fitness.branch_and_bound.prices`. Rows beyond
    ``price_rows`` are 0."""
    network_price: IntArray
    """[blocks, networks, rows]: 0 for a network that is no chain."""
    has_graphs: int
    """1 if some network is no chain."""
    price_sum: IntArray
    """[blocks, rows]: of all units, each once, and networks."""
    trade_time: int
    """Position of the makespan among the two."""
    trade_longest: int
    """Larger makespans times prices could leave int64."""
    tolerance_ppm: int
    """Bounds within this of a member are fathomed."""
    power_cap_mw: int
    energy_budget_fj: int
    period_ps: int
    """Time over which energy and power are counted. ``UNLIMITED`` stands for the makespan."""
