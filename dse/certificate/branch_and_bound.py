"""The exact front, and the lemmas that prove it complete: branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from common.arrays import IntArray
from dse.certificate.preconditions import check_provable
from dse.certificate.snapshot import (
    Snapshot,
    fill_in,
    kept_arrays,
    rebuild_snapshots,
    with_more_room,
)
from fitness.branch_and_bound.branching_rules import BranchingRules
from fitness.branch_and_bound.choices import exchange_rates, make_branching_rules
from fitness.branch_and_bound.search_tree import (
    DONE,
    LEMMAS_FULL,
    MEMBERS_FULL,
    UNIT_CHOICE,
    SearchTree,
    make_search_tree,
)
from fitness.simulator.layout import Plan, make_plan
from fitness.simulator.state import Chosen, State, make_chosen, make_state
from results.front.certificate import LemmaTable
from results.front.epsilon import epsilon_ppm
from results.io.canonical_json import INT64_MAX
from results.problem.problem import Problem

SLICE_NODES = 20_000
"""Nodes between two checks of the clock."""
BUFFER_LEMMAS = 4096
BUFFER_MEMBERS = 256


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search; ``epsilon_ppm``: see :mod:`results.front.epsilon`, None: no bound
    yet.
    """

    nodes: int
    lemmas: int
    members: int
    epsilon_ppm: int | None
    seconds: float
    objectives: int
    """How many objectives count; with one the search is for the best member in it."""


