"""Buffers for simulating any number of chains, for :mod:`fitness.simulator.chains.chains`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.arrays import IntArray
from fitness.simulator.layout import Plan
from fitness.simulator.state import NEVER
from fitness.simulator.tables import (
    CACHE_LINE,
    LANES,
    RecordArray,
    Tables,
    columns,
    ones,
    record,
    records,
)

MAX_UNITS = 8
PLACES = MAX_UNITS * LANES
LANE_BITS = LANES.bit_length() - 1
UNITS_OF_WORD = 64 // LANES
COLUMN = PLACES + CACHE_LINE // 8
"""Length of a column. Were it a power of two, all columns would compete for the same entries of the
nearest cache."""
FIGURES = columns(
    **dict.fromkeys(
        (
            *("runs", "when", "work", "rate", "demand", "token", "started", "dynamic"),
            *("heavy_num", "heavy_den", "heavy_offset", "heavy_cap"),
            *("minor_num", "minor_den", "peak", "table_row", "used", "group_work"),
            *("dynamic_fj", "dynamic_high"),
        ),
        (COLUMN, np.int64),
    ),
    **dict.fromkeys(
        (
            *("now", "before", "row", "memory_point", "left", "busy_ps", "rounds", "behind"),
            *("round_over", "executions", "begun_ps"),
        ),
        (LANES, np.int64),
    ),
    heavy_inverse=(COLUMN, np.float64),
    minor_inverse=(COLUMN, np.float64),
)
"""For each unit in each lane, at unit x LANES + lane: 1 where a group runs; when it ends, or else
the first of those that wait is ready, or NEVER; work left at the instant before; rate since then;
demand; token; start; dynamic power; slope in the others' demand; minor slope and its cap; where the
costs at the chosen clocks begin; 1 where something ran; work of the group when it started; dynamic
energy, its high part apart; 1 / the two denominators. For each lane: the instant, and the one
before; its row, -1 where idle; operating point of the memory; networks left, -1 where a unit cannot
run its group; busy time; rounds that are over, networks that have not ended the next one, 1 where
one has ended at this instant; executions ended; when the window began, or -1."""
TOKEN = record("network", "group", "repeats", "entry")
"""Network, the group that runs or waits, repeats left; where number formats are chosen, the entry
of the group's unit in its format."""


@dataclass(frozen=True, eq=False)
class ChainLanes(Tables):
    """The state of the simulations in progress.

    A *token* is one of the frames in flight of one network: at each instant it has one group, which
    runs, waits, or is in transition.
    """

    in_flight: int
    size: int
    """At least as many as there are tokens, a power of two and a multiple of LANES."""
    figure: RecordArray
    """One ``FIGURES``"""
    ready: IntArray
    """[LANES, units, size]: when a token that waits for the unit, or is in transition to it, is
    ready; else NEVER."""
    order: IntArray
    """[LANES, size]: (frame x networks + network) x size + token: who of those that became ready at
    the same time is first."""
    lead: IntArray
    """[LANES, size]: priority of the token's network x ``LEAD_PS``."""
    token: RecordArray
    """[LANES, tokens] of ``TOKEN``"""
    ended: IntArray
    """[LANES, networks], of networks that run freely: frames ended."""
    executed: IntArray
    """[LANES, networks, units], of networks that run freely: stand-alone time of what has ended
    since the window began, less what had been executed by then."""
    unit_used: IntArray
    """[units]"""
    domain_on: IntArray
    """[domains]"""
    streams: bool
    """Whether networks run freely."""
    has_formats: int
    """Whether units have several number formats: then a unit is the first of its entries. No bool,
    which would be compiled in: machine code is the same for both."""


def make_chain_lanes(plan: Plan, *, in_flight: int = 1, streams: bool = False) -> ChainLanes:
    """Buffers for one population after the other."""
    tokens = plan.networks * in_flight
    size = max(LANES, 1 << (tokens - 1).bit_length())
    token = records(TOKEN, LANES, tokens)
    token["network"] = np.arange(tokens) // in_flight
    figure = ones(FIGURES)
    figure["demand"] = 0
    figure["when"] = NEVER
    return ChainLanes(
        in_flight=in_flight,
        size=size,
        figure=figure,
        ready=_zeros(LANES * plan.units * size),
        order=_zeros(LANES * size),
        lead=_zeros(LANES * size),
        token=token,
        ended=_zeros(LANES * plan.networks if streams else 0),
        executed=_zeros(LANES * plan.networks * plan.units if streams else 0),
        unit_used=_zeros(plan.units),
        domain_on=_zeros(plan.domains),
        streams=streams,
        has_formats=int(plan.unit_count < plan.units),
    )


def _zeros(count: int) -> IntArray:
    return np.zeros(count, dtype=np.int64)
