"""Real runs of a result folder's design points on this machine, beside the predictions: of frames,
and of the releases of networks with rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.unfinished import temporary_folder
from paretosoc.common.units import NS_PER_MS, NS_PER_S, PS_PER_MS, PS_PER_NS, PS_PER_S
from paretosoc.dse.tools.host.machine.execution_plan import (
    Dispatch,
    ExecutionPlan,
    make_execution_plan,
    make_release_plan,
    predicted_releases,
)
from paretosoc.dse.tools.host.machine.host_units import unit_named
from paretosoc.dse.tools.host.machine.machine import Execution, HostMachine, check_instances
from paretosoc.dse.tools.host.machine.sub_models import Program, write_sub_models
from paretosoc.dse.tools.host.measure.execution_times import (
    WARM_UP,
    FrameTimes,
    Spread,
    frame_times,
    period_of,
    spread_of,
    undisturbed,
)
from paretosoc.dse.tools.host.measure.kept_guarantees import beyond_tolerance
from paretosoc.fitness.simulate import simulate
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.problem.execution import LongRun, Pipeline
from paretosoc.results.problem.problem import DesignPoint, Problem

FRAMES_IN_FLIGHT = 2
"""Frames in flight of a pipeline whose problem does not say how many there are."""
PIPELINE_WINDOW = 4
"""Least frames of a measured pipeline that are left out, and of which a period is taken."""


@dataclass(frozen=True, eq=False)
class FrameFigures:
    """Figures of a design point, as the timeline predicts them or as they were measured."""

    makespan_ms: float
    latency_ms: tuple[float, ...]
    group_ms: tuple[float, ...]
    """[groups]: from start to end, of the first repeat."""
    frames_per_s: float


@dataclass(frozen=True, eq=False)
class Ran:
    """Measurements of a design point. The makespan's frames run one at a time."""

    makespan: Spread
    latency_ns: tuple[float, ...]
    group_ns: tuple[float, ...]
    period: Spread
    """Time per frame of the pipeline."""
    frames: int
    """Frames that were run one at a time. Fewer count if others took cores."""
    lost_share: float
    every_latency_ns: FloatArray
    """[frames, networks]: of all frames that were run one at a time."""
    taken_ns: FloatArray
    """[frames]: time that others took of the cores, all units added up."""
    beyond_ns: FloatArray
    """[frames]: time that groups took over the problem's tolerance, 0 without one."""

    @property
    def figures(self) -> FrameFigures:
        """Return the medians."""
        return FrameFigures(
            makespan_ms=self.makespan.median_ns / NS_PER_MS,
            latency_ms=tuple(ns / NS_PER_MS for ns in self.latency_ns),
            group_ms=tuple(ns / NS_PER_MS for ns in self.group_ns),
            frames_per_s=NS_PER_S / self.period.median_ns,
        )


@contextmanager
def host_machine(
    problem: Problem,
    origins: CostOrigins | None,
    *,
    models: Mapping[str, str] | None = None,
    programs: Mapping[str, Program] | None = None,
    seed: int,
) -> Iterator[HostMachine]:
    """Return this machine with all groups of a problem on every unit.

    Raises:
        ResultError: if the units are not of this machine, or the models or programs of tasks cannot
            be run.
    """
    with temporary_folder() as folder:
        parts = write_sub_models(
            problem, origins, folder, models=models, programs=programs, seed=seed
        )
        units = [unit_named(unit.name) for unit in problem.units]
        with HostMachine(units, parts, slots=_in_flight(problem)) as machine:
            yield machine


def predict(problem: Problem, design: DesignPoint) -> FrameFigures:
    """Predict the makespan of one frame alone, and frames per second of a pipeline."""
    frame = simulate(problem, design)
    streamed = replace(problem, execution=Pipeline(_in_flight(problem)))
    pipeline = make_long_run_evaluator(streamed)(design.row[None])
    groups = {e.group: e for e in frame.schedule.groups if e.repeat == 1}
    return FrameFigures(
        makespan_ms=frame.frame_end_ps[0] / PS_PER_MS,
        latency_ms=tuple(value / PS_PER_MS for value in frame.latency_ps[0]),
        group_ms=tuple((groups[g].end_ps - groups[g].start_ps) / PS_PER_MS for g in sorted(groups)),
        frames_per_s=PS_PER_S / int(pipeline.frame_period_ps[0]),
    )


def _in_flight(problem: Problem) -> int:
    execution = problem.execution
    return execution.frames_in_flight if isinstance(execution, LongRun) else FRAMES_IN_FLIGHT


