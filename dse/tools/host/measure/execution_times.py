"""Evaluation of an execution: occupation of units by groups, hand-overs, frames, lost time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan
from paretosoc.dse.tools.host.machine.machine import Execution

WARM_UP = 2
"""Frames, or periods, that are run and do not count."""
LOST_SHARE = 0.01
"""A frame during which cores did other things for a larger share of it is left out, if enough
others are there."""
FEWEST = 5
"""So many samples are enough."""


@dataclass(frozen=True, eq=False)
class Occupation:
    """Occupation by the instances of an execution. Arrays are [instances], ns."""

    ready: IntArray
    """When all that it waited for had happened."""
    begin: IntArray
    """When its unit was free for it: it was ready, and the unit's last group had ended."""
    busy: IntArray
    """From then to its end, without the time within that the core did other things."""
    lost: IntArray
    """Time that the core did other things, from the end of the unit's last group to its end."""
    lost_within: IntArray
    """The part of it from its start to its end."""
    was_free: NDArray[np.bool_]
    """Whether the unit waited for it, not it for the unit."""


@dataclass(frozen=True)
class Spread:
    """Samples in short: the median, and the middle half of them as a share of it."""

    median_ns: float
    spread: float
    samples: int


def occupation(plan: ExecutionPlan, execution: Execution) -> Occupation:
    """Return the times at which units turned to their groups, and the time that these kept them."""
    count = len(plan.instances)
    ready, begin, busy, lost = (np.zeros(count, dtype=np.int64) for _ in range(4))
    ends = execution.end_ns
    for i, instance in enumerate(plan.instances):
        ready[i] = max((int(ends[k]) for k in instance.after), default=0)
        if instance.arrival_ns is not None:
            release = max((int(ends[k]) for k in instance.release_after), default=0)
            ready[i] = max(int(ready[i]), release + instance.arrival_ns)
    was_free = np.zeros(count, dtype=np.bool_)
    for order in plan.order:
        end, lost_before = 0, 0
        for i in sorted(order, key=lambda i: int(execution.start_ns[i])):
            was_free[i] = ready[i] > end
            begin[i] = max(int(ready[i]), end)
            end = int(ends[i])
            lost[i] = execution.lost_end_ns[i] - lost_before
            # While a unit waits for data, it is unknown whether a loss was before they came.
            within = execution.lost_end_ns[i] - execution.lost_start_ns[i]
            busy[i] = end - begin[i] - (within if was_free[i] else lost[i])
            lost_before = int(execution.lost_end_ns[i])
    within = execution.lost_end_ns - execution.lost_start_ns
    return Occupation(ready, begin, busy, lost, within, was_free)


def spread_of(values: FloatArray) -> Spread:
    """Return median and spread of samples."""
    low, median, high = np.percentile(values, (25, 50, 75))
    return Spread(float(median), float((high - low) / median) if median else 0.0, len(values))


def undisturbed(values: FloatArray, lost: FloatArray) -> NDArray[np.bool_]:
    """Return [samples]: mask of samples with little lost time. At least the ``FEWEST`` best ones
    are kept."""
    good = lost <= LOST_SHARE * values
    few = min(FEWEST, len(values))
    if int(good.sum()) >= few:
        return np.asarray(good)
    result = np.zeros(len(values), dtype=np.bool_)
    result[np.argsort(lost / values, kind="stable")[:few]] = True
    return result


@dataclass(frozen=True, eq=False)
class FrameTimes:
    """Times of the frames of an execution. Arrays are [frames], ns."""

    makespan: IntArray
    """From the frame's release to its end."""
    end: IntArray
    lost: IntArray
    """Over all units, from the frame before to this one's end."""
    latency: IntArray
    """[frames, networks]: from release plus arrival to the network's last end."""


def frame_times(plan: ExecutionPlan, execution: Execution, networks: int) -> FrameTimes:
    """Return the times at which frames were released and ended."""
    found = occupation(plan, execution)
    ends = np.zeros((plan.frames, networks), dtype=np.int64)
    arrivals = np.zeros(networks, dtype=np.int64)
    lost = np.zeros(plan.frames, dtype=np.int64)
    for i, instance in enumerate(plan.instances):
        frame, n = instance.frame - 1, instance.network
        ends[frame, n] = max(int(ends[frame, n]), int(execution.end_ns[i]))
        lost[frame] += found.lost[i]
        if instance.arrival_ns is not None:
            arrivals[n] = instance.arrival_ns
    end = ends.max(axis=1)
    release = np.zeros(plan.frames, dtype=np.int64)
    release[plan.in_flight :] = end[: -plan.in_flight]
    return FrameTimes(
        makespan=end - release,
        end=end,
        lost=lost,
        latency=ends - release[:, None] - arrivals[None, :],
    )


def period_of(times: FrameTimes, warm_up: int, *, drained: int = 0) -> Spread:
    """Time per frame in the steady state: of windows of as many frames as ``warm_up``.

    The mean over the whole rest would let one disturbance spoil all of it. The last ``drained``
    frames are left out: they have the machine more and more to themselves.
    """
    window = warm_up
    begins = range(warm_up - 1, len(times.end) - window - drained)
    values = np.array([(times.end[k + window] - times.end[k]) / window for k in begins])
    lost = np.array([times.lost[k + 1 : k + window + 1].sum() / window for k in begins])
    return spread_of(values[undisturbed(values, lost)])
