"""``--to ros2``: the launch file runs against stand-ins for launch and launch_ros."""

import json
import sys
from types import ModuleType

import pytest

from paretosoc.dse.cli.main import run

WORKLOAD = """
frames_per_second: 20
tasks:
  - {name: resize, times: [{unit: UNIT, ms: 1}]}
networks:
  - {network: squeezenet, name: front.camera, waits_for: [resize]}
  - {network: mobilenet_v2, name: 2nd, waits_for: [front.camera]}
"""


class Recorded:
    """An action of launch: keeps its arguments."""

    def __init__(self, *arguments, **options):
        self.arguments, self.options = arguments, options


def stand_ins(monkeypatch):
    names = {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument", "ExecuteProcess"],
        "launch.conditions": ["IfCondition"],
        "launch.substitutions": ["LaunchConfiguration"],
        "launch_ros": [],
        "launch_ros.actions": ["Node"],
    }
    for module, classes in names.items():
        made = ModuleType(module)
        for name in classes:
            setattr(made, name, type(name, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, module, made)


def launched(folder, monkeypatch):
    stand_ins(monkeypatch)
    file = folder / "networks.launch.py"
    scope = {"__file__": str(file), "__name__": "launch_file"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    (actions,) = scope["generate_launch_description"]().arguments
    return {
        kind: [action for action in actions if type(action).__name__ == kind]
        for kind in ("DeclareLaunchArgument", "ExecuteProcess", "Node")
    }


def deployed(tmp_path, platform, cpu, *more):
    (tmp_path / "w.yaml").write_text(WORKLOAD.replace("UNIT", cpu))
    command = ["explore", str(tmp_path / "w.yaml"), "-p", platform, "--groups", "3", *more]
    command += ["--max-evaluations", "60", "--max-nodes", "0", "-q", "-o", str(tmp_path / "run")]
    assert run(command) == 0
    out = tmp_path / "out"
    assert run(["deploy", str(tmp_path / "run"), "--to", "ros2", "-o", str(out), "--no-check"]) == 0
    return out, json.loads((out / "deployment.json").read_text())


@pytest.mark.parametrize(
    ("platform", "cpu", "suffix", "more"),
    [("jetson-agx-orin", "cpu", ".engine", ("--runtime", "none")), ("rk3588", "a76", ".onnx", ())],
)
def test_a_node_for_each_network_and_task(tmp_path, monkeypatch, platform, cpu, suffix, more):
    out, document = deployed(tmp_path, platform, cpu, *more)
    actions = launched(out, monkeypatch)
    names = [network["name"] for network in document["networks"]]
    nodes = actions["Node"]
    assert sorted(node.options["name"] for node in nodes) == [
        *("front_camera", "network_2nd", "resize")
    ]
    for node in nodes:
        (given,) = node.options["parameters"]
        assert all(isinstance(value, str | float | list) and value for value in given.values())
        network = document["networks"][names.index(given["network"])]
        assert given["units"] == [part["unit"] for part in network["segments"]]
        assert given["rate_hz"] == pytest.approx(20)
        files = given.get("files", [])
        assert bool(files) == (given["network"] != "resize")
        for file, part in zip(files, network["segments"], strict=False):
            assert file == str((out / part["file"]).with_suffix(suffix))
            assert (out / part["file"]).exists()
        assert given.get("waits_for", []) == {"2nd": ["front.camera"], "resize": []}.get(
            given["network"], ["resize"]
        )
    (clocks,) = actions["ExecuteProcess"]
    assert clocks.options["cmd"][-2:] == [str(out / "set_clocks.sh"), "--apply"]
    declared = [action.arguments[0] for action in actions["DeclareLaunchArgument"]]
    assert declared == ["package", "executable", "clocks"]


def test_every_node_has_a_name_of_its_own(tmp_path, monkeypatch):
    deployed(tmp_path, "jetson-agx-orin", "cpu")
    path = tmp_path / "out" / "deployment.json"
    document = json.loads(path.read_text())
    networks = [document["networks"][0] | {"name": name} for name in ("a.b", "a_b_2", "a-b", "ä")]
    path.write_text(json.dumps(document | {"networks": networks, "plan": None}))
    names = [node.options["name"] for node in launched(tmp_path / "out", monkeypatch)["Node"]]
    assert len(set(names)) == 4


@pytest.mark.parametrize(
    ("platform", "cpu", "noted"), [("rk3588", "a76", True), ("jetson-agx-orin", "cpu", False)]
)
def test_models_that_are_not_converted_are_noted(tmp_path, capsys, platform, cpu, noted):
    deployed(tmp_path, platform, cpu, "--runtime", "none")
    out = capsys.readouterr().out
    assert ("but the models keep their own number formats: convert them" in out) == noted
