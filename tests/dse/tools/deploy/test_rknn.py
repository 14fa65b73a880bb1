"""``--to rknn``: scripts that call rknn-toolkit2 for each piece, run against stand-ins for it."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest

from paretosoc import explore
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.runtime_placement import place_notes
from paretosoc.results.problem.runtimes import Runtime
from tests.dse.tools.deploy.test_llama_cpp import WORKLOAD
from tests.dse.tools.deploy.test_strong_types import small_network

RKNN = '''
class RKNN:
    """Writes down how it is called."""

    NPU_CORE_0, NPU_CORE_1 = 1, 2

    def __init__(self, **options):
        pass

    def __getattr__(self, name):
        def call(*values, **named):
            print(name, values, sorted(named.items()))
            if name == __import__("os").environ.get("RKNN_FAILS"):
                raise ValueError("Traceback:\\nValueError: Not support 'Dropout'!\\n")
            if name == "export_rknn":
                open(values[0], "w").close()
            if name == "inference":
                assert named["data_format"] == "nchw"
                return OUTPUTS(named["inputs"])
            return 0
        return call
'''


@pytest.fixture(scope="module", params=["int8", "fp16"])
def folder(request, tmp_path_factory):
    from paretosoc.dse.cli.main import run

    made = tmp_path_factory.mktemp("rknn")
    onnx.save(small_network(), str(made / "small.onnx"))
    command = ["explore", str(made / "small.onnx"), "-p", "rk3588", "--groups", "3", "-q"]
    for g, unit in enumerate(("npu0", "a76", "npu1")):
        command += ["--fix", f"small:{g}={unit}"]
    command += ["--runtime", "rknn", "--precision", request.param, "--max-evaluations", "20"]
    assert run([*command, "--max-nodes", "0", "-o", str(made / "run")]) == 0
    assert run(["deploy", str(made / "run"), "--to", "rknn", "-o", str(made / "out")]) == 0
    for package, name, outputs in (
        ("rknn", "RKNN", "None"),
        ("rknnlite", "RKNNLite", "lambda values: [__import__('numpy').zeros((1, 10), 'f4')]"),
    ):
        (made / package).mkdir()
        (made / package / "__init__.py").touch()
        text = RKNN.replace("class RKNN", f"class {name}") + f"\nOUTPUTS = {outputs}\n"
        (made / package / "api.py").write_text(text)
    return request.param, made


def execute(folder, script, *options):
    return subprocess.run(
        [sys.executable, str(folder / "out" / script), *map(str, options)],
        env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_every_piece_on_an_npu_core_is_converted(folder):
    number_format, made = folder
    document = json.loads((made / "out" / "deployment.json").read_text())
    assert document["devices"] == {"npu0": "NPU_CORE_0", "a76": "CPU", "npu1": "NPU_CORE_1"}
    np.savez(made / "samples.npz", image=np.ones((2, 1, 3, 16, 16), np.float32))
    ran = execute(made, "convert.py", "--inputs", made / "samples.npz")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("('target_platform', 'rk3588')") == 2
    assert ran.stdout.count("load_onnx") == ran.stdout.count("export_rknn") == 2
    assert ran.stdout.count(f"('do_quantization', {number_format == 'int8'})") == 2
    assert "small.1.a76" not in ran.stdout
    listed = sorted((made / "out").glob("small.*.txt"))
    assert len(listed) == (2 if number_format == "int8" else 0)
    for file in listed:
        lines = file.read_text().splitlines()
        assert len(lines) == 2
        assert all(np.load(name).ndim for line in lines for name in line.split())
    one = execute(made, "convert.py", "small.2.npu1.onnx")
    assert one.stdout.count("export_rknn") == 1


def test_an_error_of_the_toolkit_is_told_in_a_line(folder, monkeypatch):
    _, made = folder
    monkeypatch.setenv("RKNN_FAILS", "build")
    ran = execute(made, "convert.py")
    said = "rknn-toolkit2 cannot convert small.0.npu0.onnx: ValueError: Not support 'Dropout'!"
    assert (ran.returncode, ran.stderr) == (1, f"convert.py: {said}\n")


def test_the_converter_passes_over_tasks(folder):
    _, made = folder
    path = made / "out" / "deployment.json"
    text = path.read_text()
    document = json.loads(text)
    task = {"name": "task", "segments": [{"unit": "a76", "first_group": 0, "last_group": 0}]}
    path.write_text(json.dumps({**document, "networks": [task, *document["networks"]]}))
    ran = execute(made, "convert.py")
    path.write_text(text)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("export_rknn") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--inputs", "none.npz"], "none.npz: an archive of arrays (.npz) is required"),
        (["--inputs", __file__], "test_rknn.py: an archive of arrays (.npz) is required"),
        (["--inputs", "empty.npz"], "empty.npz: an archive of arrays (.npz) is required"),
        (["--inputs", "torn.npz"], "torn.npz: an archive of arrays (.npz) is required"),
        (["--inputs", "one.npz"], "[samples, 1, 3, 16, 16] is required for small:image, got []; "),
        (["--inputs", "none_of_it.npz"], "for small:image, got [0, 1, 3, 16, 16]; "),
        (["small.9.npu1.onnx"], "small.9.npu1.onnx: no piece for the NPU; there are small."),
    ],
)
def test_what_the_converter_cannot_use_is_an_error_in_a_line(folder, words, said, monkeypatch):
    _, made = folder
    monkeypatch.chdir(made)
    (made / "empty.npz").touch()
    (made / "torn.npz").write_bytes(b"PK\x03\x04" + bytes(90))
    np.savez(made / "one.npz", image=np.float32(1))
    np.savez(made / "none_of_it.npz", image=np.ones((0, 1, 3, 16, 16), np.float32))
    ran = execute(made, "convert.py", *words)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert said in line


def test_samples_of_inputs_that_are_called_alike_are_told_apart(folder):
    """Without the network's name they are of all; none is left out silently."""
    _, made = folder
    path, shape = made / "out" / "deployment.json", (2, 1, 3, 16, 16)
    document = json.loads(path.read_text())

    def convert(**arrays):
        np.savez(made / "some.npz", **arrays)
        return execute(made, "convert.py", "--inputs", made / "some.npz")

    assert "[samples, 1, 3, 16, 16] is required for small:image, got [2, 1, 3, 8, 8]; the key" in (
        convert(image=np.ones((2, 1, 3, 8, 8), np.float32)).stderr
    )
    named = {"image": np.ones((2, 1, 3, 8, 8), np.float32), "small:image": np.ones(shape)}
    assert "image: no network has this input: small:image" in convert(**named).stderr
    other = json.loads(json.dumps(document["networks"][0])) | {"name": "other"}
    other["segments"] = other["segments"][:1]
    other["segments"][0]["inputs"][0]["shape"] = [1, 3, 8, 8]
    model = onnx.load(made / "out" / other["segments"][0]["file"])
    for side, dim in ((2, 8), (3, 8)):
        model.graph.input[0].type.tensor_type.shape.dim[side].dim_value = dim
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    other["segments"][0]["file"] = "other.onnx"
    onnx.save(model, made / "out" / "other.onnx")
    path.write_text(json.dumps(document | {"networks": [*document["networks"], other]}))
    ran = convert(**named)
    path.write_text(json.dumps(document))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "other.onnx" in ran.stdout


