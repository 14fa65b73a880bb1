"""Divides the space of operating points into boxes until their bounds are close to a front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.boxes.corners import MAX_EPSILON, Corners, Lines
from paretosoc.dse.certificate.boxes.weights import WeightFinder
from paretosoc.fitness.check.boxes.frame_time import FrameTime, frame_time
from paretosoc.fitness.multipliers.arrays import BoxArrays, BoxArrayTables
from paretosoc.fitness.multipliers.structure import chains_of, classes_of, make_networks, paths_of
from paretosoc.results.front.bounds import Leaf, Multipliers, Split
from paretosoc.results.front.epsilon import open_corners
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

Box = tuple[int, ...]
LINES_EACH = 24
LEAST_EXECUTED = 0.97
SEED_CORNERS = 8
ROUNDED = 4e-7
"""Accuracy to which the epsilon of a line is known."""
MAX_CORNERS = 3000
"""If a front leaves more corners open, bounds are found for some of its members only."""


@dataclass(frozen=True)
class Effort:
    """The effort for a line."""

    rounds: int
    """Number of multiplicative updates."""
    accuracy: float
    """Accuracy of linear programs."""
    stalled: float
    """A new line that brings 1 + epsilon of its corner down by less ends the work on a box."""


EACH, LAST = Effort(200, 1e-3, 0.005), Effort(6000, 2e-4, 0.001)
"""Efforts in a box that may be divided, and in one that cannot."""


@dataclass
class BoxNode:
    """A box of the tree: divided, or with lines."""

    box: Box
    arrays: BoxArrays | None
    """None if no design point is possible."""
    weights: list[int] = field(default_factory=list)
    """Positions in the list of all weights."""
    epsilon: FloatArray = field(default_factory=lambda: np.zeros(0))
    """[corners]"""
    shares: FloatArray | None = None
    split: Split | None = None
    parts: tuple[BoxNode, BoxNode] | None = None

    @property
    def worst(self) -> float:
        """Return the largest epsilon of all corners."""
        return 0.0 if self.arrays is None else float(self.epsilon.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class BoxResult:
    """The tree in the form of a proof, with weights, and the ``epsilon`` that they reach."""

    epsilon: float
    tree: tuple[Split | Leaf, ...]
    multipliers: tuple[Multipliers, ...]
    boxes: int
    corners: tuple[tuple[int | None, ...], ...]


class BoxSearch:
    """A best-first search: the box with the largest epsilon gets lines, then is divided.

    Args:
        columns: positions of the objectives that count.
        members: their values, mutually non-dominated.
        apart: networks whose groups have classes of demand of their own.
        until: ends the search. Bounds found by then count.
    """

    def __init__(
        self,
        problem: Problem,
        columns: Sequence[int],
        members: Sequence[Sequence[int]] | IntArray,
        apart: Sequence[int] = (),
        until: Deadline = NEVER,
    ) -> None:
        self._problem, self._until = problem, until
        self.paths, self.chains = paths_of(problem), chains_of(problem)
        time = frame_time(problem, columns)
        executed = time.executed / time.counted
        groups_apart = [self.paths[n] for n in apart]
        self.classes = classes_of(problem, groups_apart) if _counts_contention(time) else ()
        self.apart = tuple(apart) if self.classes else ()
        self._open = open_corners(members, MAX_CORNERS)
        values = np.array(
            [[np.inf if v is None else float(v) for v in corner] for corner in self._open]
        )
        self._corners = Corners(problem, columns, values, time)
        self._networks = make_networks(problem, self.paths, self.chains)
        self._tables = BoxArrayTables(problem, self.classes, groups_apart, executed)
        self._finder = WeightFinder(
            problem, self._networks, self._tables.class_start.tolist(), self._corners
        )
        self._weights: list[FloatArray] = []
        self._needs_paths = any(
            problem.objectives[c].kind is ObjectiveKind.INVERSE_LATENCY for c in columns
        )
        self._heap: list[tuple[float, int, BoxNode]] = []
        self._counter = count()
        self.boxes = 1
        self._root = self._node(
            tuple(
                sum(1 << k for k, may in enumerate(domain.allowed.tolist()) if may)
                | (int(domain.may_be_off) << len(domain.frequencies_khz))
                for domain in problem.domains
            ),
            [],
            None,
        )
        self._seed()
        self._push(self._root)
        self._final = 0.0

    @property
    def is_left_open(self) -> bool:
        """Return whether a box that cannot be divided leaves a corner open."""
        return self._final > 0.0

    @property
    def epsilon(self) -> float:
        """Return the largest epsilon of all boxes."""
        return max(self._final, -self._heap[0][0] if self._heap else 0.0)

    def run(
        self,
        *,
        max_boxes: int,
        check_seconds: float = 0.0,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Divide until there are ``max_boxes`` boxes, it is time to check them, or no box can be
        divided.

        A box that cannot be divided sets the epsilon. The others may still raise the region.

        Args:
            check_seconds: duration of the check of a box.
        """

        def late() -> bool:
            return interrupted() or self._until.left <= self.boxes * check_seconds

        while self._heap and self.boxes < max_boxes and self._heap[0][0] < 0.0 and not late():
            worst, _, node = heappop(self._heap)
            self._improve(node, late)
            if -node.worst > worst + 1e-12:
                self._push(node)
                continue
            if late():
                # The lines found so far count whether or not the box is divided.
                self._push(node)
                return
            parts = self._divide(node)
            if parts is None:
                self._improve(node, late, LAST)
                self._final = max(self._final, node.worst)
                continue
            for part in parts:
                self._push(part)

    def result(self) -> BoxResult:
        """Return the tree so far."""
        tree: list[Split | Leaf] = []
        used: dict[int, int] = {}

        def walk(node: BoxNode) -> None:
            if node.parts is not None:
                assert node.split is not None
                tree.append(node.split)
                for part in node.parts:
                    walk(part)
                return
            kept = self._needed(node)
            tree.append(Leaf(tuple(used.setdefault(index, len(used)) for index in kept)))

        walk(self._root)
        return BoxResult(
            epsilon=self.epsilon,
            tree=tuple(tree),
            multipliers=tuple(self._finder.multipliers(self._weights[index]) for index in used),
            boxes=self.boxes,
            corners=tuple(self._open),
        )

    def _node(self, box: Box, weights: list[int], shares: FloatArray | None) -> BoxNode:
        if not self._is_possible(box):
            return BoxNode(box, None)
        arrays = self._tables.over(box)
        if not arrays.is_possible:
            return BoxNode(box, None)
        node = BoxNode(box, arrays, list(weights), shares=shares)
        node.epsilon = self._epsilon(node)
        return node

    def _is_possible(self, box: Box) -> bool:
        clocks = [unit.clocks for unit in self._problem.units]
        sizes = [len(domain.frequencies_khz) for domain in self._problem.domains]
        has_points = [bits & ((1 << size) - 1) for bits, size in zip(box, sizes, strict=True)]
        return any(all(has_points[clock] for clock in own) for own in clocks)

    def _lines(self, node: BoxNode, weights: Sequence[int]) -> Lines:
        assert node.arrays is not None
        return self._finder.lines(node.arrays, [self._weights[index] for index in weights])

    def _epsilon(self, node: BoxNode) -> FloatArray:
        assert node.arrays is not None
        return self._corners.epsilon(
            self._lines(node, node.weights),
            self._networks.chain_end,
            node.arrays.idle_mw,
            self._paths_ps(node.arrays),
        )

    def _paths_ps(self, arrays: BoxArrays) -> FloatArray:
        networks = len(self._problem.networks)
        if not self._needs_paths:
            return np.ones(networks)
        paths = np.empty(networks)
        chains = len(self.chains)
        for n in range(networks):
            row = np.zeros(self._finder.resources)
            row[self._finder.resources - len(self._problem.units) - chains + n] = 1.0
            line = self._finder.lines(arrays, [row])
            arrival = self._problem.networks[n].arrival_ps
            paths[n] = max(float(line.least[0]) - arrival, 1.0)
        return paths

    def _push(self, node: BoxNode) -> None:
        if node.arrays is not None:
            heappush(self._heap, (-node.worst, next(self._counter), node))

    def _seed(self) -> None:
        """Add the first lines, for some corners over the whole range."""
        node = self._root
        if node.arrays is None or not len(self._corners):
            return
        picks = np.linspace(0, len(self._corners) - 1, SEED_CORNERS).round().astype(int)
        for corner in dict.fromkeys(picks.tolist()):
            if node.weights and self._until.is_past:
                return
            self._add_line(node, corner, EACH)

    def _add_line(self, node: BoxNode, corner: int, effort: Effort) -> None:
        assert node.arrays is not None
        now = node.epsilon[corner]
        epsilon = np.full(len(self._corners), now if np.isfinite(now) else 1.0)
        room = self._corners.room(epsilon, self._paths_ps(node.arrays)).at(corner)
        known = [self._weights[index] for index in node.weights]
        weights = None
        if known and np.isfinite(now):
            weights = self._finder.optimise(node.arrays, room, known, effort.accuracy)
        if weights is None:
            start = np.ones(self._finder.resources) if node.shares is None else node.shares
            weights, node.shares = self._finder.find(node.arrays, room, start, effort.rounds)
        self._weights.append(weights)
        node.weights.append(len(self._weights) - 1)
        lines = self._lines(node, node.weights[-1:])
        found = self._corners.epsilon(
            lines, self._networks.chain_end, node.arrays.idle_mw, self._paths_ps(node.arrays)
        )
        node.epsilon = np.minimum(node.epsilon, found)
        if len(node.weights) > LINES_EACH:
            node.weights = self._needed(node)
            # Epsilon of the remaining lines. Corners below the largest may be a little worse now.
            node.epsilon = self._epsilon(node)

    def _improve(
        self,
        node: BoxNode,
        late: Callable[[], bool],
        effort: Effort = EACH,
    ) -> None:
        """Add lines for the worst corner, as long as they help and there is time."""
        while not late():
            corner = int(node.epsilon.argmax())
            before = node.epsilon[corner]
            self._add_line(node, corner, effort)
            after = node.epsilon[corner]
            if np.isfinite(before) and (1 + after) > (1 + before) * (1 - effort.stalled):
                return
            if not np.isfinite(after):
                return

    def _needed(self, node: BoxNode) -> list[int]:
        """Return few lines that together give every corner nearly its epsilon."""
        if node.arrays is None or not node.weights:
            return []
        least = np.minimum(node.epsilon, MAX_EPSILON)
        # Keep the largest epsilon exactly, and the smaller ones nearly.
        wanted = np.where(least < node.worst, np.minimum(1.01 * least + 0.01, node.worst), least)
        reached = self._corners.closing(
            self._lines(node, node.weights),
            self._networks.chain_end,
            node.arrays.idle_mw,
            self._corners.room(wanted + ROUNDED, self._paths_ps(node.arrays)),
        )
        if not reached[:, node.epsilon < MAX_EPSILON].any(axis=0).all():
            return list(node.weights)
        kept: list[int] = []
        left = np.ones(reached.shape[1], dtype=np.bool_)
        while left.any():
            best = int((reached & left).sum(axis=1).argmax())
            if not (reached[best] & left).any():
                # No line reaches the remaining corners.
                break
            kept.append(node.weights[best])
            left &= ~reached[best]
        return kept

    def _divide(self, node: BoxNode) -> tuple[BoxNode, BoxNode] | None:
        """Return the division whose worse part has the smaller epsilon."""
        best: tuple[tuple[float, float], Split, tuple[BoxNode, BoxNode]] | None = None
        for split in self._splits(node.box):
            d = split.domain
            inside = node.box[d] & split.points
            parts = tuple(
                self._node((*node.box[:d], bits, *node.box[d + 1 :]), node.weights, node.shares)
                for bits in (inside, node.box[d] & ~split.points)
            )
            pair = (parts[0], parts[1])
            total = sum(float(np.log1p(part.epsilon).sum()) for part in pair if part.arrays)
            score = (max(part.worst for part in pair), total)
            if best is None or score < best[0]:
                best = score, split, pair
        if best is None:
            return None
        _, node.split, node.parts = best
        self.boxes += 1
        return best[2]

    def _splits(self, box: Box) -> list[Split]:
        """Return the possible splits of a box: off or on, else the slower half or the faster."""
        splits = []
        for d, (bits, domain) in enumerate(zip(box, self._problem.domains, strict=True)):
            size = len(domain.frequencies_khz)
            points = [k for k in range(size) if bits >> k & 1]
            if bits >> size & 1 and points:
                splits.append(Split(d, 1 << size))
            elif len(points) > 1:
                splits.append(Split(d, sum(1 << k for k in points[: len(points) // 2])))
        return splits


def _counts_contention(time: FrameTime) -> bool:
    """Return whether bounds count contention: if it outweighs frames missing from a window."""
    if time.of_streams or time.in_flight is None:
        return False
    return time.executed >= LEAST_EXECUTED * time.counted
