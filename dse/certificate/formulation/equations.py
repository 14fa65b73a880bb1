"""Eq. 1 to 11 of HaX-CoNN as Z3 constraints over integers, in the paper's order.

:class:`Equations` has the constraints that hold whatever the clocks are, and all but the contention
of Eq. 5 to 8. The tests have all of it at once, as one model (``tests/support/formulation``).

The paper's symbols are the names here: ``S`` mapping, ``st`` and ``et`` start and end, ``tau``
transition time. If number formats are chosen, ``S`` is over options, a unit in a format each. Eq. 1
and 2 are rules of mappings, as :mod:`dse.certificate.cover.smtlib` states them.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from paretosoc.dse.certificate.cover.smtlib import mapping_smtlib
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


class Equations:
    """Variables and constraints of one problem that do not depend on clocks and contention.

    A layer takes at least its stand-alone time, whatever that is. One that is ready starts by
    priority, then first come, first served, never idle while something waits: the rule of the
    timeline.
    """

    def __init__(self, problem: Problem) -> None:
        import z3

        self._z3 = z3
        self.problem = problem
        self.frame = Frame(problem)
        self.constraints: list[Term] = []
        layers = range(len(self.frame.executions))
        self.S = [
            {u: z3.Bool(f"x_{g}_{u}") for u in range(len(problem.units)) if problem.allowed[g, u]}
            for g in range(problem.group_count)
        ]
        self.tau = [z3.Int(f"tau_{e}") for e in range(len(problem.edges))]
        self.alone = [z3.Int(f"alone_{g}") for g in range(problem.group_count)]
        self.ready = [z3.Int(f"ready_{i}") for i in layers]
        self.st = [z3.Int(f"st_{i}") for i in layers]
        self.et = [z3.Int(f"et_{i}") for i in layers]
        self.makespan = z3.Int("makespan")
        # Eq. 1 and 2, and the limits on mappings. The same names are the same variables.
        self._add(*z3.parse_smt2_string(mapping_smtlib(problem)))
        self._equation_3()
        self._equation_4()
        for i, layer in enumerate(self.frame.executions):
            self._add(self.et[i] - self.st[i] >= self.alone[layer.group])
        self._equation_9()
        self._dispatch_rule()
        self._equation_11()
        self._limits()

    def _equation_3(self) -> None:
        """Add Eq. 3: tau = OUT + IN passes if the ends of an edge are on two units. If only formats
        differ, the time of converting passes."""
        for e, (source, target) in enumerate(self.problem.edges):
            for u, v in product(self.S[source], self.S[target]):
                both = self._z3.And(self.S[source][u], self.S[target][v])
                delay = int(self.problem.transition_ps[e, u, v])
                self._add(self._z3.Implies(both, self.tau[e] == delay))

    def _equation_4(self) -> None:
        """Add Eq. 4: a layer is ready at T of all layers before it, and does not start before. That
        it is ready after each of them is added to help the solver."""
        for i, layer in enumerate(self.frame.executions):
            self._add(*(self.ready[i] >= self.et[j] for j in sorted(self.frame.before[i])))
            instants = [self.et[j] + self.tau[e] for e, j in layer.inputs]
            instants += [self.et[j] for j in layer.waits]
            if layer.arrival_ps or not instants:
                instants.append(self._z3.IntVal(layer.arrival_ps))
            for instant in instants:
                self._add(self.ready[i] >= instant)
            self._add(self._z3.Or([self.ready[i] == instant for instant in instants]))
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
        """Add deadlines and the period."""
        for n, network in enumerate(self.problem.networks):
            if network.deadline_ps is not None:
                for i in self.frame.last_executions(n):
                    self._add(self.et[i] <= network.arrival_ps + network.deadline_ps)
        if self.problem.execution.period_ps is not None:
            self._add(self.makespan <= self.problem.execution.period_ps)

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

    def _add(self, *constraints: Term) -> None:
        self.constraints.extend(constraints)
