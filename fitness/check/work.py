"""Work arrays of the check of trees: one path from the root of a part to the present node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.check.interpreted import numbers
from paretosoc.fitness.simulator.types.tables import Tables, zeros_for

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts

FAR = np.int64((1 << 63) - 1)
BLOCKS = 2
"""Of rows of prices: those of the makespan, and of energy."""
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

    units: Annotated[IntArray, "groups"]
    """Units, or -1."""
    points: Annotated[IntArray, "domains"]
    """Masks."""
    follows: Annotated[IntArray, "groups"]
    """1 + the depth of the choice that also placed this group, or 0."""
    groups_on: Annotated[IntArray, "units"]
    kind: Annotated[IntArray, "depths"]
    """The choice below a node, ``CHOICES`` of :mod:`fitness.check.choices`."""
    subject: Annotated[IntArray, "depths"]
    option: Annotated[IntArray, "depths"]
    saved: Annotated[IntArray, "depths"]
    costs_at: Annotated[IntArray, "depths"]
    stop: Annotated[IntArray, "2"]
    """Why the timeline has stopped, and the group or unit that it stopped at."""
    now: Annotated[IntArray, "depths"]
    """The instants of the timelines."""
    ended_fj: Annotated[IntArray, "depths"]
    """Dynamic energy of all instances that have ended."""
    status: Annotated[IntArray, "depths, instances"]
    instant: Annotated[IntArray, "depths, instances"]
    """The ready time of a waiting instance, the start of a running one, the
    end of an ended one."""
    missing: Annotated[IntArray, "depths, instances"]
    """Inputs that have not ended."""
    queue: Annotated[IntArray, "depths, instances"]
    """Eligible or waiting instances, the first ``queued`` [depths] of each
    row."""
    queued: Annotated[IntArray, "depths"]
    running: Annotated[IntArray, "depths, queues"]
    """An instance, or -1."""
    left: Annotated[IntArray, "depths, queues"]
    """Work left of it."""
    demand: Annotated[IntArray, "depths, queues"]
    starting: Annotated[IntArray, "queues"]
    """Starting instances, then rates."""
    sharing: Annotated[IntArray, "units"]
    """Number of running groups, and the largest of their demands and the sum of their
    powers."""
    seen_kbps: Annotated[IntArray, "units"]
    sum_mw: Annotated[IntArray, "units"]
    smallest_ps: Annotated[IntArray, "costs, units + 1, groups"]
    """The last row over all units that a group may have."""
    step_ps: Annotated[IntArray, "growing costs, units + 1, groups"]
    """The same shape, if repeats grow: least growth of ``smallest_ps`` from repeat to repeat."""
    smallest_fj: Annotated[IntArray, "costs, units + 1, groups"]
    step_fj: Annotated[IntArray, "growing costs, units + 1, groups"]
    dynamic_mw: Annotated[IntArray, "costs, units, groups"]
    priced_on: Annotated[IntArray, "costs, blocks, units, groups, rows"]
    """Smallest price x time, of rows of energy with the energy. :mod:`fitness.check.priced` has
    blocks and tables."""
    priced_anywhere: Annotated[IntArray, "costs, tables, groups, rows"]
    """The smallest of it over the units that a group of a graph may have."""
    rest: Annotated[IntArray, "costs, tables, groups, units, counts, rows"]
    """Smallest sum of a chain from a group on, with all transitions, if the group before it is on a
    unit and so many transitions are left, or FAR."""
    whole_chain: Annotated[IntArray, "costs, tables, networks, rows"]
    """The same of all of it."""
    rest_from: Annotated[IntArray, "costs, tables, networks"]
    """From this group on they are filled."""
    open_from: Annotated[IntArray, "networks"]
    """The first open group of a chain, or the end of its groups. Else the first group."""
    left_over: Annotated[IntArray, "networks"]
    """Transitions that are left from there on, if they are counted."""
    takes_ps: Annotated[IntArray, "instances"]
    """Smallest time left of what has not ended."""
    waits_ps: Annotated[IntArray, "instances"]
    """Time until it may start."""
    priced: Annotated[IntArray, "rows"]
    """Sum of all that is left."""
    line: Annotated[IntArray, "rows"]
    """See :mod:`fitness.check.trade_off`."""
    idle_mw: Annotated[IntArray, "costs, units"]
    static_mw: Annotated[IntArray, "costs, domains"]
    choice: Annotated[IntArray, "costs, units"]
    """The row of the tables, -1 if a clock of the unit, or the memory's, is
    open."""
    memory_point: Annotated[IntArray, "costs"]
    digit: Annotated[IntArray, "clocks"]
    least_end: Annotated[IntArray, "instances"]
    """Bounds of the present node."""
    network_end: Annotated[IntArray, "networks"]
    busy: Annotated[IntArray, "units"]
    needed: Annotated[IntArray, "domains"]
    """1 if it is on."""
    vector: Annotated[IntArray, "objectives"]
    least: Annotated[IntArray, "4"]
    """Makespan, idle power, dynamic energy, and that of what has started."""
    start: Annotated[IntArray, "instances"]
    """When each has started last."""
    ready: Annotated[IntArray, "instances"]
    """When each that has started last was ready; the next ones are of frames that
    follow one another."""
    priority: Annotated[IntArray, "groups"]
    frame: Annotated[IntArray, "slots"]
    """The frame in it, from 1."""
    release: Annotated[IntArray, "slots"]
    unended: Annotated[IntArray, "slots"]
    """Instances of the frame that have not ended."""
    ended_frames: Annotated[IntArray, "streams"]
    executed: Annotated[IntArray, "executed, 5"]
    """Frame, instance, ready time, start and end of what has ended in the
    present round, of it ``executions`` [1]."""
    executions: Annotated[IntArray, "1"]
    shared_fj: Annotated[IntArray, "units"]
    """Energy that shared units have drawn so far, and their busy time."""
    shared_ps: Annotated[IntArray, "units"]

    def __post_init__(self) -> None:
        if self.units.dtype != object:
            super().__post_init__()


def make_work(facts: Facts) -> Work:
    """Make room for one part at a time, or for one timeline of frames."""
    costs = 1 if facts.of_frames else int(facts.points.sum()) + 1
    return zeros_for(
        Work,
        {
            "groups": facts.groups,
            "units": facts.units,
            "units + 1": facts.units + 1,
            "domains": facts.domains,
            "networks": facts.networks,
            "instances": facts.instances,
            "queues": facts.queues,
            "slots": facts.slots,
            "streams": facts.streams,
            "depths": 1 if facts.of_frames else facts.groups + costs + 1,
            "costs": costs,
            "growing costs": costs * facts.grows,
            "blocks": BLOCKS,
            "rows": facts.unit_price.shape[2],
            "tables": 1 + facts.set_count * bool(facts.price_rows[1]),
            "counts": max(0, *facts.counted.tolist()) + 1,
            "clocks": len(facts.clock),
            "objectives": len(facts.objective),
            "executed": facts.queues + facts.instances if facts.of_frames else 0,
        },
        dtype=numbers(facts.exact),
    )
