"""Files as every reader of this program opens them."""

from __future__ import annotations

import os
from pathlib import Path

from common.errors import DseError

MAX_BYTES = 1 << 28
"""Larger documents and logs were given by mistake; what is made of their text takes several times
the memory."""


def read_file(path: str | Path, error: type[DseError], max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file, a pipe or a device.

    Raises:
        DseError: of the class ``error``, where it cannot be read or is longer.
    """
    try:
        with open(path, "rb") as stream:
            size = min(os.fstat(stream.fileno()).st_size, max_bytes)
            data = stream.read(size + 1)
            if size < len(data) <= max_bytes:
                # Pipes and devices do not know their size.
                data += stream.read(max_bytes + 1 - len(data))
    except OSError as cause:
        reason = cause.strerror or str(cause)
    except ValueError:
        reason = "its name has a character that no name can have"
    else:
        if len(data) <= max_bytes:
            return data
        raise error(f"{path}: must have at most {max_bytes} bytes")
    raise error(f"{path}: cannot be read: {reason}")
