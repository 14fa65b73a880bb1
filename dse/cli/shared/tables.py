"""Tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table


def plain_table() -> Table:
    """Return an empty table without a frame, in the style of all commands."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
