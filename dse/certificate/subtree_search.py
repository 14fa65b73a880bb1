"""Open subtrees of an exact search, and what searches one of them at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from common.arrays import IntArray
from fitness.branch_and_bound.branching_rules import BranchingRules
from fitness.branch_and_bound.search_tree import (
    DONE,
    NODE_LIMIT,
    UNIT_CHOICE,
    SearchTree,
    make_search_tree,
)
from fitness.simulator.layout import Plan
from fitness.simulator.state import make_chosen, make_state
from fitness.tree_checker.check import OpenPart
from results.front.node_kinds import PART
from results.front.proof_tree import ProofTree
from results.io.canonical_json import INT64_MAX
from results.problem.problem import Problem

BUFFER_LOG = 16_384
BUFFER_MEMBERS = 256
MEMBER_FIELDS = ("objectives", "closing", "member_units", "member_points")
"""Fields of ``SearchTree`` that have a row for every member, and grow."""


@dataclass(eq=False)
class Subtree:
    """A part of the tree: the choices above it, and what is known of it."""

    units: IntArray
    """[groups]: units, or -1."""
    points: IntArray
    """[domains]: masks of operating points."""
    bound: IntArray
    """[objectives]: lower bounds of what is in it."""
    log: bytearray = field(default_factory=bytearray)
    """Kinds of nodes, in preorder."""
    parts: list[Subtree] = field(default_factory=list)
    """What was handed over, in the order of the log."""
    nodes: int = 0
    """Nodes that were bounded."""


def whole_space(problem: Problem, objectives: int) -> Subtree:
    """The root: nothing is chosen."""
    masks = [sum(1 << int(k) for k in np.flatnonzero(d.allowed)) for d in problem.domains]
    return Subtree(
        np.full(problem.group_count, -1, dtype=np.int64),
        np.array(masks, dtype=np.int64),
        np.full(objectives, -INT64_MAX, dtype=np.int64),
    )


def proof_tree(root: Subtree) -> ProofTree:
    """The tree below the root, in the order of :class:`results.front.proof_tree.ProofTree`."""
    parts, queue = [], deque([root])
    while queue:
        subtree = queue.popleft()
        parts.append(np.frombuffer(bytes(subtree.log), dtype=np.uint8))
        queue.extend(subtree.parts)
    return ProofTree(tuple(parts))


def tree_of_subtrees(tree: ProofTree, open_parts: Mapping[int, OpenPart]) -> Subtree:
    """The tree of an earlier search, to go on with what is open in it."""
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


class Worker:
    """Searches one subtree after the other; each worker may do so in a thread of its own."""

    def __init__(self, problem: Problem, plan: Plan, rules: BranchingRules) -> None:
        self._plan, self._rules = plan, rules
        self.tree: SearchTree = make_search_tree(
            problem,
            plan,
            objectives=len(rules.objective),
            rates=len(rules.rate_mw),
            members=BUFFER_MEMBERS,
            log=BUFFER_LOG,
        )
        self._chosen = make_chosen(plan)
        self._state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
        self.subtree: Subtree | None = None

    def begin(self, subtree: Subtree) -> None:
        """Takes a subtree that nobody has searched."""
        from fitness.branch_and_bound.search import begin_subtree

        self.subtree = subtree
        self.tree.root_bound[:] = subtree.bound
        begin_subtree(self._plan, self._rules, self.tree, subtree.units, subtree.points)

    def set_members(self, archive: SearchTree) -> None:
        """Searches for what is better than these members from now on."""
        while len(archive.objectives) > len(self.tree.objectives):
            self.tree = with_more_room(self.tree)
        members = slice(0, int(archive.progress.members))
        for name in MEMBER_FIELDS:
            getattr(self.tree, name)[members] = getattr(archive, name)[members]
        self.tree.progress.members = archive.progress.members
        self.tree.progress.members_found = 0

    def advance(self, nodes: int) -> bool:
        """Searches at most so many more nodes; whether nothing of the subtree is left."""
        from fitness.branch_and_bound.search import search_nodes

        assert self.subtree is not None
        stop = int(self.tree.progress.nodes) + nodes
        while True:
            # The kernel allocates nothing: where a buffer is full it returns, and is called again
            # with the log taken out, or twice the room for members.
            left = stop - int(self.tree.progress.nodes)
            ended = search_nodes(
                self._plan, self._rules, self._chosen, self._state, self.tree, left
            )
            self._empty_buffers(self.subtree)
            if self.tree.progress.members == len(self.tree.objectives):
                self.tree = with_more_room(self.tree)
            if ended in (DONE, NODE_LIMIT):
                self.subtree.nodes = int(self.tree.progress.nodes)
                return bool(ended == DONE)

    def hand_over(self) -> list[Subtree]:
        """Ends the search of the subtree: all that is open in it, as subtrees."""
        assert self.subtree is not None
        before = len(self.subtree.parts)
        self.tree.progress.ending = 1
        self.advance(0)
        return self.subtree.parts[before:]

    def open_bounds(self) -> list[IntArray]:
        """Bounds [objectives] of what is open in the subtree: the untried options of every level
        and the present choice.

        A level's bounds hold for all levels below it, so the largest on the path counts.
        """
        tree, vectors = self.tree, []
        highest = tree.root_bound.copy()
        for level in range(int(tree.progress.depth)):
            highest = np.maximum(highest, tree.bound[level])
            options = self._plan.units if tree.kind[level] == UNIT_CHOICE else 2
            if tree.option[level] < options:
                vectors.append(highest)
        if not tree.progress.backtracking:
            vectors.append(highest)
        return vectors

    def _empty_buffers(self, subtree: Subtree) -> None:
        tree = self.tree
        subtree.log += tree.log[: int(tree.progress.logged)].astype(np.uint8).tobytes()
        tree.progress.logged = 0
        for at in range(int(tree.progress.parts)):
            rows = (tree.part_units, tree.part_points, tree.part_bound)
            subtree.parts.append(Subtree(*(row[at].copy() for row in rows)))
        tree.progress.parts = 0


def with_more_room(tree: SearchTree) -> SearchTree:
    """The same with room for twice as many members."""
    wider: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name)] * 2) for name in MEMBER_FIELDS
    }
    return replace(tree, **wider)
