"""What a short makespan costs a lemma's design points in energy, in Python integers.

docs/concepts/certificate.md (Lemmas, Trade-off) has the inequality. What later repeats take longer
is left out here, as it only adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fitness.lemma_checker.costs import Points
from fitness.lemma_checker.power import over_points
from fitness.lemma_checker.simulate import Instance, State
from results.front.certificate import NOT_NAMED
from results.problem.problem import Problem


@dataclass(frozen=True)
class TradeOff:
    """F(T) = ``fixed_fj`` + ``power_mw`` T + for every chain the largest of its lines."""

    fixed_fj: int
    power_mw: int
    lines: tuple[tuple[tuple[int, int], ...], ...]
    """[chains][rates]: (rate, value at T = 0): value - rate T."""

    def is_reached(self, wanted_fj: int, shortest_ps: int, longest_ps: int) -> bool:
        """Whether F is at least so much from one makespan to the other, both included.

        F is convex: above each of its tangents. What is not settled yet lies between a makespan
        where it falls and one where it rises; the point where their tangents meet is tried next.
        """
        low, high = shortest_ps, longest_ps
        at_low, fall = self._line_at(low)
        if at_low < wanted_fj or fall >= 0:
            return at_low >= wanted_fj
        at_high, rise = self._line_at(high)
        if at_high < wanted_fj or rise <= 0:
            return at_high >= wanted_fj
        while high - low > 1:
            # The first makespan at which the left tangent is below, the last for the right one.
            first = low + (at_low - wanted_fj) // -fall + 1
            last = high - (at_high - wanted_fj) // rise - 1
            if first > last:
                return True
            middle = min(max((first + last) // 2, low + 1), high - 1)
            here, growth = self._line_at(middle)
            if here < wanted_fj:
                return False
            if growth < 0:
                low, at_low, fall = middle, here, growth
            elif growth > 0:
                high, at_high, rise = middle, here, growth
            else:
                return True
        return True

    def _line_at(self, time_ps: int) -> tuple[int, int]:
        """F(T), and how much more it is a picosecond later on the lines that make it up."""
        least, growth = self.fixed_fj + self.power_mw * time_ps, self.power_mw
        for lines in self.lines:
            most, rate = max((value - rate * time_ps, -rate) for rate, value in lines)
            least += most
            growth += rate
        return least, growth


class LemmaTrades:
    """Trade-offs of lemmas of one problem, with some rates."""

    def __init__(
        self, problem: Problem, instances: Sequence[Instance], rates_mw: Sequence[int]
    ) -> None:
        self._problem = problem
        self._rates = (0, *(rate for rate in rates_mw if rate > 0))
        edges = set(problem.edges)
        receivers = {problem.network_of[target] for _, target in problem.handovers}
        self._chains = [
            n
            for n, network in enumerate(problem.networks)
            if {edge for edge in edges if edge[0] in network.groups}
            == {(group, group + 1) for group in network.groups[:-1]}
            and n not in receivers
        ]
        self._instances = [
            [i for i, instance in enumerate(instances) if instance.network == n]
            for n in range(len(problem.networks))
        ]
        self._group = [instance.group for instance in instances]
        self._gains: dict[tuple[Points, ...], list[tuple[int, ...]]] = {}

    def of(
        self,
        state: State,
        units: Sequence[int],
        points: tuple[Points, ...],
        ends_ps: Sequence[int],
        *,
        fixed_fj: int,
        power_mw: int,
    ) -> TradeOff:
        """The trade-off of what resumes from ``state``.

        Args:
            state: where the lemma's timeline stops, or is over.
            units: [groups]: a unit, or ``NOT_NAMED``.
            points: [domains]: operating points that are named and allowed.
            ends_ps: [networks]: bounds of their ends.
            fixed_fj: the least energy that does not grow with the makespan.
            power_mw: the least power that is drawn during the makespan.
        """
        gains = self._gains.get(points)
        if gains is None:
            gains = self._gains[points] = self._gains_over(points)
        lines = []
        for n in self._chains:
            total = [0] * len(self._rates)
            for i in self._instances[n]:
                group = self._group[i]
                if state.start_ps[i] is None and units[group] == NOT_NAMED:
                    total = [a + b for a, b in zip(total, gains[group], strict=True)]
            lines.append(
                tuple(
                    (rate, gain + rate * ends_ps[n])
                    for rate, gain in zip(self._rates, total, strict=True)
                )
            )
        return TradeOff(fixed_fj, power_mw, tuple(lines))

    def _gains_over(self, points: tuple[Points, ...]) -> list[tuple[int, ...]]:
        """[groups][rates]: min(v time + energy) - v min(time) - min(energy)."""
        tables = []
        for unit in self._problem.units:
            own = tuple(points[clock] for clock in unit.clocks)
            time = over_points(unit.time_ps, own)
            energy = time * over_points(unit.dynamic_mw, own)
            tables.append(
                (
                    time.min(axis=1).tolist(),
                    energy.min(axis=1).tolist(),
                    [(rate * time + energy).min(axis=1).tolist() for rate in self._rates],
                )
            )
        gains = []
        for group, row in enumerate(self._problem.allowed.tolist()):
            allowed = [u for u, may in enumerate(row) if may]
            time = min(tables[u][0][group] for u in allowed)
            energy = min(tables[u][1][group] for u in allowed)
            gains.append(
                tuple(
                    min(tables[u][2][r][group] for u in allowed) - rate * time - energy
                    for r, rate in enumerate(self._rates)
                )
            )
        return gains
