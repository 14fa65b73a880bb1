"""Buffers for simulating any number of chains, for :mod:`fitness.simulator.chains.chains`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.arrays import IntArray
from fitness.simulator.layout import Plan
from fitness.simulator.state import NEVER
from fitness.simulator.tables import RecordArray, Tables, columns, ones, record, records

LANES = 16
"""Design points that are simulated at the same time: what two vector registers hold. With one, the
processor waits for each division."""
MAX_UNITS = 8
PLACES = MAX_UNITS * LANES
FIGURES = columns(
    **dict.fromkeys(
        (
            *("now", "before", "others", "runs", "when", "work", "rate", "demand"),
            *("heavy_num", "heavy_den", "heavy_offset", "heavy_cap"),
            *("minor_num", "minor_den", "peak", "group", "token", "started", "dynamic"),
            *("queue_head", "queued", "table_row", "used", "group_work"),
            *("dynamic_fj", "dynamic_high"),
        ),
        (PLACES, np.int64),
    ),
    **dict.fromkeys(
        (
            *("row", "left", "busy_ps", "rounds", "behind", "round_over", "executions"),
            "begun_ps",
        ),
        (LANES, np.int64),
    ),
    heavy_inverse=(PLACES, np.float64),
    minor_inverse=(PLACES, np.float64),
)
"""For each unit in each lane, at unit x LANES + lane: the instant, and the one before; what all
others demand; 1 where a group runs; when it ends, or else the first in the queue is ready, or
NEVER; work left at the instant before; rate since then; demand; slope in the others' demand; minor
slope and its cap; group; token; start; dynamic power; first entry and length of the queue; where
the costs at the chosen clocks begin; 1 where something ran; work of the group when it started;
dynamic energy, its high part apart; 1 / the two denominators. For each lane: its row, -1 where
idle; networks left, -1 where a unit cannot run its group; busy time; rounds that are over, networks
that have not ended the next one, 1 where one has ended at this instant; executions ended; when the
window began, or -1."""
WAITING = record("ready", "priority", "group", "token")
"""Entry of a queue."""
TOKEN = record("network", "frame", "repeats")
"""Network, frame (from 0), repeats left."""


@dataclass(frozen=True, eq=False)
class ChainLanes(Tables):
    """The state of the simulations in progress.

    A *token* is one of the frames in flight of one network: at each instant it has one group, which
    runs, waits, or is in transition.
    """

    in_flight: int
    queue_size: int
    """Entries of a queue: a power of two, at least as many as there are tokens."""
    figure: RecordArray
    """One ``FIGURES``"""
    event: IntArray
    """[PLACES]: unit x LANES + lane, where something happens at the instant."""
    queue: RecordArray
    """[LANES x units, queue_size] of ``WAITING``: a ring by (ready time, priority), with what is
    still in transition; priority = frame x networks + network."""
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


def make_chain_lanes(plan: Plan, *, in_flight: int = 1, streams: bool = False) -> ChainLanes:
    """Buffers for one population after the other."""
    tokens = plan.networks * in_flight
    queue_size = 1 << (tokens - 1).bit_length()
    token = records(TOKEN, LANES, tokens)
    token["network"] = np.arange(tokens) // in_flight
    figure = ones(FIGURES)
    figure["demand"] = 0
    figure["when"] = NEVER
    return ChainLanes(
        in_flight=in_flight,
        queue_size=queue_size,
        figure=figure,
        event=_zeros(PLACES),
        queue=records(WAITING, LANES * plan.units, queue_size),
        token=token,
        ended=_zeros(LANES * plan.networks if streams else 0),
        executed=_zeros(LANES * plan.networks * plan.units if streams else 0),
        unit_used=_zeros(plan.units),
        domain_on=_zeros(plan.domains),
        streams=streams,
    )


def _zeros(count: int) -> IntArray:
    return np.zeros(count, dtype=np.int64)
