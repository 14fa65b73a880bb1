"""Cutting a chain into parts of about equal work."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from sdf.errors import GraphError


def balanced_parts(work: Sequence[int], parts: int, reach: Sequence[int]) -> list[int]:
    """Starts of ``parts`` consecutive parts: the largest is as small as it can be, and among those
    the sum of the squared sizes.

    Args:
        work: of each element, at least 0.
        parts: how many; more where ``reach`` forces it, fewer where there are fewer elements.
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
    return _most_even(sums, parts, reach, low)


def _greedy(sums: Sequence[int], reach: Sequence[int], limit: int) -> int:
    """The fewest parts of at most ``limit`` work each, no element being above it."""
    start = parts = 0
    while start < len(reach):
        # The first prefix above the limit ends one element too late.
        stop = bisect_left(sums, sums[start] + limit + 1) - 1
        start = min(stop, reach[start])
        parts += 1
    return parts


def _most_even(sums: Sequence[int], parts: int, reach: Sequence[int], limit: int) -> list[int]:
    """Dynamic programme over (number of parts, end): least sum of squares within the limit."""
    count = len(reach)
    prefix = np.array(sums, dtype=np.float64)
    prefix /= max(1.0, prefix[-1])
    earliest = []
    start = 0
    for end in range(1, count + 1):
        while sums[end] - sums[start] > limit or reach[start] < end:
            start += 1
        earliest.append(start)
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
