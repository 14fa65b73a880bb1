"""Names of the array types that tables are made of, and the layout of array objects."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
BoolArray = NDArray[np.bool_]
HEAD = object.__basicsize__
"""Bytes of an array object before its figures: address, dimensions (in 4 bytes), shape, strides.
All extension modules that were compiled against numpy rely on this layout."""


def address_of(array: NDArray[Any]) -> int:
    """Return where the numbers of an array are, as kernels read it, in a quarter of the time that
    ``array.ctypes`` takes."""
    return ctypes.c_int64.from_address(id(array) + HEAD).value
