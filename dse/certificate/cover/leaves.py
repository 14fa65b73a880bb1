"""The leaves of a tree as lemmas, with their mirror images."""

from __future__ import annotations

from itertools import chain, permutations, product
from math import factorial, prod

import numpy as np

from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import leaves_of
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.front.proof_tree import ProofTree
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.problem import Problem

MAX_LEMMAS = 100_000
"""Most leaves, mirror images included, that are written out for a solver."""


def leaf_table(
    problem: Problem, tree: ProofTree, claim: LemmaTarget, *, plain: bool = True
) -> LemmaTable:
    """Return the choices of all closed nodes, in the order of the tree, with their mirror images.

    A lemma stays true after interchangeable units have changed places. ``plain``: see
    :func:`fitness.check.tree.check_tree`.

    Raises:
        ResultError: see :func:`fitness.check.tree.check_tree`.
        TreeFault: if the tree is none of the problem.
    """
    swaps = _permutations(problem)
    rows = dict.fromkeys(
        (tuple(u if u == NOT_NAMED else to[u] for u in units), masks)
        for units, masks in leaves_of(problem, tree, claim, plain=plain)
        for to in swaps
    )
    return LemmaTable(
        np.array([row for row, _ in rows], dtype=np.int64).reshape(len(rows), problem.group_count),
        np.array([row for _, row in rows], dtype=np.uint64).reshape(
            len(rows), len(problem.domains)
        ),
    )


def most_lemmas(problem: Problem, tree: ProofTree) -> int:
    """Return an upper bound of the rows of :func:`leaf_table`: every mirror image of every leaf."""
    return tree.leaves * prod(factorial(len(alike)) for alike in interchangeable_sets(problem))


def interchangeable_sets(problem: Problem) -> list[list[int]]:
    """Return all units, by their first entries, those that are interchangeable in one list."""
    classes: dict[int, list[int]] = {}
    for unit, alike in enumerate(interchangeable_before(problem)):
        if problem.unit_of[unit] != unit:
            continue
        first = next((c for c, members in classes.items() if alike in members), unit)
        classes.setdefault(first, []).append(unit)
    return list(classes.values())


def _permutations(problem: Problem) -> list[tuple[int, ...]]:
    """Return all ways in which interchangeable units change places, by target, the identity
    first."""
    classes = interchangeable_sets(problem)
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
