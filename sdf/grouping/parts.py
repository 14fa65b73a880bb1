"""Parts of a network that are joined with each other: branches, and small or light neighbours.

Parallel branches are parts of their own in the finer mapping of Tang 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from paretosoc.sdf.grouping.network_view import NetworkView, TensorUse
from paretosoc.sdf.layer import Layer, LayerKind

_MAX_LOOKED_AT = 10_000
"""Tensors followed to see whether one part comes before another. Far fewer lie between the ends of
a shortcut. Without a limit a network of layers that read all before them takes quadratic time."""


class _Parts:
    """Disjoint parts of a network by number, and which of them feed which."""

    def __init__(self, members: Mapping[int, Sequence[int]], tensors: Iterable[TensorUse]) -> None:
        self.members = {number: list(part) for number, part in members.items()}
        self.before: dict[int, set[int]] = {number: set() for number in members}
        self.after: dict[int, set[int]] = {number: set() for number in members}
        owner = {index: number for number, part in members.items() for index in part}
        for tensor in tensors:
            source = owner.get(tensor.source)
            for target in map(owner.get, tensor.readers):
                if source is not None and target is not None and source != target:
                    self.after[source].add(target)
                    self.before[target].add(source)

    def join(self, part: int, other: int) -> None:
        """Make ``other`` a part of ``part``."""
        small, large = sorted((self.members.pop(other), self.members[part]), key=len)
        large += small
        self.members[part] = large
        for links, back in ((self.before, self.after), (self.after, self.before)):
            for neighbour in links.pop(other):
                back[neighbour].discard(other)
                if neighbour != part:
                    back[neighbour].add(part)
                    links[part].add(neighbour)

    def result(self) -> list[list[int]]:
        """Return the parts that are left, each ascending."""
        return [sorted(part) for part in self.members.values()]


def split_layers(
    members: Sequence[int], layers: Sequence[Layer], tensors: Iterable[TensorUse]
) -> list[list[int]]:
    """Split a stretch of layers into single ones. Zero-cost layers stay with a neighbour.

    Arguments and result as for :func:`split_branches`.
    """
    return _in_order(_single_layers(members, layers, tensors))


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
    parts = _single_layers(members, layers, tensors)
    due = sorted(parts.members)
    while due:
        grown: set[int] = set()
        while due:
            index = heappop(due)
            part = _part_before(parts, index) if index in parts.members else None
            if part is None:
                continue
            # Only those that read the two, and the part itself, may now be joined.
            for reader in parts.after[index]:
                heappush(due, reader)
            parts.join(part, index)
            grown.add(part)
        due = sorted(grown)
    return _in_order(parts)


def _single_layers(
    members: Sequence[int], layers: Sequence[Layer], tensors: Iterable[TensorUse]
) -> _Parts:
    """Return parts that are known by the layer around which they grow. These numbers are an order
    of execution at all times."""
    parts = _Parts({index: [index] for index in members}, tensors)
    free = [index for index in members if layers[index].kind is LayerKind.RESHAPE]
    for index in free:
        # A zero-cost layer has one producer, so that nothing can lie between the two.
        if len(parts.before[index]) == 1:
            parts.join(min(parts.before[index]), index)
    for index in reversed(free):
        # One that reads an input goes to its first reader.
        if index in parts.members and parts.after[index]:
            parts.join(min(parts.after[index]), index)
    return parts


def _in_order(parts: _Parts) -> list[list[int]]:
    return [sorted(parts.members[part]) for part in sorted(parts.members)]


def _part_before(parts: _Parts, index: int) -> int | None:
    """Return the part that a part can be joined to, if there is one."""
    if not parts.before[index]:
        return None
    # The part's other inputs come before its last predecessor, or else that one waits.
    part = max(parts.before[index])
    if len(parts.after[part]) > 1:
        return None
    missing = parts.before[index] - {part}
    first = min(missing, default=part)
    rest, seen, looked_at = [part], {part}, 0
    while rest and missing:
        for earlier in parts.before[rest.pop()]:
            missing.discard(earlier)
            if earlier > first and earlier not in seen:
                seen.add(earlier)
                rest.append(earlier)
            looked_at += 1
        if looked_at > _MAX_LOOKED_AT:
            return None
    return None if missing else part


class _Weighed(_Parts):
    """Parts with their work and the units that can run them.

    Two may become one if the first feeds only the second, or the second reads only the first. Then
    no path leads from one to the other around them.
    """

    def __init__(self, view: NetworkView, parts: Sequence[Sequence[int]]) -> None:
        super().__init__(
            dict(enumerate(parts)), [tensor for part in parts for tensor in view.tensors_of(part)]
        )
        self.work = {number: view.work_of(part) for number, part in enumerate(parts)}
        self.units = {number: view.units_of(part) for number, part in enumerate(parts)}

    def join(self, part: int, other: int) -> None:
        super().join(part, other)
        self.work[part] += self.work.pop(other)
        self.units[part] = self.units[part] & self.units.pop(other)


def join_small_parts(
    view: NetworkView, parts: Sequence[Sequence[int]], least_work: int
) -> list[list[int]]:
    """Join parts of less than ``least_work`` to one beside them that loses no unit by that. A part
    takes in ``least_work`` at most, so that little is delayed however many parts there are."""
    joining = _Weighed(view, parts)
    taken_in = dict.fromkeys(joining.members, 0)
    due = sorted(joining.members, reverse=True)
    while due:
        part = due.pop()
        if part not in joining.members or joining.work[part] >= least_work:
            continue
        # The only part that it reads, and the only one that reads it.
        beside = [min(n) for n in (joining.before[part], joining.after[part]) if len(n) == 1]
        for other in beside:
            total = taken_in[part] + taken_in[other] + joining.work[part]
            if total < least_work and (joining.units[part] >= joining.units[other]).all():
                joining.join(other, part)
                taken_in[other] = total
                due.append(other)
                break
    return joining.result()


def join_to_count(view: NetworkView, parts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Join the lightest pairs until there are ``count`` parts, or no two can be joined. Parts that
    no unit could run together are never joined."""
    joining = _Weighed(view, parts)
    while len(joining.members) > count and (
        pairs := sorted(
            (joining.work[a] + joining.work[b], a, b)
            for a, following in joining.after.items()
            for b in following
            if (len(following) == 1 or len(joining.before[b]) == 1)
            and (joining.units[a] & joining.units[b]).any()
        )
    ):
        # No part twice, and no pair that is more than twice as heavy as the lightest.
        left, joined = len(joining.members) - count, set[int]()
        for work, a, b in pairs:
            if len(joined) >= 2 * left or work > 2 * pairs[0][0]:
                break
            if joined.isdisjoint((a, b)):
                joined |= {a, b}
                joining.join(a, b)
    return joining.result()
