"""The experiments that tell most about a decision per minute.

The value of experiments is the expected loss of today's choice less that of the choice after them.
Losses of all choices in all draws of the costs are those of :mod:`dse.tools.analysis.confidence`.
What an experiment would show in a draw follows from that draw's errors and the noise of
measurements. Losses are regressed on what the experiments show, and the choice after them is the
one with the least loss by the regression (Strong, Oakley and Brennan, Medical Decision Making 34:3,
2014, doi 10.1177/0272989X13505910). The regression is fitted to one half of the draws and judged by
the losses in the other, so that it cannot gain by chance. Experiments are added one by one, always
the one with most value per minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.inputs.arguments import check_arguments
from paretosoc.dse.tools.analysis.confidence import Drawn, goals_of
from paretosoc.dse.tools.analysis.cost_draws import CostErrors
from paretosoc.dse.tools.analysis.posterior import BESIDE_NOISE, IDLE_NOISE, POWER_NOISE, TIME_NOISE
from paretosoc.dse.tools.measuring.experiments import (
    Bench,
    Experiment,
    experiments_of,
    minutes_of,
    pairs_of,
)
from paretosoc.results.front.choices import (
    DEFAULT_RESOLUTION,
    DRAWS,
    ChoiceConfidence,
    Choices,
    choose,
)
from paretosoc.results.front.front import Front

_LEAST_GAIN = 1e-4
"""Loss that experiments as valuable as the next one must save in the time that is left."""
_MOST_RIVALS, _MOST_TRIED, _MOST_PAIRED = 200, 24, 4
"""Members that may be taken, those at whose clocks experiments are tried, and pairs."""
_FEWEST_DRAWS = 20
"""Draws for each term of a regression."""
_FAR = 4.0
"""Standard deviations beyond which an observation counts as this far."""
_RIDGE = 1e-3
_LEFT = 1e-9


@dataclass(frozen=True, eq=False)
class Planned:
    """An experiment of a plan."""

    experiment: Experiment
    minutes: float
    decides: Mapping[str, tuple[int, ...]]
    """By goal: the members, at most two, that are most often chosen after it alone, if the choice
    depends on it."""
    losses: Mapping[str, float]
    """By goal: expected loss after it and those before."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Experiments in the order of their value per minute, and today's decisions."""

    front: Front
    now: Mapping[str, ChoiceConfidence]
    """By goal: the member that is to be taken."""
    bench: Bench
    planned: tuple[Planned, ...]
    co_runs: Mapping[str, float]
    """By goal: expected loss after these and if it were known how networks slow each other. Empty
    if that would not change a decision."""

    @property
    def minutes(self) -> float:
        """Return how long they take together."""
        return sum(entry.minutes for entry in self.planned)


@dataclass(frozen=True, eq=False)
class Decisions:
    """All members in draws of the costs, and which of them is to be taken for each goal."""

    front: Front
    drawn: Drawn
    choices: Choices

    @classmethod
    def of(
        cls, front: Front, errors: CostErrors, goal: str | None, draws: int, seed: int
    ) -> Decisions:
        """Simulate all members.

        Raises:
            WorkloadError, ResultError: as :func:`dse.tools.analysis.confidence.confidence`.
        """
        check_arguments(draws=draws, seed=seed)
        front.require_members("measure")
        choices = replace(choose(front, 0.0), resolution=DEFAULT_RESOLUTION)
        goals = goals_of(front.problem, goal)
        (drawn,) = Drawn.of_each(front, errors, (choices,), goals, draws, seed)
        return cls(front, drawn, choices)

    def taken(self) -> dict[str, ChoiceConfidence]:
        """Return the member with the least expected loss, by goal."""
        return {
            goal: self.drawn.choice(
                self.front.problem, self.choices, int(losses.mean(axis=0).argmin())
            )
            for goal, losses in self.drawn.losses.items()
        }

    def rivals(self) -> IntArray:
        """Return the places of members that are the best in a draw, most often first, and of those
        that are to be taken."""
        best = np.sum(list(self.drawn.best.values()), axis=0)
        for losses in self.drawn.losses.values():
            best[losses.mean(axis=0).argmin()] += len(losses)
        order = np.argsort(-best, kind="stable")
        found: IntArray = order[: np.count_nonzero(best)]
        return found[:_MOST_RIVALS]


