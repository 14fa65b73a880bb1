"""``dse report``: a result folder as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.command_options import Folder, Force


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("report")(report)


def report(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page. [default: DIR/report.html, replaced]"),
    ] = None,
    force: Force = False,
) -> None:
    """Write the front, its schedules and its proof as one page that needs no network."""
    from dse.output_file import check_output_file, write_output_file
    from results.front_file import REPORT_FILE, read_costs, read_results
    from results.report_page import report_html

    front = read_results(folder)
    path = folder / REPORT_FILE if output is None else output
    check_output_file(
        path, option="--output", overwrite=force or output is None, suffixes=(".html",)
    )
    page = report_html(front, read_costs(folder, front.problem)).encode()
    write_output_file(path, page)
    print(f"Written to {path}: {len(front.members)} members, {len(page) / 1e6:.2f} MB")
