"""The computations and proofs that each execution model permits, stated once.

==============  ========================================  ==================================
model           simulated by                              plain oracle
==============  ========================================  ==================================
frame           :mod:`fitness.simulate`                   :mod:`fitness.check.members.frames`
periodic        :mod:`fitness.simulate`                   :mod:`fitness.check.members.frames`
rates           :mod:`fitness.simulate`                   :mod:`fitness.check.members.windows`
pipeline        :mod:`fitness.simulate_long_run`          :mod:`fitness.check.members.windows`
free-running    :mod:`fitness.simulate_long_run`          :mod:`fitness.check.members.windows`
closed-form     :mod:`fitness.closed_form`                :mod:`fitness.check.members.closed_form`
==============  ========================================  ==================================

The specs in :mod:`results.problem.objectives` say which objectives a model has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.check.members.closed_form import plain_loads
from paretosoc.fitness.closed_form import make_load_evaluator
from paretosoc.fitness.simulate import Evaluation, dynamic_by_unit, make_evaluator, simulate
from paretosoc.fitness.simulate_long_run import (
    free_run_of,
    make_long_run_evaluator,
    recurring_dynamic_fj,
    recurring_schedule,
    simulate_shown,
)
from paretosoc.results.front.front import FreeRun, Member
from paretosoc.results.front.schedule import Schedule, ScheduledMember
from paretosoc.results.problem.execution import (
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True, eq=False)
class EnergyAccount:
    """Times and energies of frames over the time W that energy is counted over, arrays [n]."""

    possible: BoolArray
    frame_period_ps: IntArray
    """Time from frame to frame if frames overlap, per image if networks run freely, else 0."""
    time_ps: IntArray
    """W, at least 1."""
    energy_fj: IntArray
    """Energy over W, per image if networks run freely."""
    long_run_power_uw: tuple[IntArray, IntArray] | None = None
    """Mean power in the long run, rounded down and rounded up."""
    stream_period_ps: IntArray | None = None
    """[n, networks]: from frame to frame, of free-running networks."""

    @cached_property
    def power_uw(self) -> tuple[IntArray, IntArray]:
        """Return the mean power, rounded down and rounded up."""
        if self.long_run_power_uw is not None:
            return self.long_run_power_uw
        energy, time = self.energy_fj, self.time_ps
        power = (energy // time) * 1000 + (energy % time) * 1000 // time
        return power, power + ((energy % time) * 1000 % time != 0)


AccountFunction = Callable[[IntArray, Evaluation | None], EnergyAccount]


@dataclass(frozen=True, eq=False)
class MemberRun:
    """The energy of a member, and the part of its free run that is shown."""

    free_run: FreeRun | None
    energy_fj: int
    energy_by_unit_fj: tuple[int, ...]
    """Per unit, idle and busy."""


MemberFunction = Callable[[Problem, IntArray, BoolArray, Evaluation, int], Sequence[MemberRun]]


@dataclass(frozen=True)
class ModelRules:
    """One model's part."""

    make_account: Callable[[Problem, int], AccountFunction]
    """Makes, from a problem and a number of threads, a function that takes rows [n, groups +
    domains] and the results of one frame alone, and gives time and energy."""
    needs_frame: bool
    """Whether that function looks at the frame."""
    run_members: MemberFunction
    """Simulates members: from a problem, rows [n, groups + domains], the domains that are on [n,
    domains], one frame of each and a number of threads."""
    bounded: frozenset[ObjectiveKind] = frozenset()
    """Objectives that are known to be no better than stand-alone times give."""
    provable: frozenset[ObjectiveKind] = frozenset()
    """Objectives that the exact search has bounds for, and its check."""
    limits_provable: bool = False
    """Whether the same holds for a power cap and an energy budget."""


def rules_of(problem: Problem) -> ModelRules:
    """Return the rules of the problem's execution model."""
    return RULES[type(problem.execution)]


