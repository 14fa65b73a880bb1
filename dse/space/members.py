"""Members of a front from rows: latencies, energy by unit."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.execution import rules_of
from paretosoc.fitness.simulate import Evaluation, design_of, make_evaluator
from paretosoc.results.front.front import Member, Responses
from paretosoc.results.problem.problem import Problem


def make_members(
    problem: Problem, rows: IntArray, objectives: IntArray, *, jobs: int = 1
) -> tuple[Member, ...]:
    """Members by rising objectives, the first first; rows [n, groups + domains], canonical.

    Args:
        jobs: threads for pipelines and free-running networks, which may take long to simulate.
    """
    space = DesignSpace(problem)
    used = np.zeros((len(rows), len(problem.units)), dtype=np.bool_)
    np.put_along_axis(used, rows[:, : space.groups], True, axis=1)
    on = space.domains_on(used)
    frame = make_evaluator(problem, jobs=jobs)(rows)
    runs = rules_of(problem).run_members(problem, rows, on, frame, jobs)
    members = []
    for index in np.lexsort(objectives.T[::-1]).tolist():
        run = runs[index]
        members.append(
            Member(
                design=design_of(problem, rows[index]),
                objectives=tuple(int(value) for value in objectives[index]),
                domain_on=tuple(bool(value) for value in on[index]),
                latencies_ps=tuple(frame.latency_ps[index].tolist()),
                makespan_ps=int(frame.makespan_ps[index]),
                energy_fj=run.energy_fj,
                energy_by_unit_fj=run.energy_by_unit_fj,
                free_run=run.free_run,
                responses=_responses(frame, index) if problem.has_rates else None,
                window_ps=_window_ps(problem, frame, index),
            )
        )
    return tuple(members)


def _responses(frame: Evaluation, index: int) -> tuple[Responses, ...]:
    """[networks]: of one row."""
    columns = (frame.percentile_95_ps, frame.jitter_ps, frame.misses)
    return tuple(
        Responses(*entry)
        for entry in zip(*(column[index].tolist() for column in columns), strict=True)
    )


def _window_ps(problem: Problem, frame: Evaluation, index: int) -> tuple[int, int] | None:
    """What recurs; None where nothing does, or networks have no rates."""
    period, periods = problem.execution.period_ps, int(frame.periods[index])
    if period is None or periods == 0:
        return None
    end = int(frame.recurs_ps[index])
    return end - periods * period, end
