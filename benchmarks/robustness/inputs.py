"""Sound inputs of every format that the program reads, and the commands that read them."""

from __future__ import annotations

import hashlib
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.robustness import texts
from benchmarks.robustness.mutations import (
    mutated,
    with_another_array,
    with_another_header,
    with_another_model,
    with_other_bytes,
)
from paretosoc.dse.cli.main import run
from paretosoc.fitness.calibration.pccs_fit import loss_percent
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256

XAVIER = "jetson-agx-xavier"
IMPORTED = ("-n", "squeezenet", "-p", XAVIER, "--at", "max")
EXPLORED = (
    *("--groups", "3", "--units", "gpu,dla0", "-q", "--jobs", "1", "--force", "-o", "{dir}/o"),
    *("--max-nodes", "0", "--max-evaluations", "100"),
)
SEARCHED = ("explore", "squeezenet", "-p", XAVIER, *EXPLORED)
PERIODIC_COMMANDS = (("verify", "{dir}"), ("show", "{dir}"), ("report", "{dir}"))
RESULT_COMMANDS = (
    *PERIODIC_COMMANDS,
    ("show", "{dir}", "--member", "0"),
    ("certify", "{dir}", "--fastest", "--max-nodes", "200", "--jobs", "1", "-q"),
    ("analyze", "costs", "{dir}"),
    ("plot", "front", "{dir}", "-o", "{dir}/../p.svg", "--force"),
    ("deploy", "{dir}", "--to", "sysfs", "-o", "{dir}/../deployed", "--force"),
    ("compare", "{dir}", "{dir}"),
)


@dataclass(frozen=True)
class Sound:
    """A file, the files beside it, and the commands that read it.

    In commands ``{}`` stands for the file, ``{dir}`` for its folder. ``finish`` is called with the
    folder after the change.
    """

    file: str
    data: bytes
    commands: tuple[tuple[str, ...], ...]
    change: Callable[[bytes, random.Random], bytes] = mutated
    beside: Mapping[str, bytes] = field(default_factory=dict)
    finish: Callable[[Path], None] = lambda _: None

    def put(self, folder: Path, data: bytes) -> None:
        """Write the file with this content, and the files beside it."""
        folder.mkdir(parents=True)
        for name, content in {**self.beside, self.file: data}.items():
            (folder / name).write_bytes(content)


def documents(_: Path) -> dict[str, Sound]:
    """Return documents of ours."""
    platform = files("paretosoc.platforms.data").joinpath("jetson-tx2.json").read_bytes()
    mapping = {
        "format": "paretosoc-mapping/1",
        "mapping": {"squeezenet": {"0": "gpu", "1-2": "gpu"}},
        "operating_points": {"gpu": 1377, "emc": "max", "dla": None},
    }
    profile = {
        "platform": XAVIER,
        "networks": [
            {
                "network": "squeezenet",
                "precision": "fp16",
                "clocks_mhz": {"gpu": 1377, "dla": 1395.2, "cpu": 2265.6, "emc": 2133},
                "source": "own board",
                "status": "measured",
                "layers": [{"name": "n0", "ms": {"gpu": 0.4}}],
            }
        ],
    }
    workload = {
        "title": "Two",
        "networks": [
            {"network": "squeezenet", "repeats": 2, "deadline_ms": 40},
            {"network": "alexnet", "pins": [{"first": 0, "last": 1, "unit": "gpu"}]},
        ],
    }
    replay = {
        "platform": XAVIER,
        "units": ["gpu", "dla0"],
        "groups": 3,
        "max_transitions": 1,
        "change_every_s": 1,
        "update_at_ms": [25, 100],
        "phases": [
            {"networks": [{"network": "squeezenet"}]},
            {"name": "both", "networks": [{"network": "squeezenet", "repeats": 2}]},
        ],
    }
    explored = ("explore", "{}", "-p", XAVIER, *EXPLORED)
    evaluated = ("evaluate", "squeezenet", "-p", XAVIER, "--groups", "3", "--json")
    played = ("papers", "replay", "{}", "-o", "{dir}/out", "--force", "--nodes-per-second", "9999")
    return {
        "platform": Sound("p.json", platform, (("platform", "{}"),)),
        "mapping": Sound("m.json", _text(mapping), ((*evaluated, "--mapping", "{}"),)),
        "profile": Sound("p.json", _text(profile), ((*SEARCHED, "--profile", "{}"),)),
        "workload-json": Sound("w.json", _text(workload), (explored,)),
        "workload-yaml": Sound("w.yaml", texts.WORKLOAD.encode(), (explored,)),
        "campaign": Sound("c.yaml", texts.CAMPAIGN.encode(), (("campaign", "check", "{}"),)),
        "replay": Sound("r.json", _text(replay), (played,)),
    }


