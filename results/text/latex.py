"""Tables for LaTeX, with the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

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
