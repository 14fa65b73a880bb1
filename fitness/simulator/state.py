"""The state of a simulation, and a design point's costs, as tables for the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.layout import CONTENTION, Plan
from paretosoc.fitness.simulator.types.tables import RecordArray, Tables, record, records, words_of
from paretosoc.results.problem.arithmetic import MAX_PERIODS

NEVER = np.int64((1 << 63) - 1)
CONTINUES = np.int64(-1)
"""A ready time before all others."""

HIGH_FJ = 1 << 62
"""Taken from the dynamic energy of streams once it has grown so far, as they may run for long."""
OF_ONE_STREAM, OF_SEVERAL = (2048, 8192), (768, 3072)
"""If no state recurs, a window begins and ends at the first rounds by whose ends this many
executions have ended, see :mod:`fitness.simulate_long_run`. A single stream seldom gets there,
several always do."""
GROUP = record("unit", "alone_ps", "demand_kbps", "dynamic_mw", "open_head")
"""Costs of a group on the unit chosen for it. Unit and time are -1 if that is open. The time is -1
as well if its unit does the transitions to others and a group that it feeds is open: the first of
these is ``open_head``, which is else the number of groups."""
RUN = record(
    *("now", "frames", "in_flight", "frames_left", "running_changed"),
    *(
        "dynamic_fj",
        "busy_ps",
        "open_count",
        "open_unit",
        "open_head",
        "next_end",
        "logged",
        "streams",
        "rounds",
    ),
    *("behind", "round_over", "executions", "begun", "kept", "responded"),
)
"""The instant; frames in all, in flight and left; 1 if the running set has changed since rates
were computed; dynamic energy and busy time so far; groups whose unit is open
and that wait for nothing else; the unit that is about to start a group whose time is open, or -1,
and the first open group that such groups feed; when the next running group ends, NEVER if none
runs; executions logged. Of streams: their number; rounds that are over (round k is when every
stream has ended k frames); streams that have not ended the next one; 1 if a round has ended at this
instant; executions ended; 1 if the window has begun; the round whose state was kept, or 0.
Responses noted."""
UNIT = record(
    *("place", "free", "started", "work", "rate", "since", "end", "demand", "queued"),
    *("heavy_num", "heavy_den", "heavy_offset", "heavy_cap"),
    *("dynamic_mw", "sharing", "seen_kbps", "shared_mw", "settled", "drawn_fj"),
)
"""Of a queue: place of the running group; 1 if nothing runs; its start; work left at ``since``;
rate since then; when it ends at that rate, NEVER if nothing runs; its demand, else 0; groups
queued; slope in the others' demand, as fraction, offset and cap; its dynamic power. Of a shared
unit, at its first queue: how many groups run; the demand that others see; dynamic power; until when
that has been accounted, and what has been drawn."""
WAITING_GROUP = record("ready", "order", "place")
"""Entry of a heap."""
PLACE = record("missing", "ready", "instance", "slot", "group")
"""Edges that have not delivered, -1 if it has queued as the first group of an engine of more;
latest delivery so far, then the ready time; instance, slot and group, which never change."""
SLOT = record("frame", "networks_left", "release", "age")
"""Frame, from 0; networks left; release; where a state's form is written, how many of the frames in
flight are older."""
JOB_STATE = record("waits", "left")
"""Jobs still waited for, and remaining groups that feed none."""
EXECUTION = record("ready", "start", "end")
RESPONSE = record("network", "ps")
"""From a release of a network with a rate to its end."""
# Rows of State.account: so far, when the window begins, when the kept state was.
SO_FAR, AT_BEGIN, AT_KEPT, ACCOUNTS = range(4)
# Contents of a place, in State.form: JOINING is added to the number of missing inputs.
WAITING, RUNNING, JOINING = range(1, 4)


@dataclass(frozen=True, eq=False)
class Chosen(Tables):
    """The costs of a design point, looked up once."""

    group: RecordArray
    """[groups] of ``GROUP``"""
    domain_on: IntArray
    """[domains]"""
    unit_used: IntArray
    """[units]"""
    table_row: IntArray
    """[units]: begin of the costs at the chosen clocks."""
    contention: RecordArray
    """[units] of ``CONTENTION``, at the chosen clock of the memory."""
    priority: IntArray
    """[groups]"""
    first_open: IntArray
    """[networks]: the first group whose unit is open, or -1."""


@dataclass(frozen=True, eq=False)
class State(Tables):
    """The state of a simulation.

    A *place* is an instance in one of the F frames in flight, numbered ring x instances + instance.
    Frame k has the places of frame k - F, which has ended when k is released. A *slot* is a frame
    in flight: the ring position itself, but ring x networks + network if every network is a stream
    of its own.
    """

    run: RecordArray
    """One ``RUN``"""
    run_words: IntArray
    """The same memory, as are the next two with ``_words``."""
    unit: RecordArray
    """[queues] of ``UNIT``"""
    unit_words: IntArray
    heap: RecordArray
    """[queues, places] of ``WAITING_GROUP``, heaps by (ready time, order), with order = frame x
    instances + instance; also what is in transition. A group that continues an engine is ready at
    CONTINUES."""
    place: RecordArray
    """[places] of ``PLACE``"""
    job: RecordArray
    """[in flight x jobs] of ``JOB_STATE``"""
    job_words: IntArray
    slot: RecordArray
    """[slots] of ``SLOT``"""
    latency: IntArray
    """[frames, networks]"""
    frame_end: IntArray
    """[frames]"""
    ended: IntArray
    """[streams]: frames ended. It is empty if a given number of frames is simulated."""
    account: IntArray
    """[ACCOUNTS, account_width]: the instant; per unit dynamic energy, then how often 2**62 fJ have
    been taken from it; per stream and unit the stand-alone time executed. The row SO_FAR leaves out
    what runs."""
    form: IntArray
    """[2 x form size] if a recurring state is looked for: the state relative to the instant, and
    the one that was kept. See :mod:`fitness.simulator.streams`."""
    response: RecordArray
    """[responses of all frames] of ``RESPONSE``, in the order of the ends; of streams those since a
    state was kept."""
    open: IntArray
    """[places or 0]: places of the open groups, if the timeline stops at open choices."""
    log: RecordArray
    """[frames x instances or 0] of ``EXECUTION``, if executions are logged."""
    logged: IntArray
    """[rows of ``log``, or 0]: of streams, frame x instances + instance of each row; they are in
    the order of their ends."""
    stops: bool
    """Whether the simulation stops at open choices. Like the next two fields it is part of the
    type, so that the compiler leaves out unneeded code. A test at every event cost 10 % of the
    time."""
    logs: bool
    """Whether executions are logged."""
    streams: bool
    """Whether frames never run out. There is one stream, whose frame is all networks, or one for
    each network."""


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
    """Return buffers for one simulation after the other.

    With ``stops`` the simulation stops at open choices. With ``streams``, 1 or as many as networks,
    frames never run out, and ``frames`` means nothing. ``log_rows`` executions of streams can be
    logged.
    """
    ring = in_flight if streams else min(in_flight, frames)
    # Networks with rates: each is a stream, with one frame in flight.
    recurs = streams > 0 and plan.period_ps > 0
    responses = int(plan.job.responds.sum()) * (MAX_PERIODS + 2 if recurs else frames)
    log_rows = log_rows if streams else frames * plan.instances
    slots = ring * max(streams, 1)
    places = ring * plan.instances
    run = records(RUN)
    run.frames, run.in_flight, run.streams = frames, ring, max(streams, 1)
    unit, job = records(UNIT, plan.queues), records(JOB_STATE, ring * plan.jobs)
    place = records(PLACE, places)
    place.slot, place.instance = np.divmod(np.arange(places), plan.instances)
    if streams > 1:
        place.slot = (
            place.slot * plan.networks + plan.job.network[plan.instance.job[place.instance]]
        )
    place.group = plan.instance.group[place.instance]
    return State(
        run=run,
        run_words=words_of(run),
        unit=unit,
        unit_words=words_of(unit),
        heap=records(WAITING_GROUP, plan.queues, places),
        place=place,
        job=job,
        job_words=words_of(job),
        slot=records(SLOT, slots),
        latency=_zeros(0 if streams else frames, plan.networks),
        frame_end=_zeros(0 if streams else frames),
        ended=_zeros(streams),
        account=_zeros(ACCOUNTS * account_width(plan, streams) if streams else 0),
        form=_zeros(2 * form_size(plan, slots) if streams == 1 or recurs else 0),
        response=records(RESPONSE, responses),
        open=_zeros(places if stops else 0),
        log=records(EXECUTION, log_rows if log else 0),
        logged=_zeros(log_rows if log and streams else 0),
        stops=stops,
        logs=log,
        streams=streams > 0,
    )


def account_width(plan: Plan, streams: int) -> int:
    """Return the number of columns of ``State.account``."""
    return 1 + (2 + streams) * plan.units


def form_size(plan: Plan, slots: int) -> int:
    """Return the entries of a state in ``State.form``.

    Every frame in flight has its number, relative to the oldest, and its release. Every place has
    its content and a figure, every job two. This is an upper bound: with several streams each has
    only its own places and jobs.
    """
    return slots * 2 * (1 + plan.instances + plan.jobs)


def make_chosen(plan: Plan) -> Chosen:
    """Return buffers for one design point after the other."""
    return Chosen(
        group=records(GROUP, plan.groups),
        domain_on=_zeros(plan.domains),
        unit_used=_zeros(plan.units),
        table_row=_zeros(plan.units),
        contention=records(CONTENTION, plan.units),
        priority=plan.priority.copy(),
        first_open=np.full(plan.networks, -1, dtype=np.int64),
    )


def _zeros(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)
