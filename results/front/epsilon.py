"""The largest possible distance of a front from the truth: the multiplicative epsilon, in
millionths.

All objectives are minimised integers. A bound b is reached *within* e by a member m if, in every
objective, m is at most b times 1 + e. If values are negative (a rate, minimised as its negative),
-b is at most -m times 1 + e: no rate is larger by more than e.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PPM
from paretosoc.results.front.bounds import Corner
from paretosoc.results.io.canonical_json import INT64_MAX

INT64_MIN = -(2**63)
WEAK_PPM = 200_000
"""Users are told that a larger epsilon is a weak bound."""


def epsilon_ppm(members: IntArray, bounds: IntArray) -> int | None:
    """Return the smallest integer e, in millionths, such that a row of ``members`` [m, objectives]
    reaches every row of ``bounds`` [n, objectives] within e, or None if there is none. 0 for no
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
    """Return an epsilon as text, rounded up: ``0.83 %``."""
    if ppm is None:
        return "no known bound"
    digits = 4 if ppm < 100 else 2
    step = 10 ** (4 - digits)
    return f"{-(-ppm // step) * step / 10**4:.{digits}f} %"


def is_weak(ppm: int | None) -> bool:
    """Return whether an epsilon says little about a front."""
    return ppm is not None and ppm > WEAK_PPM


def reach(proved_ppm: int | None) -> str:
    """Return how far a whole front is proved, in words. None: not at all."""
    if proved_ppm is None:
        return "not proved"
    return within(proved_ppm) if proved_ppm else "complete"


def within(ppm: int | None) -> str:
    """Return the claim of an epsilon: ``within 0.83 %``. A weak one is called so."""
    return f"within {percent(ppm)}{', a weak bound' if is_weak(ppm) else ''}"


