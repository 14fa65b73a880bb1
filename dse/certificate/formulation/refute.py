"""Eq. 1 to 11 have no solution below a makespan: Z3 shows it, part by part and event by event.

A *part* is a set of design points: units of some groups, a set of operating points per domain. In
each, Z3 is asked questions that it must answer with "unsat". Each answer becomes a constraint (a
*fact*) there:

1. when the layers start and end, one event after the other, up to the first instant at which a
   choice matters that the part leaves open;
2. that the part has no solution, or else
3. that each of its solutions is in one of the smaller parts that it is split into.

The next event, the sufficiency of bounds and the next choice are hints of :mod:`fitness.check`.
Nothing rests on them: a wrong hint is a question without "unsat".

The constraints that a part adds to those of
:class:`~dse.certificate.formulation.equations.Equations` are implied by Eq. 1 to 11, the part's
choices and its facts:

* *times*: a group takes at least its smallest time over the points that are left, and exactly that
  time if the clocks have one point each;
* *Eq. 5 to 8 in one contention interval* (Eq. 6): from an instant t on the layers R run, and
  everything up to t is a fact. Until the first of them ends or another layer starts, each does
  ``cont_model``'s rate of work per picosecond. So the work of i in R would be done at an instant
  d(i), in whole picoseconds, and m is the first of them. A layer that is not ready before another
  one has started cannot be the first to start; J are the others that have not started. So et(i) >=
  m or st(j) < et(i) for one j in J. Once it is a fact that all of J start at e <= m or later, R
  runs until then: et(i) = e if d(i) = e, else et(i) > e;
* *speed*: no layer is faster than alone, so et(i) is at least t + work left / 2**16;
* *load*: a layer that has not started by t and is on a unit follows the one that runs there (Eq.
  9), so makespan >= its end, or t, + the sum of their times. Summed over all units: units x
  makespan >= the sum of these ends + the sum of all times.
* *path*: makespan >= the end of what runs of a chain of layers, or t, + the times of the rest;
* *prices*: a group whose unit is open costs at least its smallest priced time, see
  :mod:`fitness.branch_and_bound.prices`. So a sum of loads and paths, weighted by the prices, is a
  sum over groups of which each has a least.

Operating points are split in two halves. Of two interchangeable units without a group only one is
tried, since Eq. 1 to 11 stay the same if they change places
(:mod:`results.problem.interchangeable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from paretosoc.common.text import pluralize
from paretosoc.dse.certificate.formulation.equations import Equations, Term
from paretosoc.dse.certificate.formulation.parts import Hints, Path
from paretosoc.dse.certificate.formulation.terms import Prices, Terms
from paretosoc.fitness.check.lemmas import Cost, Lemma, Stop
from paretosoc.fitness.check.tree import TreeFault
from paretosoc.fitness.contention import lost_rate
from paretosoc.results.front.certificate import NOT_NAMED
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import Problem

DEPTH = 64
"""Most parts whose times are kept, each of which is a part of the one before it."""
EFFORT = 20_000_000
"""Most that Z3 may spend on one goal of a question, in its own units: about two seconds."""


class NotShown(Exception):
    """Something is not so, or not shown."""


class Ended(NotShown):
    """Nothing is known: the limits have ended it."""


@dataclass
class _Now:
    """The facts at one instant: the started layers, the running ones among them, and the work
    done."""

    now_ps: int
    started: frozenset[int]
    done: dict[int, int]
    """1/65536 ps at the full rate, per layer that runs."""


class Refutation:
    """Z3 with the constraints of one problem, and the claim that it is faster than a makespan.

    Args:
        problem: without energy limits and phases, see :func:`check_formulated`.
        column: the position of its makespan among its objectives.
        optimum_ps: nothing is to be faster.
        stopped: polled before every question. True ends the refutation.
    """

    def __init__(
        self,
        problem: Problem,
        column: int,
        optimum_ps: int,
        *,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        import z3

        self._z3 = z3
        self._problem = problem
        self._hints = Hints(problem, column, optimum_ps)
        self._lemmas = self._hints.lemmas
        self._group_of = self._lemmas.group_of
        self._equations = Equations(problem)
        # Not Solver(): its preprocessing is made for one check, and here there are many.
        self._solver = z3.SimpleSolver()
        self._context = self._solver.ctx.ref()
        self._solver.set("rlimit", EFFORT)
        # Z3's older simplex answers questions as small as these in two thirds of the time.
        self._solver.set("arith.solver", 2)
        self._solver.add(self._equations.constraints)
        self._solver.add(self._equations.makespan <= optimum_ps - 1)
        self._stopped = stopped
        self._terms = Terms(self._equations)
        self._times_of = lru_cache(DEPTH)(self._times_of_)
        self.questions = 0
        self.parts = 0
        """Parts that have no solution and are not split."""

    def refute(self, path: Path) -> None:
        """Show that a part has no solution, and that no other part is left out on the way to it.

        Raises:
            NotShown: if Z3 does not show it within its limits.
        """
        self._solver.push()
        node, now = self._lemmas.root(), _Now(0, frozenset(), {})
        self._times(node)
        for k in path:
            state, now = self._settle(node, now)
            child = self._split(node, state)[k]
            self._choose(node, state, child)
            node = child
        self._refute_below(node, now)
        self._solver.pop()

    def has_solution(self) -> bool:
        """Return whether Z3 finds a solution of a problem with one design point, without splitting
        it."""
        node, now = self._lemmas.root(), _Now(0, frozenset(), {})
        self._times(node)
        try:
            while True:
                state, now = self._settle(node, now)
                if len(now.started) == len(self._group_of):
                    return bool(self._solver.check() == self._z3.sat)
                (child,) = self._split(node, state)
                self._choose(node, state, child)
                node = child
        except Ended:
            raise
        except NotShown:
            return False

    def _refute_below(self, node: Lemma, now: _Now) -> None:
        state, now = self._settle(node, now)
        if self._hints.is_closed(node):
            self._loads(node, now)
            self._show([self._z3.BoolVal(False)])
            self.parts += 1
            return
        for child in self._split(node, state):
            self._solver.push()
            self._choose(node, state, child)
            self._refute_below(child, now)
            self._solver.pop()

    def _show(self, goals: Sequence[Term]) -> None:
        """Ask goal by goal for a solution in which it does not hold, and make it a fact: one
        negated goal is a literal, from which most follows without a decision."""
        if self._stopped():
            raise Ended(f"ended after {pluralize(self.questions, 'question')}")
        self.questions += 1
        for goal in goals:
            answer = self._solver.check(self._z3.Not(goal))
            if answer == self._z3.unknown:
                raise Ended(f"Z3 says unknown to question {self.questions}")
            if answer != self._z3.unsat:
                raise NotShown(f"Z3 says {answer} to question {self.questions}")
            self._add(goal)

    def _add(self, *constraints: Term) -> None:
        """Add constraints to the part: ``Solver.add`` compares sorts for longer than Z3 takes."""
        for constraint in constraints:
            self._z3.Z3_solver_assert(self._context, self._solver.solver, constraint.as_ast())

    # Choices

    def _split(self, node: Lemma, state: Stop) -> list[Lemma]:
        """Return the smaller parts. For operating points, show here that none is left out."""
        S, group = self._equations.S, state.open_group
        tried = []
        if group is not None:
            tried = [u for u in S[group] if self._lemmas.is_mirror_image(node, u)]
        try:
            children = self._lemmas.children(node)
        except TreeFault:
            raise NotShown("a design point is faster") from None
        if any(
            child.units != node.units if group is None else child.points != node.points
            for child in children
        ):
            raise NotShown("another choice is made besides")
        if group is not None:
            tried += [child.units[group] for child in children]
            self._show([self._z3.Or([S[group][u] for u in tried])])
            return children
        changed = [
            d for d, mask in enumerate(node.points) if any(c.points[d] != mask for c in children)
        ]
        if (
            len(changed) != 1
            or reduce(or_, (c.points[changed[0]] for c in children)) != (node.points[changed[0]])
        ):
            raise NotShown("operating points are left out")
        return children

    def _choose(self, node: Lemma, state: Stop, child: Lemma) -> None:
        """Make the choice of a child, and show the consequences of the limits on transitions."""
        group = state.open_group
        if group is None:
            self._times(child, node)
            return
        S = self._equations.S
        self._add(S[group][child.units[group]])
        forced = [S[g][u] for g, u in enumerate(child.units) if g != group and u != node.units[g]]
        if forced:
            self._show(forced)

    def _times(self, node: Lemma, before: Lemma | None = None) -> None:
        """Add the times over the operating points that are left, except those that are known from
        the part before the split."""
        known = set() if before is None else set(self._times_of(before))
        self._add(*[self._terms.known_time(*t) for t in self._times_of(node) if t not in known])

    def _times_of_(self, node: Lemma) -> list[tuple[int, int, int, bool]]:
        """Return groups, units, smallest times, and whether there is no other. ``NOT_NAMED`` stands
        for any unit."""
        lemmas, S = self._lemmas, self._equations.S
        return [
            (
                g,
                u,
                lemmas.smallest_ps(node, g, u),
                u in S[g] and lemmas.cost(node, g, u) is not None,
            )
            for g in range(len(S))
            for u in (NOT_NAMED, *S[g])
        ]

    # Events

    def _settle(self, node: Lemma, now: _Now) -> tuple[Stop, _Now]:
        """Make facts of starts and ends up to the instant at which the part's timeline stops."""
        state = self._lemmas.stop(node)
        for instant, starts in _events(now, state):
            if instant > now.now_ps:
                now = self._advance(node, now, instant)
            if starts:
                self._show([self._equations.st[i] == instant for i in starts])
                done = now.done | dict.fromkeys(starts, 0)
                now = _Now(now.now_ps, now.started | set(starts), done)
        return state, now

    def _advance(self, node: Lemma, now: _Now, instant: int) -> _Now:
        """Show that nothing starts between two events' instants. Add the ends that follow."""
        st, et = self._equations.st, self._equations.et
        before = self._equations.frame.before
        next_to_start = tuple(
            i for i in range(len(st)) if i not in now.started and before[i] <= now.started
        )
        rates = self._rates(node, sorted(now.done))
        due = {
            i: now.now_ps - (-(WORK_PER_PS * self._cost(node, i).time_ps - now.done[i]) // rate)
            for i, rate in rates.items()
        }
        first = min(due.values(), default=instant)
        if instant > first:
            raise NotShown("a layer ends before the next event")
        then, at_first = self._z3.IntVal(instant), self._z3.IntVal(first)
        self._add(
            *[
                self._z3.Or(et[i] >= at_first, *self._terms.starts_before(i, next_to_start))
                for i in due
            ]
        )
        self._show([st[j] >= then for j in next_to_start])
        self._add(*[et[i] == then if due[i] == instant else et[i] > then for i in due])
        done = {i: now.done[i] + rates[i] * (instant - now.now_ps) for i in due if due[i] > instant}
        return _Now(instant, now.started, done)

    def _rates(self, node: Lemma, running: Sequence[int]) -> dict[int, int]:
        """Return the rates of layers that run side by side, ``cont_model`` of Eq. 7."""
        own = {i: self._cost(node, i) for i in running}
        rates = {}
        for i, cost in own.items():
            table = self._problem.units[node.units[self._group_of[i]]].contention
            others = sum(other.demand_kbps for j, other in own.items() if j != i)
            rates[i] = WORK_PER_PS
            if table is not None:
                rates[i] -= lost_rate(table, cost.memory_point, cost.demand_kbps, others)
        return rates

    def _cost(self, node: Lemma, i: int) -> Cost:
        """Return the cost of a running layer."""
        group = self._group_of[i]
        unit = node.units[group]
        cost = None if unit == NOT_NAMED else self._lemmas.cost(node, group, unit)
        if cost is None:
            raise NotShown("a layer whose unit or clocks are open has started")
        return cost

    def _loads(self, node: Lemma, now: _Now) -> None:
        """Add the speed of running layers, the load of all units and the paths from now on."""
        z3, equations, rest = self._z3, self._equations, self._rest(now)
        unit_of = self._problem.unit_of
        begins: dict[int, Any] = {u: z3.IntVal(now.now_ps) for u in sorted(set(unit_of))}
        paths: dict[int, Any] = {n: z3.IntVal(now.now_ps) for n in sorted(self._terms.chains)}
        for i, done in now.done.items():
            left = WORK_PER_PS * self._cost(node, i).time_ps - done
            self._add(equations.et[i] >= now.now_ps - (-left // WORK_PER_PS))
            begins[unit_of[node.units[self._group_of[i]]]] = equations.et[i]
            paths[equations.frame.executions[i].network] = equations.et[i]
        for u, begin in begins.items():
            loads = [self._terms.load(groups, u) for groups in rest.values()]
            self._add(equations.makespan >= z3.Sum([begin, *loads]))
        times = {n: self._terms.time(groups) for n, groups in rest.items()}
        total = z3.Sum([*begins.values(), *times.values()])
        self._add(len(begins) * equations.makespan >= total)
        for n in self._terms.chains & rest.keys():
            self._add(equations.makespan >= paths[n] + times[n])
        for row in self._hints.prices:
            for g in sorted({g for groups in rest.values() for g in groups}):
                if node.units[g] == NOT_NAMED:
                    self._add(self._terms.priced(row, g, self._least_priced(node, row, g)))

    def _rest(self, now: _Now) -> dict[int, tuple[int, ...]]:
        """Return the groups of layers that have not started, by network."""
        rest: dict[int, tuple[int, ...]] = {}
        for i, layer in enumerate(self._equations.frame.executions):
            if i not in now.started:
                rest[layer.network] = (*rest.get(layer.network, ()), layer.group)
        return rest

    def _least_priced(self, node: Lemma, row: Prices, g: int) -> int:
        """Return the least price x time of a group whose unit is open."""
        by_unit, path = self._terms.prices(row, g)
        return min(
            (by_unit[self._problem.unit_of[u]] + path) * self._lemmas.smallest_ps(node, g, u)
            for u in self._equations.S[g]
        )


def _events(now: _Now, stop: Stop) -> Iterator[tuple[int, list[int]]]:
    """Yield (instant, layers that start) of all events until a timeline stops, and of the stop."""
    starts: dict[int, list[int]] = {}
    for i, start in enumerate(stop.start_ps):
        if start is not None and i not in now.started:
            starts.setdefault(start, []).append(i)
    ends = {end for end in stop.end_ps if end is not None and end > now.now_ps}
    for instant in sorted(starts.keys() | ends | {stop.now_ps}):
        yield instant, starts.get(instant, [])
