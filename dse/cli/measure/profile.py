"""``dse profile``: networks measured on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from paretosoc.dse.cli.shared.options import (
    MAX_SEED,
    MAX_SIZE,
    Batches,
    CutName,
    Dimensions,
    Force,
    GroupCount,
    NetworkNames,
)
from paretosoc.dse.cli.shared.terminal import plain_table
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.host.machine.host_units import describe_host, free_cores, make_units
from paretosoc.dse.tools.host.measure.memory_rates import changes, range_of
from paretosoc.dse.tools.host.measure.profiling import FILES, profile_host
from paretosoc.dse.workload.options import Options, parse_options
from paretosoc.results.io.atomic_folder import check_own_folder, write_files

if TYPE_CHECKING:
    from paretosoc.dse.tools.host.measure.profiling import HostProfile


def profile(
    networks: NetworkNames,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")],
    platform: Annotated[
        str, typer.Option("--platform", "-p", help="Machine to measure: 'host'.")
    ] = "host",
    threads: Annotated[
        int, typer.Option(min=1, max=MAX_SIZE, help="Number of cores per unit.")
    ] = 1,
    frames: Annotated[int, typer.Option(min=3, max=1000, help="Measurements per group.")] = 10,
    groups: GroupCount = None,
    cut: CutName = None,
    dim: Dimensions = None,
    batch: Batches = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Random seed for weights that a model lacks.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    force: Force = False,
) -> None:
    """Measure networks on this machine: a platform file and a profile (needs the extra 'host')."""

    if platform != "host":
        raise WorkloadError(
            f"--platform: 'host' (this machine) is required, got {platform!r}; what other "
            "boards' tools print is read by 'dse import'"
        )
    _check_folder(output, overwrite=force)
    given = {"groups": groups, "cut": cut, "dimensions": dim, "batch": batch}
    options = parse_options(given)
    made = profile_host(
        networks,
        make_units(free_cores(), threads),
        describe_host(),
        options,
        frames=frames,
        seed=seed,
        say=lambda text: None if quiet else print(f"dse: {text}", file=sys.stderr),
    )
    write_files(
        output, made.files, check=lambda: _check_folder(output, overwrite=force), ours=FILES
    )
    if not quiet:
        _print(made)
        _print_example(networks, output, options)


def _print_example(networks: list[str], output: Path, options: Options) -> None:
    """Print an example of how to use the result."""
    grouping = "".join(
        (
            f" --groups {options.groups}" if options.groups else "",
            f" --cut {options.cut.value}" if options.cut else "",
        )
    )
    print(
        f"\nNo power is measured: objectives of time only. For example:\n"
        f"  dse explore {' '.join(networks)} -p {output}/platform.json --profile "
        f"{output}/profile.json{grouping} --objective latency --objective throughput -o {output}"
        "-front"
    )


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Check that the output folder is empty or, with the option, holds nothing but a profile to
    replace."""

    empty = folder.is_dir() and not any(folder.iterdir())
    check_own_folder(folder, lambda entry: entry.name in FILES, overwrite=overwrite or empty)


def _print(made: HostProfile) -> None:
    measured, problem = made.measured, made.built.problem
    table = plain_table()
    table.add_column("network")
    table.add_column("group", overflow="fold")
    for unit in problem.units:
        table.add_column(f"{unit.name}\nms", justify="right")
        table.add_column("spread", justify="right")
        table.add_column("GB/s", justify="right")
    for network in problem.networks:
        for g, name in zip(network.groups, network.group_names, strict=True):
            cells = []
            for u in range(len(problem.units)):
                spread = measured.alone[u][g]
                cells += [
                    f"{spread.median_ns / 1e6:.3f}",
                    f"{spread.spread:.1%}",
                    f"{made.demand_gbps[u][g]:.1f}",
                ]
            table.add_row(network.name, name, *cells)
    console = Console(highlight=False)
    console.print(table)
    handovers = sorted(item.median_ns / 1000 for item in measured.handovers.values())
    if handovers:
        console.print(
            f"hand-overs: {handovers[0]:.0f} to {handovers[-1]:.0f} us, "
            f"median {handovers[len(handovers) // 2]:.0f}"
        )
    alone = ", ".join(f"{gbps:.1f}" for gbps in measured.stream_gbps)
    together = range_of(measured.together_gbps)
    console.print(f"memory: units read {alone} GB/s alone, {together} GB/s all at once")
    slowest = max((run.slowdown for run in measured.co_runs), default=1.0)
    console.print(f"co-runs: {len(measured.co_runs)}, slowed by at most {slowest:.2f}")
    if measured.calibration is not None and not measured.calibration.tells:
        console.print("demands: the probe lost too little beside readers; bytes over time instead")
    console.print(f"cores taken by others: {measured.lost_share:.1%} of the time")
    if changes(measured.together_gbps):
        print(
            f"dse: all units at once read {together} GB/s: others use the "
            "memory too, so contention measured now need not be what holds later",
            file=sys.stderr,
        )
