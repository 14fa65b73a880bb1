"""Evaluation of an execution: occupation of units by groups, hand-overs, frames, lost time, and the
guaranteed latencies held against the frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_MS, PS_PER_NS
from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan
from paretosoc.dse.tools.host.machine.machine import Execution
from paretosoc.fitness.check.members.closed_form import points_of
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem

if TYPE_CHECKING:
    from paretosoc.dse.tools.host.measure.running import Ran


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


@dataclass(frozen=True)
class KeptGuarantee:
    """The guaranteed latency of a network beside the measured ones.

    The guarantee is for groups that keep the tolerance on a machine that does nothing else. So a
    frame that is later refutes it only if neither explains by how much.
    """

    guaranteed_ms: float
    longest_ms: float
    late: int
    """Frames that took longer than the guaranteed latency."""
    others: int
    """Late frames that exceeded it by no more than the time that others took of the cores."""
    beyond: int
    """Further late frames that exceeded it by no more than others took and groups took over the
    tolerance."""

    @property
    def unexplained(self) -> int:
        """Return the late frames that neither explains."""
        return self.late - self.others - self.beyond


def kept_guarantees(problem: Problem, design: DesignPoint, ran: Ran) -> tuple[KeptGuarantee, ...]:
    """Return [networks]: the guaranteed latency, and how often it was kept. Empty without a
    tolerance."""
    if problem.tolerance_permille is None:
        return ()
    bounds = make_guarantees(problem, problem.tolerance_permille)(design.row[None])
    taken = np.maximum(ran.taken_ns, 0)
    kept = []
    for n, bound in enumerate(bounds.latency_ps[0].tolist()):
        times = ran.every_latency_ns[:, n]
        over_ns = times - bound / PS_PER_NS
        late = over_ns > 0
        by_others = late & (over_ns <= taken)
        explained = late & (over_ns <= taken + ran.beyond_ns)
        kept.append(
            KeptGuarantee(
                guaranteed_ms=bound / PS_PER_MS,
                longest_ms=float(times.max()) * PS_PER_NS / PS_PER_MS,
                late=int(late.sum()),
                others=int(by_others.sum()),
                beyond=int((explained & ~by_others).sum()),
            )
        )
    return tuple(kept)


def beyond_tolerance(
    problem: Problem, design: DesignPoint, plan: ExecutionPlan, execution: Execution
) -> FloatArray:
    """Return [frames], ns: the time that groups took over their longest in the tolerance.

    The longest is beside the largest demand that other units ever have, so contention explains
    none of it. Without a tolerance it is 0.
    """
    beyond = np.zeros(plan.frames)
    if problem.tolerance_permille is None:
        return beyond
    most = problem.tolerance_permille[1]
    units: list[int] = design.units.tolist()
    demands = [
        int(problem.units[u].demand_kbps[(g, *points_of(problem, design, u))])
        for g, u in enumerate(units)
    ]
    largest: dict[int, int] = {}
    for u, demand in zip(units, demands, strict=True):
        largest[problem.unit_of[u]] = max(largest.get(problem.unit_of[u], 0), demand)
    memory = problem.memory_domain
    point = 0 if memory is None else int(design.operating_points[memory])
    for i, instance in enumerate(plan.instances):
        u = units[instance.group]
        unit, at = problem.units[u], (instance.group, *points_of(problem, design, u))
        alone_ps = int(unit.time_ps[at]) + (instance.repeat - 1) * int(unit.steps_ps[at])
        rate = WORK_PER_PS
        if unit.contention is not None:
            others = sum(largest.values()) - largest[problem.unit_of[u]]
            rate -= lost_rate(unit.contention, point, demands[instance.group], others)
        longest_ns = alone_ps * most / 1000 * WORK_PER_PS / rate / PS_PER_NS
        took_ns = execution.end_ns[i] - execution.start_ns[i]
        beyond[instance.frame - 1] += max(0.0, took_ns - longest_ns)
    return beyond
