"""The exact front, and the tree that proves it complete: branch and bound on all cores."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.preconditions import check_provable
from paretosoc.dse.certificate.subtree import (
    Subtree,
    nodes_of,
    open_subtrees,
    proof_tree,
    whole_space,
    with_ended,
)
from paretosoc.dse.certificate.subtree_search import (
    SearchedSlice,
    SearchTask,
    Threads,
    Worker,
    with_more_room,
)
from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import epsilon_ppm
from paretosoc.results.front.proof_tree import ProofTree
from paretosoc.results.problem.problem import Problem

SLICE_NODES = 5_000
"""Nodes of a subtree in one round."""
MAX_NODES = 4_000_000_000
"""A search ends here: each node of its tree takes a byte of memory."""
SHARED_NODES = 20_000
"""If few subtrees are left, one with more nodes than this is shared out."""
SUBTREES = 32
"""Subtrees searched in one round, and so the most cores that are used. The work of a round does not
depend on the number of cores."""
FIRST_ROUND, ROUND_SECONDS = 640, 0.5
"""Nodes of the first round before a deadline, and seconds that later rounds may take."""
CHECKPOINT_SECONDS = 30.0
"""From checkpoint to checkpoint at least."""

Cluster = Callable[[bytes, Sequence[bytes], int], Sequence[SearchedSlice]]
"""Runs :func:`dse.certificate.subtree_search.search_slice` on other machines: from a search's
pickled task, the states of workers and a number of nodes to one searched slice per worker."""


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search. ``epsilon_ppm``: see :mod:`results.front.epsilon`. None: no bound
    yet."""

    nodes: int
    members: int
    epsilon_ppm: int | None
    seconds: float
    objectives: int
    """Number of objectives that count. With one, the search is for the member best in it."""
    rows: IntArray
    """[members, groups + domains]; -1 if only the objectives are known."""


