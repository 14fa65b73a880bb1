"""Hidden files and folders that are being written beside their targets.

Each is locked as long as the process that writes it lives, on any host and in any container. The
next process that writes the same target removes the leftovers of killed processes. On file systems
without locks they stay.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\.(?P<target>.+)\.[0-9]+-[0-9a-f]{8}\.(?P<kind>part|old)", re.DOTALL)


@contextmanager
def unfinished(target: Path, *, folder: bool = False, mode: int = 0o777) -> Iterator[Path]:
    """Make an empty hidden file or folder beside a target, and remove it at the end.

    Args:
        target: the path that it will be renamed to.
        mode: of the folder, less the process's umask.

    Raises:
        OSError: if it cannot be made.
    """
    remove_abandoned(target.parent, target.name)
    part, lock = _make(target, folder, mode)
    try:
        yield part
    finally:
        _remove(part)
        os.close(lock)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that only this user can read among the system's temporary files, and remove it
    at the end."""
    import tempfile

    target = Path(tempfile.gettempdir()) / "paretosoc"
    with unfinished(target, folder=True, mode=0o700) as folder:
        yield folder


def remove_abandoned(parent: Path, target: str | None = None) -> None:
    """Remove leftovers of killed processes in a folder, for one target or for all.

    A folder that was moved aside stays while its target is missing: it may be the only one.
    """
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for entry in entries if entry.name.endswith((".part", ".old"))]
    except OSError:
        return
    for name in names:
        match = _NAME.fullmatch(name)
        if match is None or target not in (None, match["target"]):
            continue
        if match["kind"] == "part" or os.path.lexists(parent / match["target"]):
            _remove_if_free(parent / name)


def hidden_name(target: Path, kind: str) -> Path:
    """Return a new name beside a target. ``kind`` is ``part``, or ``old`` for the file it
    replaces."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.{kind}")


def _make(target: Path, folder: bool, mode: int) -> tuple[Path, int]:
    """Return the path and the descriptor that holds its lock."""
    while True:
        part = hidden_name(target, "part")
        if folder:
            part.mkdir(mode)
        else:
            part.touch(exist_ok=False)
        try:
            lock = _open(part)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Another process took it for abandoned before it was locked, and removes it.
            os.close(lock)
            continue
        except OSError:
            # No locks here, so nobody removes it.
            return part, lock
        if os.path.lexists(part):
            return part, lock
        os.close(lock)


def _remove_if_free(path: Path) -> None:
    try:
        lock = _open(path)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    except OSError:
        return
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
