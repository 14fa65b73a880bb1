"""Every parameter of every command that names a file, with names and files that are none."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from benchmarks.robustness.confined import FOREIGN
from benchmarks.robustness.inputs import documents, logs_and_tables, models
from paretosoc.dse.cli.commands import COMMANDS, Entry
from paretosoc.dse.cli.lazy import LazyCommand
from paretosoc.dse.cli.main import run

XAVIER = {"platform": "jetson-agx-xavier"}
SEARCH = {"groups": 2, "max_evaluations": 20, "units": "gpu,dla0"}
EXPLORE = {"networks": "squeezenet", **XAVIER, **SEARCH, "jobs": 1, "output": "new"}
EXPLORE |= {"max_nodes": 0, "quiet": True}
RESULT = {"folder": "result"}
IMPORT = {"network": "squeezenet", **XAVIER, "at": "max", "output": "new.json"}
CALLS: dict[str, dict[str, Any]] = {
    "explore": EXPLORE,
    "show": RESULT,
    "report": {**RESULT, "output": "new.html"},
    "plot": {"what": "front", "folders": "result", "output": "new.svg"},
    "certify": {**RESULT, "max_nodes": 10, "jobs": 1, "quiet": True},
    "verify": RESULT,
    "compare": {"first": "result", "second": "result"},
    "choose": {
        "networks": "squeezenet",
        "boards": "jetson-agx-xavier",
        "groups": 2,
        "draws": 2,
        "max_evaluations": 20,
        "jobs": 1,
        "output": "new",
        "quiet": True,
    },
    "evaluate": {"networks": "squeezenet", **XAVIER, "groups": 3, "mapping": "mapping/m.json"},
    "baselines": {"networks": "squeezenet", **XAVIER, "groups": 2, "units": "gpu,dla0"},
    "campaign check": {"file": "campaign/c.yaml"},
    "campaign run": {"file": "campaign/c.yaml", "output": "new", "quiet": True},
    "campaign status": {"folder": "runs"},
    "campaign table": {"folder": "runs", "rows": "first"},
    "campaign export": {"folder": "runs", "output": "new.csv"},
    "campaign report": {"folder": "runs"},
    "campaign compare": {"before": "runs", "after": "runs"},
    "campaign extract": {"folder": "runs", "run_name": "squeezenet", "output": "new"},
    "network": {"source": "squeezenet"},
    "networks": {},
    "platform": {"name": "jetson-tx2"},
    "platforms": {},
    "deploy": {**RESULT, "to": "sysfs", "output": "new"},
    "profile": {"networks": "squeezenet", "output": "new", "quiet": True},
    "sensitivity": {"source": "onnx/n.onnx", "data": "npy", "output": "new.csv", "samples": 1},
    "run": RESULT,
    "calibrate": {"measurements": "table/t.csv", "platform": "jetson-tx2", "output": "new.json"},
    "import trtexec": {"files": "trtexec-json/l.json", **IMPORT},
    "import onnxruntime": {"files": "onnxruntime/o.json", **IMPORT},
    "import tegrastats": {"file": "tegrastats-power/t.log", **IMPORT, "group": "0"},
    "import demand": {"table": "demand/d.csv", **IMPORT},
    "import transitions": {"table": "pairs/p.csv", **IMPORT},
    "import qai-hub": {
        "files": "qai-hub/perf.yaml",
        "platform": "snapdragon-8-elite",
        "device": "Phone",
        "output": "new.json",
    },
    "import hailo": {
        "files": "hailo/h.rst",
        "platform": "raspberry-pi-5-hailo-8",
        "output": "new.json",
    },
    "import rknn": {"files": "rknn/R.md", "platform": "rk3588", "output": "new.json"},
    "measure fidelity": {**RESULT, "output": "new.svg"},
    "measure contention": {"sweeps": "sweep/s.csv", **XAVIER, "output": "new.json", "name": "a"},
    "measure co-runs": {
        "subjects": ["resnet18", "alexnet", "vgg11"],
        "platform": "jetson-agx-xavier",
        "output": "new.csv",
    },
    "measure next": {**RESULT, "output": "new", "minutes": 6, "draws": 20},
    "measure take": {**RESULT, "results": "result/costs.json"},
    "measure trace": {**RESULT, "file": "result/costs.json", "output": "new.json"},
    "analyze costs": RESULT,
    "analyze limits": RESULT,
    "analyze confidence": {**RESULT, "draws": 2},
    "analyze csdf": {**RESULT, "output": "new.json"},
    "analyze export": {**RESULT, "to": "perfetto", "output": "new.json"},
    "mcp": RESULT,
    "sdf": {"file": "sdf3/g.xml"},
    "papers explore": EXPLORE,
    "papers periodic": {"network": "alexnet", "platform": "neurocube", "pes": 64, "output": "new"},
    "papers replay": {"file": "replay/r.json", "output": "new", "nodes_per_second": 9999},
    "papers learn": {"output": "new", "quick": True},
}
"""Of each command parameters with which it does its work, files below one folder."""
OTHERWISE: dict[tuple[str, str], dict[str, Any]] = {
    ("evaluate", "source"): {"networks": None, "platform": None, "groups": None, "mapping": None},
    ("deploy", "conf"): {"to": "nvpmodel"},
    ("deploy", "model"): {"to": "onnx"},
    ("papers learn", "pool"): {"quick": None},
}
"""Other parameters that a parameter needs; None: none."""
OUTPUTS = {"output", "checkpoint", "gantt"}
"""Parameters that are written, and may have any name that a file can have."""
NAMED = {"networks", "network", "platform", "platform name", "model", "data", "dask"}
NAMED |= {"subjects", "network source", "sensitivity source"}
"""Parameters that are a name, or a file."""
TEXTS = {
    *(
        "at",
        "batch",
        "boards",
        "by",
        "columns",
        "deadline_ms",
        "device",
        "dim",
        "dimensions",
        "dla",
    ),
    *(
        "engine",
        "family",
        "fixed",
        "formats",
        "frames_per_second",
        "goal",
        "gpu",
        "group",
        "groups",
        "image_mean",
    ),
    *("image_std", "known", "label", "limit", "member", "name", "objective", "objectives", "pes"),
    *(
        "power_cap_w",
        "precision",
        "subjects",
        "to",
        "max_transitions",
        "robust",
        "variants",
        "tolerance",
        "dispatch",
    ),
    *("processor_type", "rows", "run_name", "runtime", "source", "tensorrt", "throughput", "unit"),
    *("chain", "chip", "task", "units", "value", "where"),
}
"""Parameters that are no files."""
NEEDS_MORE = {"mcp", "run", "measure fidelity", "measure take", "measure trace"}
NEEDS_MORE |= {"papers learn", "profile"}
"""Commands that serve, measure this machine or a board, learn or change a result: their calls here
are not run to their end."""
SUFFIXES = ("", ".json", ".svg", ".html", ".csv", ".onnx", ".npz", ".yaml")
HUGE = 1 << 43


def commands(entries: tuple[Entry, ...] = COMMANDS, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All commands with their groups."""
    for entry in entries:
        name = prefix + entry.name
        if entry.commands:
            yield from commands(entry.commands, f"{name} ")
            continue
        command = LazyCommand(entry).load()
        inner = getattr(command, "commands", None) or {"": command}
        yield from ((f"{name} {more}".strip(), one) for more, one in inner.items())


