"""Start a node for each network and task of deployment.json, with its plan as parameters.

    ros2 launch ./networks.launch.py package:=my_nodes executable:=run_engines [clocks:=true]

Every node is the executable, called after its network. Its parameters: ``network``, the name in
deployment.json; ``units`` and ``files``, one for each segment in order (the ONNX file, or the
engine that engines.sh makes of it; none for a task); ``rate_hz``, if the plan has a period;
``waits_for``, networks whose results it reads. ``clocks`` sets the planned clocks first, as root:
``sudo sh set_clocks.sh --restore`` puts the old ones back. Not run on a board yet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

FOLDER = Path(__file__).resolve().parent


def parameters(document: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the parameters of a network's node. Empty ones are left out: ROS has no empty list."""
    network, plan = document["networks"][n], document["plan"] or {"runs": [], "period_ns": None}
    suffix = ".engine" if (FOLDER / "engines.sh").exists() else ".onnx"
    own = [run for run in plan["runs"] if run["network"] == n]
    read = {plan["runs"][k]["network"] for run in own for k in run["waits_for"]} - {n}
    found: dict[str, Any] = {
        "network": network["name"],
        "units": [part["unit"] for part in network["segments"]],
        "files": [
            str((FOLDER / part["file"]).with_suffix(suffix))
            for part in network["segments"]
            if "file" in part
        ],
        "waits_for": [document["networks"][m]["name"] for m in sorted(read)],
    }
    if plan["period_ns"]:
        repeats = len({run["repeat"] for run in own})
        found["rate_hz"] = 1e9 * repeats / plan["period_ns"]
    return {key: value for key, value in found.items() if value}


def node_names(document: Mapping[str, Any]) -> list[str]:
    """Return a name for each network that ROS takes: letters, digits and underscores."""
    names: list[str] = []
    for network in document["networks"]:
        name = re.sub(r"\W", "_", network["name"], flags=re.ASCII)
        name = f"network_{name}" if name[:1].isdigit() else name
        while name in names:
            name = f"{name}_{len(names)}"
        names.append(name)
    return names


def generate_launch_description() -> LaunchDescription:
    """Return what ``ros2 launch`` starts."""
    document = json.loads((FOLDER / "deployment.json").read_text("utf-8"))
    actions = [
        DeclareLaunchArgument("package", description="Package of your node."),
        DeclareLaunchArgument("executable", description="Executable of your node."),
        DeclareLaunchArgument("clocks", default_value="false", description="Set clocks first."),
    ]
    if (FOLDER / "set_clocks.sh").exists():
        command = ["sudo", "sh", str(FOLDER / "set_clocks.sh"), "--apply"]
        asked = IfCondition(LaunchConfiguration("clocks"))
        actions.append(ExecuteProcess(cmd=command, output="screen", condition=asked))
    for n, name in enumerate(node_names(document)):
        actions.append(
            Node(
                package=LaunchConfiguration("package"),
                executable=LaunchConfiguration("executable"),
                name=name,
                parameters=[parameters(document, n)],
                output="screen",
            )
        )
    return LaunchDescription(actions)
