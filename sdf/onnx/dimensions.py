"""Sizes of dynamic dimensions: given by the user, taken as 1 (the batch), or asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.nodes import Shape

_BATCH_NAME = re.compile(r".*batch.*|n|b|bs|unk__\d+|none|\?|dynamic|s\d+", re.IGNORECASE)
"""Names of the first dimension of an input that stand for the batch."""
_NO_NAMES = ("", "?")
"""Some exporters write the second for every size that they do not know."""
_IMAGE_DIMENSIONS = 4
"""An input of as many has the batch in front, whatever that is called."""


class Dimensions:
    """Sizes by ``input:axis``, or by name.

    A name may be a sum of other names and numbers: ``past_sequence_length + 1``.

    Raises:
        GraphError: on a size that is no whole number of at least 1.
    """

    def __init__(self, given: Mapping[str, int], inputs: Iterable[Any]) -> None:
        for name, size in given.items():
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise GraphError(
                    f"dimension {name!r} must be a whole number of at least 1, got {size}"
                )
        self._given = dict(given)
        self._used: set[str] = set()
        self.names: list[str] = []
        """Dynamic dimensions of the inputs, by name or as ``input:axis``."""
        self._missing: dict[str, list[str]] = {}
        self.batch: list[str] = []
        """Inputs whose batch is taken as 1."""
        # The same name elsewhere in the file means the same size.
        self._batch_names = {
            entry.dim_param
            for value in inputs
            for axis, entry in enumerate(value.type.tensor_type.shape.dim)
            if entry.dim_param and _is_batch(value, axis, entry.dim_param)
        }

    @property
    def unused(self) -> tuple[str, ...]:
        """Names that were given and that no input has."""
        return tuple(sorted(set(self._given) - self._used))

    def of_input(self, value: Any, *, read: bool) -> Shape:
        """Return the shape of an input of the graph. ``read``: whether any node reads it."""
        sizes = []
        for axis, entry in enumerate(value.type.tensor_type.shape.dim):
            size = entry.dim_value if entry.HasField("dim_value") else 0
            place = f"{value.name}:{axis}"
            if size < 1:
                self.names.append(place if entry.dim_param in _NO_NAMES else entry.dim_param)
                size = self._size(place) or self._size(entry.dim_param)
            if size < 1 and read:
                if not (
                    entry.dim_param in self._batch_names or _is_batch(value, axis, entry.dim_param)
                ):
                    name = place if entry.dim_param in _NO_NAMES else entry.dim_param
                    self._missing.setdefault(name, []).append(value.name)
                elif value.name not in self.batch:
                    self.batch.append(value.name)
            sizes.append(max(1, size))
        return tuple(sizes)

    def of_tensor(self, shape: Any) -> Shape | None:
        """Return the shape that the file states for any other tensor, if all sizes are known."""
        sizes = []
        for axis, entry in enumerate(shape.dim):
            size = entry.dim_value if entry.HasField("dim_value") else 0
            if size < 1:
                size = self._size(entry.dim_param)
            if size < 1 and (
                entry.dim_param in self._batch_names or (axis == 0 and bool(self.batch))
            ):
                size = 1
            if size < 1:
                return None
            sizes.append(size)
        return tuple(sizes)

    def check(self) -> None:
        """Check that every dimension has a size.

        Raises:
            GraphError: naming all dimensions that have none."""
        # A sum needs no size of its own if its terms get one.
        for name in [name for name in self._missing if "+" in name]:
            terms = [term.strip() for term in name.split("+")]
            if all(term.isdecimal() or term in {*self._missing, *self._given} for term in terms):
                del self._missing[name]
        if not self._missing:
            return
        names = ", ".join(
            f"{name!r} of {inputs[0]!r}"
            + (f" and {len(inputs) - 1} more" if len(inputs) > 1 else "")
            for name, inputs in self._missing.items()
        )
        sizes = as_written("dimensions", dict.fromkeys(self._missing, "N"), command="--dim")
        shared = any(len(inputs) > 1 for inputs in self._missing.values())
        one = as_written("dimensions", {"INPUT:AXIS": "N"}, command="--dim")
        alone = f" (for one input alone: {one})" if shared else ""
        raise GraphError(f"dynamic dimensions need a size: {names}; give {sizes}{alone}")

    def _size(self, name: str) -> int:
        """Return the size of a dimension by its name or those of its terms, else 0."""
        if name in self._given:
            self._used.add(name)
            return self._given[name]
        terms = [term.strip() for term in name.split("+")]
        if len(terms) < 2:
            return 0
        sizes = [int(term) if term.isdecimal() else self._given.get(term, 0) for term in terms]
        if min(sizes) < 1:
            return 0
        self._used.update(set(terms) & set(self._given))
        return sum(sizes)


def _is_batch(value: Any, axis: int, name: str) -> bool:
    if "batch" in name.lower() and "+" not in name:
        return True
    if axis:
        return False
    rank = len(value.type.tensor_type.shape.dim)
    return not name or rank >= _IMAGE_DIMENSIONS or bool(_BATCH_NAME.fullmatch(name))
