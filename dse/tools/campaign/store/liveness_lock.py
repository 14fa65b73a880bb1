"""Locks of the processes that work on a store: each holds the lock of a file of its own while it
lives.

The kernel lets go of the lock when the process ends, however it ends, so there is no lease to wait
for. SQLite's WAL needs all processes of a store on one machine anyway.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import socket
from pathlib import Path


class Owner:
    """Proof that this process is alive. ``name`` is unique."""

    def __init__(self, folder: Path) -> None:
        """Make ``folder/NAME.lock`` and lock it.

        Raises:
            OSError: if the file cannot be made.
        """
        self.name = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"
        self.path = folder / f"{self.name}.lock"
        # Locked before it has its name: no process must take it for one whose owner has ended.
        unnamed = folder / f".{self.name}"
        self._descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        unnamed.rename(self.path)

    def close(self) -> None:
        """Let go of it."""
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_alive(folder: Path, name: str) -> bool:
    """Return whether the process of that name holds its lock."""
    try:
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def forget_dead(folder: Path) -> None:
    """Remove the files of processes that have ended."""
    for path in folder.glob("*.lock"):
        if not is_alive(folder, path.stem):
            path.unlink(missing_ok=True)
    for path in folder.glob(".*"):
        # Made, but not named yet: its process is about to do so, or was killed before.
        process = re.search(r"-([0-9]{1,9})-[0-9a-f]+$", path.name)
        try:
            os.kill(int(process[1]) if process else os.getpid(), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except PermissionError:
            # It runs, as somebody else.
            continue
