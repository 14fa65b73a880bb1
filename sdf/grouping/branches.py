"""Parallel branches of a network as parts of their own (the finer mapping of Tang 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from paretosoc.sdf.grouping.cuts import TensorUse
from paretosoc.sdf.layer import Layer, LayerKind

_MAX_LOOKED_AT = 10_000
"""Tensors followed to see whether one part comes before another. Far fewer lie between the ends of
a shortcut. Without a limit a network of layers that read all before them takes quadratic time."""


def split_layers(
    members: Sequence[int], layers: Sequence[Layer], tensors: Iterable[TensorUse]
) -> list[list[int]]:
    """Split a stretch of layers into single ones. Zero-cost layers stay with a neighbour.

    Arguments and result as for :func:`split_branches`.
    """
    return _Parts(members, layers, tensors).in_order()


def split_branches(
    members: Sequence[int], layers: Sequence[Layer], tensors: Iterable[TensorUse]
) -> list[list[int]]:
    """Split a stretch of layers into its parallel branches and the layers that join them.

    Two parts become one if that delays no part: the first feeds only the second, and the second's
    other inputs are there when the first starts. So a chain is one part, and so is a residual block
    whose shortcut does nothing.

    Args:
        members: indices of the layers, ascending.
        layers: of the whole network, in order of execution.
        tensors: of the whole network, or at least those that the members make.

    Returns:
        Parts in an order of execution, each with its layers ascending.
    """
    parts = _Parts(members, layers, tensors)
    parts.join()
    return parts.in_order()


class _Parts:
    """Disjoint parts of a stretch, each known by the layer around which it grew.

    These numbers are an order of execution at all times.
    """

    def __init__(
        self, members: Sequence[int], layers: Sequence[Layer], tensors: Iterable[TensorUse]
    ) -> None:
        self._members = {index: [index] for index in members}
        self._predecessors: dict[int, set[int]] = {index: set() for index in members}
        self._successors: dict[int, set[int]] = {index: set() for index in members}
        for tensor in tensors:
            if tensor.source in self._members:
                for reader in tensor.readers:
                    if reader in self._members:
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
        return [sorted(self._members[part]) for part in sorted(self._members)]

    def join(self) -> None:
        """Join parts in ascending order until no more can be joined."""
        due = sorted(self._members)
        while due:
            grown: set[int] = set()
            while due:
                index = heappop(due)
                part = self._part_before(index) if index in self._members else None
                if part is None:
                    continue
                # Only those that read the two, and the part itself, may now be joined.
                for reader in self._successors[index]:
                    heappush(due, reader)
                self._absorb(part, index)
                grown.add(part)
            due = sorted(grown)

    def _part_before(self, index: int) -> int | None:
        """Return the part that a part can be joined to, if there is one."""
        if not self._predecessors[index]:
            return None
        # The part's other inputs come before its last predecessor, or else that one waits.
        part = max(self._predecessors[index])
        if len(self._successors[part]) > 1:
            return None
        missing = self._predecessors[index] - {part}
        first = min(missing, default=part)
        rest, seen, looked_at = [part], {part}, 0
        while rest and missing:
            for earlier in self._predecessors[rest.pop()]:
                missing.discard(earlier)
                if earlier > first and earlier not in seen:
                    seen.add(earlier)
                    rest.append(earlier)
                looked_at += 1
            if looked_at > _MAX_LOOKED_AT:
                return None
        return None if missing else part

    def _absorb(self, part: int, other: int) -> None:
        small, large = sorted((self._members.pop(other), self._members[part]), key=len)
        large += small
        self._members[part] = large
        for links, back in (
            (self._predecessors, self._successors),
            (self._successors, self._predecessors),
        ):
            for neighbour in links.pop(other):
                back[neighbour].discard(other)
                if neighbour != part:
                    back[neighbour].add(part)
                    links[part].add(neighbour)
