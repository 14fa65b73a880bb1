"""Where the tables are printed."""

from __future__ import annotations

from rich.console import Console

TABLE_WIDTH = 200


def wide_console() -> Console:
    """As wide as the tables where the output is no terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=TABLE_WIDTH)