def plan_experiments(
    front: Front,
    errors: CostErrors,
    bench: Bench,
    *,
    goal: str | None = None,
    minutes: float = 30.0,
    draws: int = DRAWS,
    seed: int = 0,
) -> Plan:
    """Return the experiments that are worth most in a time.

    Args:
        front: has at least one member.
        goal: see :func:`dse.tools.analysis.confidence.confidence`.

    Raises:
        WorkloadError, ResultError: as :func:`dse.tools.analysis.confidence.confidence`.
    """
    decisions = Decisions.of(front, errors, goal, draws, seed)
    rivals = decisions.rivals()
    members = np.array(decisions.choices.members)[rivals]
    losses = {name: loss[:, rivals] for name, loss in decisions.drawn.losses.items()}
    value = ExpectedLoss(errors, losses, draws, seed, has_power=bench.has_power)
    tried = experiments_of(front, errors, members[:_MOST_TRIED].tolist(), bench.as_is)
    if value.co_runs:
        tried += pairs_of(front, errors, members[:_MOST_PAIRED].tolist(), bench.as_is)
    able = [experiment for experiment in tried if bench.runs(experiment)]
    planned: list[Planned] = []
    chosen: list[Experiment] = []
    left, loss = float(minutes), value.now
    while True:
        times = [minutes_of(one, chosen, bench.runtime) for one in able]
        fitting = [k for k, time in enumerate(times) if time <= left]
        gains = [(loss - value.after([*chosen, able[k]]).mean) / times[k] for k in fitting]
        if not gains or max(gains) * left < _LEAST_GAIN:
            break
        best = fitting[int(np.argmax(gains))]
        alone = value.after([able[best]])
        chosen.append(able.pop(best))
        left -= times[best]
        after = value.after(chosen)
        loss = after.mean
        decides = {
            name: tuple(int(members[place]) for place, _ in often)
            for name, picked in alone.picked.items()
            # Of equals, the first.
            if len(often := Counter(sorted(picked.tolist())).most_common(2)) > 1
        }
        planned.append(Planned(chosen[-1], times[best], decides, after.losses))
    co_runs: Mapping[str, float] = {}
    if value.co_runs:
        known = value.after(chosen, co_runs=True)
        if loss - known.mean >= _LEAST_GAIN:
            co_runs = known.losses
    return Plan(front, decisions.taken(), bench, tuple(planned), co_runs)


@dataclass(frozen=True, eq=False)
class After:
    """Losses and choices expected after experiments."""

    losses: Mapping[str, float]
    """By goal."""
    picked: Mapping[str, IntArray]
    """By goal [draws]: the choice that is taken."""

    @property
    def mean(self) -> float:
        """Return the mean loss of all goals."""
        return sum(self.losses.values()) / len(self.losses)


