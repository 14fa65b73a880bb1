"""Shapes that a model computes, and dimensions that it leaves open."""

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import LayerKind
from tests.support.problems.onnx_models import Shapes, integers, layers, model, node, only, read


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
    assert only(network).mode == "nearest"


@pytest.mark.parametrize(
    ("attributes", "mode"),
    [
        ({"mode": "linear"}, "linear"),
        ({"mode": "cubic", "coordinate_transformation_mode": "asymmetric"}, "cubic"),
        (
            {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
            "linear align_corners",
        ),
    ],
)
def test_a_resize_says_how(attributes: dict[str, str], mode: str) -> None:
    nodes = [node("Resize", ["x", "", "", "sizes"], **attributes)]
    sizes = [integers("sizes", 1, 3, 16, 16)]
    assert only(read(model(nodes, {"x": (1, 3, 8, 8)}, ["y"], sizes))).mode == mode


def test_a_shape_that_depends_on_data_is_taken_from_the_file_or_refused() -> None:
    nodes = [node("Reshape", ["x", "t"], "r"), node("Relu", ["r"])]
    inputs: Shapes = {"x": (4, 6), "t": (1,)}
    assert read(model(nodes, inputs, ["y"], value_info={"r": (24,)})).outputs == (("y", (24,)),)
    with pytest.raises(GraphError, match=r"'r'.*is unknown.*dimensions={'NAME': N}"):
        read(model(nodes, inputs, ["y"]))


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
    with pytest.raises(
        GraphError, match=r"'height' of 'x', 'width'.*dimensions={'height': N, 'width': N}"
    ):
        read(proto)
    network = read(proto, dimensions={"height": 4, "width": 5})
    assert network.outputs == (("y", (1, 3, 4, 5)),)
    network = read(proto, dimensions={"height": 4, "width": 5, "N": 7})
    assert network.outputs == (("y", (7, 3, 4, 5)),)
    assert network.warnings == ()
    with pytest.raises(GraphError, match=r"dimensions={'seq': N}"):
        read(model([node("Relu", ["x"])], {"x": ("seq", 3)}, ["y"]))


def test_the_batch_is_one_wherever_it_is() -> None:
    # At the front of an image it may have any name, elsewhere that which it has at the front.
    proto = model(
        [node("Relu", ["x"], "a"), node("Relu", ["z"], "b")],
        {"x": ("p2o.DynamicDimension.0", 3, 4, 5), "z": (2, "p2o.DynamicDimension.0", "batch")},
        ["a", "b"],
    )
    network = read(proto)
    assert network.inputs == (("x", (1, 3, 4, 5)), ("z", (2, 1, 1)))
    assert "(x, z)" in network.warnings[0]


def test_a_size_may_be_the_sum_of_others() -> None:
    proto = model(
        [node("Relu", ["x"], "a"), node("Relu", ["z"], "b")],
        {"x": (1, "past"), "z": (1, "past + seq + 1")},
        ["a", "b"],
    )
    network = read(proto, dimensions={"past": 5, "seq": 2})
    assert (network.inputs, network.unused_dimensions) == ((("x", (1, 5)), ("z", (1, 8))), ())
    with pytest.raises(GraphError, match=r"give dimensions={'past \+ seq \+ 1': N}$"):
        read(proto, dimensions={"past": 5})
    proto = model([node("Relu", ["x"], "y")], {"x": ("past", "past + 1")}, ["y"])
    with pytest.raises(GraphError, match=r"give dimensions={'past': N}$"):
        read(proto)


def test_dimensions_without_a_name_are_given_by_place() -> None:
    proto = model([node("Relu", ["x:0"])], {"x:0": (1, None)}, ["y"])
    with pytest.raises(GraphError, match=r"dimensions={'x:0:1': N}"):
        read(proto)
    assert read(proto, dimensions={"x:0:1": 6}).outputs == (("y", (1, 6)),)
    proto = model([node("Relu", ["x"])], {"x": (1, "?", "?")}, ["y"])
    with pytest.raises(GraphError, match=r"give dimensions={'x:1': N, 'x:2': N}$"):
        read(proto)
    assert read(proto, dimensions={"x:1": 6, "?": 7}).outputs == (("y", (1, 6, 7)),)


def test_the_size_of_one_input_goes_before_that_of_its_name() -> None:
    proto = model(
        [node("Relu", ["x"], "a"), node("Relu", ["z"], "b")],
        {"x": (1, "N"), "z": (1, "N")},
        ["a", "b"],
    )
    with pytest.raises(
        GraphError,
        match=r"dimensions={'N': N} \(for one input alone: dimensions={'INPUT:AXIS': N}\)$",
    ):
        read(proto)
    network = read(proto, dimensions={"N": 5, "z:1": 2})
    assert (network.inputs, network.unused_dimensions) == ((("x", (1, 5)), ("z", (1, 2))), ())


def test_dimensions_are_checked() -> None:
    proto = model([node("Relu", ["x"])], {"x": ("N", 3)}, ["y"])
    assert read(proto, dimensions={"M": 2}).unused_dimensions == ("M",)
    for size in (0, -1, 1.5, True):
        with pytest.raises(GraphError, match="'N' must be a whole number"):
            read(proto, dimensions={"N": size})
