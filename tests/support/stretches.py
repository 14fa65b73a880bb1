"""A network cut into given stretches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.grouping import groups_from_parts
from paretosoc.sdf.grouping.groups import GroupedNetwork


def group_at(graph: SdfGraph, cuts: Sequence[int]) -> GroupedNetwork:
    """Cut the order of execution before the given layers, whatever passes there."""
    ends = pairwise((0, *cuts, len(graph.actors)))
    return groups_from_parts(graph, [list(range(*pair)) for pair in ends])
