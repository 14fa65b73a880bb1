"""What the commands of this folder print: figures for programs, or a table and sentences."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

GRID_WIDTH = 100
"""Columns of a table, whatever the terminal's: the pages in docs have it so."""


def parser(module: str, description: str) -> argparse.ArgumentParser:
    """A parser for ``python -m module`` that knows ``--json``."""
    options = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    options.add_argument("--json", action="store_true", help="print figures for programs")
    return options


def print_figures(figures: object) -> None:
    """As one JSON document."""
    print(json.dumps(figures, indent=2))


def print_table(grid: Table, lines: Iterable[str]) -> None:
    """The table, and the sentences below it."""
    Console(highlight=False, width=GRID_WIDTH).print(grid)
    console = Console(highlight=False)
    for line in lines:
        console.print(line)
