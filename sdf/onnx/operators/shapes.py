"""Shapes and types of a node's outputs from those of its inputs.

ONNX's shape inference gives them, one node at a time. :mod:`~sdf.onnx.operators.shape_rules` has
the operators that it cannot be asked about. A contributed operator without a rule has the shapes
of one of ONNX's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.nodes import Node, dtype_of
from paretosoc.sdf.onnx.operators import shape_rules as rules
from paretosoc.sdf.onnx.operators.attention import contributed_attention
from paretosoc.sdf.onnx.operators.op_kinds import CONTRIBUTED_DOMAIN, kind_of
from paretosoc.sdf.onnx.operators.shape_rules import Inputs, Typed

DATA_DEPENDENT = frozenset({"NonZero", "NonMaxSuppression", "Compress", "Unique"})
"""Operators with data-dependent numbers of output elements; the largest is taken."""

_Rule = Callable[[Node, Inputs], Sequence[Typed | None]]
_TABLE: dict[str, _Rule] = {
    "Conv ConvInteger QLinearConv FusedConv": rules.convolution,
    "ConvTranspose": rules.deconvolution,
    "AveragePool MaxPool LpPool QLinearAveragePool": rules.pooling,
    "GlobalAveragePool GlobalMaxPool GlobalLpPool QLinearGlobalAveragePool": rules.pooling,
    "Gemm FusedGemm QGemm": rules.gemm,
    "MatMul MatMulInteger QLinearMatMul FusedMatMul TransposeMatMul": rules.matmul,
    "MatMulIntegerToFloat DynamicQuantizeMatMul": rules.matmul,
    "Einsum": rules.summation,
    "MatMulNBits": rules.packed_matmul,
    "GatherBlockQuantized": rules.packed_gather,
    "DynamicQuantizeLSTM": rules.recurrence,
    "EmbedLayerNormalization QEmbedLayerNormalization": rules.embedding,
    "Cast": rules.cast,
    "Dropout": rules.dropout,
    "SkipLayerNormalization SkipSimplifiedLayerNormalization": rules.skip_normalisation,
    "NonZero": rules.nonzero,
    "NonMaxSuppression": rules.selected_boxes,
    "Reshape": rules.reshape,
    "Compress": rules.compressed,
    "Unique": rules.unique,
    "BiasAdd RotaryEmbedding Affine Scale ImageScaler ScaledTanh ParametricSoftplus": rules.same,
    "Neg Abs Exp Log Sqrt Reciprocal Floor Ceil Round Sign Identity Not": rules.same,
}
_RULES = {operator: rule for operators, rule in _TABLE.items() for operator in operators.split()}
_SAME_SHAPE_KINDS = (LayerKind.ACTIVATION, LayerKind.NORMALISATION, LayerKind.SOFTMAX)
_LIKE = {
    "QLinearAdd": ("Add", slice(0, 4, 3)),
    "QLinearMul": ("Mul", slice(0, 4, 3)),
    "QLinearConcat": ("Concat", slice(2, None, 3)),
    "QuantizeLinear": ("QuantizeLinear", slice(None)),
    "DequantizeLinear": ("DequantizeLinear", slice(None)),
}
"""Contributed operators: the operator of ONNX with the same shapes, and which inputs it has. Scale
and zero point follow each tensor, those of the result of ``QLinearConcat`` come first."""
_LIKE_OPSET = 21
_FIRST_INFERRED = 6
"""Operators of opsets before are inferred as those of this one."""


def output_types(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return shape and type of every output, or None if neither a rule nor ONNX gives it.

    Raises:
        GraphError: if the inputs do not fit the operator.
    """
    if node.domain == CONTRIBUTED_DOMAIN and node.operator in _LIKE:
        return _inferred(*_like(node, inputs, *_LIKE[node.operator]))
    rule = _rule_for(node)
    if rule is None:
        return _inferred(node, inputs)
    known = list(rule(node, inputs))
    return [known[i] if i < len(known) else None for i in range(len(node.outputs))]


def _rule_for(node: Node) -> _Rule | None:
    kind = kind_of(node.domain, node.operator)
    if node.domain not in ("", CONTRIBUTED_DOMAIN) or kind is LayerKind.UNKNOWN:
        return None
    if node.domain == CONTRIBUTED_DOMAIN and kind is LayerKind.ATTENTION:
        return contributed_attention
    return _RULES.get(node.operator, rules.same if kind in _SAME_SHAPE_KINDS else None)


@lru_cache(maxsize=1024)
def _schema(operator: str, opset: int, domain: str) -> Any:
    """Return the schema to infer shapes by, or None if ONNX knows no such operator."""
    from onnx import defs

    try:
        schema = defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return None
    inferred = schema.has_type_and_shape_inference_function
    if domain == "" and opset < _FIRST_INFERRED and not inferred:
        return _schema(operator, _FIRST_INFERRED, domain)
    return schema


def knows(node: Node) -> bool:
    """Return whether this program has a cost for the operator."""
    return kind_of(node.domain, node.operator) is not LayerKind.UNKNOWN


def _like(node: Node, inputs: Inputs, operator: str, places: slice) -> tuple[Node, Inputs]:
    """Return a node of an operator of ONNX in the place of a contributed one, and its inputs."""
    from onnx import helper

    proto = helper.make_node(operator, node.inputs[places], node.outputs)
    proto.attribute.extend(node.proto.attribute)
    names = tuple(proto.input)
    return Node(node.name, operator, "", _LIKE_OPSET, names, node.outputs, proto), inputs[places]


def _inferred(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return the types that ONNX infers for a node's outputs, None for open ones."""
    schema = _schema(node.operator, node.opset, node.domain)
    if schema is None:
        return [None] * len(node.outputs)
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
        given = ", ".join(str(list(tensor.shape)) for tensor in inputs if tensor)
        raise node.error(
            f"its shape cannot be inferred from {given or 'no input'}: "
            f"{text[0] if text else repr(error)}"
        ) from None
    return [_typed(node, found[name]) if name in found else None for name in node.outputs]


def _typed(node: Node, type_proto: Any) -> Typed | None:
    which = type_proto.WhichOneof("value")
    if which is None:
        return None
    if which != "tensor_type":
        raise node.error(
            "sequences, maps, optional and sparse tensors cannot be mapped; export the model "
            "without them"
        )
    tensor = type_proto.tensor_type
    if not tensor.HasField("shape"):
        return None
    sizes = [entry.dim_value if entry.HasField("dim_value") else -1 for entry in tensor.shape.dim]
    return None if any(size < 0 for size in sizes) else (tuple(sizes), int(tensor.elem_type))
