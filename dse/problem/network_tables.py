"""Reads the networks of a workload, cuts them into groups and costs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.errors import WorkloadError
from dse.problem.phases import (
    grouped_alike,
    growing_costs,
    grown_dimensions,
)
from dse.workload.options import Options
from dse.workload.workload import WorkloadNetwork
from fitness.cost_model.support import layer_support
from fitness.cost_model.tables import NetworkCosts
from fitness.costs.network_costs import network_costs
from fitness.profiles.profile_file import Profile
from platforms.platform import Platform, Unit
from sdf.catalogue.catalogue import load_network
from sdf.grouping.grouping import group_network
from sdf.grouping.groups import GroupedNetwork
from sdf.onnx.importer import ImportedNetwork

MAX_GROUPS = 4_000
"""Of a problem: a search takes about half a megabyte for each."""
MAX_EDGES = 400_000
"""Between them: each has a table of transition times."""


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A network that was read, cut into groups, and costed on the units of a platform."""

    imported: ImportedNetwork
    grouped: GroupedNetwork
    costs: NetworkCosts
    grown: ImportedNetwork | None
    """As in :class:`dse.problem.phases.PhaseModel`."""


def network_tables(
    network: WorkloadNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    options: Options,
    profile: Profile | None,
) -> NetworkTables:
    """Reads, cuts and costs one network of a workload.

    Raises:
        GraphError: where it cannot be read or cut.
        WorkloadError: where it has too many groups, or a layer that no unit can run.
    """
    imported = load_network(network.source, dimensions=dict(network.dimensions))
    grouped = _grouped(imported, platform, units, precision, options)
    check_size([grouped])

    def costs_of(of: GroupedNetwork) -> NetworkCosts:
        names = [unit.name for unit in units]
        return network_costs(of, platform, precision=precision, units=names, profile=profile)

    costs = costs_of(grouped)
    if not network.grows:
        return NetworkTables(imported, grouped, costs, None)
    grown = load_network(network.source, dimensions=grown_dimensions(network))
    last = costs_of(grouped_alike(grouped, grown))
    return NetworkTables(imported, grouped, growing_costs(costs, last, network.repeats), grown)


def check_size(networks: Sequence[GroupedNetwork]) -> None:
    """Refuses more groups or edges, of all networks together, than a search has memory for.

    Raises:
        WorkloadError: naming the networks and both limits.
    """
    groups = sum(len(network.groups) for network in networks)
    edges = sum(len(network.edges) for network in networks)
    if groups > MAX_GROUPS or edges > MAX_EDGES:
        names = ", ".join(dict.fromkeys(network.name for network in networks))
        raise WorkloadError(
            f"{names}: at most {MAX_GROUPS} groups and {MAX_EDGES} edges between them can be "
            f"searched, got {groups} and {edges}; --groups joins groups"
        )


def _grouped(
    network: ImportedNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    options: Options,
) -> GroupedNetwork:
    layers = [actor.layer for actor in network.graph.actors if actor.layer is not None]
    support = layer_support(layers, platform, precision)
    columns = [support.units.index(unit.name) for unit in units]
    table = support.table[:, columns]
    for index in np.flatnonzero(~table.any(axis=1)):
        reasons = "; ".join(
            f"{support.units[column]}: {support.reasons[index][column]}" for column in columns
        )
        raise WorkloadError(
            f"network {network.graph.name!r}: no unit can run layer {support.layers[index]!r} "
            f"({reasons})"
        )
    return group_network(
        network.graph,
        table,
        groups=options.groups,
        branches=options.branches,
        each_layer=options.each_layer,
    )
