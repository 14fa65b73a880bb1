"""What a design point takes and draws under each execution model, in Python integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from paretosoc.fitness.reference.closed_form import plain_loads
from paretosoc.fitness.reference.long_run import PlainLongRun, simulate_long_run
from paretosoc.fitness.reference.rates import PlainRates, simulate_rates
from paretosoc.fitness.reference.timeline import PlainTimeline, simulate
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.execution import (
    ClosedForm,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class PlainAccount:
    """What a design point takes and draws under the execution model of its problem."""

    problem: Problem
    design: DesignPoint
    frame: PlainTimeline
    """One frame alone."""
    period_ps: int
    """From frame to frame where frames overlap; else 0."""
    time_ps: int
    """What ``drawn_fj`` is drawn in, at least 1."""
    drawn_fj: int
    energy_fj: int
    """Of a frame; of free-running networks per image."""
    energy_by_unit_fj: tuple[int, ...]
    run: PlainLongRun | None = None
    """Of free-running networks."""
    rates: PlainRates | None = None
    """Of networks with rates."""

    @property
    def responses_ps(self) -> tuple[tuple[int, ...], ...]:
        """[networks][releases], rising: of networks with rates, from each release to its end."""
        return () if self.rates is None else self.rates.responses_ps

    @property
    def latencies_ps(self) -> tuple[int, ...]:
        """[networks]: of one frame alone; with rates the longest responses."""
        if self.rates is None:
            return self.frame.latency_ps[0]
        return tuple(times[-1] for times in self.rates.responses_ps)

    @property
    def stream_periods_ps(self) -> tuple[int, ...]:
        """[networks]: of free-running networks."""
        return () if self.run is None else self.run.periods_ps


def plain_account(problem: Problem, design: DesignPoint) -> PlainAccount:
    """Plays a design point and adds up energy.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    frame = simulate(problem, design)
    match problem.execution:
        case OneFrame():
            return _frame_account(problem, design, frame, frame.frame_end_ps[0])
        case Periodic(period):
            return _frame_account(problem, design, frame, period)
        case Rates(period):
            rates = simulate_rates(problem, design, frame)
            account = _frame_account(problem, design, frame, period, rates.dynamic_fj)
            return replace(account, rates=rates)
        case Pipeline() | FreeRunning():
            return _long_run_account(problem, design, frame)
        case ClosedForm():
            loads = plain_loads(problem, design)
            time, energy = max(loads.idle_time_ps, 1), loads.energy_fj
            by_unit = loads.energy_by_unit_fj
            return PlainAccount(
                problem, design, frame, loads.period_ps, time, energy, energy, by_unit
            )


def _frame_account(
    problem: Problem,
    design: DesignPoint,
    frame: PlainTimeline,
    span_ps: int,
    dynamic_fj: Sequence[int] | None = None,
) -> PlainAccount:
    """One frame, and idle power over ``span_ps``; what units draw above it where it is not that of
    the frame."""
    time = max(span_ps, 1)
    idle_of_unit, idle_of_rest = _idle_mw(problem, design)
    dynamic = dynamic_fj or _dynamic_by_unit_fj(problem, design, frame)
    energy = (sum(idle_of_unit) + idle_of_rest) * time + sum(dynamic)
    by_unit = tuple(mw * time + fj for mw, fj in zip(idle_of_unit, dynamic, strict=True))
    return PlainAccount(problem, design, frame, 0, time, energy, energy, by_unit)


def _long_run_account(problem: Problem, design: DesignPoint, frame: PlainTimeline) -> PlainAccount:
    """The mean over the window of the long run."""
    run = simulate_long_run(problem, design)
    idle_of_unit, idle_of_rest = _idle_mw(problem, design)
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
        period_ps=period,
        time_ps=time,
        drawn_fj=drawn,
        energy_fj=min(drawn * period // (streams * time), INT64_MAX),
        energy_by_unit_fj=tuple(
            (mw * time + fj) * period // (streams * time)
            for mw, fj in zip(idle_of_unit, run.dynamic_fj, strict=True)
        ),
        run=None if problem.execution.has_frame else run,
    )


def _points(problem: Problem, design: DesignPoint, u: int) -> tuple[int, ...]:
    return tuple(int(design.operating_points[clock]) for clock in problem.units[u].clocks)


def _idle_mw(problem: Problem, design: DesignPoint) -> tuple[list[int], int]:
    """Power of every unit, 0 where it is off; of the board and of all domains that are on."""
    used = {clock for u in set(design.units.tolist()) for clock in problem.units[u].clocks}
    on = [not domain.may_be_off or d in used for d, domain in enumerate(problem.domains)]
    static = [
        int(domain.static_mw[int(design.operating_points[d])])
        for d, domain in enumerate(problem.domains)
        if on[d]
    ]
    idle = [
        int(unit.idle_mw[_points(problem, design, u)]) if on[unit.clocks[0]] else 0
        for u, unit in enumerate(problem.units)
    ]
    return idle, problem.board_mw + sum(static)


def _dynamic_by_unit_fj(
    problem: Problem, design: DesignPoint, timeline: PlainTimeline
) -> list[int]:
    """Per unit, at its first entry: dynamic power from start to end, over all its executions."""
    drawn = [0] * len(problem.units)
    for row in timeline.schedule.groups:
        at = (row.group, *_points(problem, design, row.unit))
        power = int(problem.units[row.unit].dynamic_mw[at])
        drawn[problem.unit_of[row.unit]] += power * (row.end_ps - row.start_ps)
    return drawn
