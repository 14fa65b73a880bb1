"""Does a tree prove what is claimed? The plain check, in Python integers.

Which choice a node is split by, and which children it has: docs/concepts/certificate.md (The tree
is the proof). A closed node must be a lemma that holds (:mod:`fitness.lemma_checker.check`).

Which choice comes next matters for nothing but the meaning of the file: a tree of other choices
would prove the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations, product
from math import factorial, prod

import numpy as np

from fitness.lemma_checker.check import LemmaChecker, is_closed, least_loss_ppm
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.costs import Points
from fitness.lemma_checker.memory import memory_is_kept
from fitness.lemma_checker.simulate import State
from results.front.certificate import NOT_NAMED, LemmaTable
from results.front.node_kinds import MEMBERS, NODE_KINDS, PART, SPLIT
from results.front.proof_tree import Nodes, ProofTree
from results.problem.interchangeable import interchangeable_before
from results.problem.problem import Problem

MAX_LEMMAS = 100_000
"""With mirror images of leaves; more are not written out for a solver."""


@dataclass(frozen=True)
class LemmaNode:
    """A node: the choices above it, and where its parent's timeline stops."""

    units: tuple[int, ...]
    """[groups]: a unit, or ``NOT_NAMED``."""
    points: tuple[Points, ...]
    """[domains]"""
    state: State


class TreeFault(Exception):
    """A tree that is none of the problem."""


def check_tree(problem: Problem, tree: ProofTree, claim: LemmaTarget) -> str | None:
    """Why a tree does not prove the claim; None where it does.

    What is open must be closed by members as well: with the tolerance of the claim it may be.

    Raises:
        ResultError: see :class:`fitness.lemma_checker.check.LemmaChecker`.
    """
    checker = LemmaChecker(problem, claim)
    walk = LemmaWalk(problem, checker)
    try:
        for where, kind, node in walk.ends(tree):
            costs = checker.costs.over(node.points)
            state = checker.simulation.resume(node.state, node.units, costs)
            bound = checker.bound(state, node.units, node.points, costs)
            if not is_closed(problem, bound, claim, MEMBERS if kind == PART else kind):
                how = "is open" if kind == PART else f"is not closed by {NODE_KINDS[kind]}"
                return f"{where} {how}"
    except TreeFault as fault:
        return str(fault)
    return None


def leaf_table(problem: Problem, tree: ProofTree, claim: LemmaTarget) -> LemmaTable:
    """The choices of all that is closed, in the order of the tree, with their mirror images:
    what is true of a lemma is so after interchangeable units have changed places.

    Raises:
        ResultError: see :class:`fitness.lemma_checker.check.LemmaChecker`.
        TreeFault: where the tree is none of the problem.
    """
    nodes = [
        node
        for _, kind, node in LemmaWalk(problem, LemmaChecker(problem, claim)).ends(tree)
        if kind != PART
    ]
    rows: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    swaps = _permutations(problem)
    for node in nodes:
        masks = tuple(sum(1 << k for k in chosen) for chosen in node.points)
        for to in swaps:
            rows[tuple(u if u == NOT_NAMED else to[u] for u in node.units), masks] = None
    return LemmaTable(
        np.array([row for row, _ in rows], dtype=np.int64).reshape(len(rows), problem.group_count),
        np.array([row for _, row in rows], dtype=np.uint64).reshape(
            len(rows), len(problem.domains)
        ),
    )


def most_lemmas(problem: Problem, tree: ProofTree) -> int:
    """What :func:`leaf_table` has at most: of every leaf all mirror images."""
    return tree.leaves * prod(factorial(len(alike)) for alike in _interchangeable(problem))


def _interchangeable(problem: Problem) -> list[list[int]]:
    """All units, by their first entries, those that are interchangeable together."""
    classes: dict[int, list[int]] = {}
    for unit, alike in enumerate(interchangeable_before(problem)):
        if problem.unit_of[unit] != unit:
            continue
        first = next((c for c, members in classes.items() if alike in members), unit)
        classes.setdefault(first, []).append(unit)
    return list(classes.values())


def _permutations(problem: Problem) -> list[tuple[int, ...]]:
    """All ways in which interchangeable units change places: where each unit goes; the first is
    that they do not."""
    classes = _interchangeable(problem)
    entries: dict[int, list[int]] = {}
    for unit, first in enumerate(problem.unit_of):
        entries.setdefault(first, []).append(unit)
    ways = []
    for choice in product(*map(permutations, classes)):
        to = dict(zip(chain(*classes), chain(*choice), strict=True))
        # With a unit all its number formats go, in their order.
        ways.append(
            tuple(
                entries[to[first]][entries[first].index(unit)]
                for unit, first in enumerate(problem.unit_of)
            )
        )
    return ways


