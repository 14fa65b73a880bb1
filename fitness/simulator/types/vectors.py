"""Vectors of numbers of several design points, for compiled code.

A loop over lanes becomes vector instructions only if the compiler finds that it may. Here they are
explicit, by :mod:`fitness.simulator.types.vector_types`. Outside compiled code a vector is an
array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretosoc.fitness.simulator.types.tables import LANES


def integers(table: Any, index: Any) -> Any:
    """Return the entries of a table of int64 from the index on, or, if it is a tuple, of a row."""
    return _lanes(table, index).copy()


def floats(table: Any, index: Any) -> Any:
    """Return the entries of a table of float64 from the index on."""
    return table[index : index + LANES].copy()


def put(table: Any, index: Any, vector: Any) -> None:
    """Write a vector to a table from the index on, or to a row."""
    _lanes(table, index)[:] = vector


def _lanes(table: Any, index: Any) -> Any:
    return table[index] if isinstance(index, tuple) else table[index : index + LANES]


def all_lanes(number: Any) -> Any:
    """Return a vector of one number in all lanes."""
    return np.full(LANES, number, dtype=np.int64)


def as_floats(vector: Any) -> Any:
    """Convert int64 to float64, in a vector or a number."""
    return np.float64(vector)


def as_integers(vector: Any) -> Any:
    """Convert float64 to int64, rounded towards 0, or conditions to 0 or 1. Numbers, too."""
    return np.int64(vector)


def where(condition: Any, one: Any, other: Any) -> Any:
    """Return ``one`` in lanes in which the condition holds, else ``other``."""
    return np.where(condition, one, other)


def bits_of(condition: Any) -> int:
    """Return a word whose bit i is 1 if the condition of lane i holds."""
    return sum(1 << int(lane) for lane in np.flatnonzero(condition))


def first_bit(bits: int) -> int:
    """Return the number of the lowest bit that is 1."""
    return (bits & -bits).bit_length() - 1
