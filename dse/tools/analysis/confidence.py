"""Confidence in a front's choices: all members simulated with costs drawn from their errors.

All members are simulated with the same draws, so the common part of their errors cancels when
they are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_arguments
from paretosoc.dse.space.members import rows_of
from paretosoc.dse.tools.analysis.cost_draws import CostErrors, at_clocks_of, fitting, with_factors
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import (
    BROKEN,
    DRAWS,
    PERCENTILES,
    SURE,
    ChoiceConfidence,
    Choices,
    Confidence,
    Odds,
    choose,
)
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import (
    FASTEST,
    KNEE,
    LOWEST_ENERGY,
    mark_of_best,
    speed_column,
    time_of_all,
    typed_mark,
)
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import OVERLOAD, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

_MAX_VALUES = 1 << 26
"""Figures that are kept for intervals, half a gigabyte."""
Goals = Mapping[str, int | None]
"""Columns of goals, None for the knee."""


def confidence(
    front: Front,
    errors: CostErrors,
    *,
    goal: str | None = None,
    resolution: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    pairs: bool = True,
) -> Confidence:
    """Return the confidence in the choices of a front.

    Args:
        goal: ``fastest``, ``lowest-energy`` (each within the limits), ``knee``, or the name of
            another objective's best; None for all names of the front.
        resolution: see :func:`results.front.choices.choose`.
        seed: the same seed gives the same result.
        pairs: whether to find pairs that cannot be told apart, which takes long for thousands.

    Raises:
        WorkloadError: on arguments out of bounds, or too many draws for memory.
        ResultError: if the front is empty, there is no such goal, or figures would leave int64.
    """
    check_arguments(draws=draws, seed=seed)
    front.require_members("be sure of")
    goals = goals_of(front.problem, goal)
    choices = choose(front, resolution)
    (drawn,) = Drawn.of_each(front, errors, (choices,), goals, draws, seed)
    return drawn.confidence(front, choices, seed, pairs=pairs)


def confidence_in_all(
    front: Front, errors: CostErrors, *, draws: int, seed: int = 0
) -> tuple[Confidence, Confidence]:
    """Return the confidence in all members, without pairs, and that in the usual choices, as
    :func:`confidence` returns them. Members are simulated once for both.

    Raises:
        WorkloadError: on arguments out of bounds, or too many draws for memory.
        ResultError: if the front is empty, or figures would leave int64.
    """
    check_arguments(draws=draws, seed=seed)
    front.require_members("be sure of")
    members, choices = choose(front, 0), choose(front)
    goals = goals_of(front.problem, None)
    of_members, of_choices = Drawn.of_each(front, errors, (members, choices), goals, draws, seed)
    return (
        of_members.confidence(front, members, seed, pairs=False),
        of_choices.confidence(front, choices, seed),
    )


def goals_of(problem: Problem, goal: str | None) -> Goals:
    """Return the goals of a problem, or the one with this name, as columns of
    :func:`_with_columns`.

    Raises:
        ResultError: if there is no such goal. The message lists them.
    """
    columns, objectives = _with_columns(problem).objectives, problem.objectives
    goals: dict[str, int | None] = {
        typed_mark(mark_of_best(problem, objective)): column
        for column, objective in enumerate(objectives)
    }
    if len(objectives) > 1:
        goals[KNEE] = None
    if goal is None:
        return goals
    speed = speed_column(problem)
    goals.setdefault(FASTEST, len(objectives) if speed is None else speed)
    goals.setdefault(LOWEST_ENERGY, [column.kind for column in columns].index(ObjectiveKind.ENERGY))
    if typed_mark(goal) not in goals:
        hint = did_you_mean(typed_mark(goal), goals, f"goals: {', '.join(goals)}")
        raise ResultError(f"there is no goal {goal!r} ({hint})")
    return {typed_mark(goal): goals[typed_mark(goal)]}


def _with_columns(problem: Problem) -> Problem:
    """Return the problem with an objective of time right after its own, and energy, if missing."""
    objectives = problem.objectives
    if speed_column(problem) is None:
        objectives += (time_of_all(problem),)
    if all(objective.kind is not ObjectiveKind.ENERGY for objective in objectives):
        objectives += (Objective(ObjectiveKind.ENERGY),)
    return replace(problem, objectives=objectives)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The results of the draws."""

    figures: IntArray
    """[draws, choices, objectives]"""
    kept: BoolArray
    """[draws, choices, limits]"""
    feasible: BoolArray
    """[draws, choices]"""
    values: Mapping[str, FloatArray]
    """By goal [draws, choices]: smaller is better, infinite if a limit is broken."""
    least: Mapping[str, FloatArray]
    """By goal [draws]: of all members; infinite if none keeps all limits."""
    best: Mapping[str, IntArray]
    """By goal [choices]: in how many draws one that the choice stands for is the best."""

    @classmethod
    def of_each(
        cls,
        front: Front,
        errors: CostErrors,
        several: Sequence[Choices],
        goals: Goals,
        draws: int,
        seed: int,
    ) -> list[Drawn]:
        """Simulate the members with all draws, once for several selections of choices."""
        problem = front.problem
        rows = rows_of(front.members)
        small, rows = at_clocks_of(_with_columns(problem), rows)
        errors = fitting(small, errors, draws, seed)
        objectives, limits = len(problem.objectives), constraints_of(problem)
        shown = sum(len(choices.members) for choices in several)
        values = draws * shown * (objectives + len(limits) + len(goals))
        if values > _MAX_VALUES:
            raise WorkloadError(
                f"draws: at most {_MAX_VALUES * draws // values} of {shown} choices fit in "
                f"memory, got {draws}"
            )
        of_choices = [
            (
                cls(
                    figures=np.zeros((draws, count, objectives), dtype=np.int64),
                    kept=np.zeros((draws, count, len(limits)), dtype=np.bool_),
                    feasible=np.zeros((draws, count), dtype=np.bool_),
                    values={name: np.full((draws, count), np.inf) for name in goals},
                    least={name: np.full(draws, np.inf) for name in goals},
                    best={name: np.zeros(count, dtype=np.int64) for name in goals},
                ),
                np.array(choices.members),
                _owners(choices, len(rows)),
            )
            for choices in several
            for count in [len(choices.members)]
        ]
        bounds = np.array([limit.limit for limit in limits], dtype=np.int64)
        for index, factors in enumerate(errors.draws(draws, seed)):
            outcomes = played(with_factors(small, factors))(rows)
            by_goal = {name: _value(outcomes, column, objectives) for name, column in goals.items()}
            for drawn, members, owner in of_choices:
                drawn.figures[index] = outcomes.objectives[members, :objectives]
                drawn.kept[index] = outcomes.constraint_values[members] <= bounds
                drawn.feasible[index] = outcomes.feasible[members]
                for name, value in by_goal.items():
                    drawn.values[name][index] = value[members]
                    drawn.least[name][index] = value.min()
                    if np.isfinite(value.min()):
                        drawn.best[name][owner[value.argmin()]] += 1
        return [drawn for drawn, *_ in of_choices]

    def confidence(
        self, front: Front, choices: Choices, seed: int, *, pairs: bool = True
    ) -> Confidence:
        """Return how sure the choices are."""
        return Confidence(
            draws=len(self.figures),
            seed=seed,
            resolution=choices.resolution,
            choices=tuple(
                self.choice(front.problem, choices, place) for place in range(len(choices.entries))
            ),
            alike={
                name: _alike(values, choices.members) if pairs else ()
                for name, values in self.values.items()
            },
        )

    @cached_property
    def regrets(self) -> Mapping[str, FloatArray]:
        """By goal: return the distance of each choice from the best of all members in each draw, as
        a share of that (for the knee, of the front's ranges), [draws, choices]. It is infinite if
        the choice breaks a limit."""
        found = {}
        for name, values in self.values.items():
            least = np.where(np.isfinite(self.least[name]), self.least[name], 0.0)[:, None]
            far = values - least
            found[name] = far if name == KNEE else far / np.maximum(np.abs(least), 1)
        return found

    @cached_property
    def losses(self) -> Mapping[str, FloatArray]:
        """By goal: return what each choice loses in each draw, [draws, choices]: its regret, at
        most :data:`BROKEN`, if some member keeps all limits."""
        return {
            name: np.where(np.isfinite(self.least[name])[:, None], np.minimum(regrets, BROKEN), 0.0)
            for name, regrets in self.regrets.items()
        }

    def choice(self, problem: Problem, choices: Choices, place: int) -> ChoiceConfidence:
        """Return how sure a choice is."""
        entry, draws = choices.entries[place], len(self.figures)
        ranks = [-(-percent * draws // 100) - 1 for percent in PERCENTILES]
        ordered = np.sort(self.figures[:, place], axis=0)[ranks]
        return ChoiceConfidence(
            member=entry.member,
            stands_for=len(entry.stands_for),
            intervals={
                objective.title(problem): _interval(objective, ordered[:, k].tolist())
                for k, objective in enumerate(problem.objectives)
            },
            limits={
                limit.name: float(self.kept[:, place, k].mean())
                for k, limit in enumerate(constraints_of(problem))
                if limit.kind.is_asked
            },
            meets_limits=float(self.feasible[:, place].mean()),
            goals={name: self._odds(name, place, choices.resolution) for name in self.values},
        )

    def _odds(self, goal: str, place: int, resolution: float) -> Odds:
        regrets = self.regrets[goal][:, place]
        known = regrets[np.isfinite(regrets)]
        return Odds(
            best=int(self.best[goal][place]) / len(regrets),
            near_best=float((known <= resolution).sum()) / len(regrets),
            regret=float(known.mean()) if len(known) else None,
            loss=float(self.losses[goal][:, place].mean()),
        )


def _owners(choices: Choices, members: int) -> IntArray:
    """Return the place of the choice that stands for each member."""
    owner = np.zeros(members, dtype=np.int64)
    for place, entry in enumerate(choices.entries):
        owner[list(entry.stands_for)] = place
    return owner


def played(problem: Problem, *, jobs: int = 1) -> Callable[[IntArray], Outcomes]:
    """Return the simulation of a draw, with ``INT64_MAX`` for all objectives of overloaded
    members: responses grow for ever."""
    simulate, limits = make_outcomes(problem, jobs=jobs), constraints_of(problem)

    def play(rows: IntArray) -> Outcomes:
        outcomes = simulate(rows)
        for column, limit in enumerate(limits):
            if limit.kind is OVERLOAD:
                overloaded = outcomes.constraint_values[:, column] > limit.limit
                outcomes.objectives[overloaded] = INT64_MAX
        return outcomes

    return play


def _value(outcomes: Outcomes, column: int | None, objectives: int) -> FloatArray:
    """Return the value that a goal minimises, [members]: an objective, or the sum of all objectives
    over their ranges in this draw."""
    feasible = outcomes.feasible
    value = np.full(len(feasible), np.inf)
    if not feasible.any():
        return value
    figures = outcomes.objectives[feasible].astype(np.float64)
    if column is not None:
        value[feasible] = figures[:, column]
        return value
    least, span = figures[:, :objectives].min(axis=0), np.ptp(figures[:, :objectives], axis=0)
    value[feasible] = ((figures[:, :objectives] - least) / np.where(span, span, 1)).sum(axis=1)
    return value


def _interval(objective: Objective, values: Sequence[int]) -> tuple[float, float]:
    shown = [float("inf") if value == INT64_MAX else objective.shown(value) for value in values]
    return min(shown), max(shown)


def _alike(values: FloatArray, members: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of members neither of which is better often enough, by their values [draws,
    members]. Half of the draws in which they are equal count for each."""
    pairs = []
    for a, member in enumerate(members):
        own, others = values[:, [a]], values[:, a + 1 :]
        ahead = (own < others).mean(axis=0) + (own == others).mean(axis=0) / 2
        alike = a + 1 + np.flatnonzero((ahead > 1 - SURE) & (ahead < SURE))
        pairs += [(member, members[b]) for b in alike.tolist()]
    return tuple(pairs)