@dataclass(frozen=True, eq=False)
class Incumbents:
    """Feasible design points: objectives [members, objectives] and rows [members, groups +
    domains].

    The rows are None if only the objectives are known.
    """

    objectives: IntArray
    rows: IntArray | None = None


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The front of the requested objectives as far as it is known, and the tree of the search.

    ``complete``: for every feasible design point some member is at least as good or, with a
    tolerance, worse by no more than that. ``open_bounds``: every design point that the search has
    not covered is at or above one of them in all objectives.
    """

    complete: bool
    objectives: IntArray
    """[members, objectives]"""
    rows: IntArray
    """[members, groups + domains]; -1 if only the objectives are known."""
    found: int
    """Design points that have joined the members, whether they stayed or not."""
    open_bounds: IntArray
    """[open, objectives]"""
    epsilon_ppm: int | None
    prices: tuple[tuple[int, ...], ...]
    """Multipliers of the Lagrangian bounds that the proof rests on."""
    root: Subtree
    """The tree of the search, for :func:`find_front` to resume from."""
    nodes: int
    seconds: float
    """Of this search, without an earlier one that it was resumed from. ``nodes`` has those of
    both."""

    @property
    def tree(self) -> ProofTree:
        """Return the proof: closed nodes with their reasons."""
        return proof_tree(self.root)


def find_front(
    problem: Problem,
    *,
    objectives: Sequence[int] | None = None,
    known: Incumbents | None = None,
    tolerance_ppm: int = 0,
    max_nodes: int | None = None,
    until: Deadline = NEVER,
    resume_from: Subtree | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    on_checkpoint: Callable[[ExactResult], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> ExactResult:
    """Find the Pareto front over all units, operating points and rules of the problem.

    The timeline is not monotone, so a node is closed only by a bound that holds for every
    completion: see :mod:`fitness.branch_and_bound.bounds`.

    Args:
        objectives: positions of the problem's objectives that count. None: all. With one of them
            the front is its best design point.
        known: incumbents. Only design points that these do not dominate are searched for.
        tolerance_ppm: design points better than a member by no more than this many millionths in
            any objective need not be found (see :mod:`results.front.epsilon`).
        max_nodes: ends the search there, on any machine alike.
        until: ends the search earlier.
        resume_from: the tree of an earlier search of the same problem that was ended. This search
            is added to it. ``known`` must have the members of the earlier one.
        jobs: threads; one per core by default. The result does not depend on it.
        cluster: searches instead of threads. The result does not depend on it either.
        on_progress: called after every round.
        on_checkpoint: called now and then with the result so far, to resume from.
        interrupted: polled as often. True ends the search.

    Raises:
        ResultError: if no bound is known for an objective or a limit, see
            :func:`dse.certificate.preconditions.check_provable`.
    """
    columns = tuple(range(len(problem.objectives))) if objectives is None else tuple(objectives)
    check_provable(problem, columns)
    search = _Search(problem, columns, tolerance_ppm, resume_from)
    if known is not None:
        search.add_incumbents(known)
    first_node, written, pace = search.nodes, time.monotonic(), _Pace()
    with Threads(jobs or os.cpu_count() or 1) as threads:
        while True:
            left = None if max_nodes is None else first_node + max_nodes - search.nodes
            if until.is_limited:
                left = min(MAX_NODES if left is None else left, pace.nodes(until.left))
            before, started = search.nodes, until.clock()
            done = search.advance(threads if cluster is None else cluster, left)
            pace.saw(search.nodes - before, until.clock() - started)
            if on_progress is not None:
                on_progress(search.progress())
            late = until.is_past
            late |= max_nodes is not None and search.nodes - first_node >= max_nodes
            late |= search.nodes >= MAX_NODES
            if done or late or interrupted():
                return search.result()
            if on_checkpoint is not None and time.monotonic() - written >= CHECKPOINT_SECONDS:
                on_checkpoint(search.checkpoint())
                written = time.monotonic()


class _Pace:
    """The number of nodes of a round, so that a deadline is kept."""

    def __init__(self) -> None:
        self._per_second = FIRST_ROUND / ROUND_SECONDS

    def nodes(self, seconds: float) -> int:
        """Return the nodes of the next round, if so many seconds are left."""
        return max(1, int(self._per_second * min(ROUND_SECONDS, seconds)))

    def saw(self, nodes: int, seconds: float) -> None:
        """Record the nodes and the seconds of a round."""
        if nodes:
            # Assume at most twice the speed of before, as the next nodes may be slower.
            self._per_second = min(nodes / max(seconds, 1e-6), 2.0 * self._per_second)


class _Search:
    """A search: open subtrees, in the order of the tree, and the members so far.

    In a round the first subtrees are searched for some nodes each, all from the members that were
    known before it. Their findings are put together in their order, so the result does not depend
    on the number of threads.
    """

    def __init__(
        self,
        problem: Problem,
        columns: tuple[int, ...],
        tolerance_ppm: int,
        earlier: Subtree | None,
    ) -> None:
        self._began = time.monotonic()
        self._problem = problem
        self._columns = columns
        self.prices = load_prices(problem, columns)
        self._task = SearchTask(problem, columns, tolerance_ppm, self.prices)
        self._pickled = b""
        self._make_worker = self._task.worker_factory()
        self._archive = self._make_worker()
        self._tolerance_ppm = tolerance_ppm
        self._root = whole_space(problem, len(columns)) if earlier is None else earlier
        self._open = open_subtrees(self._root)
        self._busy: dict[Subtree, Worker] = {}
        self._idle: list[Worker] = []
        self._found = 0
        self.nodes = nodes_of(self._root)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def add_incumbents(self, known: Incumbents) -> int:
        """Add known solutions to the members. Return how many none dominates."""
        from paretosoc.fitness.branch_and_bound.archive import insert_member, is_fathomed

        groups = self._problem.group_count
        width = groups + len(self._problem.domains)
        rows = np.full((len(known.objectives), width), -1) if known.rows is None else known.rows
        added = 0
        # Kernels are compiled for arrays without gaps.
        for vector, row in zip(np.ascontiguousarray(known.objectives), rows, strict=True):
            tree = self._archive.tree
            if is_fathomed(tree, tree.objectives, vector):
                continue
            # The kernel inserts the present choice.
            tree.units[:] = row[:groups]
            tree.points[:] = [1 << max(int(k), 0) for k in row[groups:]]
            insert_member(tree, vector, self._tolerance_ppm)
            added += 1
            if tree.progress.members == len(tree.objectives):
                self._archive.tree = with_more_room(tree)
        return added

    def advance(self, place: Threads | Cluster, most: int | None) -> bool:
        """Run one round, of at most ``most`` nodes. Return whether the search is complete."""
        active = self._open[:SUBTREES]
        share = SLICE_NODES
        if most is not None:
            active = active[: max(most, 1)]
            share = min(share, most // len(active)) if active else 0
        for subtree in active:
            if subtree not in self._busy:
                worker = self._idle.pop() if self._idle else self._make_worker()
                worker.begin(subtree)
                worker.set_members(self._archive.tree)
                self._busy[subtree] = worker
        workers = [self._busy[subtree] for subtree in active]
        before = sum(subtree.nodes for subtree in active)
        done = self._searched(place, workers, share)
        self.nodes += sum(subtree.nodes for subtree in active) - before
        self._share_members(workers)
        for subtree, is_done in zip(active, done, strict=True):
            if is_done:
                self._idle.append(self._busy.pop(subtree))
                self._open.remove(subtree)
        self._share_out()
        return not self._open

    def _searched(
        self, place: Threads | Cluster, workers: Sequence[Worker], nodes: int
    ) -> list[bool]:
        """Search each worker's subtree for up to ``nodes`` more nodes. Return whether each is
        exhausted."""
        if isinstance(place, Threads):
            return place.search(workers, nodes)
        self._pickled = self._pickled or pickle.dumps(self._task)
        slices = place(self._pickled, [worker.state() for worker in workers], nodes)
        return [worker.take(found) for worker, found in zip(workers, slices, strict=True)]

    def _share_members(self, workers: Sequence[Worker]) -> None:
        """Give the design points found in a round to all workers, as members."""
        finders = [worker for worker in workers if worker.tree.progress.members_found]
        for worker in finders:
            self._found += self.add_incumbents(Incumbents(*_members_of(worker)))
        if finders:
            for worker in self._busy.values():
                worker.set_members(self._archive.tree)

    def _share_out(self) -> None:
        """Divide the first large open subtree into many small ones while few are open."""
        while 0 < len(self._open) < SUBTREES:
            large = next((s for s in self._open if s.nodes >= SHARED_NODES), None)
            if large is None:
                return
            self._hand_over(large)

    def _hand_over(self, subtree: Subtree) -> None:
        worker = self._busy.pop(subtree)
        at = self._open.index(subtree)
        self._open[at : at + 1] = worker.hand_over()
        self._idle.append(worker)

    def progress(self) -> SearchProgress:
        _, rows = _members_of(self._archive)
        return SearchProgress(
            nodes=self.nodes,
            members=len(rows),
            epsilon_ppm=self._epsilon_ppm(),
            seconds=self.seconds,
            objectives=len(self._columns),
            rows=rows,
        )

    def result(self) -> ExactResult:
        result = self._result(self._root)
        for subtree in list(self._busy):
            # The tree is the result's, too.
            self._hand_over(subtree)
        return result

    def checkpoint(self) -> ExactResult:
        """Return the result if the search ended now. The search itself stays as it is."""
        ended: dict[Subtree, Subtree] = {}
        for subtree, worker in self._busy.items():
            copy = self._make_worker()
            # Its log and parts grow: not those of the search.
            copy.subtree = ended[subtree] = replace(
                subtree, log=subtree.log.copy(), parts=subtree.parts.copy()
            )
            copy.restore(worker.state())
            copy.hand_over()
        return self._result(with_ended(self._root, ended))

    def _result(self, root: Subtree) -> ExactResult:
        objectives, rows = _members_of(self._archive)
        return ExactResult(
            complete=not self._open,
            objectives=objectives,
            rows=rows,
            found=self._found,
            open_bounds=self._open_bounds(),
            epsilon_ppm=self._epsilon_ppm(),
            prices=self.prices,
            root=root,
            nodes=self.nodes,
            seconds=self.seconds,
        )

    def _epsilon_ppm(self) -> int | None:
        members, _ = _members_of(self._archive)
        if len(members) == 0:
            return None
        still_open = epsilon_ppm(members, self._open_bounds())
        return None if still_open is None else max(still_open, self._tolerance_ppm)

    def _open_bounds(self) -> IntArray:
        """Return [open, objectives]: bounds of all subtrees not covered yet."""
        vectors = []
        for subtree in self._open:
            worker = self._busy.get(subtree)
            vectors += [subtree.bound] if worker is None else worker.open_bounds()
        bounds = np.array(vectors, dtype=np.int64).reshape(-1, len(self._columns))
        return bounds[non_dominated(bounds)]


def _members_of(worker: Worker) -> tuple[IntArray, IntArray]:
    """Return objectives [members, objectives] and rows [members, groups + domains]."""
    tree = worker.tree
    members = slice(0, int(tree.progress.members))
    masks = tree.member_points[members]
    points = np.array(
        [[_lowest_bit(int(mask)) for mask in row] for row in masks], dtype=np.int64
    ).reshape(masks.shape)
    unknown = tree.member_units[members, :1] < 0
    rows = np.concatenate((tree.member_units[members], np.where(unknown, -1, points)), axis=1)
    return tree.objectives[members].copy(), rows


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0
