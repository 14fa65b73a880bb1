"""The tables of a problem and a claim about it, that the check of trees reads."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.types.tables import Tables

NONE = -1
MAKESPAN, NETWORK, RATES, ENERGY, POWER, TOKEN_TIME, TOKEN_ENERGY, LOSS, MEMORY = range(9)
"""Kinds of objectives."""


@dataclass(frozen=True, eq=False)
class Facts(Tables):
    """The tables that stay the same from node to node, in int64.

    Lists of lists are flat, entry i between ``X_start[i]`` and ``X_start[i + 1]``. Absent limits
    are ``NONE``.

    An *instance* is a group in one repeat of its network in one slot of frames. Instances are in
    the order of slot, network, repeat and group.
    """

    groups: int
    units: int
    domains: int
    networks: int
    instances: int
    streams: int
    """Sequences of frames, with one slot for each of ``in_flight`` frames: the first slots of all,
    then the second ones."""
    slots: int
    in_flight: int
    last_frame: int
    """``NONE``: frames never run out."""
    due_ps: int
    """Time from one frame to the next if each is due at a time of its own, else 0."""
    of_frames: bool
    """Whether frames of one design point follow one another."""
    slot_start: IntArray
    unit_of: IntArray
    """[units]: the first entry of the same unit, which runs its groups in all number formats."""
    unit_count: int
    """Units that are first entries."""
    queues: int
    queue_of: IntArray
    """[networks, units]: queue in which groups of a network wait for an entry."""
    queue_unit: IntArray
    """[queues]: the first entry of its unit."""
    runs_engines: IntArray
    """[units]"""
    sharing_permille: IntArray
    """[units]: cost of sharing, or ``NONE`` if the unit is not shared."""
    joins_engines: IntArray
    """[networks]: 1 if engines may read or be read in their middle."""
    has_joins: int
    """1 for any such network."""
    group_of: IntArray
    """[instances]"""
    network_of: IntArray
    """[instances]"""
    slot_of: IntArray
    """[instances]"""
    repeat_of: IntArray
    """[instances]: from 0."""
    priority: IntArray
    """[groups]"""
    arrival_of: IntArray
    """[instances]: arrival after the release of the frame if nothing feeds it, else 0."""
    input_start: IntArray
    input: IntArray
    """Instances whose ends an instance waits for."""
    input_edge: IntArray
    """The edge, or edges + the hand-over, or ``NONE`` if a repeat or another network is awaited."""
    follower_start: IntArray
    follower: IntArray
    order: IntArray
    """Instances, each after its inputs and after the group numbered before it."""
    delay_ps: IntArray
    """Flat [edges, then hand-overs, units, units]: transitions that are no unit's work, else 0."""
    moves: IntArray
    """[units]: 1 if transitions to others are its work."""
    source_ps: IntArray
    """[edges, units, units]: work of the source's unit."""
    target_ps: IntArray
    """[edges, units, units]: work of the target's unit."""
    allowed: IntArray
    """[groups, units]"""
    alike: IntArray
    """[units]: the last one before it that is interchangeable with it, or ``NONE``."""
    network_of_group: IntArray
    first_group: IntArray
    """[networks]"""
    end_group: IntArray
    """[networks]: behind the last one."""
    is_chain: IntArray
    """[networks]"""
    grows: int
    """1 if later repeats take longer."""
    edge_start: IntArray
    edge_source: IntArray
    edge_target: IntArray
    edge_number: IntArray
    """Edges by network, and their numbers in the problem."""
    max_transitions: IntArray
    max_segments: IntArray
    """[units]"""
    max_loss_ppm: IntArray
    """[networks]"""
    loss_ppm: IntArray
    """[groups, units + 1]: the last column is the smallest over the units that a group may have."""
    weight_bytes: IntArray
    """[all pools, each pool; groups, units + 1]: likewise of each, without those of units that load
    whole networks."""
    activation_bytes: IntArray
    """[groups]"""
    only_pool: IntArray
    """[groups]: the pool of all units that it may have, or ``NONE``."""
    pool: IntArray
    """[units]"""
    loads_whole: IntArray
    """[units]"""
    only_unit: IntArray
    """[groups]: the only unit that it may have, or ``NONE``."""
    network_bytes: IntArray
    """[networks, units]: weights of all groups of a network."""
    memory_cap_bytes: IntArray
    """[all pools, each pool]: or ``NONE``."""
    deadline_ps: IntArray
    arrival_ps: IntArray
    """[networks]"""
    repeats: IntArray
    """[networks]"""
    clock_start: IntArray
    clock: IntArray
    clock_stride: IntArray
    """Domains of a unit, and how far one operating point is from the next in its tables."""
    table_start: IntArray
    """[units]: begin of its choices of operating points, which are rows of the next four tables."""
    time_ps: IntArray
    """[choices, groups]"""
    step_ps: IntArray
    """Time that each further repeat adds."""
    demand_kbps: IntArray
    dynamic_mw: IntArray
    idle_mw: IntArray
    """[choices]"""
    static_mw: IntArray
    """[domains, operating points]"""
    may_be_off: IntArray
    points: IntArray
    """[domains]: operating points."""
    memory: int
    contention: IntArray
    """[units, operating points of the memory, parameters]. The first is ``NONE`` if nothing slows
    the unit down."""
    board_mw: int
    needs_power: int
    cap_mw: int
    budget_fj: int
    period_ps: int
    objective: IntArray
    """[objectives]: such as ``MAKESPAN``."""
    objective_network: IntArray
    closing: IntArray
    """[members, objectives]: the smallest bounds that a member closes, sorted by the first. With
    two objectives the second falls."""
    makespan_column: int
    steps: IntArray
    """[steps, 2]: rising makespans and falling energies that close most, none without rows of
    energy."""
    optional: IntArray
    """Domains that the trade-off of makespan and energy assumes to be on or off: the first ones
    that may be off, at most three."""
    set_count: int
    """Sets of them. Bit k of a set is 1 if ``optional[k]`` is on."""
    unit_set: IntArray
    """[units]: those that a unit needs."""
    fits: IntArray
    """[sets, groups]: 1 if a group may be on a unit that needs no others."""
    price_rows: IntArray
    """[blocks]: rows of prices of the makespan, and of energy."""
    unit_price: IntArray
    """[blocks, units, rows]: 0 beyond ``price_rows``, as the next two."""
    network_price: IntArray
    """[blocks, networks, rows]: 0 for a network that is no chain."""
    price_sum: IntArray
    """[blocks, rows]: of all units, each with the largest of its entries, and all networks."""
    chain_edge: IntArray
    """[groups]: the edge from the group before in a chain, or -1."""
    counted: IntArray
    """[networks]: transitions of a chain that are told apart in priced times, -1 if it has no limit
    or one of ``MOST_COUNTED`` or more."""
    longest_ps: int
    """Makespans times prices stay in the tables' integers up to here."""
    most_fj: int
    """So do sums of energies."""

    exact: bool
    """Whether integers are Python's, which have no limit."""

    def __post_init__(self) -> None:
        if not self.exact:
            super().__post_init__()
            return
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, value.astype(object))
