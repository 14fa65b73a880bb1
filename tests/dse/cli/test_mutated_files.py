"""Files of every format, broken at random: each ends with a status and plain words, never a bug.

``DSE_MUTATIONS=1000 pytest tests/dse/cli/test_mutated_files.py`` tries as many of each format.
"""

from __future__ import annotations

import io
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

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

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
WEIRD = (
    *(None, True, -1, 2**63, 10**400, 1.5, -0.0, "", "\x1b[31mred", "a\nb", "\u202egnp.exe"),
    *("$x_$", "../../etc", "gpu", [], {}, [[]], {"a": {}}, "1e999", "9" * 5000),
)
TOKENS = (
    *(b"\x00", b"\x1b]0;title\x07", b"\xff\xfe", b"9" * 400, b"1e999", b"-1", b"NaN", b"\n\n"),
    *(b"<!ENTITY a 'b'>", b"&a;", b"{", b"]]", b",,,", b"'", b'"', b"*" * 50, "\u202e".encode()),
)
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


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One or two places changed: a value of a document, or bytes of anything."""
    for _ in range(rng.randint(1, 2)):
        try:
            document = json.loads(data)
        except (ValueError, UnicodeDecodeError):
            document = None
        if isinstance(document, dict | list) and document and rng.random() < 0.7:
            data = json.dumps(with_a_change(document, rng)).encode("utf-8", "surrogatepass")
        else:
            data = with_other_bytes(data, rng)
    return data


def with_a_change(document: Any, rng: random.Random) -> Any:
    """A weird value, a missing entry or a key twice removed, anywhere."""
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = rng.choice(list(keys))
        inner = node[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            node = inner
            continue
        if rng.random() < 0.25:
            del node[key]
        elif isinstance(node, dict) and rng.random() < 0.2:
            node[str(rng.choice(WEIRD))[:60]] = inner
        else:
            node[key] = rng.choice(WEIRD)
        return document


def with_other_bytes(data: bytes, rng: random.Random) -> bytes:
    """A part left out, doubled or replaced by something hostile."""
    begin = rng.randrange(len(data) + 1)
    end = min(len(data), begin + rng.choice((0, 1, 1, 8, 60)))
    middle = rng.choice((b"", data[begin:end] * 2, rng.choice(TOKENS), rng.choice(TOKENS)))
    return data[:begin] + middle + (b"" if rng.random() < 0.1 else data[end:])


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


def with_another_array(data: bytes, rng: random.Random) -> bytes:
    """One array changed: missing, of another shape or kind, or with a number out of range."""
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    name = rng.choice(sorted(arrays))
    array = arrays.pop(name)
    if name == "meta" and rng.random() < 0.8:
        document = with_a_change(json.loads(array.tobytes()), rng)
        array = np.frombuffer(json.dumps(document).encode("utf-8", "surrogatepass"), np.uint8)
    elif array.size and rng.random() < 0.5:
        array = array.copy()
        number = rng.choice((-1, 0, 1, 2**31, 2**63 - 1, -(2**63)))
        array.reshape(-1)[rng.randrange(array.size)] = np.array(number).astype(array.dtype)
    else:
        array = rng.choice(
            (array[:-1], array[..., None], array.astype(np.float64) * np.nan, array.astype("U9"))
        )
    if rng.random() < 0.9:
        arrays[name if rng.random() < 0.9 else "\x1b[31m"] = array
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
