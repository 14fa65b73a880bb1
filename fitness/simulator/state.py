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
DYNAMIC_FJ, BUSY_PS, OPEN_COUNT, OPEN_UNIT, NEXT_END, LOGGED = range(7, 13)
STREAMS, ROUND, BEHIND, ROUND_OVER, EXECUTIONS, BEGUN, KEPT = range(13, 20)
SCALARS = 20
HIGH_FJ = 1 << 62
"""Taken from the dynamic energy of streams where it has grown so far: they may run for long."""
OF_ONE_STREAM, OF_SEVERAL = (2048, 8192), (768, 3072)
"""A window where no state recurs begins and ends at the first rounds by whose ends so many
executions have ended; see :mod:`fitness.simulate_long_run`. A single stream seldom gets there;
several always do."""
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
FRAME, NETWORKS_LEFT, RELEASE, AGE = range(4)
# Rows of State.account: so far, when the window begins, when the kept state was.
SO_FAR, AT_BEGIN, AT_KEPT, ACCOUNTS = range(4)
# What a place holds, in State.form; JOINING and the number of inputs that are missing.
WAITING, RUNNING, JOINING = range(1, 4)
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
    changed since rates were computed; groups in transition; entries of a heap; dynamic energy and
    busy time so far; groups whose unit is open and that wait for nothing else; the unit that is
    about to start a group at open clocks, or -1; when the next running group ends, NEVER where none
    runs; executions logged. Of streams: their number; rounds that are over (round k is when every
    stream has ended k frames); streams that have not ended the next one; 1 where a round has ended
    at this instant; executions ended; 1 where the window has begun; the round whose state was
    kept, or 0."""
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
    """[slots, SLOT_WIDTH]: frame, from 0; networks left; release; where a state's form is written,
    how many of the frames in flight are older."""
    latency: IntArray
    """[frames, networks]"""
    frame_end: IntArray
    """[frames]"""
    ended: IntArray
    """[streams]: frames ended; nothing where a given number of frames is played."""
    account: IntArray
    """[ACCOUNTS, account_width]: the instant; per unit dynamic energy, then how often 2**62 fJ have
    been taken from it; per stream and unit the stand-alone time executed. The row SO_FAR leaves out
    what runs."""
    form: IntArray
    """[2 x form size] where a recurring state is looked for: the state relative to the instant, and
    the one that was kept. See :mod:`fitness.simulator.recurrence`."""
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
    at every event. So with the next two."""
    logs: tuple[int, ...]
    """One entry where executions are logged."""
    streams: tuple[int, ...]
    """One entry where frames never run out: of one stream, whose frame is all networks, or of one
    for each network."""


def make_state(
    plan: Plan,
    *,
    frames: int,
    in_flight: int,
    log: bool = False,
    log_rows: int = 0,
    stops: bool = False,
    streams: int = 0,
) -> State:
    """Buffers for one timeline after the other.

    With ``stops`` the timeline stops at open choices. With ``streams``, 1 or as many as networks,
    frames never run out, and ``frames`` means nothing; of them ``log_rows`` executions can be
    logged.
    """
    ring = in_flight if streams else min(in_flight, frames)
    log_rows = log_rows if streams else frames * plan.instances
    slots = ring * max(streams, 1)
    places = ring * plan.instances
    scalar = _zeros(SCALARS)
    scalar[FRAMES], scalar[IN_FLIGHT], scalar[HEAP_SIZE] = frames, ring, places * HEAP_WIDTH
    scalar[STREAMS] = max(streams, 1)
    place = _zeros(places, PLACE_WIDTH)
    slot, instance = np.divmod(np.arange(places), plan.instances)
    if streams > 1:
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
        latency=_zeros(0 if streams else frames, plan.networks),
        frame_end=_zeros(0 if streams else frames),
        ended=_zeros(streams),
        account=_zeros(ACCOUNTS * account_width(plan, streams) if streams else 0),
        form=_zeros(2 * form_size(plan, ring) if streams == 1 else 0),
        open=_zeros(places if stops else 0),
        log=_zeros(log_rows * LOG_WIDTH if log else 0),
        logged=_zeros(log_rows if log and streams else 0),
        stops=(1,) if stops else (),
        logs=(1,) if log else (),
        streams=(1,) if streams else (),
    )


def account_width(plan: Plan, streams: int) -> int:
    """Columns of ``State.account``."""
    return 1 + (2 + streams) * plan.units


def form_size(plan: Plan, ring: int) -> int:
    """Entries of a state in ``State.form``: of every frame in flight its number, relative to the
    oldest, and its release; of every place what it holds and a figure; of every job two."""
    return ring * 2 * (1 + plan.instances + plan.jobs)


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
