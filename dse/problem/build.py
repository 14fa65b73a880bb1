"""Building the numeric problem from networks and a platform: import, group, cost, assemble; and the
origins of its costs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, MutableMapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.problem.assemble import assemble
from paretosoc.dse.problem.graph_tables import (
    graph_tables,
    read_graph_on_units,
    within_most_iterations,
)
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.dse.problem.network_tables import NetworkTables, check_size, network_tables
from paretosoc.dse.problem.phases import with_handovers
from paretosoc.dse.problem.runtime_limits import (
    check_formats,
    check_images,
    chosen_runtime,
    served_units,
    unserved_units,
)
from paretosoc.dse.problem.task_tables import on_further_units, task_tables, units_of_tasks
from paretosoc.dse.problem.warnings import loss_warnings, problem_warnings
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.with_options import with_options, with_releases
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.fitness.cost_model.tables import NetworkCosts
from paretosoc.fitness.costs.number_formats import UnitFormat, choose_formats, unit_formats
from paretosoc.fitness.costs.standard_errors import DEMAND, IDLE_POWER, SHARING_OVERHEAD
from paretosoc.fitness.profiles.loss_table import LossTable
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import (
    CostOrigins,
    GroupOrigins,
    NetworkOrigins,
    NetworkSource,
    UnitOrigin,
)
from paretosoc.results.front.front import InputFile
from paretosoc.results.problem.execution import LongRun
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime
from paretosoc.sdf.catalogue.catalogue import catalogue
from paretosoc.sdf.grouping.groups import GroupedNetwork


@dataclass(frozen=True, eq=False)
class BuiltProblem:
    """A problem with its inputs."""

    workload: Workload
    """With the sizes, batches and scenario of the options."""
    problem: Problem
    networks: tuple[GroupedNetwork, ...]
    sources: tuple[NetworkSource, ...]
    """The model of each network."""
    costs: tuple[NetworkCosts, ...]
    precision: str
    """The number format of the costs, or several with commas if groups choose."""
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]
    raised: tuple[str, ...] = ()
    """Texts about limits of unit changes that are higher for groups that units cannot run."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Return texts about groups that units cannot run."""
        found = (
            f"{network.original}: {text}"
            for network, costs in zip(self.workload.networks, self.costs, strict=True)
            for text in costs.refused
        )
        return (*dict.fromkeys(found), *self.raised)


_Key = tuple[Hashable, ...]
_MAX_NETWORKS = 32
_networks: OrderedDict[Hashable, NetworkTables] = OrderedDict()
"""The last networks of the catalogue that this process has read, cut and costed."""


def _key(network: WorkloadNetwork) -> _Key:
    """Return all that a network's tables depend on: model, sizes, growth and its repeats, and
    batch; for a task its name and times, for a dataflow graph its file."""
    if network.is_task:
        return (network.source or network.name, network.times)
    return (
        *(network.source, network.dimensions, network.grows),
        *(network.repeats if network.grows else 1, network.batch),
    )


