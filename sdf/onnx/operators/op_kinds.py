"""The kind of layer of each ONNX operator."""

from __future__ import annotations

from paretosoc.sdf.layer import LayerKind

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""Operators that hold graphs of their own. An ``If`` is resolved if its condition follows from
constants and sizes. A network with any other of them is refused."""

CONTRIBUTED_DOMAIN = "com.microsoft"

_DEFAULT_DOMAIN: dict[LayerKind, str] = {
    LayerKind.CONVOLUTION: "Conv ConvInteger QLinearConv DeformConv CausalConvWithState",
    LayerKind.DECONVOLUTION: "ConvTranspose",
    LayerKind.MATRIX_PRODUCT: "Gemm MatMul MatMulInteger QLinearMatMul Einsum",
    LayerKind.POOLING: (
        "AveragePool MaxPool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool MaxUnpool "
        "MaxRoiPool"
    ),
    LayerKind.NORMALISATION: (
        "BatchNormalization InstanceNormalization LayerNormalization GroupNormalization "
        "RMSNormalization LRN LpNormalization MeanVarianceNormalization "
        "SimplifiedLayerNormalization"
    ),
    LayerKind.ACTIVATION: (
        "Relu LeakyRelu PRelu ThresholdedRelu Elu Celu Selu Gelu Sigmoid HardSigmoid HardSwish "
        "Swish Mish Tanh Softplus Softsign Clip Erf Hardmax Shrink"
    ),
    LayerKind.ELEMENTWISE: (
        "Add Sub Mul Div Sum Mean Max Min Pow Mod Neg Abs Exp Log Sqrt Reciprocal Floor Ceil "
        "Round Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Equal Greater "
        "GreaterOrEqual Less LessOrEqual And Or Xor Not BitwiseAnd BitwiseOr BitwiseXor "
        "BitwiseNot BitShift Where IsNaN IsInf Cast CastLike BitCast "
        "DynamicQuantizeLinear CumSum CumProd SwiGLU Bernoulli Affine Scale "
        "ImageScaler ParametricSoftplus ScaledTanh RotaryEmbedding"
    ),
    LayerKind.REDUCTION: (
        "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
        "ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK NonMaxSuppression Unique NonZero Det "
        "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
    ),
    LayerKind.RESIZE: "Resize Upsample GridSample RoiAlign AffineGrid",
    LayerKind.SOFTMAX: "Softmax LogSoftmax",
    LayerKind.ATTENTION: "Attention",
    LayerKind.RECURRENT: "LSTM GRU RNN",
    LayerKind.CONCATENATION: "Concat",
    LayerKind.DATA_MOVEMENT: (
        "Transpose Slice Gather GatherElements GatherND Scatter ScatterElements ScatterND "
        "TensorScatter Pad Split Expand Tile DepthToSpace SpaceToDepth OneHot Trilu "
        "ReverseSequence Compress EyeLike Range Shape Size ConstantOfShape Constant Crop "
        "CenterCropPad RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial "
        "Col2Im"
    ),
    # Runtimes fold quantise and dequantise nodes into the operators between them: they say in
    # which format these compute, as a reshape says how a tensor is indexed.
    LayerKind.RESHAPE: (
        "Reshape Flatten Squeeze Unsqueeze Identity Dropout QuantizeLinear DequantizeLinear"
    ),
}

_CONTRIBUTED: dict[LayerKind, str] = {
    LayerKind.CONVOLUTION: "FusedConv QLinearConv",
    LayerKind.MATRIX_PRODUCT: (
        "FusedMatMul FusedGemm QGemm MatMulNBits MatMulIntegerToFloat DynamicQuantizeMatMul "
        "TransposeMatMul"
    ),
    LayerKind.POOLING: "QLinearAveragePool QLinearGlobalAveragePool",
    LayerKind.NORMALISATION: (
        "SkipLayerNormalization SimplifiedLayerNormalization SkipSimplifiedLayerNormalization "
        "LayerNormalization EmbedLayerNormalization QEmbedLayerNormalization GroupNorm"
    ),
    LayerKind.ACTIVATION: "Gelu FastGelu BiasGelu QuickGelu QLinearSigmoid QLinearLeakyRelu",
    LayerKind.ELEMENTWISE: "QLinearAdd QLinearMul BiasAdd RotaryEmbedding",
    LayerKind.SOFTMAX: "QLinearSoftmax BiasSoftmax",
    LayerKind.ATTENTION: "Attention QAttention MultiHeadAttention GroupQueryAttention",
    LayerKind.RECURRENT: "DynamicQuantizeLSTM",
    LayerKind.CONCATENATION: "QLinearConcat",
    LayerKind.DATA_MOVEMENT: "GatherBlockQuantized",
    LayerKind.RESHAPE: "QuantizeLinear DequantizeLinear",
}


def _by_operator(table: dict[LayerKind, str]) -> dict[str, LayerKind]:
    return {operator: kind for kind, operators in table.items() for operator in operators.split()}


_KINDS = {
    "": _by_operator(_DEFAULT_DOMAIN),
    CONTRIBUTED_DOMAIN: _by_operator(_CONTRIBUTED),
    "ai.onnx.preview": {"FlexAttention": LayerKind.ATTENTION},
}


def kind_of(domain: str, operator: str) -> LayerKind:
    """Return the kind of an operator, or ``LayerKind.UNKNOWN`` if it is in no table."""
    return _KINDS.get(domain, {}).get(operator, LayerKind.UNKNOWN)


def needs_plugin(domain: str) -> bool:
    """Return whether the operators of a domain are neither ONNX's nor ONNX Runtime's, so that a
    runtime has them from a plugin only."""
    return bool(domain) and not f"{domain}.".startswith(("ai.onnx.", f"{CONTRIBUTED_DOMAIN}."))


def operation_name(domain: str, operator: str) -> str:
    """Return a layer's name of its operator: ``Conv``, or ``domain::Op`` outside ONNX's own
    domain."""
    return f"{domain}::{operator}" if domain else operator
