"""``dse plot``: figures for papers from one or several result folders."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dse.cli.shared.options import Force
from dse.errors import WorkloadError
from dse.inputs.output import check_output_file, write_output_file
from results.export.result_folder import read_results
from results.front.select_member import choose_member, member_title
from results.periodic.choice import FASTEST, choose_schedule
from results.periodic.file import holds_periodic, read_periodic
from results.periodic.picture import front_picture, fronts_picture, schedule_picture
from results.plots.convergence import draw_convergence
from results.plots.energy import draw_energy
from results.plots.front import draw_front
from results.plots.fronts import draw_fronts
from results.plots.gantt import draw_gantts
from results.plots.style import PICTURE_MAKERS, picture_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from results.front.front import Front, Member
    from results.problem.problem import Problem


class Plot(StrEnum):
    """What is drawn."""

    FRONT = "front"
    GANTT = "gantt"
    CONVERGENCE = "convergence"
    ENERGY = "energy"


_DEFAULT_MEMBERS = {Plot.GANTT: ("fastest",), Plot.ENERGY: ("fastest", "frugal")}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("plot")(plot)


def plot(
    what: Annotated[Plot, typer.Argument(metavar="front|gantt|convergence|energy")],
    folders: Annotated[list[Path], typer.Argument(help="Result folders.", metavar="DIR...")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture: .svg, .pdf or .png (300 dpi).")
    ],
    member: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            help="For gantt and energy, of each result: a number, fastest, frugal, knee or another "
            "mark; may be given again. [default: fastest; for energy also frugal]",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", help="A name for each result, in order. [default: the folder's]"),
    ] = None,
    force: Force = False,
) -> None:
    """Draw fronts, schedules, convergence or energy of results, one or two columns wide."""

    if member and what not in _DEFAULT_MEMBERS:
        raise WorkloadError(f"--member: is for gantt and energy, not for {what.value}")
    if label and len(label) != len(folders):
        raise WorkloadError(f"--label: {len(folders)} are required, got {len(label)}")
    check_output_file(output, option="--output", overwrite=force, suffixes=tuple(PICTURE_MAKERS))
    names = label or _names(folders)
    for folder in folders:
        if not folder.is_dir():
            raise WorkloadError(f"{folder}: there is no such folder")
    periodic = [holds_periodic(folder) for folder in folders]
    if any(periodic) and not all(periodic):
        raise WorkloadError("DIR: fronts and periodic schedules cannot be drawn together")
    named = list(zip(names, folders, strict=True))
    with picture_settings():
        if any(periodic):
            figure = _periodic_figure(what, named, member)
        else:
            figure = _figure(what, [(name, read_results(folder)) for name, folder in named], member)
        picture = PICTURE_MAKERS[output.suffix](figure)
    write_output_file(output, picture)
    print(f"Written to {output}")


def _names(folders: list[Path]) -> list[str]:
    """The folders' own names, or their paths where these are not different."""
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def _figure(what: Plot, fronts: list[tuple[str, Front]], member: list[str] | None) -> Figure:

    match what:
        case Plot.FRONT:
            return draw_front(fronts[0][1]) if len(fronts) == 1 else draw_fronts(fronts)
        case Plot.CONVERGENCE:
            return draw_convergence(fronts)
        case Plot.GANTT:
            return draw_gantts(_members(fronts, member or _DEFAULT_MEMBERS[what]))
        case Plot.ENERGY:
            return draw_energy(_members(fronts, member or _DEFAULT_MEMBERS[what]))


def _periodic_figure(
    what: Plot, folders: list[tuple[str, Path]], member: list[str] | None
) -> Figure:

    if what not in (Plot.FRONT, Plot.GANTT):
        raise WorkloadError(f"{what.value}: is not for periodic schedules; front and gantt are")
    results = [(name, read_periodic(folder)) for name, folder in folders]
    if what is Plot.FRONT:
        return front_picture(results[0][1]) if len(results) == 1 else fronts_picture(results)
    if len(results) > 1 or len(member or ()) > 1:
        raise WorkloadError("gantt: of periodic schedules one is drawn, of one result")
    result = results[0][1]
    text = member[0] if member else FASTEST
    return schedule_picture(result.members[choose_schedule(result, text)])


def _members(
    fronts: list[tuple[str, Front]], texts: tuple[str, ...] | list[str]
) -> list[tuple[str, Problem, Member]]:

    return [
        (
            member_title(front, index) if len(fronts) == 1 else f"{name}, member {index}",
            front.problem,
            front.members[index],
        )
        for name, front in fronts
        for index in dict.fromkeys(choose_member(front, text) for text in texts)
    ]
