"""Losses of layers in other number formats, against arithmetic written out in numpy."""

import csv
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.dse.tools.sensitivity.measure import (
    LossMeter,
    Measure,
    Metric,
    choose_measure,
    layer_losses,
    loss_ppm,
    losses_csv,
)
from paretosoc.dse.tools.sensitivity.rewrite import FP16, INT8, Rewriter, trained_model
from paretosoc.dse.tools.sensitivity.samples import random_samples, read_samples
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.parts import PartTensor

MODELS = Path(__file__).parents[3] / "data" / "models"
RNG = np.random.default_rng(7)
FIRST, SECOND = (RNG.normal(0, 0.3, (8, 8)).astype(np.float32) for _ in range(2))


@pytest.fixture
def model(tmp_path):
    """x -> first product -> ReLU -> second product -> + x."""
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("MatMul", ["b", "w2"], ["c"], "second"),
        helper.make_node("Add", ["c", "x"], ["y"], "sum"),
    ]
    graph = helper.make_graph(
        nodes,
        "two",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
        [numpy_helper.from_array(FIRST, "w1"), numpy_helper.from_array(SECOND, "w2")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path / "two.onnx"
    onnx.save(made, path)
    return path


@pytest.fixture
def network(model):
    return trained_model(str(model))


@pytest.fixture
def samples(network):
    return random_samples(network.inputs, 12, label="two")


def rounded(values, scale):
    return np.clip(np.round(values / scale), -128, 127) * scale


def reference(x, first=FIRST, second=SECOND, *, in_first=None, in_second=None):
    a = np.maximum((x if in_first is None else in_first(x)) @ first, 0)
    return (a if in_second is None else in_second(a)) @ second + x


def noise_ppm(samples, changed):
    expected = np.concatenate([reference(sample["x"]) for sample in samples]).astype(np.float64)
    found = np.concatenate([changed(sample["x"]) for sample in samples]).astype(np.float64)
    return 1e6 * ((expected - found) ** 2).sum() / (expected**2).sum()


def test_an_int8_layer_loses_what_rounding_its_inputs_and_weights_loses(network, samples):
    model = Rewriter(network, samples).rewritten({"first": INT8})
    constants = {entry.name: numpy_helper.to_array(entry) for entry in model.graph.initializer}
    (quantised,) = (node for node in model.graph.node if node.op_type == "QuantizeLinear")
    scale = constants[quantised.input[1]]
    largest = max(np.abs(sample["x"]).max() for sample in samples)
    assert 0.8 * largest / 127 < scale <= 1.01 * largest / 127
    assert constants[quantised.input[2]] == 0
    weights = rounded(FIRST, np.abs(FIRST).max(axis=0) / 127)
    expected = noise_ppm(
        samples, lambda x: reference(x, weights, in_first=lambda values: rounded(values, scale))
    )
    found = LossMeter(network, samples, Metric.NOISE).loss_ppm({"first": INT8})
    assert found == pytest.approx(expected, rel=0.02, abs=1)
    assert found > 5


def test_an_fp16_layer_loses_what_rounding_to_fp16_loses(network, samples):
    def half(values):
        return values.astype(np.float16).astype(np.float32)

    scaled = [{"x": 300 * sample["x"]} for sample in samples]
    meter = LossMeter(network, scaled, Metric.NOISE)
    expected = noise_ppm(
        scaled, lambda x: reference(x, half(FIRST), half(SECOND), in_first=half, in_second=half)
    )
    found = meter.loss_ppm({"first": FP16, "second": FP16})
    assert found == pytest.approx(expected, abs=1)


def test_only_the_named_layer_reads_rounded_values(network, samples):
    rewriter = Rewriter(network, samples)
    nodes = {node.name: node for node in rewriter.rewritten({"first": INT8}).graph.node}
    producers = {name: node for node in nodes.values() for name in node.output}
    for name in nodes["first"].input:
        assert producers[name].op_type == "DequantizeLinear"
    # The sum reads the network's input as it is, although the product rounds it.
    assert "x" in nodes["sum"].input
    assert set(nodes["second"].input) == {"b", "w2"}
    plain = rewriter.rewritten({})
    assert [node.op_type for node in plain.graph.node] == ["MatMul", "Relu", "MatMul", "Add"]


def test_layers_that_do_not_multiply_lose_nothing(network, samples):
    meter = LossMeter(network, samples)
    rows = layer_losses(network, meter, [INT8])
    losses = {row.layer: row.loss_ppm for row in rows}
    assert losses["relu"] == losses["sum"] == 0
    assert min(losses["first"], losses["second"]) > 0
    both = meter.loss_ppm({"first": INT8, "second": INT8})
    assert both == pytest.approx(losses["first"] + losses["second"], rel=0.5)
    lines = list(csv.DictReader(losses_csv("two", rows, Metric.NOISE).decode().splitlines()))
    assert [(line["layer"], line["format"], int(line["loss_ppm"])) for line in lines] == [
        (row.layer, "int8", row.loss_ppm) for row in rows
    ]
    assert {line["network"] for line in lines} == {"two"}


def test_losses_are_shares_of_positions_or_of_power():
    one = [[np.array([[[0.1, 0.9], [0.8, 0.2]]])], [np.array([[[0.4, 0.6], [0.3, 0.7]]])]]
    other = [[np.array([[[0.1, 0.9], [0.2, 0.8]]])], [np.array([[[0.4, 0.6], [np.nan, 0.7]]])]]
    assert loss_ppm(Measure(Metric.TOP1, ("y",)), one, other) == 500_000
    labels = [[np.array([1, 2, 3, 4])]], [[np.array([1, 2, 3, 5])]]
    assert loss_ppm(Measure(Metric.TOP1, ("y",)), *labels) == 250_000
    noise = Measure(Metric.NOISE, ("y",))
    assert loss_ppm(noise, [[np.array([3.0, 4.0])]], [[np.array([3.0, 4.5])]]) == 10_000
    assert loss_ppm(noise, [[np.array([3.0, 4.0])]], [[np.array([np.inf, 4.0])]]) == 1_000_000
    assert loss_ppm(noise, [[np.array([1.0])]], [[np.array([9.0])]]) == 1_000_000
    assert loss_ppm(noise, [[np.zeros(2)]], [[np.zeros(2)]]) == 0


@pytest.mark.parametrize(
    ("operator", "attributes", "metric"),
    [
        ("Softmax", {"axis": -1}, Metric.TOP1),
        ("Softmax", {"axis": 0}, Metric.NOISE),
        ("Sigmoid", {}, Metric.NOISE),
        ("ArgMax", {"axis": -1}, Metric.TOP1),
    ],
)
def test_the_metric_follows_from_the_outputs(operator, attributes, metric):
    kind = TensorProto.INT64 if operator == "ArgMax" else TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node(operator, ["x"], ["a"], "last", **attributes),
            helper.make_node("Identity", ["a"], ["y"], "same"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5])],
        [helper.make_tensor_value_info("y", kind, [2, 5])],
    )
    assert choose_measure(helper.make_model(graph), ["y"]).metric is metric
    assert choose_measure(helper.make_model(graph), ["y"], Metric.NOISE).metric is Metric.NOISE


