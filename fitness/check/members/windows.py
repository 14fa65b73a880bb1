"""The window of endless streams of frames over which rates, power and responses are counted.

Round k is over at the first instant at which every stream has ended k frames. If the state at the
end of a round recurs (:meth:`fitness.check.members.frames.Simulation.until_recurrence`), the window
is the time between the two. Otherwise, for pipelines and networks that run freely:

* the window begins once F + 2 rounds are over and 2048 executions have ended (768 with several
  streams);
* it ends once 2 F + 8 rounds are over and 8192 executions have ended (3072 with several streams).

The schedule of networks that run freely has every execution that starts before the window ends or,
if it is earlier, before the first instant at which 1000 executions have ended. So the simulation
continues until these have ended.

Release k of a network with a rate, from 0, is not ready before arrival + floor(k P / R), nor before
the one before it has ended. R releases belong to a period P; a network without a rate has one. A
state that has not recurred by the end of 32 periods never does. If all of the first period alone
ends within it, that is the window: the next begins as it did.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.fitness.check.members.frames import Account, Execution, PlainTimeline, Simulation
from paretosoc.results.front.front import FreeRun
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.problem import DesignPoint, Problem

OF_ONE_STREAM, OF_SEVERAL = (2048, 8192), (768, 3072)
"""Executions that have ended at least as a window begins, and as it ends."""
MAX_SHOWN = 1000
Runs = dict[Execution, tuple[int, int, int]]
"""Ready time, start and end of executions, repeats counted from 1."""


@dataclass(frozen=True)
class PlainLongRun:
    """The window of a design point, with its periods, energies and schedule."""

    window_ps: tuple[int, int]
    recurs: bool
    """Whether the state at the window's end is the one at its beginning."""
    periods_ps: tuple[int, ...]
    """Mean time from frame to frame of each stream, rounded up."""
    dynamic_fj: tuple[int, ...]
    """Dynamic energy of each unit in the window."""
    schedule: Schedule
    """The shown executions, in the order (frame, network, repeat, group)."""
    shown_ps: int

    @property
    def free_run(self) -> FreeRun:
        """Return the summary of free-running networks."""
        return FreeRun(self.window_ps, self.periods_ps, self.shown_ps)


def simulate_long_run(
    problem: Problem, design: DesignPoint, *, most: int = MAX_SHOWN, compiled: bool = False
) -> PlainLongRun:
    """Simulate to the window's end, and until all executions of the schedule have ended.

    Args:
        most: the schedule ends when this many executions have ended, if not before.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it, or the execution model
            has no long run.
    """
    run = Simulation(problem, design, most=most, compiled=compiled)
    few, many = OF_ONE_STREAM if len(run.streams) == 1 else OF_SEVERAL
    begin: Account | None = None
    recurring: Account | None = None
    for recurring in run.until_recurrence():
        if recurring is not None:
            break
        if begin is not None:
            if run.rounds >= 2 * run.in_flight + 8 and run.executions >= many:
                break
        elif run.rounds >= run.in_flight + 2 and run.executions >= few:
            begin = run.account()
    begin, end = recurring or begin, run.account()
    assert begin is not None, "a window ends after it has begun"
    until = end.now_ps if run.shown_ps is None else run.shown_ps
    while run.starts_before(until):
        run.advance(until)
    return PlainLongRun(
        window_ps=(begin.now_ps, end.now_ps),
        recurs=recurring is not None,
        periods_ps=run.periods(begin, end),
        dynamic_fj=tuple(b - a for a, b in zip(begin.drawn_fj, end.drawn_fj, strict=True)),
        schedule=run.schedule(until),
        shown_ps=until,
    )


@dataclass(frozen=True)
class PlainRates:
    """The recurring part of networks with rates, or the first period alone if nothing recurs."""

    window_ps: tuple[int, int] | None
    """None: nothing recurs."""
    recurs_ps: int
    """The window's end. If nothing recurs, it is beyond 32 periods by as much as the first one
    alone reaches over its end."""
    responses_ps: tuple[tuple[int, ...], ...]
    """[networks]: of the releases that end in the window, rising."""
    dynamic_fj: tuple[int, ...]
    """Mean dynamic energy of every unit in a period of the window, rounded down."""
    busy_ps: int
    """Time that units are busy, likewise."""
    periods: int
    """Periods that the responses are of."""


def simulate_rates(
    problem: Problem, design: DesignPoint, alone: PlainTimeline, *, compiled: bool = False
) -> PlainRates:
    """Simulate a design point until its state recurs.

    Args:
        alone: its first period, simulated alone.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    period, end_of_first = problem.execution.period_ps, alone.frame_end_ps[0]
    assert period is not None, "has_rates"
    begin = end = None
    if end_of_first > period:
        run = Simulation(problem, design, compiled=compiled)
        begin = next(filter(None, run.until_recurrence(MAX_PERIODS * period)), None)
        end = run.account()
    if begin is None or end is None:
        recurs_ps = period
        if end_of_first > period:
            recurs_ps = (MAX_PERIODS - 1) * period + end_of_first
        first = {
            (row.frame, row.network, row.repeat, row.group): (
                row.ready_ps,
                row.start_ps,
                row.end_ps,
            )
            for row in alone.schedule.groups
        }
        return PlainRates(
            window_ps=None if end_of_first > period else (0, period),
            recurs_ps=recurs_ps,
            responses_ps=_responses(problem, first, (0, end_of_first)),
            dynamic_fj=alone.drawn_fj,
            busy_ps=alone.busy_ps,
            periods=1,
        )
    window = begin.now_ps, end.now_ps
    periods = (window[1] - window[0]) // period
    drawn = zip(begin.drawn_fj, end.drawn_fj, strict=True)
    return PlainRates(
        window_ps=window,
        recurs_ps=end.now_ps,
        responses_ps=_responses(problem, run.runs, window),
        dynamic_fj=tuple((after - before) // periods for before, after in drawn),
        busy_ps=run.busy_ps(begin) // periods,
        periods=periods,
    )


def _responses(
    problem: Problem, runs: Runs, window: tuple[int, int]
) -> tuple[tuple[int, ...], ...]:
    """Return [networks] of the releases that end after the window's begin, by its end."""
    period = problem.execution.period_ps or 0
    ends: list[dict[int, list[int]]] = [{} for _ in problem.networks]
    for (frame, n, repeat, _), (_, _, end) in runs.items():
        often = problem.releases(n)
        release = (frame - 1) * often + (repeat - 1 if often > 1 else 0)
        ends[n].setdefault(release, []).append(end)
    result = []
    for n, network in enumerate(problem.networks):
        often = problem.releases(n)
        executions = len(network.groups) * (network.repeats // often)
        times = [
            max(each) - network.arrival_ps - release * period // often
            for release, each in ends[n].items()
            if len(each) == executions and window[0] < max(each) <= window[1]
        ]
        result.append(tuple(sorted(times)))
    return tuple(result)
