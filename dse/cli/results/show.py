"""``dse show``: the front in a result folder, or one of its members, as a table or as JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from dse.api.result import open_result
from dse.cli.shared.options import AsJson, Folder


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("show")(show)


def show(
    folder: Folder,
    member: Annotated[
        str | None,
        typer.Option(
            "--member",
            help="One member: its mapping, clocks and schedule. A number, or fastest, frugal, knee "
            "or another mark.",
        ),
    ] = None,
    as_json: AsJson = False,
    all_rows: Annotated[
        bool,
        typer.Option("--all", help="Every member of a long front, every row of a long schedule."),
    ] = False,
) -> None:
    """Show the front in a result folder, or one of its members."""

    result = open_result(folder)
    if as_json:
        print(
            json.dumps(
                result.rows() if member is None else result.member_document(member), indent=2
            )
        )
        return
    console = Console(highlight=False)
    views = (
        result.views(width=console.width, all_rows=all_rows)
        if member is None
        else result.member_views(member, all_rows=all_rows)
    )
    for view in views:
        console.print(view)
