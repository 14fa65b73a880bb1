"""``dse papers replay``, ``dse papers periodic``: schedules that change, and periodic ones."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.mobile_i.schedule.schedulers import DEFAULT_INFERENCES

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
    from rich.console import Console

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
    console = Console(highlight=False)
    console.print(f"{result.title}, on {result.platform}; time of the search: {result.clock}")
    console.print(table)
    console.print(
        f"{pluralize(len(result.frames), 'frame')}. Written to {folder}: "
        f"{', '.join(sorted(path.name for path in folder.iterdir()))}",
        soft_wrap=True,
    )


def periodic(
    network: Annotated[str, Argument(help="Network: a name or an .onnx file.")],
    platform: opt.PlatformName,
    output: opt.Output,
    *,
    pes: Annotated[
        str,
        Option(
            "--pes",
            metavar="N,N...",
            help="Numbers of processing elements, or all that the platform has.",
        ),
    ] = "all",
    inferences: Annotated[
        int, Option(min=1, max=opt.MAX_SIZE, help="Number of inferences.")
    ] = DEFAULT_INFERENCES,
    split: Annotated[
        int, Option(min=1, max=opt.MAX_SIZE, help="Maximum number of operations per layer.")
    ] = 1,
    precision: opt.Precision = None,
    profile: opt.ProfileFile = None,
    dim: opt.Dimensions = None,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> int:
    """Find periodic schedules of a network with retiming (Mobile-I)."""
    from rich.console import Console

    from paretosoc.dse.papers.mobile_i.explore import explore_periodic
    from paretosoc.dse.papers.mobile_i.file import PERIODIC_FOLDER, periodic_files

    PERIODIC_FOLDER.check(output, overwrite=force)
    found = explore_periodic(
        network,
        platform,
        engines=parse_engines(pes),
        inferences=inferences,
        parts=split,
        precision=precision,
        profile=profile,
        dimensions=opt.sizes_of(dim),
        command=shlex.join(click.get_current_context().obj),
    )
    PERIODIC_FOLDER.write(output, periodic_files(found), overwrite=force)
    if not quiet:
        console = Console(highlight=False)
        for view in found.views(width=console.width, resolution=None):
            console.print(view)
        names = ", ".join(sorted(path.name for path in output.iterdir()))
        print(f"Written to {output}: {names}")
    return 0


def parse_engines(text: str) -> tuple[int, ...] | None:
    """Return ``16,32,64`` as numbers, and None for ``all``.

    Raises:
        WorkloadError: on any other text.
    """
    if text == "all":
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise WorkloadError(
            f"--pes: numbers separated by commas, or all, are required, got {text!r}"
        )
    return tuple(int(part) for part in parts)
