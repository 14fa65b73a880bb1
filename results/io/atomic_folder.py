"""Folders that are written atomically."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from paretosoc.common.files import file_in, sync
from paretosoc.common.options import overwriting
from paretosoc.common.unfinished import hidden_name, remove_abandoned, unfinished
from paretosoc.results.errors import ResultError


def write_whole_folder(
    folder: Path,
    fill: Callable[[Path], None],
    *,
    check: Callable[[], None],
    remove: Callable[[Path], None],
) -> None:
    """Call ``fill`` on a hidden folder beside the target, which is then renamed, so that there is
    never a half-written folder. An older folder is exchanged with it in one step (or moved aside,
    if the file system cannot do that) and removed at the end.

    Args:
        folder: the target. A link stays a link, and its target is replaced.
        fill: writes the files into the folder that it is given.
        check: raises if the target must not be replaced. It is called once more at the end, since
            ``fill`` takes its time.
        remove: removes the folder that was replaced.

    Raises:
        ResultError: if the folder cannot be written.
    """
    try:
        _write(Path(os.path.realpath(folder)), fill, check, remove)
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written: {error.strerror}") from None


def write_files(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    check: Callable[[], None],
    ours: Collection[str],
) -> None:
    """Write files as :func:`write_whole_folder` does. ``ours`` are the names that are removed from
    a folder that is replaced.

    Raises:
        ResultError: if the folder cannot be written.
    """

    def fill(part: Path) -> None:
        for name, data in files.items():
            file_in(part, name, ResultError).write_bytes(data)

    write_whole_folder(folder, fill, check=check, remove=lambda old: remove_files(old, ours))


def _write(
    folder: Path,
    fill: Callable[[Path], None],
    check: Callable[[], None],
    remove: Callable[[Path], None],
) -> None:
    parent = folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    with unfinished(folder, folder=True) as part:
        fill(part)
        for path in part.rglob("*"):
            sync(path)
        sync(part)
        check()
        if not folder.exists():
            part.rename(folder)
        elif _exchange(part, folder):
            remove(part)
        else:
            old = hidden_name(folder, "old")
            folder.rename(old)
            try:
                part.rename(folder)
            except BaseException:
                old.rename(folder)
                raise
            remove(old)
        sync(parent)


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step. Return False if the system or the file system cannot."""
    import ctypes

    swap = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if swap is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    return bool(swap(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def check_own_folder(folder: Path, is_ours: Callable[[Path], bool], *, overwrite: bool) -> None:
    """Accept a folder that may be written: none yet, or with ``overwrite`` one of ours alone.

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
        foreign = sorted(entry.name for entry in folder.iterdir() if not is_ours(entry))
    except OSError as error:
        raise ResultError(f"{folder}: cannot be read: {error.strerror}") from None
    if foreign:
        raise ResultError(
            f"{folder}: is not replaced, it holds {foreign[0]!r}, which this command does not write"
        )


@dataclass(frozen=True)
class FolderKind:
    """Folders that hold files of these names and nothing else. They are written as a whole."""

    names: frozenset[str]

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that :meth:`write` may write. Call it before the work.

        Raises:
            ResultError: if it exists and ``overwrite`` is false, or holds anything else.
        """
        check_own_folder(folder, lambda entry: entry.name in self.names, overwrite=overwrite)

    def write(self, folder: Path, files: Mapping[str, bytes], *, overwrite: bool = False) -> None:
        """Write all files, or none.

        Raises:
            ResultError: if the folder must not be replaced or cannot be written.
        """
        write_files(
            folder,
            files,
            check=lambda: self.check(folder, overwrite=overwrite),
            ours=self.names,
        )


def _check_writable(folder: Path) -> None:
    """Accept a folder that :func:`write_whole_folder` can make or replace, before the work."""
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


def remove_files(folder: Path, names: Collection[str]) -> None:
    """Remove our files, folders that they leave empty, and the folder. A foreign file keeps it."""
    try:
        for name in names:
            (folder / name).unlink(missing_ok=True)
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
        folder.rmdir()
    except OSError:
        return
