"""Costs of tasks: work beside the networks whose times are known."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Context, localcontext
from fractions import Fraction

import numpy as np

from paretosoc.common.text import did_you_mean
from paretosoc.common.units import BYTES_PER_MB, PS_PER_MS, TRAFFIC_PER_BYTE
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.workload.workload import TaskTime, WorkloadNetwork
from paretosoc.fitness.cost_model.clock_law import DIGITS, LaunchTime, TimeParts, decimal, exact
from paretosoc.fitness.cost_model.power import ladder_shape
from paretosoc.fitness.cost_model.tables import CostError, CostOrigin, NetworkCosts, UnitCosts
from paretosoc.fitness.costs import standard_errors
from paretosoc.fitness.costs.measured import MeasuredGroup
from paretosoc.fitness.costs.network_costs import over_ladder
from paretosoc.fitness.costs.number_formats import UnitFormat
from paretosoc.platforms.measurement import NetworkProfile
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.platforms.source import Source, Status
from paretosoc.sdf.graph import Actor, SdfGraph
from paretosoc.sdf.grouping.groups import Group, GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork

KHZ_PER_MHZ = 1000


def units_of_tasks(
    networks: Sequence[WorkloadNetwork], platform: Platform
) -> tuple[tuple[Unit, ...], tuple[str, ...]]:
    """Return the units of the platform that tasks have times of, and notes on others: a workload
    may have times for several boards.

    Raises:
        WorkloadError: on a task without a time on any unit of the platform.
    """
    units, notes = set[str](), list[str]()
    for task in networks:
        named = dict.fromkeys(time.unit for time in task.times)
        known = [name for name in named if name in platform.unit_by_name]
        if named and not known:
            hint = did_you_mean(next(iter(named)), platform.unit_by_name)
            raise WorkloadError(
                f"task {task.name!r}: times: a unit of {platform.name} is required, got "
                f"{', '.join(map(repr, named))} ({hint})"
            )
        units.update(known)
        notes += [
            f"{task.name}: its time on {name} is not used: {platform.name} has no such unit"
            for name in named
            if name not in known
        ]
    return tuple(unit for unit in platform.units if unit.name in units), tuple(notes)


def task_tables(
    task: WorkloadNetwork, platform: Platform, entries: Sequence[UnitFormat]
) -> NetworkTables:
    """Return a task as a network of one group, which its units run in any number format.

    Raises:
        WorkloadError: on a clock that a unit does not have, a time that is there twice, or more
            traffic than the memory can move in the time.
    """
    layer = Layer(task.name, "Task", LayerKind.UNKNOWN, 0, 0, 0, 0)
    graph = SdfGraph(task.name, (Actor(task.name, layer),))
    digest = hashlib.sha256(repr(task.times).encode()).hexdigest()
    first = [all(other.unit is not e.unit for other in entries[:k]) for k, e in enumerate(entries)]
    costs = NetworkCosts(
        network=task.name,
        units=tuple(
            _costs(task, platform, entry, is_first=once)
            for entry, once in zip(entries, first, strict=True)
        ),
        transition_ps=np.zeros((0, len(entries), len(entries)), dtype=np.int64),
    )
    return NetworkTables(
        task,
        ImportedNetwork(graph, (), (), (), (), digest),
        GroupedNetwork(task.name, graph, (Group(task.name, (layer,), 0, 0),), ()),
        costs,
    )


def _costs(
    task: WorkloadNetwork, platform: Platform, entry: UnitFormat, *, is_first: bool
) -> UnitCosts:
    """Return the costs on a unit, for the first of several number formats: the task is the same."""
    unit, number_format = entry.unit, entry.number_format if entry.is_choice else None
    times = [time for time in task.times if time.unit == unit.name]
    if not times or not is_first:
        why = "the workload has no time of it there" if not times else "as in another format"
        return no_costs(platform, entry, 1, f"{task.name}: {why}")
    measured = [_measured(task, platform, unit, time) for time in times]
    clocks = [group.profile.clocks_khz for group in measured]
    if len(set(clocks)) < len(clocks):
        raise WorkloadError(
            f"task {task.name!r}: times: each clock of {unit.name} at most once, got "
            f"{', '.join(f'{dict(c)[unit.clocks[0]] / KHZ_PER_MHZ:g} MHz' for c in clocks)}"
        )
    time_ps, demand_kbps, power = over_ladder(
        platform,
        unit,
        [group.parts for group in measured],
        measured,
        f"task {task.name!r} on {unit.name}",
    )
    return UnitCosts(
        unit=unit.name,
        clocks=unit.clocks,
        time_ps=time_ps[None],
        demand_kbps=demand_kbps[None],
        dynamic_mw=power[None],
        origin=(CostOrigin.GIVEN,),
        note=(measured[0].source,),
        error=(standard_errors.measured(measured),),
        number_format=number_format,
    )


def _measured(
    task: WorkloadNetwork, platform: Platform, unit: Unit, time: TaskTime
) -> MeasuredGroup:
    """Return a time as measured alone: its transfers take as long as the memory needs, the rest
    follows the unit's clock."""
    label = f"task {task.name!r}: times of {unit.name}"
    ladder = platform.ladder_khz(unit.clocks[0])
    khz = ladder[-1] if time.mhz is None else time.mhz * KHZ_PER_MHZ
    if khz not in ladder:
        known = ", ".join(f"{point / KHZ_PER_MHZ:g}" for point in ladder)
        raise WorkloadError(f"{label}: mhz must be one of {known}, got {float(time.mhz or 0):g}")
    total = time.ms * PS_PER_MS
    traffic = round(time.traffic_mb * BYTES_PER_MB) * TRAFFIC_PER_BYTE
    memory = Fraction(traffic, platform.memory_peak_kbps)
    if memory > total:
        most = float(platform.memory_peak_kbps * total / TRAFFIC_PER_BYTE / BYTES_PER_MB)
        raise WorkloadError(
            f"{label}: the memory moves at most {most:.6g} MB in "
            f"{float(time.ms):g} ms, got traffic_mb {float(time.traffic_mb):g}"
        )
    overlap = unit.clock_law.overlap
    with localcontext(Context(prec=DIGITS)):
        power = decimal(overlap)
        rest = exact((decimal(total) ** power - decimal(memory) ** power) ** (1 / power))
    compute = rest / Fraction(ladder[-1], int(khz))
    fastest = platform.ladder_khz(unit.clocks[-1])[-1]
    source = f"{float(time.ms):g} ms at {int(khz) / KHZ_PER_MHZ:g} MHz: the workload"
    return MeasuredGroup(
        profile=NetworkProfile(
            names=(task.name,),
            macs=None,
            precision="",
            clocks_khz=((unit.clocks[0], int(khz)), (unit.clocks[-1], fastest)),
            groups=(),
            layers=(),
            transitions=(),
            source=Source(Status.MEASURED, source),
        ),
        parts=TimeParts(
            (LaunchTime(compute, memory, 1),), overlap, Fraction(1), Fraction(0), traffic
        ),
        has_time=True,
        has_traffic=True,
        is_alone=True,
        power_mw=time.power_mw,
        source=source,
    )


