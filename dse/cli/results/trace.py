"""``dse trace``: schedules for Perfetto and other viewers of traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.shared.options import Folder, Force
from dse.inputs.output import check_output_file, write_output_file
from results.export.result_folder import read_results
from results.export.trace import trace_bytes
from results.front.select_member import FASTEST, choose_member, member_title
from results.periodic.choice import choose_schedule, schedule_title
from results.periodic.file import holds_periodic, read_periodic
from results.periodic.trace import periodic_trace_bytes


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("trace")(trace)


def trace(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="The trace, .json.")],
    member: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            help="A number, or fastest, frugal, knee or another mark; may be given again. "
            "[default: fastest]",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write schedules in the Trace Event Format: open them in ui.perfetto.dev or chrome://tracing."""

    check_output_file(output, option="--output", overwrite=force, suffixes=(".json",))
    if holds_periodic(folder):
        result = read_periodic(folder)
        schedules = [
            (schedule_title(result, index), result.members[index])
            for index in dict.fromkeys(choose_schedule(result, t) for t in member or [FASTEST])
        ]
        write_output_file(output, periodic_trace_bytes(schedules))
        print(f"Written to {output}: {', '.join(title for title, _ in schedules)}")
        return
    front = read_results(folder)
    chosen = dict.fromkeys(choose_member(front, text) for text in member or [FASTEST])
    titles = [(member_title(front, index), front.members[index]) for index in chosen]
    write_output_file(output, trace_bytes(front.problem, titles))
    print(f"Written to {output}: {', '.join(title for title, _ in titles)}")
