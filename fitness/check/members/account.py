"""Time and energy of a design point under each execution model, in Python integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from paretosoc.fitness.check.members.closed_form import idle_mw, plain_loads
from paretosoc.fitness.check.members.frames import PlainTimeline, simulate
from paretosoc.fitness.check.members.guarantee import PlainGuarantee, plain_guarantee
from paretosoc.fitness.check.members.windows import (
    PlainLongRun,
    PlainRates,
    simulate_long_run,
    simulate_rates,
)
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.execution import ClosedForm, FreeRunning, Pipeline
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class PlainAccount:
    """Times and energies of a design point under the execution model of its problem."""

    problem: Problem
    design: DesignPoint
    frame: PlainTimeline
    """One frame alone."""
    time_ps: int
    """The time of ``drawn_fj``, at least 1."""
    drawn_fj: int
    energy_fj: int
    """Energy of a frame, or per image if networks run freely."""
    energy_by_unit_fj: tuple[int, ...]
    period_ps: int = 0
    """Time from frame to frame if frames overlap."""
    run: PlainLongRun | None = None
    """The long run of free-running networks."""
    rates: PlainRates | None = None
    """The periods of networks with rates."""

    @cached_property
    def guarantee(self) -> PlainGuarantee | None:
        """Bounds for all times in the problem's tolerance, if it has one."""
        problem, schedule = self.problem, self.frame.schedule
        if problem.tolerance_permille is None:
            return None
        return plain_guarantee(problem, self.design, schedule, problem.tolerance_permille)

    @property
    def responses_ps(self) -> tuple[tuple[int, ...], ...]:
        """Return [networks][releases], rising: of networks with rates, from each release to its
        end."""
        return () if self.rates is None else self.rates.responses_ps

    @property
    def latencies_ps(self) -> tuple[int, ...]:
        """Return the latencies [networks] of one frame alone, or the longest responses of rates."""
        if self.rates is None:
            return self.frame.latency_ps[0]
        return tuple(times[-1] for times in self.rates.responses_ps)

    @property
    def stream_periods_ps(self) -> tuple[int, ...]:
        """Return [networks]: of free-running networks."""
        return () if self.run is None else self.run.periods_ps


def plain_account(problem: Problem, design: DesignPoint, *, compiled: bool = False) -> PlainAccount:
    """Simulate a design point and add up energy.

    Args:
        compiled: the problem's figures must then fit in int64 with all their products.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    execution = problem.execution
    frame = simulate(problem, design, compiled=compiled)
    if isinstance(execution, ClosedForm):
        loads = plain_loads(problem, design)
        time, energy = max(loads.idle_time_ps, 1), loads.energy_fj
        by_unit = loads.energy_by_unit_fj
        return PlainAccount(problem, design, frame, time, energy, energy, by_unit, loads.period_ps)
    if isinstance(execution, Pipeline | FreeRunning):
        return _long_run_account(problem, design, frame, compiled)
    time = max(frame.frame_end_ps[0] if execution.period_ps is None else execution.period_ps, 1)
    dynamic, rates = frame.drawn_fj, None
    if problem.has_rates:
        rates = simulate_rates(problem, design, frame, compiled=compiled)
        dynamic = rates.dynamic_fj
    idle_of_unit, idle_of_rest = idle_mw(problem, design)
    energy = (sum(idle_of_unit) + idle_of_rest) * time + sum(dynamic)
    by_unit = tuple(mw * time + fj for mw, fj in zip(idle_of_unit, dynamic, strict=True))
    return PlainAccount(problem, design, frame, time, energy, energy, by_unit, rates=rates)


def _long_run_account(
    problem: Problem, design: DesignPoint, frame: PlainTimeline, compiled: bool
) -> PlainAccount:
    """Return the mean over the window of the long run."""
    run = simulate_long_run(problem, design, compiled=compiled)
    idle_of_unit, idle_of_rest = idle_mw(problem, design)
    streams, period = len(run.periods_ps), run.periods_ps[0]
    if not problem.execution.has_frame:
        rates = (Fraction(i, p) for i, p in zip(problem.images, run.periods_ps, strict=True))
        period = min(ceil(streams / sum(rates)), INT64_MAX)
    time = run.window_ps[1] - run.window_ps[0]
    drawn = (sum(idle_of_unit) + idle_of_rest) * time + sum(run.dynamic_fj)
    return PlainAccount(
        problem=problem,
        design=design,
        frame=frame,
        time_ps=time,
        drawn_fj=drawn,
        energy_fj=min(drawn * period // (streams * time), INT64_MAX),
        energy_by_unit_fj=tuple(
            (mw * time + fj) * period // (streams * time)
            for mw, fj in zip(idle_of_unit, run.dynamic_fj, strict=True)
        ),
        period_ps=period,
        run=None if problem.execution.has_frame else run,
    )
