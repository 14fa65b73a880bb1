"""How far the truth can be from a front: the multiplicative epsilon, in millionths.

All objectives are minimised integers. A bound b is reached *within* e by a member m where, in every
objective, m is at most b times 1 + e; where values are negative (a rate, minimised as its
negative), -b is at most -m times 1 + e: no rate is larger by more than e.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import eq

from common.arrays import IntArray
from common.units import PPM


def epsilon_ppm(members: IntArray, bounds: IntArray) -> int | None:
    """The smallest integer e, in millionths, within which every row of ``bounds`` [n, objectives]
    is reached by a row of ``members`` [m, objectives]; None where there is none. 0 for no
    bounds."""
    rows = members.tolist()
    largest = 0
    for bound in bounds.tolist():
        smallest = min(
            (needed for row in rows if (needed := _needed_ppm(row, bound)) is not None),
            default=None,
        )
        if smallest is None:
            return None
        largest = max(largest, smallest)
    return largest


def percent(ppm: int | None) -> str:
    """An epsilon for people, rounded up: ``0.83 %``."""
    if ppm is None:
        return "no known bound"
    digits = 4 if ppm < 100 else 2
    step = 10 ** (4 - digits)
    return f"{-(-ppm // step) * step / 10**4:.{digits}f} %"


def least_within(value: int, ppm: int) -> int:
    """The smallest bound that a value reaches within ``ppm``."""
    if value >= 0:
        return -(-value * PPM // (PPM + ppm))
    return -(-value * (PPM + ppm) // PPM)


def _needed_ppm(member: Sequence[int], bound: Iterable[int]) -> int | None:
    largest = 0
    for value, least in zip(member, bound, strict=True):
        if value <= least:
            continue
        if least > 0:
            needed = -(-(value - least) * PPM // least)
        elif value < 0:
            needed = -(-(value - least) * PPM // -value)
        else:
            return None
        largest = max(largest, needed)
    return largest


def open_corners(members: Sequence[Sequence[int]]) -> list[tuple[int | None, ...]]:
    """What no member covers: a point is below none of the members' values in every objective if
    and only if it is below all values of some corner; None is no limit."""
    width = len(members[0])
    corners: list[tuple[int | None, ...]] = [(None,) * width]
    for row in sorted(set(map(tuple, members))):
        cut = [c for c in corners if all(_below(v, limit) for v, limit in zip(row, c, strict=True))]
        if not cut:
            continue
        gone = set(cut)
        kept = [c for c in corners if c not in gone]
        # No set: the hash of None is an address before Python 3.12, and searches for bounds begin
        # with the corners in their order.
        new = dict.fromkeys((*c[:j], row[j], *c[j + 1 :]) for c in cut for j in range(width))
        # A new corner has one value of the row and is above it in all others; one that stays is at
        # or below the row in some: only where they share that value can it hold the new one.
        near = [d for d in kept if any(map(eq, row, d))]
        corners = kept + [
            c for c in new if not any(c != d and _inside(c, d) for d in (*new, *near))
        ]
    return corners


def region_reaches(
    corners: Iterable[Sequence[int | None]], region: Sequence[Sequence[int | None]], ppm: int
) -> bool:
    """Whether every point outside a region (at or below no corner of it in all objectives) is
    reached within ``ppm`` by a member.

    Args:
        corners: the open corners of the members.
    """
    for corner in corners:
        scaled = [None if v is None else least_within(v, ppm) - 1 for v in corner]
        if not any(_inside(scaled, other) for other in region):
            return False
    return True


def _below(value: int, limit: int | None) -> bool:
    return limit is None or value < limit


def _inside(inner: Sequence[int | None], outer: Sequence[int | None]) -> bool:
    """Whether all that is below the one corner is below the other."""
    return all(b is None or (a is not None and a <= b) for a, b in zip(inner, outer, strict=True))
