"""Files of public networks from many exporters, held against a count from a run of each.

``tests/data/models/make_models.py`` made them; what is expected was counted from the shapes that
all tensors had in ONNX Runtime.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork

FOLDER = Path(__file__).parents[2] / "data/models"
TABLE: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
COUNTED = sorted(name for name, row in TABLE.items() if "macs" in row)
QUANTISERS = ("QuantizeLinear", "DequantizeLinear")


def imported(name: str) -> ImportedNetwork:
    return load_network(str(FOLDER / f"{name}.onnx"), dimensions=TABLE[name].get("dimensions"))


def layers_of(name: str) -> list[Layer]:
    return [actor.layer for actor in imported(name).graph.actors if actor.layer is not None]


def test_every_file_has_a_row_and_every_row_a_file() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.onnx")) == sorted(TABLE)
    assert len(TABLE) >= 25


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_those_of_a_run(name: str) -> None:
    row, layers = TABLE[name], layers_of(name)
    costly = [layer for layer in layers if layer.operation not in QUANTISERS]
    found = {
        "layers": len(costly),
        "macs": sum(layer.macs for layer in layers),
        "parameters": sum(layer.parameters for layer in layers),
        "weight_bytes": sum(layer.parameter_bytes(4) for layer in layers),
        "activations": sum(layer.output_elements for layer in costly),
    }
    assert found == {key: row[key] for key in found}
    assert not [layer.name for layer in layers if layer.kind is LayerKind.UNKNOWN]


@pytest.mark.parametrize("name", sorted(set(TABLE) - set(COUNTED)))
def test_what_depends_on_data_or_repeats_is_refused_by_name(name: str) -> None:
    operator = {"if_on_data": "If", "loop": "Loop", "scan": "Scan"}[name]
    why = "its condition depends on '" if operator == "If" else "it repeats a graph; export the"
    with pytest.raises(GraphError, match=rf"flow \({operator}\) cannot be mapped, for {why}"):
        imported(name)


def test_published_and_closed_figures() -> None:
    # He et al.'s ResNet-18 as torchvision counts it; one step of SmolLM's two blocks after 1023
    # tokens, in any form: 9 heads of 64, 3 of them with keys, a table of 49152 words.
    hidden, inner, kept, words = 576, 1536, 3 * 64, 49152
    block = 2 * hidden * hidden + 2 * hidden * kept + 3 * hidden * inner + 2 * 1024 * hidden
    step = 2 * block + hidden * words
    for name, macs in {
        "resnet18_opset9": 1_814_073_344,
        "resnet18_qdq": 1_814_073_344,
        "contrib_multi_head_attention_past": 1_048_576,
        "smollm_attention23": step,
        "smollm_int4": step,
        "genai_llama_fp32": step,
        "genai_llama_int4": step,
        "genai_qwen3_fp16": step,
    }.items():
        found = sum(layer.macs for layer in layers_of(name))
        # torch.export computes the angles of the rotary embedding as a product.
        assert found in (macs, macs + 32), name


def test_optimisers_change_no_operations() -> None:
    plain = TABLE["bert_tiny"]["macs"]
    forms = (
        "bert_tiny_fused",
        "bert_tiny_contrib",
        "bert_tiny_contrib_int8",
        "bert_tiny_dynamic_int8",
    )
    assert {sum(layer.macs for layer in layers_of(name)) for name in forms} == {plain}


def test_quantise_and_dequantise_nodes_launch_nothing() -> None:
    layers = layers_of("resnet18_qdq")
    pairs = [layer for layer in layers if layer.operation in QUANTISERS]
    assert len(pairs) > 50
    for layer in pairs:
        assert (layer.kind, layer.parameters, layer.macs) == (LayerKind.RESHAPE, 0, 0)


@pytest.mark.parametrize(
    ("plain", "quantised"), [("resnet18_opset9", "resnet18_qdq"), ("yolov8n", "yolov8n_qdq")]
)
def test_a_quantised_network_has_the_launches_of_the_other(plain: str, quantised: str) -> None:
    def launches(name: str) -> list[str]:
        network = group_network(imported(name).graph, None, groups=1)
        found = [launch for group in network_launches(network) for launch in group]
        return [
            "+".join(
                layer.operation for layer in launch.layers if layer.operation not in QUANTISERS
            )
            for launch in found
            if not launch.is_free
        ]

    # The quantiser's own optimiser leaves a ReLU, and a Transpose, to the node before it.
    few = [text.replace("+Relu", "").replace("Transpose", "") for text in launches(plain)]
    found = [text.replace("Transpose", "") for text in launches(quantised)]
    assert sorted(filter(None, found)) == sorted(filter(None, few))


def test_quantised_models_are_known() -> None:
    quantised = {name for name in COUNTED if imported(name).is_quantised}
    assert quantised == {
        "resnet18_qdq", "yolov8n_qdq", "mobilenet_v2_qoperator", "bert_tiny_dynamic_int8",
        "bert_tiny_contrib_int8",
    }  # fmt: skip
