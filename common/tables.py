"""Tables, as CSV, for a terminal, or for LaTeX with the package booktabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Column:
    """A column of a table. ``header`` has two lines. ``loss``: the information lost without it, 0
    for a column that must stay."""

    name: str
    header: tuple[str, str]
    cells: tuple[str, ...]
    loss: int = 0
    right: bool = True

    @cached_property
    def width(self) -> int:
        """Return the width in characters on a terminal."""
        from rich.cells import cell_len

        return max(map(cell_len, (*self.header, *self.cells)))


def csv_text(headings: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([headings, *rows])
    return stream.getvalue()


def plain_table(*headings: str, no_wrap: bool = False, **style: Any) -> Table:
    """Return a table without a frame, in the style of all tables, with columns and no rows yet. A
    heading that begins with ``>`` is of a column of figures, which stand on the right."""
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


_APART = 3
"""Spaces between two columns of a table."""


def fitting_tables(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    labels: int,
    width: int,
    styles: Sequence[str | None],
    feet: Sequence[str] = (),
) -> list[Table | str]:
    """Return a table in as many parts, with a line after each, as it takes to cut nothing at this
    width. The first columns, ``labels`` in number, stand in each. ``styles``: of the rows.
    ``feet``: of the columns."""
    least = [
        max(len(line) for text in (heading.removeprefix(">"), *column) for line in text.split("\n"))
        for heading, *column in zip(headings, *rows, *([feet] if feet else []), strict=True)
    ]
    room = width + _APART - sum(_APART + each for each in least[:labels])
    blocks: list[list[int]] = [[]]
    used = 0
    for place in range(labels, len(headings)):
        if blocks[-1] and used + _APART + least[place] > room:
            blocks.append([])
            used = 0
        blocks[-1].append(place)
        used += _APART + least[place]
    parts: list[Table | str] = []
    for block in blocks:
        places = [*range(labels), *block]
        shown = (headings[place] for place in places)
        table = plain_table(*shown, no_wrap=True, show_footer=bool(feet))
        for column, place in zip(table.columns, places, strict=True):
            column.footer = feet[place] if feet else ""
        for row, style in zip(rows, styles, strict=True):
            table.add_row(*(row[place] for place in places), style=style)
        parts += [table, ""]
    return parts


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
    """
    first, *rest = [" & ".join(map(escaped, row)) + r" \\" for row in (head, *rows)]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", first, r"\midrule", *rest]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
