"""What a client of the server may touch: names of the catalogue, and files in one folder."""

from __future__ import annotations

import json
from pathlib import Path

from dse.errors import WorkloadError

MAX_NETWORKS = 8
MAX_EVALUATIONS = 100_000
MAX_PROOF_S = 60.0
MAX_ROWS = 50


class Workspace:
    """A folder; every path of a client is relative to it and stays inside, links included."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise WorkloadError(f"{root}: there is no such folder")
        self.root = root.resolve()

    def path(self, text: str) -> Path:
        """A path inside the folder.

        Raises:
            WorkloadError: where it leads outside.
        """
        path = (self.root / text).resolve()
        if not path.is_relative_to(self.root) or path == self.root:
            raise WorkloadError(f"{text!r}: a path inside the server's folder is required")
        return path

    def network(self, text: str) -> str:
        """A name of the catalogue, ``NAME*COPIES``, or an ``.onnx`` file of the folder.

        Raises:
            WorkloadError: on a file outside, and on workload files, which name further files.
        """
        if text.endswith((".yaml", ".yml", ".json")):
            raise WorkloadError(f"network {text!r}: a name or an .onnx file is required")
        return str(self.path(text)) if _is_file(text, ".onnx") else text

    def platform(self, text: str) -> str:
        """A name, or a JSON file of the folder that extends nothing but a name.

        Raises:
            WorkloadError: on a file outside, or one that extends a file.
        """
        if not _is_file(text, ".json"):
            return text
        path = self.path(text)
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise WorkloadError(f"platform {text!r}: {error}") from error
        base = document.get("extends") if isinstance(document, dict) else None
        if base is not None and _is_file(str(base), ".json"):
            raise WorkloadError(f"platform {text!r}: extends must be a name, got {base!r}")
        return str(path)


def _is_file(text: str, suffix: str) -> bool:
    return text.endswith(suffix) or "/" in text or "\\" in text
