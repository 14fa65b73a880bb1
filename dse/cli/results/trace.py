"""``dse analyze trace``: schedules for Perfetto and other viewers of traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paretosoc.common.files import replace_file
from paretosoc.dse.api.result import open_result
from paretosoc.dse.cli.shared.options import Folder, Force
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.results.front.named_members import FASTEST


def trace(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file (.json).")],
    member: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            help="Member: an index, or a name such as fastest, knee or lowest-energy. "
            "Repeatable. [default: fastest]",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write schedules in the Trace Event Format: open them in ui.perfetto.dev or chrome://tracing."""

    check_output_file(output, option="--output", overwrite=force, suffixes=(".json",))
    trace_bytes, titles = open_result(folder).trace(member or [FASTEST])
    replace_file(output, trace_bytes)
    print(f"Written to {output}: {', '.join(titles)}")
