"""Attention in its forms: the cost of a node by its queries, its keys and its cache.

Covers ONNX's own operator and those of ``com.microsoft``, whose inputs differ in order and layout.
Scores and weighted values are counted between every query and every key, those of the cache (past
keys) included, whatever a mask hides.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.onnx.nodes import FLOAT, Node, Shape, Tensor
from paretosoc.sdf.onnx.operators.shape_rules import Inputs, Typed, data_input, weight_input

OPERATORS = frozenset({"Attention", "QAttention", "MultiHeadAttention", "GroupQueryAttention"})
"""Operators of the contributed domain."""


@dataclass(frozen=True)
class Attention:
    """One attention: ``keys`` and ``cached`` count positions, the sizes are per head."""

    batch: int
    queries: int
    keys: int
    heads: int
    key_heads: int
    key_size: int
    value_size: int
    cached: int
    """Positions that the node returns for the next step."""
    projection_macs: int = 0
    """Multiply-accumulates of query, key and value, if the operator computes them."""

    @property
    def macs(self) -> int:
        """Return the multiply-accumulates."""
        pairs = self.batch * self.heads * self.queries * self.keys
        return pairs * (self.key_size + self.value_size) + self.projection_macs


def attention_of(node: Node, inputs: Inputs) -> Attention:
    """Read a node of the operator ``Attention`` or of one in :data:`OPERATORS`.

    Raises:
        GraphError: if its inputs do not fit the operator.
    """
    query = data_input(node, inputs)
    if not node.domain or len(query.shape) == 4:
        return _plain(node, inputs)
    match node.operator:
        case "Attention" | "QAttention":
            return _projecting(node, inputs)
        case "GroupQueryAttention":
            return _grouped(node, inputs)
        case _:
            return _multi_head(node, inputs)


def contributed_attention(node: Node, inputs: Inputs) -> list[Typed]:
    """Return result and cache of the contributed operators."""
    found = attention_of(node, inputs)
    data = data_input(node, inputs)
    dtype = FLOAT if node.operator == "QAttention" else data.dtype
    result = ((found.batch, found.queries, found.heads * found.value_size), dtype)
    kept = (found.batch, found.key_heads, found.cached)
    if node.operator in ("Attention", "QAttention"):
        return [result, ((2, *kept, found.key_size), dtype)]
    return [result, ((*kept, found.key_size), dtype), ((*kept, found.value_size), dtype)]


def _plain(node: Node, inputs: Inputs) -> Attention:
    """Read inputs whose heads are a dimension of their own, or packed into the last one."""
    query, key, value = data_input(node, inputs).shape, _shape(inputs, 1), _shape(inputs, 2)
    past = _shape(inputs, 4)
    if key is None or value is None or {len(query), len(key), len(value)} - {3, 4}:
        raise node.error("needs query, key and value of 3 or 4 dimensions")
    heads = query[1] if len(query) == 4 else node.integer("q_num_heads", 1)
    key_heads = key[1] if len(key) == 4 else node.integer("kv_num_heads", heads)
    before = past[2] if past and len(past) == 4 else 0
    return Attention(
        batch=query[0],
        queries=query[-2],
        keys=key[-2] + before,
        heads=heads,
        key_heads=key_heads,
        key_size=_per_head(node, query, heads),
        value_size=_per_head(node, value, key_heads),
        cached=key[-2] + before,
    )


def _projecting(node: Node, inputs: Inputs) -> Attention:
    """Read one input and one weight for query, key and value. The cache is one tensor."""
    data, weight = data_input(node, inputs).shape, weight_input(node, inputs).shape
    if len(data) != 3 or len(weight) != 2:
        raise node.error(f"needs data of 3 dimensions and a matrix, got {[data, weight]}")
    batch, length, hidden = data
    past = _shape(inputs, 8 if node.operator == "QAttention" else 4)
    before = past[3] if past and len(past) == 5 else 0
    heads = max(1, node.integer("num_heads", 1))
    widths = node.integers("qkv_hidden_sizes") or (weight[1] // 3,) * 3
    keys = length + before
    shared = node.integer("past_present_share_buffer", 0) and before
    return Attention(
        batch, length, keys, heads, heads, widths[0] // heads, widths[-1] // heads,
        cached=before if shared else keys,
        projection_macs=batch * length * hidden * weight[1],
    )  # fmt: skip


def _multi_head(node: Node, inputs: Inputs) -> Attention:
    """Read inputs with heads packed into the last dimension, or all three in one tensor."""
    query, key, value = data_input(node, inputs).shape, _shape(inputs, 1), _shape(inputs, 2)
    heads = max(1, node.integer("num_heads", 1))
    past = _shape(inputs, 6)
    before = past[2] if past and len(past) == 4 else 0
    if len(query) == 5:  # batch, length, heads, 3, size
        batch, length, heads, _, size = query
        return Attention(batch, length, length + before, heads, heads, size, size, length + before)
    if len(query) != 3 or key is None:
        raise node.error(f"needs a query of 3 dimensions and keys, got {[query, key]}")
    batch, length, _ = query
    size = _per_head(node, query, heads)
    if len(key) == 4 or len(key) == 5:
        # Keys of another network: batch, heads, length, size; or with their values:
        # batch, length, heads, 2, size.
        count = key[2] if len(key) == 4 else key[1]
        value_size = value[-1] if len(key) == 4 and value else size
    else:
        count = key[1]
        value_size = size if value is None else _per_head(node, value, heads)
    keys = count + before
    return Attention(batch, length, keys, heads, heads, size, value_size, keys)


def _grouped(node: Node, inputs: Inputs) -> Attention:
    """Read several query heads that share a key head. Keys may be packed behind the queries."""
    query, key, past = data_input(node, inputs).shape, _shape(inputs, 1), _shape(inputs, 3)
    heads, key_heads = node.integer("num_heads", 1), node.integer("kv_num_heads", 1)
    if len(query) != 3 or min(heads, key_heads) < 1:
        raise node.error(f"needs a query of 3 dimensions and heads, got {list(query)}")
    batch, length, _ = query
    size = _per_head(node, query, heads if key is not None else heads + 2 * key_heads)
    before = past[2] if past and len(past) == 4 else 0
    # A cache that is as long as it may become is said by the total length, which is an input.
    total = inputs[6] if len(inputs) > 6 else None
    known = total is not None and total.value is not None and total.value.size == 1
    keys = int(total.value.reshape(())) if known and total and total.value is not None else 0
    keys = keys if keys > 0 else before + length
    return Attention(
        batch, length, keys, heads, key_heads, size, size, cached=max(keys, before)
    )  # fmt: skip


def _shape(inputs: Inputs, index: int) -> Shape | None:
    tensor: Tensor | None = inputs[index] if index < len(inputs) else None
    return None if tensor is None else tensor.shape


def _per_head(node: Node, shape: Shape, heads: int) -> int:
    if len(shape) == 4:
        return shape[3]
    if heads < 1 or shape[-1] % heads:
        raise node.error(f"{shape[-1]} features cannot be divided among {heads} heads")
    return shape[-1] // heads
