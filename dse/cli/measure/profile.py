"""``dse profile``: networks measured on this machine."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.units import NS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.read_options import parse_options

if TYPE_CHECKING:
    from paretosoc.dse.tools.host.measure.profiling import HostProfile


def profile(
    networks: opt.NetworkNames,
    output: opt.Output,
    platform: Annotated[
        str, Option("--platform", "-p", help="Machine to measure: 'host'.")
    ] = "host",
    threads: opt.Threads = 1,
    frames: Annotated[int, Option(min=3, max=1000, help="Measurements per group.")] = 10,
    groups: opt.GroupCount = None,
    dim: opt.Dimensions = None,
    batch: opt.Batches = None,
    seed: opt.WeightSeed = 0,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Measure networks on this machine: a platform file and a profile (needs the extra 'host')."""
    from paretosoc.dse.tools.host.machine.host_units import describe_host, free_cores, make_units
    from paretosoc.dse.tools.host.measure.profiling import PROFILE_FOLDER, profile_host

    if platform != "host":
        raise WorkloadError(
            f"--platform: 'host' (this machine) is required, got {platform!r}; what other "
            "boards' tools print is read by 'dse import'"
        )
    PROFILE_FOLDER.check(output, overwrite=force)
    given = {"groups": groups, "dimensions": dim, "batch": batch}
    options = parse_options(given)
    made = profile_host(
        networks,
        make_units(free_cores(), threads),
        describe_host(),
        options,
        frames=frames,
        seed=seed,
        say=lambda text: None if quiet else say(text),
    )
    PROFILE_FOLDER.write(output, made.files, overwrite=force)
    if not quiet:
        _print(made)
        repeated = {"--groups": [groups] if groups else [], "--dim": dim, "--batch": batch}
        words = [w for name, values in repeated.items() for v in values or () for w in (name, v)]
        files = ["-p", f"{output}/platform.json", "--profile", f"{output}/profile.json"]
        command = shlex.join([*networks, *words, *files, "-o", f"{output}-front"])
        print(
            f"\nNo power is measured: objectives are of time only. Next:\n  dse explore {command}"
        )


def _print(made: HostProfile) -> None:
    from paretosoc.common.tables import plain_table
    from paretosoc.dse.tools.host.measure.memory_rates import changes, range_of

    measured, problem = made.measured, made.built.problem
    figures = [name for u in problem.units for name in (f">{u.name}\nms", ">spread", ">GB/s")]
    table = plain_table("network", "group", *figures)
    for network in problem.networks:
        for g, name in zip(network.groups, network.group_names, strict=True):
            cells = []
            for u in range(len(problem.units)):
                spread = measured.alone[u][g]
                cells += [
                    f"{spread.median_ns / NS_PER_MS:.3f}",
                    f"{spread.spread:.1%}",
                    f"{made.demand_gbps[u][g]:.1f}",
                ]
            table.add_row(network.name, name, *cells)
    show(table)
    handovers = sorted(item.median_ns / 1000 for item in measured.handovers.values())
    if handovers:
        show(
            f"hand-overs: {handovers[0]:.0f} to {handovers[-1]:.0f} us, "
            f"median {handovers[len(handovers) // 2]:.0f}"
        )
    alone = ", ".join(f"{gbps:.1f}" for gbps in measured.stream_gbps)
    together = range_of(measured.together_gbps)
    show(f"memory: units read {alone} GB/s alone, {together} GB/s all at once")
    slowest = max((run.slowdown for run in measured.co_runs), default=1.0)
    show(f"co-runs: {len(measured.co_runs)}, slowed by at most {slowest:.2f}")
    if measured.calibration is not None and not measured.calibration.tells:
        show("demands: the probe lost too little beside readers; bytes over time instead")
    show(f"cores taken by others: {measured.lost_share:.1%} of the time")
    if changes(measured.together_gbps):
        say(
            f"all units at once read {together} GB/s: others use the "
            "memory too, so contention measured now need not be what holds later"
        )
