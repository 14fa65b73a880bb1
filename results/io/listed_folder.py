"""Folders with a JSON document that names all the other files. Written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from paretosoc.common.files import file_sha256
from paretosoc.results.errors import ResultError
from paretosoc.results.io.atomic_folder import check_own_folder, remove_files, write_whole_folder
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse


@dataclass(frozen=True)
class ListedFolder:
    """A kind of such folders."""

    document: str
    """Name of the document, which lists the others under ``files``, with their SHA-256."""
    format: str
    """``format`` of the document."""

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that :meth:`write` may write. Call it before the work.

        Raises:
            ResultError: if the folder exists and ``overwrite`` is false, or holds anything that its
                document does not name.
        """
        check_own_folder(folder, lambda entry: self._is_own(entry, folder), overwrite=overwrite)

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
            ResultError: as :meth:`check`, or if the folder cannot be written.
        """
        self.check(folder, overwrite=overwrite)

        def fill_whole(part: Path) -> None:
            describe = fill(part)
            names = {
                path.relative_to(part).as_posix(): file_sha256(path)
                for path in sorted(part.rglob("*"))
                if path.is_file()
            }
            (part / self.document).write_bytes(canonical_bytes(describe(names)))

        write_whole_folder(
            folder,
            fill_whole,
            check=lambda: self.check(folder, overwrite=overwrite),
            remove=lambda old: remove_files(old, self.files(old)),
        )

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

    def _is_own(self, entry: Path, folder: Path) -> bool:
        """Return whether a file is ours, or a folder holds ours alone."""
        own = self.files(folder)
        if entry.is_dir() and not entry.is_symlink():
            held = [path for path in entry.rglob("*") if path.is_symlink() or not path.is_dir()]
            return bool(held or any(name.startswith(f"{entry.name}/") for name in own)) and all(
                path.relative_to(folder).as_posix() in own for path in held
            )
        return entry.name in own


def _is_file_of(folder: Path, name: str) -> bool:
    """Return whether a name is a file below the folder, neither a folder nor reached by a link."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.is_absolute() or ".." in path.parts:
        return False
    steps = [folder / step for step in (path, *path.parents) if step.parts]
    return not (folder / path).is_dir() and not any(step.is_symlink() for step in steps)
