"""What a region leaves."""

from __future__ import annotations

import numpy as np

from paretosoc.results.front.epsilon import least_points, open_corners, region_reaches


def test_what_is_in_no_corner_is_above_a_point_and_back() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        falling = np.sort(rng.integers(1, 12, 4))[::-1].tolist()
        rising = np.sort(rng.integers(1, 12, 4)).tolist()
        corners = [
            *zip(rising, falling, strict=True),
            (rising[0] - 1, None),
            (None, falling[-1] - 1),
        ]
        region = [c for c in corners if not any(_inside(c, d) for d in corners if d != c)]
        region = list(dict.fromkeys(region))
        points = least_points(region)
        for x in range(14):
            for y in range(14):
                within = any((a is None or x <= a) and (b is None or y <= b) for a, b in region)
                assert within != any(x >= p and y >= q for p, q in points), (region, x, y)


def _inside(inner: tuple[int | None, ...], outer: tuple[int | None, ...]) -> bool:
    return all(b is None or (a is not None and a <= b) for a, b in zip(inner, outer, strict=True))


def test_regions_without_least_values_have_no_points() -> None:
    assert least_points([(4,), (None,)]) == [(5,)]
    assert least_points([]) == []
    assert least_points([(4, 4)]) == []
    assert least_points([(4, None)]) == []
    assert least_points([(4, None, None)]) == []


def test_open_corners_are_what_no_member_covers() -> None:
    rng = np.random.default_rng(1)
    for width in (1, 2, 3):
        for _ in range(60):
            members = rng.integers(1, 7, (int(rng.integers(1, 6)), width)).tolist()
            corners = open_corners(members)
            for point in np.ndindex(*(8,) * width):
                covered = any(
                    all(p >= m for p, m in zip(point, row, strict=True)) for row in members
                )
                is_open = any(
                    all(c is None or p < c for p, c in zip(point, corner, strict=True))
                    for corner in corners
                )
                assert covered != is_open, (members, point)


def test_fewer_corners_leave_no_less_open() -> None:
    rng = np.random.default_rng(2)
    for width in (2, 3, 4):
        for _ in range(20):
            members = rng.integers(-6, 30, (30, width)).tolist()
            corners = open_corners(members)
            few = open_corners(members, len(corners) - 1)
            assert len(few) <= max(1, (len(corners) - 1) // 3)
            assert all(any(_inside(c, d) for d in few) for c in corners)
            assert open_corners(members, len(corners)) == corners


def test_open_corners_have_an_order() -> None:
    """The same in every process, so that the bounds that are found are."""
    corners = open_corners([(1, 6, 6, 6), (6, 1, 6, 6)])
    assert corners == [
        *((1, None, None, None), (None, None, 6, None), (None, None, None, 6)),
        *((6, 6, None, None), (None, 1, None, None)),
    ]


def test_a_region_reaches_as_far_as_its_corners() -> None:
    members = [(100, 300), (200, 200)]
    region = [(90, None), (150, 250), (None, 180)]
    corners = open_corners(members)
    assert not region_reaches(corners, region, 200_000)
    # 200 / 150 is the largest of all ratios.
    assert not region_reaches(corners, region, 324_000)
    assert region_reaches(corners, region, 334_000)
