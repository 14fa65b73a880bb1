"""Bounds over boxes on the distance of a front from the true one, with their proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.common.units import PPM
from paretosoc.dse.certificate.boxes.search import MAX_CORNERS, BoxResult, BoxSearch
from paretosoc.fitness.check.boxes.check import CheckedBounds, bounded_columns
from paretosoc.fitness.check.boxes.frame_time import frame_time
from paretosoc.fitness.multipliers.structure import longest_networks
from paretosoc.results.front.bounds import BoundProof, Corner
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import (
    closed_region,
    least_within,
    open_corners,
    region_reaches,
)
from paretosoc.results.front.front import BoundSummary, Front
from paretosoc.results.front.own_view import shown_objectives, shown_region
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.text.space_description import describe_space

MIN_BOXES, MAX_BOXES = 16, 64
DEFAULT_GROUPS = 12_800
"""By default there are this many boxes over the number of groups, within these limits."""
ROUNDING_PPM = (2, 20, 1000)
"""Parts of 1 + epsilon, added to the epsilon of the search, which rounds, until the check accepts a
corner."""
WIDER_PPM = tuple(10**power for power in range(4, 10))
"""Added if the check still refuses."""
RAISED_CORNERS, RAISE_STEPS = 24, 14
CHECKS = 1.5
"""Seconds of the check of a box over those of the first one: some lead to corners that are
raised."""


@dataclass(frozen=True, eq=False)
class BoundedFront:
    """A claim, and its proof."""

    claim: BoundSummary
    proof: BoundProof
    refused: int = 0
    """Corners that the search found empty but the check refuses. They are reported further in."""

    def about(self, front: Front) -> BoundedFront | None:
        """Return the same bounds about a later front whose members dominate or equal those of this
        one, or of the front of own objectives that these bounds are of the parts of."""
        claim = bound_summary(front, self.proof, self.claim.boxes, self.claim.simulated)
        return None if claim is None else replace(self, claim=claim)


def bound_front(
    front: Front,
    columns: Sequence[int],
    *,
    max_boxes: int | None = None,
    until: Deadline = NEVER,
    interrupted: Callable[[], bool] = lambda: False,
) -> BoundedFront | None:
    """Return how far a front can be from the true one.

    Returns None if the search for bounds ended before every corner had one, or the check refuses a
    corner however far in it is.

    Args:
        columns: positions of the objectives that count.
        max_boxes: ends the search for bounds, on any machine alike. None: :func:`default_boxes`.
        until: ends it earlier, so that the bounds found are checked by then.

    Raises:
        ResultError: if an objective or a limit has no bounds over boxes.
    """
    began = time.monotonic()
    problem = front.problem
    names = tuple(problem.objective_names[column] for column in columns)
    bounded_columns(problem, names)
    members = _members(front, columns)
    search = _best_start(problem, columns, members, until)
    check_seconds = 0.0
    if until.is_limited:
        # A box takes no longer than that of all points with the first lines.
        started = until.clock()
        _checked(problem, names, search)
        check_seconds = CHECKS * (until.clock() - started)
    search.run(
        max_boxes=max_boxes or default_boxes(problem),
        check_seconds=check_seconds,
        interrupted=interrupted,
    )
    accepted = _checked(problem, names, search)
    if accepted is None:
        return None
    found, proof, checked, corners, refused = accepted
    region = _raised(checked, corners, until)
    proof = replace(proof, region=region, seconds=round(time.monotonic() - began, 3))
    claim = bound_summary(front, proof, found.boxes)
    return None if claim is None else BoundedFront(claim, proof, refused)


def _checked(
    problem: Problem, names: tuple[str, ...], search: BoxSearch
) -> tuple[BoxResult, BoundProof, CheckedBounds, list[Corner], int] | None:
    """Return the checked results of a search so far: result, proof, check, accepted corners, and
    how many were refused at first. None if the check does not accept all."""
    found = search.result()
    if not np.isfinite(found.epsilon):
        return None
    proof = _without_region(problem, names, search, found)
    checked = CheckedBounds(problem, proof)
    accepted = [_accepted(checked, corner, found.epsilon) for corner in found.corners]
    corners = [corner for corner, _ in accepted if corner is not None]
    if len(corners) < len(accepted):
        return None
    refused = sum(margin in WIDER_PPM for _, margin in accepted)
    return found, proof, checked, corners, refused


def _without_region(
    problem: Problem, names: tuple[str, ...], search: BoxSearch, found: BoxResult
) -> BoundProof:
    return BoundProof(
        problem_sha256=problem_sha256(problem),
        objectives=names,
        region=(),
        chains=search.chains,
        paths=search.paths,
        apart=search.apart,
        classes=search.classes,
        multipliers=found.multipliers,
        tree=found.tree,
        seconds=0.0,
    )


def bound_closed(
    problem: Problem,
    columns: Sequence[int],
    points: IntArray,
    *,
    until: Deadline = NEVER,
) -> BoundProof | None:
    """Return bounds that leave no feasible design point better than all of these points [n,
    objectives] in these objectives (positions), or None if none are found.

    Raises:
        ResultError: as :func:`bound_front`.
    """
    began = time.monotonic()
    names = tuple(problem.objective_names[column] for column in columns)
    bounded_columns(problem, names)
    search = _best_start(problem, columns, points, until)
    search.run(max_boxes=MIN_BOXES, interrupted=lambda: search.is_left_open)
    found = search.result()
    if found.epsilon > 0.0:
        return None
    proof = _without_region(problem, names, search, found)
    checked, region = CheckedBounds(problem, proof), closed_region(points, MAX_CORNERS)
    if not all(map(checked.is_empty, region)):
        return None
    return replace(proof, region=region, seconds=round(time.monotonic() - began, 3))


def _best_start(
    problem: Problem,
    columns: Sequence[int],
    members: Sequence[Sequence[int]] | IntArray,
    until: Deadline,
) -> BoxSearch:
    """Return the better start of two: one class of demand for all groups, or the longest networks
    apart."""
    search = BoxSearch(problem, columns, members, until=until)
    if not search.classes or frame_time(problem, columns).in_flight != 1 or until.is_past:
        return search
    other = BoxSearch(problem, columns, members, longest_networks(problem), until)
    return min(search, other, key=lambda one: one.epsilon)


def default_boxes(problem: Problem) -> int:
    """Return the default number of boxes: half a minute's work, and a few seconds' check."""
    return max(MIN_BOXES, min(MAX_BOXES, DEFAULT_GROUPS // problem.group_count))


def _members(front: Front, columns: Sequence[int]) -> list[tuple[int, ...]]:
    values = front.objective_array
    best = values[:, list(columns)]
    return [tuple(row) for row in best[non_dominated(best)].tolist()]


def _accepted(
    checked: CheckedBounds, open_corner: Corner, epsilon: float
) -> tuple[Corner | None, int]:
    """Return an open corner moved in by epsilon and the first margin with which it is found empty,
    or None, and the margin."""
    for margin in (*ROUNDING_PPM, *WIDER_PPM):
        ppm = int(epsilon * PPM + (1 + epsilon) * margin)
        corner = tuple(None if v is None else least_within(v, ppm) - 1 for v in open_corner)
        if checked.is_empty(corner):
            return corner, margin
    return None, margin


def _raised(
    checked: CheckedBounds, corners: Sequence[Corner], until: Deadline
) -> tuple[Corner, ...]:
    """Return the corners, some moved out as far as they stay empty and the time allows, none inside
    another."""
    picks = np.linspace(0, len(corners) - 1, RAISED_CORNERS).round().astype(int)
    region = list(corners)
    for index in dict.fromkeys(picks.tolist()):
        for j, value in enumerate(corners[index]):
            if value is not None and not until.is_past:
                region.append(_raise(checked, corners[index], j, value))
    return tuple(
        dict.fromkeys(
            corner
            for corner in region
            if not any(_inside(corner, other) for other in region if other != corner)
        )
    )


def _raise(checked: CheckedBounds, corner: Corner, j: int, value: int) -> Corner:
    """Return the corner with objective ``j`` as large as a bisection finds it empty."""
    low, high = value, value + abs(value)
    for _ in range(RAISE_STEPS):
        middle = (low + high) // 2
        if checked.is_empty((*corner[:j], middle, *corner[j + 1 :])):
            low = middle
        else:
            high = middle
    return (*corner[:j], low, *corner[j + 1 :])


def _inside(inner: Corner, outer: Corner) -> bool:
    return all(b is None or (a is not None and a <= b) for a, b in zip(inner, outer, strict=True))


def bound_summary(
    front: Front, proof: BoundProof, boxes: int, simulated: int = 0
) -> BoundSummary | None:
    """Return the claim about the members of a front that follows from a proof, or None if the proof
    bounds objectives of a user's own within no percentage.

    Args:
        boxes: number of boxes that are not divided.
        simulated: number of design points that were simulated.
    """
    objectives = shown_objectives(front.problem, proof.objectives)
    if objectives is None:
        return None
    region = shown_region(front.problem, proof)
    names = front.problem.objective_names
    columns = [names.index(name) for name in objectives]
    values = front.objective_array[:, columns]
    best = non_dominated(values).tolist()
    corners = open_corners(values[best].tolist())
    high = 1
    while not region_reaches(corners, region, high):
        if high > INT64_MAX:
            return None
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        if region_reaches(corners, region, middle):
            high = middle
        else:
            low = middle
    return BoundSummary(
        objectives=objectives,
        members=tuple(best),
        epsilon_ppm=high,
        region=region,
        space=describe_space(front.problem),
        boxes=boxes,
        inequalities=len(proof.multipliers),
        seconds=proof.seconds,
        simulated=simulated,
    )
