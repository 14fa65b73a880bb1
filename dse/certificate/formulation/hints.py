"""How the space is split, and what is asked in which order: hints, on which no proof rests."""

from __future__ import annotations

from fitness.lemma_checker.check import LemmaChecker, is_closed
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.simulate import State
from fitness.lemma_checker.tree import LemmaNode, LemmaWalk, TreeFault
from results.front.node_kinds import MEMBERS, TIME_LIMIT
from results.problem.problem import Problem

Path = tuple[int, ...]
"""A part of the space: which child of all of it, which child of that, and so on."""


class Hints:
    """The tree of parts that a plain branch and bound would search."""

    def __init__(self, problem: Problem, column: int, optimum_ps: int) -> None:
        self._problem = problem
        self._claim = LemmaTarget((column,), ((optimum_ps,),))
        self.checker = LemmaChecker(problem, self._claim)
        self.walk = LemmaWalk(problem, self.checker)

    def state(self, node: LemmaNode) -> State:
        """Where the node's timeline stops."""
        costs = self.checker.costs.over(node.points)
        return self.checker.simulation.resume(node.state, node.units, costs)

    def is_closed(self, node: LemmaNode, state: State) -> bool:
        """Whether its bounds should suffice."""
        costs = self.checker.costs.over(node.points)
        bound = self.checker.bound(state, node.units, node.points, costs)
        kinds = (MEMBERS, TIME_LIMIT)
        return any(is_closed(self._problem, bound, self._claim, kind) for kind in kinds)

    def split(self, node: LemmaNode, state: State) -> list[LemmaNode]:
        """The smaller parts; none where nothing is left to choose or should have a solution."""
        if self.is_closed(node, state):
            return []
        try:
            return list(self.walk.children(node))
        except TreeFault:
            return []


def upper_parts(hints: Hints, count: int) -> list[Path]:
    """The parts of the upper levels of the tree, at least ``count`` where it has so many; in order
    of the level. All of the tree where it has fewer: then one part is the whole space."""
    ends: list[Path] = []
    opened: list[tuple[Path, LemmaNode]] = [((), hints.walk.root())]
    while opened and len(opened) + len(ends) < count:
        path, node = opened.pop(0)
        children = hints.split(node, hints.state(node))
        if children:
            opened += [((*path, k), child) for k, child in enumerate(children)]
        else:
            ends.append(path)
    return [*ends, *(path for path, _ in opened)] if opened else [()]
