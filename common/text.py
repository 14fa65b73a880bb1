"""Texts of files that others wrote, made safe to print."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # Control characters except tab and line feed.
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Marks that turn the direction of a text.
    "\u2028\u2029"  # Line breaks that only some programs know.
    "\ud800-\udfff]"  # Halves of characters: no encoding can write them.
)


def printable(text: str) -> str:
    """The text without characters that a terminal would obey; lines and tabs stay."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)
