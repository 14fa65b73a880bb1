"""Members of a front from rows, and the evaluation of one design point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.problem.constraint_status import ConstraintState, constraint_states
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.execution import rules_of, scheduled
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import Evaluation, make_evaluator
from paretosoc.results.front.front import Member, Responses
from paretosoc.results.front.front_document import scheduled_to_document
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.interchangeable import in_order_of_use
from paretosoc.results.problem.objectives import displayed
from paretosoc.results.problem.problem import Problem


def make_members(
    problem: Problem,
    rows: IntArray,
    objectives: IntArray,
    *,
    jobs: int = 1,
    keep_names: bool = False,
) -> tuple[Member, ...]:
    """Return members of canonical rows [n, groups + domains], by rising objectives, the first
    foremost.

    Args:
        jobs: threads for pipelines and free-running networks, which may take long to simulate.
        keep_names: leave interchangeable units as they are in the rows. Else they are named in the
            order of their first groups.
    """
    space = DesignSpace(problem)
    if not keep_names:
        mapping = in_order_of_use(problem, rows[:, : space.groups])
        rows = np.concatenate((mapping, rows[:, space.groups :]), axis=1)
    on = space.domains_on(space.units_used(rows))
    frame = make_evaluator(problem, jobs=jobs)(rows)
    runs = rules_of(problem).run_members(problem, rows, on, frame, jobs)
    members = []
    for index in np.lexsort(objectives.T[::-1]).tolist():
        run = runs[index]
        members.append(
            Member(
                design=problem.design_of(rows[index]),
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


def rows_of(members: Sequence[Member]) -> IntArray:
    """Return the rows of members, [members, groups + domains], priorities after them if they are
    searched."""
    return np.stack([member.design.row for member in members])


def _responses(frame: Evaluation, index: int) -> tuple[Responses, ...]:
    """Return [networks]: the responses of one row."""
    columns = (frame.percentile_95_ps, frame.jitter_ps, frame.misses)
    return tuple(
        Responses(*entry)
        for entry in zip(*(column[index].tolist() for column in columns), strict=True)
    )


def _window_ps(problem: Problem, frame: Evaluation, index: int) -> tuple[int, int] | None:
    """Return begin and end of the recurring window, None without rates or if nothing recurs."""
    period, periods = problem.execution.period_ps, int(frame.periods[index])
    if period is None or periods == 0:
        return None
    end = int(frame.recurs_ps[index])
    return end - periods * period, end


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A simulated design point. Unlike a member of a front, ``member`` may break constraints."""

    problem: Problem
    member: Member
    constraints: tuple[ConstraintState, ...]

    @cached_property
    def scheduled(self) -> ScheduledMember:
        """Return the member with its schedule."""
        return scheduled(self.problem, self.member)

    @property
    def feasible(self) -> bool:
        """Return whether all constraints are met."""
        return all(state.met for state in self.constraints)


def evaluate_row(problem: Problem, row: IntArray) -> Evaluated:
    """Simulate a design point [groups + domains], canonical, its groups on units that can run
    them."""
    rows = row[None, :]
    outcomes = make_outcomes(problem)(rows)
    (member,) = make_members(problem, rows, outcomes.objectives, keep_names=True)
    return Evaluated(problem, member, tuple(constraint_states(problem, outcomes, 0)))


def evaluated_document(evaluated: Evaluated) -> dict[str, object]:
    """Return plain data: a member as in ``front.json`` with its schedule, ``display`` values, and
    ``constraints``."""
    problem, member = evaluated.problem, evaluated.member
    return {
        "feasible": evaluated.feasible,
        "display": displayed(problem, member.objectives),
        "constraints": [state.to_document() for state in evaluated.constraints],
        **scheduled_to_document(evaluated.scheduled),
    }
