"""Measuring the groups of a problem on a machine: times, hand-overs, demands, co-runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan, make_execution_plan
from paretosoc.dse.tools.host.machine.machine import Execution, HostMachine
from paretosoc.dse.tools.host.measure.execution_times import WARM_UP, Spread, occupation, spread_of
from paretosoc.dse.tools.host.measure.memory_rates import (
    STREAM_S,
    Calibration,
    chunk_rate,
    make_calibration,
    rate_beside,
    together_gbps,
)
from paretosoc.results.problem.problem import DesignPoint, Problem

RATES = (0.03, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.85)
"""Rates of co-runners as shares of what one reads alone; without limit comes last."""
CALIBRATIONS = 2
"""Twice, so that noise shows."""
MIN_NS = 200_000
"""Co-runs of shorter groups show interruptions more than slowdowns."""
TOLERATED_NS = 20_000
"""Less than this is no loss worth the name."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class CoRun:
    """A group beside readers of memory."""

    unit: int
    group: int
    external_gbps: float
    """Demand of the others alone."""
    slowdown: float


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements. Units and groups are as in the problem."""

    alone: tuple[tuple[Spread, ...], ...]
    """[units][groups]: time that a group keeps its unit while all others do nothing."""
    handovers: dict[tuple[int, int, int], Spread]
    """(group, unit, other unit): time that passes, beyond the next group's own."""
    stream_gbps: tuple[float, ...]
    """[units]: the rate that a unit reads alone."""
    together_gbps: tuple[float, ...]
    """Rates that all units read at once, one per measurement. They show other users of the
    memory."""
    demand_gbps: tuple[tuple[float | None, ...], ...]
    """[units][groups]: None if the probe could not tell."""
    calibration: Calibration | None
    co_runs: tuple[CoRun, ...]
    lost_share: float
    """Share of the time of all units during which their cores did other things."""


def measure(
    machine: HostMachine, problem: Problem, *, frames: int, say: Say = lambda text: None
) -> Measured:
    """Measure every group on every unit.

    All networks run one after the other, so that a group finds the caches as when they share the
    machine, not as it left them a moment ago.

    Args:
        problem: its groups can run on each unit.
        frames: how often each is measured.
    """
    bench = _Bench(machine, problem, frames)
    units = range(len(problem.units))
    say("times")
    alone = [bench.alone(u) for u in units]
    say("hand-overs")
    handovers = bench.handovers(alone)
    say("memory")
    stream_gbps = [chunk_rate(machine.stream({u: None}, STREAM_S)[u]) for u in units]
    together = [together_gbps(machine, len(units))]
    demands: list[list[float | None]] = [[None] * problem.group_count for _ in units]
    co_runs: list[CoRun] = []
    calibration = None
    if len(problem.units) > 1:
        calibration = _calibration(machine, stream_gbps)
        for u in units:
            say(f"co-runs of {problem.units[u].name}")
            found, probed = bench.co_runs(u, stream_gbps)
            co_runs += found
            together.append(together_gbps(machine, len(units)))
            if calibration.tells:
                demands[u] = [None if r is None else calibration.demand_of(r) for r in probed]
    return Measured(
        alone=tuple(map(tuple, alone)),
        handovers=handovers,
        stream_gbps=tuple(stream_gbps),
        together_gbps=tuple(together),
        demand_gbps=tuple(map(tuple, demands)),
        calibration=calibration,
        co_runs=tuple(co_runs),
        lost_share=bench.lost_share,
    )


def _calibration(machine: HostMachine, stream_gbps: Sequence[float]) -> Calibration:
    """Calibrate the probe: unit 0 reads, unit 1 is the probe. Only the demand itself is needed, so
    the reader's rate is the one that it was given, not the rate that the probe leaves it."""
    samples = []
    for _ in range(CALIBRATIONS):
        samples.append((0.0, chunk_rate(machine.stream({1: None}, STREAM_S)[1])))
        for share in (*RATES, None):
            rate = None if share is None else share * stream_gbps[0]
            logs = machine.stream({0: rate, 1: None}, STREAM_S)
            samples.append((stream_gbps[0] if rate is None else rate, chunk_rate(logs[1])))
    return make_calibration(samples)


