"""Costs of operators against counting every multiplication."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, shape_inference

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import import_onnx_bytes
from paretosoc.sdf.onnx.operators.einsum import einsum

Shape = tuple[int, ...]


def layer_of(
    operation: str,
    data: dict[str, Shape],
    weights: dict[str, Shape],
    *,
    order: Sequence[str] | None = None,
    outputs: Sequence[str] = ("y",),
    domain: str = "",
    opset: int = 17,
    types: dict[str, int] | None = None,
    **attributes: Any,
) -> Layer:
    """The layer of a model with a single node."""
    types = types or {}
    node = helper.make_node(
        operation, order or [*data, *weights], list(outputs), domain=domain, **attributes
    )
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(n, types.get(n, 1), s) for n, s in data.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [TensorProto(name=n, data_type=types.get(n, 1), dims=s) for n, s in weights.items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (actor,) = import_onnx_bytes(model.SerializeToString(), name="one").graph.actors
    assert actor.layer is not None
    return actor.layer


@st.composite
def windows(draw: st.DrawFn) -> dict[str, Any]:
    rank = draw(st.integers(1, 3))
    sizes = st.integers(1, 3)
    return {
        "spatial": tuple(draw(st.integers(1, 9)) for _ in range(rank)),
        "kernel": tuple(draw(sizes) for _ in range(rank)),
        "strides": tuple(draw(sizes) for _ in range(rank)),
        "dilations": tuple(draw(sizes) for _ in range(rank)),
        "pads": tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)),
        "groups": draw(sizes),
        "inputs": draw(sizes),
        "outputs": draw(sizes),
        "auto_pad": draw(st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])),
    }


def window_attributes(window: dict[str, Any]) -> dict[str, Any]:
    attributes = {key: window[key] for key in ("strides", "dilations", "auto_pad")}
    if window["auto_pad"] == "NOTSET":
        attributes["pads"] = window["pads"]
    return attributes


@settings(deadline=None, derandomize=True, max_examples=100)
@given(windows())
def test_convolutions_count_every_multiplication(window: dict[str, Any]) -> None:
    groups, kernel = window["groups"], window["kernel"]
    channels, filters = groups * window["inputs"], groups * window["outputs"]
    x, w = (2, channels, *window["spatial"]), (filters, window["inputs"], *kernel)
    attributes = {**window_attributes(window), "group": groups}
    inferred = inferred_shape("Conv", {"x": x, "w": w}, attributes)
    pads = window["pads"] if window["auto_pad"] == "NOTSET" else (0,) * (2 * len(kernel))
    fits = window["auto_pad"].startswith("SAME") or all(
        (width - 1) * dilation < size + begin + end
        for width, dilation, size, begin, end in zip(
            kernel, window["dilations"], window["spatial"], pads, pads[len(kernel) :], strict=False
        )
    )
    if not fits:
        # ONNX's inference rounds a negative room towards zero and so finds an output.
        with pytest.raises(GraphError, match="does not fit into"):
            layer_of("Conv", {"x": x}, {"w": w}, **attributes)
        return
    layer = layer_of("Conv", {"x": x}, {"w": w}, **attributes)
    (shape,) = layer.output_shapes
    assert shape == inferred
    multiplications = sum(
        1
        for _ in product(*(range(size) for size in shape))
        for _ in product(range(window["inputs"]), *(range(size) for size in kernel))
    )
    assert layer.macs == multiplications
    assert layer.parameters == prod(w)
    assert layer.window is not None
    assert layer.window.groups == groups
    # The window with its padding written out gives the same shape.
    spatial = tuple(
        (size + begin + end - (width - 1) * dilation - 1) // stride + 1
        for size, begin, end, width, dilation, stride in zip(
            window["spatial"], layer.window.pads, layer.window.pads[len(kernel) :], kernel,
            layer.window.dilations, layer.window.strides, strict=False,
        )
    )  # fmt: skip
    assert spatial == shape[2:]


def inferred_shape(
    operation: str, inputs: dict[str, Shape], attributes: dict[str, Any]
) -> Shape | None:
    """What ONNX's own inference makes of the node."""
    graph = helper.make_graph(
        [helper.make_node(operation, list(inputs), ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", 1, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    try:
        result = shape_inference.infer_shapes(model, strict_mode=True).graph.output[0]
    except shape_inference.InferenceError:
        return None
    return tuple(size.dim_value for size in result.type.tensor_type.shape.dim)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(windows())
def test_transposed_convolutions_count_every_multiplication(window: dict[str, Any]) -> None:
    groups, kernel = window["groups"], window["kernel"]
    channels = groups * window["inputs"]
    x, w = (2, channels, *window["spatial"]), (channels, window["outputs"], *kernel)
    attributes = {**window_attributes(window), "group": groups}
    spatial = tuple(
        size * stride for size, stride in zip(window["spatial"], window["strides"], strict=True)
    )
    # The specification's rule for SAME; ONNX's inference breaks it where the stride is larger than
    # the kernel.
    wanted: Shape | None = (2, groups * window["outputs"], *spatial)
    if not window["auto_pad"].startswith("SAME"):
        wanted = inferred_shape("ConvTranspose", {"x": x, "w": w}, attributes)
    if wanted is None or min(wanted) < 1:
        with pytest.raises(GraphError, match="the output would have the sizes"):
            layer_of("ConvTranspose", {"x": x}, {"w": w}, **attributes)
        return
    layer = layer_of("ConvTranspose", {"x": x}, {"w": w}, **attributes)
    assert layer.output_shapes == (wanted,)
    # Each input element is spread over the kernel of every filter of its group.
    assert layer.macs == prod(x) * window["outputs"] * prod(kernel)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(windows(), st.booleans())
def test_poolings_have_the_shape_that_onnx_gives(window: dict[str, Any], ceil: bool) -> None:
    x = (1, 2, *window["spatial"])
    attributes = {
        "kernel_shape": window["kernel"], "strides": window["strides"],
        "dilations": window["dilations"], "ceil_mode": int(ceil),
        "pads": tuple(min(pad, size - 1) for pad, size in zip(
            window["pads"], window["kernel"] * 2, strict=True)),
    }  # fmt: skip
    try:
        layer = layer_of("MaxPool", {"x": x}, {}, opset=22, **attributes)
    except GraphError:
        return
    spatial = []
    for axis, size in enumerate(window["spatial"]):
        rank = len(window["spatial"])
        begin, end = attributes["pads"][axis], attributes["pads"][axis + rank]
        width = (window["kernel"][axis] - 1) * window["dilations"][axis] + 1
        stride = window["strides"][axis]
        # Slide a window by hand: it must fit, or with ceil at least start before the data ends.
        count, position = 0, -begin
        while position + width <= size + end:
            count, position = count + 1, position + stride
        last_end = position - stride + width
        if ceil and last_end < size + end and position < size:
            count += 1
        spatial.append(count)
    assert layer.output_shapes == ((1, 2, *spatial),)
    assert layer.macs == 0


@pytest.mark.parametrize(
    ("operation", "data", "weights", "attributes", "macs"),
    [
        ("Gemm", {"a": (3, 5)}, {"b": (5, 7), "c": (7,)}, {}, 105),
        ("Gemm", {"a": (5, 3)}, {"b": (7, 5)}, {"transA": 1, "transB": 1}, 105),
        ("MatMul", {"a": (4, 3, 5)}, {"b": (5, 7)}, {}, 420),
        ("MatMul", {"a": (2, 1, 3, 5), "b": (4, 5, 7)}, {}, {}, 840),
        ("MatMul", {"a": (5,), "b": (5,)}, {}, {}, 5),
        ("MatMul", {"a": (5,), "b": (4, 5, 7)}, {}, {}, 140),
        ("Einsum", {"a": (2, 3, 5), "b": (2, 5, 7)}, {}, {"equation": "bij,bjk->bik"}, 210),
        ("Einsum", {"a": (3, 5)}, {}, {"equation": "ij->ji"}, 0),
        ("LSTM", {"x": (4, 2, 3)}, {"w": (1, 20, 3), "r": (1, 20, 5)}, {"hidden_size": 5},
         4 * 2 * 20 * 8),
        ("GRU", {"x": (4, 2, 3)}, {"w": (2, 15, 3), "r": (2, 15, 5)},
         {"hidden_size": 5, "direction": "bidirectional"}, 4 * 2 * 2 * 15 * 8),
        ("RNN", {"x": (4, 2, 3)}, {"w": (1, 5, 3), "r": (1, 5, 5)}, {"hidden_size": 5},
         4 * 2 * 5 * 8),
    ],
)  # fmt: skip
def test_products(
    operation: str, data: dict[str, Shape], weights: dict[str, Shape], attributes: Any, macs: int
) -> None:
    layer = layer_of(operation, data, weights, **attributes)
    assert layer.macs == macs
    assert layer.parameters == sum(map(prod, weights.values()))


def test_attention() -> None:
    heads = {"q": (2, 3, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 6)}
    layer = layer_of("Attention", heads, {}, opset=23)
    assert layer.kind is LayerKind.ATTENTION
    assert layer.output_shapes == ((2, 3, 5, 6),)
    assert layer.macs == 2 * 3 * 5 * 7 * (4 + 6)
    flat = {"q": (2, 5, 12), "k": (2, 7, 12), "v": (2, 7, 18)}
    layer = layer_of("Attention", flat, {}, opset=23, q_num_heads=3, kv_num_heads=3)
    assert layer.macs == 2 * 3 * 5 * 7 * (4 + 6)
    assert layer.output_shapes == ((2, 5, 18),)
    shared = {"q": (2, 5, 12), "k": (2, 7, 4), "v": (2, 7, 6)}
    layer = layer_of("Attention", shared, {}, opset=23, q_num_heads=3, kv_num_heads=1)
    assert layer.macs == 2 * 3 * 5 * 7 * (4 + 6)
    assert layer.output_shapes == ((2, 5, 18),)


def test_attention_of_the_contributed_operators() -> None:
    layer = layer_of(
        "Attention", {"x": (2, 5, 8)}, {"w": (8, 24), "b": (24,)}, domain="com.microsoft",
        num_heads=2,
    )  # fmt: skip
    assert layer.output_shapes == ((2, 5, 8),)
    assert layer.macs == 2 * 5 * 8 * 24 + 2 * 2 * 5 * 5 * (4 + 4)
    qkv = {"q": (2, 5, 8), "k": (2, 7, 8), "v": (2, 7, 8)}
    layer = layer_of("MultiHeadAttention", qkv, {}, domain="com.microsoft", num_heads=2)
    assert layer.output_shapes == ((2, 5, 8),)
    assert layer.macs == 2 * 2 * 5 * 7 * (4 + 4)


BATCH, HEADS, SHARED, NEW, PAST, SIZE = 2, 6, 2, 3, 1021, 8
CACHE = {"pk": (BATCH, HEADS, PAST, SIZE), "pv": (BATCH, HEADS, PAST, SIZE)}
FEW = {"pk": (BATCH, SHARED, PAST, SIZE), "pv": (BATCH, SHARED, PAST, SIZE)}
FLAT, FEW_FLAT = (BATCH, NEW, HEADS * SIZE), (BATCH, NEW, SHARED * SIZE)


@pytest.mark.parametrize(
    ("operation", "domain", "data", "order", "more"),
    [
        ("Attention", "",
         {"q": (BATCH, HEADS, NEW, SIZE), "k": (BATCH, SHARED, NEW, SIZE),
          "v": (BATCH, SHARED, NEW, SIZE), **FEW}, ["q", "k", "v", "", "pk", "pv"], {}),
        ("Attention", "", {"q": FLAT, "k": FEW_FLAT, "v": FEW_FLAT, **FEW},
         ["q", "k", "v", "", "pk", "pv"], {"q_num_heads": HEADS, "kv_num_heads": SHARED}),
        ("MultiHeadAttention", "com.microsoft", {"q": FLAT, "k": FLAT, "v": FLAT, **CACHE},
         ["q", "k", "v", "", "", "", "pk", "pv"], {"num_heads": HEADS}),
        ("GroupQueryAttention", "com.microsoft", {"q": FLAT, "k": FEW_FLAT, "v": FEW_FLAT, **FEW},
         ["q", "k", "v", "pk", "pv"], {"num_heads": HEADS, "kv_num_heads": SHARED}),
        ("GroupQueryAttention", "com.microsoft",
         {"q": (BATCH, NEW, (HEADS + 2 * SHARED) * SIZE), **FEW}, ["q", "", "", "pk", "pv"],
         {"num_heads": HEADS, "kv_num_heads": SHARED}),
    ],
)  # fmt: skip
def test_attention_counts_the_cache(
    operation: str, domain: str, data: dict[str, Shape], order: list[str], more: dict[str, int]
) -> None:
    outputs = ("y", "present_key", "present_value")
    layer = layer_of(
        operation, data, {}, order=order, outputs=outputs, domain=domain, opset=23, **more
    )
    keys = PAST + NEW
    assert layer.kind is LayerKind.ATTENTION
    assert layer.macs == BATCH * HEADS * NEW * keys * 2 * SIZE
    assert layer.input_elements == sum(map(prod, data.values()))
    # A shared cache is extended in place; the others are written anew.
    shared = operation == "GroupQueryAttention"
    kept = BATCH * (HEADS if "MultiHead" in operation else SHARED) * SIZE
    written = BATCH * NEW * HEADS * SIZE + 2 * kept * (NEW if shared else keys)
    assert layer.output_elements == written


def test_attention_of_one_new_token_after_1023() -> None:
    one, past = (1, 1, 512), (1, 8, 1023, 64)
    layer = layer_of(
        "MultiHeadAttention", {"q": one, "k": one, "v": one, "pk": past, "pv": past}, {},
        order=["q", "k", "v", "", "", "", "pk", "pv"], domain="com.microsoft", num_heads=8,
    )  # fmt: skip
    assert layer.macs == 1_048_576


def test_four_bit_weights_are_read_as_they_are_stored() -> None:
    inner, columns, block = 4096, 4096, 32
    weights = {"b": (columns, inner // block, block // 2), "s": (columns, inner // block)}
    layer = layer_of(
        "MatMulNBits", {"x": (1, 1, inner)}, weights, types={"b": 2}, domain="com.microsoft",
        K=inner, N=columns, bits=4, block_size=block,
    )  # fmt: skip
    scales = columns * inner // block
    assert layer.macs == inner * columns
    assert layer.parameters == inner * columns + scales
    assert [layer.parameter_bytes(size) for size in (1, 2, 4)] == [
        inner * columns // 2 + size * scales for size in (1, 2, 4)
    ]


def test_quantised_operators_cost_what_the_others_do() -> None:
    image, kernel = (1, 4, 6, 6), (8, 4, 3, 3)
    plain = layer_of("Conv", {"x": image}, {"w": kernel})
    scales = dict.fromkeys(("xs", "xz", "ws", "wz", "ys", "yz"), ())
    quantised = layer_of(
        "QLinearConv", {"x": image}, {**scales, "w": kernel},
        order=["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], types={"x": 2, "w": 3, "yz": 2},
    )  # fmt: skip
    integer = layer_of("ConvInteger", {"x": image}, {"w": kernel}, types={"x": 2, "w": 3})
    assert plain.macs == quantised.macs == integer.macs == 8 * 16 * 36
    assert plain.window == quantised.window == integer.window
    assert quantised.parameters == plain.parameters + 6

    product_order = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    scales = dict.fromkeys(("as", "az", "bs", "bz", "ys", "yz"), ())
    quantised = layer_of(
        "QLinearMatMul", {"a": (3, 5)}, {**scales, "b": (5, 7)}, order=product_order,
        types={"a": 2, "b": 2, "yz": 2},
    )  # fmt: skip
    integer = layer_of("MatMulInteger", {"a": (3, 5)}, {"b": (5, 7)}, types={"a": 2, "b": 2})
    assert quantised.macs == integer.macs == 105
    assert quantised.kind is integer.kind is LayerKind.MATRIX_PRODUCT

    # Five steps of two sequences, three numbers each, in both directions; weights are transposed.
    cell: dict[str, Any] = {"hidden_size": 4, "direction": "bidirectional"}
    plain = layer_of("LSTM", {"x": (5, 2, 3)}, {"w": (2, 16, 3), "r": (2, 16, 4)}, **cell)
    quantised = layer_of(
        "DynamicQuantizeLSTM", {"x": (5, 2, 3)},
        {"w": (2, 3, 16), "r": (2, 4, 16), "ws": (2,), "wz": (2,), "rs": (2,), "rz": (2,)},
        order=["x", "w", "r", *[""] * 5, "ws", "wz", "rs", "rz"],
        types=dict.fromkeys(("w", "wz", "r", "rz"), 2), domain="com.microsoft", **cell,
    )  # fmt: skip
    assert quantised.kind is plain.kind is LayerKind.RECURRENT
    assert quantised.macs == plain.macs == 5 * 2 * 2 * 16 * (3 + 4)
    assert quantised.output_shapes == plain.output_shapes == ((5, 2, 2, 4),)


def test_a_look_up_reads_what_it_fetches() -> None:
    layer = layer_of(
        "Gather", {"ids": (1, 6)}, {"table": (30000, 8)}, order=["table", "ids"], types={"ids": 7}
    )
    assert (layer.parameters, layer.macs, layer.output_elements) == (48, 0, 48)
    assert layer.kind is LayerKind.DATA_MOVEMENT
    assert (layer.parameter_bytes(2), layer.held_bytes(2)) == (96, 480_000)


@pytest.mark.parametrize(
    ("transposed", "shared", "held"),
    [
        # The matrix of the output is the table: as it is, in another layout, or one of its own.
        (False, True, 30_000 * 8),
        (True, True, 30_000 * 8),
        (True, False, 2 * 30_000 * 8),
    ],
)
def test_memory_holds_a_table_once(transposed: bool, shared: bool, held: int) -> None:
    table = "table" if shared else "other"
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["a"]),
        helper.make_node("Gather", ["table", "ids"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["data"]),
        helper.make_node("Transpose", [table], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["data", "turned"], ["y"])
        if transposed
        else helper.make_node("Gemm", ["data", table], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "tied",
        [helper.make_tensor_value_info("ids", 7, (6,))],
        [helper.make_tensor_value_info("y", 1, None)],
        [TensorProto(name=name, data_type=1, dims=(30_000, 8)) for name in ("table", "other")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    actors = import_onnx_bytes(model.SerializeToString(), name="tied").graph.actors
    layers = [actor.layer for actor in actors if actor.layer is not None]
    read = sum(layer.parameters for layer in layers)
    assert read == 2 * 6 * 8 + 30_000 * 8
    # Of a table that only look-ups read, each counts its rows: those of the second come twice.
    twice = 2 * 6 * 8 if shared else 6 * 8
    assert sum(layer.held_bytes(1) for layer in layers) == held + twice


@pytest.mark.parametrize(
    ("operation", "kind", "shape", "attributes", "expected"),
    [
        ("LRN", LayerKind.NORMALISATION, (1, 4, 3, 3), {"size": 3}, (1, 4, 3, 3)),
        ("Sigmoid", LayerKind.ACTIVATION, (2, 3), {}, (2, 3)),
        ("Sqrt", LayerKind.ELEMENTWISE, (2, 3), {}, (2, 3)),
        ("ReduceMean", LayerKind.REDUCTION, (2, 3, 4), {"axes": [-1], "keepdims": 0}, (2, 3)),
        ("ArgMax", LayerKind.REDUCTION, (2, 3, 4), {"axis": 1}, (2, 1, 4)),
        ("Softmax", LayerKind.SOFTMAX, (2, 3, 4), {"axis": -1}, (2, 3, 4)),
        ("GlobalAveragePool", LayerKind.POOLING, (1, 4, 7, 7), {}, (1, 4, 1, 1)),
        ("DepthToSpace", LayerKind.DATA_MOVEMENT, (1, 8, 2, 3), {"blocksize": 2}, (1, 2, 4, 6)),
        ("Transpose", LayerKind.DATA_MOVEMENT, (2, 3, 4), {"perm": [2, 0, 1]}, (4, 2, 3)),
        ("Transpose", LayerKind.DATA_MOVEMENT, (3, 4), {}, (4, 3)),
        ("Transpose", LayerKind.RESHAPE, (1, 8, 1, 4), {"perm": [0, 2, 1, 3]}, (1, 1, 8, 4)),
        ("Transpose", LayerKind.RESHAPE, (4, 1), {}, (1, 4)),
    ],
)  # fmt: skip
def test_layers_without_products_cost_their_bytes(
    operation: str, kind: LayerKind, shape: Shape, attributes: dict[str, Any], expected: Shape
) -> None:
    layer = layer_of(operation, {"x": shape}, {}, **attributes)
    assert (layer.kind, layer.macs, layer.parameters) == (kind, 0, 0)
    assert (layer.input_shapes, layer.output_shapes) == ((shape,), (expected,))
    assert (layer.input_elements, layer.output_elements) == (prod(shape), prod(expected))


def test_axes_count_from_zero() -> None:
    assert layer_of("Concat", {"a": (2, 3), "b": (2, 3)}, {}, axis=-1).axis == 1
    assert layer_of("Softmax", {"x": (2, 3, 4)}, {}).axis == 2
    assert layer_of("Softmax", {"x": (2, 3, 4)}, {}, opset=11).axis == 1


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.data())
def test_einsum_counts_the_index_space(data: st.DataObject) -> None:
    sizes = {index: data.draw(st.integers(1, 3)) for index in "abcd"}
    terms = data.draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    result = "".join(data.draw(st.permutations(used)))[: data.draw(st.integers(0, 4))]
    shapes = [tuple(sizes[index] for index in term) for term in terms]
    found = einsum(",".join(terms) + "->" + result, shapes)
    assert found.output == tuple(sizes[index] for index in result)
    points = sum(1 for _ in product(*(range(sizes[index]) for index in used)))
    assert found.products == (len(terms) - 1) * points


def test_einsum_with_dots_and_without_arrow() -> None:
    found = einsum("...ij,...jk->...ik", [(4, 1, 2, 3), (5, 3, 7)])
    assert (found.output, found.products) == ((4, 5, 2, 7), 4 * 5 * 2 * 3 * 7)
    assert einsum("ji,kj", [(3, 2), (4, 3)]).output == (2, 4)
    for equation, shapes in (
        ("ij,jk->ik", [(2, 3)]),
        ("ij->ij", [(2, 3, 4)]),
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ij->k", [(2, 3)]),
        ("i!->i", [(2, 3)]),
    ):
        with pytest.raises(GraphError):
            einsum(equation, shapes)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"strides": [0, 1]}, "strides must be 2 sizes"),
        ({"strides": [1]}, "strides must be 2 sizes"),
        ({"dilations": [-1, 1]}, "dilations must be"),
        ({"pads": [1, 1]}, "pads must be 4 numbers"),
        ({"auto_pad": "ALMOST"}, "auto_pad must be"),
        ({"group": 0}, "group must be"),
        ({"group": 2}, "does not fit the 3 input channels"),
        ({"dilations": [9, 9]}, "does not fit into 8 elements"),
    ],
)
def test_impossible_windows_are_refused(attributes: dict[str, Any], text: str) -> None:
    with pytest.raises(GraphError, match=text):
        layer_of("Conv", {"x": (1, 3, 8, 8)}, {"w": (4, 3, 3, 3)}, **attributes)
