"""ONNX nodes and tensors as plain values, so that nothing else touches protobuf."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.errors import GraphError

Shape = tuple[int, ...]
Value = NDArray[Any]

# TensorProto.DataType of the format's specification.
FLOAT, INT8, INT32, INT64, STRING, BOOL, UINT8 = 1, 3, 6, 7, 8, 9, 2
_NARROW_BITS = {2: 8, 3: 8, 9: 8, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
_DTYPES: dict[int, Any] = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
    9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64,
}  # fmt: skip
NUMPY_DTYPES = frozenset(map(np.dtype, _DTYPES.values()))
_BYTES = {1: 4, 4: 2, 5: 2, 6: 4, 7: 8, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2}

MAX_TENSOR_ELEMENTS = 2**48
"""Elements. Anything above is a broken file, and would leave the integers of the cost model."""


@dataclass(frozen=True)
class Tensor:
    """The known facts of a tensor: its shape always, its value if it is small and constant."""

    shape: Shape
    dtype: int
    constant: bool = False
    value: Value | None = None
    stored_as: int = 0
    """The data type of a constant before it was dequantised, or 0 if that is its own."""

    @property
    def elements(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def narrow_bits(self) -> int:
        """Return the bits of an element that is stored in a byte or less, and 0 for wider types."""
        return _NARROW_BITS.get(self.stored_as or self.dtype, 0)

    @property
    def element_bytes(self) -> int:
        """Return the bytes of an element. Types below a byte, and strings, count as one byte."""
        return _BYTES.get(self.dtype, 1)


def numpy_dtype(dtype: int) -> Any:
    """Return the numpy type of a TensorProto data type, or None if numpy itself has none."""
    return _DTYPES.get(dtype)


def dtype_of(value: Value) -> int:
    """Return the TensorProto data type of an array."""
    for number, dtype in _DTYPES.items():
        if value.dtype == dtype:
            return number
    raise GraphError(f"an array of type {value.dtype} has no place in an ONNX graph")


@dataclass(frozen=True)
class Node:
    """A node: its operator, names of its tensors ("" for one that is left out), its attributes."""

    name: str
    operator: str
    domain: str
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    proto: Any

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Return the attribute values. Strings are decoded."""
        from onnx import helper

        values: dict[str, Any] = {}
        for attribute in self.proto.attribute:
            value = helper.get_attribute_value(attribute)
            values[attribute.name] = value.decode() if isinstance(value, bytes) else value
        return values

    @property
    def label(self) -> str:
        """Return the name of the node in messages."""
        return f"node {self.name!r} ({self.operator})"

    def integer(self, name: str, default: int) -> int:
        """Return an integer attribute."""
        return int(self.attributes.get(name, default))

    def integers(self, name: str) -> Shape | None:
        """Return an attribute that is a list of integers, or None if it is absent."""
        values = self.attributes.get(name)
        return None if values is None else tuple(int(value) for value in values)

    def text(self, name: str, default: str) -> str:
        """Return a string attribute."""
        return str(self.attributes.get(name, default))

    def error(self, text: str) -> GraphError:
        """Return an error that names the node."""
        return GraphError(f"{self.label}: {text}")


def axis_in(node: Node, axis: int, rank: int) -> int:
    """Return ``axis`` counted from 0.

    Raises:
        GraphError: if the tensor of rank ``rank`` has no such axis.
    """
    if not -rank <= axis < rank:
        raise node.error(f"axis {axis} is outside a tensor of {rank} dimensions")
    return axis % rank
