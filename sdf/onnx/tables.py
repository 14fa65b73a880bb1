"""Constant tables: a layer that looks up in one reads the fetched entries, and memory holds all."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from paretosoc.sdf.onnx.nodes import Node, Tensor
from paretosoc.sdf.onnx.operators.shape_rules import Inputs
from paretosoc.sdf.onnx.walk import Walk

_GATHERED = ("Gather", "GatherElements", "GatherND", "GatherBlockQuantized")
_ROWS = {
    "EmbedLayerNormalization": range(2, 5),
    "QEmbedLayerNormalization": range(2, 5),
    "RotaryEmbedding": range(1, 4),
    "GroupQueryAttention": range(7, 9),
}
"""Inputs of which one row is read for every token."""


def is_table(node: Node, index: int) -> bool:
    """Return whether a node looks up in this input."""
    if node.operator == "GatherBlockQuantized":
        return index != 1
    return index == 0 if node.operator in _GATHERED else index in _ROWS.get(node.operator, ())


def read_elements(node: Node, index: int, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """Return the elements of an input that a node reads."""
    tensor = inputs[index]
    if tensor is None:
        return 0
    read = tensor.elements
    if node.operator == "GatherBlockQuantized":
        indices = inputs[1]
        read = 0 if indices is None else prod(indices.shape) * prod(tensor.shape[1:])
    elif node.operator in _GATHERED:
        read = sum(output.elements for output in outputs)
    elif is_table(node, index):
        read = _tokens(inputs) * tensor.shape[-1]
    return min(tensor.elements, read)


def _tokens(inputs: Inputs) -> int:
    """Return batch times length. Heads may be a dimension between the two."""
    shape = (1, 1) if inputs[0] is None else inputs[0].shape
    return shape[0] * (shape[2] if len(shape) == 4 else shape[-1 if len(shape) < 3 else 1])


class Tables:
    """The tables of a model. Entries that no layer reads count once, however many look up."""

    def __init__(self, walk: Walk) -> None:
        self._origin: dict[str, str] = {}
        """Of a constant that is another one in another layout or type, as an output's matrix is
        that is the embedding's."""
        for node in walk.constants:
            source, made = (*node.inputs, "")[0], (*node.outputs, "")[0]
            known = walk.tensors.get(source), walk.tensors.get(made)
            if known[0] and known[1] and known[0].elements == known[1].elements:
                self._origin[made] = self._origin.get(source, source)
        self._counted = {
            self._origin.get(name, name)
            for node in walk.layers
            for index, name in enumerate(node.inputs)
            if not is_table(node, index)
        }

    def unread(self, node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> tuple[int, int]:
        """Return how many entries of the node's tables memory holds beside those that are read, and
        the bits of others, which are stored in a byte or less."""
        wide = bits = 0
        for index, (name, tensor) in enumerate(zip(node.inputs, inputs, strict=True)):
            origin = self._origin.get(name, name)
            if tensor is None or not tensor.constant or origin in self._counted:
                continue
            self._counted.add(origin)
            rest = tensor.elements - read_elements(node, index, inputs, outputs)
            bits += rest * tensor.narrow_bits
            wide += 0 if tensor.narrow_bits else rest
        return wide, bits
