"""The leaves of a plain branch and bound: lemmas that cover all design points."""

from __future__ import annotations

import numpy as np

from paretosoc.fitness.check.lemmas import Lemma, Lemmas
from paretosoc.results.front.certificate import LemmaTable
from paretosoc.results.problem.problem import Problem
from tests.support.proofs.lemmas import NO_CLAIM


def lemma_tree(problem: Problem, optimum_ps: int) -> LemmaTable:
    """Branches on the first group that becomes eligible without a named unit, and on the operating
    points of a group that is about to start, until every leaf is a lemma that holds.

    ``optimum_ps`` must be the smallest makespan of the feasible design points; only allowed units,
    allowed operating points and deadlines count as constraints.
    """
    checker = Lemmas(problem, NO_CLAIM)
    leaves: list[Lemma] = []
    opened = [checker.root()]
    while opened:
        lemma = opened.pop()
        bound = checker.bound(lemma)
        late = any(
            network.deadline_ps is not None and latency > network.deadline_ps
            for network, latency in zip(problem.networks, bound.latency_ps, strict=True)
        )
        if bound.makespan_ps >= optimum_ps or late:
            leaves.append(lemma)
        else:
            opened += checker.children(lemma)
    return LemmaTable(
        np.array([lemma.units for lemma in leaves], dtype=np.int64),
        np.array([lemma.points for lemma in leaves], dtype=np.uint64),
    )
