"""Eq. 1 to 11 of HaX-CoNN as Z3 constraints over integers, in the paper's order.

:class:`Equations` has what holds whatever the clocks are, and all but the contention of Eq. 5 to 8;
:class:`WholeEquations` has all of it at once.

The paper's symbols are the names here: ``S`` mapping, ``TR`` transition, ``st`` and ``et`` start
and end, ``tau`` transition time, ``I`` overlap. Two things are stated more exactly than the paper
does. Layers run by integer picoseconds on the work left, time x 2**16, so an end is the first
picosecond at which no work is left. And ``cont_model`` is asked for the cumulative demand of all
layers that run in the same interval, where Eq. 7 as printed averages over them.
"""

from __future__ import annotations

from enum import Enum
from itertools import permutations, product
from typing import Any

from dse.certificate.formulation.instance import Choice, Layers
from dse.certificate.formulation.rate_sum import RateBound
from results.problem.arithmetic import WORK_PER_PS
from results.problem.problem import Problem

Term = Any
"""A Z3 expression; z3 has no types."""


class Setting(Enum):
    """When a layer that is ready starts."""

    DISPATCH = "dispatch"
    """By priority, then first come, first served, never idle while something waits: the rule of the
    timeline."""
    PAPER = "paper"
    """At once (Eq. 4): a mapping in which a layer would have to wait is no solution."""
    FREE = "free"
    """At any later instant, in any order."""


class Equations:
    """Variables and constraints of one problem, but for what depends on clocks and contention: a
    layer takes its stand-alone time at least, whatever that is.

    Every setting takes the constraints of ``FREE`` and adds its own, so the optimum of ``FREE`` is
    never above another's. A solution of ``PAPER`` is one of ``DISPATCH`` in which nothing waits.
    """

    def __init__(self, problem: Problem, setting: Setting) -> None:
        import z3

        self._z3 = z3
        self.problem = problem
        self.setting = setting
        self.table = Layers(problem)
        self.constraints: list[Term] = []
        layers = range(len(self.table.layers))
        self.S = [
            {u: z3.Bool(f"S_{g}_{u}") for u in range(len(problem.units)) if problem.allowed[g, u]}
            for g in range(problem.group_count)
        ]
        self.TR = [z3.Bool(f"TR_{e}") for e in range(len(problem.edges))]
        self.tau = [z3.Int(f"tau_{e}") for e in range(len(problem.edges))]
        self.alone = [z3.Int(f"t_{g}") for g in range(problem.group_count)]
        self.ready = [z3.Int(f"ready_{i}") for i in layers]
        self.st = [z3.Int(f"st_{i}") for i in layers]
        self.et = [z3.Int(f"et_{i}") for i in layers]
        self.makespan = z3.Int("makespan")
        for units in self.S:
            self._exactly_one(list(units.values()))
        self._equations_2_and_3()
        self._equation_4()
        for i, layer in enumerate(self.table.layers):
            self._add(self.et[i] - self.st[i] >= self.alone[layer.group])
        self._equation_9()
        if setting is Setting.DISPATCH:
            self._dispatch_rule()
        self._equation_11()
        self._limits()

    def _equations_2_and_3(self) -> None:
        """TR is set where the ends of an edge differ; tau = OUT + IN passes there."""
        z3 = self._z3
        for e, (source, target) in enumerate(self.problem.edges):
            for u, v in product(self.S[source], self.S[target]):
                both = z3.And(self.S[source][u], self.S[target][v])
                self._add(z3.Implies(both, self.TR[e] if u != v else z3.Not(self.TR[e])))
                delay = int(self.problem.transition_ps[e, u, v])
                self._add(z3.Implies(both, self.tau[e] == delay))

    def _equation_4(self) -> None:
        """A layer is ready at T of the layers before it; that it then starts is ``PAPER``'s."""
        for i, layer in enumerate(self.table.layers):
            instants = [self.et[j] + self.tau[e] for e, j in layer.inputs]
            instants += [self.et[j] for j in layer.waits]
            if layer.arrival_ps or not instants:
                instants.append(self._z3.IntVal(layer.arrival_ps))
            for instant in instants:
                self._add(self.ready[i] >= instant)
            self._add(self._z3.Or([self.ready[i] == instant for instant in instants]))
            if self.setting is Setting.PAPER:
                self._add(self.st[i] == self.ready[i])
            else:
                self._add(self.st[i] >= self.ready[i])

    def _equation_9(self) -> None:
        """No two layers share a unit at any time (epsilon = 0)."""
        for i, j in self._rivals():
            apart = self._z3.Or(self.et[i] <= self.st[j], self.et[j] <= self.st[i])
            self._add(self._z3.Implies(self._same_unit(i, j), apart))

    def _dispatch_rule(self) -> None:
        """On one unit the smaller (ready time, position) is first, of two priorities the smaller
        unless the other starts before it is ready; a layer that starts later than it is ready
        starts where another one ends."""
        z3 = self._z3
        after: list[list[Term]] = [[] for _ in self.st]
        for i, j in self._rivals():
            same = self._same_unit(i, j)
            one, other = (self._priority(k) for k in (i, j))
            i_first = self.ready[i] <= self.ready[j]
            if one < other:
                i_first = self.ready[i] <= self.st[j]
                self._add(z3.Implies(same, self._leaves_no_gap(i, j)))
            elif one > other:
                i_first = self.st[i] < self.ready[j]
                self._add(z3.Implies(same, self._leaves_no_gap(j, i)))
            self._add(z3.Implies(z3.And(same, i_first), self.et[i] <= self.st[j]))
            self._add(z3.Implies(z3.And(same, z3.Not(i_first)), self.et[j] <= self.st[i]))
            after[j].append(z3.And(same, self.st[j] == self.et[i]))
            after[i].append(z3.And(same, self.st[i] == self.et[j]))
        for i, ends in enumerate(after):
            self._add(z3.Or(self.st[i] == self.ready[i], *ends))

    def _leaves_no_gap(self, i: int, late: int) -> Term:
        """While ``late`` waits, a layer i that overtakes it starts where another one ends."""
        ends = [
            self._z3.And(self._same_unit(i, k), self.st[i] == self.et[k])
            for k in range(len(self.st))
            if k != i
        ]
        waits = self._z3.And(self.ready[late] < self.st[i], self.st[i] < self.st[late])
        return self._z3.Or(self._z3.Not(waits), *ends)

    def _priority(self, i: int) -> int:
        return self.problem.networks[self.table.layers[i].network].priority

    def _equation_11(self) -> None:
        """The largest T; and, to help the solver only, that no unit does more than fits in it."""
        z3 = self._z3
        for n in range(len(self.problem.networks)):
            for i in self.table.last_layers(n):
                self._add(self.makespan >= self.et[i])
        for u in range(len(self.problem.units)):
            load = [
                z3.If(self.S[layer.group][u], self.alone[layer.group], 0)
                for layer in self.table.layers
                if u in self.S[layer.group]
            ]
            self._add(self.makespan >= z3.Sum(load))

    def _limits(self) -> None:
        """Limits on transitions per network and segments per unit; deadlines; period."""
        z3, problem = self._z3, self.problem
        for n, network in enumerate(problem.networks):
            inside = [e for e, (source, _) in enumerate(problem.edges) if source in network.groups]
            if network.max_transitions is not None and inside:
                self._add(z3.AtMost(*(self.TR[e] for e in inside), network.max_transitions))
            if network.deadline_ps is not None:
                for i in self.table.last_layers(n):
                    self._add(self.et[i] <= network.arrival_ps + network.deadline_ps)
        for u, unit in enumerate(problem.units):
            if unit.max_segments is not None:
                begins = [
                    z3.And(
                        self.S[g][u],
                        *(
                            z3.Not(self.S[source][u])
                            for source, target in problem.edges
                            if target == g and u in self.S[source]
                        ),
                    )
                    for g in range(problem.group_count)
                    if u in self.S[g]
                ]
                if begins:
                    self._add(z3.AtMost(*begins, unit.max_segments))
        if problem.execution.period_ps is not None:
            self._add(self.makespan <= problem.execution.period_ps)

    def _rivals(self) -> list[tuple[int, int]]:
        """Pairs of layers, the smaller position first, that could need one unit at the same
        time."""
        count = len(self.table.layers)
        return [(i, j) for j in range(count) for i in range(j) if not self.table.ordered(i, j)]

    def _same_unit(self, i: int, j: int) -> Term:
        one, other = (self.S[self.table.layers[k].group] for k in (i, j))
        return self._z3.Or([self._z3.And(one[u], other[u]) for u in one if u in other])

    def _exactly_one(self, literals: list[Term]) -> None:
        self._add(self._z3.Or(literals))
        for k, literal in enumerate(literals):
            for other in literals[:k]:
                self._add(self._z3.Or(self._z3.Not(literal), self._z3.Not(other)))

    def _add(self, *constraints: Term) -> None:
        self.constraints.extend(constraints)


