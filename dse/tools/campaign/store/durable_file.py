"""Files that are there atomically, whatever ends the process or the power."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, data: bytes, part: Path) -> None:
    """Writes to ``part``, on the same file system, syncs it, and renames it to ``path``.

    Raises:
        OSError: where it cannot be written; then there is neither of the two.
    """
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not path.parent.exists():
            path.parent.mkdir(exist_ok=True)
            sync_folder(path.parent.parent)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
