"""``--to onnxruntime``: ONNX Runtime's own report of where each node is equals the mapping."""

import argparse
import json
import os
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.dse.cli.main import run
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.measure.host_documents import UNKNOWN, platform_document
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.runtime_placement import place_notes, provider_document
from paretosoc.results.deploy.scripts.frame_plan import frame_options
from paretosoc.results.deploy.scripts.run_placement import (
    CPU_ALONE,
    _check_assignment,
    _check_results,
    computes_in_half,
    open_session,
    run_session,
)
from paretosoc.results.problem.runtimes import Runtime
from tests.support.explored import explore

CPU = {"provider": "CPUExecutionProvider"}
WEBGPU = {
    "provider": "WebGpuExecutionProvider",
    # With the other layout ONNX Runtime renames nodes, and its report has no names of ours.
    "session": {"ep.webgpuexecutionprovider.preferredLayout": "NCHW"},
}
MODELS = "tests/data/models"


def two_unit_platform(folder, second):
    """This machine as two units, the second with the given provider."""
    host = Host("a processor", 2000.0, energy_readable=False)
    document = platform_document(host, (HostUnit((0,)), HostUnit((1,))), UNKNOWN)
    document["deployment"]["onnxruntime"]["cpu1"] = second
    file = folder / "platform.json"
    file.write_text(json.dumps(document))
    return file


def explored(folder, network, second):
    """A network in three groups, the one in the middle on the second unit."""
    file = two_unit_platform(folder, second)
    command = ["explore", network, "-p", str(file), "--groups", "3", "-q", "--max-nodes", "0"]
    name = network.rpartition("/")[2].removesuffix(".onnx")
    for g, unit in enumerate(("cpu0", "cpu1", "cpu0")):
        command += ["--fix", f"{name}:{g}={unit}"]
    command += ["--objective", "latency", "--objective", "throughput", "--max-evaluations", "10"]
    assert run([*command, "-o", str(folder / "run")]) == 0
    return ["deploy", str(folder / "run"), "--to", "onnxruntime", "-p", str(file)]


def placed(folder, network, second, *, check=True):
    """The same, deployed."""
    command = explored(folder, network, second)
    assert run([*command, "-o", str(folder / "out"), *([] if check else ["--no-check"])]) == 0
    return folder / "out"