@cache
def by_name() -> dict[str, Any]:
    """All commands, which take longer to make than most of these tests to run."""
    return dict(commands())


def parameters() -> list[tuple[str, str]]:
    """Every parameter that may name a file, with its command."""
    return [
        (name, parameter.name)
        for name, command in by_name().items()
        for parameter in command.params
        if isinstance(parameter.type, click.Path)
        or not NAMED.isdisjoint((parameter.name, f"{name} {parameter.name}"))
    ]


def arguments(name: str, values: dict[str, Any]) -> list[str]:
    command = by_name()[name]
    found = [*name.split()]
    for parameter in command.params:
        value = values.get(parameter.name)
        if value is None:
            continue
        if parameter.param_type_name == "option":
            found.append(parameter.opts[0])
        if value is not True:
            found += map(str, value if isinstance(value, list) else [value])
    return found


@pytest.fixture(scope="module")
def place(pair_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sound files, and below ``odd`` what no command can read or write."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "result").symlink_to(pair_folder)
    for group in (documents, logs_and_tables, models):
        for name, sound in group(folder).items():
            sound.put(folder / name, sound.data)
    small = "networks: [squeezenet]\nplatforms: [jetson-agx-xavier]\nevaluations: [10]\n"
    (folder / "campaign" / "c.yaml").write_text(small + "group_counts: [2]\n")
    assert run(["campaign", "run", f"{folder}/campaign/c.yaml", "-o", f"{folder}/runs", "-q"]) == 0
    odd = folder / "odd"
    odd.mkdir()
    for suffix in SUFFIXES:
        os.mkfifo(odd / f"fifo{suffix}")
        (odd / f"folder{suffix}").mkdir()
        (odd / f"loop{suffix}").symlink_to(f"loop{suffix}")
        os.close(os.open(odd / f"huge{suffix}", os.O_CREAT))
        os.truncate(odd / f"huge{suffix}", HUGE)
    return folder


def hostile(suffix: str, *, written: bool) -> list[str]:
    names = ["a\0b", "a\nb", "\x1b[2J", "\u202e", "\ud800", "x" * 300, "odd/loop", "odd/huge/x"]
    if written:
        more = [f"odd/fifo{suffix}", f"/proc/none{suffix}", "/dev/full"]
    else:
        names += ["none", "none/none", "odd/folder", "odd/huge"]
        more = ["none.onnx*2", "x.ONNX", "/dev/null", "/dev/zero", "PIPE"]
    return ["", ".", "/", "..", *(f"{name}{suffix}" for name in names), *more]


def test_every_parameter_is_known() -> None:
    """A new one names a file by its type, is a name or a file, or a text."""
    found = {
        parameter.name
        for name, command in by_name().items()
        for parameter in command.params
        if parameter.type is click.STRING and f"{name} {parameter.name}" not in NAMED
    }
    assert found == TEXTS | {name for name in NAMED if " " not in name}
    assert set(CALLS) == set(by_name())


@pytest.mark.parametrize("name", sorted(set(CALLS) - NEEDS_MORE))
def test_the_calls_do_their_work(
    dse: Any, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(place)
    done = dse(*arguments(name, CALLS[name]))
    for path in place.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert done.status == 0, done.err


@pytest.mark.parametrize(("name", "parameter"), parameters())
def test_hostile_files_are_refused_by_every_parameter(
    dse: Any, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, parameter: str
) -> None:
    monkeypatch.chdir(place)
    handler = signal.signal(signal.SIGALRM, waits)
    before = listed(place)
    written = parameter in OUTPUTS
    values = {**CALLS[name], **OTHERWISE.get((name, parameter), {})}
    usual = str(values.get(parameter, ""))
    suffix = Path(usual).suffix
    prefix = "" if usual or parameter not in ("model", "network") else "squeezenet="
    for text in hostile(suffix, written=written):
        ends = None
        if name == "mcp" and text in ("", ".", "/", "..", "odd/folder"):
            # It serves any folder.
            continue
        if text == "PIPE":
            ends = os.pipe()
            os.close(ends[1])
            text = f"/dev/fd/{ends[0]}"
        given = {**values, parameter: prefix + text}
        if written and "force" in {p.name for p in by_name()[name].params}:
            given["force"] = True
        signal.alarm(600)
        done = dse(*arguments(name, given))
        signal.alarm(0)
        if ends is not None:
            os.close(ends[0])
        assert (done.status, len(done.lines)) == (2, 1), (text, done)
        assert done.err.startswith("dse: "), text
        assert done.lines[0].isprintable(), text
        assert not FOREIGN.search(done.err), (text, done.err)
    signal.signal(signal.SIGALRM, handler)
    assert listed(place) == before


def waits(*_: object) -> None:
    """Ends a command that reads for ever."""
    raise AssertionError("it waits")


def listed(folder: Path) -> dict[str, int]:
    """Every entry with its kind."""
    return {str(path): path.lstat().st_mode for path in sorted(folder.rglob("*"))}
