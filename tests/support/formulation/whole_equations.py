"""All of HaX-CoNN's Eq. 1 to 11 at once: any clocks, and what runs side by side.

``I`` is the paper's overlap. Two things are stated more exactly than the paper does. Layers run by
integer picoseconds on the work left, time x 2**16, so an end is the first picosecond at which no
work is left. And ``cont_model`` is asked for the cumulative demand of all layers that run in the
same interval, where Eq. 7 as printed averages over them.
"""

from __future__ import annotations

from enum import Enum
from itertools import permutations, product

from paretosoc.dse.certificate.formulation.equations import Equations, Term
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import Problem
from tests.support.formulation.layers import Choice, WholeFrame
from tests.support.formulation.rate_sum import RateBound


class Setting(Enum):
    """The rule by which a layer that is ready starts."""

    DISPATCH = "dispatch"
    """By priority, then first come, first served, never idle while something waits: the rule of the
    timeline."""
    PAPER = "paper"
    """At once (Eq. 4): a mapping in which a layer would have to wait is no solution."""
    FREE = "free"
    """At any later instant, in any order."""


class WholeEquations(Equations):
    """All of them: any clocks, and what runs side by side.

    Every setting takes the constraints of ``FREE`` and adds its own, so the optimum of ``FREE`` is
    never above another's. A solution of ``PAPER`` is one of ``DISPATCH`` in which nothing waits.
    """

    def __init__(self, problem: Problem, setting: Setting, *, sums_rates: bool = False) -> None:
        self.setting = setting
        super().__init__(problem)
        self.frame: WholeFrame = WholeFrame(problem)
        self.point = [
            {p: self._z3.Bool(f"point_{d}_{p}") for p in self.frame.points(d)}
            for d in range(len(problem.domains))
        ]
        self._clocks()
        self._equations_5_to_8()
        self.objective: Term = self.makespan
        self.rate_bounds: list[RateBound] = []
        if sums_rates:
            self._equation_10()

    def _dispatch_rule(self) -> None:
        if self.setting is Setting.DISPATCH:
            super()._dispatch_rule()
        elif self.setting is Setting.PAPER:
            self._add(*(st == ready for st, ready in zip(self.st, self.ready, strict=True)))

    def _clocks(self) -> None:
        """Beyond the paper, an operating point for every domain; times depend on both."""
        for points in self.point:
            self._add(self._z3.PbEq([(on, 1) for on in points.values()], 1))
        for d, domain in enumerate(self.problem.domains):
            if domain.may_be_off:
                users = [
                    on
                    for units in self.S
                    for u, on in units.items()
                    if d in self.problem.units[u].clocks
                ]
                self._add(self._z3.Or(*users, self.point[d][domain.point_when_off]))
        for g, choices in enumerate(self.frame.choices):
            for choice in choices:
                self._add(
                    self._z3.Implies(self._holds(g, choice), self.alone[g] == choice.alone_ps)
                )

    def _equations_5_to_8(self) -> None:
        """et = st + t * C: a layer ends with the first picosecond that leaves it no work.

        With W the work, I the overlap with a set of co-runners and c what these take together:
        W <= 2**16 (et - st) - sum c * I < W + w, where w is the rate in the last picosecond.
        """
        z3 = self._z3
        layers = self.frame.executions
        lost: list[list[Term]] = [[] for _ in layers]
        lost_at_end: list[list[Term]] = [[] for _ in layers]
        for meeting in self.frame.meetings:
            overlap = self._overlap(meeting)
            for i in meeting:
                others = tuple(j for j in meeting if j != i)
                cases = self._cases(i, others)
                if not cases:
                    continue
                name = "_".join(map(str, (i, *others)))
                taken, taken_at_end = z3.Int(f"lost_{name}"), z3.Int(f"lost_at_end_{name}")
                to_the_end = z3.And(
                    [z3.And(self.st[j] < self.et[i], self.et[i] <= self.et[j]) for j in others]
                )
                for rate, conditions in cases.items():
                    holds = z3.Or(conditions)
                    self._add(z3.Implies(holds, taken == rate * overlap))
                    self._add(
                        z3.Implies(holds, taken_at_end == z3.If(to_the_end, z3.IntVal(rate), 0))
                    )
                none = z3.Not(z3.Or([c for conditions in cases.values() for c in conditions]))
                self._add(z3.Implies(none, z3.And(taken == 0, taken_at_end == 0)))
                lost[i].append(taken)
                lost_at_end[i].append(taken_at_end)
        for i, layer in enumerate(layers):
            work = WORK_PER_PS * self.alone[layer.group]
            duration = self.et[i] - self.st[i]
            if not lost[i]:
                self._add(duration == self.alone[layer.group])
                continue
            done = WORK_PER_PS * duration - z3.Sum(lost[i])
            last_rate = WORK_PER_PS - z3.Sum(lost_at_end[i])
            self._add(done >= work, done < work + last_rate)

    def _overlap(self, meeting: tuple[int, ...]) -> Term:
        """I of Eq. 8: the time for which all layers of a set run; 0 where they never do.

        It lasts from the start of the one that starts last to the end of the one that ends first;
        for two layers these are the four cases of the paper.
        """
        z3 = self._z3
        length = z3.Int("I_" + "_".join(map(str, meeting)))
        self._add(length >= 0)
        meet = []
        for i, j in permutations(meeting, 2):
            self._add(z3.Implies(self.et[i] <= self.st[j], length == 0))
            meet.append(z3.Not(self.et[i] <= self.st[j]))
        for i, j in product(meeting, repeat=2):
            ends_first = [self._ends_first(i, k) for k in meeting if k != i]
            starts_last = [self._starts_first(k, j) for k in meeting if k != j]
            case = z3.And(*meet, *ends_first, *starts_last)
            self._add(z3.Implies(case, length == self.et[i] - self.st[j]))
        return length

    def _starts_first(self, i: int, j: int) -> Term:
        """Layer i starts before j, or with it; of two that start together the smaller is first."""
        if i < j:
            return self.st[i] <= self.st[j]
        return self._z3.Not(self.st[j] <= self.st[i])

    def _ends_first(self, i: int, j: int) -> Term:
        if i < j:
            return self.et[i] <= self.et[j]
        return self._z3.Not(self.et[j] <= self.et[i])

    def _cases(self, i: int, others: tuple[int, ...]) -> dict[int, list[Term]]:
        """Rates other than 0 that the others together take from layer i -> choices that do so."""
        layers = self.frame.executions
        cases: dict[int, list[Term]] = {}
        groups = [layers[j].group for j in (i, *others)]
        for combination in product(*(self.frame.choices[g] for g in groups)):
            pairs = [(a, b) for k, a in enumerate(combination) for b in combination[k + 1 :]]
            if not all(a.agrees(b) for a, b in pairs):
                continue
            rate = self.frame.lost_together(combination[0], combination[1:])
            if rate:
                holds = [self._holds(g, c) for g, c in zip(groups, combination, strict=True)]
                cases.setdefault(rate, []).append(self._z3.And(holds))
        return cases

    def _equation_10(self) -> None:
        """1 / T of every network, bounded from above (:mod:`dse.certificate.formulation.rate_sum`);
        minimised is the negative sum."""
        networks = range(len(self.problem.networks))
        self.latency = [self._z3.Int(f"T_{n}") for n in networks]
        self.rate = [self._z3.Int(f"rate_{n}") for n in networks]
        for n, network in enumerate(self.problem.networks):
            ends = [self.et[i] - network.arrival_ps for i in self.frame.last_executions(n)]
            self._add(*(self.latency[n] >= end for end in ends))
            self._add(self._z3.Or([self.latency[n] == end for end in ends]))
            bound = RateBound(self.latency[n], self.rate[n], self.frame.least_latency_ps(n))
            self._add(*bound.constraints())
            self.rate_bounds.append(bound)
        self.objective = -self._z3.Sum(self.rate)

    def _holds(self, g: int, choice: Choice) -> Term:
        clocks = [self.point[d][p] for d, p in choice.points if len(self.point[d]) > 1]
        return self._z3.And([self.S[g][choice.option], *clocks])
