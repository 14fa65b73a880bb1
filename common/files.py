"""Files as this program reads and replaces them."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from paretosoc.common.errors import DseError
from paretosoc.common.unfinished import unfinished

MAX_BYTES = 1 << 28
"""Larger documents and logs were given by mistake. Their parsed content takes several times the
memory."""


@contextmanager
def naming(
    place: object, error: type[DseError], of: type[Exception] | None = None
) -> Iterator[None]:
    """Return a context in which messages of errors of a class begin with a place, such as a file,
    unless that is empty. ``of``: the class that the errors have, if it is another one."""
    caught = error if of is None else of
    try:
        yield
    except caught as cause:
        raise error(f"{place}: {cause}" if place else str(cause)) from None


def read_file(path: str | Path, error: type[DseError], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file, a pipe or a device.

    Raises:
        DseError: of the class ``error``, if it cannot be read or is longer.
    """
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            # A file that is too large is not read.
            data = b"" if size > max_bytes else stream.read(size + 1)
            if size < len(data) <= max_bytes:
                # Pipes and devices do not know their size.
                data += stream.read(max_bytes + 1 - len(data))
    except OSError as cause:
        reason = cause.strerror or str(cause)
    except ValueError:
        reason = "its name has a character that no name can have"
    else:
        size = max(size, len(data))
        if size <= max_bytes:
            return data
        raise error(f"{path}: must have at most {max_bytes} bytes, got {size}")
    raise error(f"{path}: cannot be read: {reason}")


def file_sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises:
        OSError: if it cannot be read.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_replaceable(path: Path) -> bool:
    """Return whether there is a file to replace. Pipes, devices and folders are never replaced.

    Raises:
        OSError: if something else is there, or nothing can be. It names ``path``.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode):
        return True
    kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise OSError(errno.EINVAL, f"a file is required, got {kind}", str(path))


def file_in(folder: Path, name: str, error: type[DseError]) -> Path:
    """Return the path of a file that this program names in a folder of results.

    Such a folder may come from somebody else, so nothing below it is written through a link. The
    folder itself, and any file that a user names as an output, may be links: they are followed.

    Raises:
        DseError: of the class ``error``, if the file or a folder between the two is a link, or
            the name leads out of the folder.
    """
    path = folder / name
    try:
        if os.path.realpath(path) == f"{os.path.realpath(folder).rstrip(os.sep)}{os.sep}{name}":
            return path
    except ValueError:
        pass
    raise error(f"{path}: must be inside {folder}, got a link or a name that leads elsewhere")


def replace_file(path: Path, data: bytes, part: Path | None = None) -> None:
    """Write a file whole or not at all, even if the process is killed or the power fails. Missing
    folders are made.

    Args:
        path: the target. A link stays a link, and its target is replaced. A path that the user did
            not name comes from :func:`file_in`.
        part: the path that is written first, on the same file system, by default beside the target.

    Raises:
        OSError: if it cannot be written. It names ``path``, which is then unchanged.
    """
    target = Path(os.path.realpath(path))
    try:
        check_replaceable(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target) if part is None else nullcontext(part) as written:
            try:
                with written.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                written.replace(target)
            finally:
                written.unlink(missing_ok=True)
        sync(target.parent)
    except OSError as error:
        # The error of a write names no file, or the hidden one, which users do not know.
        error.filename, error.filename2 = str(path), None
        raise


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, last."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
