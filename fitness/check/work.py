"""Work arrays of the check of trees: one path from the root of a part to the present node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.check.interpreted import numbers
from paretosoc.fitness.simulator.types.tables import Tables

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts

FAR = np.int64((1 << 63) - 1)
Int = int | np.int64
"""A figure in a kernel, interpreted or compiled."""
# Why a timeline has stopped, in Work.stop[0]. Work.stop[1] is the group or unit.
AT_UNIT, AT_CLOCK, OVER = range(3)
# Status of an instance.
LOCKED, ELIGIBLE, WAITING, RUNNING, ENDED = range(5)


@dataclass(frozen=True, eq=False)
class Work(Tables):
    """The state of a walk.

    A node at depth d of its part resumes from the timeline in row d. Its own is in row d + 1.
    Smallest costs are in the row ``costs_at[d]``: there are as many rows as sets of points above
    it.
    """

    units: IntArray
    """[groups]: units, or -1."""
    points: IntArray
    """[domains]: masks."""
    follows: IntArray
    """[groups]: 1 + the depth of the choice that also placed this group, or 0."""
    groups_on: IntArray
    """[units]"""
    kind: IntArray
    """[depths]: the choice below a node, ``CHOICES`` of :mod:`fitness.check.choices`."""
    subject: IntArray
    option: IntArray
    saved: IntArray
    costs_at: IntArray
    stop: IntArray
    """Why the timeline has stopped, and the group or unit that it stopped at."""
    now: IntArray
    """[depths]: the instants of the timelines."""
    ended_fj: IntArray
    """[depths]: dynamic energy of all instances that have ended."""
    status: IntArray
    """[depths, instances]"""
    instant: IntArray
    """[depths, instances]: the ready time of a waiting instance, the start of a running one, the
    end of an ended one."""
    missing: IntArray
    """Inputs that have not ended."""
    queue: IntArray
    """[depths, instances]: eligible or waiting instances, the first ``queued`` [depths] of each
    row."""
    queued: IntArray
    running: IntArray
    """[depths, queues]: an instance, or -1."""
    left: IntArray
    """[depths, queues]: work left of it."""
    demand: IntArray
    starting: IntArray
    """[queues]: starting instances, then rates."""
    sharing: IntArray
    """[units]: number of running groups, and the largest of their demands and the sum of their
    powers."""
    seen_kbps: IntArray
    sum_mw: IntArray
    smallest_ps: IntArray
    """[costs, units + 1, groups]; the last row over all units that a group may have."""
    step_ps: IntArray
    """The same shape, if repeats grow: least growth of ``smallest_ps`` from repeat to repeat."""
    smallest_fj: IntArray
    step_fj: IntArray
    dynamic_mw: IntArray
    """[costs, units, groups]"""
    mixed_fj: IntArray
    """[costs, rates, units, groups]: smallest rate x time + energy."""
    gain_fj: IntArray
    """[costs, sets of optional domains, rates, groups]: see :mod:`fitness.check.trade_off`."""
    has_gain: IntArray
    """[costs, sets]: 1 if ``gain_fj`` is filled."""
    priced_ps: IntArray
    """[costs, prices, groups]: smallest price x time over the units that a group may have."""
    priced: IntArray
    """[prices]: priced time of all that is left."""
    idle_mw: IntArray
    """[costs, units]"""
    static_mw: IntArray
    """[costs, domains]"""
    choice: IntArray
    """[costs, units]: the row of the tables, -1 if a clock of the unit, or the memory's, is
    open."""
    memory_point: IntArray
    """[costs]"""
    digit: IntArray
    """[clocks]"""
    least_end: IntArray
    """[instances]; bounds of the present node."""
    network_end: IntArray
    busy: IntArray
    needed: IntArray
    """[domains]: 1 if it is on."""
    gained: IntArray
    """[networks, rates]"""
    vector: IntArray
    """[objectives]"""
    least: IntArray
    """[3]: makespan, idle power, dynamic energy."""
    start: IntArray
    """[instances]: when each has started last."""
    ready: IntArray
    """[instances]: when each that has started last was ready; the next ones are of frames that
    follow one another."""
    priority: IntArray
    """[groups]"""
    frame: IntArray
    """[slots]: the frame in it, from 1."""
    release: IntArray
    unended: IntArray
    """[slots]: instances of the frame that have not ended."""
    ended_frames: IntArray
    """[streams]"""
    executed: IntArray
    """[instances + queues, 5]: frame, instance, ready time, start and end of what has ended in the
    present round, of it ``executions`` [1]."""
    executions: IntArray
    shared_fj: IntArray
    """[units]: energy that shared units have drawn so far, and their busy time."""
    shared_ps: IntArray

    def __post_init__(self) -> None:
        if self.units.dtype != object:
            super().__post_init__()


def make_work(facts: Facts) -> Work:
    """Make room for one part at a time, or for one timeline of frames."""
    groups, units, domains, instances = facts.groups, facts.units, facts.domains, facts.instances
    rates, queues = len(facts.rate_mw), facts.queues
    costs = 1 if facts.of_frames else int(facts.points.sum()) + 1
    depths = 1 if facts.of_frames else groups + costs + 1

    def room(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=numbers(facts.exact))

    return Work(
        units=room(groups),
        points=room(domains),
        follows=room(groups),
        groups_on=room(units),
        kind=room(depths),
        subject=room(depths),
        option=room(depths),
        saved=room(depths),
        costs_at=room(depths),
        stop=room(2),
        now=room(depths),
        ended_fj=room(depths),
        status=room(depths, instances),
        instant=room(depths, instances),
        missing=room(depths, instances),
        queue=room(depths, instances),
        queued=room(depths),
        running=room(depths, queues),
        left=room(depths, queues),
        demand=room(depths, queues),
        starting=room(queues),
        sharing=room(units),
        seen_kbps=room(units),
        sum_mw=room(units),
        smallest_ps=room(costs, units + 1, groups),
        step_ps=room(costs * facts.grows, units + 1, groups),
        smallest_fj=room(costs, units + 1, groups),
        step_fj=room(costs * facts.grows, units + 1, groups),
        dynamic_mw=room(costs, units, groups),
        mixed_fj=room(costs, rates, units, groups),
        gain_fj=room(costs, facts.set_count, rates, groups),
        has_gain=room(costs, facts.set_count),
        priced_ps=room(costs, len(facts.price_sum), groups),
        priced=room(len(facts.price_sum)),
        idle_mw=room(costs, units),
        static_mw=room(costs, domains),
        choice=room(costs, units),
        memory_point=room(costs),
        digit=room(len(facts.clock)),
        least_end=room(instances),
        network_end=room(facts.networks),
        busy=room(units),
        needed=room(domains),
        gained=room(facts.networks, rates),
        vector=room(len(facts.objective)),
        least=room(3),
        start=room(instances),
        ready=room(instances),
        priority=room(facts.groups),
        frame=room(facts.slots),
        release=room(facts.slots),
        unended=room(facts.slots),
        ended_frames=room(facts.streams),
        executed=room(queues + instances if facts.of_frames else 0, 5),
        executions=room(1),
        shared_fj=room(units),
        shared_ps=room(units),
    )