def execute(folder, *options):
    return subprocess.run(
        [sys.executable, str(folder / "run.py"), *options],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def webgpu():
    """Skips where ONNX Runtime has no WebGPU, or the machine has no Vulkan driver for it."""
    if WEBGPU["provider"] not in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime has no WebGPU (package onnxruntime-webgpu has)")
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Abs", ["x"], ["y"])], "one",
        [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=[WEBGPU["provider"], CPU["provider"]]
        )
    except Exception as error:
        pytest.skip(f"WebGPU does not start here: {str(error).splitlines()[0][:200]}")
    if WEBGPU["provider"] not in session.get_providers():
        pytest.skip("WebGPU does not start here: ONNX Runtime falls back to the CPU")


@pytest.mark.parametrize(
    "network",
    [
        "squeezenet",
        "mobilenet_v2",
        f"{MODELS}/mobilenet_v3_small.onnx",
        f"{MODELS}/resnet18_opset9.onnx",
        f"{MODELS}/convnext_atto.onnx",
    ],
)
def test_two_providers_get_their_nodes(network, tmp_path, webgpu):
    out = placed(tmp_path, network, WEBGPU)
    # Drivers that compute on the CPU take seconds for a frame.
    ran = execute(out, "--frames", "1", "--warm-up", "0")
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    document = json.loads((out / "deployment.json").read_text())
    (entry,) = document["networks"]
    assert [part["unit"] for part in entry["segments"]] == ["cpu0", "cpu1", "cpu0"]
    lines = [line for line in ran.stdout.splitlines() if " nodes on " in line]
    for line, unit in zip(lines, ("cpu0", "cpu1", "cpu0"), strict=True):
        provider = (WEBGPU if unit == "cpu1" else CPU)["provider"]
        assert re.search(rf" on {unit}: (\d+) of \1 nodes on {provider}$", line), line


@pytest.mark.parametrize("options", [{}, {"use_arena": "0"}])
def test_one_provider_for_both_units(options, tmp_path):
    out = placed(tmp_path, "squeezenet", {**CPU, "options": options})
    document = json.loads((out / "deployment.json").read_text())
    (network,) = document["networks"]
    for part in network["segments"]:
        groups = network["groups"][part["first_group"] : part["last_group"] + 1]
        names = {node.name for node in onnx.load(str(out / part["file"])).graph.node}
        assert {name for group in groups for name in group["layers"]} <= names
    assert [run["queue"] for run in document["plan"]["runs"]] == ["cpu0", "cpu1", "cpu0"]
    ran = execute(out, "--frames", "3", "--warm-up", "1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "assignment and results as planned" in ran.stdout
    assert "(longest of 3); predicted " in ran.stdout


@pytest.mark.parametrize(("option", "least"), [("--frames", 1), ("--warm-up", 0)])
def test_numbers_of_frames_that_cannot_be_run_are_an_error_in_a_line(option, least, capsys):
    parser = argparse.ArgumentParser()
    frame_options(parser)
    assert vars(parser.parse_args([option, str(least)]))[option[2:].replace("-", "_")] == least
    for value in (str(least - 1), "x"):
        with pytest.raises(SystemExit):
            parser.parse_args([f"{option}={value}"])
        said = f"argument {option}: an integer from {least} is required, got {value!r}\n"
        assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize(
    ("places", "right"),
    [(["mine", "mine"], True), (["mine", "CPUExecutionProvider"], False), ([], False)],
)
def test_a_node_on_another_provider_is_named(places, right, capsys):
    parts = [
        SimpleNamespace(ep_name=place, get_nodes=lambda k=k: [SimpleNamespace(name=f"n{k}")])
        for k, place in enumerate(places)
    ]
    session = SimpleNamespace(get_provider_graph_assignment_info=lambda: parts)
    network = {"name": "net", "groups": [{"name": "g"}]}
    segment = {"first_group": 0, "last_group": 0, "unit": "cpu1"}
    assert _check_assignment(network, segment, session, "mine") == right
    told = "node 'n1': on CPUExecutionProvider, not on mine" in capsys.readouterr().out
    assert told == (len(places) == 2 and not right)


def test_nodes_that_onnx_runtime_expands_are_on_the_provider_of_their_parts(tmp_path):
    """HardSwish has no kernel, but a function of two nodes. Its report has these, without names.
    A channel of the result is infinite."""
    value, node = helper.make_tensor_value_info, helper.make_node
    weight = np.random.default_rng(0).normal(size=(8, 8, 3, 3)).astype(np.float32)
    scale = np.ones((8, 1, 1), np.float32)
    scale[3] = np.inf
    graph = helper.make_graph(
        [
            node("Conv", ["x", "w"], ["a"]),
            node("HardSwish", ["a"], ["b"]),
            node("Conv", ["b", "w"], ["c"]),
            node("HardSwish", ["c"], ["d"]),
            node("Conv", ["d", "w"], ["e"]),
            node("Mul", ["e", "scale"], ["f"]),
        ],
        "small",
        [value("x", TensorProto.FLOAT, [1, 8, 32, 32])],
        [value("f", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(scale, "scale")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "small.onnx"))
    ran = execute(placed(tmp_path, str(tmp_path / "small.onnx"), CPU), "--frames", "1")
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert ran.stdout.count(": 3 of 3 nodes on CPUExecutionProvider") == 2
    assert "alone 0, largest value" in ran.stdout


@pytest.mark.parametrize("half", [False, True])
def test_results_may_differ_by_the_roundings_of_fp16_if_the_model_has_it(half, tmp_path):
    value, node = helper.make_tensor_value_info, helper.make_node
    weight = numpy_helper.from_array(np.eye(4, dtype=np.float16 if half else np.float32), "w")
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    nodes = [node("Cast", ["x"], ["0"], to=kind)]
    nodes += [node("MatMul", [str(k), "w"], [str(k + 1)]) for k in range(4)]
    nodes += [node("Cast", ["4"], ["y"], to=TensorProto.FLOAT)]
    ends = [[value(name, TensorProto.FLOAT, [4, 4])] for name in "xy"]
    graph = helper.make_graph(nodes, "small", *ends, [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "small.onnx"))
    out = placed(tmp_path, str(tmp_path / "small.onnx"), CPU)
    (network,) = json.loads((out / "deployment.json").read_text())["networks"]
    values = {}
    for part in network["segments"]:
        run_session(open_session(out / part["file"], CPU_ALONE), values)
    for error, right in ((0, True), (1e-3, half), (0.1, False)):
        found = values | {"y": values["y"] + error * np.abs(values["y"]).max()}
        assert _check_results(network, out, found) == right
    deep = network | {"groups": [{"layers": [""] * 1000}]}
    assert not _check_results(deep, out, values | {"y": 0.7 * values["y"]})
    path = str(out / network["segments"][0]["file"])
    chosen = onnx.load(path)
    chosen.graph.node.append(helper.make_node("ArgMax", ["x"], ["at"]))
    onnx.save(chosen, path)
    assert _check_results(network, out, values | {"y": 0.7 * values["y"]}) == half


@pytest.mark.parametrize(
    ("platform", "halved"),
    [("jetson-agx-orin", {"dla0", "dla1"}), ("intel-core-ultra-7-155h", {"gpu", "npu"})],
)
def test_providers_that_compute_in_fp16_are_known(platform, halved):
    """As OpenVINO's NPU, whose results run_affinities.py judges so, too."""
    providers = dict(load_platform(platform).deployment.onnxruntime)
    found = {unit for unit in providers if computes_in_half(provider_document(providers[unit]))}
    assert found == halved


def test_units_that_options_tell_apart_are_not_alike():
    front = explore(["squeezenet", "resnet18"], "jetson-agx-orin", max_evaluations=20)
    deployment = Deployment(front, 0, load_platform("jetson-agx-orin"), None)
    providers = dict(deployment.board.onnxruntime)
    cores = {unit: providers[unit] for unit in ("dla0", "dla1")}
    assert place_notes(deployment, Runtime.ONNXRUNTIME, cores) == []
    both = dict.fromkeys(("a", "b"), providers["cpu"])
    (note,) = place_notes(deployment, Runtime.ONNXRUNTIME, both)
    assert note.startswith("a, b are all CPUExecutionProvider: ONNX Runtime does not tell")


def test_a_provider_that_leaves_its_nodes(tmp_path):
    """Azure's provider is in every build and takes none of these nodes."""
    azure = "AzureExecutionProvider"
    if azure not in onnxruntime.get_available_providers():
        pytest.skip(f"this ONNX Runtime has no {azure}")
    ran = execute(placed(tmp_path, "squeezenet", {"provider": azure}, check=False))
    assert ran.returncode == 1
    assert f"on {CPU['provider']}, not on {azure}" in ran.stdout
    assert "NOT as planned" in ran.stdout


def test_a_provider_that_is_not_there(tmp_path):
    out = placed(tmp_path, "squeezenet", {"provider": "NoSuchExecutionProvider"}, check=False)
    ran = execute(out)
    assert ran.returncode == 1
    assert "has no NoSuchExecutionProvider" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_platform_that_is_a_file_is_asked_for(tmp_path, dse):
    command = explored(tmp_path, "squeezenet", CPU)
    ran = dse(*command, "--no-check", "-o", tmp_path / "out")
    assert "cpu0, cpu1 are all CPUExecutionProvider" in ran.out
    (tmp_path / "platform.json").unlink()
    ran = dse(*command[:4], "-o", tmp_path / "other")
    assert ran.status == 2
    assert "--platform: the file of the search is required" in ran.err


@pytest.mark.parametrize("networks", [("squeezenet",), ("squeezenet", "mobilenet_v2")])
def test_groups_that_networks_share_a_unit_by_are_noted(networks, tmp_path, dse):
    file = two_unit_platform(tmp_path, CPU)
    pins = [word for name in networks for word in ("--fix", f"{name}=cpu0")]
    made = dse("explore", *networks, "-p", file, "--groups", "3", "-q", "--max-nodes", "0",
               *pins, "--objective", "latency", "-o", tmp_path / "run")  # fmt: skip
    assert made.status == 0, made.err
    ran = dse("deploy", tmp_path / "run", "--to", "onnxruntime", "--no-check", "-p", file,
              "-o", tmp_path / "out")  # fmt: skip
    assert ran.status == 0, ran.err
    noted = "latencies are others than predicted. A search with --runtime NAME plans" in ran.out
    assert noted == (len(networks) > 1)


def test_a_board_without_a_provider(tmp_path, dse):
    ran = dse("explore", "squeezenet", "-p", "raspberry-pi-5-hailo-8", "--max-evaluations", "20",
              "--max-nodes", "0", "-q", "-o", tmp_path / "pi")  # fmt: skip
    assert ran.status == 0
    ran = dse("deploy", tmp_path / "pi", "--to", "onnxruntime", "-o", tmp_path / "piout")
    assert ran.status == 2
    assert "ONNX Runtime cannot serve raspberry-pi-5-hailo-8: the platform names no unit" in ran.err


def test_cuda_is_told_not_to_round_to_tf32(tmp_path, monkeypatch):
    """The comparison with the CPU is to 1e-5; the platform's own options count."""
    folder = placed(tmp_path, "squeezenet", CPU, check=False)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "frame_plan", raising=False)
    script = runpy.run_path(str(folder / "run.py"))
    opened = []
    monkeypatch.setattr(
        onnxruntime, "InferenceSession", lambda *_, providers: opened.append(providers)
    )
    cuda = {"provider": "CUDAExecutionProvider", "session": {}}
    for options in ({}, {"use_tf32": "1"}):
        script["open_session"](folder / "none.onnx", {**cuda, "options": options})
    cpu = ("CPUExecutionProvider", {})
    assert opened == [[(cuda["provider"], {"use_tf32": value}), cpu] for value in ("0", "1")]


def test_frames_run_fused_on_equal_parts_of_the_cores(tmp_path, monkeypatch, capsys):
    folder = placed(tmp_path, "squeezenet", CPU, check=False)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "frame_plan", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    opened, real = [], onnxruntime.InferenceSession

    def spied(path, options, **more):
        opened.append((options.intra_op_num_threads, options.graph_optimization_level))
        return real(path, options, **more)

    spied.get_provider_graph_assignment_info = None
    monkeypatch.setattr(onnxruntime, "InferenceSession", spied)
    monkeypatch.setattr(sys, "argv", ["run.py", "--frames", "1"])
    script = runpy.run_path(str(folder / "run.py"))
    assert script["main"]() == 0
    levels = onnxruntime.GraphOptimizationLevel
    checks, frames = (0, levels.ORT_DISABLE_ALL), (3, levels.ORT_ENABLE_ALL)
    assert opened == 6 * [checks] + 3 * [frames]
    assert "squeezenet: latency" in capsys.readouterr().out
    document = json.loads((folder / "deployment.json").read_text())
    (folder / "deployment.json").write_text(json.dumps({**document, "plan": None}))
    assert script["main"]() == 0
    assert "no latency was measured: the networks run freely" in capsys.readouterr().out


def test_number_formats_that_the_models_do_not_have_are_noted(dse, tmp_path):
    for number_format in ("fp16", "fp32"):
        run_folder = tmp_path / number_format
        made = dse(
            *("explore", "squeezenet", "-p", "jetson-agx-orin", "--runtime", "onnxruntime"),
            *("--units", "cpu,gpu", "--groups", "2", "--precision", number_format, "-q"),
            *("--max-evaluations", "10", "--max-nodes", "0", "-o", run_folder),
        )
        assert made.status == 0, made.err
        out = tmp_path / f"{number_format}-out"
        ran = dse("deploy", run_folder, "--to", "onnxruntime", "-o", out, "--no-check")
        assert ran.status == 0, ran.err
        assert ("Costs are of FP16, but the models" in ran.out) == (number_format == "fp16")
