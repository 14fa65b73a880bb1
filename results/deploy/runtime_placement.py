"""Members and runtimes: whether a runtime can run a member, and what it calls each unit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.platforms.deployment import ExecutionProvider
from paretosoc.results.deploy.deployment import Deployment, as_target
from paretosoc.results.deploy.llama_script import language_models
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime


def unit_places(deployment: Deployment, runtime: Runtime) -> dict[str, Any]:
    """Return the runtime's own name of each unit that a member uses, if it can run the member as it
    is: a DLA core, a device, an :class:`ExecutionProvider`.

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
    return {unit: places[unit] for unit in deployment.units_used}


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


def provider_document(provider: ExecutionProvider) -> dict[str, Json]:
    """Return an entry of ``providers`` of ``deployment.json``."""
    return {
        "provider": provider.name,
        "options": dict(provider.options),
        "session": dict(provider.session),
    }


def place_notes(deployment: Deployment, runtime: Runtime, places: Mapping[str, Any]) -> list[str]:
    """Return notes for the user on the places of units: those that are alike, those that a platform
    does not name, and a language model beside RKNN."""
    title, notes = RUNTIMES[runtime].title, []
    if runtime is Runtime.RKNN:
        title = "ONNX Runtime"
    for place in dict.fromkeys(places.values()):
        units = [unit for unit, own in places.items() if own == place]
        if len(units) > 1:
            name = getattr(place, "name", place)
            notes.append(f"{', '.join(units)} are all {name}: {title} does not tell them apart.")
    named = dict(deployment.board.openvino)
    chosen = ", ".join(f"{name} is {place}" for name, place in places.items() if name not in named)
    if runtime is Runtime.OPENVINO and chosen:
        notes.append(
            f"{deployment.platform.name} names no device of OpenVINO for some units: {chosen}, for "
            "a machine that has such devices."
        )
    if runtime is Runtime.RKNN and language_models(deployment):
        notes.append(
            "RKLLM and RKNN cannot be loaded together: jobs of the NPU fail ('failed to submit'). "
            "The language model must run by RKNN, too."
        )
    return notes
