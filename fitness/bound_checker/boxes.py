"""Boxes of operating points, from the whole space down the tree of a proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import Leaf, Split
from paretosoc.results.problem.parts import ProblemDomain
from paretosoc.results.problem.problem import Problem

Box = tuple[int, ...]
"""[domains]: sets of operating points, bit k for point k; the bit after the last: off."""


def whole_space(problem: Problem) -> Box:
    """All operating points that may be chosen, and off where a domain may be."""
    return tuple(
        sum(1 << k for k, may in enumerate(domain.allowed.tolist()) if may)
        | (off_bit(domain) if domain.may_be_off else 0)
        for domain in problem.domains
    )


def off_bit(domain: ProblemDomain) -> int:
    """The bit of a domain that is off."""
    return 1 << len(domain.frequencies_khz)


def points_of(domain: ProblemDomain, bits: int) -> tuple[int, ...]:
    """The operating points of a set, without off."""
    return tuple(k for k in range(len(domain.frequencies_khz)) if bits >> k & 1)


def leaves(problem: Problem, tree: Sequence[Split | Leaf]) -> Iterator[tuple[Box, Leaf]]:
    """The boxes that are not divided; together they are the whole space.

    Raises:
        ResultError: where a part has no points, or the tree has too few or too many nodes.
    """
    open_boxes = [whole_space(problem)]
    for index, node in enumerate(tree):
        if not open_boxes:
            raise ResultError(f"$.tree[{index}]: all boxes are complete before it")
        box = open_boxes.pop()
        if isinstance(node, Leaf):
            yield box, node
            continue
        if not 0 <= node.domain < len(box):
            raise ResultError(f"$.tree[{index}]: there is no domain {node.domain}")
        inside = box[node.domain] & node.points
        outside = box[node.domain] & ~node.points
        if not inside or not outside:
            raise ResultError(f"$.tree[{index}]: both parts of a split must have points")
        for part in (outside, inside):
            open_boxes.append((*box[: node.domain], part, *box[node.domain + 1 :]))
    if open_boxes:
        raise ResultError(f"$.tree: {len(open_boxes)} boxes lack a node")
