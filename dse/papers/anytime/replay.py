"""Fig. 7 of HaX-CoNN simulated: workloads change, schedules improve, frame follows frame.

Replay files, under ``dse/inputs/data/replay.schema.json``, say which workloads follow each other.
The search is the one of :mod:`dse.certificate.improve`. Only the frames are simulated, each taking
the makespan of the schedule that is in use when it starts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from paretosoc.common.files import naming
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.certificate.certify import DEFAULT_NODES
from paretosoc.dse.certificate.improve import (
    Clock,
    FinalSchedule,
    Published,
    find_fastest,
    improve,
    naive_schedule,
)
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.dse.inputs.documents import check_content, parse_input, read_input
from paretosoc.dse.papers.anytime.record import Replay, ReplayFrame, ReplayPhase, ReplaySchedule
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_of_document
from paretosoc.fitness.warm_up import warm_up
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class ReplayPlan:
    """The content of a replay file. ``update_at_ms`` None: schedules are taken up at once."""

    title: str
    platform: str
    units: tuple[str, ...] | None
    groups: int | None
    max_transitions: int | None
    change_every_s: Fraction
    update_at_ms: tuple[Fraction, ...] | None
    phases: tuple[tuple[str, Workload], ...]
    """The names of workloads, and these, in the order in which they follow each other."""


def load_replay(path: str | Path) -> ReplayPlan:
    """Read the plan in a file. Paths in it are relative to its folder.

    Raises:
        WorkloadError: if the file cannot be read, does not fit the schema or contradicts itself.
            The message names the file and the place.
    """
    file = os.fspath(path)
    folder = os.path.dirname(file) or os.curdir
    document = parse_input(read_input(file), file, "replay")
    phases = []
    for index, phase in enumerate(document["phases"]):
        label = f"{file}: phases[{index}]"
        content = {"networks": phase["networks"]}
        check_content(content, label, "workload")
        with naming(label, WorkloadError):
            workload = workload_of_document(content, folder)
        names = ", ".join(network.name for network in workload.networks)
        phases.append((phase.get("name", names), workload))
    instants = document.get("update_at_ms")
    platform = document["platform"]
    return ReplayPlan(
        title=document.get("title", os.path.basename(file)),
        platform=os.path.join(folder, platform) if platform.endswith(".json") else platform,
        units=None if "units" not in document else tuple(document["units"]),
        groups=document.get("groups"),
        max_transitions=document.get("max_transitions"),
        change_every_s=Fraction(document.get("change_every_s", 10)),
        update_at_ms=None if instants is None else tuple(sorted(map(Fraction, instants))),
        phases=tuple(phases),
    )


MAX_FRAMES = 1_000_000


def simulate_replay(
    plan: ReplayPlan, *, nodes_per_second: int | None = None, clock: Clock = time.monotonic
) -> Replay:
    """Simulate a plan. Groups, costs and oracles of all workloads are made before it begins.

    Args:
        nodes_per_second: the search takes its nodes over this, on any machine alike, and a proof
            no longer than its search. None: as long as ``clock`` says.

    Raises:
        GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used.
        InfeasibleError: if no schedule keeps all constraints.
    """
    chip = load_platform(plan.platform)
    options = Options(
        objectives=("latency",),
        units=plan.units,
        groups=plan.groups,
        max_transitions=() if plan.max_transitions is None else ((None, plan.max_transitions),),
        fixed=tuple((domain.name, "max") for domain in chip.domains),
    )
    warm_up()
    problems = [build_problem(workload, chip, options).problem for _, workload in plan.phases]
    # The oracles are found from nothing: they share the search, but nothing that was published.
    oracles = [find_fastest(problem, max_nodes=DEFAULT_NODES) for problem in problems]
    every = plan.change_every_s
    phases: list[ReplayPhase] = []
    for index, ((name, workload), problem, oracle) in enumerate(
        zip(plan.phases, problems, oracles, strict=True)
    ):
        published, ended = _searched(problem, every, nodes_per_second, clock)
        if not published:
            raise InfeasibleError(f"{name}: no schedule was found that keeps all constraints")

        def seconds(nodes: int, measured: float) -> float:
            return measured if nodes_per_second is None else nodes / nodes_per_second

        searched = ended.searched_s
        proof = ended.certificate
        proved = proof is not None and proof.status is CertificateStatus.CERTIFIED
        phases.append(
            ReplayPhase(
                name=name,
                networks=tuple(network.name for network in workload.networks),
                begins_s=float(index * every),
                ends_s=float((index + 1) * every),
                schedules=_taken_up(
                    published, [seconds(p.nodes, p.seconds) for p in published], plan.update_at_ms
                ),
                baseline_ps=published[0].value,
                oracle_ps=min(
                    published[-1].value,
                    published[-1].value if oracle.best_value is None else oracle.best_value,
                ),
                oracle_proved=oracle.complete,
                nodes=ended.nodes,
                searched_s=None if searched is None else seconds(ended.nodes, searched),
                proved_s=seconds(ended.nodes, ended.seconds) if proved else None,
                status=CertificateStatus.GAP.value if proof is None else proof.status.value,
            )
        )
    return Replay(
        title=plan.title,
        platform=chip.name,
        clock="measured" if nodes_per_second is None else f"{nodes_per_second} nodes/s",
        phases=tuple(phases),
        frames=_frames(phases, every),
    )


def _searched(
    problem: Problem, limit_s: Fraction, nodes_per_second: int | None, clock: Clock
) -> tuple[list[Published], FinalSchedule]:
    """Return all schedules published before the next change, and the end of the search."""
    start = naive_schedule(problem, clock=clock)
    published = [] if start is None else [start]
    nodes = None if nodes_per_second is None else max(1, int(limit_s * nodes_per_second))
    seconds = float(limit_s) if nodes is None else None
    for step in improve(problem, start, max_nodes=nodes, time_limit_s=seconds, clock=clock):
        if isinstance(step, FinalSchedule):
            return published, step
        published.append(step)
    raise AssertionError("a search ends with its end")


def _taken_up(
    published: Sequence[Published], found_s: Sequence[float], instants: Sequence[Fraction] | None
) -> tuple[ReplaySchedule, ...]:
    """Return when each schedule is used: at once, or at the first instant after it was found unless
    a better one was there by then. The first is there from the beginning."""
    used: list[float | None] = list(found_s)
    used[0] = 0.0
    if instants is not None:
        times = [float(instant) / 1000 for instant in instants]
        for index in range(1, len(published)):
            used[index] = next((t for t in times if t >= found_s[index]), None)
        for index in range(1, len(published) - 1):
            if used[index] == used[index + 1]:
                used[index] = None
    return tuple(
        ReplaySchedule(p.value, p.source, p.nodes, found, taken)
        for p, found, taken in zip(published, found_s, used, strict=True)
    )


def _frames(phases: Sequence[ReplayPhase], every: Fraction) -> tuple[ReplayFrame, ...]:
    """Return frame after frame, at most ``MAX_FRAMES``. One that has begun keeps its schedule."""
    frames: list[ReplayFrame] = []
    now = 0
    for index, phase in enumerate(phases):
        begins, ends = (int(k * every * PS_PER_S) for k in (index, index + 1))
        while now < ends:
            after_s = (now - begins) / PS_PER_S
            schedule = max(
                i
                for i, entry in enumerate(phase.schedules)
                if entry.used_s is not None and (i == 0 or entry.used_s <= after_s)
            )
            latency = phase.schedules[schedule].latency_ps
            frames.append(ReplayFrame(index, now, latency, schedule))
            now += latency
            if len(frames) > MAX_FRAMES:
                raise InfeasibleError(
                    f"change_every_s: at most {MAX_FRAMES} frames are replayed; "
                    f"{phase.name} takes {latency} ps a frame"
                )
    return tuple(frames)
