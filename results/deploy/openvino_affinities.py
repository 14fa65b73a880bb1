"""A member as affinities for OpenVINO: which device gets each unit's operations."""

from __future__ import annotations

from paretosoc.results.deploy.deployment import Deployment, check_one_format
from paretosoc.results.errors import ResultError

_DEVICES = {"cpu": "CPU", "gpu": "GPU"}
"""Devices by kind, for units of a platform that names none. Other kinds have the NPU."""


def check_openvino(deployment: Deployment) -> None:
    """Accept a member if its units have a device on its platform.

    Raises:
        ResultError: if number formats are chosen, or a unit has none.
    """
    check_one_format(deployment, "openvino")
    for unit in deployment.units_used:
        if unit not in dict(deployment.board.openvino):
            raise ResultError(
                f"openvino cannot serve unit {unit!r}: {deployment.platform.name} names no device "
                "for it (deployment.openvino in its file)"
            )


def unit_devices(deployment: Deployment) -> tuple[dict[str, str], list[str]]:
    """Return OpenVINO's device of each unit that the member uses, and notes for the user. A unit
    without a device on the platform gets one by its kind, and a note says so.

    Raises:
        ResultError: if number formats are chosen.
    """
    check_one_format(deployment, "openvino")
    platform, named = deployment.platform, dict(deployment.board.openvino)
    kinds = {name: platform.unit_by_name[name].kind for name in deployment.units_used}
    used = {name: named.get(name, _DEVICES.get(kind, "NPU")) for name, kind in kinds.items()}
    chosen = ", ".join(f"{name} is {used[name]}" for name in used if name not in named)
    if not chosen:
        return used, []
    note = (
        f"{platform.name} names no device of OpenVINO for some units: {chosen}, for a machine that "
        "has such devices."
    )
    return used, [note]
