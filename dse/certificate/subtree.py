"""Open and searched parts of an exact search's tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.check.tree import OpenPart
from paretosoc.results.front.proof_tree import PART, ProofTree
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.problem import Problem


@dataclass(eq=False)
class Subtree:
    """A part of the tree: the choices above it, its bounds and its log."""

    units: IntArray
    """[groups]: units, or -1."""
    points: IntArray
    """[domains]: masks of operating points."""
    bound: IntArray
    """[objectives]: lower bounds of all design points in it."""
    log: bytearray = field(default_factory=bytearray)
    """Kinds of nodes, in preorder."""
    parts: list[Subtree] = field(default_factory=list)
    """Subtrees that were handed over, in the order of the log."""
    nodes: int = 0
    """Nodes that were bounded."""


def whole_space(problem: Problem, objectives: int) -> Subtree:
    """Return the root, in which nothing is chosen."""
    return Subtree(
        np.full(problem.group_count, -1, dtype=np.int64),
        np.array(problem.allowed_points, dtype=np.int64),
        np.full(objectives, -INT64_MAX, dtype=np.int64),
    )


def proof_tree(root: Subtree) -> ProofTree:
    """Return the tree below the root, in the order of
    :class:`results.front.proof_tree.ProofTree`.
    """
    parts, queue = [], deque([root])
    while queue:
        subtree = queue.popleft()
        parts.append(np.frombuffer(bytes(subtree.log), dtype=np.uint8))
        queue.extend(subtree.parts)
    return ProofTree(tuple(parts))


def tree_of_subtrees(tree: ProofTree, open_parts: Mapping[int, OpenPart]) -> Subtree:
    """Return the tree of an earlier search, to continue with its open parts."""
    subtrees = []
    for index, nodes in enumerate(tree.parts):
        at = open_parts.get(index)
        if at is None:
            # Its choices are not needed any more.
            nothing = np.zeros(0, dtype=np.int64)
            log = bytearray(nodes.tobytes())
            subtree = Subtree(nothing, nothing, nothing, log, nodes=len(log) - log.count(PART))
        else:
            subtree = Subtree(at.units, at.points, at.bound)
        subtrees.append(subtree)
    rest = iter(subtrees[1:])
    for subtree in subtrees:
        subtree.parts = [next(rest) for _ in range(subtree.log.count(PART))]
    return subtrees[0]


def open_subtrees(root: Subtree) -> list[Subtree]:
    """Return the subtrees without a log, in the order of the tree."""
    found, stack = [], [root]
    while stack:
        subtree = stack.pop()
        if not subtree.log:
            found.append(subtree)
        stack.extend(reversed(subtree.parts))
    return found


def with_ended(root: Subtree, ended: Mapping[Subtree, Subtree]) -> Subtree:
    """Return a copy of the tree with some subtrees replaced by others, which may have more
    parts."""
    order, stack = [], [root]
    while stack:
        order.append(stack.pop())
        stack.extend(order[-1].parts)
    made: dict[Subtree, Subtree] = {}
    for subtree in reversed(order):
        instead = ended.get(subtree, subtree)
        parts = [made[part] for part in subtree.parts] + instead.parts[len(subtree.parts) :]
        made[subtree] = replace(instead, log=instead.log.copy(), parts=parts)
    return made[root]


def nodes_of(root: Subtree) -> int:
    nodes, stack = 0, [root]
    while stack:
        subtree = stack.pop()
        nodes += subtree.nodes
        stack.extend(subtree.parts)
    return nodes
