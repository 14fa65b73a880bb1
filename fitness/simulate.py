"""Latency and energy of design points, by the compiled timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.simulator.chains.chain_tables import (
    SLOTS,
    are_chains,
    are_separate,
    make_chains,
    make_crowd,
    make_lanes,
)
from paretosoc.fitness.simulator.layout import Plan, make_plan
from paretosoc.fitness.simulator.state import Chosen, State, make_chosen, make_state
from paretosoc.fitness.simulator.threads import RowSimulator, share_rows
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Times and energies of one frame alone for n design points, undefined for impossible ones."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    makespan_ps: IntArray
    """[n]"""
    latency_ps: IntArray
    """[n, networks]: last end minus arrival, or the longest response of networks with rates."""
    dynamic_fj: IntArray
    """[n]: energy above idle power. With rates it is the mean of a period of the window."""
    busy_ps: IntArray
    """[n]: sum of the busy times of units, with rates likewise."""
    idle_mw: IntArray
    """[n]: power that is drawn all the time."""
    percentile_95_ps: IntArray
    """[n, networks]: of the responses of networks with rates, as the next two; else 0."""
    jitter_ps: IntArray
    """[n, networks]: the longest response less the shortest."""
    misses: IntArray
    """[n, networks]: too late responses in a period of the window in the mean, rounded up."""
    recurs_ps: IntArray
    """[n]: end of the recurring window of networks with rates. If nothing recurs, it is beyond
    ``MAX_PERIODS`` periods by as much as the first one alone reaches over its end."""
    periods: IntArray
    """[n]: periods of that window, 0 if nothing recurs."""

    @classmethod
    def unfilled(cls, rows: int, networks: int) -> Evaluation:
        """Return an evaluation of zeros, for a kernel to fill."""
        makespan, dynamic, busy, idle, recurs, periods = np.zeros((6, rows), dtype=np.int64)
        latency, share, jitter, misses = np.zeros((4, rows, networks), dtype=np.int64)
        possible = np.zeros(rows, dtype=np.bool_)
        return cls(
            possible, makespan, latency, dynamic, busy, idle, share, jitter, misses, recurs, periods
        )

    @property
    def columns(self) -> tuple[BoolArray | IntArray, ...]:
        """Return all fields in their order, as kernels for networks with rates take them."""
        return tuple(vars(self).values())

    @property
    def frame_columns(self) -> tuple[BoolArray | IntArray, ...]:
        """Return the fields that kernels without rates take."""
        return self.columns[:-5]

    @property
    def energy_fj(self) -> IntArray:
        """Return [n]: the energy of the frame, with idle power until the makespan, in fJ."""
        return self.idle_mw * self.makespan_ps + self.dynamic_fj


@dataclass(frozen=True)
class Timeline:
    """The simulation of one design point: executions, and the instants at which frames and networks
    ended."""

    schedule: Schedule
    frame_end_ps: tuple[int, ...]
    latency_ps: tuple[tuple[int, ...], ...]
    """[frames][networks]"""


Evaluator = Callable[[IntArray], Evaluation]
MANY_ROWS = 4
"""With fewer rows most lanes of many chains would be idle."""


class Kernel(Enum):
    """The compiled forms of the timeline, which all give the same integers."""

    TWO_CHAINS = auto()
    """One or two networks that are chains: the fastest kernel."""
    MANY_CHAINS = auto()
    """Chains on units that run one group at a time."""
    GENERAL = auto()
    """Any problem."""


def fastest_kernel(problem: Problem) -> Kernel:
    """Return the fastest kernel that can simulate the problem."""
    if not are_chains(problem):
        return Kernel.GENERAL
    if len(problem.networks) <= SLOTS:
        return Kernel.TWO_CHAINS
    return Kernel.MANY_CHAINS if are_separate(problem) else Kernel.GENERAL


def make_evaluator(problem: Problem, *, jobs: int = 1, kernel: Kernel | None = None) -> Evaluator:
    """Return a function from rows [n, groups + domains] to an :class:`Evaluation`.

    A row has units, then operating points. ``kernel``: None for the fastest. Others serve tests and
    benchmarks.

    Rows are shared out over ``jobs`` threads, as the compiled timeline holds no lock. Each row's
    result depends on that row alone, so the number of threads changes nothing but the time taken.
    """
    plan = make_plan(problem)
    simulate = share_rows(_SIMULATORS[kernel or fastest_kernel(problem)](problem, plan, jobs))

    def evaluate(rows: IntArray) -> Evaluation:
        evaluation = Evaluation.unfilled(len(rows), plan.networks)
        simulate(rows, *(evaluation.columns if problem.has_rates else evaluation.frame_columns))
        return evaluation

    return evaluate


def _general_simulators(problem: Problem, plan: Plan, jobs: int) -> list[RowSimulator]:
    """Return simulators of any problem."""
    from paretosoc.fitness.simulator.general import evaluate_rows
    from paretosoc.fitness.simulator.rates import evaluate_rates

    def simulator() -> RowSimulator:
        chosen, state = make_chosen(plan), make_state(plan, frames=1, in_flight=1)
        if not problem.has_rates:
            return lambda rows, *out: evaluate_rows(plan, rows, chosen, state, *out)
        endless = make_state(plan, frames=0, in_flight=1, streams=plan.networks)
        return lambda rows, *out: evaluate_rates(plan, rows, chosen, state, endless, *out)

    return [simulator() for _ in range(jobs)]


def _two_chains_simulators(problem: Problem, plan: Plan, jobs: int) -> list[RowSimulator]:
    """Return simulators of one or two chains."""
    from paretosoc.fitness.simulator.chains.two_chains import evaluate_chains

    chains = make_chains(problem, plan)

    def simulator() -> RowSimulator:
        lanes = make_lanes(plan)
        return lambda rows, *out: evaluate_chains(plan, chains, rows, lanes, *out)

    return [simulator() for _ in range(jobs)]


def _many_chains_simulators(problem: Problem, plan: Plan, jobs: int) -> list[RowSimulator]:
    """Return simulators of chains on units that run one group at a time."""
    from paretosoc.fitness.simulator.chains.many_chains import evaluate_many

    chains = make_chains(problem, plan)

    def simulator(few: RowSimulator) -> RowSimulator:
        crowd = make_crowd(plan)

        def simulate(rows: IntArray, *out: IntArray) -> None:
            if len(rows) < MANY_ROWS:
                few(rows, *out)
            else:
                evaluate_many(plan, chains, rows, crowd, *out)

        return simulate

    return [simulator(few) for few in _general_simulators(problem, plan, jobs)]


_SIMULATORS = {
    Kernel.TWO_CHAINS: _two_chains_simulators,
    Kernel.MANY_CHAINS: _many_chains_simulators,
    Kernel.GENERAL: _general_simulators,
}


@lru_cache(maxsize=1)
def _plan_of(problem: Problem) -> Plan:
    """Return the plan of a problem whose members are simulated one after the other."""
    return make_plan(problem)


def simulate(
    problem: Problem, design: DesignPoint, *, frames: int = 1, in_flight: int = 1
) -> Timeline:
    """Simulate ``frames`` frames, at most ``in_flight`` of them at a time, and keep the schedule.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    plan = _plan_of(problem)
    chosen, state = _simulated(problem, plan, design.row, frames, in_flight)
    groups = scheduled_groups(plan, chosen, np.arange(len(state.log)), state.log)
    return Timeline(
        schedule=Schedule(tuple(groups)),
        frame_end_ps=tuple(state.frame_end.tolist()),
        latency_ps=tuple(tuple(entry) for entry in state.latency.tolist()),
    )


