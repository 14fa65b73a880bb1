"""Tables and numbers that kernels take behind one pointer.

A named tuple of arrays is passed to a compiled function field by field, seven values for an array,
and most of the time of compiling went into copying them. Here a function takes one pointer, and
loads each field at its use. :mod:`fitness.simulator.types.table_types` has its types for the
compiler.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from copy import copy
from dataclasses import fields
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Any, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import address_of

CACHE_LINE = 64
LANES = 16
"""Design points that are simulated at the same time, as numbers in a vector of compiled code that
two registers hold. With one, the processor waits for each division."""
RecordArray = np.recarray[Any, Any]


def record(*names: str) -> np.dtype[np.void]:
    """Return a record type of int64 with these fields."""
    return np.dtype([(name, np.int64) for name in names], align=True)


def records(dtype: np.dtype[np.void], *shape: int) -> RecordArray:
    """Return a table of records, all 0. With no dimension it is one record."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    start = -address_of(memory) % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape).view(np.recarray)


def ones(dtype: np.dtype[np.void]) -> RecordArray:
    """Return one record of arrays, all 1."""
    block = records(dtype)
    for name in dtype.names or ():
        block[name] = 1
    return block


def columns(**lengths: tuple[int, type]) -> np.dtype[np.void]:
    """Return a record type of arrays, for vector instructions.

    The distances between the arrays are constants, so that the compiler sees that no written value
    is read again.
    """
    return np.dtype(
        [(name, kind, (length,)) for name, (length, kind) in lengths.items()], align=True
    )


T = TypeVar("T")


def zeros_for(kind: type[T], sizes: Mapping[str, int], *, dtype: Any = np.int64, **given: Any) -> T:
    """Return tables of zeros, but for those ``given``.

    Args:
        kind: a dataclass, whose tables are ``Annotated[IntArray, "rows, columns"]``.
        sizes: of the dimensions by these names. A number is its own size.
        dtype: of the zeros.
    """
    annotated: Any = kind
    made = {
        name: np.zeros([sizes[d] if d in sizes else int(d) for d in dimensions], dtype)
        for name, dimensions in _dimensions(annotated).items()
    }
    return kind(**made, **given)


@cache
def _dimensions(kind: type) -> dict[str, list[str]]:
    hints = get_type_hints(kind, include_extras=True).items()
    return {n: h.__metadata__[0].split(", ") for n, h in hints if hasattr(h, "__metadata__")}


def words_of(table: RecordArray) -> NDArray[np.int64]:
    """Return the memory of a table of records as a flat array."""
    return table.reshape(-1).view(np.ndarray).view(np.int64)


class Tables:
    """Base of frozen dataclasses whose fields are ints, bools and arrays of numbers or records.

    The arrays must not be replaced or resized afterwards: kernels know their addresses. A bool
    becomes part of the type: code under ``if tables.flag`` is left out if it is False.
    """

    _words: dict[str, list[int]]
    """Of each field."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_words", {})
        self._hold({field.name: getattr(self, field.name) for field in fields(self)})  # type: ignore[arg-type]

    def with_values(self, **values: Any) -> Self:
        """Return the tables with other values of some fields, whose arrays have the same types and
        dimensions."""
        # The copy keeps the signature, which takes most of the time of new tables.
        assert self.signature
        other = copy(self)
        object.__setattr__(other, "_words", dict(self._words))
        other._hold(values)
        return other

    def _hold(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                if not value.flags.c_contiguous:
                    value = np.require(value, requirements="C")
                self._words[name] = [address_of(value), *value.shape]
            else:
                self._words[name] = [int(value)]
            object.__setattr__(self, name, value)
        content = np.array(list(chain.from_iterable(self._words.values())), dtype=np.int64)
        object.__setattr__(self, "_content", content)
        object.__setattr__(self, "_address", address_of(content))

    @cached_property
    def signature(self) -> str:
        """Return what the machine code of kernels that take these tables depends on."""
        return _signature(type(self).__name__, self._shapes)

    @cached_property
    def _numba_type_(self) -> Any:
        # Imported here: only the compiler needs it.
        from paretosoc.fitness.simulator.types.table_types import tables_type

        return tables_type(type(self).__name__, self._shapes)

    @property
    def _shapes(self) -> tuple[tuple[str, Any, int | bool], ...]:
        """Return the name of each field, and the part of its value that the type depends on."""
        return tuple((field.name, *_shape(getattr(self, field.name))) for field in fields(self))  # type: ignore[arg-type]


def _shape(value: Any) -> tuple[Any, int | bool]:
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    return (bool, value) if isinstance(value, bool) else (int, 0)


# A front's members are simulated one after the other: hundreds of tables of few types.
@lru_cache(maxsize=256)
def _signature(title: str, shapes: tuple[tuple[str, Any, int | bool], ...]) -> str:
    text = repr([(name, _layout(kind), size) for name, kind, size in shapes])
    return f"{title}#{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _layout(kind: Any) -> Any:
    """Return a description of a type that is the same in all versions of numpy."""
    if not isinstance(kind, np.dtype):
        return kind.__name__
    if kind.fields is None:
        return kind.str, kind.shape
    entries = ((name, _layout(entry), offset) for name, (entry, offset, *_) in kind.fields.items())
    return [*entries, kind.itemsize]
