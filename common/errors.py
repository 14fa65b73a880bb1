"""The base of all errors that are the input's fault."""

from __future__ import annotations

from paretosoc.common.text import printable

MAX_MESSAGE = 4_000
"""Characters. Text from a file may be a million times as long."""


class DseError(Exception):
    """Input that cannot be used, or a request that cannot be met.

    The message names the field, the requirement and the value. It may quote files, so characters
    that a terminal would obey are replaced, and the middle of a long one is left out. Any other
    exception that leaves the program is a bug.
    """

    def __init__(self, message: str) -> None:
        text = printable(message)
        if len(text) > MAX_MESSAGE:
            half = MAX_MESSAGE // 2
            text = f"{text[:half]} ... {text[-half:]}"
        super().__init__(text)
