"""``dse measure trace``: planned against measured start and end of every engine."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated

import paretosoc as dse
from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import print_json, show
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.deploy.searched_inputs import platform_or_searched
from paretosoc.dse.tools.measuring.plan_and_trace import LaidBeside, both_as_trace, lay_beside
from paretosoc.fitness.profiles.profilers.trace_ranges import read_trace
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.front.named_members import choose_member
from paretosoc.results.text.schedule import SCHEDULE_ROWS


def trace(
    folder: opt.Folder,
    file: Annotated[
        Path,
        Argument(
            help="Trace: SQLite of 'nsys export', or Trace Event JSON (Perfetto, ONNX Runtime).",
            metavar="TRACE",
        ),
    ],
    member: opt.MemberName = "fastest",
    output: Annotated[
        Path | None, Option("--output", "-o", help="Trace of both for Perfetto: .json.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Lay a trace of a board beside the plan: start and end of every engine.

    Ranges (NVTX) are found by names of engines (vgg19.0.gpu), groups (vgg19 0-5) or layers.
    """
    check_output_file(output, overwrite=force, suffixes=(".json",))
    front = dse.load(folder)
    index = choose_member(front.numeric, member)
    chip = platform_or_searched(None, front.numeric)
    deployment = Deployment(front.numeric, index, chip, front.costs)
    shown = front[index].scheduled
    found = lay_beside(deployment, shown, read_trace(file))
    if output is not None:
        replace_file(output, both_as_trace(deployment, shown, found))
    if as_json:
        print_json({"frames": found.frames, "rows": list(map(_row, found.rows))})
        return
    table = plain_table("network", "groups", "unit")
    for name in ("start", "end"):
        for what in ("planned", "measured"):
            table.add_column(f"{what}\n{name} ms", justify="right", no_wrap=True)
    table.add_column("takes", justify="right")
    for row in found.rows[:SCHEDULE_ROWS]:
        name = row.network if row.repeat == 1 else f"{row.network} ({row.repeat})"
        (start, end), spans = row.planned_ps, row.median_ps
        cells = [f"{start / PS_PER_MS:.4f}", "-", f"{end / PS_PER_MS:.4f}", "-", "-"]
        if spans is not None:
            cells[1], cells[3] = (f"{ps / PS_PER_MS:.4f}" for ps in spans)
            cells[4] = f"{100 * (spans[1] - spans[0]) / (end - start):.0f} %"
        table.add_row(name, row.groups, row.unit, *cells)
    show(table)
    if len(found.rows) > SCHEDULE_ROWS:
        print(f"{pluralize(len(found.rows) - SCHEDULE_ROWS, 'more row')}: --json")
    missing = sum(not row.measured_ps for row in found.rows)
    if missing:
        print(f"Not in the trace (-): {pluralize(missing, 'execution')}")
    if found.most_frames > found.frames:
        print(
            f"Some engines ran in {found.most_frames} frames, others in {found.frames}: the first "
            f"{found.frames} are compared, which is wrong if a name stands for two things."
        )
    ends = found.planned_ps / PS_PER_MS, median(found.ends_ps) / PS_PER_MS
    print(
        f"Medians of {pluralize(found.frames, 'frame')}. Frame: planned {ends[0]:.4f} ms, "
        f"measured {ends[1]:.4f} ms"
    )
    if output is not None:
        print(f"Written to {output}")


def _row(row: LaidBeside) -> dict[str, object]:
    return {
        "network": row.network,
        "groups": row.groups,
        "unit": row.unit,
        "repeat": row.repeat,
        "planned_ms": [ps / PS_PER_MS for ps in row.planned_ps],
        "measured_ms": [[ps / PS_PER_MS for ps in span] for span in row.measured_ps],
    }
