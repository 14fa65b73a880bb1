"""The state of a timeline, and what a design point chooses, as flat tables for the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fitness.simulator.layout import (
    CONTENTION_WIDTH,
    GROUP,
    INSTANCE_WIDTH,
    JOB,
    JOB_WIDTH,
    NETWORK,
    IntArray,
    Plan,
)

NEVER = np.int64((1 << 63) - 1)

# Entries of State.scalar.
NOW, FRAMES, IN_FLIGHT, FRAMES_LEFT, RUNNING_CHANGED, IN_TRANSITION, HEAP_SIZE = range(7)
COUNT_FROM, DYNAMIC_FJ, BUSY_PS, OPEN_COUNT, OPEN_UNIT, NEXT_END = range(7, 13)
MARKED, DYNAMIC_HIGH, LOGGED = range(13, 16)
SCALARS = 16
HIGH_FJ = 1 << 62
"""Taken from the dynamic energy of streams where it has grown so far: they may run for long."""
# Columns of Chosen.group.
UNIT, ALONE, DEMAND, DYNAMIC = range(4)
# Columns of State.unit.
PLACE, FREE, STARTED, WORK, RATE, SINCE, END, OWN, QUEUED = range(9)
HEAVY_NUM, HEAVY_DEN, HEAVY_OFFSET, HEAVY_CAP = range(9, 13)
# Columns of State.heap.
HEAP_READY, HEAP_PRIORITY, HEAP_PLACE = range(3)
# Columns of State.place.
MISSING, READY, PLACE_INSTANCE, PLACE_SLOT, PLACE_GROUP = range(5)
# Columns of State.slot.
FRAME, NETWORKS_LEFT, RELEASE = range(3)
# Columns of State.stream; snapshots of all networks' ENDED follow.
ENDED, FOURTH_PS, TWELFTH_PS, FOURTH_FJ, FOURTH_HIGH, COUNTS = range(6)
# Columns of State.job.
JOB_WAITS, JOB_LEFT = range(2)
# Columns of State.log.
LOG_READY, LOG_START, LOG_END = range(3)
# Every table is flat, its width a constant and, where it is hot, a power of two: entry
# (row, column) is at row * WIDTH + column. As two-dimensional arrays, whose widths the compiler
# does not know, they cost a multiplication and a load more at every access.
GROUP_WIDTH, UNIT_WIDTH, HEAP_WIDTH, PLACE_WIDTH, SLOT_WIDTH = 4, 16, 4, 8, 4
JOB_STATE_WIDTH, LOG_WIDTH = 2, 3


class Chosen(NamedTuple):
    """What a design point chooses, looked up once; all int64."""

    group: IntArray
    """[groups, GROUP_WIDTH]: unit, and its stand-alone time, demand and dynamic power there."""
    domain_on: IntArray
    """[domains]"""
    unit_used: IntArray
    """[units]"""
    table_row: IntArray
    """[units]: where the costs at the chosen clocks begin."""
    contention: IntArray
    """[units, CONTENTION_WIDTH] at the chosen clock of the memory."""


class State(NamedTuple):
    """Where a timeline stands; all int64.

    A *place* is an instance in one of the F frames in flight, numbered ring x instances + instance.
    Frame k has the places of frame k - F, which has ended when k is released. A *slot* is a frame
    in flight: the ring position itself, but ring x networks + network where every network is a
    stream of its own.
    """

    scalar: IntArray
    """[SCALARS]: the instant; frames in all, in flight and left; 1 where the running set has
    changed since rates were computed; groups in transition; entries of a heap; the first frame,
    from 0, whose dynamic energy and busy time are counted; these two so far; groups whose unit is
    open and that wait for nothing else; the unit that is about to start a group at open clocks, or
    -1; when the next running group ends, NEVER where none runs; networks whose frame 4 has ended at
    this instant; how often 2**62 fJ have been taken from the dynamic energy; executions
    logged. *Frames left* of streams: networks that have not ended their last frame."""
    unit: IntArray
    """[units, UNIT_WIDTH]: place of the running group; 1 where nothing runs; its start; work left
    at SINCE; rate; SINCE; when it ends at that rate, NEVER where nothing runs; its demand, else 0;
    groups queued; slope in the others' demand, as fraction, offset and cap."""
    heap: IntArray
    """[units + 1, places, HEAP_WIDTH]: ordered by (ready time, priority), with priority =
    frame x instances + instance; the last heap holds what is in transition."""
    place: IntArray
    """[places, PLACE_WIDTH]: edges that have not delivered; latest delivery so far, then the ready
    time; instance, slot and group, which never change."""
    job: IntArray
    """[in flight x jobs, JOB_STATE_WIDTH]: jobs still waited for; groups left that feed none."""
    slot: IntArray
    """[slots, SLOT_WIDTH]: frame, from 0; networks left; release."""
    latency: IntArray
    """[frames, networks]"""
    frame_end: IntArray
    """[frames]"""
    stream: IntArray
    """[networks, COUNTS + networks], or nothing where there is a common frame: frames ended; when
    frames 4 and 12 ended; dynamic energy up to the end of frame 4, its high part apart; and how
    many frames every network had ended by then."""
    open: IntArray
    """[places or 0]: places of the open groups, where the timeline stops at open choices."""
    log: IntArray
    """[frames x instances or 0, LOG_WIDTH]: ready, start and end of every execution, if wanted."""
    logged: IntArray
    """[rows of ``log``, or 0]: of streams, frame x instances + instance of each row; they are in
    the order of their ends."""
    stops: tuple[int, ...]
    """One entry where the timeline stops at open choices, else none. The length of a tuple is part
    of its type: the compiler leaves out what is not wanted, which cost 10 % of the time as a test
    at every event. So with the next three."""
    logs: tuple[int, ...]
    """One entry where executions are logged."""
    warms_up: tuple[int, ...]
    """One entry where the first frames are not counted."""
    streams: tuple[int, ...]
    """One entry where there is no common frame: every network is a stream of its own."""


