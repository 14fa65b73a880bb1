"""Buffers of the timeline for any number of chains, for :mod:`fitness.simulator.chains.chains`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fitness.simulator.layout import IntArray, Plan
from fitness.simulator.state import NEVER

FloatArray = NDArray[np.float64]

LANES = 16
"""Design points that are played at the same time: what two vector registers hold. With one, the
processor waits for each division."""
MAX_UNITS = 8
PLACES = MAX_UNITS * LANES
# Fields of ChainLanes.figure of a unit in a lane, at field + unit x LANES + lane. The distances
# between fields are constants: so the compiler sees that nothing that is written is read again.
(
    NOW,
    BEFORE,
    OTHERS,
    RUNS,
    WHEN,
    WORK,
    RATE,
    OWN,
    HEAVY_NUM,
    HEAVY_DEN,
    HEAVY_OFFSET,
    HEAVY_CAP,
    MINOR_NUM,
    MINOR_DEN,
    PEAK,
    GROUP,
    TOKEN,
    STARTED,
    DYNAMIC,
    QUEUE_HEAD,
    QUEUED,
    TABLE_ROW,
    USED,
    WHOLE_WORK,
    DYNAMIC_FJ,
    DYNAMIC_HIGH,
) = range(0, 26 * PLACES, PLACES)
# Fields of a lane, at field + lane.
ROW, LEFT, BUSY_PS, ROUND, BEHIND, ROUND_OVER, EXECUTIONS, BEGUN_PS = range(
    26 * PLACES, 26 * PLACES + 8 * LANES, LANES
)
FIGURES = 26 * PLACES + 8 * LANES
# Fields of ChainLanes.inverse of a unit in a lane.
HEAVY_INVERSE, MINOR_INVERSE = 0, PLACES
# Columns of ChainLanes.queue and .token.
QUEUE_READY, QUEUE_PRIORITY, QUEUE_GROUP, QUEUE_TOKEN = range(4)
TOKEN_NETWORK, TOKEN_FRAME, TOKEN_REPEATS = range(3)
QUEUE_WIDTH, TOKEN_WIDTH = 4, 4


class ChainLanes(NamedTuple):
    """Where the timelines stand that are being played; int64 but for the inverses.

    A *token* is one of the frames in flight of one network: at each instant it has one group, which
    runs, waits, or is in transition.
    """

    in_flight: int
    queue_size: int
    """Entries of a queue: a power of two, at least as many as there are tokens."""
    figure: IntArray
    """[FIGURES]. For each unit in each lane: the instant, and the one before; what all others ask
    for; 1 where a group runs; when it ends, or else the first in the queue is ready, or NEVER; work
    left at the instant before; rate since then; demand; slope in the others' demand; minor slope
    and its cap; group; token; start; dynamic power; first entry and length of the queue; where the
    costs at the chosen clocks begin; 1 where something ran; work of the whole group; dynamic
    energy, its high part apart. For each lane: its row, -1 where idle; networks left, -1 where a
    unit cannot run its group; busy time; rounds that are over, networks that have not ended the
    next one, 1 where one has ended at this instant; executions ended; when the window began, or
    -1."""
    inverse: FloatArray
    """For each unit in each lane: 1 / the two denominators."""
    event: IntArray
    """[PLACES]: unit x LANES + lane, where something happens at the instant."""
    queue: IntArray
    """[LANES, units, queue_size, QUEUE_WIDTH]: a ring by (ready time, priority), with what is still
    in transition; priority = frame x networks + network."""
    token: IntArray
    """[LANES, tokens, TOKEN_WIDTH]: network, frame (from 0), repeats left."""
    ended: IntArray
    """[LANES, networks], of networks that run freely: frames ended."""
    executed: IntArray
    """[LANES, networks, units], of networks that run freely: stand-alone time of what has ended
    since the window began, less what had been executed by then."""
    unit_used: IntArray
    """[units]"""
    domain_on: IntArray
    """[domains]"""
    streams: tuple[int, ...]
    """One entry where networks run freely. The length is part of the type: the compiler leaves out
    what is not wanted."""


def make_chain_lanes(plan: Plan, *, in_flight: int = 1, streams: bool = False) -> ChainLanes:
    """Buffers for one population after the other."""
    tokens = plan.networks * in_flight
    queue_size = 1 << (tokens - 1).bit_length()
    token = np.zeros((LANES, tokens, TOKEN_WIDTH), dtype=np.int64)
    token[:, :, TOKEN_NETWORK] = np.arange(tokens) // in_flight
    figure = np.ones(FIGURES, dtype=np.int64)
    figure[OWN : OWN + PLACES] = 0
    figure[WHEN : WHEN + PLACES] = NEVER
    return ChainLanes(
        in_flight=in_flight,
        queue_size=queue_size,
        figure=figure,
        inverse=np.ones(2 * PLACES),
        event=_zeros(PLACES),
        queue=_zeros(LANES * plan.units * queue_size * QUEUE_WIDTH),
        token=token.reshape(-1),
        ended=_zeros(LANES * plan.networks if streams else 0),
        executed=_zeros(LANES * plan.networks * plan.units if streams else 0),
        unit_used=_zeros(plan.units),
        domain_on=_zeros(plan.domains),
        streams=(1,) if streams else (),
    )


def _zeros(count: int) -> IntArray:
    return np.zeros(count, dtype=np.int64)
