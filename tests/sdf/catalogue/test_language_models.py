"""Language models of the catalogue: published parameters, operations by a formula, sound models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paretosoc.sdf.catalogue.catalogue import catalogue, load_network, model_file, tables
from paretosoc.sdf.catalogue.language_models import LANGUAGE_MODELS, LanguageModel, Latent
from paretosoc.sdf.catalogue.transformer_builder import build
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import import_onnx_bytes

# Parameters as model cards and hub pages state them, in units or as rounded there (millions).
PUBLISHED = {
    "bert-base": 109_482_240,
    "bert-large": 335_141_888,
    "bert-tiny": 4_385_920,
    "chatglm3-6b": 6_243_584_000,
    "gemma-2-2b": 2_614_341_888,
    "gemma-2b": 2_506_172_416,
    "internlm2-1.8b": 1_889_110_016,
    "llama-2-7b": 6_738_415_616,
    "llama-3-8b": 8_030_261_248,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "minicpm-2b": 2_724_880_896,
    "minicpm3-4b": 4.07e9,
    "minicpm4-0.5b": 434e6,
    "minilm-l12": 33_360_000,
    "minilm-l6": 22_713_216,
    "mistral-7b-v0.3": 7_248_023_552,
    "phi-3-mini": 3_821_079_552,
    "qwen2-0.5b": 494_032_768,
    "qwen2-1.5b": 1_543_714_304,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-1.5b": 1_543_714_304,
    "qwen2.5-3b": 3_085_938_688,
    "qwen2.5-7b": 7_615_616_512,
    # Hub pages add the tied matrix once more (0.752, 2.03 B).
    "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976,
    "qwen3-4b": 4_022_468_096,
    "smollm-135m": 134_515_008,
    "smollm-360m": 361_821_120,
    # By hand from the table of its readme: 24 (4 3072^2 + 3 3072 6144) + 2 160256 3072.
    "telechat2-3b": 3.2495e9,
    "tinyllama-1.1b": 1_100_048_384,
}
SIZES = ({}, {"sequence": 1, "past": 1024}, {"sequence": 16, "past": 3})

GROUPED = LanguageModel("x", "x", "x", 8, 2, 4, 2, 6, 10, 300, biased=True, head_norms=True)
"""Small, with everything different that may differ."""
SMALL = {
    "grouped": GROUPED,
    "untied": replace(GROUPED, tied=False, post_norms=True, gelu=True),
    "latent": LanguageModel(
        "x", "x", "x", 8, 2, 4, 4, 6, 10, 300, latent=Latent(5, 3, 2), value_size=4
    ),
    "encoder": LanguageModel("x", "x", "x", 8, 2, 4, 4, 2, 32, 300, biased=True, positions=150),
}


def test_every_model_is_checked() -> None:
    assert sorted(LANGUAGE_MODELS) == sorted(PUBLISHED)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_parameters_are_those_published(name: str) -> None:
    wanted = PUBLISHED[name]
    tolerance = 0 if isinstance(wanted, int) else 0.002
    assert LANGUAGE_MODELS[name].parameters == pytest.approx(wanted, rel=tolerance, abs=0)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_built_model_agrees_with_the_formulas(name: str) -> None:
    model = LANGUAGE_MODELS[name]
    summary = summarise(load_network(name, dimensions={"sequence": 1}))
    assert summary.macs == model.macs(1)
    assert summary.parameters == model.read(1)
    assert summary.warnings == ()
    if model.is_encoder:
        return
    # All but the embedding is read for a token, and of that and the rotary tables rows.
    rest = model.parameters - (0 if model.tied else model.vocabulary * model.hidden)
    assert summary.parameters == pytest.approx(rest, rel=3e-4)


def test_operations_by_hand() -> None:
    # Qwen2-0.5B, one token behind 1024: 24 layers of q, k, v, o and three products, scores and
    # values of 14 heads of 64 over 1025 positions, logits.
    layer = 2 * 896 * 896 + 2 * 896 * 128 + 3 * 896 * 4864
    wanted = 24 * (layer + 2 * 14 * 64 * 1025) + 896 * 151936
    network = load_network("qwen2-0.5b", dimensions={"sequence": 1, "past": 1024})
    assert summarise(network).macs == wanted
    attention = [
        actor.layer
        for actor in network.graph.actors
        if actor.layer is not None and actor.layer.kind is LayerKind.ATTENTION
    ]
    assert len(attention) == 24
    # The cache is read, 2 heads of 64 for keys and values, and written by the new token alone.
    assert {layer.input_elements for layer in attention} == {896 + 2 * 128 * 1025}
    assert {layer.output_elements for layer in attention} == {896}
    cache = sum(layer.input_elements - 896 for layer in attention)
    assert cache == LANGUAGE_MODELS["qwen2-0.5b"].cache(1025)
    new = [shape for name, shape in network.outputs if "logits" not in name]
    assert new == [(1, 1, 128)] * 48


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kind", SMALL)
def test_models_are_sound_onnx(kind: str, sizes: dict[str, int]) -> None:
    """ONNX's own checker and strict shape inference agree with ours."""
    import onnx

    model = SMALL[kind]
    length, past = sizes.get("sequence", 128), 0 if model.is_encoder else sizes.get("past", 0)
    data = build(model, length, past)
    network = import_onnx_bytes(data, name="x")
    summary = summarise(network)
    assert summary.macs == model.macs(length, past)
    assert summary.parameters == model.read(length)
    loaded = onnx.ModelProto.FromString(data)
    for weight in loaded.graph.initializer:
        if not weight.int64_data and weight.data_type == onnx.TensorProto.FLOAT:
            count = 1
            for size in weight.dims:
                count *= size
            weight.float_data.extend([0.0] * count)
    onnx.checker.check_model(loaded)
    inferred = onnx.shape_inference.infer_shapes(loaded, strict_mode=True, data_prop=True)
    shapes = {
        value.name: tuple(entry.dim_value for entry in value.type.tensor_type.shape.dim)
        for value in (*inferred.graph.value_info, *inferred.graph.output)
    }
    tensors = {channel.name for channel in network.graph.channels}
    assert tensors <= set(shapes)
    for channel in network.graph.channels:
        count = 1
        for size in shapes[channel.name]:
            count *= size
        assert count == channel.production


