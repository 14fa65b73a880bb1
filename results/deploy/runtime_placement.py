"""A member as a placement for a runtime: which execution provider of ONNX Runtime, or which device
of OpenVINO, gets each unit's nodes."""

from __future__ import annotations

from typing import Any

from paretosoc.platforms.deployment import ExecutionProvider
from paretosoc.results.deploy.deployment import Deployment, as_target, check_one_format
from paretosoc.results.errors import ResultError

ANNOTATION = "layer_ann"
"""Key of a node's metadata that ``session.layer_assignment_settings`` reads."""
_FIRST_IR = 10
"""The file format's version from which nodes have metadata."""


def unit_providers(deployment: Deployment) -> dict[str, ExecutionProvider]:
    """Return the execution provider of each unit that the member uses.

    Raises:
        ResultError: if number formats are chosen, a unit has none, or two units of one network are
            one provider with different options, since a session has one instance of a provider.
    """
    check_one_format(deployment, "onnxruntime")
    named = dict(deployment.board.onnxruntime)
    used: dict[str, ExecutionProvider] = {}
    chosen: dict[tuple[int, str], str] = {}
    for segment in deployment.all_segments:
        unit, network = deployment.unit_name(segment), deployment.network_name(segment)
        if unit not in named:
            raise ResultError(
                f"onnxruntime cannot serve unit {unit!r} (network {network!r}): "
                f"{deployment.platform.name} names no execution provider for it "
                f"(deployment.onnxruntime in its file); {as_target('onnx')} has sub-models"
            )
        provider = named[unit]
        other = chosen.setdefault((segment.network, provider.name), unit)
        if named[other] != provider:
            raise ResultError(
                f"onnxruntime cannot serve units {other!r} and {unit!r} in one network "
                f"({network!r}): a session has one {provider.name}, and they need "
                f"different options; {as_target('onnx')} has sub-models, one session each"
            )
        used[unit] = provider
    return used


def providers_document(deployment: Deployment) -> dict[str, Any]:
    """Return ``providers`` of ``deployment.json``."""
    return {
        unit: {
            "provider": provider.name,
            "options": dict(provider.options),
            "session": dict(provider.session),
        }
        for unit, provider in unit_providers(deployment).items()
    }


def annotate(model: Any, unit_of: dict[str, str]) -> None:
    """Write each node's unit into its metadata.

    Args:
        model: ``onnx.ModelProto``, changed in place.
        unit_of: unit by name of the node. Nodes that compute weights have none.
    """
    model.ir_version = max(model.ir_version, _FIRST_IR)
    for node in model.graph.node:
        if node.name in unit_of:
            node.metadata_props.add(key=ANNOTATION, value=unit_of[node.name])


_DEVICES = {"cpu": "CPU", "gpu": "GPU"}
"""Devices by kind, for units of a platform that names none. Other kinds have the NPU."""


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
