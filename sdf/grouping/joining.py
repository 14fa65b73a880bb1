"""Joining parts of a network that is no chain, so that only little work is delayed.

Two parts may become one if the first feeds only the second, or the second reads only the first.
Then no path leads from one to the other around them.
"""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.sdf.grouping.network_view import NetworkView


def join_small_parts(
    view: NetworkView, parts: Sequence[Sequence[int]], least_work: int
) -> list[list[int]]:
    """Join parts of less than ``least_work`` to one beside them that loses no unit by that. A part
    takes in ``least_work`` at most, so that little is delayed however many parts there are."""
    joining = _Joining(view, parts)
    taken_in = dict.fromkeys(joining.members, 0)
    due = sorted(joining.members, reverse=True)
    while due:
        part = due.pop()
        if part not in joining.members or joining.work[part] >= least_work:
            continue
        for other in joining.partners(part):
            total = taken_in[part] + taken_in[other] + joining.work[part]
            if total < least_work and (joining.units[part] >= joining.units[other]).all():
                joining.join(other, part)
                taken_in[other] = total
                due.append(other)
                break
    return joining.parts()


def join_to_count(view: NetworkView, parts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Join the lightest pairs until there are ``count`` parts, or no two can be joined. Parts that
    no unit could run together are never joined."""
    joining = _Joining(view, parts)
    while len(joining.members) > count and (
        pairs := [
            (joining.work[a] + joining.work[b], a, b)
            for a, b in joining.pairs()
            if (joining.units[a] & joining.units[b]).any()
        ]
    ):
        joining.join_lightest(pairs, len(joining.members) - count)
    return joining.parts()


class _Joining:
    """Parts by number, which is that of one of the parts that they were joined from."""

    def __init__(self, view: NetworkView, parts: Sequence[Sequence[int]]) -> None:
        self.members = {number: list(part) for number, part in enumerate(parts)}
        self.work = {number: view.work_of(part) for number, part in enumerate(parts)}
        self.units = {number: view.units_of(part) for number, part in enumerate(parts)}
        self._before: dict[int, set[int]] = {number: set() for number in self.members}
        self._after: dict[int, set[int]] = {number: set() for number in self.members}
        owner = {index: number for number, part in enumerate(parts) for index in part}
        for part in parts:
            for tensor in view.tensors_of(part):
                source = owner[tensor.source]
                for reader in tensor.readers:
                    target = owner.get(reader, source)
                    if target != source:
                        self._after[source].add(target)
                        self._before[target].add(source)

    def parts(self) -> list[list[int]]:
        """Return the parts that are left."""
        return [sorted(part) for part in self.members.values()]

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs that may be joined."""
        return [
            (a, b)
            for a, following in self._after.items()
            for b in following
            if len(following) == 1 or len(self._before[b]) == 1
        ]

    def partners(self, part: int) -> list[int]:
        """Return the only part that it reads, and the only one that reads it."""
        links = self._before[part], self._after[part]
        return [min(linked) for linked in links if len(linked) == 1]

    def join_lightest(self, pairs: Sequence[tuple[int, int, int]], most: int) -> None:
        """Join up to ``most`` of the pairs (work, first, second), no part twice, and none that is
        more than twice as heavy as the lightest."""
        pairs = sorted(pairs)
        joined: set[int] = set()
        for work, a, b in pairs:
            if len(joined) >= 2 * most or work > 2 * pairs[0][0]:
                break
            if joined.isdisjoint((a, b)):
                joined |= {a, b}
                self.join(a, b)

    def join(self, a: int, b: int) -> None:
        """Make ``b`` a part of ``a``."""
        self.members[a] += self.members.pop(b)
        self.work[a] += self.work.pop(b)
        self.units[a] = self.units[a] & self.units.pop(b)
        for links, back in ((self._before, self._after), (self._after, self._before)):
            for neighbour in links.pop(b):
                back[neighbour].discard(b)
                if neighbour != a:
                    back[neighbour].add(a)
                    links[a].add(neighbour)
