"""Lemmas of one problem by themselves, interpreted: their timelines, bounds and children."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.fitness.check.bounds import is_closed
from paretosoc.fitness.check.choices import is_mirror_image, next_child, open_choice
from paretosoc.fitness.check.costs import fill_costs
from paretosoc.fitness.check.interpreted import interpreted
from paretosoc.fitness.check.make_facts import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.timeline import begin_timeline, resume_timeline
from paretosoc.fitness.check.tree import TreeFault
from paretosoc.fitness.check.walk import put_choices
from paretosoc.fitness.check.work import AT_UNIT, ENDED, OVER, RUNNING, Work, make_work
from paretosoc.results.front.certificate import NOT_NAMED
from paretosoc.results.front.proof_tree import MEMBERS
from paretosoc.results.problem.problem import Problem

_put_choices, _fill_costs = map(interpreted, (put_choices, fill_costs))
_begin, _resume, _is_closed = map(interpreted, (begin_timeline, resume_timeline, is_closed))
_open_choice, _next_child = map(interpreted, (open_choice, next_child))
_is_mirror_image = interpreted(is_mirror_image)


@dataclass(frozen=True)
class Lemma:
    """A partial choice.

    ``units`` [groups]: a unit, or ``NOT_NAMED``. ``points`` [domains]: bit k is set if operating
    point k is left; only allowed ones are.
    """

    units: tuple[int, ...]
    points: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    """The state in which a lemma's timeline stops or ends: after all ends, before any dispatch."""

    now_ps: int
    start_ps: tuple[int | None, ...]
    """[instances]: None as long as it has not started."""
    end_ps: tuple[int | None, ...]
    """[instances]: None as long as it has not ended."""
    open_group: int | None
    """The group whose unit is chosen next, or None if the choice is one of clocks."""
    is_over: bool


@dataclass(frozen=True)
class LemmaBound:
    """Lower bounds on all design points with a lemma's choices."""

    makespan_ps: int
    latency_ps: tuple[int, ...]
    """[networks]: last end minus arrival."""
    idle_mw: int
    """0 if power and energy are neither objectives nor limited, like the next one."""
    dynamic_fj: int
    is_complete: bool
    """Whether the timeline was simulated to its end, so that its makespan is that of every design
    point."""


@dataclass(frozen=True)
class Cost:
    """The cost of a group on a unit, whatever choices the lemma leaves open."""

    time_ps: int
    demand_kbps: int
    memory_point: int


class Lemmas:
    """Lemmas of one problem.

    Raises:
        ResultError: see :meth:`fitness.check.target.LemmaTarget.require_bounds`.
    """

    def __init__(self, problem: Problem, claim: LemmaTarget) -> None:
        claim.require_bounds(problem)
        self._problem = problem
        self._facts = make_facts(problem, claim, exact=True)
        self._work = make_work(self._facts)
        self._at: Lemma | None = None
        self._points_of_costs: tuple[int, ...] | None = None
        self.group_of: list[int] = self._facts.group_of.tolist()
        """[instances]"""

    def root(self) -> Lemma:
        """Return the whole space."""
        return Lemma((NOT_NAMED,) * self._problem.group_count, tuple(self._problem.allowed_points))

    def stop(self, lemma: Lemma) -> Stop:
        """Simulate a lemma as far as its choices decide it."""
        work = self._simulate(lemma)
        status, instant = work.status[1].tolist(), work.instant[1].tolist()
        return Stop(
            now_ps=work.now[1],
            start_ps=tuple(
                start if what in (RUNNING, ENDED) else None
                for what, start in zip(status, work.start.tolist(), strict=True)
            ),
            end_ps=tuple(
                end if what == ENDED else None for what, end in zip(status, instant, strict=True)
            ),
            open_group=int(work.stop[1]) if work.stop[0] == AT_UNIT else None,
            is_over=work.stop[0] == OVER,
        )

    def closes(self, lemma: Lemma, kind: int) -> bool:
        """Return whether a lemma holds for a reason (:mod:`results.front.proof_tree`)."""
        return bool(_is_closed(self._facts, self._simulate(lemma), 0, kind))

    def bound(self, lemma: Lemma) -> LemmaBound:
        """Return the bounds of a lemma."""
        self.closes(lemma, MEMBERS)
        work = self._work
        makespan, idle, dynamic, _ = work.least.tolist()
        ends = zip(self._problem.networks, work.network_end.tolist(), strict=True)
        return LemmaBound(
            makespan_ps=makespan,
            latency_ps=tuple(end - network.arrival_ps for network, end in ends),
            idle_mw=idle,
            dynamic_fj=dynamic,
            is_complete=work.stop[0] == OVER,
        )

    def children(self, lemma: Lemma) -> list[Lemma]:
        """Return all ways to make a lemma's next choice.

        Raises:
            TreeFault: if there is none.
        """
        work = self._simulate(lemma)
        self._at = None
        if not _open_choice(self._facts, work, 0):
            raise TreeFault("nothing is left to choose")
        children = []
        while _next_child(self._facts, work, 0):
            children.append(Lemma(tuple(work.units.tolist()), tuple(work.points.tolist())))
        return children

    def is_mirror_image(self, lemma: Lemma, unit: int) -> bool:
        """Return whether one interchangeable unit is tried instead of this one: no group is on
        either."""
        return bool(_is_mirror_image(self._facts, self._simulate(lemma), unit))

    def smallest_ps(self, lemma: Lemma, group: int, unit: int) -> int:
        """Return the smallest stand-alone time of a first repeat.

        With ``NOT_NAMED`` it is the smallest over all units that the group may have.
        """
        smallest: int = self._simulate(lemma).smallest_ps[0, unit, group]
        return smallest

    def cost(self, lemma: Lemma, group: int, unit: int) -> Cost | None:
        """Return the cost of a group on a unit, None if a clock of it or the memory's is open."""
        work, facts = self._simulate(lemma), self._facts
        at = work.choice[0, unit]
        if at < 0:
            return None
        time, demand = facts.time_ps[at, group], facts.demand_kbps[at, group]
        return Cost(time, demand, work.memory_point[0])

    def _simulate(self, lemma: Lemma) -> Work:
        """Return the work arrays, in which the lemma's timeline has stopped in row 1."""
        if lemma != self._at:
            _put_choices(self._facts, self._work, lemma.units, lemma.points)
            # Most lemmas have the points of the one before, and filling takes the most time.
            if lemma.points != self._points_of_costs:
                _fill_costs(self._facts, self._work, 0, -1)
                self._points_of_costs = lemma.points
            _begin(self._facts, self._work)
            _resume(self._facts, self._work, 0)
            self._at = lemma
        return self._work