def test_the_runner_uses_the_core_masks(folder):
    _, made = folder
    document = json.loads((made / "out" / "deployment.json").read_text())
    shapes = [part["outputs"][0]["shape"] for part in document["networks"][0]["segments"]]
    text = (made / "rknnlite" / "api.py").read_text().partition("OUTPUTS =")[0]
    outputs = f"iter({[shapes[0], shapes[2]]})"
    text += f"SHAPES = {outputs}\nHELD = {{}}\n"
    text += (
        "import numpy\ndef OUTPUTS(values):\n"
        "    key = values[0].shape\n"
        "    if key not in HELD:\n        HELD[key] = next(SHAPES)\n"
        "    return [numpy.zeros(HELD[key], numpy.float32)]\n"
    )
    (made / "rknnlite" / "api.py").write_text(text)
    ran = execute(made, "run.py")
    assert ran.returncode == 0, ran.stderr
    assert "('core_mask', 1)" in ran.stdout
    assert "('core_mask', 2)" in ran.stdout
    assert "small.1.a76.onnx on CPU" in ran.stdout
    assert "small.2.npu1.onnx on NPU_CORE_1" in ran.stdout


def test_clusters_that_are_one_device_are_noted(folder, dse):
    """ONNX Runtime takes any core for both."""
    _, made = folder
    fixed = [
        word
        for g, unit in enumerate(("a55", "a76", "npu1"))
        for word in ("--fix", f"small:{g}={unit}")
    ]
    options = ("-p", "rk3588", "--groups", "3", "-q", "--max-evaluations", "20", "--max-nodes", "0")
    explored = dse("explore", made / "small.onnx", *options, *fixed, "-o", made / "clusters")
    assert explored.status == 0, explored.err
    ran = dse("deploy", made / "clusters", "--to", "rknn", "-o", made / "noted", "--no-check")
    assert "a55, a76 are all CPU: ONNX Runtime does not tell them apart." in ran.out
    # convert.py converts the others.
    assert "Costs on a55, a76 are of INT8, but the models there keep" in ran.out


def test_rkllm_is_warned_of_if_there_is_a_language_model(tmp_path):
    path = tmp_path / "assistant.yaml"
    path.write_text(WORKLOAD)
    front = explore(path, "rk3588", groups=1, runtime="rknn", max_evaluations=20)
    deployment = Deployment(front.numeric, 0, load_platform("rk3588"), front.costs)
    (note,) = place_notes(deployment, Runtime.RKNN, {"npu0": "NPU_CORE_0"})
    assert note.startswith("RKLLM and RKNN cannot be loaded together")


def test_a_front_for_rknn_is_not_for_others(folder, dse):
    _, made = folder
    ran = dse("deploy", made / "run", "--to", "rknn", "-o", made / "again", "--no-check")
    assert "RKLLM" not in ran.out
    other = dse("deploy", made / "run", "--to", "openvino", "-o", made / "other")
    assert other.status == 2
    assert "this front was explored for rknn, not for openvino" in other.err
    assert "--runtime openvino -o FOLDER' explores for it" in other.err
    assert len(other.lines) == 1
