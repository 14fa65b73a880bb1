"""``dse measure fidelity``: a sample of design points, predicted and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Table

from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.dse.cli.measure.run import DispatchRule, Seed
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import print_json, say, show
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.deploy.searched_inputs import parse_models
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.sub_models import parse_programs
from paretosoc.dse.tools.host.measure.fidelity import (
    Fidelity,
    FidelitySummary,
    draw_fidelity,
    fidelity_document,
    measure_fidelity,
    summary_of,
)
from paretosoc.dse.tools.host.measure.memory_rates import changes, range_of
from paretosoc.dse.tools.host.measure.running import host_machine
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.plots.style import PICTURE_MAKERS

MAX_LOST = 0.05
"""With more, measurements are of the other processes."""


def fidelity(
    folder: opt.Folder,
    samples: Annotated[
        int,
        Option(min=1, max=1000, help="Number of random design points besides the fastest member."),
    ] = 20,
    frames: Annotated[int, Option(min=5, max=1000, help="Frames per design point and pass.")] = 5,
    dispatch: DispatchRule = Dispatch.PLANNED,
    model: opt.ModelFiles = None,
    task: opt.Tasks = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Plot predicted against measured (.svg, .png, .pdf)."),
    ] = None,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Run design points on this machine and compare with predictions (needs the extra 'host')."""
    check_output_file(output, overwrite=force, suffixes=tuple(PICTURE_MAKERS))
    front = read_results(folder)
    origins, models = read_costs(folder, front.problem), parse_models(model)
    with host_machine(
        front.problem, origins, models=models, programs=parse_programs(task), seed=seed
    ) as machine:
        found = measure_fidelity(
            machine,
            front,
            samples=samples,
            frames=frames,
            seed=seed,
            dispatch=dispatch,
            say=lambda text: None if quiet else say(text),
        )
    if output is not None:
        replace_file(output, PICTURE_MAKERS[output.suffix](draw_fidelity(found)))
    if as_json:
        print_json(fidelity_document(found))
    else:
        _print(found)


def _print(found: Fidelity) -> None:
    show(_points_table(found))
    lost = sum(point.lost_share for point in found.points) / len(found.points)
    if lost > MAX_LOST:
        say(
            f"other processes took the cores for {lost:.0%} of the time, so errors are not "
            "the model's alone; measure on a quiet machine"
        )
    show("pred.: predicted; no cont.: with contention switched off; meas.: measured\n")
    summary = summary_of(found)
    show(_summary_table(summary))
    name = "the certified fastest" if found.is_certified else "the fastest member"
    if summary.best_rank == 1:
        show(f"{name} was measured fastest of {len(found.points)}")
    else:
        show(
            f"{name} was measured {summary.best_behind:.1%} behind the fastest of "
            f"{len(found.points)} (rank {summary.best_rank}); spread {summary.noise:.1%}"
        )
    memory = range_of(found.together_gbps)
    show(f"memory: {memory} GB/s all units at once, before, between and after the passes")
    if changes(found.together_gbps):
        say(
            f"all units at once read {memory} GB/s: others use the memory too, so "
            "errors are not the model's alone"
        )


def _points_table(found: Fidelity) -> Table:
    times = (">pred.\nms", ">no\ncont.", ">meas.\nms")
    rates = (">pred.\n1/s", ">no\ncont.", ">meas.\n1/s")
    result = plain_table("design\npoint", *times, ">spread", *rates, ">lost", no_wrap=True)
    for point in found.points:
        span, rate = point.makespan_ms, point.frames_per_s
        result.add_row(
            point.name,
            f"{span.predicted:.2f}",
            f"{span.without_contention:.2f}",
            f"{span.measured:.2f}",
            f"{span.spread:.1%}",
            f"{rate.predicted:.2f}",
            f"{rate.without_contention:.2f}",
            f"{rate.measured:.2f}",
            f"{point.lost_share:.1%}",
        )
    return result


def _summary_table(summary: FidelitySummary) -> Table:
    result = plain_table("error of", ">median", ">largest", ">rank correlation", no_wrap=True)
    for name, entry in (
        ("makespan", summary.makespan),
        ("  without contention", summary.makespan_without),
        ("frames per second", summary.rate),
        ("  without contention", summary.rate_without),
    ):
        rank = "-" if entry.rank_correlation is None else f"{entry.rank_correlation:.3f}"
        result.add_row(name, f"{entry.median_error:.2%}", f"{entry.largest_error:.2%}", rank)
    return result
