"""Checks bounds.json: boxes cover the space, and every corner is contradicted in each by an
inequality (docs/concepts/certificate.md, Bounds over boxes)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.support.stranger.board import ANY, Board, require
from tests.support.stranger.lemma import PPM
from tests.support.stranger.limits import Corner, contradicts
from tests.support.stranger.sums import Box, BoxSums, Lines


def check_bounds(problem: Any, bounds: Any) -> int:
    """The number of boxes; refuses a region that the inequalities do not show to be empty."""
    board = Board(problem)
    lines = Lines(board, bounds)
    require(bounds["format"] == "paretosoc-bounds/1", "another format")
    names = [objective["name"] for objective in problem["objectives"]]
    require(bool(bounds["objectives"]), "objectives: none")
    require(set(bounds["objectives"]) <= set(names), "objectives: not of the problem")
    require(len(set(bounds["objectives"])) == len(bounds["objectives"]), "objectives: one twice")
    objectives = [problem["objectives"][names.index(name)] for name in bounds["objectives"]]
    corners = []
    for values in bounds["region"]:
        require(len(values) == len(objectives), "region: a corner with other values")
        corners.append(
            Corner(board, [(o, v) for o, v in zip(objectives, values, strict=True) if v != ANY])
        )
    rows = [lines.weights(row) for row in bounds["multipliers"]]
    require(
        all(value >= 0 for row in bounds["multipliers"] for value in row), "a negative multiplier"
    )
    whole = Box(board.all_points, tuple(domain["may_be_off"] for domain in problem["domains"]))
    nodes = iter(bounds["tree"])
    count = 0

    def visit(box: Box) -> None:
        nonlocal count
        node = next(nodes, None)
        require(node is not None, "tree: ends too early")
        split = re.fullmatch(r"([0-9]+)/([0-9a-f]+)", node)
        if split is not None:
            d, mask = int(split[1]), int(split[2], 16)
            require(d < len(problem["domains"]), "tree: no such domain")
            off = len(problem["domains"][d]["operating_points"])
            for first in (True, False):
                kept = tuple(k for k in box.points[d] if bool(mask >> k & 1) == first)
                may = box.may_be_off[d] and bool(mask >> off & 1) == first
                part = Box(
                    (*box.points[:d], kept, *box.points[d + 1 :]),
                    (*box.may_be_off[:d], may, *box.may_be_off[d + 1 :]),
                )
                visit(part)
            return
        require(re.fullmatch(r"=([0-9]+(,[0-9]+)*)?", node) is not None, "tree: neither")
        used = [int(text) for text in node[1:].split(",") if text]
        require(all(k < len(rows) for k in used), "tree: no such multipliers")
        count += 1
        if box.is_empty:
            return
        sums = BoxSums(lines, box)
        if sums.is_impossible:
            return
        left = list(corners)
        for k in used:
            left = [c for c in left if not contradicts(sums, rows[k], c)]
        require(not left, f"tree: box {count - 1}: a corner is not shown to be empty")

    visit(whole)
    require(next(nodes, None) is None, "tree: entries are left over")
    return count


def check_epsilon(
    members: Sequence[Sequence[int]], region: Sequence[Sequence[int]], ppm: int
) -> None:
    """Refuses a claim that members are within ``ppm`` of all that is outside the region."""
    width = len(members[0])
    # The largest vectors that none of the members so far covers.
    open_: set[tuple[int, ...]] = {(ANY,) * width}
    for member in members:
        least = [_least_covered(value, ppm) for value in member]
        lowered = set()
        for vector in open_:
            if any(v < t for v, t in zip(vector, least, strict=True)):
                lowered.add(vector)
                continue
            for j in range(width):
                lowered.add((*vector[:j], least[j] - 1, *vector[j + 1 :]))
        open_ = {
            one
            for one in lowered
            if not any(other != one and _below(one, other) for other in lowered)
        }
    for vector in open_:
        require(any(_below(vector, corner) for corner in region), "region: does not reach so far")


def _below(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def _least_covered(member: int, ppm: int) -> int:
    """The least value that the member is above by no more than so many millionths."""
    if member >= 0:
        return -(-member * PPM // (PPM + ppm))
    return -(Fraction(-member * (PPM + ppm), PPM).__floor__())
