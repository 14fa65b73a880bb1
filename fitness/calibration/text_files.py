"""Text files that other tools wrote."""

from __future__ import annotations

from pathlib import Path

from platforms.errors import PlatformError

MAX_LOG_BYTES = 1 << 28
"""Logs of verbose tools grow; beyond this something else was given by mistake."""


def read_log(path: str | Path) -> str:
    """The text of a log; bytes that are no UTF-8 become replacement characters.

    Raises:
        PlatformError: where it cannot be read, or has more than ``MAX_LOG_BYTES``.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MAX_LOG_BYTES:
            raise PlatformError(f"{file}: must have at most {MAX_LOG_BYTES} bytes")
        return file.read_bytes().decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        if isinstance(error, PlatformError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PlatformError(f"{file}: cannot be read: {reason}") from None