def schedule_of(problem: Problem, design: DesignPoint) -> Schedule:
    """Return the schedule of a design point: one frame alone, or the beginning of a free run.

    With rates, if the work of the first period does not end within it, the schedule extends to the
    end of the recurring part.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    if problem.has_rates:
        frame = make_evaluator(problem)(design.row[None])
        if _is_played_on(problem, frame, 0):
            return recurring_schedule(problem, design)
    if problem.execution.has_frame:
        return simulate(problem, design).schedule
    return simulate_shown(problem, design)[0]


def _is_played_on(problem: Problem, frame: Evaluation, row: int) -> bool:
    """Return whether the simulation goes beyond the first period and finds a recurring part."""
    period = problem.execution.period_ps
    return period is not None and frame.makespan_ps[row] > period and frame.periods[row] > 0


def scheduled(problem: Problem, member: Member) -> ScheduledMember:
    """Return a member with its schedule."""
    return ScheduledMember(problem, member, schedule_of(problem, member.design))


def _make_frame_account(problem: Problem, jobs: int) -> AccountFunction:
    del jobs
    period_ps = problem.execution.period_ps

    def account(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
        assert frame is not None, "needs_frame"
        none = np.zeros(len(rows), dtype=np.int64)
        span = frame.makespan_ps if period_ps is None else none + period_ps
        energy = frame.idle_mw * span + frame.dynamic_fj
        return EnergyAccount(frame.possible, none, np.maximum(span, 1), energy)

    return account


def _make_closed_form_account(problem: Problem, jobs: int) -> AccountFunction:
    load = make_load_evaluator(problem, jobs=jobs)

    def account(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
        del frame
        loads = load(rows)
        time = np.maximum(loads.idle_time_ps, 1)
        return EnergyAccount(loads.possible, loads.period_ps, time, loads.energy_fj)

    return account


def _make_long_run_account(problem: Problem, jobs: int) -> AccountFunction:
    run = make_long_run_evaluator(problem, jobs=jobs)

    def account(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
        del frame
        runs = run(rows)
        figures = np.array(runs.energies(), dtype=np.int64).reshape(len(rows), 3)
        return EnergyAccount(
            possible=runs.possible,
            frame_period_ps=runs.frame_period_ps,
            time_ps=np.maximum(runs.frame_period_ps, 1),
            energy_fj=figures[:, 0],
            long_run_power_uw=(figures[:, 1], figures[:, 2]),
            stream_period_ps=None if problem.execution.has_frame else runs.stream_period_ps,
        )

    return account


def _run_frames(
    problem: Problem, rows: IntArray, on: BoolArray, frame: Evaluation, jobs: int
) -> list[MemberRun]:
    account = _make_frame_account(problem, jobs)(rows, frame)
    members = []
    for i, row in enumerate(rows):
        idle = _idle_of_units(problem, problem.design_of(row), on[i])
        dynamic = dynamic_by_unit(problem, row)
        if problem.has_rates and _is_played_on(problem, frame, i):
            dynamic = recurring_dynamic_fj(problem, problem.design_of(row))
        time = int(account.time_ps[i])
        by_unit = tuple(a * time + b for a, b in zip(idle, dynamic, strict=True))
        members.append(MemberRun(None, int(account.energy_fj[i]), by_unit))
    return members


def _run_closed_form(
    problem: Problem, rows: IntArray, on: BoolArray, frame: Evaluation, jobs: int
) -> list[MemberRun]:
    del on, frame
    energies = make_load_evaluator(problem, jobs=jobs)(rows).energy_fj.tolist()
    return [
        MemberRun(None, energy, plain_loads(problem, problem.design_of(row)).energy_by_unit_fj)
        for row, energy in zip(rows, energies, strict=True)
    ]


def _run_on(
    problem: Problem, rows: IntArray, on: BoolArray, frame: Evaluation, jobs: int
) -> list[MemberRun]:
    """Return the energies of one frame, in the mean over the window."""
    del frame
    runs = make_long_run_evaluator(problem, jobs=jobs)(rows)
    designs = [problem.design_of(row) for row in rows]
    shown: list[FreeRun | None] = [None for _ in designs]
    if not problem.execution.has_frame:
        with ThreadPoolExecutor(jobs) as pool:
            shown = list(pool.map(partial(free_run_of, problem), designs, runs.stream_period_ps))
    dynamic = runs.dynamic_energies()
    members = []
    for i, (energy, _, _) in enumerate(runs.energies()):
        idle = _idle_of_units(problem, designs[i], on[i])
        window = int(runs.window_ps[i])
        by_unit = tuple(
            runs.per_frame(i, a * window + b) for a, b in zip(idle, dynamic[i], strict=True)
        )
        members.append(MemberRun(shown[i], energy, by_unit))
    return members


def _idle_of_units(problem: Problem, design: DesignPoint, on: BoolArray) -> tuple[int, ...]:
    """Return the idle power per unit, in mW, 0 for a unit that is off."""
    return tuple(
        int(unit.idle_mw[design.points_of(unit)]) if on[unit.clocks[0]] else 0
        for unit in problem.units
    )


_TIMES = frozenset({ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY, ObjectiveKind.TOKEN_RATE})
_OF_RATES = frozenset(kind for kind in ObjectiveKind if Rates in kind.spec.models)
_OF_ANY_MODEL = _TIMES | {ObjectiveKind.ACCURACY_LOSS, ObjectiveKind.MEMORY}
_OF_A_FRAME_ALONE = {ObjectiveKind.STRETCH, ObjectiveKind.GUARANTEED_LATENCY}
_OF_A_FRAME = _OF_ANY_MODEL | {ObjectiveKind.ENERGY, ObjectiveKind.TOKEN_ENERGY}

RULES: dict[type[ExecutionModel], ModelRules] = {
    OneFrame: ModelRules(
        make_account=_make_frame_account,
        needs_frame=True,
        run_members=_run_frames,
        bounded=_OF_A_FRAME | _OF_A_FRAME_ALONE,
        provable=_OF_A_FRAME,
        limits_provable=True,
    ),
    # Mean power is bounded over a given time only. If a longer makespan draws more energy, its mean
    # power may still be less.
    Periodic: ModelRules(
        make_account=_make_frame_account,
        needs_frame=True,
        run_members=_run_frames,
        bounded=_OF_A_FRAME | _OF_A_FRAME_ALONE | {ObjectiveKind.POWER},
        provable=_OF_A_FRAME | {ObjectiveKind.POWER},
        limits_provable=True,
    ),
    # The exact search has no bounds on responses. Over boxes there are some.
    Rates: ModelRules(
        make_account=_make_frame_account,
        needs_frame=True,
        run_members=_run_frames,
        bounded=_OF_RATES,
    ),
    # The figures of one frame alone can still be proved for a pipeline.
    Pipeline: ModelRules(
        make_account=_make_long_run_account,
        needs_frame=False,
        run_members=_run_on,
        provable=_OF_ANY_MODEL,
    ),
    ClosedForm: ModelRules(
        make_account=_make_closed_form_account,
        needs_frame=False,
        run_members=_run_closed_form,
        provable=_OF_ANY_MODEL,
    ),
    FreeRunning: ModelRules(
        make_account=_make_long_run_account, needs_frame=False, run_members=_run_on
    ),
}
