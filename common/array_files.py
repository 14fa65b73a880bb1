"""Arrays in numpy's ``.npy`` format, whose headers are checked before their data are read."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from paretosoc.common.errors import DseError

MAX_ARRAY_BYTES = 1 << 30
"""A few kilobytes of a compressed file can claim to be more than any memory holds."""


def read_array(
    stream: IO[bytes],
    path: Path,
    error: type[DseError],
    accept: Callable[[tuple[int, ...]], object] = lambda shape: None,
) -> NDArray[Any]:
    """Read one array of numbers. Python objects are never loaded.

    Args:
        stream: an ``.npy`` file, or a member of an ``.npz`` file.
        path: starts messages.
        error: the class of errors.
        accept: called with the shape before the data are read. Raises if it does not fit.

    Returns:
        The array. It cannot be written to.

    Raises:
        DseError: of the class ``error``, if the stream holds no array of numbers, is cut off, or
            holds more than ``MAX_ARRAY_BYTES``.
    """
    try:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError
        shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
    except ValueError:
        raise error(f"{path}: an array in numpy's format is required (.npy, version 1)") from None
    if dtype.kind not in "fiub" or min(shape, default=0) < 0:
        raise error(f"{path}: an array of numbers is required, got one of the type {dtype}")
    accept(shape)
    size = prod(shape) * dtype.itemsize
    if size > MAX_ARRAY_BYTES:
        raise error(f"{path}: must have at most {MAX_ARRAY_BYTES} bytes unpacked, has {size}")
    data = stream.read(size)
    if len(data) < size:
        raise error(f"{path}: is cut off")
    return np.ndarray(shape, dtype, data, order="F" if is_fortran else "C")
