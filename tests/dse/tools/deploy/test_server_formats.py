"""``--to triton`` and ``--to deepstream``: files read by the tools' own schema and parser."""

import configparser
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from google.protobuf import text_format

from tests.dse.tools.deploy.test_strong_types import explored, small_network

DOCUMENTED_KEYS = {
    "batch-size", "enable-dla", "gie-unique-id", "gpu-id", "infer-dims", "int8-calib-file",
    "interval", "model-engine-file", "network-mode", "network-type", "onnx-file",
    "output-tensor-meta", "process-mode", "use-dla-core", "workspace-size",
}  # fmt: skip
"""Of Gst-nvinfer's group [property], those of its documentation that any network can have."""


def to(command, target):
    return [target if word == "trtexec" else word for word in command]


def load_model_config():
    """Triton's model_config.proto, as the client package has it; None without the package."""
    found = importlib.util.find_spec("tritonclient")
    if found is None:
        return None
    file = Path(found.submodule_search_locations[0]) / "grpc" / "model_config_pb2.py"
    spec = importlib.util.spec_from_file_location("model_config_pb2", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model_config():
    module = load_model_config()
    if module is None:
        pytest.skip("tritonclient is not installed")
    return module


def test_triton(dse, tmp_path, model_config):
    ran = dse(*to(explored(dse, tmp_path, "jetson-agx-orin"), "triton"))
    assert (ran.status, ran.err) == (0, "")
    out = tmp_path / "out"
    configs = {}
    for path in out.glob("*/config.pbtxt"):
        config = configs[path.parent.name] = model_config.ModelConfig()
        text_format.Parse(path.read_text(), config)
        assert config.name == path.parent.name
        assert config.max_batch_size == 0
        assert (path.parent / "1").is_dir()
    names = ["small.0.gpu", "small.1.dla0", "small.2.gpu"]
    assert sorted(configs) == ["small", *names]
    types = {1: "TYPE_FP32", 10: "TYPE_FP16"}
    for name in names:
        config = configs[name]
        graph = onnx.load(str(out / name / "1" / "model.onnx")).graph
        for told, values in ((config.input, graph.input), (config.output, graph.output)):
            assert [
                (t.name, model_config.DataType.Name(t.data_type), list(t.dims)) for t in told
            ] == [
                (
                    v.name,
                    types[v.type.tensor_type.elem_type],
                    [d.dim_value for d in v.type.tensor_type.shape.dim],
                )
                for v in values
            ]
        assert config.platform == "tensorrt_plan"
        (group,) = config.instance_group
        assert (group.kind, group.count, list(group.gpus)) == (group.KIND_GPU, 1, [0])
        dla = [(d.kind, d.device_id) for d in group.secondary_devices]
        assert dla == ([(0, 0)] if "dla0" in name else [])
        # One network: each part waits for the one before it.
        assert list(group.rate_limiter.resources) == []
        assert group.rate_limiter.priority == 1
    readme = (out / "README.md").read_text()
    assert "Triton keeps the plan" in readme
    assert "rate-limit" not in readme
    ensemble = configs["small"]
    assert ensemble.platform == "ensemble"
    assert [t.name for t in ensemble.input] == ["image"]
    assert [t.name for t in ensemble.output] == ["y"]
    steps = ensemble.ensemble_scheduling.step
    assert [step.model_name for step in steps] == names
    known = {"image"}
    for step in steps:
        assert set(step.input_map.values()) <= known
        known |= set(step.output_map.values())
    script = (out / "engines.sh").read_text()
    assert script.count("--saveEngine=") == 3
    assert "--saveEngine=small.1.dla0/1/model.engine --useDLACore=0" in script
    shellcheck = Path(sys.executable).parent / "shellcheck"
    if shellcheck.exists():
        assert subprocess.run([shellcheck, out / "engines.sh"], timeout=60).returncode == 0


def test_networks_that_wait_for_a_unit(dse, tmp_path, model_config):
    for name in ("small", "other"):
        onnx.save(small_network(), str(tmp_path / f"{name}.onnx"))
    command = ("explore", tmp_path / "small.onnx", tmp_path / "other.onnx", "-p", "jetson-agx-orin")
    end = (
        "--runtime",
        "triton",
        "--units",
        "gpu",
        "--max-evaluations",
        "20",
        "--max-nodes",
        "0",
        "-q",
    )
    assert dse(*command, *end, "-o", tmp_path / "run").status == 0
    ran = dse("deploy", tmp_path / "run", "--to", "triton", "--no-check", "-o", tmp_path / "out")
    assert ran.status == 0
    assert "another order" not in ran.out
    plan = json.loads((tmp_path / "out" / "deployment.json").read_text())["plan"]
    priorities = []
    for run in plan["runs"]:
        name = ("small", "other")[run["network"]]
        config = model_config.ModelConfig()
        text_format.Parse((tmp_path / "out" / name / "config.pbtxt").read_text(), config)
        (limiter,) = (group.rate_limiter for group in config.instance_group)
        (resource,) = limiter.resources
        assert (resource.name, getattr(resource, "global"), resource.count) == ("gpu", True, 1)
        priorities.append(limiter.priority)
    assert priorities == [2, 3]
    asked = ", ".join(("small", "other")[run["network"]] for run in plan["runs"])
    assert f"in this order: {asked}." in (tmp_path / "out" / "README.md").read_text()


def test_a_repository_is_replaced_and_foreign_files_keep_it(dse, tmp_path):
    command = (*to(explored(dse, tmp_path, "jetson-agx-orin"), "triton"), "--no-check")
    assert dse(*command).status == 0
    out = tmp_path / "out"
    document = json.loads((out / "deployment.json").read_text())
    assert {entry["name"] for entry in document["files"]} == {
        path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()
    } - {"deployment.json"}
    foreign = out / "small" / "1" / "notes.txt"
    foreign.write_text("mine")
    ran = dse(*command, "--force")
    assert ran.status == 2
    assert "holds 'small', which this command does not write" in ran.err
    foreign.unlink()
    assert dse(*command, "--force").status == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_triton_on_cpus(dse, tmp_path, model_config):
    command = explored(dse, tmp_path, "jetson-agx-orin", units=("cpu", "gpu", "cpu"))
    assert dse(*to(command, "triton"), "--no-check").status == 0
    config = model_config.ModelConfig()
    text = (tmp_path / "out" / "small.0.cpu" / "config.pbtxt").read_text()
    text_format.Parse(text, config)
    assert (config.backend, config.platform) == ("onnxruntime", "")
    assert config.instance_group[0].kind == model_config.ModelInstanceGroup.KIND_CPU


@pytest.mark.parametrize(("version", "cast"), [("10", False), ("11.4.1", True)])
def test_triton_on_a_cpu_has_the_types_that_are_told(dse, tmp_path, version, cast):
    command = explored(dse, tmp_path, "jetson-agx-orin", units=("cpu", "gpu", "cpu"))
    ran = dse(*to(command, "triton"), "--no-check", "--tensorrt", version)
    model = onnx.load(str(tmp_path / "out" / "small.0.cpu" / "1" / "model.onnx"))
    assert (model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16) == cast
    assert ("models there keep their own number formats" in ran.out) == (not cast)


def test_deepstream(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-orin", units=("dla0", "gpu", "gpu"))
    ran = dse(*to(command, "deepstream"), "--no-check")
    assert (ran.status, ran.err) == (0, "")
    # GLib's key files are a dialect that Python's parser reads: no values over several lines here.
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), strict=True)
    parser.read_string((tmp_path / "out" / "small.txt").read_text())
    assert parser.sections() == ["property"]
    values = dict(parser["property"])
    assert set(values) <= DOCUMENTED_KEYS
    told = ("enable-dla", "use-dla-core", "batch-size", "interval")
    assert {key: values[key] for key in told} == {
        "enable-dla": "1", "use-dla-core": "0", "batch-size": "1", "interval": "0",
    }  # fmt: skip
    assert values["network-mode"] == "2"
    assert (tmp_path / "out" / values["onnx-file"]).is_file()
    assert (
        f"--saveEngine={values['model-engine-file']}"
        in (tmp_path / "out" / "engines.sh").read_text()
    )


def test_openvino_where_the_board_has_no_device(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-xavier", units=("gpu", "dla0", "cpu"))
    ran = dse(*to(command, "openvino"))
    assert (ran.status, ran.err) == (0, "")
    note = "no device of OpenVINO for some units: gpu is GPU, dla0 is NPU, cpu is CPU"
    assert note in ran.out
    document = json.loads((tmp_path / "out" / "deployment.json").read_text())
    assert document["devices"] == {"gpu": "GPU", "dla0": "NPU", "cpu": "CPU"}


def test_what_deepstream_cannot_run(dse, tmp_path):
    command = explored(dse, tmp_path, "jetson-agx-orin", units=("dla0", "gpu", "dla1"))
    ran = dse(*to(command, "deepstream"))
    assert ran.status == 2
    assert "DeepStream cannot serve units 'dla0' and 'dla1' in one network ('small')" in ran.err
    assert len(ran.lines) == 1