def no_costs(platform: Platform, entry: UnitFormat, groups: int, why: str) -> UnitCosts:
    """Return the costs on a unit that can run none of so many groups."""
    never = np.full((groups, *ladder_shape(platform, entry.unit)), -1, dtype=np.int64)
    nothing = np.zeros_like(never)
    return UnitCosts(
        unit=entry.unit.name,
        clocks=entry.unit.clocks,
        time_ps=never,
        demand_kbps=nothing,
        dynamic_mw=nothing,
        origin=(CostOrigin.CANNOT_RUN,) * groups,
        note=(why,) * groups,
        error=(CostError(),) * groups,
        number_format=entry.number_format if entry.is_choice else None,
    )


def on_further_units(
    costs: NetworkCosts,
    platform: Platform,
    served: Sequence[UnitFormat],
    entries: Sequence[UnitFormat],
    why: str,
) -> NetworkCosts:
    """Return the costs of a network with units that it cannot run on, because only tasks do.

    Args:
        served: entries that ``costs`` has, in the order of ``entries``.
        why: text on the others.
    """
    if len(served) == len(entries):
        return costs
    place = [entries.index(entry) for entry in served]
    groups = len(costs.units[0].origin)
    own = dict(zip(place, costs.units, strict=True))
    transition_ps = np.zeros((len(costs.transition_ps), len(entries), len(entries)), dtype=np.int64)
    transition_ps[:, np.array(place)[:, None], np.array(place)] = costs.transition_ps
    return NetworkCosts(
        network=costs.network,
        units=tuple(
            own[u] if u in own else no_costs(platform, entry, groups, why)
            for u, entry in enumerate(entries)
        ),
        transition_ps=transition_ps,
        refused=costs.refused,
        notes=costs.notes,
    )
