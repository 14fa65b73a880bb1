"""Names of the model files of a deployment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paretosoc.results.deploy.deployment import Deployment


@dataclass(frozen=True)
class NetworkFiles:
    """The ONNX files of one network of a deployment."""

    whole: str
    """The network in one piece, its nodes with the names of the layers."""
    segments: tuple[str, ...]
    """One for each segment, or a copy of the model if there is one segment."""


def network_files(deployment: Deployment) -> tuple[NetworkFiles, ...]:
    """Return the file names of each network: letters, digits and ``_.+-`` only, distinct without
    their extension."""
    taken: set[str] = set()
    files = []
    for n, network in enumerate(deployment.problem.networks):
        stem = re.sub(r"[^A-Za-z0-9_.+-]", "_", network.name).lstrip("-.") or "network"
        name, copy = stem, 2
        while name in taken:
            name, copy = f"{stem}_{copy}", copy + 1
        taken.add(name)
        segments = deployment.segments(n)
        model_name = f"{name}.onnx"
        # A number format stands behind its unit: net.0.gpu.int8.onnx.
        units = [
            deployment.problem.units[segment.unit].name.replace(":", ".") for segment in segments
        ]
        files.append(
            NetworkFiles(
                model_name,
                (model_name,)
                if len(segments) == 1
                else tuple(f"{name}.{k}.{unit}.onnx" for k, unit in enumerate(units)),
            )
        )
    return tuple(files)
