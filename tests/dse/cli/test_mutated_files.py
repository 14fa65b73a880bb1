"""Files of every format, broken at random: each ends with a status and plain words, never a bug.

``DSE_MUTATIONS=1000 pytest tests/dse/cli/test_mutated_files.py`` tries as many of each format.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from benchmarks.robustness.mutations import mutated, with_another_array
from benchmarks.robustness.texts import MEASURED_TABLE, SDF3

ROOT = Path(__file__).parents[3]
MUTATIONS = int(os.environ.get("DSE_MUTATIONS", "12"))
XAVIER = "jetson-agx-xavier"
TEGRASTATS = (
    "RAM 2000/7852MB (lfb 1154x4MB) CPU [1%@345,off,off,3%@345,0%@345,2%@345] EMC_FREQ 4%@1600 "
    "GR3D_FREQ 10%@624 VDD_SYS_GPU 152/153 VDD_SYS_SOC 687/600 VDD_IN 3056/2900 VDD_SYS_CPU 150/140"
)
MAPPING = {
    "format": "paretosoc-mapping/1",
    "mapping": {"squeezenet": {"0": "gpu", "1-2": "gpu"}},
    "operating_points": {"gpu": 1377, "emc": "max", "dla": None},
}
LAYERS = [{"count": 100}, {"name": "n0", "timeMs": 3.5, "averageMs": 0.35, "percentage": 2}]
REPLAY = {
    "platform": XAVIER,
    "units": ["gpu", "dla0"],
    "groups": 3,
    "max_transitions": 1,
    "change_every_s": 1,
    "update_at_ms": [25, 100],
    "phases": [
        {"networks": [{"network": "squeezenet"}]},
        {"name": "both", "networks": [{"network": "squeezenet", "repeats": 2, "arrival_ms": 1}]},
    ],
}
NODE = {"op_name": "Conv", "provider": "CPUExecutionProvider"}
SESSION = [
    {"cat": cat, "name": name, "ts": 900 * run, "dur": 800, "args": args}
    for run in range(2)
    for cat, name, args in (("Node", "n0_kernel_time", NODE), ("Session", "model_run", {}))
]
FOREIGN = re.compile(
    r"Traceback|PosixPath|set_int_max_str_digits|numpy|jsonschema|yaml\.|matplotlib|Errno|0x[0-9a-f]{6}"
)


def model() -> bytes:
    """A convolution with an activation."""
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3]),
            helper.make_node("Relu", ["y"], ["z"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 4, 6, 6])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], [0.0] * 108)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return bytes(onnx.ModelProto.SerializeToString(made))


def documents() -> dict[str, tuple[str, bytes, Callable[[Path], list[Any]]]]:
    """Of each format the name of a file, a sound one, and the command that reads it."""
    platform = files("paretosoc.platforms.data").joinpath("jetson-tx2.json").read_bytes()
    imported = ["-n", "squeezenet", "-p", XAVIER, "--at", "max"]
    evaluated = ["evaluate", "squeezenet", "-p", XAVIER, "--groups", "3"]
    return {
        "platform": ("p.json", platform, lambda f: ["platform", f]),
        "campaign": (
            *("c.yaml", Path(ROOT, "examples/all-pairs.yaml").read_bytes()),
            lambda f: ["campaign", "check", f],
        ),
        "mapping": (
            *("m.json", json.dumps(MAPPING).encode()),
            lambda f: [*evaluated, "--mapping", f, "--json"],
        ),
        "sdf3": ("g.xml", SDF3.encode(), lambda f: ["sdf", f]),
        "tegrastats": (
            *("t.log", "\n".join([TEGRASTATS] * 4).encode()),
            lambda f: ["import", "tegrastats", f],
        ),
        "trtexec": (
            *("l.json", json.dumps(LAYERS).encode()),
            lambda f: ["import", "trtexec", f, *imported],
        ),
        "table": ("t.csv", MEASURED_TABLE.encode(), lambda f: ["calibrate", f, "-p", "jetson-tx2"]),
        "onnx": ("n.onnx", model(), lambda f: ["network", f]),
        "onnxruntime": (
            *("o.json", json.dumps(SESSION).encode()),
            lambda f: ["import", "onnxruntime", f, *imported],
        ),
        "replay": (
            *("r.json", json.dumps(REPLAY).encode()),
            lambda f: ["papers", "replay", f, "-o", f.with_name("out"), "--force"],
        ),
    }


def assert_plain(done: Any, label: str) -> None:
    """A known status, words of our own, and nothing that a terminal obeys."""
    printed = done.out + done.err
    assert done.status in range(5), (label, done.status, done.err)
    assert not FOREIGN.search(printed), (label, FOREIGN.search(printed), done.err)
    assert not re.search(
        r"[^\n\t\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd]", printed
    )
    if done.status in (2, 3):
        assert done.err.splitlines()[-1].startswith("dse: "), (label, done.err)


@pytest.mark.parametrize("name", sorted(documents()))
def test_a_broken_file_ends_with_plain_words(dse: Any, tmp_path: Path, name: str) -> None:
    file, sound, command = documents()[name]
    path = tmp_path / file
    path.write_bytes(sound)
    assert dse(*command(path)).status == 0
    rng = random.Random(f"{name} 1")
    seen: Counter[int] = Counter()
    for number in range(MUTATIONS):
        path.write_bytes(mutated(sound, rng))
        done = dse(*command(path))
        assert_plain(done, f"{name} {number}")
        seen[done.status] += 1
    # A line of a log that has nothing to say is passed over.
    assert seen[2] > 0 or name == "tegrastats", seen


@pytest.mark.parametrize("file", ["front.json", "problem.json", "costs.json"])
def test_a_broken_result_is_refused_in_plain_words(
    dse: Any, pair_folder: Path, tmp_path: Path, file: str
) -> None:
    rng = random.Random(file)
    folder = tmp_path / "broken"
    shutil.copytree(pair_folder, folder)
    sound = (folder / file).read_bytes()
    seen: Counter[int] = Counter()
    for number in range(max(MUTATIONS // 3, 3)):
        (folder / file).write_bytes(mutated(sound, rng))
        for command in ("show", "verify"):
            done = dse(command, folder)
            assert_plain(done, f"{file} {number} {command}")
            seen[done.status] += 1
    assert seen[2] + seen[1] > 0, seen


def test_a_broken_checkpoint_ends_with_plain_words(dse: Any, tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    explore = ("explore", "squeezenet", "-p", XAVIER, "--groups", "3", "-q", "--no-certify")
    explore += ("--engine", "nsga2", "--checkpoint", path, "--force", "-o", tmp_path / "out")
    assert dse(*explore, "--max-evaluations", 300).status == 0
    sound = path.read_bytes()
    rng = random.Random("checkpoint")
    seen: Counter[int] = Counter()
    for number in range(MUTATIONS):
        path.write_bytes(with_another_array(sound, rng) if number % 4 else mutated(sound, rng))
        done = dse(*explore, "--max-evaluations", 600)
        assert_plain(done, f"checkpoint {number}")
        seen[done.status] += 1
    assert seen[2] > 0, seen
