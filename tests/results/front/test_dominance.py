"""Dominance, knee and hypervolume against brute force, on vectors with many ties."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from paretosoc.results.front.dominance import (
    hypervolume,
    knee,
    nadir,
    non_dominated,
    reference_point,
)

LARGEST = np.iinfo(np.int64).max


def brute_force(rows):
    kept = []
    for i, row in enumerate(rows):
        dominated = any(
            all(a <= b for a, b in zip(other, row, strict=True))
            and (any(a < b for a, b in zip(other, row, strict=True)) or j < i)
            for j, other in enumerate(rows)
            if j != i
        )
        if not dominated:
            kept.append(i)
    return kept


def vectors(low=0, high=6, min_rows=0, min_width=1):
    shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=40)
    return shapes.flatmap(
        lambda shape: arrays(
            np.int64,
            (max(shape[0], min_rows), min_width + shape[1] % 4),
            elements=st.integers(low, high),
        )
    )


@settings(deadline=None, derandomize=True, max_examples=100)
@given(vectors())
@example(np.zeros((0, 2), dtype=np.int64))
@example(np.array([[LARGEST, -LARGEST - 1], [LARGEST - 1, -LARGEST], [LARGEST, -LARGEST - 1]]))
def test_non_dominated_equals_brute_force(rows):
    assert non_dominated(rows).tolist() == brute_force(rows.tolist())


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_many_rows_with_ties_equal_brute_force(width):
    rows = np.random.default_rng(width).integers(0, 12, (700, width))
    assert non_dominated(rows).tolist() == brute_force(rows.tolist())


def test_values_that_floats_cannot_tell_apart():
    big = 1 << 60
    rows = np.array([[big + 1, 5], [big, 5], [big, 5]])
    assert non_dominated(rows).tolist() == [1]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(vectors(min_rows=1, min_width=2))
def test_knee_is_furthest_from_the_plane_between_the_extremes(rows):
    rows = rows[non_dominated(rows)]
    low, high = rows.min(axis=0), rows.max(axis=0)
    span = np.where(high > low, high - low, 1)
    distance = 1 - ((rows - low) / span).sum(axis=1)
    assert distance[knee(rows)] == pytest.approx(distance.max())


def test_knee_of_a_known_front():
    assert knee(np.array([[0, 100], [10, 20], [50, 15], [100, 0]])) == 1
    # Bulging outwards, the extremes are as good as it gets; the first wins.
    assert knee(np.array([[0, 100], [70, 70], [100, 0]])) == 0
    with pytest.raises(ValueError, match="at least"):
        knee(np.zeros((0, 2), dtype=np.int64))


def test_nadir_ignores_what_is_dominated():
    rows = np.array([[1, 9], [5, 5], [9, 1], [100, 100]])
    assert nadir(rows).tolist() == [9, 9]
    assert reference_point(rows) == pytest.approx([9.9, 9.9])


def test_reference_lies_beyond_a_negative_nadir():
    rows = np.array([[-50, 3], [-20, 1]])
    assert reference_point(rows) == pytest.approx([-18, 3.3])
    assert hypervolume(rows) == pytest.approx(30 * 0.3 + 2 * 2.3)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(vectors(low=0, high=7, min_width=2))
def test_hypervolume_counts_the_cells_that_are_dominated(rows):
    rows = rows[:, :3]
    width = rows.shape[1]
    cells = sum(
        any(all(a <= b for a, b in zip(row, cell, strict=True)) for row in rows.tolist())
        for cell in product(range(8), repeat=width)
    )
    assert hypervolume(rows, np.full(width, 8.0)) == pytest.approx(cells)


def test_hypervolume_of_nothing_is_zero():
    assert hypervolume(np.zeros((0, 2), dtype=np.int64)) == 0.0
