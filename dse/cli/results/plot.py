"""``dse plot``: figures for papers from one or several result folders."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from paretosoc.results.plots.picture import Picture


class Plot(StrEnum):
    """Kind of picture."""

    FRONT = "front"
    GANTT = "gantt"
    CONVERGENCE = "convergence"
    ENERGY = "energy"
    ROOFLINE = "roofline"


def plot(
    what: Annotated[
        Plot, Argument(metavar="PICTURE", help="front, gantt, convergence, energy or roofline.")
    ],
    folders: Annotated[
        list[Path],
        Argument(help="Result folders; of roofline with --platform networks.", metavar="DIR..."),
    ],
    output: Annotated[
        Path, Option("--output", "-o", help="Output file: .svg, .pdf or .png (300 dpi).")
    ],
    member: Annotated[
        list[str] | None,
        Option(
            "--member",
            help="Member for gantt, energy and roofline: an index or a name such as fastest, knee "
            "or lowest-energy. Repeatable. [default: fastest; for energy and roofline also "
            "lowest-energy]",
        ),
    ] = None,
    platform: Annotated[
        str | None,
        Option(
            "--platform",
            "-p",
            help="Platform of networks: roofline draws all units at their fastest clocks.",
        ),
    ] = None,
    dim: opt.Dimensions = None,
    label: Annotated[
        list[str] | None,
        Option("--label", help="Label per result, in order. [default: the folder's name]"),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Draw fronts, schedules, convergence, energy or rooflines, one or two columns wide."""
    from paretosoc.dse.api.problem import Problem
    from paretosoc.dse.api.result import open_result
    from paretosoc.dse.inputs.output import check_output_file
    from paretosoc.dse.tools.analysis.roofline import unit_rooflines
    from paretosoc.dse.workload.read_options import parse_options
    from paretosoc.dse.workload.workload_file import workload_from
    from paretosoc.platforms.io.platform_file import load_platform
    from paretosoc.results.export.result_folder import other_kind
    from paretosoc.results.plots.roofline import draw_roofline
    from paretosoc.results.plots.style import PICTURE_MAKERS

    if member and what in (Plot.FRONT, Plot.CONVERGENCE):
        raise WorkloadError(f"--member: is for gantt, energy, roofline, not for {what.value}")
    if label and len(label) != len(folders):
        raise WorkloadError(f"--label: {len(folders)} required, got {len(label)}")
    check_output_file(output, overwrite=force, suffixes=tuple(PICTURE_MAKERS))
    if platform is not None:
        if what is not Plot.ROOFLINE or member or label:
            raise WorkloadError("--platform: is for roofline, without --member and --label")
        workload, chip = workload_from(list(map(str, folders))), load_platform(platform)
        options = parse_options({"runtime": "none", "dimensions": dim})
        problem = Problem.from_options(workload, chip, options)
        roofs = unit_rooflines(problem.numeric, problem.costs, problem.platform)
        _write(output, draw_roofline([("fastest", roofs)]).picture())
        return
    if dim:
        raise WorkloadError("--dim: is for roofline with --platform")
    for folder in folders:
        if not folder.is_dir():
            raise WorkloadError(f"{folder}: there is no such folder")
    if len({other_kind(folder) for folder in folders}) > 1:
        raise WorkloadError("DIR: results of different kinds cannot be drawn together")
    results = [open_result(folder) for folder in folders]
    kind = type(results[0])
    named = list(zip(label or _names(folders), results, strict=True))
    _write(output, kind.drawn(what.value, named, member or ()))


def _write(output: Path, picture: Picture) -> None:
    from paretosoc.common.files import replace_file
    from paretosoc.results.plots.style import PICTURE_MAKERS

    replace_file(output, PICTURE_MAKERS[output.suffix](picture))
    print(f"Written to {output}")


def _names(folders: list[Path]) -> list[str]:
    """Return the folders' own names, or their paths if these are not different."""
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]
