"""The base of all errors that are the input's fault."""

from __future__ import annotations

from common.text import printable


class DseError(Exception):
    """Input that cannot be used, or a request that cannot be met.

    The message names the field, what was required and what came. It may quote files, so characters
    that a terminal would obey are replaced. Any other exception that leaves the program is a bug.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))
