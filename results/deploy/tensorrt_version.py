"""The TensorRT version of a deployment: the versions that serve a board, and their targets."""

from __future__ import annotations

import re

from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.errors import ResultError

Version = tuple[int, ...]
STRONGLY_TYPED = 11
"""From this one on the types of a model's tensors are its number format, and ``--fp16`` and
``--int8`` are gone."""
_FIRST_DLA = {STRONGLY_TYPED: (11, 4, 1)}
"""By major version, the first release that builds for a DLA, if it is not the first of all."""


def tensorrt_version(deployment: Deployment, wanted: str | None = None) -> Version:
    """Return the version to write for.

    Args:
        deployment: the member. Its units were checked.
        wanted: ``11``, ``10.3``, ``11.4.1``. None is the newest that serves the board and, if
            members have several number formats, takes them as options.

    Raises:
        ResultError: if it is no version, takes no number formats as options, or builds for no DLA
            and the member uses one.
    """
    served = _served(deployment)
    if wanted is None:
        if deployment.problem.has_formats:
            served = tuple(entry for entry in served if entry[0] < STRONGLY_TYPED)
        return served[-1] if served else (STRONGLY_TYPED - 1,)
    version = _parsed(wanted)
    if deployment.problem.has_formats and version[0] >= STRONGLY_TYPED:
        raise ResultError(
            f"--tensorrt {wanted}: where members have several number formats a version below "
            f"{STRONGLY_TYPED} is required, which takes them as options of engines"
        )
    known = (entry for entry in served if entry[0] == version[0])
    first = next(known, _FIRST_DLA.get(version[0]))
    if first is not None and len(version) > 1 and version < first:
        cores = deployment.cores
        for dla in (unit for unit in deployment.units_used if cores.get(unit) is not None):
            raise ResultError(
                f"--tensorrt {wanted}: builds for no DLA (unit {dla!r}); "
                f"{'.'.join(map(str, first))} is the first {first[0]} that does"
            )
    return version


def version_notes(deployment: Deployment, version: Version) -> list[str]:
    """Return notes for the user on a version that does not serve the board."""
    majors = [entry[0] for entry in _served(deployment)]
    if not majors or version[0] in majors:
        return []
    return [
        f"TensorRT {version[0]} does not serve {deployment.platform.name}, which has TensorRT "
        f"{', '.join(map(str, majors))}: build these engines on another board."
    ]


def _served(deployment: Deployment) -> tuple[Version, ...]:
    return tuple(_parsed(text) for text in deployment.board.tensorrt_versions)


def _parsed(text: str) -> Version:
    if not re.fullmatch(r"[1-9][0-9]?(\.[0-9]{1,3}){0,3}", text):
        raise ResultError(f"--tensorrt: must be a version such as 11 or 10.3, got {text!r}")
    return tuple(int(number) for number in text.split("."))