def test_samples_are_read_by_name_or_in_a_row(network, tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    rows = RNG.normal(0, 1, (5, 8))
    np.save(folder / "a.npy", rows)
    np.savez(folder / "b.npz", x=rows[:1], label=np.array(3))
    found = read_samples(folder, network.inputs, 10)
    assert len(found) == 6
    assert all(sample["x"].dtype == np.float32 for sample in found)
    assert np.array_equal(np.concatenate([s["x"] for s in found[:5]]), rows.astype(np.float32))
    assert len(read_samples(folder, network.inputs, 3)) == 3


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 9)), "input 'x' has the shape [1, 8], the array [1, 9]"),
        (np.full((1, 8), np.nan), "finite numbers are required for input 'x'"),
        (np.full((1, 8), 1e39), "finite numbers are required for input 'x'"),
        (np.array([["a"] * 8]), "an array of numbers is required, got one of the type <U1"),
    ],
)
def test_samples_that_do_not_fit_are_refused(network, tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array)
    with pytest.raises(ResultError) as refused:
        read_samples(tmp_path, network.inputs, 10)
    assert f"bad.npy: {message}" in str(refused.value)


@pytest.mark.parametrize("array", [np.full((1, 2), 0.5), np.full((1, 2), 2.0**70)])
def test_samples_of_integers_are_whole(tmp_path, array):
    """As tokens: cut off they would be others."""
    tokens = [PartTensor("tokens", (1, 2), TensorProto.INT64)]
    np.save(tmp_path / "a.npy", np.full((1, 2), 3.0))
    assert read_samples(tmp_path, tokens, 9)[0]["tokens"].tolist() == [[3, 3]]
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ResultError, match=r"a.npy: whole numbers .* for input 'tokens'"):
        read_samples(tmp_path, tokens, 9)


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': SHAPE, }"


