"""Models made to trip an importer, one trap each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, TensorProto, defs, helper, numpy_helper

from sdf.errors import GraphError
from sdf.layer import Layer, LayerKind
from sdf.onnx_import import ImportedNetwork, import_onnx, import_onnx_bytes

NEWEST = defs.onnx_opset_version()
Shapes = dict[str, Sequence[int | str | None]]


def shape_only(name: str, *dims: int) -> Any:
    """An initializer whose data has been left out."""
    return TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)


def integers(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(
    nodes: Sequence[Any],
    inputs: Shapes,
    outputs: Sequence[str],
    weights: Sequence[Any] = (),
    *,
    opset: int = 17,
    domains: Sequence[tuple[str, int]] = (),
    functions: Sequence[FunctionProto] = (),
    value_info: Shapes | None = None,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "trap",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        initializer=list(weights),
        value_info=[
            helper.make_tensor_value_info(name, 1, shape)
            for name, shape in (value_info or {}).items()
        ],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in (("", opset), *domains)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


def read(proto: ModelProto, **options: Any) -> ImportedNetwork:
    return import_onnx_bytes(proto.SerializeToString(), name="trap", **options)


def layers(network: ImportedNetwork) -> list[Layer]:
    return [actor.layer for actor in network.graph.actors if actor.layer is not None]


def only(network: ImportedNetwork) -> Layer:
    (layer,) = layers(network)
    return layer


def node(operation: str, inputs: Sequence[str], output: str | Sequence[str] = "y", **more: Any):
    outputs = [output] if isinstance(output, str) else list(output)
    return helper.make_node(operation, list(inputs), outputs, **more)


# Weights


def test_weights_may_have_no_data() -> None:
    proto = model(
        [node("Conv", ["x", "w", "b"])],
        {"x": (1, 3, 8, 8)}, ["y"], [shape_only("w", 16, 3, 3, 3), shape_only("b", 16)],
    )  # fmt: skip
    layer = only(read(proto))
    assert layer.macs == 16 * 6 * 6 * 3 * 9
    assert layer.parameters == 16 * 27 + 16
    assert (layer.input_elements, layer.output_elements) == (192, 576)


def test_weights_may_be_inputs_without_values() -> None:
    proto = model(
        [node("Conv", ["x", "w"], "c"), node("BatchNormalization", ["c", "s", "b", "m", "v"])],
        {"x": (1, 3, 8, 8), "w": (4, 3, 3, 3), **dict.fromkeys("sbmv", (4,))}, ["y"],
    )  # fmt: skip
    network = read(proto)
    assert [layer.parameters for layer in layers(network)] == [108, 16]
    assert [name for name, _ in network.inputs] == ["x"]
    assert any("taken as weights: w, s, b and 2 more" in text for text in network.warnings)


def test_weights_may_be_missing_where_their_shape_is_told() -> None:
    told = model(
        [node("MatMul", ["x", "w"])], {"x": (2, 8)}, ["y"], value_info={"w": (8, 5)}
    )  # fmt: skip
    assert only(read(told)).parameters == 40
    untold = model([node("MatMul", ["x", "w"])], {"x": (2, 8)}, ["y"])
    with pytest.raises(GraphError, match="'w' is computed by no node"):
        read(untold)


@pytest.mark.parametrize("source", ["Constant", "ConstantOfShape", "DequantizeLinear", "Transpose"])
def test_weights_may_be_computed(source: str) -> None:
    nodes, weights = [], [integers("shape", 5, 8)]
    if source == "Constant":
        value = helper.make_tensor("t", 1, (8, 5), np.zeros(40))
        nodes = [node("Constant", [], "w", value=value)]
    elif source == "ConstantOfShape":
        weights = [integers("shape", 8, 5)]
        nodes = [node("ConstantOfShape", ["shape"], "w")]
    elif source == "DequantizeLinear":
        weights = [TensorProto(name="q", data_type=TensorProto.INT8, dims=(8, 5)),
                   shape_only("scale")]  # fmt: skip
        nodes = [node("DequantizeLinear", ["q", "scale"], "w")]
    else:
        weights = [shape_only("t", 5, 8)]
        nodes = [node("Transpose", ["t"], "w")]
    network = read(model([*nodes, node("MatMul", ["x", "w"])], {"x": (2, 8)}, ["y"], weights))
    assert only(network).operation == "MatMul"
    assert only(network).parameters == 40
    assert dict(network.constant_operations) == {source: 1}


def external(name: str, location: str, *dims: int) -> Any:
    tensor = shape_only(name, *dims)
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return tensor


def test_external_data_may_be_absent(tmp_path: Path) -> None:
    proto = model(
        [node("MatMul", ["x", "w"])], {"x": (2, 8)}, ["y"], [external("w", "w.bin", 8, 5)]
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    assert only(import_onnx(path)).macs == 80


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "a/../../w.bin", "link/w.bin"])
def test_external_data_outside_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    outside = external("w", location, 8, 5)
    inner = helper.make_tensor_value_info("z", 1, (8, 5))
    body = helper.make_graph([node("Identity", ["w"], "z")], "b", [], [inner], [outside])
    places = [
        model([node("MatMul", ["x", "w"])], {"x": (2, 8)}, ["y"], [outside]),
        model([node("Constant", [], "w", value=outside), node("MatMul", ["x", "w"])],
              {"x": (2, 8)}, ["y"]),
        model([node("If", ["x"], "y", then_branch=body, else_branch=body)], {"x": ()}, ["y"]),
    ]  # fmt: skip
    for proto in places:
        path = folder / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        with pytest.raises(GraphError, match="outside the model's folder"):
            import_onnx(path)


# Shape arithmetic


def flatten_by_arithmetic() -> list[Any]:
    """What exporters write for ``x.view(x.shape[0], -1)``."""
    return [
        node("Shape", ["x"], "shape"),
        node("Constant", [], "zero", value=helper.make_tensor("", 7, (), [0])),
        node("Gather", ["shape", "zero"], "batch", axis=0),
        node("Unsqueeze", ["batch", "axes"], "batch1"),
        node("Concat", ["batch1", "rest"], "target", axis=0),
        node("Reshape", ["x", "target"], "flat"),
    ]


def test_shape_arithmetic_is_no_layer() -> None:
    proto = model(
        [*flatten_by_arithmetic(), node("Relu", ["flat"])],
        {"x": (2, 3, 4)}, ["y"], [integers("axes", 0), integers("rest", -1)],
    )  # fmt: skip
    network = read(proto)
    assert [layer.operation for layer in layers(network)] == ["Reshape", "Relu"]
    assert network.outputs == (("y", (2, 12)),)
    assert dict(network.constant_operations) == {
        "Shape": 1, "Constant": 1, "Gather": 1, "Unsqueeze": 1, "Concat": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([node("Slice", ["s", "0", "2"], "t")], (6, 4)),
        ([node("Slice", ["s", "2", "low", "0", "back"], "t")], (4, 6)),
        ([node("Cast", ["s"], "f", to=1), node("Mul", ["f", "half"], "g"),
          node("Floor", ["g"], "h"), node("Cast", ["h"], "i", to=7),
          node("Slice", ["i", "0", "2"], "j"), node("Mul", ["j", "2"], "t")], (6, 4)),
        ([node("Shape", ["x"], "u", start=1), node("ReduceProd", ["u"], "p", keepdims=1),
          node("Gather", ["s", "0"], "n"), node("Concat", ["n", "p"], "t", axis=0)], (6, 4)),
        ([node("Size", ["x"], "n"), node("Unsqueeze", ["n", "0"], "t")], (24,)),
        ([node("Split", ["s"], ["t", "z"], axis=0, num_outputs=2)], (6, 4)),
        ([node("Equal", ["s", "4v"], "e"), node("Where", ["e", "s", "6v"], "w"),
          node("Slice", ["w", "0", "2"], "q"), node("Max", ["q", "4v"], "m"),
          node("Sub", ["m", "2"], "n"), node("Div", ["n", "n"], "o"),
          node("Mul", ["o", "s2"], "t")], (6, 4)),
        ([node("Range", ["r0", "r2", "r1"], "r"), node("Gather", ["s", "r"], "t")], (6, 4)),
        ([node("Expand", ["m1", "1v"], "t")], (24,)),
    ],
)  # fmt: skip
def test_folded_operators(nodes: list[Any], expected: tuple[int, ...]) -> None:
    constants = [
        integers("0", 0), integers("1v", 1), integers("2", 2), integers("4v", 4), integers("6v", 6),
        integers("s2", 6, 4), integers("m1", -1), integers("low", -(2**63)), integers("back", -1),
        numpy_helper.from_array(np.array(0.5, np.float32), "half"),
        *(numpy_helper.from_array(np.array(n, np.int64), f"r{n}") for n in range(3)),
    ]  # fmt: skip
    opset = 18 if any(n.op_type == "Split" for n in nodes) else 17
    shape = (6, 4, 1, 1) if any(n.op_type == "Split" for n in nodes) else (6, 4)
    if any(n.op_type == "Slice" and "low" in n.input for n in nodes):
        shape = (6, 4, 1)
        expected = (1, 4, 6)
    proto = model(
        [node("Shape", ["x"], "s"), *nodes, node("Reshape", ["x", "t"], "y")],
        {"x": shape}, ["y"], constants, opset=opset,
    )  # fmt: skip
    network = read(proto)
    assert only(network).kind is LayerKind.RESHAPE
    assert network.outputs == (("y", expected),)


def test_sizes_for_a_resize_may_be_computed() -> None:
    proto = model(
        [node("Shape", ["x"], "s"), node("Mul", ["s", "by"], "sizes"),
         node("Resize", ["x", "", "", "sizes"])],
        {"x": (1, 3, 8, 8)}, ["y"], [integers("by", 1, 1, 2, 2)],
    )  # fmt: skip
    network = read(proto)
    assert network.outputs == (("y", (1, 3, 16, 16)),)
    assert only(network).kind is LayerKind.RESIZE


def test_a_shape_that_depends_on_data_is_taken_from_the_file_or_refused() -> None:
    nodes = [node("Reshape", ["x", "t"], "r"), node("Relu", ["r"])]
    inputs: Shapes = {"x": (4, 6), "t": (1,)}
    assert read(model(nodes, inputs, ["y"], value_info={"r": (24,)})).outputs == (("y", (24,)),)
    with pytest.raises(GraphError, match=r"'r'.*cannot be told.*--dim NAME=N"):
        read(model(nodes, inputs, ["y"]))


# Dynamic dimensions


@pytest.mark.parametrize("batch", [None, "N", "batch_size", "unk__7", "?", 0, -1])
def test_a_dynamic_batch_is_one_and_said_once(batch: Any) -> None:
    proto = model(
        [node("Relu", ["x"], "a"), node("Relu", ["z"], "b"), node("Add", ["a", "b"])],
        {"x": (batch, 3), "z": (batch, 3)}, ["y"],
    )  # fmt: skip
    network = read(proto)
    assert network.outputs == (("y", (1, 3)),)
    assert len([text for text in network.warnings if "batch" in text]) == 1


def test_other_dynamic_dimensions_must_be_given() -> None:
    proto = model([node("Relu", ["x"])], {"x": ("N", 3, "height", "width")}, ["y"])
    with pytest.raises(GraphError, match=r"'height'.*--dim height=N"):
        read(proto)
    network = read(proto, dimensions={"height": 4, "width": 5})
    assert network.outputs == (("y", (1, 3, 4, 5)),)
    network = read(proto, dimensions={"height": 4, "width": 5, "N": 7})
    assert network.outputs == (("y", (7, 3, 4, 5)),)
    assert network.warnings == ()
    with pytest.raises(GraphError, match=r"--dim seq=N"):
        read(model([node("Relu", ["x"])], {"x": ("seq", 3)}, ["y"]))


def test_dimensions_without_a_name_are_given_by_place() -> None:
    proto = model([node("Relu", ["x:0"])], {"x:0": (1, None)}, ["y"])
    with pytest.raises(GraphError, match=r"--dim x:0:1=N"):
        read(proto)
    assert read(proto, dimensions={"x:0:1": 6}).outputs == (("y", (1, 6)),)


def test_dimensions_are_checked() -> None:
    proto = model([node("Relu", ["x"])], {"x": ("N", 3)}, ["y"])
    assert "no dynamic dimension 'M'" in read(proto, dimensions={"M": 2}).warnings[-1]
    for size in (0, -1, 1.5, True):
        with pytest.raises(GraphError, match="'N' must be a whole number"):
            read(proto, dimensions={"N": size})


# Opsets, functions, domains


@pytest.mark.parametrize("opset", range(1, NEWEST + 1))
def test_every_opset(opset: int) -> None:
    legacy = {"broadcast": 1, "axis": 1} if opset < 7 else {}
    bias = (8,) if opset < 7 else (8, 1, 1)
    shape = {"shape": (1, -1)} if opset < 5 else {}
    consumed = {"consumed_inputs": [0, 0, 0, 1, 1]} if opset < 6 else {}
    axes = {"axes": [0]} if opset < 13 else {}
    nodes = [
        node("Conv", ["x", "w"], "c", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        node("BatchNormalization", ["c", "s", "s", "s", "s"], "n", **consumed),
        node("Add", ["n", "bias"], "a", **legacy),
        node("Relu", ["a"], "r"),
        node("MaxPool", ["r"], "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Dropout", ["p"], "d"),
        node("Reshape", ["d"] if shape else ["d", "target"], "f", **shape),
        node("Gemm", ["f", "v", "c0"], "g", **({"broadcast": 1} if opset < 7 else {})),
        node("Unsqueeze", ["g"] if axes else ["g", "first"], "u", **axes),
        node("Concat", ["u", "u"], "t", axis=1),
        node("Softmax", ["t"], "y", axis=1),
    ]
    weights = [
        shape_only("w", 8, 3, 3, 3), shape_only("s", 8), shape_only("bias", *bias),
        shape_only("v", 128, 10), shape_only("c0", 10), integers("target", 1, -1),
        integers("first", 0),
    ]  # fmt: skip
    network = read(model(nodes, {"x": (1, 3, 8, 8)}, ["y"], weights, opset=opset))
    assert [layer.operation for layer in layers(network)] == [n.op_type for n in nodes]
    assert network.outputs == (("y", (1, 2, 10)),)
    assert sum(layer.macs for layer in layers(network)) == 8 * 64 * 27 + 1280
    assert sum(layer.parameters for layer in layers(network)) == 216 + 8 + 8 + 1290
    assert network.warnings == ()


@pytest.mark.parametrize("opset", [-1, NEWEST + 1, 2**40])
def test_unknown_opsets_are_refused(opset: int) -> None:
    with pytest.raises(GraphError, match=r"opset .* is not known|absurd"):
        read(model([node("Relu", ["x"])], {"x": (1, 3)}, ["y"], opset=opset))


def function(name: str, *nodes: Any, domain: str = "mine") -> FunctionProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    return helper.make_function(domain, name, ["a"], ["b"], list(nodes), opsets)


def test_local_functions_are_inlined() -> None:
    inner = function("Twice", node("Relu", ["a"], "t"), node("Add", ["t", "t"], "b"))
    outer = function("Outer", node("Twice", ["a"], "t", domain="mine"), node("Exp", ["t"], "b"))
    proto = model(
        [node("Outer", ["x"], "z", domain="mine"), node("Outer", ["z"], "y", domain="mine")],
        {"x": (2, 3)}, ["y"], domains=[("mine", 1)], functions=[inner, outer],
    )  # fmt: skip
    operations = [layer.operation for layer in layers(read(proto))]
    assert operations == ["Relu", "Add", "Exp"] * 2


def test_functions_that_never_end_are_refused() -> None:
    circle = [
        function("A", node("B", ["a"], "b", domain="mine")),
        function("B", node("A", ["a"], "b", domain="mine")),
    ]
    call = [node("A", ["x"], "y", domain="mine")]
    with pytest.raises(GraphError, match="calls itself"):
        read(model(call, {"x": (1,)}, ["y"], domains=[("mine", 1)], functions=circle))
    doubling = [
        function(
            f"F{i}",
            node(f"F{i + 1}", ["a"], "t", domain="mine"),
            node(f"F{i + 1}", ["t"], "b", domain="mine"),
        )
        for i in range(40)
    ]
    doubling.append(function("F40", node("Relu", ["a"], "b")))
    call = [node("F0", ["x"], "y", domain="mine")]
    with pytest.raises(GraphError, match=f"has {2**40} nodes"):
        read(model(call, {"x": (1,)}, ["y"], domains=[("mine", 1)], functions=doubling))


def test_several_domains_and_unknown_operations() -> None:
    proto = model(
        [
            node("Relu", ["x"], "r", domain="ai.onnx"),
            node("Wobble", ["r"], "w1", domain="org.acme"),
            node("Wobble", ["w1"], "w2", domain="org.acme"),
            node("Gelu", ["w2"], "g", domain="com.microsoft"),
            node("Frobnicate", ["g"], "y"),
        ],
        {"x": (2, 3)},
        ["y"],
        domains=[("ai.onnx", 17), ("org.acme", 3), ("com.microsoft", 1)],
        value_info={"w1": (2, 5)},
    )
    network = read(proto)
    assert [layer.operation for layer in layers(network)] == [
        "Relu", "org.acme::Wobble", "org.acme::Wobble", "com.microsoft::Gelu", "Frobnicate",
    ]  # fmt: skip
    wobble = layers(network)[1]
    assert (wobble.kind, wobble.macs) == (LayerKind.UNKNOWN, 0)
    assert (wobble.input_elements, wobble.output_elements) == (6, 10)
    named = [text for text in network.warnings if "not known" in text]
    assert len(named) == 1
    assert named[0].endswith("Frobnicate (1x), org.acme::Wobble (2x)")
    assert network.outputs == (("y", (2, 5)),)


@pytest.mark.parametrize("operation", ["If", "Loop", "Scan"])
def test_control_flow_is_refused_by_name(operation: str) -> None:
    inner = helper.make_tensor_value_info("z", 1, (1,))
    body = helper.make_graph([node("Relu", ["x"], "z")], "body", [], [inner])
    attributes = {"If": {"then_branch": body, "else_branch": body}}.get(operation, {"body": body})
    proto = model([node(operation, ["x"], "y", name="here", **attributes)], {"x": (1,)}, ["y"])
    with pytest.raises(GraphError, match=rf"'here': control flow \({operation}\)"):
        read(proto)
    wrapped = function("F", node(operation, ["a"], "b", name="there", **attributes))
    call = [node("F", ["x"], "y", domain="mine")]
    with pytest.raises(GraphError, match=rf"control flow \({operation}\)"):
        read(model(call, {"x": (1,)}, ["y"], domains=[("mine", 1)], functions=[wrapped]))


# The graph


def test_reshape_like_nodes_cost_nothing() -> None:
    proto = model(
        [
            node("Identity", ["x"], "a"),
            node("Dropout", ["a"], ["b", "mask"]),
            node("Flatten", ["b"], "c"),
            node("Unsqueeze", ["c", "axes"], "d"),
            node("Squeeze", ["d", "axes"], "e"),
            node("Reshape", ["e", "target"], "y"),
        ],
        {"x": (2, 3, 4)}, ["y"], [integers("axes", 0), integers("target", 4, 6)],
    )  # fmt: skip
    network = read(proto)
    assert {layer.kind for layer in layers(network)} == {LayerKind.RESHAPE}
    assert all(layer.macs == layer.parameters == 0 for layer in layers(network))
    assert all(layer.output_elements == 24 for layer in layers(network))


def test_channels_carry_tensors() -> None:
    proto = model(
        [
            node("Relu", ["x"], "a", name="first"),
            node("Mul", ["a", "a"], "b", name="square"),
            node("Cast", ["a"], "c", name="cast", to=7),
            node("Add", ["c", "c"], "e", name="second"),
            node("Neg", ["b"], "f", name="last"),
        ],
        {"x": (2, 3)}, ["e", "f", "b"],
    )  # fmt: skip
    network = read(proto)
    channels = [
        (c.source, c.target, c.production, c.consumption, c.token_bytes, c.name)
        for c in network.graph.channels
    ]
    assert channels == [
        ("first", "square", 6, 6, 4, "a"),
        ("first", "cast", 6, 6, 4, "a"),
        ("cast", "second", 6, 6, 8, "c"),
        ("square", "last", 6, 6, 4, "b"),
    ]
    square = layers(network)[1]
    assert (square.input_elements, square.result_elements) == (6, 6)
    assert [layer.result_elements for layer in layers(network)].count(0) == 4


def test_order_names_and_dead_ends() -> None:
    proto = model(
        [
            node("Relu", ["b"], "y", name="same"),
            node("Exp", ["a"], "b", name="same"),
            node("Neg", ["x"], "a"),
            node("Abs", ["x"], "nowhere"),
        ],
        {"x": (2, 3)}, ["y"],
    )  # fmt: skip
    network = read(proto)
    assert [actor.name for actor in network.graph.actors] == ["a", "same#2", "same"]
    assert network.warnings == ("1 nodes feed no output and are left out",)


def test_broken_graphs_are_refused() -> None:
    x: Shapes = {"x": (2, 3)}
    broken = {
        "circle: ": [node("Relu", ["b"], "a", name="p"), node("Relu", ["a"], "b", name="q")],
        "computed by two nodes": [node("Relu", ["x"], "b"), node("Exp", ["x"], "b")],
        "'b' is computed by no node": [node("Relu", ["x"], "a")],
        "cannot be broadcast": [node("Constant", [], "c", value_floats=[1.0] * 4),
                                node("Add", ["x", "c"], "b")],
        "cannot take the shape": [node("Constant", [], "c", value_ints=[5]),
                                  node("Reshape", ["x", "c"], "b")],
        "without any node": [],
        "nothing but constants": [node("Shape", ["x"], "b")],
        "its first input is missing": [node("Relu", [], "a"), node("Add", ["a", "x"], "b")],
        "sequences": [node("SequenceConstruct", ["x"], "b")],
    }  # fmt: skip
    for text, nodes in broken.items():
        with pytest.raises(GraphError, match=text):
            read(model(nodes, x, ["b"]))
    with pytest.raises(GraphError, match="no output"):
        read(model([node("Relu", ["x"], "b")], x, []))
    with pytest.raises(GraphError, match="cannot have the shape"):
        read(model([node("Relu", ["x"], "b")], {"x": (2**40, 2**40)}, ["b"]))


def test_files_that_are_no_models(tmp_path: Path) -> None:
    for name, content in {"empty": b"", "text": b"# Not a model\n", "zeros": bytes(100)}.items():
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(content)
        with pytest.raises(GraphError, match=str(path)):
            import_onnx(path)
    with pytest.raises(GraphError, match="cannot be read"):
        import_onnx(tmp_path / "missing.onnx")
    with pytest.raises(GraphError, match="cannot be read"):
        import_onnx(tmp_path)


def test_thousands_of_nodes() -> None:
    nodes, last = [], "x"
    for index in range(1000):
        nodes += [
            node("Conv", [last, "w"], f"c{index}", pads=[1, 1, 1, 1]),
            node("Relu", [f"c{index}"], f"r{index}"),
            node("Add", [f"r{index}", last], f"a{index}"),
        ]
        last = f"a{index}"
    proto = model(nodes, {"x": (1, 4, 8, 8)}, [last], [shape_only("w", 4, 4, 3, 3)])
    network = read(proto)
    assert len(network.graph.actors) == 3000
    assert sum(layer.macs for layer in layers(network)) == 1000 * 4 * 64 * 36


def test_names_cannot_break_a_line() -> None:
    proto = model(
        [node("Frob", ["x"], "y", name="a\n\x1b[31mb", domain="mine")],
        {"x": (1,)}, ["y"], domains=[("mine", 1)],
    )  # fmt: skip
    network = read(proto)
    assert only(network).name == "a\ufffd\ufffd[31mb"
    proto.graph.node[0].input[0] = "z\n"
    with pytest.raises(GraphError) as caught:
        read(proto)
    assert str(caught.value).isprintable()
