"""Which TensorRT a deployment is for: the versions that serve a board, and what they build for."""

from __future__ import annotations

import re

from results.deploy.deployment import Deployment
from results.errors import ResultError

Version = tuple[int, ...]
STRONGLY_TYPED = 11
"""From this one on the types of a model's tensors are its number format; ``--fp16`` and ``--int8``
are gone."""


def tensorrt_version(deployment: Deployment, wanted: str | None = None) -> Version:
    """The version to write for.

    Args:
        deployment: the member; its units were checked.
        wanted: ``11``, ``10.3``, ``11.4.1``; None for the newest that serves the board, and takes
            number formats as options where members have several.

    Raises:
        ResultError: where it is no version, takes no number formats as options, does not serve the
            board, or builds for no DLA and the member uses one.
    """
    platform = deployment.platform
    known = platform.deployment
    served = () if known is None else tuple(_parsed(text) for text in known.tensorrt_versions)
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
    first = next((entry for entry in served if entry[0] == version[0]), None)
    if served and first is None:
        names = ", ".join(str(entry[0]) for entry in served)
        raise ResultError(
            f"--tensorrt {wanted}: does not serve {platform.name}, which has TensorRT {names}"
        )
    if first is not None and len(version) > 1 and version < first:
        dla = _dla_used(deployment)
        if dla is not None:
            raise ResultError(
                f"--tensorrt {wanted}: builds for no DLA (unit {dla!r}); "
                f"{'.'.join(map(str, first))} is the first {first[0]} that does on "
                f"{platform.name}"
            )
    return version


def _parsed(text: str) -> Version:
    if not re.fullmatch(r"[1-9][0-9]?(\.[0-9]{1,3}){0,3}", text):
        raise ResultError(f"--tensorrt: must be a version such as 11 or 10.3, got {text!r}")
    return tuple(int(number) for number in text.split("."))


def _dla_used(deployment: Deployment) -> str | None:
    known = deployment.platform.deployment
    cores = {} if known is None else dict(known.tensorrt)
    names = [deployment.problem.units[u].unit_name for u in deployment.member.design.units.tolist()]
    return next((name for name in names if cores.get(name) is not None), None)
