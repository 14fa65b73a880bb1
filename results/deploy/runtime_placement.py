"""Members and runtimes: whether a runtime can run a member, and which execution provider of ONNX
Runtime, or which device of OpenVINO, gets each unit's nodes."""

from __future__ import annotations

import shlex
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.platforms.deployment import ExecutionProvider
from paretosoc.results.deploy.deployment import Deployment, as_target
from paretosoc.results.deploy.llama_script import language_models
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime


def check_served(deployment: Deployment, runtime: Runtime) -> None:
    """Accept a member that a runtime can run as it is.

    Raises:
        ResultError: if the front was explored for another runtime, or the runtime does not serve a
            unit or a number format, or two units of one network at once.
    """
    rules, platform = RUNTIMES[runtime], deployment.platform
    option, pieces = as_written("runtime", runtime.value), f"{as_target('onnx')} has sub-models"
    explored = deployment.problem.runtime
    places = rules.places(platform)
    if not places:
        raise ResultError(
            f"{rules.title} cannot serve {platform.name}: the platform names no unit for it; "
            f"{pieces} for the tools of the chip's maker"
        )
    if explored not in (None, runtime.value):
        raise ResultError(
            f"this front was explored for {explored}, not for {runtime.value}; "
            f"{_explore_for(deployment, runtime)} explores for it"
        )
    rivals = rules.rivals(platform)
    used: dict[int, list[str]] = {}
    for segment in deployment.all_segments:
        unit, network = deployment.unit_name(segment), deployment.network_name(segment)
        if unit not in places:
            raise ResultError(
                f"{rules.title} cannot serve unit {unit!r} (network {network!r}, "
                f"{segment.groups}): it serves {', '.join(places)} (a search with {option} keeps "
                f"to these); {pieces} for any runtime"
            )
        for other in used.setdefault(segment.network, []):
            if other in rivals[unit]:
                raise ResultError(
                    f"{rules.title} cannot serve units {other!r} and {unit!r} in one network "
                    f"({network!r}); a search with {option} keeps to one; {pieces}"
                )
        used[segment.network].append(unit)
    formats = tuple(
        dict.fromkeys(
            unit.number_format or deployment.precision for unit in deployment.problem.units
        )
    )
    if (reason := rules.refusal(formats)) is not None:
        raise ResultError(reason)


def _explore_for(deployment: Deployment, runtime: Runtime) -> str:
    """Return the command of the search with another runtime, into another folder."""
    try:
        words = shlex.split(deployment.front.provenance.command)
    except ValueError:
        words = []
    option = ["--runtime", runtime.value]
    if words[:2] != ["dse", "explore"]:
        return f"'dse explore ... {' '.join(option)} -o FOLDER'"
    kept, skips = [], False
    for word in words:
        if skips or word.startswith(("--runtime=", "--output=", "--units=")):
            skips = False
        elif word in ("--runtime", "-o", "--output", "--units"):
            skips = True
        else:
            kept.append(word)
    return f"'{shlex.join([*kept, *option])} -o FOLDER'"


def unit_providers(deployment: Deployment) -> dict[str, ExecutionProvider]:
    """Return the execution provider of each unit that the member uses.

    Raises:
        ResultError: if ONNX Runtime cannot serve the member.
    """
    check_served(deployment, Runtime.ONNXRUNTIME)
    named = dict(deployment.board.onnxruntime)
    return {unit: named[unit] for unit in deployment.units_used}


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


def unit_engines(deployment: Deployment) -> dict[str, str]:
    """Return ``GPU`` or the DLA core (``DLA0``) of each unit that the member uses, for TensorRT."""
    cores = {unit: deployment.cores[unit] for unit in deployment.units_used}
    return {unit: "GPU" if core is None else f"DLA{core}" for unit, core in cores.items()}


def unit_devices(deployment: Deployment) -> tuple[dict[str, str], list[str]]:
    """Return OpenVINO's device of each unit that the member uses, and notes for the user. A unit
    without a device on the platform gets one by its kind, and a note says so.

    Raises:
        ResultError: if OpenVINO cannot serve the member.
    """
    check_served(deployment, Runtime.OPENVINO)
    platform, named = deployment.platform, dict(deployment.board.openvino)
    places = RUNTIMES[Runtime.OPENVINO].places(platform)
    used = {name: str(places[name]) for name in deployment.units_used}
    chosen = ", ".join(f"{name} is {used[name]}" for name in used if name not in named)
    if not chosen:
        return used, []
    note = (
        f"{platform.name} names no device of OpenVINO for some units: {chosen}, for a machine that "
        "has such devices."
    )
    return used, [note]


def unit_cores(deployment: Deployment) -> tuple[dict[str, str], list[str]]:
    """Return RKNN's core mask of each unit that the member uses, or ``CPU``, and notes for the
    user.

    Raises:
        ResultError: if RKNN cannot serve the member.
    """
    check_served(deployment, Runtime.RKNN)
    places = RUNTIMES[Runtime.RKNN].places(deployment.platform)
    note = (
        "RKLLM and RKNN cannot be loaded together: jobs of the NPU fail ('failed to submit'). The "
        "language model must run by RKNN, too."
    )
    notes = [note] if language_models(deployment) else []
    return {unit: str(places[unit]) for unit in deployment.units_used}, notes