def logs_and_tables(_: Path) -> dict[str, Sound]:
    """Return output of other tools, and tables of measurements."""
    layers = [{"count": 100}, {"name": "n0", "timeMs": 3.5, "averageMs": 0.35, "percentage": 2}]
    engine = {
        "Layers": [
            {"Name": "n0", "LayerType": "kgen", "Metadata": "\x1e".join(["[ONNX Layer: n0]"])}
        ],
        "I/O Tensors": [],
        "Engine Metadata": {},
    }
    node = {"op_name": "Conv", "provider": "CPUExecutionProvider"}
    session = [
        {"cat": cat, "name": name, "ts": 900 * at, "dur": 800, "args": args}
        for at in range(2)
        for cat, name, args in (("Node", "n0_kernel_time", node), ("Session", "model_run", {}))
    ]

    def imported(tool: str, name: str, text: str | bytes, *options: str) -> Sound:
        data = text.encode() if isinstance(text, str) else text
        return Sound(name, data, (("import", tool, "{}", *options),))

    formats = ("--precision", "int8,fp16", "--losses", "{}", "--objective", "accuracy-loss")
    return {
        "trtexec-json": imported("trtexec", "l.json", _text(layers), *IMPORTED),
        "trtexec-log": imported("trtexec", "l.log", texts.TRTEXEC_LOG, *IMPORTED),
        "trtexec-layers": Sound(
            *(
                "info.json",
                _text(engine),
                (("import", "trtexec", "{dir}/l.json", "{}", *IMPORTED),),
            ),
            beside={"l.json": _text(layers)},
        ),
        "onnxruntime": imported("onnxruntime", "o.json", _text(session), *IMPORTED),
        "tegrastats": imported("tegrastats", "t.log", "\n".join([texts.TEGRASTATS] * 4)),
        "tegrastats-power": imported(
            *("tegrastats", "t.log", texts.XAVIER_LOG * 3, *IMPORTED, "--group", "0")
        ),
        "demand": imported("demand", "d.csv", texts.DEMAND, *IMPORTED),
        "pairs": imported("transitions", "p.csv", texts.PAIRS, *IMPORTED),
        "qai-hub": imported(
            *("qai-hub", "perf.yaml", texts.QAI_HUB, "-p", "snapdragon-8-elite"),
            *("--device", "Phone"),
        ),
        "rknn": imported("rknn", "R.md", texts.RKNN, "-p", "rk3588"),
        "hailo": imported("hailo", "h.rst", texts.HAILO, "-p", "raspberry-pi-5-hailo-8"),
        "table": Sound(
            "t.csv", texts.MEASURED_TABLE.encode(), (("calibrate", "{}", "-p", "jetson-tx2"),)
        ),
        "sweep": Sound("s.csv", _sweep().encode(), (("measure", "contention", "{}"),)),
        "losses": Sound(
            "l.csv", texts.LOSSES.encode(), ((*SEARCHED, *formats, "--objective", "latency"),)
        ),
        "sdf3": Sound("g.xml", texts.SDF3.encode(), (("sdf", "{}"),)),
    }


def models(_: Path) -> dict[str, Sound]:
    """Return models, and samples of their inputs."""
    small, outside, weights = _products(), _products(), np.ones((8, 8), np.float32)
    tensor = outside.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "256")):
        tensor.external_data.add(key=key, value=value)
    sample = io.BytesIO()
    np.save(sample, np.ones((1, 8), np.float32))
    samples = io.BytesIO()
    np.savez(samples, x=np.ones((1, 8), np.float32))
    picture = _products((1, 3, 8, 8))
    measured = ("sensitivity", "{dir}/n.onnx", "--data", "{dir}", "-o", "{dir}/t.csv", "--force")

    def sampled(name: str, data: bytes, change: Any, model: onnx.ModelProto = small) -> Sound:
        beside = {"n.onnx": model.SerializeToString()}
        return Sound(name, data, (measured,), change, beside)

    read = (("network", "{}"), ("explore", "{}", "-p", XAVIER, *EXPLORED))
    return {
        "onnx": Sound("n.onnx", small.SerializeToString(), read, with_another_model),
        "onnx-convolution": Sound(
            "n.onnx", _convolution().SerializeToString(), read, with_another_model
        ),
        "onnx-external": Sound(
            *("n.onnx", outside.SerializeToString()),
            (*read, ("sensitivity", "{}", "--data", "random", "-o", "{dir}/t.csv", "--force")),
            with_another_model,
            {"w.bin": weights.tobytes()},
        ),
        "npy": sampled("a.npy", sample.getvalue(), with_another_header),
        "npz": sampled("a.npz", samples.getvalue(), with_another_array),
        "png": sampled("a.png", _image("PNG"), with_other_bytes, picture),
        "jpg": sampled("a.jpg", _image("JPEG"), with_other_bytes, picture),
    }


