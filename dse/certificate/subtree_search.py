"""Workers that search one subtree of an exact search at a time, here or in another process."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.subtree import Subtree
from paretosoc.fitness.branch_and_bound.branching_rules import BranchingRules
from paretosoc.fitness.branch_and_bound.choices import make_branching_rules
from paretosoc.fitness.branch_and_bound.search_tree import (
    DONE,
    NODE_LIMIT,
    UNIT_CHOICE,
    SearchTree,
    make_search_tree,
)
from paretosoc.fitness.simulator.layout import Plan, make_plan
from paretosoc.fitness.simulator.state import make_chosen, make_state
from paretosoc.results.problem.problem import Problem

BUFFER_LOG = 16_384
BUFFER_MEMBERS = 256
MEMBER_FIELDS = ("objectives", "closing", "member_units", "member_points")
"""Fields of ``SearchTree`` that have a row for every member, and grow."""
BUFFERS = ("log", "part_units", "part_points", "part_bound")
"""Fields of ``SearchTree`` that are empty between calls."""
WORD = 8


@dataclass(frozen=True)
class SearchTask:
    """The common part of all workers of a search."""

    problem: Problem
    columns: tuple[int, ...]
    """Positions of the objectives that count."""
    tolerance_ppm: int
    prices: tuple[tuple[int, ...], ...]

    def worker_factory(self) -> Callable[[], Worker]:
        """Return a function that makes workers, from tables of their own."""
        problem, plan = self.problem, make_plan(self.problem)
        rules = make_branching_rules(
            problem,
            objectives=self.columns,
            prices=self.prices,
            tolerance_ppm=self.tolerance_ppm,
        )
        return lambda: Worker(problem, plan, rules)


@dataclass(frozen=True, eq=False)
class SearchedSlice:
    """The work of a worker elsewhere: its state, and the additions to the subtree."""

    is_done: bool
    state: bytes
    log: bytes
    parts: tuple[Subtree, ...]


def search_slice(task: bytes, state: bytes, nodes: int) -> SearchedSlice:
    """Search at most so many nodes of a subtree, in any process.

    Args:
        task: the pickled :class:`SearchTask`.
        state: of the worker that has the subtree (:meth:`Worker.state`).
    """
    worker = _worker_factory(task)()
    nothing = np.zeros(0, dtype=np.int64)
    worker.subtree = new = Subtree(nothing, nothing, nothing)
    worker.restore(state)
    is_done = worker.advance(nodes)
    return SearchedSlice(is_done, worker.state(), bytes(new.log), tuple(new.parts))


@lru_cache(maxsize=2)
def _worker_factory(task: bytes) -> Callable[[], Worker]:
    made: SearchTask = pickle.loads(task)
    return made.worker_factory()


class Worker:
    """Searches one subtree after the other. Each worker may do so in a thread of its own."""

    def __init__(self, problem: Problem, plan: Plan, rules: BranchingRules) -> None:
        self._plan, self._rules = plan, rules
        self.tree: SearchTree = make_search_tree(
            problem,
            plan,
            rules,
            members=BUFFER_MEMBERS,
            log=BUFFER_LOG,
        )
        self._chosen = make_chosen(plan)
        self._state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
        self.subtree: Subtree | None = None

    def begin(self, subtree: Subtree) -> None:
        """Take a subtree that nobody has searched."""
        from paretosoc.fitness.branch_and_bound.search import begin_subtree

        self.subtree = subtree
        self.tree.root_bound[:] = subtree.bound
        begin_subtree(self._plan, self._rules, self.tree, subtree.units, subtree.points)

    def set_members(self, archive: SearchTree) -> None:
        """Search for design points better than these members from now on."""
        while len(archive.objectives) > len(self.tree.objectives):
            self.tree = with_more_room(self.tree)
        members = slice(0, int(archive.progress.members))
        for name in MEMBER_FIELDS:
            getattr(self.tree, name)[members] = getattr(archive, name)[members]
        self.tree.progress.members = archive.progress.members
        self.tree.progress.members_found = 0

    def advance(self, nodes: int) -> bool:
        """Search at most ``nodes`` more nodes. Return whether the subtree is exhausted."""
        from paretosoc.fitness.branch_and_bound.search import search_nodes

        assert self.subtree is not None
        stop = int(self.tree.progress.nodes) + nodes
        while True:
            # The kernel allocates nothing. When a buffer is full it returns, and is called again
            # after the log was taken out or the room for members was doubled.
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

    @property
    def likely_size(self) -> tuple[bool, int]:
        """Return a sort key, larger for a subtree that probably has more nodes left.

        That is one that was not done when it was searched last, else one with more choices open.
        """
        assert self.subtree is not None
        open_points = sum(int(mask).bit_count() for mask in self.subtree.points)
        return self.subtree.nodes > 0, open_points + int((self.subtree.units < 0).sum())

    def state(self) -> bytes:
        """Return the state that the rest of the search depends on, without the log."""
        rows = len(self.tree.objectives).to_bytes(WORD, "little")
        return zlib.compress(b"".join((rows, *(a.tobytes() for a in self._arrays()))), 1)

    def restore(self, state: bytes) -> None:
        """Continue from the state of another worker of the same search."""
        data = np.frombuffer(zlib.decompress(state), dtype=np.uint8)
        while len(self.tree.objectives) < int.from_bytes(data[:WORD].tobytes(), "little"):
            self.tree = with_more_room(self.tree)
        at = WORD
        for array in self._arrays():
            flat = array.reshape(-1).view(np.ndarray).view(np.uint8)
            flat[:] = data[at : at + len(flat)]
            at += len(flat)

    def take(self, found: SearchedSlice) -> bool:
        """Take over a slice that was searched elsewhere. Return whether the subtree is
        exhausted."""
        assert self.subtree is not None
        self.restore(found.state)
        self.subtree.log += found.log
        self.subtree.parts += found.parts
        self.subtree.nodes = int(self.tree.progress.nodes)
        return found.is_done

    def _arrays(self) -> Iterator[Any]:
        for tables in (self.tree, self._chosen, self._state):
            for entry in fields(tables):
                value = getattr(tables, entry.name)
                if isinstance(value, np.ndarray) and value.size and entry.name not in BUFFERS:
                    yield value

    def hand_over(self) -> list[Subtree]:
        """End the search of the subtree and return all that is open in it, as subtrees."""
        assert self.subtree is not None
        before = len(self.subtree.parts)
        self.tree.progress.ending = 1
        self.advance(0)
        return self.subtree.parts[before:]

    def open_bounds(self) -> list[IntArray]:
        """Return bounds [objectives] of the open nodes of the subtree.

        They are the untried options of every level and the present choice. A level's bounds hold
        for all levels below it, so the largest on the path counts.
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


class Threads:
    """Threads that search, the caller's among them."""

    def __init__(self, count: int) -> None:
        self._others = count - 1
        self._pool = ThreadPoolExecutor(max(self._others, 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def search(self, workers: Sequence[Worker], nodes: int) -> list[bool]:
        """Search each subtree for up to ``nodes`` more nodes. Return whether each is exhausted.

        A thread that is done with one takes the next. The largest begin first, so that threads end
        at about the same time. There is one future per thread, not per subtree, as many subtrees
        are done in less time than a future takes.
        """
        done = [False] * len(workers)
        order = sorted(range(len(workers)), key=lambda k: workers[k].likely_size, reverse=True)
        left = iter(order)

        def drain() -> None:
            for k in left:
                done[k] = workers[k].advance(nodes)

        others = [self._pool.submit(drain) for _ in range(min(self._others, len(workers) - 1))]
        drain()
        for other in others:
            other.result()
        return done


def with_more_room(tree: SearchTree) -> SearchTree:
    """Return the tree with room for twice as many members."""
    wider: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name)] * 2) for name in MEMBER_FIELDS
    }
    return replace(tree, **wider)
