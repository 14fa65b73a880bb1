"""Folders that hold files of ours and nothing else, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from paretosoc.common.files import file_in, file_sha256, sync
from paretosoc.common.options import overwriting
from paretosoc.common.unfinished import hidden_name, remove_abandoned, unfinished
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse


class OwnFolder(ABC):
    """A kind of such folders."""

    @abstractmethod
    def files(self, folder: Path) -> Collection[str]:
        """Return the files of a folder that are ours, as paths below it. They need not be there."""

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that may be written: none yet, or with ``overwrite`` one of ours alone.
        Call it before the work.

        Raises:
            ResultError: if it exists and ``overwrite`` is false, is no folder, cannot be read or
                replaced, or holds an entry that is not ours. The message names the first.
        """
        if not os.path.lexists(folder):
            _check_writable(folder)
            return
        if not folder.is_dir():
            raise ResultError(f"{folder}: is not a folder")
        if not overwrite:
            raise ResultError(f"{folder}: exists already; {overwriting()} replaces it")
        _check_writable(folder)
        remove_abandoned(folder)
        try:
            own = self.files(folder)
            foreign = sorted(entry.name for entry in folder.iterdir() if not _is_own(entry, own))
        except OSError as error:
            raise ResultError(f"{folder}: cannot be read: {error.strerror}") from None
        if foreign:
            raise ResultError(
                f"{folder}: is not replaced, it holds {foreign[0]!r}, which this command does not "
                "write"
            )

    def write_whole(
        self, folder: Path, fill: Callable[[Path], None], *, overwrite: bool = False
    ) -> None:
        """Call ``fill`` on a hidden folder beside the target, which is then renamed, so that there
        is never a half-written folder. An older folder is exchanged with it in one step (or moved
        aside, if the file system cannot do that) and removed at the end.

        Args:
            folder: the target. A link stays a link, and its target is replaced.
            fill: writes the files into the folder that it is given.

        Raises:
            ResultError: as :meth:`check`, also after ``fill``, which takes its time, or if the
                folder cannot be written.
        """
        self.check(folder, overwrite=overwrite)
        target = Path(os.path.realpath(folder))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with unfinished(target, folder=True) as part:
                fill(part)
                for path in part.rglob("*"):
                    sync(path)
                sync(part)
                self.check(folder, overwrite=overwrite)
                if not target.exists():
                    part.rename(target)
                elif not _exchange(part, target):
                    old = hidden_name(target, "old")
                    target.rename(old)
                    try:
                        part.rename(target)
                    except BaseException:
                        old.rename(target)
                        raise
                    shutil.rmtree(old, ignore_errors=True)
                sync(target.parent)
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {error.strerror}") from None


def _is_own(entry: Path, own: Collection[str]) -> bool:
    """Return whether an entry of a folder is one of its own files, or a folder of such alone."""
    if not entry.is_dir() or entry.is_symlink():
        return entry.name in own and entry.is_file() and not entry.is_symlink()
    held = [path for path in entry.rglob("*") if path.is_symlink() or not path.is_dir()]
    return bool(held or any(name.startswith(f"{entry.name}/") for name in own)) and all(
        path.relative_to(entry.parent).as_posix() in own and not path.is_symlink() for path in held
    )


@dataclass(frozen=True)
class FolderKind(OwnFolder):
    """Folders that hold files of these names and nothing else."""

    names: frozenset[str]

    def files(self, folder: Path) -> frozenset[str]:
        """Return the names."""
        return self.names

    def write(self, folder: Path, files: Mapping[str, bytes], *, overwrite: bool = False) -> None:
        """Write all files, or none.

        Raises:
            ResultError: if the folder must not be replaced or cannot be written.
        """

        def fill(part: Path) -> None:
            for name, data in files.items():
                file_in(part, name, ResultError).write_bytes(data)

        self.write_whole(folder, fill, overwrite=overwrite)


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step. Return False if the system or the file system cannot."""
    import ctypes

    swap = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if swap is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    return bool(swap(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _check_writable(folder: Path) -> None:
    """Accept a folder that :meth:`OwnFolder.write_whole` can make or replace, before the work."""
    real = Path(os.path.realpath(folder))
    if os.path.ismount(real):
        raise ResultError(f"{folder}: cannot be replaced, a file system is mounted there")
    parent = next(path for path in real.parents if path.exists())
    if not parent.is_dir():
        raise ResultError(f"{folder}: cannot be written: {parent} is not a folder")
    for path in (real, parent) if real.exists() else (parent,):
        if not os.access(path, os.W_OK | os.X_OK):
            raise ResultError(f"{folder}: cannot be written: {path} is read-only for this user")
    try:
        # Some file systems, such as /proc, grant rights and yet hold no folder of ours.
        with unfinished(parent / real.relative_to(parent).parts[0], folder=True):
            pass
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written: {error.strerror}") from None


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
