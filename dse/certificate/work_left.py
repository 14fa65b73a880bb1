"""How long an exact search that was ended would likely take until it is complete."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.certificate.branch_and_bound import ExactResult
from paretosoc.dse.certificate.cover.leaves import interchangeable_sets
from paretosoc.dse.certificate.subtree import Subtree, open_subtrees, whole_space
from paretosoc.results.problem.limits import TRANSITIONS, limits_by_owner
from paretosoc.results.problem.problem import Problem

LEAST_DONE, MOST_DONE = 0.03, 0.9
"""Nothing is said before and after these shares of the space are done: parts differ too much."""


def likely_seconds(problem: Problem, result: ExactResult) -> float | None:
    """Return the seconds after which a search that was ended would likely be complete, or None if
    too little is done to tell. ``result``: of the search, and all that it was resumed from."""
    nodes = likely_nodes(problem, result.root, result.nodes)
    if nodes is None or not result.nodes:
        return None
    return round((nodes - result.nodes) * result.seconds / result.nodes, 3)


def likely_nodes(problem: Problem, root: Subtree, nodes: int) -> float | None:
    """Return the likely number of nodes of the whole tree, of which ``nodes`` were searched: as
    many for every design point that is left as for those that are done. None if
    too little is done to tell, or too little left."""
    left = design_points(problem, open_subtrees(root)).sum()
    whole = design_points(problem, [whole_space(problem, len(root.bound))])[0]
    done = 1.0 - float(left / whole)
    return nodes / done if LEAST_DONE <= done <= MOST_DONE else None


def design_points(problem: Problem, subtrees: Sequence[Subtree]) -> FloatArray:
    """Return the number of design points in each subtree that keep the limits of transitions along
    each network's groups, without mirror images, in which interchangeable units change places."""
    units = np.stack([subtree.units for subtree in subtrees])
    masks = np.stack([subtree.points for subtree in subtrees])
    points: FloatArray = np.bitwise_count(masks).astype(float).prod(axis=1)
    for network, most in zip(problem.networks, limits_by_owner(problem, TRANSITIONS), strict=True):
        first = network.first_group
        groups = slice(first, first + len(network.group_names))
        limit = None if most < 0 else int(most)
        points *= _mappings(problem.allowed[groups], units[:, groups], limit)
    physical = np.array([*problem.unit_of, -1])[units]
    for alike in interchangeable_sets(problem):
        unused = sum((physical != u).all(axis=1).astype(int) for u in alike)
        points /= np.array([factorial(k) for k in range(len(alike) + 1)])[unused]
    return points


def _mappings(allowed: BoolArray, units: IntArray, limit: int | None) -> FloatArray:
    """Return the number of mappings of a network, per row of units, of which -1 is open."""
    changes = len(allowed) - 1 if limit is None else min(limit, len(allowed) - 1)
    names = np.arange(allowed.shape[1])
    # [rows, changes so far, unit of the last group]
    count = np.zeros((len(units), changes + 1, len(names)))
    for g, may in enumerate(allowed):
        fits = may & ((units[:, g, None] < 0) | (units[:, g, None] == names))
        if g == 0:
            count[:, 0] = fits
            continue
        moved = np.zeros_like(count)
        moved[:, 1:] = count[:, :-1].sum(axis=2, keepdims=True) - count[:, :-1]
        count = (count + moved) * fits[:, None]
    total: FloatArray = count.sum(axis=(1, 2))
    return total
