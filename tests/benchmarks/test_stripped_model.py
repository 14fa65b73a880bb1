"""Stripping an exported model leaves its layers, and costs as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from benchmarks.catalogue.stripped_model import short_name, strip_model
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.onnx.importer import import_onnx_bytes


def value(name: str, *shape: int) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def whole(name: str, *numbers: int) -> Any:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def model(nodes: list[Any], inputs: list[Any], outputs: list[Any], held: list[Any]) -> bytes:
    graph = helper.make_graph(nodes, "exported", inputs, outputs, initializer=held)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data: bytes = made.SerializeToString()
    return data


def exported(*, fork: bool = False) -> bytes:
    """What an exporter writes: weights as inputs, a shape that is computed, copies."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="/stem/stem.0/Conv", pads=[1] * 4),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], name="/bn"),
        helper.make_node("Relu", ["n"], ["r"], name="/relu"),
        helper.make_node("Identity", ["r"], ["i"], name="/identity"),
        helper.make_node("Pad", ["i", "zeros"], ["p"], name="/pad"),
        helper.make_node("Slice", ["p", "begin", "end", "axis"], ["q"], name="/slice"),
        helper.make_node("Shape", ["q"], ["shape"], name="/shape"),
        helper.make_node("Slice", ["shape", "zero", "one"], ["batch"], name="/batch"),
        helper.make_node("Concat", ["batch", "rest"], ["size"], axis=0, name="/size"),
        helper.make_node("Reshape", ["q", "size"], ["f"], name="/reshape"),
        helper.make_node("Transpose", ["k"], ["kt"], name="/turned", perm=[1, 0]),
        helper.make_node("MatMul", ["f", "kt"], ["y"], name="/head/MatMul"),
    ]
    outputs = [value("y", 1, 5)]
    if fork:
        nodes.append(helper.make_node("Sigmoid", ["c"], ["z"], name="/gate"))
        outputs.append(value("z", 1, 4, 6, 6))
    weights = [value("w", 4, 3, 3, 3), *(value(name, 4) for name in "sbmv"), value("k", 5, 144)]
    held = [whole("zeros", *[0] * 8), whole("begin", 0), whole("end", 2**40), whole("axis", 2),
            whole("zero", 0), whole("one", 1), whole("rest", -1)]  # fmt: skip
    return model(nodes, [value("x", 1, 3, 6, 6), *weights], outputs, held)


def test_layers_alone_are_left() -> None:
    network = import_onnx_bytes(strip_model(exported(), name="small"), name="small")
    layers = [actor.layer for actor in network.graph.actors if actor.layer]
    assert [layer.operation for layer in layers] == ["Conv", "Relu", "Reshape", "MatMul"]
    assert [layer.name for layer in layers] == ["stem.0/Conv", "relu", "reshape", "head/MatMul"]
    assert [layer.parameters for layer in layers] == [4 * 27 + 4, 0, 0, 5 * 144]
    assert summarise(network).macs == 36 * 4 * 27 + 5 * 144
    assert network.constant_operations == ()
    assert network.inputs == (("data", (1, 3, 6, 6)),)
    assert [shape for _, shape in network.outputs] == [(1, 5)]
    assert network.warnings == ()


def test_a_normalisation_stays_where_others_read_the_convolution() -> None:
    network = import_onnx_bytes(strip_model(exported(fork=True), name="small"), name="small")
    layers = {actor.name: actor.layer for actor in network.graph.actors}
    assert layers["bn"] is not None
    assert layers["bn"].parameters == 16
    assert layers["stem.0/Conv"] is not None
    assert layers["stem.0/Conv"].parameters == 4 * 27


def test_a_bias_that_is_left_out_by_an_empty_name_is_made_by_the_normalisation() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w", ""], ["c"], name="conv"),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"], name="bn"),
    ]
    weights = [value("w", 4, 3, 3, 3), *(value(name, 4) for name in "sbmv")]
    given = model(nodes, [value("x", 1, 3, 6, 6), *weights], [value("y", 1, 4, 4, 4)], [])
    network = import_onnx_bytes(strip_model(given, name="bias"), name="bias")
    (layer,) = (actor.layer for actor in network.graph.actors if actor.layer)
    assert layer.operation == "Conv"
    assert layer.parameters == 4 * 27 + 4