class WholeEquations(Equations):
    """All of them: any clocks, and what runs side by side."""

    def __init__(self, problem: Problem, setting: Setting, *, sums_rates: bool = False) -> None:
        super().__init__(problem, setting)
        self.point = [
            {p: self._z3.Bool(f"point_{d}_{p}") for p in self.table.points(d)}
            for d in range(len(problem.domains))
        ]
        self._clocks()
        self._equations_5_to_8()
        self.objective: Term = self.makespan
        self.rate_bounds: list[RateBound] = []
        if sums_rates:
            self._equation_10()

    def _clocks(self) -> None:
        """Beyond the paper, an operating point for every domain; times depend on both."""
        for points in self.point:
            self._exactly_one(list(points.values()))
        for d, domain in enumerate(self.problem.domains):
            if domain.may_be_off:
                users = [
                    on
                    for units in self.S
                    for u, on in units.items()
                    if d in self.problem.units[u].clocks
                ]
                self._add(self._z3.Or(*users, self.point[d][domain.point_when_off]))
        for g, choices in enumerate(self.table.choices):
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
        layers = self.table.layers
        lost: list[list[Term]] = [[] for _ in layers]
        lost_at_end: list[list[Term]] = [[] for _ in layers]
        for meeting in self.table.meetings:
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
        layers = self.table.layers
        cases: dict[int, list[Term]] = {}
        groups = [layers[j].group for j in (i, *others)]
        for combination in product(*(self.table.choices[g] for g in groups)):
            pairs = [(a, b) for k, a in enumerate(combination) for b in combination[k + 1 :]]
            if not all(a.agrees(b) for a, b in pairs):
                continue
            rate = self.table.lost_together(combination[0], combination[1:])
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
            ends = [self.et[i] - network.arrival_ps for i in self.table.last_layers(n)]
            self._add(*(self.latency[n] >= end for end in ends))
            self._add(self._z3.Or([self.latency[n] == end for end in ends]))
            bound = RateBound(self.latency[n], self.rate[n], self.table.least_latency_ps(n))
            self._add(*bound.constraints())
            self.rate_bounds.append(bound)
        self.objective = -self._z3.Sum(self.rate)

    def _holds(self, g: int, choice: Choice) -> Term:
        clocks = [self.point[d][p] for d, p in choice.points if len(self.point[d]) > 1]
        return self._z3.And([self.S[g][choice.unit], *clocks])
