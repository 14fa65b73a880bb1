"""Texts of files that others wrote, made safe to print, hints at names, and numbers with nouns."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # Control characters except tab and line feed.
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Marks that turn the direction of a text.
    "\u2028\u2029"  # Line breaks that only some programs know.
    "\ud800-\udfff"  # Halves of characters: no encoding can write them.
)
_IN_LINES = re.compile(f"[{_UNSAFE}]")
_IN_ONE_LINE = re.compile(f"[\t\n{_UNSAFE}]")
_PLACE = re.compile(
    r"(\[ONNXRuntimeError\] : \d+ : \w+ : )?(Load model from .*? failed: ?)?"
    r"(/\S+\.(cc|h):\d+ .*?\): )?(Type Error: )?"
)
"""Text that ONNX Runtime writes before a reason: its own files and temporary ones of ours."""


def printable(text: str) -> str:
    """Return the text without characters that a terminal would obey. Line breaks and tabs stay."""
    return _IN_LINES.sub("\N{REPLACEMENT CHARACTER}", text)


def has_control_characters(text: str) -> bool:
    """Return whether a text for a single line holds any such character, line breaks included.

    Every reader of a document refuses these, so that names can be printed, drawn and written to
    scripts as they are.
    """
    return _IN_ONE_LINE.search(text) is not None


def shortened(text: str) -> str:
    """Return at most 40 characters of a text, for a message."""
    return text if len(text) <= 40 else text[:37] + "..."


def did_you_mean(
    name: str,
    known: Iterable[str],
    otherwise: str | None = None,
    *,
    most: int = 2,
    cutoff: float = 0.6,
) -> str:
    """Return the known names that are nearest to an unknown one, as a question.

    If none is near, return ``otherwise``, by default the list of all.
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=most, cutoff=cutoff)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(names)}" if otherwise is None else otherwise


def reason_of(error: Exception) -> str:
    """Return a library's message of an error in one line, or the error's name."""
    lines = str(error).strip().splitlines()
    return _PLACE.sub("", lines[0], count=1) if lines else type(error).__name__


def pluralize(count: int, noun: str, plural: str | None = None) -> str:
    """Return the number, thousands apart, and the noun, its plural with an ``s`` if not given:
    ``1 group``, ``1,200 groups``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
