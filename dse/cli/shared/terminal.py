"""Views for a terminal, and wrapped lines with hanging indentation."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.status import Status

_BEGINNING = re.compile(r" *\S+  +| *")


def open_console() -> Console:
    """Return a console for standard output that prints texts as they are: a unit in brackets, such
    as ``[ms]``, and a part of a name between colons are no markup."""
    # Imported here: the help of most commands shows nothing else.
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def say(text: str) -> None:
    """Print a message beside the results: on standard error, after the program's name."""
    print(f"dse: {text}", file=sys.stderr)


def print_json(document: object) -> None:
    """Print JSON, as all commands do with ``--json``."""
    print(json.dumps(document, indent=2))


def show(*views: RenderableType) -> None:
    """Print views, one below the other."""
    console = open_console()
    for view in views:
        console.print(view)


def written(folder: Path) -> str:
    """Return a line about a folder and the files and folders in it."""
    return f"Written to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}"


def print_wrapped(lines: Iterable[str]) -> None:
    """Print lines at the terminal's width. The continuation of a line is indented to its text, past
    a first word that two or more spaces set apart."""
    from rich.console import Console

    width = Console().width
    for line in lines:
        print("\n".join(wrapped(line, width)))


def wrapped(line: str, width: int) -> list[str]:
    """Return one line as the lines of at most ``width`` characters that it takes, if its words
    allow."""
    beginning = _BEGINNING.match(line)
    indent = min(len(beginning.group()) if beginning else 0, width // 2)
    return textwrap.wrap(
        line,
        width=width,
        subsequent_indent=" " * (indent or 2),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def busy(text: str) -> Status:
    """Return a context that shows a text on a terminal while something takes long."""
    from rich.console import Console

    return Console(stderr=True).status(text)
