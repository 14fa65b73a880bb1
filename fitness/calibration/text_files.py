"""Text files that other tools wrote."""

from __future__ import annotations

from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.common.text import printable
from paretosoc.platforms.errors import PlatformError


def read_log(path: str | Path) -> str:
    """The text of a log; bytes that are no UTF-8, and control characters, become replacement
    characters.

    Raises:
        PlatformError: where it cannot be read, or is too long.
    """
    text = read_file(path, PlatformError).decode("utf-8-sig", "replace")
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"))
