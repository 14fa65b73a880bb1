"""Replay files: which workloads follow each other, under ``dse/inputs/data/replay.schema.json``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import check_content, parse_input, read_input
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_of_document


@dataclass(frozen=True)
class PhasePlan:
    """One workload of a replay."""

    name: str
    workload: Workload


@dataclass(frozen=True)
class ReplayPlan:
    """What a replay file says; ``update_at_ms`` None: schedules are taken up at once."""

    title: str
    platform: str
    units: tuple[str, ...] | None
    groups: int | None
    max_transitions: int | None
    change_every_s: Fraction
    update_at_ms: tuple[Fraction, ...] | None
    phases: tuple[PhasePlan, ...]


def load_replay(path: str | Path) -> ReplayPlan:
    """The plan in a file; paths in it are relative to its folder.

    Raises:
        WorkloadError: where it cannot be read, does not fit the schema or contradicts itself; names
            the file and the place.
    """
    file = os.fspath(path)
    folder = os.path.dirname(file) or os.curdir
    document = parse_input(read_input(file), file, "replay")
    phases = []
    for index, phase in enumerate(document["phases"]):
        label = f"{file}: phases[{index}]"
        content = {"networks": phase["networks"]}
        check_content(content, label, "workload")
        try:
            workload = workload_of_document(content, folder)
        except WorkloadError as error:
            raise WorkloadError(f"{label}: {error}") from None
        names = ", ".join(network.name for network in workload.networks)
        phases.append(PhasePlan(phase.get("name", names), workload))
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
