"""The tables of torchvision's networks: counts are torchvision's own, damage is told."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from paretosoc.sdf.catalogue.catalogue import (
    CatalogueEntry,
    catalogue,
    load_network,
    torchvision_networks,
)
from paretosoc.sdf.catalogue.torchvision_tables import (
    FOLDER,
    ORIGIN,
    described,
    read_index,
    read_table,
    table_path,
    tables,
    write_index,
    write_table,
)
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.grouping import group_network, legal_cuts, transition_points
from paretosoc.sdf.grouping.network_view import layers_of
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork

# Weights, crop, GMACs and parameters, from the metadata (`_ops`, `num_params`) of torchvision
# 0.28's weights: of each network those with the smallest crop. What torchvision calls operations
# are multiply-accumulates of convolutions and products, attention included.
PUBLISHED = {
    "alexnet": ("IMAGENET1K_V1", 224, 0.714, 61100840),
    "convnext_base": ("IMAGENET1K_V1", 224, 15.355, 88591464),
    "convnext_large": ("IMAGENET1K_V1", 224, 34.361, 197767336),
    "convnext_small": ("IMAGENET1K_V1", 224, 8.684, 50223688),
    "convnext_tiny": ("IMAGENET1K_V1", 224, 4.456, 28589128),
    "densenet121": ("IMAGENET1K_V1", 224, 2.834, 7978856),
    "densenet161": ("IMAGENET1K_V1", 224, 7.728, 28681000),
    "densenet169": ("IMAGENET1K_V1", 224, 3.36, 14149480),
    "densenet201": ("IMAGENET1K_V1", 224, 4.291, 20013928),
    "efficientnet_b0": ("IMAGENET1K_V1", 224, 0.386, 5288548),
    "efficientnet_b1": ("IMAGENET1K_V1", 240, 0.687, 7794184),
    "efficientnet_b2": ("IMAGENET1K_V1", 288, 1.088, 9109994),
    "efficientnet_b3": ("IMAGENET1K_V1", 300, 1.827, 12233232),
    "efficientnet_b4": ("IMAGENET1K_V1", 380, 4.394, 19341616),
    "efficientnet_b5": ("IMAGENET1K_V1", 456, 10.266, 30389784),
    "efficientnet_b6": ("IMAGENET1K_V1", 528, 19.068, 43040704),
    "efficientnet_b7": ("IMAGENET1K_V1", 600, 37.746, 66347960),
    "efficientnet_v2_l": ("IMAGENET1K_V1", 480, 56.08, 118515272),
    "efficientnet_v2_m": ("IMAGENET1K_V1", 480, 24.582, 54139356),
    "efficientnet_v2_s": ("IMAGENET1K_V1", 384, 8.366, 21458488),
    "googlenet": ("IMAGENET1K_V1", 224, 1.498, 6624904),
    "inception_v3": ("IMAGENET1K_V1", 299, 5.713, 27161264),
    "maxvit_t": ("IMAGENET1K_V1", 224, 5.558, 30919624),
    "mnasnet0_5": ("IMAGENET1K_V1", 224, 0.104, 2218512),
    "mnasnet0_75": ("IMAGENET1K_V1", 224, 0.215, 3170208),
    "mnasnet1_0": ("IMAGENET1K_V1", 224, 0.314, 4383312),
    "mnasnet1_3": ("IMAGENET1K_V1", 224, 0.526, 6282256),
    "mobilenet_v2": ("IMAGENET1K_V1", 224, 0.301, 3504872),
    "mobilenet_v3_large": ("IMAGENET1K_V1", 224, 0.217, 5483032),
    "mobilenet_v3_small": ("IMAGENET1K_V1", 224, 0.057, 2542856),
    "regnet_x_16gf": ("IMAGENET1K_V1", 224, 15.941, 54278536),
    "regnet_x_1_6gf": ("IMAGENET1K_V1", 224, 1.603, 9190136),
    "regnet_x_32gf": ("IMAGENET1K_V1", 224, 31.736, 107811560),
    "regnet_x_3_2gf": ("IMAGENET1K_V1", 224, 3.177, 15296552),
    "regnet_x_400mf": ("IMAGENET1K_V1", 224, 0.414, 5495976),
    "regnet_x_800mf": ("IMAGENET1K_V1", 224, 0.8, 7259656),
    "regnet_x_8gf": ("IMAGENET1K_V1", 224, 7.995, 39572648),
    "regnet_y_128gf": ("IMAGENET1K_SWAG_LINEAR_V1", 224, 127.518, 644812894),
    "regnet_y_16gf": ("IMAGENET1K_V1", 224, 15.912, 83590140),
    "regnet_y_1_6gf": ("IMAGENET1K_V1", 224, 1.612, 11202430),
    "regnet_y_32gf": ("IMAGENET1K_V1", 224, 32.28, 145046770),
    "regnet_y_3_2gf": ("IMAGENET1K_V1", 224, 3.176, 19436338),
    "regnet_y_400mf": ("IMAGENET1K_V1", 224, 0.402, 4344144),
    "regnet_y_800mf": ("IMAGENET1K_V1", 224, 0.834, 6432512),
    "regnet_y_8gf": ("IMAGENET1K_V1", 224, 8.473, 39381472),
    "resnet101": ("IMAGENET1K_V1", 224, 7.801, 44549160),
    "resnet152": ("IMAGENET1K_V1", 224, 11.514, 60192808),
    "resnet18": ("IMAGENET1K_V1", 224, 1.814, 11689512),
    "resnet34": ("IMAGENET1K_V1", 224, 3.664, 21797672),
    "resnet50": ("IMAGENET1K_V1", 224, 4.089, 25557032),
    "resnext101_32x8d": ("IMAGENET1K_V1", 224, 16.414, 88791336),
    "resnext101_64x4d": ("IMAGENET1K_V1", 224, 15.46, 83455272),
    "resnext50_32x4d": ("IMAGENET1K_V1", 224, 4.23, 25028904),
    "shufflenet_v2_x0_5": ("IMAGENET1K_V1", 224, 0.04, 1366792),
    "shufflenet_v2_x1_0": ("IMAGENET1K_V1", 224, 0.145, 2278604),
    "shufflenet_v2_x1_5": ("IMAGENET1K_V1", 224, 0.296, 3503624),
    "shufflenet_v2_x2_0": ("IMAGENET1K_V1", 224, 0.583, 7393996),
    "squeezenet1_0": ("IMAGENET1K_V1", 224, 0.819, 1248424),
    "squeezenet1_1": ("IMAGENET1K_V1", 224, 0.349, 1235496),
    "swin_b": ("IMAGENET1K_V1", 224, 15.431, 87768224),
    "swin_s": ("IMAGENET1K_V1", 224, 8.741, 49606258),
    "swin_t": ("IMAGENET1K_V1", 224, 4.491, 28288354),
    "swin_v2_b": ("IMAGENET1K_V1", 256, 20.325, 87930848),
    "swin_v2_s": ("IMAGENET1K_V1", 256, 11.546, 49737442),
    "swin_v2_t": ("IMAGENET1K_V1", 256, 5.94, 28351570),
    "vgg11": ("IMAGENET1K_V1", 224, 7.609, 132863336),
    "vgg11_bn": ("IMAGENET1K_V1", 224, 7.609, 132868840),
    "vgg13": ("IMAGENET1K_V1", 224, 11.308, 133047848),
    "vgg13_bn": ("IMAGENET1K_V1", 224, 11.308, 133053736),
    "vgg16": ("IMAGENET1K_V1", 224, 15.47, 138357544),
    "vgg16_bn": ("IMAGENET1K_V1", 224, 15.47, 138365992),
    "vgg19": ("IMAGENET1K_V1", 224, 19.632, 143667240),
    "vgg19_bn": ("IMAGENET1K_V1", 224, 19.632, 143678248),
    "vit_b_16": ("IMAGENET1K_V1", 224, 17.564, 86567656),
    "vit_b_32": ("IMAGENET1K_V1", 224, 4.409, 88224232),
    "vit_h_14": ("IMAGENET1K_SWAG_LINEAR_V1", 224, 167.295, 632045800),
    "vit_l_16": ("IMAGENET1K_V1", 224, 61.555, 304326632),
    "vit_l_32": ("IMAGENET1K_V1", 224, 15.378, 306535400),
    "wide_resnet101_2": ("IMAGENET1K_V1", 224, 22.753, 126886696),
    "wide_resnet50_2": ("IMAGENET1K_V1", 224, 11.398, 68883240),
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
    """Those that are read from tables; the others are tested with the rest of the catalogue."""
    return {name: load_network(name) for name in tables()}


def test_all_eighty_have_a_name(entries: dict[str, CatalogueEntry]) -> None:
    assert torchvision_networks() == tuple(sorted(PUBLISHED))
    assert len(PUBLISHED) == 80
    assert set(PUBLISHED) <= set(entries)
    assert {name for name, entry in entries.items() if entry.origin == ORIGIN} == set(tables())


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_counts_are_those_that_torchvision_publishes(
    name: str, entries: dict[str, CatalogueEntry]
) -> None:
    weights, crop, gmacs, parameters = PUBLISHED[name]
    entry = entries[name]
    # Torchvision rounds to a million.
    bound = max(0.01, OTHER_LAYERS.get(name, 0)) * gmacs + 0.0005
    assert entry.macs / 1e9 == pytest.approx(gmacs, abs=bound)
    own = entry.parameters - (position_biases(name) if name.startswith(ATTENTIVE) else 0)
    off = own / parameters - 1
    expected = OTHER_PARAMETERS.get(name, 0)
    assert min(expected, 0) - 0.01 <= off <= max(expected, 0) + 0.01
    if entry.origin == ORIGIN:
        assert entry.input_shape == (1, 3, crop, crop)
        assert tables()[name].weights == weights


@pytest.mark.parametrize("name", sorted(tables()))
def test_the_index_says_what_is_in_the_table(
    name: str, networks: dict[str, ImportedNetwork]
) -> None:
    summary = summarise(networks[name])
    table = tables()[name]
    assert (summary.macs, summary.parameters) == (table.macs, table.parameters)
    assert summary.sha256 == table.sha256
    assert [shape for _, shape in summary.inputs] == [(1, 3, table.crop, table.crop)]
    assert [shape for _, shape in summary.outputs] == [(1, 1000)]
    assert summary.warnings == ()
    assert summary.constant_operations == ()


DENSE = ("densenet161", "densenet169", "densenet201")


@pytest.mark.parametrize("name", sorted(tables()))
def test_every_table_can_be_cut_into_about_twenty_groups(
    name: str, networks: dict[str, ImportedNetwork]
) -> None:
    graph = networks[name].graph
    kinds = {actor.layer.kind for actor in graph.actors if actor.layer is not None}
    assert LayerKind.UNKNOWN not in kinds
    assert set(transition_points(graph)) <= set(legal_cuts(graph))
    grouped = group_network(graph, None, groups=20)
    assert 9 <= len(grouped.groups) <= 20
    layers = [layer.name for group in grouped.groups for layer in group.layers]
    assert layers == [actor.name for actor in graph.actors]
    chain = [(index, index + 1) for index in range(len(grouped.groups) - 1)]
    edges = [(edge.source, edge.target) for edge in grouped.edges]
    if name in DENSE:
        # A dense block holds more than a quarter of the work: it is cut, and edges skip groups.
        assert set(chain) < set(edges)
    else:
        assert edges == chain


def test_attention_is_counted_with_its_scores() -> None:
    # ViT-B/32: 50 tokens of 768 in 12 heads, 12 blocks: projections and perceptron 12 x 768^2 a
    # token, scores and weighted values 2 x 50 x 768; 49 patches of 32 x 32 x 3, 1000 classes.
    expected = 12 * 50 * (12 * 768**2 + 2 * 50 * 768) + 49 * 768 * 3072 + 768 * 1000
    assert summarise(load_network("vit_b_32")).macs == expected


def test_the_files_are_few_megabytes() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3 * 2**20


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
        json.dumps([{**rows[0], "macs": "many"}]), json.dumps([{**rows[0], "crop": -1}]),
        json.dumps([{**rows[0], "name": "../x"}]), json.dumps({"name": 1}),
        json.dumps([rows[0], rows[0]]),
    ]  # fmt: skip
    for text in bad:
        (tmp_path / "index.json").write_text(text, encoding="utf-8")
        with pytest.raises(GraphError, match=r"index\.json"):
            read_index(tmp_path)


def test_a_name_without_a_family_is_refused() -> None:
    assert described("efficientnet_v2_s")[0] == "EfficientNet"
    with pytest.raises(GraphError, match="'lenet' belongs to no family"):
        described("lenet")
