"""Files that a format has written, with its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paretosoc.common.files import file_in
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.results.deploy.nvpmodel_section import ModeCost
from paretosoc.results.errors import ResultError


@dataclass(frozen=True)
class Options:
    """Options of the user for the formats that take them."""

    conf: Path | None = None
    """The board's own nvpmodel file."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Network to the file of its model, where it is no longer where it was."""
    check: bool = True
    """Compare models with the uncut ones by ONNX Runtime."""
    tensorrt: str | None = None
    """Version of TensorRT; None for the newest that serves the board."""


@dataclass(frozen=True)
class Job:
    """A deployment to be written to a folder."""

    deployment: Deployment
    folder: Path
    options: Options

    def path_of(self, name: str) -> Path:
        """Return the path of a file below the folder, and make the folders that it needs.

        Raises:
            ResultError: if the name leads out of the folder.
        """
        path = file_in(self.folder, name, ResultError)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_text(self, name: str, text: str, *, executable: bool = False) -> None:
        """Writes a file below the folder."""
        path = self.path_of(name)
        path.write_text(text, "utf-8")
        if executable:
            path.chmod(0o755)


@dataclass(frozen=True)
class Written:
    """Files that a format has written, with its notes."""

    notes: tuple[str, ...] = ()
    """For the user, a line each."""
    models: tuple[DeployedModel, ...] | None = None
    """Of each network."""
    modes: tuple[ModeCost, ...] | None = None
    """What the board's own power modes cost."""
    providers: Mapping[str, Any] | None = None
    """Execution provider of each unit."""
    devices: Mapping[str, Any] | None = None
    """OpenVINO's device of each unit."""
