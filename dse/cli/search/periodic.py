"""``dse explore --pes``: periodic schedules on processing engines; how ``dse show`` shows them."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer
from rich.console import Console

from dse.api.periodic import PeriodicFront
from dse.cli.shared.goal_options import GoalOptions
from dse.cli.shared.options import InputOptions, PeriodicOptions
from dse.errors import WorkloadError
from dse.papers.mobile_i.explore import explore_periodic
from dse.papers.mobile_i.schedule.schedulers import DEFAULT_INFERENCES
from dse.workload.parse_options import parse_dimensions
from results.export.result_folder import check_output_folder
from results.periodic.file import write_periodic

_ALLOWED = frozenset(
    {
        *("networks", "platform", "output", "objective", "pes", "inferences", "split"),
        *("precision", "profile", "dim", "quiet", "force"),
    }
)
_OBJECTIVES = frozenset({"latency", "energy"})


def explore_engines(
    context: typer.Context,
    networks: list[str],
    platform: str,
    output: Path,
    *,
    periodic: PeriodicOptions,
    goals: GoalOptions,
    inputs: InputOptions,
    precision: str | None,
    quiet: bool,
    force: bool,
) -> int:
    """Schedules one network, writes the folder, prints the table."""

    _check_options(context, networks, goals)
    engines = parse_engines(periodic.pes or "all")
    check_output_folder(output, overwrite=force)
    result = explore_periodic(
        networks[0],
        platform,
        engines=engines,
        inferences=DEFAULT_INFERENCES if periodic.inferences is None else periodic.inferences,
        parts=1 if periodic.split is None else periodic.split,
        precision=precision,
        profile=inputs.profile,
        dimensions=dict(parse_dimensions(inputs.dim)),
        command=shlex.join(context.obj),
    )
    write_periodic(output, result, overwrite=force)
    if not quiet:
        console = Console(highlight=False)
        for view in PeriodicFront(result).views(width=console.width, all_rows=True):
            console.print(view)
        print(f"Written to {output}: {', '.join(sorted(p.name for p in output.iterdir()))}")
    return 0


def _check_options(context: typer.Context, networks: list[str], goals: GoalOptions) -> None:
    """Refuses what is not for periodic schedules."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in _ALLOWED and source is not None and source.name == "COMMANDLINE":
            raise WorkloadError(
                f"--{name.replace('_', '-')}: is not for periodic schedules (--pes)"
            )
    if len(networks) != 1:
        raise WorkloadError(f"--pes: one network is required, got {len(networks)}")
    for text in goals.objective or ():
        if text not in _OBJECTIVES:
            raise WorkloadError(f"--objective: with --pes latency or energy, got {text!r}")


def parse_engines(text: str) -> tuple[int, ...] | None:
    """``16,32,64`` as numbers; None for ``all``."""

    if text == "all":
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise WorkloadError(
            f"--pes: numbers separated by commas, or all, are required, got {text!r}"
        )
    return tuple(int(part) for part in parts)
