"""Periodic schedules of a network on arrays of several sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.operation_graph import fused_groups, split_operations
from paretosoc.dse.papers.mobile_i.pe_array import (
    engine_array,
    firing_task_graph,
    pe_array_of,
    task_graph,
)
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule, TaskGraph
from paretosoc.dse.papers.mobile_i.result import PeriodicResult, undominated
from paretosoc.dse.papers.mobile_i.schedule.schedulers import (
    DEFAULT_INFERENCES,
    memolution,
    mobile_i,
    sparta,
)
from paretosoc.dse.version import program_version
from paretosoc.fitness.profiles.profile_file import Profile, load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats import is_graph_file
from paretosoc.sdf.formats.sdf3_xml import MAX_BYTES, parse_sdf3


def _source(
    network: str,
    chip: Platform,
    parts: int,
    precision: str | None,
    profile: Profile | None,
    dimensions: Mapping[str, int] | None,
) -> tuple[str, str, Callable[[int], TaskGraph]]:
    """Return a name, a hash, and a function of the number of engines: the task graph."""
    if is_graph_file(network):
        if parts != 1 or precision is not None or profile is not None or dimensions:
            raise WorkloadError(
                f"{network}: a dataflow graph has its own times: --split, --precision, --profile "
                "and --dim are for networks"
            )
        data = read_file(network, GraphError, MAX_BYTES)
        firings = parse_sdf3(data, origin=network)
        graph = firing_task_graph(firings, chip)
        return firings.name, hashlib.sha256(data).hexdigest(), lambda _: graph
    imported = load_network(network, dimensions=dimensions)
    groups = fused_groups(imported.graph)
    operations = split_operations(groups, parts)

    def timed(engines: int) -> TaskGraph:
        return task_graph(operations, groups, chip, engines, precision=precision, profile=profile)

    return imported.graph.name, imported.sha256, timed


def explore_periodic(
    network: str,
    platform: str | Platform,
    *,
    engines: Sequence[int] | None = None,
    inferences: int = DEFAULT_INFERENCES,
    parts: int = 1,
    precision: str | None = None,
    profile: str | Path | None = None,
    dimensions: Mapping[str, int] | None = None,
    command: str = "",
) -> PeriodicResult:
    """Return Mobile-I's schedules and, beside them, SPARTA's and Memolution's.

    Members are Mobile-I's schedules that no other of its dominates in latency, number of engines
    and energy, fastest first. Every schedule is simulated and checked against its rules.

    Args:
        network: a name of the catalogue, an ``.onnx`` file, or a dataflow graph (SDF3, ``.xml``),
            whose execution times are cycles of the engine.
        platform: one with an array of engines.
        engines: sizes of the array. None: all that the platform has.
        parts: operations that a layer is split into at most.
        profile: a file of the user's own measurements.

    Raises:
        GraphError, PlatformError: on input that cannot be used.
    """
    chip = load_platform(platform) if isinstance(platform, str) else platform
    measured = None if profile is None else load_profile(profile, chip)
    name, sha256, graph_for = _source(network, chip, parts, precision, measured, dimensions)
    best: list[PeriodicSchedule] = []
    others: list[PeriodicSchedule] = []
    sizes = pe_array_of(chip).counts if engines is None else dict.fromkeys(engines)
    for count in sizes:
        array = engine_array(chip, count)
        graph = graph_for(count)
        schedule = mobile_i(graph, array, inferences=inferences)
        best.append(schedule)
        others += [sparta(graph, array, schedule.copies), memolution(graph, array, schedule.copies)]
    for schedule in (*best, *others):
        broken = broken_rule(schedule)
        assert broken is None, f"{schedule.method}: {broken}"
    return PeriodicResult(
        network=name,
        platform=chip.name,
        platform_sha256=chip.sha256,
        network_sha256=sha256,
        inferences=inferences,
        parts=parts,
        command=command,
        version=program_version(),
        members=tuple(
            sorted(undominated(best, inferences), key=lambda s: s.latency_ps(inferences))
        ),
        others=tuple(others),
    )