class ExpectedLoss:
    """The losses that are expected after experiments."""

    def __init__(
        self,
        errors: CostErrors,
        losses: Mapping[str, FloatArray],
        draws: int,
        seed: int,
        *,
        has_power: bool,
    ) -> None:
        self.errors, self.losses, self.has_power = errors, losses, has_power
        self.latent = errors.latent(draws, seed)
        self.rng = [seed, draws]
        self.every = np.concatenate(list(losses.values()), axis=1)
        self._slowdowns: dict[Experiment, FloatArray] = {}

    @property
    def now(self) -> float:
        """Return the mean loss without an experiment."""
        return float(np.mean([loss.mean(axis=0).min() for loss in self.losses.values()]))

    def after(self, experiments: Sequence[Experiment], *, co_runs: bool = False) -> After:
        """Return the losses and choices expected after experiments.

        Args:
            experiments: each at most once.
            co_runs: the errors of demands and of sharing are known, too.
        """
        shown = [*self._observed(experiments), *(self.co_runs if co_runs else ())]
        terms = _terms(np.stack(shown, axis=1))
        ridge = _RIDGE * len(terms) * np.eye(terms.shape[1])
        ridge[0, 0] = 0
        weights = np.linalg.solve(terms.T @ terms + ridge, terms.T)
        # Each draw is judged by the regression on all others, known from that on all.
        own = np.einsum("kt,tk->k", terms, weights)[:, None]
        expected = (terms @ (weights @ self.every) - own * self.every) / np.maximum(1 - own, _LEFT)
        found, picked, start = {}, {}, 0
        for name, loss in self.losses.items():
            stop = start + loss.shape[1]
            picked[name] = expected[:, start:stop].argmin(axis=1)
            found[name] = float(loss[np.arange(len(loss)), picked[name]].mean())
            start = stop
        return After(found, picked)

    @cached_property
    def co_runs(self) -> list[FloatArray]:
        """Return the errors of demands, one of units that are alike, and of sharing, [draws]
        each. Empty if there are none."""
        errors, rows, units = self.errors, self.errors.rows, self.errors.problem.units
        slowed = [u for u in np.unique(errors.alike) if units[u].contention is not None]
        found = [self.latent[:, rows.demand, u] for u in slowed] if errors.demand else []
        if errors.sharing and any(unit.sharing_permille for unit in units):
            found.append(self.latent[:, rows.sharing, 0])
        return found

    def _observed(self, experiments: Sequence[Experiment]) -> list[FloatArray]:
        """Return the figures that experiments show, [draws] each. Repeated measurements of one
        error of power are one figure, their mean."""
        errors, latent = self.errors, self.latent
        columns: list[FloatArray] = []
        for experiment in experiments:
            time, _ = experiment.stretch.log_time(latent[:, :, experiment.stretch.column])
            at = experiment.at
            clocks = (0 if point is None else 1 + point for point in at.points)
            noise = self._normal(TIME_NOISE, 0, at.unit, at.groups.start, at.groups.stop, *clocks)
            columns.append(time + noise)
            if experiment.beside is not None:
                columns.append(self._slowdown(experiment, experiment.beside))
        if self.has_power and experiments:
            powers = [one.stretch.column for one in experiments if one.stretch.dynamic_mw > 0]
            for u in sorted(set(powers)):
                noise = POWER_NOISE / np.sqrt(powers.count(u))
                shown = errors.power[u] * latent[:, errors.rows.power, u]
                columns.append(shown + self._normal(noise, 1, u))
            noise = IDLE_NOISE / np.sqrt(len(experiments))
            columns.append(errors.idle * latent[:, errors.rows.idle, 0] + self._normal(noise, 2))
        return columns

    def _slowdown(self, experiment: Experiment, beside: Experiment) -> FloatArray:
        if experiment not in self._slowdowns:
            demands = self.latent[:, self.errors.rows.demand]
            places = [part.at for part in (experiment, beside)]
            key = [n for at in places for n in (at.unit, at.groups.start, at.groups.stop)]
            shown = experiment.stretch.log_slowdown(demands)
            self._slowdowns[experiment] = shown + self._normal(BESIDE_NOISE, 3, *key)
        return self._slowdowns[experiment]

    def _normal(self, scale: float, *key: int) -> FloatArray:
        drawn: FloatArray = np.random.default_rng([*self.rng, *key]).standard_normal(
            len(self.latent)
        )
        return scale * drawn


def _terms(observed: FloatArray) -> FloatArray:
    """Return the terms of a regression on observations: themselves, their squares and their
    products, as far as the draws can tell them."""
    spread = observed.std(axis=0)
    scaled = (observed - observed.mean(axis=0)) / np.where(spread > 0, spread, 1)
    scaled = np.clip(scaled, -_FAR, _FAR)
    draws, figures = scaled.shape
    terms = [np.ones(draws), *scaled.T]
    for more in (
        [column**2 for column in scaled.T],
        [scaled[:, a] * scaled[:, b] for a in range(figures) for b in range(a)],
    ):
        if len(terms) + len(more) <= draws // _FEWEST_DRAWS:
            terms += more
    return np.stack(terms, axis=1)
