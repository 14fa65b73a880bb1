"""A kernel with every function of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.tables import LANES, Tables
from paretosoc.fitness.simulator.types.vectors import (
    all_lanes,
    as_floats,
    as_integers,
    bits_of,
    first_bit,
    floats,
    integers,
    put,
    where,
)


@dataclass(frozen=True, eq=False)
class Columns(Tables):
    """What the kernel reads and writes."""

    numbers: IntArray
    condition: IntArray
    real: object


@jit
def in_lanes(columns):
    """Return the first lane with a condition, after rounding quotients into the numbers."""
    numbers = integers(columns.numbers, 0)
    less = numbers < all_lanes(5)
    put(columns.numbers, LANES, where(less, numbers, all_lanes(7)))
    quotient = as_floats(numbers) / floats(columns.real, 0)
    put(columns.numbers, 0, as_integers(quotient) + as_integers(less))
    return first_bit(bits_of(integers(columns.condition, 0) != 0))
