"""Eq. 1 to 11 of HaX-CoNN as Z3 constraints over integers, in the paper's order.

:class:`Equations` has the constraints that hold whatever the clocks are, and all but the contention
of Eq. 5 to 8. The tests have all of it at once, as one model (``tests/support/formulation``).

The paper's symbols are the names here: ``S`` mapping, ``TR`` transition, ``st`` and ``et`` start
and end, ``tau`` transition time. If number formats are chosen, ``S`` is over options, a unit in a
format each.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import product
from typing import Any

from paretosoc.dse.certificate.formulation.frame import Frame
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import GROUP
from paretosoc.results.problem.limits import OVER_TIME
from paretosoc.results.problem.problem import Problem

Term = Any
"""A Z3 expression, as z3 has no types."""


def check_formulated(problem: Problem) -> None:
    """Check that Eq. 1 to 11 can state a problem.

    Raises:
        ResultError: on a power cap or an energy budget, which the equations do not know, phases of
            one model, searched priorities, networks with rates of their own, guaranteed deadlines,
            and units that run engines.
    """
    engines = [unit.name for unit in problem.units if unit.dispatch != GROUP]
    if engines:
        raise ResultError(
            "the SMT formulation needs units that take one group at a time; "
            f"{', '.join(engines)} run whole engines"
        )
    movers = [unit.name for unit in problem.units if unit.moves_tensors]
    if movers:
        raise ResultError(
            "the SMT formulation has transitions that occupy no unit; those of "
            f"{', '.join(movers)} are its work"
        )
    if problem.has_phases:
        raise ResultError(
            "the SMT formulation has one time for all repeats of a group and no hand-overs between "
            "networks (units[*].step_ps, handovers); branch and bound has both"
        )
    if problem.searched_order is not None or problem.has_rates:
        raise ResultError(
            "the SMT formulation needs fixed priorities, and networks without rates of their own"
        )
    if problem.guarantee:
        raise ResultError("the SMT formulation has nominal times; deadlines are guaranteed")
    for kind in OVER_TIME:
        for _, value in kind.values(problem):
            raise ResultError(
                f"$.{kind.field}: must be null for the SMT formulation, which has no energy, "
                f"got {value}"
            )


class Setting(Enum):
    """The rule by which a layer that is ready starts."""

    DISPATCH = "dispatch"
    """By priority, then first come, first served, never idle while something waits: the rule of the
    timeline."""
    PAPER = "paper"
    """At once (Eq. 4): a mapping in which a layer would have to wait is no solution."""
    FREE = "free"
    """At any later instant, in any order."""


class Equations:
    """Variables and constraints of one problem that do not depend on clocks and contention.

    A layer takes at least its stand-alone time, whatever that is.

    Every setting takes the constraints of ``FREE`` and adds its own, so the optimum of ``FREE`` is
    never above another's. A solution of ``PAPER`` is one of ``DISPATCH`` in which nothing waits.
    """

    def __init__(self, problem: Problem, setting: Setting) -> None:
        import z3

        self._z3 = z3
        self.problem = problem
        self.setting = setting
        self.frame = Frame(problem)
        self.constraints: list[Term] = []
        layers = range(len(self.frame.executions))
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
        for i, layer in enumerate(self.frame.executions):
            self._add(self.et[i] - self.st[i] >= self.alone[layer.group])
        self._equation_9()
        if setting is Setting.DISPATCH:
            self._dispatch_rule()
        self._equation_11()
        self._limits()

    def _equations_2_and_3(self) -> None:
        """Add Eq. 2 and 3: TR is set if the ends of an edge are on two units, and tau = OUT + IN
        passes. If only formats differ, the time of converting passes."""
        z3, unit_of = self._z3, self.problem.unit_of
        for e, (source, target) in enumerate(self.problem.edges):
            for u, v in product(self.S[source], self.S[target]):
                both = z3.And(self.S[source][u], self.S[target][v])
                moves = unit_of[u] != unit_of[v]
                self._add(z3.Implies(both, self.TR[e] if moves else z3.Not(self.TR[e])))
                delay = int(self.problem.transition_ps[e, u, v])
                self._add(z3.Implies(both, self.tau[e] == delay))

    def _equation_4(self) -> None:
        """Add Eq. 4: a layer is ready at T of all layers before it, with ``PAPER`` it starts then.
        That it is ready after each of them is added to help the solver."""
        for i, layer in enumerate(self.frame.executions):
            self._add(*(self.ready[i] >= self.et[j] for j in sorted(self.frame.before[i])))
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
        """Add Eq. 9: no two layers share a unit at any time (epsilon = 0)."""
        for i, j in self._rivals():
            apart = self._z3.Or(self.et[i] <= self.st[j], self.et[j] <= self.st[i])
            self._add(self._z3.Implies(self._same_unit(i, j), apart))

    def _dispatch_rule(self) -> None:
        """Add the dispatch rule: on one unit the smaller (ready time, position) is first, of two
        priorities the smaller unless the other starts before it is ready. A layer that waited
        starts as another one ends."""
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
        """Return that a layer i which overtakes a waiting ``late`` starts as another one ends."""
        ends = [
            self._z3.And(self._same_unit(i, k), self.st[i] == self.et[k])
            for k in range(len(self.st))
            if k != i
        ]
        waits = self._z3.And(self.ready[late] < self.st[i], self.st[i] < self.st[late])
        return self._z3.Or(self._z3.Not(waits), *ends)

    def _priority(self, i: int) -> int:
        return self.problem.networks[self.frame.executions[i].network].priority

    def _equation_11(self) -> None:
        """Add Eq. 11, the largest T, and that no unit does more than fits in it, to help the
        solver."""
        z3 = self._z3
        for n in range(len(self.problem.networks)):
            for i in self.frame.last_executions(n):
                self._add(self.makespan >= self.et[i])
        for u in sorted(set(self.problem.unit_of)):
            load = [
                z3.If(self.on_unit(layer.group, u), self.alone[layer.group], 0)
                for layer in self.frame.executions
            ]
            self._add(self.makespan >= z3.Sum(load))

    def _limits(self) -> None:
        """Add limits on transitions per network, segments per unit, deadlines, the period, losses
        of accuracy and memory.
        """
        z3, problem = self._z3, self.problem
        for n, network in enumerate(problem.networks):
            inside = [e for e, (source, _) in enumerate(problem.edges) if source in network.groups]
            if network.max_transitions is not None and inside:
                self._add(z3.AtMost(*(self.TR[e] for e in inside), network.max_transitions))
            if network.deadline_ps is not None:
                for i in self.frame.last_executions(n):
                    self._add(self.et[i] <= network.arrival_ps + network.deadline_ps)
        for u, unit in enumerate(problem.units):
            if unit.max_segments is not None:
                begins = [
                    z3.And(self.S[g][v], z3.Not(self._follows(g, v)))
                    for g in range(problem.group_count)
                    for v in self.S[g]
                    if problem.unit_of[v] == u
                ]
                if begins:
                    self._add(z3.AtMost(*begins, unit.max_segments))
        for n, network in enumerate(problem.networks):
            if network.max_loss_ppm is not None:
                self._add(self._loss(n) <= network.max_loss_ppm)
        pools = range(max(1, len(problem.memory_pools)))
        if problem.memory_cap_bytes is not None:
            self._add(self._memory(pools) <= problem.memory_cap_bytes)
        for p, pool in enumerate(problem.memory_pools):
            if pool.cap_bytes is not None:
                self._add(self._memory([p]) <= pool.cap_bytes)
        if problem.execution.period_ps is not None:
            self._add(self.makespan <= problem.execution.period_ps)

    def _rivals(self) -> list[tuple[int, int]]:
        """Return pairs of layers that could need one unit at a time, the smaller position first."""
        count = len(self.frame.executions)
        return [(i, j) for j in range(count) for i in range(j) if not self.frame.ordered(i, j)]

    def _same_unit(self, i: int, j: int) -> Term:
        one, other = (self.frame.executions[k].group for k in (i, j))
        shared = {self.problem.unit_of[u] for u in self.S[one]}
        shared &= {self.problem.unit_of[u] for u in self.S[other]}
        return self._z3.Or(
            [self._z3.And(self.on_unit(one, u), self.on_unit(other, u)) for u in sorted(shared)]
        )

    def on_unit(self, g: int, u: int) -> Term:
        """Return the condition that a group is on a unit, in whichever number format."""
        options = [on for v, on in self.S[g].items() if self.problem.unit_of[v] == u]
        return self._z3.Or(options) if len(options) != 1 else options[0]

    def _follows(self, g: int, u: int) -> Term:
        """Return that the group before it in its network is on the same unit and format."""
        is_first = any(g == network.first_group for network in self.problem.networks)
        return self._z3.BoolVal(False) if is_first else self.S[g - 1].get(u, False)

    def _loss(self, n: int) -> Term:
        """Return the loss of accuracy of a network."""
        z3 = self._z3
        terms = [z3.IntVal(0)]
        for u, unit in enumerate(self.problem.units):
            if unit.loss_ppm is not None:
                terms += [
                    z3.If(self.S[g][u], int(unit.loss_ppm[g]), 0)
                    for g in self.problem.networks[n].groups
                    if u in self.S[g]
                ]
        return z3.Sum(terms)

    def _memory(self, pools: Iterable[int]) -> Term:
        """Return the bytes in some pools."""
        z3, problem = self._z3, self.problem
        terms = [z3.IntVal(0)]
        for network in problem.networks:
            for p in pools:
                here = {u for u, unit in enumerate(problem.units) if unit.memory_pool == p}
                held = z3.IntVal(0)
                # The larger ones outside: they decide first.
                for size, g in sorted(zip(network.held_bytes, network.groups, strict=True)):
                    held = z3.If(
                        z3.Or([on for u, on in self.S[g].items() if u in here]), size, held
                    )
                terms.append(held if len(here) < len(problem.units) else network.activation_bytes)
                for u in here:
                    table = problem.units[u].weight_bytes
                    on = {g: self.S[g][u] for g in network.groups if u in self.S[g]}
                    if table is None:
                        continue
                    if problem.units[u].loads_whole_networks:
                        whole = sum(int(table[g]) for g in network.groups)
                        terms.append(z3.If(z3.Or(list(on.values())), whole, 0))
                    else:
                        terms += [z3.If(here_is, int(table[g]), 0) for g, here_is in on.items()]
        return z3.Sum(terms)

    def _exactly_one(self, literals: list[Term]) -> None:
        self._add(self._z3.Or(literals))
        for k, literal in enumerate(literals):
            for other in literals[:k]:
                self._add(self._z3.Or(self._z3.Not(literal), self._z3.Not(other)))

    def _add(self, *constraints: Term) -> None:
        self.constraints.extend(constraints)
