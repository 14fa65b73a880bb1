"""Einstein summation: the sizes behind an equation such as ``bij,bjk->bik``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.nodes import Shape


@dataclass(frozen=True)
class Einsum:
    """The result of an equation for its operands."""

    output: Shape
    products: int
    """Multiply-accumulates: the entire index space, once for every operand beyond the first."""


def einsum(equation: str, operands: Sequence[Shape]) -> Einsum:
    """Evaluate an equation for operands of given shapes.

    Raises:
        GraphError: if the equation cannot be read or does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise GraphError(f"equation {equation!r} does not name {len(operands)} operands")
    sizes: dict[str, int] = {}
    hidden: Shape = ()
    for term, shape in zip(terms, operands, strict=True):
        before, dots, after = _parse(equation, term)
        free = len(shape) - len(before) - len(after)
        if free < 0 or (free and not dots):
            raise GraphError(f"term {term!r} of {equation!r} does not fit shape {list(shape)}")
        try:
            hidden = np.broadcast_shapes(hidden, shape[len(before) : len(before) + free])
        except ValueError:
            raise GraphError(f"the operands of {equation!r} cannot be broadcast") from None
        for index, size in (
            *zip(before, shape[: len(before)], strict=True),
            *zip(after, shape[len(before) + free :], strict=True),
        ):
            if sizes.get(index, 1) != 1 and size not in (1, sizes[index]):
                raise GraphError(f"index {index!r} of {equation!r} has several sizes")
            sizes[index] = max(size, sizes.get(index, 0))
    if arrow:
        before, dots, after = _parse(equation, right)
    else:
        # Without an arrow the indices that occur once remain, in alphabetical order.
        counts = Counter(index for index in left if index.isalpha())
        before, dots = "", "..." if hidden else ""
        after = "".join(sorted(index for index, count in counts.items() if count == 1))
    if any(index not in sizes for index in before + after):
        raise GraphError(f"the result of {equation!r} has an index that no operand has")
    output = (
        *(sizes[index] for index in before),
        *(hidden if dots else ()),
        *(sizes[index] for index in after),
    )
    return Einsum(output, (len(operands) - 1) * prod(sizes.values()) * prod(hidden))


def _parse(equation: str, term: str) -> tuple[str, str, str]:
    before, dots, after = term.partition("...")
    if any(not index.isalpha() for index in before + after):
        raise GraphError(f"the equation {equation!r} cannot be read")
    return before, dots, after