class LemmaWalk:
    """Walks through trees of one problem."""

    def __init__(self, problem: Problem, checker: LemmaChecker) -> None:
        self._problem = problem
        self._checker = checker
        self._alike = interchangeable_before(problem)
        self._network = [n for n, network in enumerate(problem.networks) for _ in network.groups]
        self._edges: list[list[tuple[int, int]]] = [[] for _ in problem.networks]
        for source, target in problem.edges:
            self._edges[self._network[source]].append((source, target))

    def root(self) -> LemmaNode:
        """The whole space."""
        return LemmaNode(
            (NOT_NAMED,) * self._problem.group_count,
            tuple(tuple(np.flatnonzero(d.allowed).tolist()) for d in self._problem.domains),
            self._checker.simulation.begin(),
        )

    def ends(self, tree: ProofTree) -> Iterator[tuple[str, int, LemmaNode]]:
        """(place, kind, node) of all that is closed, and with the kind ``PART`` of all that is
        open.

        Raises:
            TreeFault: where nodes are missing, left, or split without a choice.
        """
        waiting = deque([self.root()])
        for index, nodes in enumerate(tree.parts):
            if not waiting:
                raise TreeFault(f"part {index}: no node leads to it")
            first = waiting.popleft()
            if len(nodes):
                yield from self._part(index, nodes, first, waiting)
            else:
                yield f"part {index}:", PART, first
        if waiting:
            raise TreeFault(f"part {len(tree.parts)} is missing")

    def _part(
        self, index: int, nodes: Nodes, first: LemmaNode, waiting: deque[LemmaNode]
    ) -> Iterator[tuple[str, int, LemmaNode]]:
        path = [iter([first])]
        for at, kind in enumerate(nodes.tolist()):
            where = f"part {index}: node {at}"
            node = _next_of(path)
            if node is None:
                raise TreeFault(f"{where} is one too many")
            if kind == SPLIT:
                path.append(self.children(node, where))
            elif kind == PART:
                waiting.append(node)
            else:
                yield where, kind, node
        if _next_of(path) is not None:
            raise TreeFault(f"part {index}: ends before its tree does")

    def children(self, node: LemmaNode, where: str = "node") -> Iterator[LemmaNode]:
        """All ways to make the node's next choice.

        Raises:
            TreeFault: where there is none.
        """
        units, points = node.units, node.points
        simulation, groups = self._checker.simulation, self._checker.instances
        costs = self._checker.costs.over(points)
        state = simulation.resume(node.state, units, costs)
        open_groups = [groups[i].group for i in state.fresh if units[groups[i].group] == NOT_NAMED]
        if open_groups:
            for unit in np.flatnonzero(self._problem.allowed[open_groups[0]]).tolist():
                if self.is_mirror_image(units, unit):
                    continue
                placed = self._placed(units, open_groups[0], unit)
                if placed is not None:
                    yield LemmaNode(placed, points, state)
            return
        starts = [
            unit
            for unit, i in simulation.next_starts(state)
            if not costs.certain[units[groups[i].group]][groups[i].group]
        ]
        if starts:
            clocks = [d for d in self._problem.units[starts[0]].clocks if len(points[d]) > 1]
            memory = self._problem.memory_domain
            assert clocks or memory is not None, "a clock of the unit or the memory's is open"
            domain, faster_first = (*clocks, memory)[0], True
        else:
            domain, faster_first = self._open_power_domain(units, points), False
        if domain is None:
            raise TreeFault(f"{where} is split, but nothing is left to choose")
        lower = len(points[domain]) // 2
        halves = [points[domain][lower:], points[domain][:lower]]
        for half in halves if faster_first else reversed(halves):
            yield LemmaNode(units, (*points[:domain], half, *points[domain + 1 :]), state)

    def is_mirror_image(self, units: Sequence[int], unit: int) -> bool:
        """Whether one interchangeable unit is tried instead of this one: no group is on either."""
        alike, unit_of = self._alike[unit], self._problem.unit_of
        used = {unit_of[u] for u in units if u != NOT_NAMED}
        return alike >= 0 and not {unit_of[unit], unit_of[alike]} & used

    def _placed(self, units: Sequence[int], group: int, unit: int) -> tuple[int, ...] | None:
        """The units with one group more; None where a limit is broken."""
        placed = list(units)
        placed[group] = unit
        n = self._network[group]
        network = self._problem.networks[n]
        unit_of = self._problem.unit_of
        changes = sum(
            NOT_NAMED not in (placed[a], placed[b]) and unit_of[placed[a]] != unit_of[placed[b]]
            for a, b in self._edges[n]
        )
        most = network.max_transitions
        if most is not None and changes > most:
            return None
        chain = list(zip(network.groups, network.groups[1:], strict=False))
        has_one_format = unit_of.count(unit_of[unit]) == 1
        if changes == most and self._edges[n] == chain and has_one_format:
            for later in network.groups[group - network.first_group + 1 :]:
                if placed[later] == NOT_NAMED:
                    if not self._problem.allowed[later, unit]:
                        return None
                    placed[later] = unit
        most_ppm = network.max_loss_ppm
        if most_ppm is not None and self._least_loss(placed, n) > most_ppm:
            return None
        if not memory_is_kept(self._problem, placed):
            return None
        begun = self._segments(placed)
        for u, one in enumerate(self._problem.units):
            if one.max_segments is not None and begun.count(u) > one.max_segments:
                return None
        return tuple(placed)

    def _segments(self, units: Sequence[int]) -> list[int]:
        """The unit of each segment that has begun; of those after an open group none."""
        begun = []
        for network in self._problem.networks:
            before = None
            for on in (units[g] for g in network.groups):
                if on != NOT_NAMED and before != NOT_NAMED and on != before:
                    begun.append(self._problem.unit_of[on])
                before = on
        return begun

    def _least_loss(self, units: Sequence[int], n: int) -> int:
        """Accuracy that the groups of network n cost at least, in ppm."""
        return sum(
            least_loss_ppm(self._problem, g, units[g]) for g in self._problem.networks[n].groups
        )

    def _open_power_domain(self, units: Sequence[int], points: tuple[Points, ...]) -> int | None:
        if not self._checker.needs_power:
            return None
        needed = {clock for unit in units for clock in self._problem.units[unit].clocks}
        for d, domain in enumerate(self._problem.domains):
            if len(points[d]) > 1 and (d in needed or not domain.may_be_off):
                return d
        return None


def _next_of(path: list[Iterator[LemmaNode]]) -> LemmaNode | None:
    """The next node in preorder; None where all have been."""
    while path:
        node = next(path[-1], None)
        if node is not None:
            return node
        path.pop()
    return None
