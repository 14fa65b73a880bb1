"""``dse platform``: what a chip can do, and how well each figure is known."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dse.cli.shared.options import AsJson
from dse.cli.shared.wrap import print_wrapped
from platforms.platform_file import load_platform
from platforms.platform_summary import platform_data, platform_lines


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("platform")(platform)


def platform(
    source: Annotated[
        str,
        typer.Argument(
            help="Platform: a name (see 'dse platforms') or a JSON file.", metavar="NAME|FILE"
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show a platform's clocks, units, power and measurements; sources with --json."""

    chip = load_platform(source)
    if as_json:
        print(json.dumps(platform_data(chip), indent=2))
        return

    print_wrapped(platform_lines(chip))
