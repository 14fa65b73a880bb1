"""Models made to trip an importer: opsets, functions, names, broken graphs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from onnx import FunctionProto, defs, helper

from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import read_model
from tests.support.growth import LINEAR, growth
from tests.support.problems.onnx_models import (
    Shapes,
    integers,
    layers,
    model,
    node,
    only,
    read,
    shape_only,
)

NEWEST = defs.onnx_opset_version()


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
    assert "(63.6% of all)" in named[0]
    foreign = [text for text in network.warnings if "plugin" in text]
    assert foreign == ["org.acme::Wobble needs a plugin of the runtime: it is of no domain of ONNX"]
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


def branch(*nodes: Any, result: str, held: Sequence[Any] = ()) -> Any:
    output = helper.make_tensor_value_info(result, 1, None)
    return helper.make_graph(list(nodes), "branch", [], [output], list(held))


@pytest.mark.parametrize(("length", "taken"), [(300, "Sigmoid"), (200, "Tanh")])
def test_an_if_on_a_size_is_the_branch_it_takes(length: int, taken: str) -> None:
    # Both branches name their inner tensor alike, and one reads a layer outside.
    inner = branch(node("Sigmoid", ["m"], "t"), result="t")
    long = branch(
        node("Relu", ["x"], "t"),
        node("If", ["yes"], "u", name="inner", then_branch=inner, else_branch=inner),
        result="u",
        held=[helper.make_tensor("yes", 9, (), [True])],
    )
    short = branch(node("Relu", ["x"], "t"), node("Tanh", ["t"], "u"), result="u")
    proto = model(
        [
            node("Abs", ["x"], "m"),
            node("Shape", ["x"], "shape"),
            node("Gather", ["shape", "one"], "length"),
            node("Greater", ["length", "limit"], "long"),
            node("If", ["long"], "z", name="outer", then_branch=long, else_branch=short),
            node("Neg", ["z"], "y"),
        ],
        {"x": (1, length)},
        ["y"],
        weights=[helper.make_tensor("one", 7, (), [1]), helper.make_tensor("limit", 7, (), [256])],
    )
    network = read(proto)
    first = ["Abs"] if taken == "Sigmoid" else ["Relu"]
    assert [layer.operation for layer in layers(network)] == [*first, taken, "Neg"]
    assert network.outputs == (("y", (1, length)),)


def test_a_condition_on_an_input_names_it() -> None:
    chosen = branch(node("Relu", ["x"], "t"), result="t")
    other = branch(node("Sigmoid", ["x"], "t"), result="t")
    nodes = [
        node("Abs", ["rate"], "m"),
        node("Equal", ["m", "wanted"], "same"),
        node("If", ["same"], "y", then_branch=chosen, else_branch=other),
    ]
    wanted, rate = (helper.make_tensor(name, 1, (), [16000]) for name in ("wanted", "rate"))
    words = "its condition depends on 'rate'; export .* or with 'rate' as a constant"
    with pytest.raises(GraphError, match=words):
        read(model(nodes, {"x": (2,), "rate": ()}, ["y"], weights=[wanted]))
    fixed = read(model(nodes, {"x": (2,)}, ["y"], weights=[wanted, rate]))
    assert [layer.operation for layer in layers(fixed)] == ["Relu"]


def test_a_branch_may_pass_on_what_it_reads() -> None:
    same = branch(result="x")
    proto = model(
        [node("If", ["no"], "z", then_branch=same, else_branch=same), node("Neg", ["z"], "y")],
        {"x": (2, 3)}, ["y"], weights=[helper.make_tensor("no", 9, (1,), [False])],
    )  # fmt: skip
    assert [layer.operation for layer in layers(read(proto))] == ["Identity", "Neg"]


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
    assert network.warnings == ("1 node left out, which no output depends on",)


def test_broken_graphs_are_refused() -> None:
    x: Shapes = {"x": (2, 3)}
    broken = {
        "circle: ": [node("Relu", ["b"], "a", name="p"), node("Relu", ["a"], "b", name="q")],
        "computed by two nodes": [node("Relu", ["x"], "b"), node("Exp", ["x"], "b")],
        "'b' is computed by no node": [node("Relu", ["x"], "a")],
        r"from \[2, 3\], \[4\]: .*Incompatible": [
            node("Constant", [], "c", value_floats=[1.0] * 4), node("Add", ["x", "c"], "b"),
        ],
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
            load_network(str(path))
    with pytest.raises(GraphError, match="cannot be read"):
        read_model(tmp_path / "missing.onnx")
    with pytest.raises(GraphError, match="cannot be read"):
        read_model(tmp_path)


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


def test_a_long_model_is_read_in_linear_time() -> None:
    def run(proto: Any) -> None:
        names = [actor.name for actor in read(proto).graph.actors]
        assert names[:3] == ["same", "same#2", "same#3"]

    def make(size: int) -> Any:
        nodes = [node("Relu", [f"t{n}"], f"t{n + 1}", name="same") for n in range(size)]
        return model(nodes, {"t0": (1, 4)}, [f"t{size}"])

    assert growth(run, make, 400) < LINEAR


def test_names_cannot_break_a_line() -> None:
    proto = model(
        [node("Frob", ["x"], "y", name="ab", domain="mine")],
        {"x": (1,)}, ["y"], domains=[("mine", 1)],
    )  # fmt: skip
    for holder, field in (
        (proto.graph.node[0], "name"),
        (proto.graph.node[0], "op_type"),
        (proto.graph.input[0], "name"),
        (proto.graph.input[0].type.tensor_type.shape.dim[0], "dim_param"),
    ):
        before = getattr(holder, field)
        setattr(holder, field, f"{before}a\n\x1b[31mb")
        with pytest.raises(GraphError, match="names must not have control characters") as caught:
            read(proto)
        assert str(caught.value).isprintable()
        setattr(holder, field, before)
    assert only(read(proto)).name == "ab"