def build_problem(
    workload: Workload,
    platform: Platform,
    options: Options | None = None,
    *,
    profile: Profile | None = None,
    losses: LossTable | None = None,
    known: MutableMapping[Hashable, NetworkTables] | None = None,
) -> BuiltProblem:
    """Return the numeric problem of a workload on a platform.

    Args:
        losses: accuracy that number formats cost.
        known: networks that earlier calls have read, cut and costed, each under all that this
            depends on (a file under its path alone). New ones are added. None: the last ones of
            the catalogue, since files may change.

    Raises:
        GraphError: if a network cannot be read or cut.
        PlatformError: on a unit or precision that the platform does not have.
        WorkloadError: on a workload that contradicts itself, options that do not fit, or a layer
            that no requested unit can run.
        ResultError: on figures whose products would leave int64.
    """
    options = options or Options()
    given = with_options(workload, options)
    check_workload(given)
    workload = with_releases(given)
    runtime = chosen_runtime(options, workload) or Runtime.NONE
    units = served_units(platform, options, runtime)
    formats = choose_formats(platform, options.precision)
    check_formats(RUNTIMES[runtime], formats, runtime)
    served = unit_formats(units, formats)
    graphs = {
        network.source: read_graph_on_units(network.source, platform, options)
        for network in workload.networks
        if network.is_graph
    }
    workload, fewer = within_most_iterations(workload, options, list(graphs.values()))
    of_tasks, unused = units_of_tasks(workload.networks, platform)
    of_graphs = {time.unit for graph in graphs.values() for own in graph.times for time in own}
    choices = unit_formats(
        [
            unit
            for unit in platform.units
            if unit in units or unit in of_tasks or unit.name in of_graphs
        ],
        formats,
    )
    catalogued = {entry.name for entry in catalogue()} if known is None else set()
    tables: dict[_Key, NetworkTables] = {}
    for network in workload.networks:
        key = _key(network)
        if key in tables:
            continue
        under = (
            *(*key, platform.sha256, tuple(unit.name for unit in units), formats),
            options.groups,
            None if profile is None else profile.sha256,
        )
        if network.is_graph:
            tables[key] = graph_tables(network, graphs[network.source], platform, choices)
            continue
        if network.is_task:
            tables[key] = task_tables(network, platform, choices)
            continue
        kept = _networks if network.source in catalogued else known
        found = None if kept is None else kept.get(under)
        if found is None:
            found = network_tables(network, platform, units, served, options, profile)
        if kept is not None:
            kept[under] = found
        while len(_networks) > _MAX_NETWORKS:
            _networks.popitem(last=False)
        why = f"{RUNTIMES[runtime].title} does not serve it"
        costs_there = on_further_units(found.costs, platform, served, choices, why)
        tables[key] = replace(found, costs=costs_there)
    entries = [tables[_key(network)] for network in workload.networks]
    models = dict.fromkeys(_key(network) for network in workload.networks if not network.is_task)
    imported = [tables[key].imported for key in models]
    check_images(RUNTIMES[runtime], imported)
    groups = tuple(entry.grouped for entry in entries)
    check_size(groups)
    costs = tuple(entry.costs for entry in entries)
    board = platform.board_mw if profile is None or profile.board_mw is None else profile.board_mw
    lost = None
    if losses is not None:
        lost = [_losses_of(workload, groups, losses, choice) for choice in choices]
    problem, notes, raised = assemble(
        workload, platform, options, choices, groups, costs, board, lost, runtime
    )
    # Copies of a network have its tables.
    phases = [replace(e, entry=n) for e, n in zip(entries, workload.networks, strict=True)]
    problem = with_handovers(problem, phases, platform, choices)
    check_magnitudes(problem)
    return BuiltProblem(
        workload=given,
        problem=problem,
        networks=groups,
        sources=tuple(
            NetworkSource(
                network.source,
                entry.imported.sha256 if network.is_task else entry.imported.graph_sha256,
                tuple(sorted(network.dimensions)),
                network.batch,
                network.is_task,
            )
            for network, entry in zip(workload.networks, entries, strict=True)
        ),
        costs=costs,
        precision=",".join(formats),
        inputs=(
            *(InputFile(network.graph.name, network.sha256) for network in imported),
            *(InputFile(graph.name, graph.sha256) for graph in graphs.values()),
            *(InputFile(name, digest) for name, digest in workload.inputs),
            InputFile(platform.name, platform.sha256, platform.file),
            *(() if losses is None else (InputFile(losses.name, losses.sha256),)),
        ),
        warnings=(
            *notes,
            *(fewer if isinstance(problem.execution, LongRun) else ()),
            *unused,
            *unserved_units(platform, options, runtime),
            *problem_warnings(
                workload.networks, entries, platform, formats, profile, options.dimensions
            ),
            *(() if losses is None else loss_warnings(problem, groups, losses)),
        ),
        raised=raised,
    )


def _losses_of(
    workload: Workload, groups: Sequence[GroupedNetwork], losses: LossTable, choice: UnitFormat
) -> IntArray:
    """Return [groups of all networks]: accuracy that each loses in the format, ppm."""
    rows = [
        (0,) * len(grouped.groups)
        if entry.is_task
        else losses.of_groups(
            (entry.name, grouped.name),
            choice.number_format,
            [group.layers for group in grouped.groups],
        )
        for entry, grouped in zip(workload.networks, groups, strict=True)
    ]
    return np.array([loss for row in rows for loss in row], dtype=np.int64)


def cost_origins(built: BuiltProblem) -> CostOrigins:
    """Return the content of every group, and the origin of its costs on every unit."""
    return CostOrigins(
        precision=built.precision,
        idle_error=IDLE_POWER,
        demand_error=DEMAND,
        sharing_error=SHARING_OVERHEAD,
        networks=tuple(
            NetworkOrigins(
                name=entry.name,
                source=source,
                groups=tuple(
                    GroupOrigins(
                        name=group.name,
                        layers=tuple(layer.name for layer in group.layers),
                        macs=group.macs,
                        parameters=group.parameters,
                        by_unit=tuple(
                            UnitOrigin(unit.origin[g], unit.note[g], unit.error[g])
                            for unit in table.units
                        ),
                    )
                    for g, group in enumerate(network.groups)
                ),
            )
            for entry, source, network, table in zip(
                built.problem.networks, built.sources, built.networks, built.costs, strict=True
            )
        ),
    )
