"""``dse papers periodic``: Mobile-I's schedules on processing engines."""

from __future__ import annotations

import shlex
from typing import Annotated

import click

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import open_console, show, written
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.mobile_i.schedule.schedulers import DEFAULT_INFERENCES


def periodic(
    network: Annotated[
        str, Argument(help="Network: a name, an .onnx file or a dataflow graph of SDF3 (.xml).")
    ],
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
        dimensions=opt.sizes_of(dim, network),
        command=shlex.join(click.get_current_context().obj),
    )
    PERIODIC_FOLDER.write(output, periodic_files(found), overwrite=force)
    if not quiet:
        show(*found.views(width=open_console().width, resolution=None))
        print(written(output))
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
