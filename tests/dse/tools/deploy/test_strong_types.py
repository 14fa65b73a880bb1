"""``--to trtexec --tensorrt``: number formats as options up to 10, in the models from 11 on."""

import json
from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.dse.tools.deploy import write_models
from paretosoc.dse.tools.deploy.check_onnx import (
    WrittenPart,
    check_equality,
    check_formats,
)
from paretosoc.dse.tools.deploy.strong_types import kept_types, to_half, to_int8
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.parts import cut_model, save_part

FLOAT, HALF, INT8 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8


def small_network(scale=0.2):
    """Convolutions with weights of their own: (3, 16, 16) to ten classes."""
    rng = np.random.default_rng(0)
    sizes = {"w1": (8, 3, 3, 3), "w2": (8, 8, 3, 3), "w3": (8, 8, 3, 3), "fc": (2048, 10)}
    weights = [
        numpy_helper.from_array((scale * rng.normal(size=size)).astype(np.float32), name)
        for name, size in sizes.items()
    ]
    weights.append(numpy_helper.from_array(np.array([1, -1], np.int64), "flat"))
    nodes, previous = [], "image"
    for k in (1, 2, 3):
        conv = helper.make_node("Conv", [previous, f"w{k}"], [f"c{k}"], f"conv{k}", pads=[1] * 4)
        nodes += [conv, helper.make_node("Relu", [f"c{k}"], [f"r{k}"], f"relu{k}")]
        previous = f"r{k}"
    nodes += [
        helper.make_node("Reshape", [previous, "flat"], ["v"], "reshape"),
        helper.make_node("MatMul", ["v", "fc"], ["y"], "classes"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "small", [value("image", FLOAT, [1, 3, 16, 16])], [value("y", FLOAT, [1, 10])],
        weights,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)


def explored(dse, folder, platform, *, precision="fp16", units=("gpu", "dla0", "gpu")):
    onnx.save(small_network(), str(folder / "small.onnx"))
    pins = [word for g, unit in enumerate(units) for word in ("--fix", f"small:{g}={unit}")]
    command = ("explore", folder / "small.onnx", "-p", platform, "--groups", "3", *pins)
    end = (
        "--runtime",
        "none",
        "--precision",
        precision,
        "--max-evaluations",
        "20",
        "--max-nodes",
        "0",
        "-q",
        "-o",
        folder / "run",
    )
    ran = dse(*command, *end)
    assert (ran.status, ran.err) == (0, "")
    return ("deploy", folder / "run", "--to", "trtexec", "-o", folder / "out")


def written_types(folder):
    """Types of inputs, outputs and weights over all models of a folder."""
    found = {}
    for path in sorted(folder.glob("*.onnx")):
        graph = onnx.load(str(path)).graph
        found[path.name] = (
            [v.type.tensor_type.elem_type for v in graph.input],
            [v.type.tensor_type.elem_type for v in graph.output],
            Counter(tensor.data_type for tensor in graph.initializer),
        )
    return found


def test_version_11_has_its_types_in_the_models(dse, tmp_path):
    ran = dse(*explored(dse, tmp_path, "jetson-agx-orin"), "--tensorrt", "11.4.1")
    assert ran.status == 0, ran.err
    script = (tmp_path / "out" / "engines.sh").read_text()
    assert "TensorRT 11.4.1" in script
    assert not any(option in script for option in ("--fp16", "--int8", "--best", "--precision"))
    assert "--useDLACore=0" in script
    assert "--layerDeviceTypes=" in script
    types = written_types(tmp_path / "out")
    assert {name: (i, o) for name, (i, o, _) in types.items()} == {
        "small.onnx": ([FLOAT], [FLOAT]),
        "small.0.gpu.onnx": ([FLOAT], [HALF]),
        "small.1.dla0.onnx": ([HALF], [HALF]),
        "small.2.gpu.onnx": ([HALF], [FLOAT]),
    }
    assert all(FLOAT not in counts for _, _, counts in types.values())
    document = json.loads((tmp_path / "out" / "deployment.json").read_text())
    (network,) = document["networks"]
    assert [t["type"] for s in network["segments"] for t in s["outputs"]] == [
        "float16", "float16", "float",
    ]  # fmt: skip
    assert network["equality"]["largest_difference"] == 0
    assert 0 < network["equality"]["format_difference"] < 0.005
    assert "every part in FP16 compared with the same part in FP32" in ran.out
    layers = {name for group in network["groups"] for name in group["layers"]}
    whole = onnx.load(str(tmp_path / "out" / "small.onnx"))
    assert layers <= {node.name for node in whole.graph.node}


def test_version_10_has_options(dse, tmp_path):
    ran = dse(*explored(dse, tmp_path, "jetson-agx-orin"), "--tensorrt", "10")
    assert ran.status == 0, ran.err
    script = (tmp_path / "out" / "engines.sh").read_text()
    assert script.count("--fp16") == 4
    assert all(HALF not in counts for _, _, counts in written_types(tmp_path / "out").values())


def test_int8_of_version_11_is_quantised(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-orin", precision="int8")
    ran = dse(*command, "--tensorrt", "11.4.1")
    assert (ran.status, ran.err) == (0, "")
    assert "calibrated on random input" in ran.out
    assert "--int8" not in (tmp_path / "out" / "engines.sh").read_text()
    for path in sorted((tmp_path / "out").glob("*.onnx")):
        graph = onnx.load(str(path)).graph
        scales = {n.input[2] for n in graph.node if n.op_type.endswith("QuantizeLinear")}
        zeros = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        assert scales
        # TensorRT takes symmetric scales only.
        assert all(not zeros[name].any() for name in scales)
        assert any(tensor.data_type == INT8 and tensor.dims for tensor in graph.initializer)
    document = json.loads((tmp_path / "out" / "deployment.json").read_text())
    equality = document["networks"][0]["equality"]
    assert equality["largest_difference"] == 0
    assert 0 < equality["format_difference"] < 0.05


@pytest.mark.parametrize(
    ("platform", "version", "message"),
    [
        ("jetson-agx-orin", "11.2", "--tensorrt 11.2: builds for no DLA (unit 'dla0'); 11.4.1 is"),
        ("jetson-agx-orin", "11.4.0", "builds for no DLA"),
        ("jetson-agx-xavier", "11.2", "builds for no DLA (unit 'dla0'); 11.4.1 is the first 11"),
        ("jetson-agx-orin", "$(reboot)", "must be a version such as 11 or 10.3"),
    ],
)  # fmt: skip
def test_versions_that_do_not_serve(dse, tmp_path, platform, version, message):
    ran = dse(*explored(dse, tmp_path, platform), "--tensorrt", version)
    assert ran.status == 2
    assert message in ran.err
    assert len(ran.lines) == 1
    assert not (tmp_path / "out").exists()


def test_a_version_for_another_board_is_said_so(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-xavier")
    ran = dse(*command, "--tensorrt", "11", "--no-check")
    assert ran.status == 0, ran.err
    note = "TensorRT 11 does not serve jetson-agx-xavier, which has TensorRT 8: build these engines"
    assert note in ran.out
    script = (tmp_path / "out" / "engines.sh").read_text()
    assert "for trtexec of TensorRT 11." in script
    assert "--fp16" not in script
    assert any(HALF in counts for _, _, counts in written_types(tmp_path / "out").values())


def test_without_a_dla_the_first_11_serves(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-orin", units=("gpu",) * 3)
    ran = dse(*command, "--tensorrt", "11.2", "--no-check")
    assert ran.status == 0, ran.err
    assert "TensorRT 11.2." in (tmp_path / "out" / "engines.sh").read_text()


def test_a_weight_that_fp16_does_not_have(tmp_path):
    data = small_network(scale=1e5).SerializeToString()
    names = ["conv1", "relu1", "conv2", "relu2", "conv3", "relu3", "reshape", "classes"]
    parts = cut_model(data, None, [names[:3], names[3:]])
    with pytest.raises(ResultError, match="n: weight 'w1' has values above 65504"):
        to_half(parts[0], None, kept_types(parts), "n")


def test_kept_types_are_the_networks_own():
    data = small_network().SerializeToString()
    names = ["conv1", "relu1", "conv2", "relu2", "conv3", "relu3", "reshape", "classes"]
    parts = cut_model(data, None, [names[:3], names[3:5], names[5:]])
    assert kept_types(parts) == {"image", "y"}


NAMES = ["conv1", "relu1", "conv2", "relu2", "conv3", "relu3", "reshape", "classes"]


def cast_parts(folder, types):
    """The small network in two parts, cast; with the values of the parts in FP32."""
    data = small_network().SerializeToString()
    parts = []
    for k, part in enumerate(cut_model(data, None, [NAMES[:3], NAMES[3:]])):
        save_part(part, folder / f"{k}.onnx", None)
        parts.append(WrittenPart(part, folder / f"{k}.onnx"))
    equality, values = check_equality(data, None, parts, label="small")
    assert equality.largest_difference == 0
    if types == "int8":
        to_int8(parts, "small")
    else:
        kept = kept_types([written.part for written in parts])
        for written in parts:
            save_part(to_half(written.part, None, kept, "small"), written.path, None)
    return list(zip(parts, (3, 5), strict=True)), values


def changed_tensor(path, match, factor):
    """Multiplies the first constant of a part whose name contains a text."""
    model = onnx.load(str(path))
    tensor = next(t for t in model.graph.initializer if match in t.name)
    values = numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array((values * factor).astype(values.dtype), tensor.name))
    onnx.save(model, str(path))


@pytest.mark.parametrize(
    ("types", "match", "factor"),
    [("fp16", "w2", 1.05), ("int8", "w2_scale", 1.5), ("int8", "c2_scale", 0.5)],
)
def test_a_cast_that_is_wrong_is_refused(types, match, factor, tmp_path):
    parts, values = cast_parts(tmp_path, types)
    share = check_formats(parts, values, types, "small")
    assert share is not None
    assert 0 < share < 0.05
    place = next(
        written.path
        for written, _ in parts
        if any(match in t.name for t in onnx.load(str(written.path)).graph.initializer)
    )
    changed_tensor(place, match, factor)
    with pytest.raises(ResultError, match="the part in its number format differs from the part in"):
        check_formats(parts, values, types, "small")
    assert check_formats(parts, values, None, "small") is None


@pytest.mark.parametrize("layers", [5, 15, 16, 1000])
@pytest.mark.parametrize("types", ["fp16", "int8"])
def test_a_wrong_part_is_refused_however_deep_it_is_but_in_int8(types, layers, tmp_path):
    parts, values = cast_parts(tmp_path, types)
    parts, values = [(written, layers) for written, _ in parts], values | {"y": 2 * values["y"]}
    if types == "int8" and layers > 15:
        assert check_formats(parts, values, types, "small") == pytest.approx(0.5, abs=0.05)
    else:
        with pytest.raises(ResultError, match="differs from the part in FP32 by"):
            check_formats(parts, values, types, "small")


def test_a_part_that_chooses_is_not_refused(tmp_path):
    parts, values = cast_parts(tmp_path, "fp16")
    values |= {"y": 2 * values["y"]}
    with pytest.raises(ResultError, match="differs from the part in FP32 by"):
        check_formats(parts, values, "fp16", "small")
    parts[-1][0].part.model.graph.node[-1].op_type = "TopK"
    assert check_formats(parts, values, "fp16", "small") == pytest.approx(0.5, abs=0.05)


def test_a_cast_part_that_does_not_run_is_refused_with_random_weights_too(tmp_path):
    parts, values = cast_parts(tmp_path, "fp16")
    model = onnx.load(str(parts[0][0].path))
    model.graph.node[0].input[0] = "absent"
    onnx.save(model, str(parts[0][0].path))
    with pytest.raises(ResultError, match="ONNX Runtime cannot run it"):
        check_formats(parts, values, None, "small")


def test_an_operator_of_a_plugin_is_named(tmp_path):
    parts, values = cast_parts(tmp_path, "fp16")
    model = onnx.load(str(parts[0][0].path))
    model.graph.node[0].domain, model.graph.node[0].op_type = "com.acme", "MyRadarFuse"
    model.opset_import.add(domain="com.acme", version=1)
    onnx.save(model, str(parts[0][0].path))
    words = "cannot run it; com.acme::MyRadarFuse needs a plugin of the runtime. check=False"
    with pytest.raises(ResultError, match=words):
        check_formats(parts, values, None, "small")


@pytest.mark.parametrize("swapped", [False, True])
def test_random_weights_require_equality_before_the_cast_only(dse, tmp_path, monkeypatch, swapped):
    """The softmax of an untrained network amplifies what INT8 rounds."""
    run, out = tmp_path / "run", tmp_path / "out"
    pins = ("--fix", "inception_v1:0=gpu", "--fix", "inception_v1:1=dla0")
    ran = dse(
        *("explore", "inception_v1", "-p", "jetson-agx-orin", "--groups", "2", *pins),
        *("--max-evaluations", "20", "--max-nodes", "0", "-q", "-o", run),
    )
    assert (ran.status, ran.err) == (0, "")
    if swapped:
        cut = write_models.cut_model

        def swapping(*args, **options):
            """Two branches of a concatenation change places."""
            parts = cut(*args, **options)
            node = next(n for n in parts[0].model.graph.node if n.op_type == "Concat")
            node.input[1], node.input[2] = node.input[2], node.input[1]
            return parts

        monkeypatch.setattr(write_models, "cut_model", swapping)
    ran = dse("deploy", run, "--to", "trtexec", "--tensorrt", "11", "-o", out)
    if swapped:
        assert ran.status == 2
        assert "the parts differ from the whole model by" in ran.err
        return
    assert (ran.status, ran.err) == (0, "")
    assert "before the cast; 2 tensors compared with the uncut model" in ran.out
    assert "random weights: formats are not compared; every part in INT8 runs." in ran.out
    (network,) = json.loads((out / "deployment.json").read_text())["networks"]
    assert network["equality"]["largest_difference"] == 0
    assert network["equality"]["format_difference"] is None


def test_operators_that_are_not_of_onnx_are_noted(dse, tmp_path):
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Gelu", ["a"], ["y"], domain="com.microsoft"),
    ]
    graph = helper.make_graph(nodes, "g", [value("x", FLOAT, [1, 8])], [value("y", FLOAT, None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "g.onnx")
    for name, words in (("g.onnx", "plugins for what is no operator of ONNX: com.microsoft::Gelu"),
                        ("squeezenet", None)):  # fmt: skip
        network = tmp_path / name if words else name
        made = dse("explore", network, "-p", "jetson-orin-nano-8gb", "-q", "--max-nodes", "0",
                   "--max-evaluations", "5", "-o", tmp_path / f"{name}-run")  # fmt: skip
        assert made.status == 0, made.err
        ran = dse("deploy", tmp_path / f"{name}-run", "--to", "trtexec", "--no-check",
                  "-o", tmp_path / f"{name}-out")  # fmt: skip
        assert ran.status == 0, ran.err
        assert words in ran.out if words else "plugins" not in ran.out
