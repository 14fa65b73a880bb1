"""Pipelines and free-running networks in the long run, stated plainly: the oracle of
the compiled form.

What streams do is in :mod:`fitness.reference.streams`; here is what counts of it.

Round k is over at the first instant at which every stream has ended k frames. At the end of each
round:

* a single stream's state, relative to the instant, is compared with the one that was kept: if they
  are equal, all between them recurs for ever, and that is the window. If there is no kept one, or
  if twice as many rounds are over as when it was, the present one is kept;
* if the window has begun, 2 F + 8 rounds are over, and 8192 executions have ended (3072 of several
  streams), it ends; if not, and F + 2 rounds are over and 2048 executions (768) have ended, it
  begins.

What is shown of networks that run freely is every execution that starts before the window ends or,
if it is earlier, before the first instant at which 1000 executions have ended. So the simulation
continues until these have ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.fitness.reference.streams import Account, Form, LongRunSimulation
from paretosoc.results.front.front import FreeRun
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.problem import DesignPoint, Problem

OF_ONE_STREAM, OF_SEVERAL = (2048, 8192), (768, 3072)
"""Executions that have ended at least where a window begins, and where it ends."""
MAX_SHOWN = 1000


@dataclass(frozen=True)
class PlainLongRun:
    """What a design point does in its window."""

    window_ps: tuple[int, int]
    recurs: bool
    """Whether the state at the window's end is the one at its beginning."""
    periods_ps: tuple[int, ...]
    """Of each stream, from frame to frame in the mean, rounded up."""
    dynamic_fj: tuple[int, ...]
    """Of each unit, in the window."""
    schedule: Schedule
    """What is shown, in the order (frame, network, repeat, group)."""
    shown_ps: int

    @property
    def free_run(self) -> FreeRun:
        """The summary of free-running networks."""
        return FreeRun(self.window_ps, self.periods_ps, self.shown_ps)


def simulate_long_run(
    problem: Problem, design: DesignPoint, *, most: int = MAX_SHOWN
) -> PlainLongRun:
    """Simulates to the window's end, and until all has ended that is shown.

    Args:
        most: what is shown ends when this many executions have ended, if not before.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it, or the execution
            model has no long run.
    """
    simulation = LongRunSimulation(problem, design)
    in_flight = simulation.in_flight
    few, many = OF_ONE_STREAM if len(simulation.streams) == 1 else OF_SEVERAL
    kept: tuple[int, Form, Account] | None = None
    begin: Account | None = None
    recurs = False
    while True:
        is_over = simulation.advance()
        if simulation.shown_ps is None and simulation.executions >= most:
            simulation.shown_ps = simulation.now
        if not is_over:
            continue
        if len(simulation.streams) == 1:
            form = simulation.form()
            if kept is not None and kept[1] == form:
                recurs, begin = True, kept[2]
                break
            if kept is None or simulation.rounds >= 2 * kept[0]:
                kept = simulation.rounds, form, simulation.account()
        if begin is not None:
            if simulation.rounds >= 2 * in_flight + 8 and simulation.executions >= many:
                break
        elif simulation.rounds >= in_flight + 2 and simulation.executions >= few:
            begin = simulation.account()
    end = simulation.account()
    until = end.now_ps if simulation.shown_ps is None else simulation.shown_ps
    while any(simulation.start[execution] < until for execution, _ in simulation.running.values()):
        simulation.advance()
    rows = []
    for execution, instants in simulation.runs.items():
        if instants[1] < until:
            group = execution[3]
            unit = simulation.chosen.unit_of[group]
            alone = simulation.chosen.time_ps(group, execution[2])
            rows.append(ScheduledGroup(*execution, unit, *instants, alone))
    return PlainLongRun(
        window_ps=(begin.now_ps, end.now_ps),
        recurs=recurs,
        periods_ps=simulation.periods(begin, end),
        dynamic_fj=tuple(b - a for a, b in zip(begin.drawn_fj, end.drawn_fj, strict=True)),
        schedule=Schedule(tuple(sorted(rows))),
        shown_ps=until,
    )
