"""Run the commands whose figures the README and the pages name, and store their output.

Usage: ``python -m benchmarks.figures [--check] [NAME ...]``. Without names all are run, which takes
an hour. ``--check`` runs nothing. At the end every figure of a page that is not the stored one is
printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures.commands import BY_NAME, COMMANDS, FOLDER, ROOT
from benchmarks.figures.pages import PAGES, differences, marks_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, store, compare."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.figures", description="Figures of pages, and their commands."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BY_NAME)}")
    parser.add_argument("--check", action="store_true", help="compare with what is stored")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - BY_NAME.keys()):
        parser.error(f"no command is called {', '.join(unknown)}")
    FOLDER.mkdir(exist_ok=True)
    for command in () if options.check else COMMANDS:
        if not options.names or command.name in options.names:
            print(command.line, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                output = command.run(Path(folder))
            command.file.write_text(f"$ {command.line}\n{output}", "utf-8")
    found = []
    for page in PAGES:
        for mark in marks_of(page):
            try:
                differing = differences(mark, lambda name: BY_NAME[name].stored())
            except ValueError as error:
                differing = [str(error)]
            found += [f"{page.relative_to(ROOT)}: {difference}" for difference in differing]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
