"""A deployment that is being written, and the interface of its formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paretosoc.common.files import file_in
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.deployment_document import EnginePlan
from paretosoc.results.errors import ResultError


@dataclass(frozen=True)
class Options:
    """Options of the user for the formats that take them."""

    conf: Path | None = None
    """The board's own nvpmodel file."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Network to the file of its model, if it is no longer where it was."""
    check: bool = True
    """Compare models with the uncut ones by ONNX Runtime."""
    tensorrt: str | None = None
    """Version of TensorRT; None: one that boards have."""


@dataclass(frozen=True)
class Job:
    """A deployment to be written to a folder."""

    deployment: Deployment
    folder: Path
    options: Options
    plan: EnginePlan | None
    """The order of the engines; None if networks have no common frame."""
    notes: list[str] = field(default_factory=list)
    """For the user, a line each."""

    def path_of(self, name: str) -> Path:
        """Return the path of a file below the folder, and make the folders that it needs.

        Raises:
            ResultError: if the name leads out of the folder.
        """
        path = file_in(self.folder, name, ResultError)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_text(self, name: str, text: str, *, executable: bool = False) -> None:
        """Write a file below the folder."""
        path = self.path_of(name)
        path.write_text(text, "utf-8")
        if executable:
            path.chmod(0o755)


@dataclass(frozen=True)
class Format:
    """A format of ``dse deploy --to``."""

    check: Callable[[Deployment], object]
    """Raises ResultError if the format cannot serve the platform or a unit."""
    write: Callable[[Job], Mapping[str, Any]]
    """Writes the files of a deployment that was checked, and returns the facts for
    ``deployment.json``: ``models``, ``modes``, ``providers``, ``devices``
    (:func:`results.deploy.deployment_document.deployment_to_document`)."""
    takes: frozenset[str] = frozenset()
    """Options of the command that it has a use for."""
    texts: Callable[[Sequence[Deployment]], list[str]] | None = None
    """The text for each member of one front, if the format is one text; raises as ``check``."""
    concerns: Callable[[Deployment], bool] = lambda _: True
    """Whether the member has what the format is for."""
