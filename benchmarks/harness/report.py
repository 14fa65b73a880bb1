"""The option ``--json`` of benchmarks, and a table for people or a document for programs.

A benchmark describes its columns once. Each row maps the columns' keys to plain values, which the
document carries unrounded.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeVar

_Case = TypeVar("_Case")
Value = str | int | float | bool | None
WIDE = 10_000
"""Characters in a line of a file, as no terminal sets a limit."""


@dataclass(frozen=True)
class Column:
    """A column with its ``key`` in the document.

    The table has ``title``, and the value in ``form`` (a format specification such as ``,.0f``),
    numbers on the right, unless the column is only in the document.
    """

    key: str
    title: str
    form: str = ""
    in_table: bool = True


def parser(module: str, description: str) -> argparse.ArgumentParser:
    """Return a parser for ``python -m module`` that knows ``--json``."""
    result = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    result.add_argument("--json", action="store_true", help="print figures for programs")
    return result


def tabulate(
    module: str,
    title: str,
    columns: Sequence[Column],
    cases: Sequence[_Case],
    measure: Callable[[_Case, int], Mapping[str, Value]],
    budget: tuple[str, int],
    arguments: Sequence[str] | None = None,
    *,
    quick: int | None = None,
) -> None:
    """Run a benchmark whose table has a row per case. Rows are also lines on stderr, each as soon
    as it is known.

    Args:
        module: the benchmark's name after ``python -m``.
        measure: returns the row of a case, for a case and the budget.
        budget: name and default of the option that says how much is done for a case.
        arguments: of the command line, by default the process's.
        quick: number of cases, the first ones, that ``--quick`` leaves. None: there is no such
            option.
    """
    name, default = budget
    options = parser(module, f"{title}.")
    options.add_argument("--markdown", action="store_true", help="print Markdown")
    options.add_argument(f"--{name}", type=int, default=default, help="of each [%(default)s]")
    if quick is not None:
        options.add_argument("--quick", action="store_true", help=f"the first {quick} cases only")
    chosen = options.parse_args(arguments)
    rows: list[Mapping[str, Value]] = []
    chosen_cases = cases[:quick] if quick is not None and chosen.quick else cases
    for case in chosen_cases:
        row = measure(case, getattr(chosen, name))
        rows.append(row)
        cells = [f"{column.title} {_cell(row[column.key], column.form)}" for column in columns]
        print(f"{len(rows)}/{len(chosen_cases)}: {', '.join(cells)}", file=sys.stderr, flush=True)
    show(title, columns, rows, as_json=chosen.json, as_markdown=chosen.markdown)


def show(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Value]],
    *,
    as_json: bool,
    as_markdown: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Print the rows as a table with ``notes`` below it, as Markdown, or as one JSON document.

    In a terminal the table is as wide as that, elsewhere as wide as it needs.

    Raises:
        KeyError: if a row lacks a column.
    """
    if as_json:
        document = {
            "benchmark": title,
            "machine": machine(),
            "columns": {column.key: column.title for column in columns},
            "rows": [{column.key: row[column.key] for column in columns} for row in rows],
            "notes": list(notes),
        }
        json.dump(document, sys.stdout, indent=1)
        print()
        return
    if as_markdown:
        print(_markdown(columns, rows))
        for note in notes:
            print(f"\n{note}")
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    shown = [column for column in columns if column.in_table]
    for column in shown:
        numeric = all(isinstance(row[column.key], int | float | None) for row in rows)
        table.add_column(column.title, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(escape(_cell(row[column.key], column.form)) for column in shown))
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    console.print(table)
    for note in notes:
        console.print(note, highlight=False, markup=False)


def _markdown(columns: Sequence[Column], rows: Sequence[Mapping[str, Value]]) -> str:
    shown = [column for column in columns if column.in_table]
    lines = [[column.title for column in shown], ["---"] * len(shown)]
    lines += [[_cell(row[column.key], column.form) for column in shown] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> dict[str, str]:
    """Return the properties of the machine that figures depend on besides the code."""
    return {
        "processor": _processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba")},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _cell(value: Value, form: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format(value, form)
