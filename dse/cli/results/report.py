"""``dse report``: a result folder as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import busy, say
from paretosoc.results.errors import ResultError


def report(
    folder: opt.Folder,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Output file. [default: DIR/report.html]"),
    ] = None,
    platform: opt.BoardFile = None,
    force: opt.Force = False,
) -> None:
    """Write the front, its schedules and its proof as one page that needs no network."""
    from paretosoc.common.files import file_in, replace_file
    from paretosoc.dse.api.result import open_result
    from paretosoc.dse.inputs.output import check_output_file
    from paretosoc.results.export.result_folder import REPORT_FILE

    result = open_result(folder)
    path = file_in(folder, REPORT_FILE, ResultError) if output is None else output
    check_output_file(path, overwrite=force or output is None, suffixes=(".html",))
    with busy("simulating members with costs drawn from their errors"):
        page, notes = result.page(platform)
    replace_file(path, page)
    for note in notes:
        say(note)
    print(f"Written to {path}: {pluralize(len(result), 'member')}, {len(page) / 1e6:.2f} MB")