@dataclass(frozen=True, eq=False)
class Incumbents:
    """Objectives [members, objectives] of feasible design points, and their rows [members, groups +
    domains]; None where only the objectives are known."""

    objectives: IntArray
    rows: IntArray | None = None


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The front of the requested objectives as far as it is known, and the lemmas, if kept.

    ``complete``: for every feasible design point some member is at least as good or, with a
    tolerance, worse by no more than that. ``open_bounds``: every design point that the search has
    not covered is at or above one of them in all objectives.
    """

    complete: bool
    objectives: IntArray
    """[members, objectives]"""
    rows: IntArray
    """[members, groups + domains]; -1 where only the objectives are known."""
    found: int
    """Design points that have joined the members, whether they stayed or not."""
    open_bounds: IntArray
    """[open, objectives]"""
    epsilon_ppm: int | None
    rates_mw: tuple[int, ...]
    """Multipliers of the Lagrangian bound that lemmas rest on."""
    lemmas: LemmaTable
    lemma_count: int
    nodes: int
    seconds: float
    snapshot: Snapshot
    """The state of the search, for :func:`find_front` to resume from."""


def find_front(
    problem: Problem,
    *,
    objectives: Sequence[int] | None = None,
    known: Incumbents | None = None,
    tolerance_ppm: int = 0,
    max_lemmas: int = 1_000_000,
    max_nodes: int | None = None,
    time_limit_s: float | None = None,
    resume_from: Snapshot | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> ExactResult:
    """Finds the Pareto front over all units, operating points and rules of the problem.

    The timeline is not monotone, so a node is fathomed only by a bound that holds for every
    completion: see :mod:`fitness.branch_and_bound.bounds`.

    Args:
        objectives: positions of the problem's objectives that count; None: all. With one of them
            the front is its best design point.
        known: incumbents; only design points that these do not dominate are searched for.
        tolerance_ppm: what is better than a member by no more than this many millionths in any
            objective need not be found (see :mod:`results.front.epsilon`).
        max_lemmas: more are counted, but not kept.
        max_nodes: ends the search there, on any machine alike.
        time_limit_s: ends the search earlier.
        resume_from: where an earlier search of the same problem was ended; ``known`` is not used.
        on_progress: called every ``SLICE_NODES`` nodes.
        interrupted: polled as often; true ends the search.

    Raises:
        ResultError: where no bound is known for an objective or a limit, see
            :func:`dse.certificate.preconditions.check_provable`.
    """
    columns = tuple(range(len(problem.objectives))) if objectives is None else tuple(objectives)
    check_provable(problem, columns)
    search = _Search(problem, columns, tolerance_ppm)
    if resume_from is not None:
        search.restore(resume_from)
    elif known is not None:
        search.add_incumbents(known)
    first_node = search.nodes
    while True:
        left = SLICE_NODES
        if max_nodes is not None:
            left = min(left, first_node + max_nodes - search.nodes)
        done = search.advance(left, max_lemmas)
        if on_progress is not None:
            on_progress(search.progress())
        late = time_limit_s is not None and search.seconds >= time_limit_s
        late |= max_nodes is not None and search.nodes - first_node >= max_nodes
        if done or late or interrupted():
            return search.result(complete=done)


@dataclass
class _Lemmas:
    """The lemmas found so far, in parts."""

    units: list[NDArray[np.int16]] = field(default_factory=list)
    points: list[IntArray] = field(default_factory=list)
    count: int = 0

    def add(self, units: IntArray, points: IntArray, most: int) -> None:
        self.count += len(units)
        if self.count <= most:
            self.units.append(units.astype(np.int16))
            self.points.append(points.copy())

    def table(self, groups: int, domains: int) -> LemmaTable:
        units = [np.zeros((0, groups), dtype=np.int16), *self.units]
        points = [np.zeros((0, domains), dtype=np.int64), *self.points]
        return LemmaTable(
            np.concatenate(units).astype(np.int64), np.concatenate(points).astype(np.uint64)
        )


class _Search:
    """A search and its buffers."""

    def __init__(self, problem: Problem, columns: tuple[int, ...], tolerance_ppm: int) -> None:
        self._began = time.monotonic()
        self._problem = problem
        self._plan: Plan = make_plan(problem)
        self.rates_mw = exchange_rates(problem, columns)
        self._space: BranchingRules = make_branching_rules(
            problem, objectives=columns, rates_mw=self.rates_mw, tolerance_ppm=tolerance_ppm
        )
        self._tree: SearchTree = make_search_tree(
            problem,
            self._plan,
            objectives=len(columns),
            rates=len(self.rates_mw),
            members=BUFFER_MEMBERS,
            lemmas=BUFFER_LEMMAS,
        )
        self._chosen: Chosen = make_chosen(self._plan)
        self._state: State = make_state(self._plan, frames=1, in_flight=1, log=True, stops=True)
        self._lemmas = _Lemmas()
        self._tolerance_ppm = tolerance_ppm
        self._done = False

    @property
    def nodes(self) -> int:
        return int(self._tree.progress.nodes)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def add_incumbents(self, known: Incumbents) -> None:
        """Add known solutions to the archive."""
        from fitness.branch_and_bound.archive import insert_member, is_fathomed

        width = self._plan.groups + self._plan.domains
        rows = np.full((len(known.objectives), width), -1) if known.rows is None else known.rows
        # The kernel inserts the present choice: each row takes its place, the start comes back.
        start = self._tree.units.copy(), self._tree.points.copy()
        for vector, row in zip(known.objectives, rows, strict=True):
            tree = self._tree
            if is_fathomed(tree, tree.objectives, vector):
                continue
            tree.units[:] = row[: self._plan.groups]
            tree.points[:] = [1 << max(int(k), 0) for k in row[self._plan.groups :]]
            insert_member(tree, vector, self._tolerance_ppm)
            self._make_room()
        self._tree.progress.members_found = 0
        self._tree.units[:], self._tree.points[:] = start

    def advance(self, nodes: int, max_lemmas: int) -> bool:
        """Search at most ``nodes`` more nodes; whether the search is complete."""
        from fitness.branch_and_bound.search import search_nodes

        stop = self.nodes + nodes
        while True:
            # The kernel allocates nothing: where a buffer is full it returns, and is called again
            # with the lemmas taken out and twice the room for members.
            tree = self._tree
            ended = search_nodes(
                self._plan, self._space, self._chosen, self._state, tree, stop - self.nodes
            )
            part = slice(0, int(tree.progress.lemmas))
            self._lemmas.add(tree.lemma_units[part], tree.lemma_points[part], max_lemmas)
            tree.progress.lemmas = 0
            self._make_room()
            if ended not in (LEMMAS_FULL, MEMBERS_FULL):
                self._done = bool(ended == DONE)
                return self._done

    def _make_room(self) -> None:
        if self._tree.progress.members == len(self._tree.objectives):
            self._tree = with_more_room(self._tree)

    def progress(self) -> SearchProgress:
        return SearchProgress(
            nodes=self.nodes,
            lemmas=self._lemmas.count,
            members=int(self._tree.progress.members),
            epsilon_ppm=self._epsilon_ppm(),
            seconds=self.seconds,
            objectives=self._tree.objectives.shape[1],
        )

    def result(self, *, complete: bool) -> ExactResult:
        tree = self._tree
        members = slice(0, int(tree.progress.members))
        points = np.array(
            [[_lowest_bit(int(mask)) for mask in row] for row in tree.member_points[members]],
            dtype=np.int64,
        ).reshape(-1, self._plan.domains)
        unknown = tree.member_units[members, :1] < 0
        lemmas = self._lemmas.table(self._plan.groups, self._plan.domains)
        return ExactResult(
            complete=complete,
            objectives=tree.objectives[members].copy(),
            rows=np.concatenate(
                (tree.member_units[members], np.where(unknown, -1, points)), axis=1
            ),
            found=int(tree.progress.members_found),
            open_bounds=self._open_bounds(),
            epsilon_ppm=self._epsilon_ppm(),
            rates_mw=self.rates_mw,
            lemmas=lemmas,
            lemma_count=self._lemmas.count,
            nodes=self.nodes,
            seconds=self.seconds,
            snapshot=Snapshot(
                arrays=kept_arrays(tree),
                lemmas=lemmas,
                lemma_count=self._lemmas.count,
                seconds=self.seconds,
            ),
        )

    def _epsilon_ppm(self) -> int | None:
        members = self._tree.objectives[: int(self._tree.progress.members)]
        if len(members) == 0:
            return None
        still_open = epsilon_ppm(members, self._open_bounds())
        return None if still_open is None else max(still_open, self._tolerance_ppm)

    def _open_bounds(self) -> IntArray:
        """[open, objectives]: bounds of all subtrees not covered yet.

        These are the untried options of every level and the present choice. A level's bounds hold
        for all levels below it, so the largest on the path counts.
        """
        tree = self._tree
        vectors = []
        highest = np.full(tree.bound.shape[1], -INT64_MAX)
        for level in range(int(tree.progress.depth)):
            highest = np.maximum(highest, tree.bound[level])
            options = self._plan.units if tree.kind[level] == UNIT_CHOICE else 2
            if tree.option[level] < options:
                vectors.append(highest)
        if not self._done and not tree.progress.backtracking:
            vectors.append(highest)
        return np.array(vectors, dtype=np.int64).reshape(-1, tree.bound.shape[1])

    def restore(self, snapshot: Snapshot) -> None:
        """Restores the state of an earlier search.

        Raises:
            ResultError: see :func:`dse.certificate.snapshot.fill_in`.
        """
        while len(snapshot.arrays.get("objectives", ())) >= self._tree.objectives.size:
            self._tree = with_more_room(self._tree)
        fill_in(self._tree, snapshot.arrays, self._plan)
        rebuild_snapshots(self._plan, self._space, self._chosen, self._state, self._tree)
        self._lemmas.add(
            snapshot.lemmas.units, snapshot.lemmas.points.astype(np.int64), len(snapshot.lemmas)
        )
        self._lemmas.count = snapshot.lemma_count
        self._began -= snapshot.seconds


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0
