"""Groups of real networks with skip connections, several heads, masks and caches."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import MAX_SHARE, MIN_GROUPS, group_network
from paretosoc.sdf.grouping.network_view import NetworkView, layers_of, tensors_of
from paretosoc.sdf.grouping.pieces import _atoms, _order
from paretosoc.sdf.onnx.importer import ImportedNetwork, import_onnx_bytes

MODELS = Path(__file__).parents[2] / "data/models"
TABLE = json.loads((MODELS / "expected.json").read_text())
NAMES = (
    "yolov8n",
    "yolo11n_seg",
    "yolov8n_qdq",
    "unet",
    "rtdetr_l",
    "segformer_b0",
    "detr_resnet18",
    "smollm_with_past",
    "smollm_prefill",
    "gpt2_with_past",
    "genai_qwen3_fp16",
    "whisper_tiny_decoder",
    "bert_tiny",
    "clip_text",
)


def imported(name: str) -> ImportedNetwork:
    return load_network(str(MODELS / f"{name}.onnx"), dimensions=TABLE[name].get("dimensions"))


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_groups_of_even_work(name: str) -> None:
    graph = imported(name).graph
    layers = layers_of(graph)
    support = layer_support(layers, load_platform("jetson-agx-xavier")).table
    view = NetworkView(layers, tensors_of(graph), support)
    place = {id(layer): index for index, layer in enumerate(layers)}
    grouped = group_network(graph, support)
    parts = [sorted(place[id(layer)] for layer in group.layers) for group in grouped.groups]
    assert sorted(index for part in parts for index in part) == list(range(len(layers)))
    launched = sum(layer.macs > 0 for layer in layers)
    assert len(parts) >= min(MIN_GROUPS, launched)
    total = view.work_of(range(len(layers)))
    for part in parts:
        if view.work_of(part) * MAX_SHARE > total:
            # Nothing but what runtimes run as one holds more than a quarter.
            atoms = _atoms(view, _order(view, part))
            largest = max(view.work_of(atom) for atom in atoms)
            assert largest * MAX_SHARE > 0.95 * total


@pytest.mark.parametrize("name", ["yolov8n", "unet", "rtdetr_l"])
def test_most_of_a_network_of_convolutions_can_run_on_the_dla(name: str) -> None:
    graph = imported(name).graph
    layers = layers_of(graph)
    support = layer_support(layers, load_platform("jetson-agx-xavier")).table
    able = {id(layer): bool(row[2]) for layer, row in zip(layers, support, strict=True)}
    possible = sum(layer.macs for layer in layers if able[id(layer)])
    grouped = group_network(graph, support)
    reached = sum(g.macs for g in grouped.groups if all(able[id(layer)] for layer in g.layers))
    assert reached >= 0.93 * possible


@pytest.mark.parametrize("groups", [4, 8, 15])
def test_about_as_many_groups_as_asked_for(groups: int) -> None:
    for name in ("yolov8n", "unet", "segformer_b0"):
        graph = imported(name).graph
        most = len(group_network(graph, None).groups)
        found = len(group_network(graph, None, groups=groups).groups)
        assert min(groups, most) <= found <= groups + 4


def test_dynamically_quantised_convolutions_are_cut_one_by_one() -> None:
    """The scale of each input is multiplied behind the convolution, before the next input is
    quantised: no fusion spans these."""
    nodes = []
    for k in range(6):
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [f"x{k}"], [f"q{k}", f"s{k}", f"z{k}"]),
            helper.make_node("ConvInteger", [f"q{k}", "w"], [f"c{k}"]),
            helper.make_node("Cast", [f"c{k}"], [f"f{k}"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"s{k}", "ws"], [f"t{k}"]),
            helper.make_node("Mul", [f"f{k}", f"t{k}"], [f"x{k + 1}"]),
        ]
    weights = [
        numpy_helper.from_array(np.ones((8, 8, 1, 1), np.int8), "w"),
        numpy_helper.from_array(np.float32(0.1), "ws"),
    ]
    shape = [1, 8, 32, 32]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x0", "x6"))
    graph = helper.make_graph(nodes, "dynamic", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    network = import_onnx_bytes(model.SerializeToString(), name="dynamic").graph
    view = NetworkView(layers_of(network), tensors_of(network), None)
    assert len(_atoms(view, _order(view, range(len(view.layers))))) >= 6
