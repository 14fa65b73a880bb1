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
            help="Show one member: an index, or a name such as fastest, knee or lowest-energy.",
        ),
    ] = None,
    as_json: AsJson = False,
    all_rows: Annotated[
        bool,
        typer.Option("--all", help="Print all rows of long tables."),
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
