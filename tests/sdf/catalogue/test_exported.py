"""The tables of exported networks: counts are those published, damage is told."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from benchmarks.catalogue import built
from benchmarks.catalogue.__main__ import write_index, write_table
from examples.mapformer.mixes import torchvision_networks
from paretosoc.sdf.catalogue.catalogue import (
    FOLDER,
    CatalogueEntry,
    catalogue,
    load_network,
    read_index,
    read_table,
    table_path,
    tables,
)
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.grouping import group_network, legal_cuts, transition_points
from paretosoc.sdf.grouping.network_view import layers_of
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork

WRITTEN_DOWN = {source.name for source in built.sources()}
EXPORTED = sorted(tables().keys() - WRITTEN_DOWN)
"""Those that packages build. test_catalogue.py has the others."""

# Crop, GMACs and parameters, from the metadata (`_ops`, `num_params`) of torchvision
# 0.28's weights: of each network those with the smallest crop. What torchvision calls operations
# are multiply-accumulates of convolutions and products, attention included.
PUBLISHED = {
    "alexnet": (224, 0.714, 61100840),
    "convnext_base": (224, 15.355, 88591464),
    "convnext_large": (224, 34.361, 197767336),
    "convnext_small": (224, 8.684, 50223688),
    "convnext_tiny": (224, 4.456, 28589128),
    "densenet121": (224, 2.834, 7978856),
    "densenet161": (224, 7.728, 28681000),
    "densenet169": (224, 3.36, 14149480),
    "densenet201": (224, 4.291, 20013928),
    "efficientnet_b0": (224, 0.386, 5288548),
    "efficientnet_b1": (240, 0.687, 7794184),
    "efficientnet_b2": (288, 1.088, 9109994),
    "efficientnet_b3": (300, 1.827, 12233232),
    "efficientnet_b4": (380, 4.394, 19341616),
    "efficientnet_b5": (456, 10.266, 30389784),
    "efficientnet_b6": (528, 19.068, 43040704),
    "efficientnet_b7": (600, 37.746, 66347960),
    "efficientnet_v2_l": (480, 56.08, 118515272),
    "efficientnet_v2_m": (480, 24.582, 54139356),
    "efficientnet_v2_s": (384, 8.366, 21458488),
    "googlenet": (224, 1.498, 6624904),
    "inception_v3": (299, 5.713, 27161264),
    "maxvit_t": (224, 5.558, 30919624),
    "mnasnet0_5": (224, 0.104, 2218512),
    "mnasnet0_75": (224, 0.215, 3170208),
    "mnasnet1_0": (224, 0.314, 4383312),
    "mnasnet1_3": (224, 0.526, 6282256),
    "mobilenet_v2": (224, 0.301, 3504872),
    "mobilenet_v3_large": (224, 0.217, 5483032),
    "mobilenet_v3_small": (224, 0.057, 2542856),
    "regnet_x_16gf": (224, 15.941, 54278536),
    "regnet_x_1_6gf": (224, 1.603, 9190136),
    "regnet_x_32gf": (224, 31.736, 107811560),
    "regnet_x_3_2gf": (224, 3.177, 15296552),
    "regnet_x_400mf": (224, 0.414, 5495976),
    "regnet_x_800mf": (224, 0.8, 7259656),
    "regnet_x_8gf": (224, 7.995, 39572648),
    "regnet_y_128gf": (224, 127.518, 644812894),
    "regnet_y_16gf": (224, 15.912, 83590140),
    "regnet_y_1_6gf": (224, 1.612, 11202430),
    "regnet_y_32gf": (224, 32.28, 145046770),
    "regnet_y_3_2gf": (224, 3.176, 19436338),
    "regnet_y_400mf": (224, 0.402, 4344144),
    "regnet_y_800mf": (224, 0.834, 6432512),
    "regnet_y_8gf": (224, 8.473, 39381472),
    "resnet101": (224, 7.801, 44549160),
    "resnet152": (224, 11.514, 60192808),
    "resnet18": (224, 1.814, 11689512),
    "resnet34": (224, 3.664, 21797672),
    "resnet50": (224, 4.089, 25557032),
    "resnext101_32x8d": (224, 16.414, 88791336),
    "resnext101_64x4d": (224, 15.46, 83455272),
    "resnext50_32x4d": (224, 4.23, 25028904),
    "shufflenet_v2_x0_5": (224, 0.04, 1366792),
    "shufflenet_v2_x1_0": (224, 0.145, 2278604),
    "shufflenet_v2_x1_5": (224, 0.296, 3503624),
    "shufflenet_v2_x2_0": (224, 0.583, 7393996),
    "squeezenet1_0": (224, 0.819, 1248424),
    "squeezenet1_1": (224, 0.349, 1235496),
    "swin_b": (224, 15.431, 87768224),
    "swin_s": (224, 8.741, 49606258),
    "swin_t": (224, 4.491, 28288354),
    "swin_v2_b": (256, 20.325, 87930848),
    "swin_v2_s": (256, 11.546, 49737442),
    "swin_v2_t": (256, 5.94, 28351570),
    "vgg11": (224, 7.609, 132863336),
    "vgg11_bn": (224, 7.609, 132868840),
    "vgg13": (224, 11.308, 133047848),
    "vgg13_bn": (224, 11.308, 133053736),
    "vgg16": (224, 15.47, 138357544),
    "vgg16_bn": (224, 15.47, 138365992),
    "vgg19": (224, 19.632, 143667240),
    "vgg19_bn": (224, 19.632, 143678248),
    "vit_b_16": (224, 17.564, 86567656),
    "vit_b_32": (224, 4.409, 88224232),
    "vit_h_14": (224, 167.295, 632045800),
    "vit_l_16": (224, 61.555, 304326632),
    "vit_l_32": (224, 15.378, 306535400),
    "wide_resnet101_2": (224, 22.753, 126886696),
    "wide_resnet50_2": (224, 11.398, 68883240),
}

# Multiply-accumulates off by more than a hundredth, each with its reason.
OTHER_LAYERS = {
    "alexnet": 0.015,  # Caffe's, 227 x 227 and two groups of filters
    "googlenet": 0.06,  # Caffe's, with 5 x 5 convolutions and pooling sizes rounded up
    "resnet101": 0.03,  # Caffe's, the stride in the first convolution of a block
    "resnet152": 0.021,
}
# Parameters: likewise.
OTHER_PARAMETERS = {
    "densenet121": 0.022,  # batch normalisation that cannot be folded reads four values a channel
    "googlenet": 0.06,
    "inception_v3": -0.13,  # without the classifier that is only trained with
}


# GMACs and million parameters of the others: half of the FLOPs where these are twice the
# multiply-accumulates.
OTHERS = {
    # torchvision's metadata; its parameters and, for segmentation, operations hold a second
    # classifier that only training runs.
    "ssd300_vgg16": (34.858, 35.642),
    "ssdlite320_mobilenet_v3_large": (0.583, 3.440),
    "deeplabv3_mobilenet_v3_large": (10.452, 11.029),
    "deeplabv3_resnet50": (178.722, 42.004),
    "deeplabv3_resnet101": (258.743, 60.996),
    "fcn_resnet50": (152.717, 35.322),
    "fcn_resnet101": (232.738, 54.314),
    "lraspp_mobilenet_v3_large": (2.086, 3.222),
    # arXiv 2105.15203, table 1.
    "segformer_b0": (8.4, 3.8),
    "segformer_b1": (15.9, 13.7),
    "segformer_b2": (62.4, 27.5),
    "segformer_b3": (79.0, 47.3),
    "segformer_b4": (95.7, 64.1),
    "segformer_b5": (183.3, 84.7),
    # mlfoundations/open_clip, docs/model_profile.csv, and with embeddings of 49,408 and 32,000
    # words, of which an inference reads a few rows.
    "clip_vit_b_32_image": (8.82 / 2, 87.85),
    "clip_vit_b_16_image": (35.13 / 2, 86.19),
    "clip_vit_l_14_image": (162.03 / 2, 303.97),
    "clip_vit_l_text": (13.3 / 2, 123.65 - 49408 * 768e-6),
    "clip_vit_b_text": (5.96 / 2, 63.43 - 49408 * 512e-6),
    "siglip_base_image": (35.42 / 2, 92.88),
    "siglip_so400m_image": (670.35 / 2, 428.23),
    "siglip_base_text": (11.02 / 2, 110.27 - 32000 * 768e-6),
    # quic/ai-hub-models, info.yaml; MACs by hand (hand()).
    "whisper_tiny_encoder": (None, 9.39),
    "whisper_base_encoder": (None, 23.7),
    "whisper_small_encoder": (None, 102),
    "whisper_tiny_decoder": (None, 28.4),
    "whisper_base_decoder": (None, 48.9),
    "whisper_small_decoder": (None, 139),
    "unet": (None, 31.0),
    "mobile_sam": (None, 6.95),
    "beit_b": (None, 92.0),
    "trocr_small_encoder": (None, 23.0),
    "detr_r50": (None, 41.4),
    "detr_r101": (None, 60.3),
    "esrgan": (None, 16.7),
    "realesr_general": (None, 1.21),
    "quicksrnet_small": (None, 0.0333),
    "quicksrnet_medium": (None, 0.061),
    "quicksrnet_large": (None, 0.436),
    # The same; of embeddings that no head reads an inference reads a few rows, and weights that
    # twelve layers share are counted twelve times.
    "distilbert_base": (None, 66.99),
    "electra_base": (None, 109.48 - 30522 * 768e-6),
    "albert_base": (None, 11.22 + 11 * 7.088),
    # Words of 128 numbers, to which the head adds 384 more.
    "mobilebert": (None, 24.58 + 30522 * 384e-6),
    # Six layers of the sizes in Helsinki-NLP/opus-mt-en-es, config.json.
    "opus_mt_encoder": (None, 6 * 3.152),
    # huggingface/pytorch-image-models, results/benchmark-infer-amp-nchw-pt240-cu124-rtx4090.csv:
    # samvit_base_patch16 for images of 1024 pixels, vit_*_patch14_dinov2 for images of 518, which
    # have 1,113 positions more.
    "sam_vit_b": (486.43, 89.67),
    "dinov2_s": (None, 22.06 - 1113 * 384e-6),
    "dinov2_b": (None, 86.58 - 1113 * 768e-6),
    "dinov2_l": (None, 304.37 - 1113 * 1024e-6),
    # DepthAnything/Depth-Anything-V2, README.
    "depth_anything_s": (None, 24.8),
    "depth_anything_b": (None, 97.5),
    "depth_anything_l": (None, 335.3),
    # mit-han-lab/efficientvit, applications/efficientvit_seg/README.md.
    "efficientvit_b0_cityscapes": (4.4, 0.7),
    "efficientvit_b1_cityscapes": (25, 4.8),
    "efficientvit_b2_cityscapes": (74, 15),
    "efficientvit_b3_cityscapes": (179, 40),
    "efficientvit_b1_ade20k": (3.1, 4.8),
    "efficientvit_b2_ade20k": (9.1, 15),
    "efficientvit_b3_ade20k": (22, 39),
    # google/automl, efficientdet/README.md.
    "efficientdet_d0": (2.54, 3.9),
    "efficientdet_d1": (6.1, 6.6),
    "efficientdet_d2": (11.0, 8.1),
    "efficientdet_d3": (24.9, 12.0),
    # lyuwenyu/RT-DETR and Peterande/D-FINE, README.md.
    "rtdetr_r18": (60.7 / 2, 20),
    "rtdetr_r34": (92 / 2, 31),
    "rtdetr_r50": (136 / 2, 42),
    "rtdetr_r101": (259 / 2, 76),
    "dfine_n": (7 / 2, 4),
    "dfine_s": (25 / 2, 10),
    "dfine_m": (57 / 2, 19),
    "dfine_l": (91 / 2, 31),
    "dfine_x": (202 / 2, 62),
    # huggingface/pytorch-image-models, the same list.
    "efficientformer_l1": (1.3, 12.29),
    "dla102x": (5.89, 26.31),
    "efficientvit_b1": (0.52, 9.1),
    "efficientvit_b2": (1.6, 24.33),
    "efficientvit_b3": (3.99, 48.65),
    "efficientvit_l2": (6.97, 63.71),
    "levit_128s": (0.31, 7.78),
    "ese_vovnet19b_dw": (1.34, 6.54),
    "fastvit_sa12": (1.96, 11.58),
    "resmlp_12": (3.01, 15.35),
    "se_resnet50": (4.11, 28.09),
    "vit_small": (4.61, 22.05),
    "vit_tiny": (1.26, 5.72),
    "mobilenet_v2_1_1d": (None, 4.52),
    # tensorflow/models, research/slim/nets/mobilenet/README.md; arXiv 1807.11626, table 1.
    "mobilenet_v2_0_5": (0.097, 1.95),
    "mnasnet_a1": (0.312, 3.9),
    # hailo-ai/hailo_model_zoo, docs/public_models/HAILO8/HAILO8_classification.rst.
    "efficientnet_lite0": (0.78 / 2, 4.63),
    "efficientnet_lite1": (1.22 / 2, 5.39),
    "efficientnet_lite2": (1.74 / 2, 6.06),
    "efficientnet_lite3": (2.8 / 2, 8.16),
    "efficientnet_lite4": (5.1 / 2, 12.95),
    "mobilenet_v2_1_4": (1.18 / 2, 6.09),
    "repvgg_a1": (4.7 / 2, 12.79),
    "repvgg_a2": (10.2 / 2, 25.5),
    # MobileViT-S: arXiv 2110.02178, 5.6 M; timm's results list 2.03 GMACs.
    "mobilevit_s": (2.03, 5.6),
}

REASONS = {
    # Without the classifier that only training runs.
    "deeplabv3_resnet50": (-0.056, -0.057),
    "deeplabv3_resnet101": (-0.039, -0.04),
    "fcn_resnet50": (-0.066, -0.068),
    "fcn_resnet101": (-0.043, -0.045),
    # Weights that the heads read for each of five levels are counted five times.
    "efficientdet_d0": (0, 0.075),
    "efficientdet_d1": (0, 0.075),
    "efficientdet_d2": (0, 0.08),
    "efficientdet_d3": (0, 0.115),
    # Relative positions, looked up in tables when the network is exported: 64 x 64 and 14 x 14 of
    # them in place of 127 and 27, for rows and for columns, in 4 and 8 layers.
    "sam_vit_b": (0, 2.205184 / 89.67),
    # Positions are a constant that each layer adds.
    "detr_r50": (0, 0.022),
    # Published before the branches of a convolution were joined.
    "rtdetr_r101": (-0.03, 0),
    # transformers computes boxes of all 8,400 candidates, the paper's code of the best 300; weights
    # that each layer of the decoder reads are counted for each; 4 and 10 million are rounded.
    "dfine_n": (0.05, -0.03),
    "dfine_s": (0.095, 0.055),
    "dfine_m": (0.038, 0.03),
    "dfine_l": (0.025, 0.015),
    "dfine_x": (0.011, 0.01),
}
"""Shares by which counts differ: of multiply-accumulates and of parameters."""
WHOLE = {"whisper_medium": 769e6, "whisper_large_v3_turbo": 809e6}
"""Parameters of encoder and decoder together: openai/whisper, README."""
PARTS = {f"{name}_{part}" for name in WHOLE for part in ("encoder", "decoder")}
UNPUBLISHED = frozenset({"unet_resnet34", "retinanet_resnext50", *PARTS})
"""Tables of sizes of a family whose other sizes are held against what is published."""

ATTENTIVE = ("swin", "maxvit")
"""Networks whose attention adds a constant to the score of every pair of positions."""


def position_biases(name: str) -> int:
    """Elements of these constants and of masks; torchvision counts the tables, a hundredth of
    them, that they are looked up in, and no masks."""
    total = 0
    for layer in layers_of(load_network(name).graph):
        pairs = layer.output_shapes[0][-1] * layer.output_shapes[0][-1]
        square = layer.output_shapes[0][-2:-1] == layer.output_shapes[0][-1:]
        if layer.operation == "Add" and square and layer.parameters % pairs == 0:
            total += layer.parameters
    assert total
    return total


@pytest.fixture(scope="module")
def entries() -> dict[str, CatalogueEntry]:
    return {entry.name: entry for entry in catalogue()}


@pytest.fixture(scope="module")
def networks() -> dict[str, ImportedNetwork]:
    return {name: load_network(name) for name in EXPORTED}


def test_all_eighty_classifiers_of_torchvision_have_a_name() -> None:
    assert torchvision_networks() == tuple(sorted(PUBLISHED))
    assert len(PUBLISHED) == 80


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_counts_are_those_that_torchvision_publishes(
    name: str, entries: dict[str, CatalogueEntry]
) -> None:
    crop, gmacs, parameters = PUBLISHED[name]
    entry = entries[name]
    # Torchvision rounds to a million.
    bound = max(0.01, OTHER_LAYERS.get(name, 0)) * gmacs + 0.0005
    assert entry.macs / 1e9 == pytest.approx(gmacs, abs=bound)
    own = entry.parameters - (position_biases(name) if name.startswith(ATTENTIVE) else 0)
    off = own / parameters - 1
    expected = OTHER_PARAMETERS.get(name, 0)
    assert min(expected, 0) - 0.01 <= off <= max(expected, 0) + 0.01
    if name in EXPORTED:
        assert entry.input_shape == (1, 3, crop, crop)


def test_every_table_is_held_against_what_is_published() -> None:
    assert set(EXPORTED) - set(PUBLISHED) == {*OTHERS, *UNPUBLISHED}
    assert not {*OTHERS} & {*UNPUBLISHED}


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_counts_of_the_others_are_those_published(name: str) -> None:
    table = tables()[name]
    gmacs, mparameters = OTHERS[name]
    more_macs, more_parameters = REASONS.get(name, (0, 0))
    if gmacs is not None:
        assert table.macs / 1e9 == pytest.approx(gmacs * (1 + more_macs), rel=0.02)
    assert table.parameters / 1e6 == pytest.approx(mparameters * (1 + more_parameters), rel=0.025)


@pytest.mark.parametrize("name", WHOLE)
def test_encoder_and_decoder_have_the_parameters_of_the_whole(name: str) -> None:
    both = [tables()[f"{name}_{part}"].parameters for part in ("encoder", "decoder")]
    assert sum(both) == pytest.approx(WHOLE[name], rel=0.01)


@pytest.mark.parametrize("name", EXPORTED)
def test_the_index_says_what_is_in_the_table(
    name: str, networks: dict[str, ImportedNetwork]
) -> None:
    summary = summarise(networks[name])
    table = tables()[name]
    assert (summary.macs, summary.parameters) == (table.macs, table.parameters)
    assert summary.sha256 == table.sha256
    assert summary.inputs[0][1] == table.input_shape
    if name in PUBLISHED:
        assert [shape for _, shape in summary.outputs] == [(1, 1000)]
    assert summary.warnings == ()
    assert summary.constant_operations == ()


DENSE = ("densenet161", "densenet169", "densenet201")


@pytest.mark.parametrize("name", EXPORTED)
def test_every_table_can_be_cut(name: str, networks: dict[str, ImportedNetwork]) -> None:
    graph = networks[name].graph
    kinds = {actor.layer.kind for actor in graph.actors if actor.layer is not None}
    assert LayerKind.UNKNOWN not in kinds
    assert set(transition_points(graph)) <= set(legal_cuts(graph))
    grouped = group_network(graph, None, groups=20)
    assert len(grouped.groups) <= 20
    layers = [layer.name for group in grouped.groups for layer in group.layers]
    assert sorted(layers) == sorted(actor.name for actor in graph.actors)
    chain = [(index, index + 1) for index in range(len(grouped.groups) - 1)]
    edges = [(edge.source, edge.target) for edge in grouped.edges]
    if name in PUBLISHED:
        assert len(grouped.groups) >= 9
    if name in DENSE:
        # A dense block holds more than a quarter of the work: it is cut, and edges skip groups.
        assert set(chain) < set(edges)
    elif name in PUBLISHED:
        assert edges == chain


def test_attention_is_counted_with_its_scores() -> None:
    # ViT-B/32: 50 tokens of 768 in 12 heads, 12 blocks: projections and perceptron 12 x 768^2 a
    # token, scores and weighted values 2 x 50 x 768; 49 patches of 32 x 32 x 3, 1000 classes.
    expected = 12 * 50 * (12 * 768**2 + 2 * 50 * 768) + 49 * 768 * 3072 + 768 * 1000
    assert summarise(load_network("vit_b_32")).macs == expected


def test_the_files_are_few_megabytes() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2.5 * 2**20


def test_reading_what_was_written(tmp_path: Path) -> None:
    table = tables()["vit_b_32"]
    data = read_table(table)
    write_table(tmp_path, table, data)
    write_index(tmp_path, [table])
    assert read_index(tmp_path) == {"vit_b_32": table}
    assert read_table(table, tmp_path) == data
    assert table_path(table, tmp_path).read_bytes() == table_path(table).read_bytes()


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    table = tables()["squeezenet1_0"]
    path = table_path(table, tmp_path)
    with pytest.raises(GraphError, match=r"squeezenet1_0.*cannot be read"):
        read_table(table, tmp_path)
    whole = table_path(table).read_bytes()
    for broken in (whole[:-20], whole[: len(whole) // 2], b"", b"no gzip", whole[:50] + b"x" * 99):
        path.write_bytes(broken)
        with pytest.raises(GraphError, match=r"squeezenet1_0\.onnx\.gz"):
            read_table(table, tmp_path)
    other = bytearray(gzip.decompress(whole))
    other[len(other) // 2] ^= 1
    path.write_bytes(gzip.compress(bytes(other)))
    with pytest.raises(GraphError, match=rf"must be {table.sha256}, got [0-9a-f]{{64}}"):
        read_table(table, tmp_path)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "index.json", tmp_path)
    rows = json.loads((FOLDER / "index.json").read_text("utf-8"))
    bad = [
        "", "[", "{}x", "[1]", json.dumps([{**rows[0], "more": 1}]),
        json.dumps([{key: rows[0][key] for key in list(rows[0])[:-1]}]),
        json.dumps([{**rows[0], "macs": "many"}]),
        json.dumps([{**rows[0], "input_shape": [1, -1]}]),
        json.dumps([{**rows[0], "name": "../x"}]), json.dumps({"name": 1}),
        json.dumps([rows[0], rows[0]]),
    ]  # fmt: skip
    for text in bad:
        (tmp_path / "index.json").write_text(text, encoding="utf-8")
        with pytest.raises(GraphError, match=r"index\.json"):
            read_index(tmp_path)
