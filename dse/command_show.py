"""``dse show``: the front in a result folder, as a table or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.command_certify import claim_in_words

Folder = Annotated[Path, typer.Argument(help="A result folder, as 'dse explore' writes it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("show")(show)


def show(
    folder: Folder,
    as_json: AsJson = False,
    all_rows: Annotated[bool, typer.Option("--all", help="Every member of a long front.")] = False,
) -> None:
    """Show the front in a result folder."""
    from results.front_file import read_results
    from results.table import front_table, table_rows

    front = read_results(folder)
    if as_json:
        import json

        print(json.dumps(table_rows(front), indent=2))
        return
    from rich.console import Console

    console = Console()
    rows = {"max_rows": None} if all_rows else {}
    console.print(front_table(front, width=console.width, **rows))
    source = front.provenance
    console.print(
        f"{', '.join(network.name for network in front.problem.networks)} on {source.platform}: "
        f"{len(front.members)} members, {source.evaluations:,} design points in "
        f"{source.seconds:.1f} s by {source.engine}, seed {source.seed}, "
        f"stopped by {source.stopped_by}",
        highlight=False,
    )
    if front.certificate is not None:
        console.print(claim_in_words(front.certificate), highlight=False)