@pytest.mark.parametrize("name", ["bomb.npy", "bomb.npz"])
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("(1, 100000000)", "input 'x' has the shape [1, 8], the array [1, 100000000]"),
        ("(100000000, 8)", "{name}: "),
        ("(-1, 8)", "an array of numbers is required"),
        ("(1, 8)", "is cut off"),
        ("oops", "an array in numpy's format is required"),
    ],
)
def test_hostile_arrays_are_refused_by_their_header(network, tmp_path, name, shape, message):
    """What they claim, hundreds of megabytes, is not read, nor made room for."""
    header = HEADER.replace("SHAPE", shape).encode()
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    if name == "bomb.npy":
        (tmp_path / name).write_bytes(data)
    else:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x.npy", data)
    tracemalloc.start()
    try:
        with pytest.raises(ResultError) as refused:
            read_samples(tmp_path, network.inputs, 10)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()
    assert message.format(name=name) in str(refused.value)


def test_a_hostile_pickle_is_not_loaded(network, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(ResultError, match=r"numbers is required, got one of the type object") as no:
        read_samples(tmp_path, network.inputs, 10)
    assert "allow_pickle" not in str(no.value)


def test_the_command_writes_a_row_for_every_layer(dse, model, tmp_path):
    table = tmp_path / "sensitivity.csv"
    done = dse("sensitivity", model, "--data", "random", "--format", "int8,fp16", "-o", table)
    assert done.status == 0, done.err
    assert "random input" in done.err
    lines = table.read_text("utf-8").splitlines()
    assert lines[0] == "network,layer,format,loss_ppm,metric"
    assert {line.split(",")[4] for line in lines[1:]} == {"noise"}
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["two", layer, number_format]
        for number_format in ("int8", "fp16")
        for layer in ("first", "relu", "second", "sum")
    ]
    assert "int8: all layers add up to" in done.out
    assert "exists already" in dse("sensitivity", model, "--data", "random", "-o", table).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("squeezenet", "--data", "random"), "a model with trained weights is required"),
        (("resnet50", "--data", "random"), "light_resnet50.onnx: a model with trained weights is"),
        (("{models}/resnet18_qdq.onnx", "--data", "random"), "a model in floats is required"),
        (("{model}", "--data", "{folder}"), "a folder with samples (.npy, .npz, .png, .jpg, "),
        (("{model}", "--data", "random", "--format", "int4"), "one of int8, fp16 is required"),
    ],
)
def test_the_command_refuses(dse, model, tmp_path, arguments, message):
    texts = [text.format(model=model, folder=tmp_path, models=MODELS) for text in arguments]
    done = dse("sensitivity", *texts, "-o", tmp_path / "s.csv")
    assert done.status == 2
    assert message in done.err
    assert "not a sound" not in done.err


@pytest.mark.parametrize("found", [(2, 4), (5, 4), (0, 4)])
def test_other_numbers_of_results_are_other_classes(found):
    """As if a detection keeps other boxes."""
    measure = Measure(Metric.TOP1, ("scores",))
    expected = [[np.ones((1, 4), np.float32)], [np.ones((1, 4), np.float32)]]
    both = [[np.ones(found, np.float32)], expected[1]]
    assert loss_ppm(measure, expected, both) == 500_000


def test_results_that_are_not_finite_are_refused(model, samples):
    grows = onnx.load(str(model))
    grows.graph.node[-1].CopyFrom(helper.make_node("Exp", ["b"], ["y"], "exp"))
    onnx.save(grows, str(model))
    network = trained_model(str(model))
    large = {"x": 1000 * samples[0]["x"]}
    with pytest.raises(ResultError, match="two: 'y' is not finite on sample 1"):
        LossMeter(network, [samples[0], large], Metric.NOISE)


def test_a_layer_that_the_converter_of_versions_replaces_keeps_its_name(tmp_path):
    """Upsample of operators before 10 is Resize in 13, which the converter does not name."""
    sizes = numpy_helper.from_array(np.array([1, 2], np.float32), "sizes")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "product"),
        helper.make_node("Upsample", ["a", "sizes"], ["y"], "larger", mode="nearest"),
    ]
    graph = helper.make_graph(
        nodes,
        "old",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])],
        [numpy_helper.from_array(FIRST, "w"), sizes],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=6)
    onnx.save(made, tmp_path / "old.onnx")
    network = trained_model(str(tmp_path / "old.onnx"))
    meter = LossMeter(network, random_samples(network.inputs, 3, label="old"), Metric.NOISE)
    rows = layer_losses(network, meter, [FP16])
    assert [row.layer for row in rows] == ["product", "larger"]
    assert "larger" in {node.name for node in network.model.graph.node}