def least_within(value: int, ppm: int) -> int:
    """Return the smallest bound that a value reaches within ``ppm``."""
    if value >= 0:
        return -(-value * PPM // (PPM + ppm))
    return -(-value * (PPM + ppm) // PPM)


def most_within(bound: int, ppm: int) -> int:
    """Return the largest value that reaches a bound within ``ppm``."""
    if bound >= 0:
        return min(bound * (PPM + ppm) // PPM, INT64_MAX)
    return bound * PPM // (PPM + ppm)


def epsilon_of(member: IntArray, bounds: IntArray) -> FloatArray:
    """Return the epsilon, a share, within which a member [objectives] reaches each of ``bounds``
    [n, objectives]. It is infinite if the member reaches the bound within none."""
    above = np.maximum(member - bounds, 0).astype(float)
    least = np.where(bounds > 0, bounds, np.maximum(-member, 0)).astype(float)
    each = np.divide(above, least, out=np.where(above > 0, np.inf, 0.0), where=least > 0)
    largest: FloatArray = each.max(axis=1)
    return largest


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


class _TooManyError(Exception):
    """There are more corners than asked for."""


class _Corners:
    """The open corners of more and more members, by the ranks of their values: no limit is one
    above the largest."""

    def __init__(self, members: IntArray) -> None:
        self._values = [np.unique(column) for column in members.T]
        pairs = zip(self._values, members.T, strict=True)
        self._ranks = np.stack([np.searchsorted(*pair) for pair in pairs], axis=1)
        self._table = np.array([[len(values) for values in self._values]])

    def add(self, member: int, most: int | None) -> None:
        """Cut the corners that a member is below.

        Raises:
            _TooManyError: if there would be more than ``most``. The corners are unchanged then.
        """
        row, width = self._ranks[member], self._ranks.shape[1]
        is_cut = (row < self._table).all(axis=1)
        if not is_cut.any():
            return
        kept = self._table[~is_cut]
        new = np.repeat(self._table[is_cut], width, axis=0)
        at = np.arange(len(new))
        new[at, at % width] = row[at % width]
        new = new[np.sort(np.unique(new, axis=0, return_index=True)[1])]
        # A new corner has one value of the row and is above it in all others. One that stays is at
        # or below the row in some objective, so it can hold the new one only if they share that
        # value.
        others = np.concatenate((new, kept[(kept == row).any(axis=1)]))
        holds = np.ones((len(new), len(others)), dtype=np.bool_)
        for column in range(width):
            holds &= new[:, None, column] <= others[None, :, column]
        # Each holds itself.
        table = np.concatenate((kept, new[holds.sum(axis=1) == 1]))
        if most is not None and len(table) > most:
            raise _TooManyError
        self._table = table

    def corners(self) -> list[Corner]:
        """Return the corners in an order that follows from the order of the members."""
        known = [[*values.tolist(), None] for values in self._values]
        return [
            tuple(column[rank] for column, rank in zip(known, row, strict=True))
            for row in self._table.tolist()
        ]


def open_corners(
    members: Sequence[Sequence[int]] | IntArray, most: int | None = None
) -> list[Corner]:
    """Return the corners of the region that no member covers. A point is below none of the members'
    values in every objective if and only if it is below all values of some corner. None is no
    limit, which is the only corner of an array [0, objectives] of no members.

    Args:
        most: if there are more corners, return at most a third as many: those of some members,
            which cover less. These members are far from each other: the next one is the member that
            the earlier ones reach only within the largest epsilon.
    """
    rows = np.unique(np.asarray(members, dtype=np.int64), axis=0)
    corners = _Corners(rows)
    try:
        for index in range(len(rows)):
            corners.add(index, most)
    except _TooManyError:
        corners = _Corners(rows)
        with suppress(_TooManyError):
            for index in _far_from_each_other(rows):
                corners.add(index, most // 3 if most is not None else None)
    return corners.corners()


def closed_region(members: IntArray, most: int | None = None) -> tuple[Corner, ...]:
    """Return the corners of the region that no member [members, objectives] reaches. ``most``: see
    :func:`open_corners`."""
    return tuple(
        tuple(None if v is None else v - 1 for v in corner)
        for corner in open_corners(members, most)
    )


def least_points(region: Sequence[Corner], most: int | None = None) -> list[tuple[int, ...]]:
    """Return the least points outside a region, sorted: every design point is at or above one of
    them in all objectives. Empty if there are design points without a least value.

    Args:
        most: see :func:`open_corners`. With fewer points every design point is still at or above
            one of them.
    """
    # Outside is what is above each corner in some objective: turned around, what is open to it.
    turned = [
        [-INT64_MAX if v is None else -v for v in corner]
        for corner in region
        if any(v is not None for v in corner) and INT64_MIN not in corner
    ]
    if not turned:
        return []
    points = []
    for corner in open_corners(turned, most):
        point = tuple(1 - value for value in corner if value is not None)
        if point and max(point) > INT64_MAX:
            continue
        if len(point) < len(corner):
            return []
        points.append(point)
    return sorted(points)


def _far_from_each_other(rows: IntArray) -> Iterator[int]:
    needed = np.full(len(rows), np.inf)
    for _ in rows:
        index = int(needed.argmax())
        yield index
        needed = np.minimum(needed, epsilon_of(rows[index], rows))
        needed[index] = -1.0


def region_reaches(corners: Sequence[Corner], region: Sequence[Corner], ppm: int) -> bool:
    """Return whether a member reaches every point outside a region (at or below no corner of it in
    all objectives) within ``ppm``.

    Args:
        corners: the open corners of the members.
    """
    if not corners:
        return True
    left = np.array(
        [
            [0 if v is None else max(least_within(v, ppm) - 1, INT64_MIN) for v in corner]
            for corner in corners
        ],
        dtype=np.int64,
    )
    unlimited = np.array([[v is None for v in corner] for corner in corners])
    for outer in region:
        is_inside = np.ones(len(left), dtype=np.bool_)
        for column, value in enumerate(outer):
            if value is not None:
                is_inside &= ~unlimited[:, column] & (left[:, column] <= value)
        left, unlimited = left[~is_inside], unlimited[~is_inside]
    return not len(left)
