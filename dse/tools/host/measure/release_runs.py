"""Real runs of networks with rates: measured times of their releases beside the predicted ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS, PS_PER_NS
from paretosoc.dse.tools.host.machine.execution_plan import (
    Dispatch,
    ExecutionPlan,
    make_release_plan,
    predicted_releases,
)
from paretosoc.dse.tools.host.machine.machine import HostMachine, check_instances
from paretosoc.results.problem.problem import DesignPoint, Problem

WARM_UP = 2
"""Periods, at least, that do not count."""


@dataclass(frozen=True)
class NetworkResponses:
    """Of the releases of one network."""

    longest_ms: float
    percentile_95_ms: float
    """The ceil(0.95 n)-th smallest of n."""
    misses: float
    """In a period, in the mean."""


@dataclass(frozen=True)
class ReleaseTimes:
    """Times of releases and groups, predicted or measured."""

    responses: tuple[NetworkResponses, ...]
    """[networks]"""
    group_ms: tuple[float, ...]
    """[groups]: from start to end, the median."""
    periods: int
    """That count."""
    lost_share: float = 0.0
    """Time that the cores did other things."""


def run_releases(
    machine: HostMachine, problem: Problem, design: DesignPoint, periods: int, *, dispatch: Dispatch
) -> tuple[ReleaseTimes, ReleaseTimes]:
    """Run this many periods after ``WARM_UP`` others. Returns predicted and measured times.

    Raises:
        ResultError: if the design is overloaded, these are too many, or the machine fails.
    """
    count = periods + WARM_UP
    check_instances(count * int(problem.repeats.sum()))
    plan = make_release_plan(problem, design, periods=count)
    execution = machine.execute(plan, dispatch=dispatch)
    rows = predicted_releases(problem, design, periods=count)
    keys = [(i.frame, i.network, i.repeat, i.group) for i in plan.instances]
    starts, ends = (
        np.array([getattr(rows[key], name) for key in keys]) / PS_PER_NS
        for name in ("start_ps", "end_ps")
    )
    measured = release_times(
        problem, plan, execution.start_ns.astype(float), execution.end_ns.astype(float)
    )
    lost, time = execution.lost_ns(plan).tolist()
    return (
        release_times(problem, plan, starts, ends),
        ReleaseTimes(measured.responses, measured.group_ms, periods, lost / max(time, 1)),
    )


def release_times(
    problem: Problem, plan: ExecutionPlan, start_ns: FloatArray, end_ns: FloatArray
) -> ReleaseTimes:
    """Return the times of releases, without those of the first periods.

    Args:
        start_ns, end_ns: [instances], from the release of the first period.
    """
    period = problem.execution.period_ps or 0
    last: dict[tuple[int, int, int], float] = {}
    taken: list[list[float]] = [[] for _ in range(problem.group_count)]
    for i, instance in enumerate(plan.instances):
        if instance.frame <= WARM_UP:
            continue
        network = problem.networks[instance.network]
        release = instance.repeat - 1 if network.paced else 0
        key = instance.network, instance.frame, release
        last[key] = max(last.get(key, 0.0), float(end_ns[i]))
        taken[instance.group].append(float(end_ns[i] - start_ns[i]))
    periods = plan.frames - WARM_UP
    responses = []
    for n in range(len(problem.networks)):
        times = sorted(
            end - ((frame - 1) * period + problem.release_ps(n, release)) / PS_PER_NS
            for (m, frame, release), end in last.items()
            if m == n
        )
        late = sum(time * PS_PER_NS > problem.late_ps(n) for time in times)
        often = times[-(-95 * len(times) // 100) - 1]
        responses.append(NetworkResponses(_ms(times[-1]), _ms(often), late / periods))
    groups = tuple(_ms(float(np.median(each))) for each in taken)
    return ReleaseTimes(tuple(responses), groups, periods)


def _ms(ns: float) -> float:
    return ns * PS_PER_NS / PS_PER_MS
