"""Folders with a JSON document that names all the other files. Written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from paretosoc.common.files import file_sha256
from paretosoc.results.errors import ResultError
from paretosoc.results.io.atomic_folder import OwnFolder
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse


@dataclass(frozen=True)
class ListedFolder(OwnFolder):
    """A kind of such folders."""

    document: str
    """Name of the document, which lists the others under ``files``, with their SHA-256."""
    format: str
    """``format`` of the document."""

    def write(
        self,
        folder: Path,
        fill: Callable[[Path], Callable[[dict[str, str]], dict[str, Json]]],
        *,
        overwrite: bool = False,
    ) -> None:
        """Write a folder.

        Args:
            folder: the target. An older one is replaced with ``overwrite``.
            fill: writes the files into the folder that it is given, and returns a function from
                their names and SHA-256s to the content of the document.

        Raises:
            ResultError: as :meth:`write_whole`.
        """

        def fill_whole(part: Path) -> None:
            describe = fill(part)
            names = {
                path.relative_to(part).as_posix(): file_sha256(path)
                for path in sorted(part.rglob("*"))
                if path.is_file()
            }
            (part / self.document).write_bytes(canonical_bytes(describe(names)))

        self.write_whole(folder, fill_whole, overwrite=overwrite)

    def files(self, folder: Path) -> set[str]:
        """Return the names that the folder's document lists, itself included. There are none if the
        folder has no such file.

        Files that were made beside these are left alone.
        """
        path = folder / self.document
        if not path.is_file() or path.is_symlink():
            return set()
        try:
            document = parse(path.read_bytes())
        except ResultError:
            return set()
        if not isinstance(document, dict) or document.get("format") != self.format:
            return set()
        files = document.get("files")
        entries = files if isinstance(files, list) else []
        names = {entry.get("name") for entry in entries if isinstance(entry, dict)}
        return {self.document} | {n for n in names if isinstance(n, str) and _is_file_of(folder, n)}


def _is_file_of(folder: Path, name: str) -> bool:
    """Return whether a name is a file below the folder, neither a folder nor reached by a link."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.is_absolute() or ".." in path.parts:
        return False
    steps = [folder / step for step in (path, *path.parents) if step.parts]
    return not (folder / path).is_dir() and not any(step.is_symlink() for step in steps)
