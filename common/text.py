"""Texts for people (what terminals can print, the nearest names), and tables: as CSV, for a
terminal, or for LaTeX with the package booktabs."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


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
    ``1 group``, ``1,200 groups``.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def csv_text(headings: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([headings, *rows])
    return stream.getvalue()


def plain_table(*headings: str, no_wrap: bool = False, **style: Any) -> Table:
    """Return a table without a frame, in the style of all tables, with columns and no rows yet. A
    heading that begins with ``>`` is of a column of figures, which stand on the right.
    """
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", **style
    )
    for heading in headings:
        table.add_column(
            heading.removeprefix(">"),
            justify="right" if heading.startswith(">") else "left",
            no_wrap=no_wrap,
            overflow="ellipsis" if no_wrap else "fold",
        )
    return table


_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def tabular(columns: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a ``tabular``. Cells are escaped.

    Args:
        columns: such as ``lrr``.
        head: titles of the columns.
        rows: as many cells each.
    """
    first, *rest = [" & ".join(map(escaped, row)) + r" \\" for row in (head, *rows)]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", first, r"\midrule", *rest]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
