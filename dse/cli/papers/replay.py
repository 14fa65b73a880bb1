"""``dse papers replay``: workloads that change, schedules that improve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import show, written

if TYPE_CHECKING:
    from paretosoc.dse.papers.anytime.record import Replay


def replay(
    file: Annotated[Path, Argument(help="Workloads and when they change (.yaml, .json).")],
    output: opt.Output,
    nodes_per_second: Annotated[
        int | None,
        Option(min=1, max=opt.MAX_COUNT, help="Assumed search speed. [default: measured]"),
    ] = None,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Replay changing workloads: latency per frame while schedules improve, against the optimum."""
    from paretosoc.common.compiling import announce_compilation
    from paretosoc.dse.papers.anytime.record import REPLAY_FOLDER, replay_files
    from paretosoc.dse.papers.anytime.replay import load_replay, simulate_replay

    REPLAY_FOLDER.check(output, overwrite=force)
    announce_compilation()
    result = simulate_replay(load_replay(file), nodes_per_second=nodes_per_second)
    REPLAY_FOLDER.write(output, replay_files(result), overwrite=force)
    if not quiet:
        _print(result, output)


def _print(result: Replay, folder: Path) -> None:
    from paretosoc.common.tables import plain_table

    table = plain_table(
        *("workload", ">naive\nms", ">optimum\nms", ">gain\n%", ">schedules\npublished"),
        *(">optimum\nafter ms", ">search done\nafter ms", ">proof\nafter ms"),
    )
    for phase in result.phases:
        last = phase.schedules[-1]
        reached = last.latency_ps == phase.oracle_ps
        table.add_row(
            phase.name,
            f"{phase.baseline_ps / PS_PER_MS:.3f}",
            f"{phase.oracle_ps / PS_PER_MS:.3f}" + ("" if phase.oracle_proved else " or less"),
            f"{100 * (phase.baseline_ps / phase.oracle_ps - 1):.1f}",
            str(len(phase.schedules)),
            f"{1000 * last.found_s:.1f}" if reached else "not reached",
            "-" if phase.searched_s is None else f"{1000 * phase.searched_s:.1f}",
            phase.status if phase.proved_s is None else f"{1000 * phase.proved_s:.0f}",
        )
    show(f"{result.title}, on {result.platform}; time of the search: {result.clock}", table)
    print(f"{pluralize(len(result.frames), 'frame')}. {written(folder)}")
