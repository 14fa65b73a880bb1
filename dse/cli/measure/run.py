"""``dse run``: a member's schedule executed on this machine, beside its prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Annotated, Any

from paretosoc.common.tables import plain_table
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option, refuse_options
from paretosoc.dse.cli.shared.terminal import print_json, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.deploy.searched_inputs import parse_models
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.frame_stream import schedule_of
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import parse_programs
from paretosoc.dse.tools.host.measure.kept_guarantees import kept_guarantees
from paretosoc.dse.tools.host.measure.running import (
    DesignRuns,
    check_periods,
    host_machine,
    predict,
    run_releases,
)
from paretosoc.dse.tools.host.measure.swapping import ImprovingSchedules, stream_for
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import choose_member, member_title
from paretosoc.results.problem.problem import DesignPoint, Problem

Opened = AbstractContextManager[HostMachine]
DispatchRule = Annotated[
    Dispatch,
    Option(
        "--dispatch",
        help="Dispatch rule of a free unit: the planned order, or by priority, then first come, "
        "first served.",
    ),
]
CHANGE_S = 2.0
"""Between changes of the workload."""
Seed = Annotated[
    int, Option(min=0, max=opt.MAX_SEED, help="Random seed for inputs and missing weights.")
]


def run(
    folder: opt.Folder,
    member: opt.MemberName = "fastest",
    frames: Annotated[
        int,
        Option(
            min=5,
            max=1000,
            help="Number of frames, run one at a time and pipelined; with rates, of periods.",
        ),
    ] = 30,
    seconds: Annotated[
        float | None,
        Option(
            min=0.1,
            max=86_400,
            help="Run frames for so long, without an end; with rates, periods for so long.",
        ),
    ] = None,
    swap: Annotated[
        bool,
        Option(
            "--swap", help="With --seconds: change the workload, swap in schedules that improve."
        ),
    ] = False,
    dispatch: DispatchRule = Dispatch.PLANNED,
    model: opt.ModelFiles = None,
    task: opt.Tasks = None,
    seed: Seed = 0,
    as_json: opt.AsJson = False,
) -> int:
    """Run a member on this machine: one pinned process per unit (needs the extra 'host').

    Exit status 1, with --seconds: a group of a frame was lost or ran twice.
    """
    if swap and seconds is None:
        raise WorkloadError("--swap: needs --seconds")
    if swap:
        refuse_options("is one schedule, and --swap runs those that improve", "member")
    if seconds is not None:
        refuse_options("is for runs without --seconds", "frames")
    front = read_results(folder)
    index = choose_member(front, member)
    problem = front.problem
    if problem.has_rates and swap:
        raise WorkloadError("--swap: is for frames, which networks with rates do not have")
    origins, models = read_costs(folder, problem), parse_models(model)
    machine = host_machine(
        problem, origins, models=models, programs=parse_programs(task), seed=seed
    )
    if problem.has_rates:
        if seconds is not None:
            frames = math.ceil(seconds * PS_PER_S / (problem.execution.period_ps or 1))
        return _releases(machine, front, index, frames, dispatch, as_json)
    if seconds is not None:
        refuse_options("needs rates, or a run without --seconds", "dispatch")
        return _stream(machine, front, index, seconds, swap, as_json)
    return _frames(machine, front, index, frames, dispatch, as_json)


def _frames(
    machine: Opened, front: Front, index: int, frames: int, dispatch: Dispatch, as_json: bool
) -> int:
    problem, design = front.problem, front.members[index].design
    names = [network.name for network in problem.networks]
    runs = DesignRuns(problem, design, dispatch=dispatch)
    with machine as here:
        runs.run(here, frames)
    predicted, ran = predict(problem, design), runs.result()
    measured = ran.figures
    kept = kept_guarantees(problem, design, ran) if dispatch is Dispatch.PLANNED else ()
    groups = _groups(problem, design, predicted.group_ms, measured.group_ms)
    makespan = _pair(predicted.makespan_ms, measured.makespan_ms)
    rate = _pair(predicted.frames_per_s, measured.frames_per_s)
    pairs = map(_pair, predicted.latency_ms, measured.latency_ms)
    latencies = dict(zip(names, pairs, strict=True))
    if as_json:
        document = {
            "member": index,
            "makespan_ms": {**makespan, "spread": ran.makespan.spread},
            "frames_per_s": {**rate, "spread": ran.period.spread},
            "latency_ms": latencies,
            "groups": groups,
            "frames": {"run": ran.frames, "counted": ran.makespan.samples},
            "lost_share": ran.lost_share,
        }
        if kept:
            document["guaranteed"] = {
                name: {**asdict(found), "unexplained": found.unexplained}
                for name, found in zip(names, kept, strict=True)
            }
        print_json(document)
        return 0
    totals = [
        ("makespan, ms", *_cells(**makespan)),
        *((f"latency of {name}, ms", *_cells(**pair)) for name, pair in latencies.items()),
        ("frames per second", *_cells(**rate)),
    ]
    _show(member_title(front, index), groups, totals)
    show(
        f"medians of {ran.makespan.samples} of {ran.frames} frames (middle half "
        f"{ran.makespan.spread:.1%}); cores taken by others: {ran.lost_share:.1%} of the time"
    )
    for name, found in zip(names, kept, strict=False):
        print(
            f"guaranteed latency of {name}: {found.guaranteed_ms:.3f} ms, longest "
            f"{found.longest_ms:.3f} ms; later: {found.late} of {ran.frames} frames, "
            f"{found.others} by no more than others took of the cores, {found.beyond} by no more "
            f"than groups took over the tolerance, {found.unexplained} unexplained"
        )
    return 0


def _releases(
    machine: Opened, front: Front, index: int, periods: int, dispatch: Dispatch, as_json: bool
) -> int:
    problem, design = front.problem, front.members[index].design
    check_periods(problem, periods)
    with machine as here:
        predicted, ran = run_releases(here, problem, design, periods, dispatch=dispatch)
    groups = _groups(problem, design, predicted.group_ms, ran.group_ms)
    if as_json:
        document = {
            "member": index,
            "responses": {
                network.name: {
                    key: _pair(value, getattr(ran.responses[n], key))
                    for key, value in vars(predicted.responses[n]).items()
                }
                for n, network in enumerate(problem.networks)
            },
            "groups": groups,
            "periods": ran.periods,
            "lost_share": ran.lost_share,
        }
        print_json(document)
        return 0
    totals: list[tuple[str, ...]] = []
    for network, one, other in zip(
        problem.networks, predicted.responses, ran.responses, strict=True
    ):
        longest = _cells(one.longest_ms, other.longest_ms)
        totals += [
            (f"longest response of {network.name}, ms", *longest),
            ("95th percentile", *_cells(one.percentile_95_ms, other.percentile_95_ms)),
            ("misses a period", f"{one.misses:.2f}", f"{other.misses:.2f}", ""),
        ]
    _show(member_title(front, index), groups, totals)
    period_ms = (problem.execution.period_ps or 0) / PS_PER_MS
    show(
        f"{ran.periods} periods of {period_ms:.6g} ms; medians of groups; cores taken by others: "
        f"{ran.lost_share:.1%} of the time"
    )
    return 0


def _stream(
    machine: Opened, front: Front, index: int, seconds: float, swap: bool, as_json: bool
) -> int:
    problem = front.problem
    fixed = schedule_of(problem, front.members[index].design, 0)
    networks = list(range(len(problem.networks)))
    workloads = [networks, *([n] for n in networks if len(networks) > 1)]
    with machine as here, ImprovingSchedules(problem, workloads, CHANGE_S) as improving:
        current = improving.current if swap else lambda: fixed
        found, _ = stream_for(here, problem, current, seconds)
    if as_json:
        print_json(asdict(found) | {"changes": max(0, improving.changes)})
    else:
        print(
            "schedules that improve" if swap else member_title(front, index),
            f"{found.frames} frames in {found.seconds:.1f} s: {found.frames / found.seconds:.2f} "
            f"per second, latency {found.latency_ms:.3f} ms (median), {found.latency_p99_ms:.3f} "
            "(99 %)",
            f"{max(0, improving.changes)} changes of the workload, {found.swaps} swaps of the "
            f"schedule; groups of frames lost: {found.lost}, doubled: {found.doubled}",
            "no energy counter that can be read"
            if found.joules is None
            else f"{1000 * found.joules / found.frames:.3f} mJ per frame, of the whole processor",
            sep="\n",
        )
    return 1 if found.lost or found.doubled else 0


def _pair(predicted: float, measured: float) -> dict[str, float]:
    return {"predicted": predicted, "measured": measured}


def _groups(
    problem: Problem, design: DesignPoint, predicted: Sequence[float], measured: Sequence[float]
) -> list[dict[str, Any]]:
    return [
        {
            "network": network.name,
            "group": name,
            "unit": problem.units[int(design.units[g])].name,
            "ms": _pair(predicted[g], measured[g]),
        }
        for network in problem.networks
        for g, name in zip(network.groups, network.group_names, strict=True)
    ]


def _cells(predicted: float, measured: float) -> tuple[str, str, str]:
    return f"{predicted:.3f}", f"{measured:.3f}", f"{predicted / measured - 1:+.1%}"


def _show(title: str, groups: Sequence[dict[str, Any]], totals: Sequence[tuple[str, ...]]) -> None:
    table = plain_table("network", "group", "unit", ">predicted\nms", ">measured\nms", ">off by")
    for group in groups:
        table.add_row(group["network"], group["group"], group["unit"], *_cells(**group["ms"]))
    below = plain_table("", ">predicted", ">measured", ">off by")
    for row in totals:
        below.add_row(*row)
    show(title, table, below)
