"""Where weights may be: without data, computed, in other files, or nowhere."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from tests.support.problems.onnx_models import integers, layers, model, node, only, read, shape_only


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
    assert only(load_network(str(path))).macs == 80


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
            load_network(str(path))