class DesignRuns:
    """Runs of one design point, which may be spread over time: each call adds some."""

    def __init__(self, problem: Problem, design: DesignPoint, *, dispatch: Dispatch) -> None:
        self._problem = problem
        self._design = design
        self._dispatch = dispatch
        self._frames: list[FrameTimes] = []
        self._pipelines: list[FrameTimes] = []
        self._groups: list[FloatArray] = []
        self._beyond: list[FloatArray] = []
        self._lost_ns = np.zeros(2, dtype=np.int64)

    def run(self, machine: HostMachine, frames: int) -> None:
        """Run ``frames`` frames one at a time, and as many as a pipeline."""
        networks = len(self._problem.networks)
        plan, execution = self._execute(machine, frames + WARM_UP, in_flight=1)
        self._frames.append(frame_times(plan, execution, networks))
        self._groups.append(self._group_times(plan, execution)[WARM_UP:])
        beyond = beyond_tolerance(self._problem, self._design, plan, execution)
        self._beyond.append(beyond[WARM_UP:])
        in_flight = _in_flight(self._problem)
        more = 2 * _window(in_flight) + in_flight - 1
        plan, execution = self._execute(machine, frames + more, in_flight=in_flight)
        self._pipelines.append(frame_times(plan, execution, networks))

    def result(self) -> Ran:
        """Return medians over all runs, without frames that were disturbed if others are enough."""
        span, lost, latency = (
            np.concatenate([getattr(times, name)[WARM_UP:] for times in self._frames])
            for name in ("makespan", "lost", "latency")
        )
        kept = undisturbed(span, lost)
        in_flight = _in_flight(self._problem)
        periods = [
            period_of(times, _window(in_flight), drained=in_flight - 1) for times in self._pipelines
        ]
        return Ran(
            makespan=spread_of(span[kept].astype(np.float64)),
            latency_ns=tuple(np.median(latency[kept], axis=0).tolist()),
            group_ns=tuple(np.median(np.concatenate(self._groups)[kept], axis=0).tolist()),
            period=sorted(periods, key=lambda item: item.median_ns)[(len(periods) - 1) // 2],
            frames=len(span),
            lost_share=float(self._lost_ns[0] / max(self._lost_ns[1], 1)),
            every_latency_ns=latency,
            taken_ns=lost,
            beyond_ns=np.concatenate(self._beyond),
        )

    def _group_times(self, plan: ExecutionPlan, execution: Execution) -> FloatArray:
        """Return [frames, groups], of the first repeat."""
        taken = np.zeros((plan.frames, self._problem.group_count))
        for i, instance in enumerate(plan.instances):
            if instance.repeat == 1:
                taken[instance.frame - 1, instance.group] = (
                    execution.end_ns[i] - execution.start_ns[i]
                )
        return taken

    def _execute(
        self, machine: HostMachine, frames: int, *, in_flight: int
    ) -> tuple[ExecutionPlan, Execution]:
        plan = make_execution_plan(self._problem, self._design, frames=frames, in_flight=in_flight)
        execution = machine.execute(plan, dispatch=self._dispatch)
        self._lost_ns += execution.lost_ns(plan)
        return plan, execution


def _window(in_flight: int) -> int:
    """Return the window of whole batches, since frames in flight end in batches."""
    return in_flight * -(-PIPELINE_WINDOW // in_flight)


@dataclass(frozen=True)
class NetworkResponses:
    """The responses of one network's releases."""

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
    """Periods that count."""
    lost_share: float = 0.0
    """Time that the cores did other things."""


def check_periods(problem: Problem, periods: int) -> None:
    """Check that a machine can run this many periods after ``WARM_UP`` others, before it starts.

    Raises:
        ResultError: if these are too many.
    """
    check_instances((periods + WARM_UP) * int(problem.repeats.sum()))


def run_releases(
    machine: HostMachine, problem: Problem, design: DesignPoint, periods: int, *, dispatch: Dispatch
) -> tuple[ReleaseTimes, ReleaseTimes]:
    """Run this many periods after ``WARM_UP`` others. Returns predicted and measured times.

    Raises:
        ResultError: if the design is overloaded, these are too many, or the machine fails.
    """
    check_periods(problem, periods)
    count = periods + WARM_UP
    plan = make_release_plan(problem, design, periods=count)
    execution = machine.execute(plan, dispatch=dispatch)
    rows = predicted_releases(problem, design, periods=count)
    keys = [(i.frame, i.network, i.repeat, i.group) for i in plan.instances]
    starts, ends = (
        np.array([getattr(rows[key], name) for key in keys]) / PS_PER_NS
        for name in ("start_ps", "end_ps")
    )
    measured = release_times(problem, plan, execution.start_ns, execution.end_ns)
    lost, time = execution.lost_ns(plan).tolist()
    return (
        release_times(problem, plan, starts, ends),
        replace(measured, lost_share=lost / max(time, 1)),
    )


def release_times(
    problem: Problem,
    plan: ExecutionPlan,
    start_ns: FloatArray | IntArray,
    end_ns: FloatArray | IntArray,
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
        longest = times[-1] / NS_PER_MS
        responses.append(NetworkResponses(longest, often / NS_PER_MS, late / periods))
    groups = tuple(float(np.median(each)) / NS_PER_MS for each in taken)
    return ReleaseTimes(tuple(responses), groups, periods)
