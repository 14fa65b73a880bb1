"""``dse explore``: networks and a platform in, a result folder out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dse.options import Options
    from dse.search import Progress
    from results.front import Front

Networks = Annotated[
    list[str],
    typer.Argument(help="Names (see 'dse networks'), .onnx files, NAME*COPIES."),
]
PlatformName = Annotated[
    str, typer.Option("--platform", "-p", help="A name (see 'dse platforms') or a JSON file.")
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explore")(explore)


def explore(
    networks: Networks,
    platform: PlatformName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")],
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="latency, latency:NETWORK, inverse-latency, throughput, energy, power or stretch; "
            "give it twice or more. [default: latency, energy]"
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(min=1, help="About so many groups per network. [default: all]"),
    ] = None,
    branches: Annotated[
        bool, typer.Option("--branches", help="Parallel branches are groups of their own.")
    ] = False,
    each_layer: Annotated[
        bool, typer.Option("--each-layer", help="Every layer is a group of its own.")
    ] = False,
    max_transitions: Annotated[
        int | None, typer.Option(min=0, help="Most changes of unit per network.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Only these units, separated by commas.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="DOMAIN=MHZ, DOMAIN=max or DOMAIN=min.")
    ] = None,
    precision: Annotated[str | None, typer.Option(help="Number format, such as fp16.")] = None,
    power_cap: Annotated[str | None, typer.Option(help="Most power, in W.")] = None,
    energy_budget: Annotated[str | None, typer.Option(help="Most energy per frame, in mJ.")] = None,
    deadline: Annotated[list[str] | None, typer.Option(help="[NETWORK=]MS: most latency.")] = None,
    fps: Annotated[
        str | None, typer.Option(help="Frames per second: energy is counted over that period.")
    ] = None,
    pin: Annotated[
        list[str] | None, typer.Option(help="NETWORK:FIRST-LAST=UNIT: groups, from 0.")
    ] = None,
    profile: Annotated[Path | None, typer.Option(help="Your own measurements (JSON).")] = None,
    dim: Annotated[
        list[str] | None, typer.Option(help="NAME=N: size of a dynamic dimension.")
    ] = None,
    max_evaluations: Annotated[
        int, typer.Option(min=1, help="Design points to evaluate.")
    ] = 100_000,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Most seconds.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same front.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker threads. [default: all cores]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an older result.")] = False,
) -> int:
    """Search for the Pareto front of networks that share a chip."""
    from dse.cli_options import make_options, with_dimensions
    from dse.cost_origins import cost_origins
    from dse.explore import explore_problem
    from dse.problem_builder import build_problem
    from dse.workload import workload_of
    from fitness.profile_file import load_profile
    from platforms.platform_file import load_platform
    from results.front_file import check_output_folder, write_results

    options: Options = make_options(
        objective=objective,
        groups=groups,
        branches=branches,
        each_layer=each_layer,
        max_transitions=max_transitions,
        units=units,
        fix=fix,
        precision=precision,
        power_cap=power_cap,
        energy_budget=energy_budget,
        deadline=deadline,
        fps=fps,
        pin=pin,
    )
    check_output_folder(output, overwrite=force)
    chip = load_platform(platform)
    measured = None if profile is None else load_profile(profile, chip)
    workload = with_dimensions(workload_of(networks), dim)
    built = build_problem(workload, chip, options, profile=measured)
    for warning in built.warnings:
        print(f"dse: {warning}", file=sys.stderr)
    with _progress(max_evaluations, quiet=quiet) as on_progress:
        front = explore_problem(
            built,
            platform=chip.name,
            max_evaluations=max_evaluations,
            time_limit_s=time_limit,
            seed=seed,
            jobs=jobs,
            command=["dse", *sys.argv[1:]],
            on_progress=on_progress,
        )
    write_results(output, front, costs=cost_origins(built), overwrite=force)
    if not quiet:
        _print_front(front, output)
    return 130 if front.provenance.stopped_by == "interrupt" else 0


class _progress:
    """A progress bar on stderr with evaluations, hypervolume and time left; nothing if quiet."""

    def __init__(self, evaluations: int, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("exploring"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} evaluations"),
            TextColumn("front {task.fields[members]}, hypervolume {task.fields[volume]:.4f}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=quiet,
        )
        self._task = self._bar.add_task("", total=evaluations, members=0, volume=0.0)
        self._total = evaluations

    def __enter__(self) -> _progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        self._bar.update(
            self._task,
            completed=min(progress.evaluations, self._total),
            members=progress.members,
            volume=progress.hypervolume,
        )


def _print_front(front: Front, folder: Path) -> None:
    from rich.console import Console

    from results.table import front_table

    console = Console()
    console.print(front_table(front, width=console.width))
    source = front.provenance
    console.print(
        f"{source.evaluations:,} design points in {source.seconds:.1f} s "
        f"(seed {source.seed}, stopped by {source.stopped_by})",
        highlight=False,
    )
    console.print(
        f"Written to {folder}: {', '.join(sorted(p.name for p in folder.iterdir()))}",
        highlight=False,
        soft_wrap=True,
    )
