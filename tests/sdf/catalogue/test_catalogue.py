"""Every network of the catalogue has the published counts."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.catalogue import built
from benchmarks.catalogue.image_networks import alexnet
from paretosoc.sdf.catalogue.catalogue import catalogue, load_network, tables
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork
from tests.support.stretches import group_at

# GMACs, Mparameters as counted by others, and by how much we may differ.
PUBLISHED = {
    "bvlc_alexnet": (0.6546, 60.965, 0.001),
    "vgg19": (19.6321, 143.667, 0.001),
    "inception_v1": (1.4316, 7.00, 0.001),
    "inception_v2": (2.0189, 11.235, 0.001),
    "resnet50": (4.0892, 25.61, 0.001),
    "densenet121": (2.8342, 8.15, 0.001),
    "squeezenet": (0.3492, 1.235, 0.001),
    "shufflenet": (0.1247, 1.42, 0.001),
    "zfnet512": (1.4817, 87.251, 0.001),
    "alexnet": (0.7244, 60.965, 0.01),
    "caffenet": (0.724, 60.97, 0.01),
    "googlenet": (1.5827, 6.999, 0.001),
    "vgg16": (15.4703, 138.358, 0.01),
    "resnet18": (1.8269, 11.684, 0.01),
    "resnet101": (7.5702, 44.444, 0.01),
    "resnet152": (11.2824, 60.041, 0.01),
    "inception_v4": (12.254, 42.617, 0.01),
    "inception_resnet_v2": (13.156, 55.783, 0.01),
    "fcn_resnet18": (4.813, 11.769, 0.01),
    "mobilenet_v1": (0.5687, 4.210, 0.01),
    "mobilenet_v2": (0.300774272, 3.504872, 0.01),
    # By hand: 96 3 49 56^2 + 256 96 25 28^2 + 384 256 9 14^2 + 384 49 512 + 512^2 + 512 8; the
    # Caffe models have 43.5 MiB.
    "agenet": (0.70926, 43.5 / 4 * 1.048576, 0.002),
    "gendernet": (0.70926, 43.5 / 4 * 1.048576, 0.002),
    # chuanqi305's MobileNet-SSD: 1.15 G and 5.8 M.
    "mobilenet_ssd": (1.15, 5.8, 0.01),
    "tiny_yolo": (3.4855, 15.86, 0.01),
    # Darknet counts 65.86 and 60.1 GFLOP.
    "yolov3": (65.86 / 2, 61.95, 0.001),
    "yolov4": (60.1 / 2, 64.36, 0.001),
    "emotion_ferplus": (0.875831296, 8.757704, 0.001),
    # Half of the FLOPs in the tables of Ultralytics (also github.com/ultralytics/yolov5),
    # github.com/Megvii-BaseDetection/YOLOX, whose counter adds batch normalisations, and
    # github.com/THU-MIG/yolov10.
    "yolov5n": (2.25, 1.9, 0.02),
    "yolov5s": (8.25, 7.2, 0.01),
    "yolov5m": (24.5, 21.2, 0.01),
    "yolov5l": (54.55, 46.5, 0.01),
    "yolov5x": (102.85, 86.7, 0.01),
    "yolov5nu": (3.85, 2.6, 0.02),
    "yolov5su": (12.0, 9.1, 0.01),
    "yolov5mu": (32.1, 25.1, 0.01),
    "yolov5lu": (67.5, 53.2, 0.01),
    "yolov5xu": (123.2, 97.2, 0.01),
    "yolox_nano": (0.54, 0.91, 0.035),
    "yolox_tiny": (3.225, 5.06, 0.01),
    "yolox_s": (13.4, 9.0, 0.01),
    "yolox_m": (36.9, 25.3, 0.01),
    "yolox_l": (77.8, 54.2, 0.01),
    "yolox_x": (140.95, 99.1, 0.01),
    "yolov10n": (3.35, 2.3, 0.01),
    "yolov10s": (10.8, 7.2, 0.01),
    "yolov10m": (29.55, 15.4, 0.01),
    "yolov10b": (46.0, 19.1, 0.01),
    "yolov10l": (60.15, 24.4, 0.01),
    "yolov10x": (80.2, 29.5, 0.01),
    "yolov8n": (4.35, 3.2, 0.02),
    "yolov8s": (14.3, 11.2, 0.01),
    "yolov8m": (39.45, 25.9, 0.01),
    "yolov8l": (82.6, 43.7, 0.01),
    "yolov8x": (128.9, 68.2, 0.01),
    "yolo11n": (3.25, 2.6, 0.01),
    "yolo11s": (10.75, 9.4, 0.01),
    "yolo11m": (34.0, 20.1, 0.01),
    "yolo11l": (43.45, 25.3, 0.01),
    "yolo11x": (97.45, 56.9, 0.01),
}

# Nodes of the zoo's graphs, without ConstantOfShape.
NODES = {
    "bvlc_alexnet": "Conv5 Relu7 LRN2 MaxPool3 Reshape1 Gemm3 Dropout2 Softmax1",
    "vgg19": "Conv16 Relu18 MaxPool5 Reshape1 Gemm3 Dropout2 Softmax1",
    "inception_v1": (
        "Conv57 Relu57 MaxPool13 LRN2 Concat9 AveragePool1 Dropout1 Reshape2 Gemm1 Softmax1"
    ),
    "resnet50": (
        "Conv53 BatchNormalization53 Relu49 MaxPool1 Sum16 AveragePool1 Reshape1 Gemm1 Softmax1"
    ),
    "densenet121": (
        "Conv121 BatchNormalization121 Unsqueeze242 Mul121 Add121 Relu121 MaxPool1 Concat58 "
        "AveragePool3 GlobalAveragePool1"
    ),
    "squeezenet": "Conv26 Relu26 MaxPool3 Concat8 Dropout1 GlobalAveragePool1 Softmax1",
}


EXPORTED = tables().keys() - {source.name for source in built.sources()}
ENTRIES = tuple(e for e in catalogue() if e.name not in EXPORTED and e.takes_images)
"""Those that no package builds; test_exported.py and test_language_models.py have the others."""


@pytest.fixture(scope="module")
def networks() -> dict[str, ImportedNetwork]:
    return {entry.name: load_network(entry.name) for entry in ENTRIES}


def test_the_catalogue_is_exactly_what_is_checked_here() -> None:
    assert [entry.name for entry in ENTRIES] == sorted(PUBLISHED)


def test_the_page_counts_the_networks_with_an_accuracy() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/networks.md").read_text("utf-8")
    known = sum(entry.accuracy is not None for entry in catalogue())
    assert f"has accuracies of {known} networks" in page


def test_names_ascend_and_every_family_has_its_name() -> None:
    names = [entry.name for entry in catalogue()]
    assert names == sorted(set(names))
    families = {entry.family for entry in catalogue()}
    assert len({family.lower() for family in families}) == len(families)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_counts_agree_with_published_ones(name: str, networks: dict[str, ImportedNetwork]) -> None:
    gmacs, mparameters, tolerance = PUBLISHED[name]
    summary = summarise(networks[name])
    assert summary.macs / 1e9 == pytest.approx(gmacs, rel=tolerance)
    assert summary.parameters / 1e6 == pytest.approx(mparameters, rel=tolerance)
    assert summary.warnings == ()


@pytest.mark.parametrize("name", sorted(NODES))
def test_every_node_of_the_zoo_graphs_is_a_layer_or_a_constant(
    name: str, networks: dict[str, ImportedNetwork]
) -> None:
    wanted = {
        text.rstrip("0123456789"): int(text[len(text.rstrip("0123456789")) :])
        for text in NODES[name].split()
    }
    network = networks[name]
    found = Counter(actor.layer.operation for actor in network.graph.actors if actor.layer)
    found.update(dict(network.constant_operations))
    del found["ConstantOfShape"]
    assert found == wanted


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entries_describe_what_is_loaded(entry, networks: dict[str, ImportedNetwork]) -> None:
    network = networks[entry.name]
    assert network.graph.name == entry.name
    summary = summarise(network)
    assert (summary.macs, summary.parameters) == (entry.macs, entry.parameters)
    assert [shape for _, shape in network.inputs] == [entry.input_shape]
    assert entry.description
    assert entry.origin
    assert len(entry.description.splitlines()) == 1


def test_shapes_and_work_along_bvlc_alexnet(networks: dict[str, ImportedNetwork]) -> None:
    layers = [actor.layer for actor in networks["bvlc_alexnet"].graph.actors]
    convolutions = [layer for layer in layers if layer.kind is LayerKind.CONVOLUTION]
    assert [layer.output_shapes[0][1:] for layer in convolutions] == [
        (96, 54, 54), (256, 26, 26), (384, 12, 12), (384, 12, 12), (256, 12, 12),
    ]  # fmt: skip
    assert [layer.window.groups for layer in convolutions] == [1, 2, 1, 2, 2]
    assert [layer.macs for layer in convolutions] == [
        96 * 3 * 11 * 11 * 54 * 54,
        256 * 48 * 5 * 5 * 26 * 26,
        384 * 256 * 3 * 3 * 12 * 12,
        384 * 192 * 3 * 3 * 12 * 12,
        256 * 192 * 3 * 3 * 12 * 12,
    ]
    products = [layer.macs for layer in layers if layer.kind is LayerKind.MATRIX_PRODUCT]
    assert products == [37748736, 16777216, 4096000]


def test_googlenet_has_the_layers_that_the_measured_groups_count() -> None:
    # HaX-CoNN, Table 2: groups start at these layers; dropout and flattening come after them.
    starts = [10, 24, 39, 53, 67, 81, 95, 110, 124]
    network = load_network("googlenet")
    kinds = Counter(actor.layer.kind for actor in network.graph.actors)
    assert kinds[LayerKind.CONVOLUTION] == 57
    assert kinds[LayerKind.POOLING] == 14
    assert kinds[LayerKind.CONCATENATION] == 9
    assert kinds[LayerKind.NORMALISATION] == 2
    assert len(network.graph.actors) - kinds[LayerKind.RESHAPE] == 141
    grouped = group_at(network.graph, starts)
    assert len(grouped.groups) == 10
    assert [(edge.source, edge.target) for edge in grouped.edges] == [
        (index, index + 1) for index in range(9)
    ]
    ends = [group.layers[-1].name for group in grouped.groups]
    assert ends == [
        "pool2/3x3_s2", "inception_3a/output", "pool3/3x3_s2", "inception_4a/output",
        "inception_4b/output", "inception_4c/output", "inception_4d/output", "pool4/3x3_s2",
        "inception_5a/output", "prob",
    ]  # fmt: skip


def test_summary_adds_up(networks: dict[str, ImportedNetwork]) -> None:
    for network in networks.values():
        summary = summarise(network, bytes_per_element=2)
        assert summary.layers == len(network.graph.actors)
        assert sum(count for _, count in summary.operations) == summary.layers
        assert sum(kind.layers for kind in summary.kinds) == summary.layers
        assert sum(kind.macs for kind in summary.kinds) == summary.macs
        assert sum(kind.parameters for kind in summary.kinds) == summary.parameters
        assert summary.parameter_bytes == 2 * summary.parameters
        assert set(summary.transition_points) <= set(summary.legal_cuts)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(GraphError, match=r"'resnet-50'.*did you mean .*resnet50"):
        load_network("resnet-50")
    with pytest.raises(GraphError, match=r"'dse networks' lists the \d+ names"):
        load_network("qqqqqqqqqqq")


def test_files_are_loaded_by_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(alexnet())
    assert load_network(str(path)).graph.name == "mine"
    with pytest.raises(GraphError, match=r"there is no file '\S+other.onnx'$"):
        load_network(str(tmp_path / "other.onnx"))


def test_a_file_beside_a_mistyped_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("inspect.onnx", "inspect.txt", "resnet.onnx"):
        Path(name).touch()
    with pytest.raises(GraphError, match=r"'inspct.onnx'; did you mean inspect.onnx\?$"):
        load_network("inspct.onnx")
    with pytest.raises(GraphError, match=r"did you mean inspect.onnx\?$"):
        load_network(str(tmp_path / "Inspect.onnx"))
    with pytest.raises(GraphError, match=r"there is no file 'none/inspect.onnx'$"):
        load_network("none/inspect.onnx")
    with pytest.raises(GraphError, match=r"; a workload file gives networks other names$"):
        load_network("mine=inspect.onnx")
