"""What lemmas are held against: the members of a front, and when these close a lemma.

A lemma says that no feasible design point with its choices is better than the members: for every
one there is a member that is at least as good, in the objectives that count. With a tolerance e (in
millionths) the member may be above by a factor of 1 + e; where values are negative (a rate,
minimised as its negative), the design point's rate may be larger by that factor. One objective and
its smallest value: no design point is faster.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from fitness.lemma_checker.trade_off import TradeOff
from results.errors import ResultError
from results.front.epsilon import least_within
from results.problem.objectives import ObjectiveKind
from results.problem.problem import Problem

ABOVE_INT64 = 1 << 63


@dataclass(frozen=True)
class LemmaTarget:
    """``objectives``: positions of the problem's objectives that count. ``members``: their values,
    none where the lemmas say that nothing is feasible. ``rates_mw``: rates of exchange that
    :mod:`fitness.lemma_checker.trade_off` may use; any are sound."""

    objectives: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    tolerance_ppm: int = 0
    rates_mw: tuple[int, ...] = ()

    @cached_property
    def closing(self) -> list[tuple[int, ...]]:
        """[members]: the smallest bounds that a member closes, by rising values."""
        rows = [tuple(least_within(v, self.tolerance_ppm) for v in row) for row in self.members]
        return sorted(set(rows))

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        """With two objectives: what closes most, by the first; the second falls."""
        return _staircase((row[0], row[1]) for row in self.closing)

    def is_fathomed(self, bounds: Sequence[int]) -> bool:
        """Whether a member closes the bounds of all objectives."""
        if len(self.objectives) == 2:
            at = bisect_right(self._steps, (bounds[0], ABOVE_INT64)) - 1
            return at >= 0 and self._steps[at][1] <= bounds[1]
        return any(
            all(value <= least for value, least in zip(row, bounds, strict=True))
            for row in self.closing
        )

    def fathoming_makespan(self, problem: Problem, bounds: Sequence[int]) -> int | None:
        """The smallest makespan from which on a member closes everything with these bounds in the
        other objectives; None where there is none."""
        column = self._position(problem, ObjectiveKind.LATENCY)
        if column is None:
            return None
        makespans = (
            row[column]
            for row in self.closing
            if all(row[j] <= bounds[j] for j in range(len(row)) if j != column)
        )
        return min(makespans, default=None)

    def is_fathomed_by_trade_off(
        self, problem: Problem, trade: TradeOff, makespan_ps: int, energy_fj: int
    ) -> bool:
        """Whether makespan and energy are the two objectives, and members close all that the
        trade-off leaves, from these bounds on."""
        time = self._position(problem, ObjectiveKind.LATENCY)
        energy = self._position(problem, ObjectiveKind.ENERGY)
        if len(self.objectives) != 2 or time is None or energy is None or not self.closing:
            return False
        steps = self._steps
        if time == 1:
            steps = [(makespan, least) for least, makespan in reversed(steps)]
        if makespan_ps < steps[0][0]:
            return False
        for (_, wanted), later in zip(steps, [*steps[1:], None], strict=True):
            if wanted <= energy_fj or (later is not None and later[0] <= makespan_ps):
                continue
            if later is not None:
                longest = later[0]
            elif problem.execution.period_ps is not None:
                longest = problem.execution.period_ps + 1
            elif trade.power_mw > 0:
                longest = wanted // trade.power_mw + 1
            else:
                return False
            if longest > makespan_ps and not trade.is_reached(wanted, makespan_ps, longest):
                return False
        return True

    def require_bounds(self, problem: Problem) -> None:
        """Accepts a claim about which lemmas can say something.

        Raises:
            ResultError: on an objective or a limit without bounds, or members of another width.
        """
        if problem.searches_priorities or problem.has_rates:
            raise ResultError(
                "lemmas: fixed priorities and no rates of single networks are required"
            )
        execution = problem.execution
        known = {ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY, ObjectiveKind.TOKEN_RATE}
        known |= {ObjectiveKind.ACCURACY_LOSS, ObjectiveKind.MEMORY}
        if not execution.frames_overlap:
            known |= {ObjectiveKind.ENERGY, ObjectiveKind.TOKEN_ENERGY}
        if execution.period_ps is not None:
            known.add(ObjectiveKind.POWER)
        for column in self.objectives:
            kind = problem.objectives[column].kind
            if kind not in known:
                raise ResultError(f"lemmas: no bound on {kind.value} is known here")
        if any(len(row) != len(self.objectives) for row in self.members):
            raise ResultError(f"lemmas: members need {len(self.objectives)} values each")
        for name in ("power_cap_mw", "energy_budget_fj"):
            limit = getattr(problem, name)
            if limit is not None and execution.frames_overlap:
                raise ResultError(
                    f"{name}: lemmas need frames that do not overlap (no bound on the power of "
                    f"others is known) or no limit, got {limit}"
                )

    def _position(self, problem: Problem, kind: ObjectiveKind) -> int | None:
        for position, column in enumerate(self.objectives):
            objective = problem.objectives[column]
            if objective.kind is kind and objective.network is None:
                return position
        return None


def _staircase(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Non-dominated (makespan, energy) pairs by rising makespan."""
    steps: list[tuple[int, int]] = []
    for pair in sorted(pairs):
        if not steps or pair[1] < steps[-1][1]:
            steps.append(pair)
    return steps
