"""Parallel branches of a network as parts of their own (the finer mapping of Tang 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from sdf.grouping.cuts import TensorUse
from sdf.layer import Layer, LayerKind


def split_layers(
    members: Sequence[int], layers: Sequence[Layer], tensors: Sequence[TensorUse]
) -> list[list[int]]:
    """Splits a stretch of layers into single ones; zero-cost layers stay with a neighbour.

    Arguments and result as for :func:`split_branches`.
    """
    return _Parts(members, layers, tensors).in_order()


def split_branches(
    members: Sequence[int], layers: Sequence[Layer], tensors: Sequence[TensorUse]
) -> list[list[int]]:
    """Splits a stretch of layers into its parallel branches and what joins them.

    Two parts become one where that makes nobody wait longer: the first feeds only the second, and
    whatever else the second reads is there when the first starts. So a chain is one part, and so
    is a residual block whose shortcut does nothing.

    Args:
        members: indices of the layers, ascending.
        layers: of the whole network, in order of execution.
        tensors: of the whole network.

    Returns:
        Parts in an order of execution, each with its layers ascending.
    """
    parts = _Parts(members, layers, tensors)
    while parts.join_once():
        pass
    return parts.in_order()


class _Parts:
    """Disjoint parts of a stretch, each known by the layer around which it grew.

    These numbers are an order of execution at all times.
    """

    def __init__(
        self, members: Sequence[int], layers: Sequence[Layer], tensors: Sequence[TensorUse]
    ) -> None:
        self._members = {index: [index] for index in members}
        self._predecessors: dict[int, set[int]] = {index: set() for index in members}
        self._successors: dict[int, set[int]] = {index: set() for index in members}
        for tensor in tensors:
            if tensor.source in self._members:
                for reader in self._members.keys() & tensor.readers:
                    self._predecessors[reader].add(tensor.source)
                    self._successors[tensor.source].add(reader)
        free = [index for index in members if layers[index].kind is LayerKind.RESHAPE]
        for index in free:
            # A zero-cost layer has one producer, so that nothing can lie between the two.
            if len(self._predecessors[index]) == 1:
                self._absorb(min(self._predecessors[index]), index)
        for index in reversed(free):
            # One that reads an input goes to its first reader.
            if index in self._members and self._successors[index]:
                self._absorb(min(self._successors[index]), index)

    def in_order(self) -> list[list[int]]:
        return [self._members[part] for part in sorted(self._members)]

    def join_once(self) -> bool:
        """Joins what can be joined in one pass; says whether anything was."""
        ancestors: dict[int, set[int]] = {}
        before = len(self._members)
        for index in sorted(self._members):
            own = self._predecessors[index]
            ancestors[index] = own.union(*(ancestors[part] for part in own))
            for part in sorted(own):
                if self._successors[part] == {index} and own - {part} <= ancestors[part]:
                    self._absorb(part, index)
                    break
        return len(self._members) < before

    def _absorb(self, part: int, other: int) -> None:
        self._members[part] = sorted(self._members[part] + self._members.pop(other))
        for links, back in (
            (self._predecessors, self._successors),
            (self._successors, self._predecessors),
        ):
            for neighbour in links.pop(other):
                back[neighbour].discard(other)
                if neighbour != part:
                    back[neighbour].add(part)
                    links[part].add(neighbour)