def make_state(
    plan: Plan,
    *,
    frames: int,
    in_flight: int,
    log: bool = False,
    log_rows: int = 0,
    count_from: int = 0,
    stops: bool = False,
    streams: bool = False,
) -> State:
    """Buffers for one timeline after the other.

    Energy is counted from frame ``count_from`` on, from 0; with ``stops`` the timeline stops at
    open choices; with ``streams`` every network is a stream of its own, and ``frames`` are those of
    the slowest; of them ``log_rows`` executions can be logged.
    """
    ring = in_flight if streams else min(in_flight, frames)
    log_rows = log_rows if streams else frames * plan.instances
    slots = ring * plan.networks if streams else ring
    places = ring * plan.instances
    scalar = _zeros(SCALARS)
    scalar[FRAMES], scalar[IN_FLIGHT], scalar[HEAP_SIZE] = frames, ring, places * HEAP_WIDTH
    scalar[COUNT_FROM] = count_from
    place = _zeros(places, PLACE_WIDTH)
    slot, instance = np.divmod(np.arange(places), plan.instances)
    if streams:
        job = plan.instance.reshape(-1, INSTANCE_WIDTH)[instance, JOB]
        slot = slot * plan.networks + plan.job.reshape(-1, JOB_WIDTH)[job, NETWORK]
    place[:, PLACE_SLOT], place[:, PLACE_INSTANCE] = slot, instance
    place[:, PLACE_GROUP] = plan.instance.reshape(-1, INSTANCE_WIDTH)[instance, GROUP]
    return State(
        scalar=scalar,
        unit=_zeros(plan.units * UNIT_WIDTH),
        heap=_zeros((plan.units + 1) * places * HEAP_WIDTH),
        place=place.reshape(-1),
        job=_zeros(ring * plan.jobs * JOB_STATE_WIDTH),
        slot=_zeros(slots * SLOT_WIDTH),
        latency=_zeros(frames, plan.networks),
        frame_end=_zeros(frames),
        stream=_zeros(plan.networks * (COUNTS + plan.networks) if streams else 0),
        open=_zeros(places if stops else 0),
        log=_zeros(log_rows * LOG_WIDTH if log else 0),
        logged=_zeros(log_rows if log and streams else 0),
        stops=(1,) if stops else (),
        logs=(1,) if log else (),
        warms_up=(1,) if count_from and not streams else (),
        streams=(1,) if streams else (),
    )


def make_chosen(plan: Plan) -> Chosen:
    """Buffers for one design point after the other."""
    return Chosen(
        group=_zeros(plan.groups * GROUP_WIDTH),
        domain_on=_zeros(plan.domains),
        unit_used=_zeros(plan.units),
        table_row=_zeros(plan.units),
        contention=_zeros(plan.units * CONTENTION_WIDTH),
    )


def _zeros(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)
