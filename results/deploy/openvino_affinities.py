"""A member as affinities for OpenVINO: which device gets each unit's operations."""

from __future__ import annotations

from importlib.resources import files

from results.deploy.deployment import Deployment, check_one_format
from results.errors import ResultError


def unit_devices(deployment: Deployment) -> dict[str, str]:
    """OpenVINO's device of each unit that the member uses.

    Raises:
        ResultError: where number formats are chosen, or a unit has none.
    """
    check_one_format(deployment, "openvino")
    known = deployment.platform.deployment
    named = {} if known is None else dict(known.openvino)
    used: dict[str, str] = {}
    for n, network in enumerate(deployment.problem.networks):
        for segment in deployment.segments(n):
            unit = deployment.problem.units[segment.unit].unit_name
            if unit not in named:
                raise ResultError(
                    f"openvino cannot serve unit {unit!r} (network {network.name!r}): "
                    f"{deployment.platform.name} names no device for it (deployment.openvino in "
                    "its file); --to onnx has sub-models"
                )
            used[unit] = named[unit]
    return used


def affinity_script() -> str:
    """``run.py``; it reads all names from ``deployment.json``."""
    return (files("results.deploy.scripts") / "run_affinities.py").read_text("utf-8")
