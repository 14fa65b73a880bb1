"""``dse report``: a result folder as one page for a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dse.cli.shared.options import Folder, Force
from dse.errors import WorkloadError
from dse.inputs.output import check_output_file, write_output_file
from dse.tools.deploy.deploy import deployment_texts
from platforms.errors import PlatformError
from platforms.platform_file import load_platform
from results.deploy.deployment import Deployment
from results.errors import ResultError
from results.export.report import report_html
from results.export.result_folder import REPORT_FILE, read_costs, read_results
from results.io.plural import counted
from results.periodic.file import holds_periodic, read_periodic
from results.periodic.page import periodic_report_html

if TYPE_CHECKING:
    from results.front.cost_origins import CostOrigins
    from results.front.front import Front


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("report")(report)


def report(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page. [default: DIR/report.html, replaced]"),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform", "-p", help="The platform's file, where it has no name: for deployment."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write the front, its schedules and its proof as one page that needs no network."""

    path = folder / REPORT_FILE if output is None else output
    if holds_periodic(folder):
        page, members = _periodic_page(folder, platform)
        check_output_file(
            path, option="--output", overwrite=force or output is None, suffixes=(".html",)
        )
        write_output_file(path, page)
        print(f"Written to {path}: {counted(members, 'member')}, {len(page) / 1e6:.2f} MB")
        return
    front = read_results(folder)
    check_output_file(
        path, option="--output", overwrite=force or output is None, suffixes=(".html",)
    )
    costs = read_costs(folder, front.problem)
    page = report_html(front, costs, _deployments(front, costs, platform)).encode()
    write_output_file(path, page)
    print(f"Written to {path}: {counted(len(front.members), 'member')}, {len(page) / 1e6:.2f} MB")


def _periodic_page(folder: Path, platform: str | None) -> tuple[bytes, int]:

    if platform is not None:
        raise WorkloadError("--platform: is for deployment, not for periodic schedules")
    result = read_periodic(folder)
    return periodic_report_html(result).encode(), len(result.members)


def _deployments(
    front: Front, costs: CostOrigins | None, platform: str | None
) -> list[dict[str, str]]:
    """What sets up each member; nothing, and why on stderr, where the board is not known."""

    try:
        chip = load_platform(platform or front.provenance.platform)
        members = range(len(front.members))
        return deployment_texts([Deployment(front, index, chip, costs) for index in members])
    except (PlatformError, ResultError) as error:
        if platform is not None:
            raise
        print(f"dse: without deployment: {error}", file=sys.stderr)
        return []
