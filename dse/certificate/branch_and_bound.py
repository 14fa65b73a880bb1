"""The exact front, and the lemmas that prove it complete: branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from common.arrays import IntArray
from dse.certificate.preconditions import check_provable
from dse.certificate.snapshot import Snapshot, fill_in, kept_arrays, play_levels, with_more_room
from fitness.branch_and_bound.choices import exchange_rates, make_search_space
from fitness.branch_and_bound.search_space import SearchSpace
from fitness.branch_and_bound.search_state import (
    DONE,
    LEMMAS_FULL,
    MEMBERS_FULL,
    UNIT_CHOICE,
    Branching,
    make_branching,
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
        self._space: SearchSpace = make_search_space(
            problem, objectives=columns, rates_mw=self.rates_mw, tolerance_ppm=tolerance_ppm
        )
        self._branching: Branching = make_branching(
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
        return int(self._branching.progress.nodes)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def add_incumbents(self, known: Incumbents) -> None:
        """Add known solutions to the archive."""
        from fitness.branch_and_bound.archive import is_closed, join

        width = self._plan.groups + self._plan.domains
        rows = np.full((len(known.objectives), width), -1) if known.rows is None else known.rows
        # The kernel inserts the present choice: each row takes its place, the start comes back.
        start = self._branching.units.copy(), self._branching.points.copy()
        for vector, row in zip(known.objectives, rows, strict=True):
            b = self._branching
            if is_closed(b, b.objectives, vector):
                continue
            b.units[:] = row[: self._plan.groups]
            b.points[:] = [1 << max(int(k), 0) for k in row[self._plan.groups :]]
            join(b, vector, self._tolerance_ppm)
            self._make_room()
        self._branching.progress.members_found = 0
        self._branching.units[:], self._branching.points[:] = start

    def advance(self, nodes: int, max_lemmas: int) -> bool:
        """Search at most ``nodes`` more nodes; whether the search is complete."""
        from fitness.branch_and_bound.search import search_on

        stop = self.nodes + nodes
        while True:
            # The kernel allocates nothing: where a buffer is full it returns, and is called again
            # with the lemmas taken out and twice the room for members.
            b = self._branching
            ended = search_on(
                self._plan, self._space, self._chosen, self._state, b, stop - self.nodes
            )
            part = slice(0, int(b.progress.lemmas))
            self._lemmas.add(b.lemma_units[part], b.lemma_points[part], max_lemmas)
            b.progress.lemmas = 0
            self._make_room()
            if ended not in (LEMMAS_FULL, MEMBERS_FULL):
                self._done = bool(ended == DONE)
                return self._done

    def _make_room(self) -> None:
        if self._branching.progress.members == len(self._branching.objectives):
            self._branching = with_more_room(self._branching)

    def progress(self) -> SearchProgress:
        return SearchProgress(
            nodes=self.nodes,
            lemmas=self._lemmas.count,
            members=int(self._branching.progress.members),
            epsilon_ppm=self._epsilon_ppm(),
            seconds=self.seconds,
            objectives=self._branching.objectives.shape[1],
        )

    def result(self, *, complete: bool) -> ExactResult:
        b = self._branching
        members = slice(0, int(b.progress.members))
        points = np.array(
            [[_lowest_bit(int(mask)) for mask in row] for row in b.member_points[members]],
            dtype=np.int64,
        ).reshape(-1, self._plan.domains)
        unknown = b.member_units[members, :1] < 0
        lemmas = self._lemmas.table(self._plan.groups, self._plan.domains)
        return ExactResult(
            complete=complete,
            objectives=b.objectives[members].copy(),
            rows=np.concatenate((b.member_units[members], np.where(unknown, -1, points)), axis=1),
            found=int(b.progress.members_found),
            open_bounds=self._open_bounds(),
            epsilon_ppm=self._epsilon_ppm(),
            rates_mw=self.rates_mw,
            lemmas=lemmas,
            lemma_count=self._lemmas.count,
            nodes=self.nodes,
            seconds=self.seconds,
            snapshot=Snapshot(
                arrays=kept_arrays(b),
                lemmas=lemmas,
                lemma_count=self._lemmas.count,
                seconds=self.seconds,
            ),
        )

    def _epsilon_ppm(self) -> int | None:
        members = self._branching.objectives[: int(self._branching.progress.members)]
        if len(members) == 0:
            return None
        still_open = epsilon_ppm(members, self._open_bounds())
        return None if still_open is None else max(still_open, self._tolerance_ppm)

    def _open_bounds(self) -> IntArray:
        """[open, objectives]: bounds of all subtrees not covered yet.

        These are the untried options of every level and the present choice. A level's bounds hold
        for all levels below it, so the largest on the path counts.
        """
        b = self._branching
        vectors = []
        highest = np.full(b.bound.shape[1], -INT64_MAX)
        for level in range(int(b.progress.depth)):
            highest = np.maximum(highest, b.bound[level])
            options = self._plan.units if b.kind[level] == UNIT_CHOICE else 2
            if b.option[level] < options:
                vectors.append(highest)
        if not self._done and not b.progress.backtracking:
            vectors.append(highest)
        return np.array(vectors, dtype=np.int64).reshape(-1, b.bound.shape[1])

    def restore(self, snapshot: Snapshot) -> None:
        """Restores the state of an earlier search.

        Raises:
            ResultError: see :func:`dse.certificate.snapshot.fill_in`.
        """
        while len(snapshot.arrays.get("objectives", ())) >= self._branching.objectives.size:
            self._branching = with_more_room(self._branching)
        fill_in(self._branching, snapshot.arrays, self._plan)
        play_levels(self._plan, self._space, self._chosen, self._state, self._branching)
        self._lemmas.add(
            snapshot.lemmas.units, snapshot.lemmas.points.astype(np.int64), len(snapshot.lemmas)
        )
        self._lemmas.count = snapshot.lemma_count
        self._began -= snapshot.seconds


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0
