"""Cutting a chain into parts of about equal work."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from paretosoc.sdf.errors import GraphError

MAX_TABLE = 1_000_000
"""Parts times elements: a few seconds of work, and far more than networks in use need."""


def balanced_parts(work: Sequence[int], parts: int, reach: Sequence[int]) -> list[int]:
    """Return the starts of ``parts`` consecutive parts. The largest part is as small as possible
    and, among such partitions, the sum of the squared sizes is smallest. If that would take a table
    of more than ``MAX_TABLE`` entries, parts start at the equal division instead, as far as the
    largest part and ``reach`` allow.

    Args:
        work: of each element, at least 0.
        parts: number of parts. There are more if ``reach`` forces it, and fewer if there are fewer
            elements.
        reach: for each element the first one that cannot be in a part that starts there
            (ascending, beyond the element itself).

    Raises:
        GraphError: if ``parts`` is below 1 or there is no element.
    """
    if parts < 1:
        raise GraphError(f"the number of groups must be at least 1, got {parts}")
    if not work:
        raise GraphError("there is nothing to group")
    sums = [0, *accumulate(work)]
    count = len(work)
    parts = min(count, max(parts, _greedy(sums, reach, sums[-1])))
    low, high = max(max(work), -(-sums[-1] // parts)), sums[-1]
    while low < high:
        middle = (low + high) // 2
        if _greedy(sums, reach, middle) <= parts:
            high = middle
        else:
            low = middle + 1
    even = _most_even if parts * count <= MAX_TABLE else _nearest_to_even
    return even(sums, parts, reach, low)


def _greedy(sums: Sequence[int], reach: Sequence[int], limit: int) -> int:
    """Return the fewest parts of at most ``limit`` work each. No element may be above it."""
    start = parts = 0
    while start < len(reach):
        # The first prefix above the limit ends one element too late.
        stop = bisect_left(sums, sums[start] + limit + 1) - 1
        start = min(stop, reach[start])
        parts += 1
    return parts


def _nearest_to_even(
    sums: Sequence[int], parts: int, reach: Sequence[int], limit: int
) -> list[int]:
    """Take each start at its place in the equal division, or at the nearest one from which the
    parts that are left can reach the end."""
    count = len(reach)
    earliest = _earliest_starts(sums, reach, limit)
    # By part, the first start from which the parts that are left reach the end.
    least = [count]
    for _ in range(parts):
        least.append(earliest[least[-1] - 1] if least[-1] else 0)
    starts = [0]
    for part in range(1, parts):
        stop = bisect_left(sums, sums[starts[-1]] + limit + 1) - 1
        low = max(least[parts - part], starts[-1] + 1)
        high = min(stop, reach[starts[-1]], count - parts + part)
        wanted = bisect_left(sums, sums[-1] * part // parts)
        starts.append(min(max(low, wanted), high))
    return starts


def _earliest_starts(sums: Sequence[int], reach: Sequence[int], limit: int) -> list[int]:
    """Return for each element the first one that may begin a part that it ends."""
    earliest = []
    start = 0
    for end in range(1, len(reach) + 1):
        while sums[end] - sums[start] > limit or reach[start] < end:
            start += 1
        earliest.append(start)
    return earliest


def _most_even(sums: Sequence[int], parts: int, reach: Sequence[int], limit: int) -> list[int]:
    """Find the least sum of squares within the limit by dynamic programming over (parts, end)."""
    count = len(reach)
    prefix = np.array(sums, dtype=np.float64)
    prefix /= max(1.0, prefix[-1])
    earliest = _earliest_starts(sums, reach, limit)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    choices = np.zeros((parts + 1, count + 1), dtype=np.int64)
    for part in range(1, parts + 1):
        following = np.full(count + 1, np.inf)
        # Every part takes at least one element, before and after this one.
        for end in range(part, count - parts + part + 1):
            first = earliest[end - 1]
            costs = best[first:end] + (prefix[end] - prefix[first:end]) ** 2
            choice = int(np.argmin(costs))
            following[end] = costs[choice]
            choices[part, end] = first + choice
        best = following
    starts, end = [], count
    for part in range(parts, 0, -1):
        end = int(choices[part, end])
        starts.append(end)
    return starts[::-1]
