"""Dataflow graphs of SDF3 as networks: their blocks are groups, with given costs as tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.problem.task_tables import task_tables
from paretosoc.dse.workload.options import Options, as_written
from paretosoc.dse.workload.workload import TaskTime, Workload, WorkloadNetwork, short_name
from paretosoc.fitness.cost_model.tables import NetworkCosts, of_all_groups
from paretosoc.fitness.costs.network_costs import choose_units
from paretosoc.fitness.costs.number_formats import UnitFormat
from paretosoc.fitness.costs.transitions import carrying_ps
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.analysis.blocks import BlockedIteration, blocked_iteration
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.sdf3_xml import MAX_BYTES, parse_sdf3
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.grouping.groups import Group, GroupEdge, GroupedNetwork
from paretosoc.sdf.onnx.importer import ImportedNetwork
from paretosoc.sdf.rates import in_phases


@dataclass(frozen=True)
class GraphOnUnits:
    """A dataflow graph, and the times of its blocks on a platform."""

    name: str
    sha256: str
    """Hash of the file."""
    iteration: BlockedIteration
    times: tuple[tuple[TaskTime, ...], ...]
    """Of each block, on the units that can run it."""


def read_graph_on_units(source: str, platform: Platform, options: Options) -> GraphOnUnits:
    """Return the graph of a file in SDF3's format, with its times on a platform.

    An execution time is a number of cycles of the unit's clock. The unit has that of the first of
    its processor types, its name and its kind that the actor has a time for.

    Raises:
        GraphError: if the file cannot be read, or its graph is inconsistent or deadlocks.
        WorkloadError: on actors that no unit can run.
    """
    data = read_file(Path(source), GraphError, MAX_BYTES)
    graph = parse_sdf3(data, origin=source)
    iteration = blocked_iteration(graph)
    units = choose_units(platform, options.units)
    times = []
    for block in iteration.blocks:
        actors = [graph.actor_by_name[name] for name in block]
        cycles = {unit: _cycles(actors, unit, iteration) for unit in units}
        found = tuple(
            TaskTime(unit.name, Fraction(count, platform.ladder_khz(unit.clocks[0])[-1]))
            for unit, count in cycles.items()
            if count is not None
        )
        if not found:
            raise _no_unit(graph.name, actors, platform, units)
        times.append(found)
    return GraphOnUnits(
        graph.name or short_name(source), hashlib.sha256(data).hexdigest(), iteration, tuple(times)
    )


def _types_of(unit: Unit) -> tuple[str, ...]:
    return (*unit.processor_types, unit.name, unit.kind)


def _cycles(actors: Sequence[Actor], unit: Unit, iteration: BlockedIteration) -> int | None:
    """Return the time of all firings, at least one cycle, or None if the unit cannot run them."""
    total = 0
    for actor in actors:
        known = dict(actor.execution_times)
        kind = next((kind for kind in _types_of(unit) if kind in known), None)
        if kind is None:
            return None
        rounds = iteration.repetitions[actor.name] // len(actor.phases)
        total += rounds * sum(in_phases(known[kind], len(actor.phases)))
    return max(1, total)


def _no_unit(
    name: str, actors: Sequence[Actor], platform: Platform, units: Sequence[Unit]
) -> WorkloadError:
    has = "; ".join(
        f"{actor.name} has a time on {', '.join(kind for kind, _ in actor.execution_times)}"
        if actor.execution_times
        else f"{actor.name} has none"
        for actor in actors
    )
    known = ", ".join(
        f"{unit.name} ({', '.join(dict.fromkeys(_types_of(unit)))})" for unit in units
    )
    turns = ", which fire by turns and are mapped as one" if len(actors) > 1 else ""
    return WorkloadError(
        f"graph {name!r}: an execution time of {' + '.join(actor.name for actor in actors)}{turns} "
        f"on a unit is required; the units of {platform.name} and their processor types are "
        f"{known}; {has}"
    )


def graph_tables(
    entry: WorkloadNetwork, graph: GraphOnUnits, platform: Platform, entries: Sequence[UnitFormat]
) -> NetworkTables:
    """Return a graph as a network whose groups are its blocks.

    Channels within an iteration are edges, and so are the free places of those with a capacity. A
    tensor element of this network is a number of the widest format, so that memory and channels
    count the bytes of tokens. Initial tokens are constants of the group that writes the channel.

    Raises:
        WorkloadError: on a time that is too long.
    """
    iteration, width = graph.iteration, max(entry.bytes_per_element for entry in entries)
    names = ["+".join(block) for block in iteration.blocks]
    tasks = [
        task_tables(replace(entry, name=name, times=times), platform, entries)
        for name, times in zip(names, graph.times, strict=True)
    ]
    sizes: dict[tuple[int, int], int] = {}
    state, passed_on = [0] * len(names), [0] * len(names)
    tensors = []
    for k, each in enumerate(iteration.channels):
        state[each.source] += each.initial_size
        elements = -(-each.size // width)
        if each.channel.source != each.channel.target:
            passed_on[each.source] += elements
        if each.source == each.target:
            continue
        # What a later iteration reads is held to the end of this one.
        target = len(names) - 1 if each.is_earlier else each.target
        if each.source < target and elements:
            ends = names[each.source], names[target]
            tensors.append(Channel(*ends, elements, elements, name=f"{k}"))
        if not each.is_earlier:
            pair = each.source, each.target
            sizes[pair] = sizes.get(pair, 0) + each.size
    layers = [
        replace(
            task.grouped.groups[0].layers[0],
            parameters=state[g],
            narrow_parameters=state[g],
            narrow_bits=8 * state[g],
            output_elements=passed_on[g],
        )
        for g, task in enumerate(tasks)
    ]
    network = SdfGraph(
        graph.name,
        tuple(Actor(name, layer) for name, layer in zip(names, layers, strict=True)),
        tuple(tensors),
    )
    units = [unit_format.unit for unit_format in entries]
    delays = [carrying_ps(platform, units, size) for size in sizes.values()]
    costs = NetworkCosts(
        network=graph.name,
        units=tuple(map(of_all_groups, zip(*(task.costs.units for task in tasks), strict=True))),
        transition_ps=np.array(delays, dtype=np.int64).reshape(-1, len(entries), len(entries)),
    )
    groups = tuple(
        Group(name, (layer,), 0, passed_on[g])
        for g, (name, layer) in enumerate(zip(names, layers, strict=True))
    )
    edges = tuple(GroupEdge(*pair, -(-size // width)) for pair, size in sizes.items())
    return NetworkTables(
        entry,
        ImportedNetwork(network, (), (), (), (), graph.sha256),
        GroupedNetwork(graph.name, network, groups, edges),
        costs,
    )


def within_most_iterations(
    workload: Workload, options: Options, graphs: Sequence[GraphOnUnits]
) -> tuple[Workload, tuple[str, ...]]:
    """Return the workload with no more frames in flight than initial tokens of graphs allow, and
    notes on those that allow fewer than it had.

    Raises:
        WorkloadError: if the options ask for more.
    """
    notes = []
    for graph in graphs:
        most, by = graph.iteration.most_iterations, graph.iteration.limited_by
        if most is None:
            continue
        if options.frames_in_flight is not None and options.frames_in_flight > most:
            raise WorkloadError(
                f"{as_written('frames_in_flight')}: at most {most} is possible, as {by} has the "
                f"initial tokens of no more iterations, got {options.frames_in_flight}"
            )
        if options.frames_in_flight is None and workload.frames_in_flight > most:
            workload = replace(workload, frames_in_flight=most)
            notes.append(f"frames in flight: {most}, as {by} has the initial tokens of no more")
    return workload, tuple(notes)