def test_sizes_that_a_model_has_not_are_reported() -> None:
    sizes = {"sequence": 4, "past": 2, "more": 3}
    assert load_network("smollm-135m", dimensions=sizes).unused_dimensions == ("more",)
    assert load_network("bert-tiny", dimensions=sizes).unused_dimensions == ("more", "past")
    assert load_network("smollm-135m").dynamic_dimensions == ("sequence", "past")
    assert model_file("bert-tiny").data == model_file("bert-tiny", {"sequence": 128}).data
    assert model_file("bert-tiny").data != model_file("bert-tiny", {"sequence": 64}).data


def test_an_encoder_has_only_so_many_positions() -> None:
    assert load_network("bert-tiny", dimensions={"sequence": 512}).inputs[0][1] == (1, 512)
    with pytest.raises(GraphError, match=r"^bert-tiny: sequence must be at most 512, got 513$"):
        load_network("bert-tiny", dimensions={"sequence": 513})


def test_entries_describe_what_is_loaded() -> None:
    entries = {entry.name: entry for entry in catalogue() if len(entry.input_shape) == 2}
    entries = {name: entry for name, entry in entries.items() if name not in tables()}
    assert set(entries) == set(LANGUAGE_MODELS)
    for name in ("smollm-135m", "minilm-l6"):
        network = load_network(name)
        summary = summarise(network)
        assert (summary.macs, summary.parameters) == (entries[name].macs, entries[name].parameters)
        assert network.inputs[0] == ("input_ids", entries[name].input_shape)
        assert LANGUAGE_MODELS[name].source in entries[name].origin
