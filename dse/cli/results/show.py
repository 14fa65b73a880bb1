"""``dse show``: the front in a result folder, or one of its members, as a table or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dse.certificate.summary import claims_in_words
from dse.cli.shared.options import AsJson, Folder
from dse.cli.shared.print_periodic import print_periodic, print_schedule
from dse.tools.deploy.deploy import fitting_targets
from platforms.errors import PlatformError
from platforms.platform_file import load_platform
from results.deploy.deployment import Deployment
from results.export.result_folder import read_costs, read_results
from results.front.front_document import member_to_document
from results.front.select_member import FASTEST, choose_member, member_title
from results.io.plural import counted
from results.periodic.choice import choose_schedule
from results.periodic.file import holds_periodic, read_periodic
from results.periodic.table import periodic_rows, task_rows
from results.text.front import DEFAULT_ROWS, front_table, table_rows
from results.text.member import member_lines
from results.text.member_diff import describe_difference
from results.text.schedule import FREE_RUN_ROWS, schedule_table

if TYPE_CHECKING:
    from results.front.front import Front


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

    if holds_periodic(folder):
        _show_periodic(folder, member, as_json=as_json)
        return
    front = read_results(folder)
    if member is not None:
        index = choose_member(front, member)
        if as_json:
            document = member_to_document(front.problem, front.members[index])
            print(json.dumps({"member": index, **document}, indent=2))
        else:
            _print_member(front, index, folder, all_rows=all_rows)
    elif as_json:
        print(json.dumps(table_rows(front), indent=2))
    else:
        _print_front(front, all_rows=all_rows)


def _show_periodic(folder: Path, member: str | None, *, as_json: bool) -> None:

    result = read_periodic(folder)
    if member is not None:
        index = choose_schedule(result, member)
        if as_json:
            figures = periodic_rows(result)[index]
            print(json.dumps({**figures, "tasks": task_rows(result.members[index])}, indent=2))
        else:
            print_schedule(result, index)
    elif as_json:
        print(json.dumps(periodic_rows(result), indent=2))
    else:
        print_periodic(result)


def _print_front(front: Front, *, all_rows: bool) -> None:

    console = Console(highlight=False)
    console.print(
        front_table(front, width=console.width, max_rows=None if all_rows else DEFAULT_ROWS)
    )
    source = front.provenance
    console.print(
        f"{', '.join(network.name for network in front.problem.networks)} on {source.platform}: "
        f"{counted(len(front.members), 'member')}, "
        f"{counted(source.evaluations, 'design point')} in "
        f"{source.seconds:.1f} s by {source.engine}, seed {source.seed}, "
        f"stopped by {source.stopped_by}",
    )
    for sentence in claims_in_words(front):
        console.print(sentence)


def _print_member(front: Front, index: int, folder: Path, *, all_rows: bool) -> None:

    problem, member = front.problem, front.members[index]
    console = Console(highlight=False)
    console.print(member_title(front, index).capitalize(), style="bold", markup=False)
    for line in member_lines(problem, member):
        console.print(line, markup=False)
    fastest = choose_member(front, FASTEST)
    if index != fastest:
        words = describe_difference(problem, front.members[fastest], member)
        console.print(f"against the fastest, member {fastest}: {words}", markup=False)
    for line in _deployable(front, index, folder):
        console.print(line, markup=False)
    console.print()
    most = None if all_rows or member.free_run is None else FREE_RUN_ROWS
    console.print(schedule_table(problem, member.schedule, most=most))
    if front.certificate is not None and index in front.certificate.members:
        sentences = claims_in_words(front)
        for sentence in dict.fromkeys((sentences[0], sentences[-1])):
            console.print(sentence)


def _deployable(front: Front, index: int, folder: Path) -> list[str]:
    """What 'dse deploy' can write for the member, and why not the rest; nothing where the board is
    not known by its name."""

    try:
        chip = load_platform(front.provenance.platform)
    except PlatformError:
        return []
    origins = read_costs(folder, front.problem)
    reasons = fitting_targets(Deployment(front, index, chip, origins))
    able = ", ".join(name for name, reason in reasons.items() if reason is None)
    return [
        f"can be deployed to: {able or 'nothing'}",
        *(f"not to {name}: {reason}" for name, reason in reasons.items() if reason is not None),
    ]
