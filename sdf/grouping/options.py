"""The choice of how a network is cut into groups."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.errors import GraphError


@dataclass(frozen=True)
class Grouping:
    """How a network is cut into groups: about ``count`` of them, or as many as there are.

    ``branches``: parallel branches are groups of their own, and the groups form a graph. With a
    count, the blocks that gain least from it stay whole. ``each_layer``: every layer that costs
    anything is a group of its own. Excludes the two others.
    """

    count: int | None = None
    branches: bool = False
    each_layer: bool = False

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise GraphError(f"the number of groups must be at least 1, got {self.count}")
        if self.each_layer and (self.branches or self.count is not None):
            raise GraphError("one layer a group excludes branches and a number of groups")

    def __str__(self) -> str:
        words = ("layers" * self.each_layer, "branches" * self.branches, str(self.count or ""))
        return ":".join(filter(None, words))
