"""Folders that are written atomically."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from common.files import sync
from results.errors import ResultError


def write_whole_folder(
    folder: Path,
    fill: Callable[[Path], None],
    *,
    check: Callable[[], None],
    remove: Callable[[Path], None],
) -> None:
    """Has ``fill`` write to a hidden folder beside the target, which is then renamed: at no instant
    is there a half-written one. An older folder is moved aside first and removed at the end.

    Args:
        folder: the target; a link stays a link, and what it points to is replaced.
        fill: writes the files into the folder that it is given.
        check: raises where the target must not be replaced; it is called once more at the end,
            since ``fill`` takes its time.
        remove: removes what was replaced.

    Raises:
        ResultError: where the folder cannot be written.
    """
    try:
        _write(Path(os.path.realpath(folder)), fill, check, remove)
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written: {error.strerror}") from None


def _write(
    folder: Path,
    fill: Callable[[Path], None],
    check: Callable[[], None],
    remove: Callable[[Path], None],
) -> None:
    parent = folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    stem = f".{folder.name}.{os.getpid()}-{secrets.token_hex(4)}"
    part, old = parent / f"{stem}.part", parent / f"{stem}.old"
    part.mkdir()
    try:
        fill(part)
        for path in part.rglob("*"):
            sync(path)
        sync(part)
        check()
        if not folder.exists():
            part.rename(folder)
        else:
            folder.rename(old)
            try:
                part.rename(folder)
            except BaseException:
                old.rename(folder)
                raise
            remove(old)
        sync(parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_own_folder(folder: Path, is_ours: Callable[[Path], bool], *, overwrite: bool) -> None:
    """Accepts a folder that may be written: none yet, or with ``overwrite`` one of ours alone.

    Raises:
        ResultError: where it exists and ``overwrite`` is false, is no folder, cannot be read, or
            holds an entry that is not ours; names the first.
    """
    if not os.path.lexists(folder):
        return
    if not overwrite:
        raise ResultError(f"{folder}: exists already; --force replaces it")
    if not folder.is_dir():
        raise ResultError(f"{folder}: is not a folder")
    try:
        foreign = sorted(entry.name for entry in folder.iterdir() if not is_ours(entry))
    except OSError as error:
        raise ResultError(f"{folder}: cannot be read: {error.strerror}") from None
    if foreign:
        raise ResultError(f"{folder}: is not replaced, it holds {foreign[0]!r}, not of ours")


def remove_files(folder: Path, names: Collection[str]) -> None:
    """Removes our files, folders that they leave empty, and the folder; a foreign file keeps it."""
    try:
        for name in names:
            (folder / name).unlink(missing_ok=True)
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
        folder.rmdir()
    except OSError:
        return
