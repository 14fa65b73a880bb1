"""The parts of the space that a solver is asked about one by one."""

from __future__ import annotations

from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.fitness.check.lemmas import Lemma, Lemmas
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import TreeFault
from paretosoc.results.front.proof_tree import MEMBERS, TIME_LIMIT
from paretosoc.results.problem.problem import Problem

Path = tuple[int, ...]
"""A part of the space: which child of all of it, which child of that, and so on."""


class Hints:
    """The tree of parts that a plain branch and bound would search."""

    def __init__(self, problem: Problem, column: int, optimum_ps: int) -> None:
        rows = load_prices(problem, (column,))
        self.prices = tuple(row[1:] for row in rows)
        claim = LemmaTarget((column,), ((optimum_ps,),), prices=rows)
        self.lemmas = Lemmas(problem, claim)

    def is_closed(self, lemma: Lemma) -> bool:
        """Return whether its bounds should suffice."""
        return any(self.lemmas.closes(lemma, kind) for kind in (MEMBERS, TIME_LIMIT))

    def split(self, lemma: Lemma) -> list[Lemma]:
        """Return the smaller parts, or none if nothing is left to choose or should have a
        solution."""
        if self.is_closed(lemma):
            return []
        try:
            return self.lemmas.children(lemma)
        except TreeFault:
            return []


def upper_parts(hints: Hints, count: int) -> list[Path]:
    """Return the parts of the upper levels of the tree, at least ``count``, in order of the level.

    If the whole tree has fewer, the one part is the whole space.
    """
    ends: list[Path] = []
    opened: list[tuple[Path, Lemma]] = [((), hints.lemmas.root())]
    while opened and len(opened) + len(ends) < count:
        path, lemma = opened.pop(0)
        children = hints.split(lemma)
        if children:
            opened += [((*path, k), child) for k, child in enumerate(children)]
        else:
            ends.append(path)
    return [*ends, *(path for path, _ in opened)] if opened else [()]