def dynamic_by_unit(problem: Problem, row: IntArray) -> tuple[int, ...]:
    """Return the dynamic energy of one frame alone per unit, at its first entry, in fJ.

    Raises:
        ValueError: if the row puts a group on a unit that cannot run it.
    """
    plan = _plan_of(problem)
    chosen, state = _simulated(problem, plan, row, frames=1, in_flight=1)
    group = plan.instance["group"]
    spent = chosen.group.dynamic_mw[group] * (state.log["end"] - state.log["start"])
    unit = plan.unit_of[chosen.group.unit[group]]
    shared = plan.share.reshape(plan.units, -1)[:, 1] > 0
    energies = state.unit.drawn_fj[: plan.units].copy()
    np.add.at(energies, unit, np.where(shared[unit], 0, spent))
    return tuple(energies.tolist())


def _simulated(
    problem: Problem, plan: Plan, row: IntArray, frames: int, in_flight: int
) -> tuple[Chosen, State]:
    """Return the costs of a row, and the final state of its simulation, with its log."""
    from paretosoc.fitness.simulator.general import simulate as simulate_kernel

    chosen = chosen_of(problem, plan, row)
    # No choice is open. With stops the state has the type that proofs have: compiled once for both.
    state = make_state(plan, frames=frames, in_flight=in_flight, log=True, stops=True)
    simulate_kernel(plan, chosen, state)
    return chosen, state


def chosen_of(problem: Problem, plan: Plan, row: IntArray) -> Chosen:
    """Return a row's units and costs, as kernels take them.

    Raises:
        ValueError: if it puts a group on a unit that cannot run it.
    """
    from paretosoc.fitness.simulator.lookup import choose

    chosen = make_chosen(plan)
    if not choose(plan, row, chosen):
        group = int(np.flatnonzero(chosen.group.alone_ps < 0)[0])
        raise ValueError(f"group {group} cannot run on unit {problem.units[int(row[group])].name}")
    return chosen


def scheduled_groups(
    plan: Plan, chosen: Chosen, executions: IntArray, instants: NDArray[np.void]
) -> Iterator[ScheduledGroup]:
    """Yield the executions that a kernel logged.

    ``executions``: frame, from 0, times instances, plus instance. ``instants`` [executions] of
    ``EXECUTION``.
    """
    frame, instance = np.divmod(executions, plan.instances)
    group, job, repeat = (plan.instance[name][instance] for name in ("group", "job", "repeat"))
    unit = chosen.group.unit[group]
    step = plan.step_ps[chosen.table_row[unit] + group]
    columns = (
        *(frame + 1, plan.job.network[job], repeat + 1, group, unit),
        *(instants[name] for name in ("ready", "start", "end")),
        chosen.group.alone_ps[group] + repeat * step,
    )
    return map(ScheduledGroup._make, zip(*(column.tolist() for column in columns), strict=True))
