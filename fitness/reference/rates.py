"""Networks with rates of their own, stated plainly: the oracle of the compiled form.

Release k of a network, from 0, is not ready before arrival + floor(k P / R), nor before the one
before it has ended; R releases, of a network without a rate one, belong to a period P. Round k is
over at the first instant at which every network has ended the releases of k periods. At the end of
each round the state, relative to the instant, is compared with the one that was kept: if they are
equal, all between them recurs for ever, and that is the window. If there is no kept one, or if
twice as many rounds are over as when it was, the present one is kept. What has not recurred by the
end of 32 periods never does.

Where all of the first period alone ends within it, that is the window: the next begins as it did.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.fitness.reference.streams import Account, Form, LongRunSimulation
from paretosoc.fitness.reference.timeline import Execution, PlainTimeline
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.problem import DesignPoint, Problem

Runs = dict[Execution, tuple[int, int]]
"""Start and end of executions, repeats counted from 1."""


@dataclass(frozen=True)
class PlainRates:
    """What recurs; where nothing does, the first period alone."""

    window_ps: tuple[int, int] | None
    """None: nothing recurs."""
    recurs_ps: int
    """The window's end; where nothing recurs, so far beyond 32 periods as the first one alone
    reaches over its end."""
    responses_ps: tuple[tuple[int, ...], ...]
    """[networks]: of the releases that end in the window, rising."""
    dynamic_fj: tuple[int, ...]
    """Of every unit in a period of the window in the mean, rounded down."""
    busy_ps: int
    """Time that units are busy, likewise."""
    periods: int
    """Periods that the responses are of."""


def simulate_rates(problem: Problem, design: DesignPoint, alone: PlainTimeline) -> PlainRates:
    """Plays a design point until its state recurs.

    Args:
        alone: its first period, simulated alone.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    period = problem.execution.period_ps
    assert period is not None, "has_rates"
    first = {
        (row.frame, row.network, row.repeat, row.group): (row.start_ps, row.end_ps)
        for row in alone.schedule.groups
    }
    simulation = LongRunSimulation(problem, design)
    drawn = [0 for _ in problem.units]
    for execution, (start, last) in first.items():
        group = execution[3]
        drawn[problem.unit_of[int(design.units[group])]] += simulation.powers[group] * (
            last - start
        )
    end_of_first = alone.frame_end_ps[0]

    def of_first(window: tuple[int, int] | None, recurs_ps: int) -> PlainRates:
        busy = sum(end - start for start, end in first.values())
        responses = _responses(problem, first, (0, end_of_first))
        return PlainRates(window, recurs_ps, responses, tuple(drawn), busy, 1)

    if end_of_first <= period:
        return of_first((0, period), period)
    found = _recurrence(simulation, period)
    if found is None:
        return of_first(None, (MAX_PERIODS - 1) * period + end_of_first)
    begin, end = found
    periods = (end.now_ps - begin.now_ps) // period
    window = begin.now_ps, end.now_ps
    runs = {execution: instants[1:] for execution, instants in simulation.runs.items()}
    inside = [run for run in runs.values() if begin.now_ps < run[1] <= end.now_ps]
    return PlainRates(
        window_ps=window,
        recurs_ps=end.now_ps,
        responses_ps=_responses(problem, runs, window),
        dynamic_fj=tuple(
            (b - a) // periods for a, b in zip(begin.drawn_fj, end.drawn_fj, strict=True)
        ),
        busy_ps=sum(end - start for start, end in inside) // periods,
        periods=periods,
    )


def _recurrence(simulation: LongRunSimulation, period: int) -> tuple[Account, Account] | None:
    """Accounts at the window's begin and end."""
    kept: tuple[int, Form, Account] | None = None
    while simulation.now < MAX_PERIODS * period:
        if not simulation.advance():
            continue
        form = simulation.form()
        if kept is not None and kept[1] == form:
            return kept[2], simulation.account()
        if kept is None or simulation.rounds >= 2 * kept[0]:
            kept = simulation.rounds, form, simulation.account()
    return None


def _responses(
    problem: Problem, runs: Runs, window: tuple[int, int]
) -> tuple[tuple[int, ...], ...]:
    """[networks]: of the releases that end after the window's begin, by its end."""
    period = problem.execution.period_ps or 0
    result = []
    for n, network in enumerate(problem.networks):
        ends: dict[int, list[int]] = {}
        for (frame, m, repeat, _), (_, end) in runs.items():
            if m == n:
                release = (frame - 1) * network.repeats + repeat - 1
                ends.setdefault(release if network.paced else frame - 1, []).append(end)
        groups = len(network.groups) * (1 if network.paced else network.repeats)
        often = network.repeats if network.paced else 1
        times = [
            max(each) - network.arrival_ps - release * period // often
            for release, each in ends.items()
            if len(each) == groups and window[0] < max(each) <= window[1]
        ]
        result.append(tuple(sorted(times)))
    return tuple(result)
