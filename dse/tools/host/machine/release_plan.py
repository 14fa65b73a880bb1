"""Releases of networks with rates, at their instants, as a plan to be executed."""

from __future__ import annotations

from paretosoc.common.units import PS_PER_NS
from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan, Instance, order_by_unit
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.simulate import make_evaluator, row_of
from paretosoc.results.errors import ResultError
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.problem import DesignPoint, Problem

_Key = tuple[int, int, int, int]
"""Frame, network, repeat, group."""


def make_release_plan(problem: Problem, design: DesignPoint, *, periods: int) -> ExecutionPlan:
    """Return the plan of so many periods of networks with rates: every release waits for its
    instant, for the one before it and for those of other networks that its network waits for.

    Raises:
        ResultError: if the design is overloaded.
        ValueError: if it puts a group on a unit that cannot run it.
    """
    period = problem.execution.period_ps or 0
    predicted = predicted_releases(problem, design, periods=periods)
    place = {key: i for i, key in enumerate(sorted(predicted))}
    feeding: dict[int, list[int]] = {}
    for source, target in problem.edges:
        feeding.setdefault(target, []).append(source)
    priorities = problem.priorities(design)
    instances = []
    for frame, n, repeat, group in place:
        network = problem.networks[n]
        arrival = None
        if group in feeding:
            after = [place[frame, n, repeat, source] for source in feeding[group]]
        else:
            ends = [(frame, *entry) for entry in problem.awaited(n, repeat)]
            if repeat > 1:
                ends.append((frame, n, repeat - 1))
            elif frame > 1:
                ends.append((frame - 1, n, network.repeats))
            after = [
                place[f, m, last, g] for f, m, last in ends for g in problem.networks[m].groups
            ]
            if repeat == 1 or network.paced:
                release = (frame - 1) * period + problem.ready_ps(n, repeat - 1)
                arrival = release // PS_PER_NS
        unit = int(design.units[group])
        instances.append(
            Instance(
                *(frame, n, repeat, group, unit, tuple(after), (), arrival), priority=priorities[n]
            )
        )
    starts = [predicted[key].start_ps for key in place]
    order = order_by_unit(instances, starts, len(problem.units))
    return ExecutionPlan(tuple(instances), order, periods, 1)


def predicted_releases(
    problem: Problem, design: DesignPoint, *, periods: int
) -> dict[_Key, ScheduledGroup]:
    """Return all executions of this many periods of the recurring schedule.

    Raises:
        ResultError: if the design is overloaded.
    """
    found = make_evaluator(problem)(row_of(design)[None])
    count = int(found.periods[0])
    if not count:
        raise ResultError("the member is overloaded: its releases would fall behind for ever")
    end = int(found.recurs_ps[0])
    length = count * (problem.execution.period_ps or 0)
    rows = schedule_of(problem, design).groups
    window = [row for row in rows if end - length < row.end_ps <= end]
    result = {(row.frame, row.network, row.repeat, row.group): row for row in rows}
    for again in range(1, periods // count + 1):
        for row in window:
            key = row.frame + again * count, row.network, row.repeat, row.group
            later = {
                name: getattr(row, name) + again * length
                for name in ("ready_ps", "start_ps", "end_ps")
            }
            result.setdefault(key, row._replace(frame=key[0], **later))
    return {key: row for key, row in result.items() if key[0] <= periods}
