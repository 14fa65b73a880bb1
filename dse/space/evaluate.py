"""Evaluation of one design point: objectives, schedule, constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from paretosoc.common.arrays import IntArray
from paretosoc.dse.problem.constraint_status import ConstraintState, constraint_states
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.execution import scheduled
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.front import Member
from paretosoc.results.front.front_document import scheduled_to_document
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.objectives import objective_label, objective_unit, objective_value
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A simulated design point; ``member`` may break constraints, unlike one of a front."""

    problem: Problem
    member: Member
    constraints: tuple[ConstraintState, ...]

    @cached_property
    def scheduled(self) -> ScheduledMember:
        """The member with its schedule."""
        return scheduled(self.problem, self.member)

    @property
    def feasible(self) -> bool:
        """Whether all constraints are met."""
        return all(state.met for state in self.constraints)


def evaluate_row(problem: Problem, row: IntArray) -> Evaluated:
    """Simulates a design point [groups + domains], canonical, its groups on units that can run
    them."""
    rows = row[None, :]
    outcomes = make_outcomes(problem)(rows)
    (member,) = make_members(problem, rows, outcomes.objectives)
    return Evaluated(problem, member, tuple(constraint_states(problem, outcomes, 0)))


def evaluated_document(evaluated: Evaluated) -> dict[str, object]:
    """As plain data: a member as in ``front.json`` with its schedule, ``display`` values, and
    ``constraints``."""
    problem, member = evaluated.problem, evaluated.member
    return {
        "feasible": evaluated.feasible,
        "display": {
            f"{objective_label(problem, objective)} [{objective_unit(objective)}]": (
                objective_value(objective, value)
            )
            for objective, value in zip(problem.objectives, member.objectives, strict=True)
        },
        "constraints": [state.to_document() for state in evaluated.constraints],
        **scheduled_to_document(evaluated.scheduled),
    }
