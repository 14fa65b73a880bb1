"""Access of a client of the server: names of the catalogue, and files in one folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paretosoc.common.text import has_control_characters
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import read_input
from paretosoc.dse.workload.workload import SUFFIXES, find_network
from paretosoc.platforms.io.exact_json import parse_exact
from paretosoc.platforms.io.platform_file import platform_names
from paretosoc.sdf.formats import is_graph_file

MAX_NETWORKS = 8
MAX_PATH_BYTES = 200
"""File systems take 255 for a name; ours have endings, too."""
MAX_EVALUATIONS = 100_000
MAX_PROOF_S = 60.0
MAX_ROWS = 50
MAX_STARTED = 8


class Workspace:
    """A folder. Every path of a client is relative to it and stays inside, links included."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise WorkloadError(f"{root}: there is no such folder")
        self.root = root.resolve()

    def path(self, text: str) -> Path:
        """Return a path inside the folder.

        Raises:
            WorkloadError: if it leads outside.
        """
        if not has_control_characters(text) and len(os.fsencode(text)) <= MAX_PATH_BYTES:
            path = (self.root / text).resolve()
            if path != self.root and path.is_relative_to(self.root):
                return path
        raise WorkloadError(f"{text!r}: a path inside the server's folder is required")

    def result(self, text: str) -> Path:
        """Return a folder inside the workspace whose files are inside, too.

        Raises:
            WorkloadError: if it or a link in it leads outside.
        """
        folder = self.path(text)
        for entry in folder.iterdir() if folder.is_dir() else ():
            self.path(f"{text}/{entry.name}")
        return folder

    def network(self, text: str) -> str:
        """Return a name of the catalogue, or an ``.onnx`` or ``.xml`` file of the folder, each
        also ``*COPIES``.

        Raises:
            WorkloadError: on a file outside, and on workload files, which name further files.
        """

        def locate(file: str) -> str:
            if file.endswith(SUFFIXES):
                raise WorkloadError(
                    f"network {file!r}: a name of the catalogue, or an .onnx or .xml file of the "
                    "server's folder is required; workload files are not taken"
                )
            return str(self.path(file)) if file.endswith(".onnx") or is_graph_file(file) else ""

        source, copies = find_network(text, locate)
        return f"{source}*{copies}"

    def platform(self, text: str) -> str:
        """Return a name, or a JSON file of the folder that extends nothing but names.

        Raises:
            WorkloadError: on a file outside, or one that extends a file or a unit of one.
        """
        if text in platform_names():
            return text
        if not text.endswith(".json"):
            names = ", ".join(platform_names())
            raise WorkloadError(f"platform {text!r}: {names} or a .json file is required")
        path = self.path(text)
        document = parse_exact(read_input(path), text)
        content: dict[str, Any] = document if isinstance(document, dict) else {}
        units = content.get("units", ())
        # A unit may extend one of the same platform by its name alone.
        others = [
            str(unit.get("extends")).rpartition(":")[0] or None
            for unit in (units if isinstance(units, list) else ())
            if isinstance(unit, dict)
        ]
        for base in (content.get("extends"), *others):
            if base is not None and base not in platform_names():
                raise WorkloadError(
                    f"platform {text!r}: extends must be a name, or NAME:UNIT of one, got {base!r}"
                )
        return str(path)
