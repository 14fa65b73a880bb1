"""Guaranteed latencies held against the frames that this machine ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS, PS_PER_NS
from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan
from paretosoc.dse.tools.host.machine.machine import Execution
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem

if TYPE_CHECKING:
    from paretosoc.dse.tools.host.measure.running import Ran


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
        int(unit.demand_kbps[at])
        for unit, at in (design.place_of(problem, g) for g in range(problem.group_count))
    ]
    largest: dict[int, int] = {}
    for u, demand in zip(units, demands, strict=True):
        largest[problem.unit_of[u]] = max(largest.get(problem.unit_of[u], 0), demand)
    memory = problem.memory_domain
    point = 0 if memory is None else int(design.operating_points[memory])
    for i, instance in enumerate(plan.instances):
        unit, at = design.place_of(problem, instance.group)
        alone_ps = int(unit.time_ps[at]) + (instance.repeat - 1) * int(unit.steps_ps[at])
        rate = WORK_PER_PS
        if unit.contention is not None:
            others = sum(largest.values()) - largest[problem.unit_of[units[instance.group]]]
            rate -= lost_rate(unit.contention, point, demands[instance.group], others)
        longest_ns = alone_ps * most / 1000 * WORK_PER_PS / rate / PS_PER_NS
        took_ns = execution.end_ns[i] - execution.start_ns[i]
        beyond[instance.frame - 1] += max(0.0, took_ns - longest_ns)
    return beyond
