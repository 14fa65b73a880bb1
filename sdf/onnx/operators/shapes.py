"""Shapes and types of a node's outputs from those of its inputs.

The common operators have explicit rules. These also cover cases that the schemas of early opsets
leave open (broadcasting by attribute, ``Reshape`` by attribute) and check the divisors of ONNX's
shape inference. All others use ONNX's shape inference, one node at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.nodes import Node, dtype_of
from paretosoc.sdf.onnx.operators import compute_shapes as compute
from paretosoc.sdf.onnx.operators import layout_shapes as layout
from paretosoc.sdf.onnx.operators.attention import contributed_attention
from paretosoc.sdf.onnx.operators.compute_shapes import Inputs, Typed
from paretosoc.sdf.onnx.operators.op_kinds import CONTRIBUTED_DOMAIN, kind_of

DATA_DEPENDENT = frozenset({"NonZero", "NonMaxSuppression", "Compress", "Unique"})
"""Operators with data-dependent numbers of output elements; the largest is taken."""

_Rule = Callable[[Node, Inputs], Sequence[Typed | None]]
_COMPARISONS = "Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor"
_BROADCASTING = (
    "Add Sub Mul Div Sum Mean Max Min Pow Mod BitwiseAnd BitwiseOr BitwiseXor BitShift Where"
)
_TABLE: dict[str, _Rule] = {
    _BROADCASTING: compute.broadcast,
    _COMPARISONS: compute.compare,
    "Conv ConvInteger QLinearConv FusedConv": compute.convolution,
    "ConvTranspose": compute.deconvolution,
    "AveragePool MaxPool LpPool QLinearAveragePool": compute.pooling,
    "GlobalAveragePool GlobalMaxPool GlobalLpPool QLinearGlobalAveragePool": compute.pooling,
    "Gemm FusedGemm QGemm": compute.gemm,
    "MatMul MatMulInteger QLinearMatMul FusedMatMul TransposeMatMul": compute.matmul,
    "MatMulIntegerToFloat DynamicQuantizeMatMul": compute.matmul,
    "Einsum": compute.summation,
    "MatMulNBits": compute.packed_matmul,
    "GatherBlockQuantized": compute.packed_gather,
    "EmbedLayerNormalization QEmbedLayerNormalization": compute.embedding,
    "Dropout": compute.dropout,
    "Identity Not": compute.same,
    "Cast": compute.cast,
    "QuantizeLinear": compute.quantise,
    "DequantizeLinear": compute.dequantise,
    "QLinearAdd QLinearMul": compute.quantised_broadcast,
    "SkipLayerNormalization SkipSimplifiedLayerNormalization": compute.skip_normalisation,
    "NonZero": compute.nonzero,
    "NonMaxSuppression": compute.selected_boxes,
    "Concat": layout.concat,
    "QLinearConcat": layout.quantised_concat,
    "Reshape": layout.reshape,
    "Flatten": layout.flatten,
    "Split": layout.split,
    "GatherND": layout.gather_nd,
    "Squeeze": layout.squeeze,
    "Unsqueeze": layout.unsqueeze,
    "Transpose": layout.transpose,
    "Compress": layout.compressed,
    "Unique": layout.unique,
}
_RULES = {operator: rule for operators, rule in _TABLE.items() for operator in operators.split()}
_SAME_SHAPE_KINDS = (LayerKind.ACTIVATION, LayerKind.NORMALISATION, LayerKind.SOFTMAX)
_SAME_SHAPE = (
    "BiasAdd RotaryEmbedding Affine Scale ImageScaler ScaledTanh ParametricSoftplus "
    "Neg Abs Exp Log Sqrt Reciprocal Floor Ceil Round Sign"
)


def output_types(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return shape and type of every output, or None if neither a rule nor ONNX gives it.

    Raises:
        GraphError: if the inputs do not fit the operator.
    """
    rule = _rule_for(node)
    if rule is not None:
        known = list(rule(node, inputs))
        return [known[i] if i < len(known) else None for i in range(len(node.outputs))]
    return _asked_of_onnx(node, inputs)


def _rule_for(node: Node) -> _Rule | None:
    if node.domain not in ("", CONTRIBUTED_DOMAIN):
        return None
    kind = kind_of(node.domain, node.operator)
    if kind is LayerKind.UNKNOWN:
        return None
    if node.domain == CONTRIBUTED_DOMAIN and kind is LayerKind.ATTENTION:
        return contributed_attention
    if node.operator in _RULES:
        return _RULES[node.operator]
    if kind in _SAME_SHAPE_KINDS or node.operator in _SAME_SHAPE.split():
        return compute.first_only
    return None


@lru_cache(maxsize=1024)
def _schema(operator: str, opset: int, domain: str) -> Any:
    from onnx import defs

    try:
        return defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return None


def knows(node: Node) -> bool:
    """Return whether this program has a cost for the operator."""
    return kind_of(node.domain, node.operator) is not LayerKind.UNKNOWN


def _asked_of_onnx(node: Node, inputs: Inputs) -> list[Typed | None]:
    schema = _schema(node.operator, node.opset, node.domain)
    unknown: list[Typed | None] = [None] * len(node.outputs)
    if schema is None:
        return unknown
    # ONNX's inference does not come back from some strings that are no text.
    _ = node.attributes
    from onnx import checker, helper, numpy_helper, shape_inference

    types: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, tensor in zip(node.inputs, inputs, strict=True):
        if tensor is None:
            continue
        types[name] = helper.make_tensor_type_proto(tensor.dtype, tensor.shape)
        if tensor.value is not None and dtype_of(tensor.value) == tensor.dtype:
            values[name] = numpy_helper.from_array(tensor.value, name)
    opsets = [helper.make_opsetid(node.domain, node.opset)]
    try:
        found = shape_inference.infer_node_outputs(
            schema, node.proto, types, values, opset_imports=opsets
        )
    except (
        checker.ValidationError,
        shape_inference.InferenceError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        text = str(error).strip().splitlines()
        raise node.error(f"its shape cannot be inferred: {text[0] if text else error!r}") from None
    return [_typed(node, found[name]) if name in found else None for name in node.outputs]


def _typed(node: Node, type_proto: Any) -> Typed | None:
    which = type_proto.WhichOneof("value")
    if which is None:
        return None
    if which != "tensor_type":
        raise node.error("sequences, maps, optional and sparse tensors cannot be mapped")
    tensor = type_proto.tensor_type
    if not tensor.HasField("shape"):
        return None
    sizes = [entry.dim_value if entry.HasField("dim_value") else -1 for entry in tensor.shape.dim]
    return None if any(size < 0 for size in sizes) else (tuple(sizes), int(tensor.elem_type))