def results(scratch: Path) -> dict[str, Sound]:
    """Return files of result folders, whose hashes are made right again, and a checkpoint.

    Args:
        scratch: an empty folder, in which commands make them.
    """
    proved, within, bounded, periodic = (
        scratch / name for name in ("proved", "within", "bounded", "periodic")
    )
    pair = ("explore", "squeezenet", "alexnet", "-p", XAVIER, "--max-evaluations", "500")
    common = ("--fix", "emc=max", "--units", "gpu,dla0", "--jobs", "1", "-q", "-o")
    checkpoint = scratch / "search.npz"
    search = (
        *SEARCHED,
        *("--engine", "nsga2", "--checkpoint", "{}"),
    )
    made = [
        (*pair, "--groups", "2", *common, str(proved)),
        (*pair, "--groups", "4", "--max-nodes", "1000", *common, str(within)),
        (*pair, "--groups", "4", "--max-nodes", "200", *common, str(bounded)),
        ("papers", "periodic", "alexnet", "-p", "neurocube", "--pes", "64", "-o", str(periodic)),
        tuple(
            part.replace("{}", str(checkpoint)).replace("{dir}", str(scratch)) for part in search
        ),
    ]
    for arguments in made:
        assert run(list(arguments)) == 0, arguments
    found: dict[str, Sound] = {}
    for folder in (proved, within, bounded, periodic):
        contents = {path.name: path.read_bytes() for path in folder.iterdir()}
        for name, data in contents.items():
            if name.endswith((".json", ".tree")):
                beside = {other: content for other, content in contents.items() if other != name}
                commands = PERIODIC_COMMANDS if folder == periodic else RESULT_COMMANDS
                found[f"{folder.name}-{name}"] = Sound(name, data, commands, mutated, beside, sign)
    resumed = tuple("300" if part == "100" else part for part in search)
    found["checkpoint"] = Sound("s.npz", checkpoint.read_bytes(), (resumed,), with_another_array)
    conf = ("deploy", "{dir}", "--to", "nvpmodel", "--conf", "{}", "-o", "{dir}/../out", "--force")
    beside = {path.name: path.read_bytes() for path in proved.iterdir()}
    found["nvpmodel"] = Sound("board.conf", texts.NVPMODEL.encode(), (conf,), mutated, beside)
    return found


def sign(folder: Path) -> None:
    """Make the hashes of a changed result folder right again, as far as its files can be read."""
    problem = folder / "problem.json"
    for path in sorted(folder.glob("*.json"), key=lambda entry: entry != problem):
        try:
            document = json.loads(path.read_bytes())
            if not isinstance(document, dict):
                continue
            if path != problem and "problem_sha256" in document:
                document["problem_sha256"] = hashlib.sha256(problem.read_bytes()).hexdigest()
            if "tree_sha256" in document:
                tree = path.with_suffix(".tree").read_bytes()
                document["tree_sha256"] = hashlib.sha256(tree).hexdigest()
            if document.pop("content_sha256", None) is not None:
                document["content_sha256"] = content_sha256(document)
            path.write_bytes(canonical_bytes(document))
        except (ValueError, TypeError, OSError, RecursionError):
            continue


def _products(shape: tuple[int, ...] = (1, 8)) -> onnx.ModelProto:
    """Return a model with two products and an activation in between."""
    weights = numpy_helper.from_array(np.ones((8, 8), np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("MatMul", ["b", "w"], ["y"], "second"),
    ]
    return _model(nodes, shape, shape, weights)


def _convolution() -> onnx.ModelProto:
    weights = numpy_helper.from_array(np.zeros((4, 3, 3, 3), np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3], strides=[1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["c"], ["y"], axis=1),
    ]
    return _model(nodes, (1, 3, 8, 8), (1, 36), weights)


def _model(
    nodes: list[Any], given: tuple[int, ...], made: tuple[int, ...], weights: Any
) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(given))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, list(made))]
    graph = helper.make_graph(nodes, "net", inputs, outputs, [weights])
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


def _image(form: str) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).save(stream, form)
    return stream.getvalue()


def _sweep() -> str:
    """Return co-runs as the model of contention has them."""
    values = np.array([45.0, 60.0, 80.0, 90.0, 3.0, 0.8])
    rows = ["own_gbps,external_gbps,slowdown"]
    for own in range(10, 121, 10):
        for external in range(10, 136, 15):
            (lost,) = loss_percent(np.array([float(own)]), np.array([float(external)]), values)
            rows.append(f"{own},{external},{100 / (100 - lost):.5f}")
    return "\n".join(rows) + "\n"


def _text(document: Any) -> bytes:
    return json.dumps(document).encode()


GROUPS: Mapping[str, Callable[[Path], dict[str, Sound]]] = {
    "documents": documents,
    "logs": logs_and_tables,
    "models": models,
    "results": results,
}