def test_the_same_bytes_every_time_and_none_of_a_weight() -> None:
    first = strip_model(exported(), name="small")
    assert first == strip_model(exported(), name="small")
    # Stripped again, it stays as it is.
    assert import_onnx_bytes(strip_model(first, name="small"), name="small").graph == (
        import_onnx_bytes(first, name="small").graph
    )
    held = np.full((5, 144), 7.25, np.float32)
    nodes = [helper.make_node("MatMul", ["x", "k"], ["y"], name="product")]
    given = model(nodes, [value("x", 1, 5)], [value("y", 1, 144)],
                  [numpy_helper.from_array(held, "k")])  # fmt: skip
    stripped = strip_model(given, name="product")
    assert held.tobytes()[:8] not in stripped
    assert summarise(import_onnx_bytes(stripped, name="product")).parameters == 720


def test_cuts_that_change_something_stay() -> None:
    nodes = [
        helper.make_node("Slice", ["x", "last", "least", "axis", "back"], ["turned"], name="turn"),
        helper.make_node("Pad", ["turned", "one"], ["y"], name="pad"),
    ]
    held = [whole("last", -1), whole("least", -(2**40)), whole("axis", 1), whole("back", -1),
            whole("one", 0, 1, 0, 0)]  # fmt: skip
    given = model(nodes, [value("x", 1, 5)], [value("y", 1, 6)], held)
    network = import_onnx_bytes(strip_model(given, name="cuts"), name="cuts")
    assert [actor.name for actor in network.graph.actors] == ["turn", "pad"]
    assert [shape for _, shape in network.outputs] == [(1, 6)]


def test_scales_keep_their_values_and_nodes_a_result_that_nobody_reads() -> None:
    factors = numpy_helper.from_array(np.array([1, 1, 2.5, 2], np.float32), "factors")
    nodes = [
        helper.make_node("Resize", ["x", "", "factors"], ["large"], name="/up"),
        helper.make_node("TopK", ["large", "count"], ["value", "index"], name="/best"),
        helper.make_node("Resize", ["x", "", "factors"], ["again"], name="/again"),
        helper.make_node("TopK", ["again", "count"], ["most", "place"], name="/most"),
    ]
    made = model(
        nodes, [value("x", 1, 2, 4, 4)],
        [helper.make_tensor_value_info("index", TensorProto.INT64, (1, 2, 10, 3)),
         value("again", 1, 2, 10, 8), value("most", 1, 2, 10, 3)],
        [factors, whole("count", 3)],
    )  # fmt: skip
    network = import_onnx_bytes(strip_model(made, name="small"), name="small")
    assert [shape for _, shape in network.outputs] == [
        (1, 2, 10, 3), (1, 2, 10, 8), (1, 2, 10, 3),
    ]  # fmt: skip


def test_several_inputs_and_what_cannot_be_stripped() -> None:
    nodes = [helper.make_node("Add", ["x", "k"], ["y"], name="add")]
    given = model(nodes, [value("x", 1, 5), value("k", 1, 5)], [value("y", 1, 5)], [])
    both = import_onnx_bytes(strip_model(given, name="add", activations=2), name="add")
    assert len(both.inputs) == 2
    assert summarise(import_onnx_bytes(strip_model(given, name="add"), name="add")).parameters == 5
    with pytest.raises(GraphError, match="add: not an ONNX model"):
        strip_model(given[:20], name="add")
    open_size = helper.make_tensor_value_info("k", TensorProto.FLOAT, ("n", 5))
    given = model(nodes, [value("x", 1, 5), open_size], [value("y", 1, 5)], [])
    with pytest.raises(GraphError, match="weight 'k' has no fixed shape"):
        strip_model(given, name="add")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("/layer1/layer1.0/conv1/Conv", "layer1.0/conv1/Conv"),
        ("/features/features.0/features.0.0/Conv", "features.0.0/Conv"),
        ("/Add_1", "Add_1"),
        ("plain", "plain"),
        ("/a/ab/c", "a/ab/c"),
    ],
)
def test_names_without_repetitions(name: str, short: str) -> None:
    assert short_name(name) == short