class _Bench:
    """Executes plans, and keeps count of the time that cores did other things."""

    def __init__(self, machine: HostMachine, problem: Problem, frames: int) -> None:
        self.machine = machine
        # One network after the other: nothing runs beside anything else.
        networks = tuple(
            replace(network, waits_for=(n - 1,) if n else (), arrival_ps=0, repeats=1)
            for n, network in enumerate(problem.networks)
        )
        self.problem = replace(problem, networks=networks)
        self.frames = frames
        self._lost_ns = np.zeros(2, dtype=np.int64)

    @property
    def lost_share(self) -> float:
        return float(self._lost_ns[0] / max(self._lost_ns[1], 1))

    def alone(self, unit: int, beside: dict[int, float | None] | None = None) -> list[Spread]:
        """Return [groups]: all on one unit."""
        plan, execution = self._execute([unit] * self.problem.group_count, beside)
        return self._spreads(plan, execution)

    def handovers(self, alone: Sequence[Sequence[Spread]]) -> dict[tuple[int, int, int], Spread]:
        """Measure hand-overs of groups on two units by turns, both ways round: the additional time
        of a group, from the instant its data exist, against staying on the unit."""
        samples: dict[tuple[int, int, int], list[float]] = {}
        units = len(self.problem.units)
        feeding: dict[int, list[int]] = {}
        for source, target in self.problem.edges:
            feeding.setdefault(target, []).append(source)
        for u, v in ((u, v) for u in range(units) for v in range(units) if u != v):
            mapping = [(u, v)[g % 2] for g in range(self.problem.group_count)]
            plan, execution = self._execute(mapping)
            found = occupation(plan, execution)
            for i, instance in enumerate(plan.instances):
                # It is unknown whether a loss while it waited was before its data came.
                is_spoiled = found.lost[i] - found.lost_within[i] > TOLERATED_NS
                if instance.frame <= WARM_UP or not found.was_free[i] or is_spoiled:
                    continue
                to = instance.unit
                more = float(found.busy[i]) - alone[to][instance.group].median_ns
                # Later than woken up it was not: below that it is noise of the group's own time.
                woken = float(execution.start_ns[i] - found.ready[i])
                for source in feeding.get(instance.group, ()):
                    if mapping[source] != to:
                        samples.setdefault((source, mapping[source], to), []).append(
                            max(more, woken)
                        )
        return {key: spread_of(np.array(values)) for key, values in samples.items()}

    def co_runs(
        self, unit: int, stream_gbps: Sequence[float]
    ) -> tuple[list[CoRun], list[float | None]]:
        """Measure the groups of a unit beside readers on all others, and the rate of a probe beside
        each.

        Before and after each sweep they are measured alone, so that drift does not count.
        """
        others = [u for u in range(len(self.problem.units)) if u != unit]
        found: list[CoRun] = []
        probed: list[float | None] = []
        before = self.alone(unit)
        for share in (*RATES, None):
            beside = {
                u: None if share is None else share * stream_gbps[u] / len(others) for u in others
            }
            plan, execution = self._execute([unit] * self.problem.group_count, beside)
            slowed = self._spreads(plan, execution)
            after = self.alone(unit)
            external = sum(stream_gbps[u] if rate is None else rate for u, rate in beside.items())
            for g, spread in enumerate(slowed):
                own = (before[g].median_ns + after[g].median_ns) / 2
                if own < MIN_NS:
                    continue
                found.append(CoRun(unit, g, external, spread.median_ns / own))
            before = after
            if share is None and len(others) == 1:
                probed = self._probed(plan, execution, others[0])
        if not probed:
            plan, execution = self._execute([unit] * self.problem.group_count, {others[0]: None})
            probed = self._probed(plan, execution, others[0])
        return found, probed

    def _probed(self, plan: ExecutionPlan, execution: Execution, probe: int) -> list[float | None]:
        begin, end = execution.start_ns, execution.end_ns
        groups = np.array([instance.group for instance in plan.instances])
        warm = np.array([instance.frame > WARM_UP for instance in plan.instances])
        which = [warm & (groups == g) for g in range(self.problem.group_count)]
        log = execution.streams[probe]
        return [rate_beside(log, begin[those], end[those]) for those in which]

    def _execute(
        self, mapping: Sequence[int], beside: dict[int, float | None] | None = None
    ) -> tuple[ExecutionPlan, Execution]:
        points = np.array(
            [int(np.flatnonzero(domain.allowed)[-1]) for domain in self.problem.domains],
            dtype=np.int64,
        )
        design = DesignPoint(np.array(mapping, dtype=np.int64), points)
        plan = make_execution_plan(self.problem, design, frames=self.frames + WARM_UP, in_flight=1)
        execution = self.machine.execute(plan, beside=beside)
        self._lost_ns += execution.lost_ns(plan)
        return plan, execution

    def _spreads(self, plan: ExecutionPlan, execution: Execution) -> list[Spread]:
        found = occupation(plan, execution)
        shape = (plan.frames, self.problem.group_count)
        busy = np.zeros(shape)
        for i, instance in enumerate(plan.instances):
            busy[instance.frame - 1, instance.group] = found.busy[i]
        return [spread_of(busy[WARM_UP:, g]) for g in range(self.problem.group_count)]
