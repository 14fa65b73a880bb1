"""Reads the networks of a workload, cuts them into groups and costs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.phases import grouped_alike, growing_costs, grown_dimensions
from paretosoc.dse.workload.options import Options, as_written
from paretosoc.dse.workload.workload import WorkloadNetwork
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.cost_model.tables import NetworkCosts
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.costs.number_formats import UnitFormat, in_formats
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.groups import GroupedNetwork, batched
from paretosoc.sdf.onnx.importer import ImportedNetwork

MAX_GROUPS = 4_000
"""Most groups of a problem. A search takes about half a megabyte for each."""
MAX_EDGES = 400_000
"""Between them: each has a table of transition times."""


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A network that was read, cut into groups, and costed on the units of a platform."""

    entry: WorkloadNetwork
    imported: ImportedNetwork
    grouped: GroupedNetwork
    costs: NetworkCosts
    grown: ImportedNetwork | None = None
    """The model with its grown cache: at the last repeat, or at the second if there is only one;
    None if nothing grows."""


def network_tables(
    network: WorkloadNetwork,
    platform: Platform,
    units: Sequence[Unit],
    entries: Sequence[UnitFormat],
    options: Options,
    profile: Profile | None,
) -> NetworkTables:
    """Read, cut and cost one network of a workload.

    Raises:
        GraphError: if it cannot be read or cut.
        WorkloadError: if it has too many groups, or a layer that no unit can run.
    """
    imported = load_network(network.source, dimensions=dict(network.dimensions))
    _check_batch(network, imported)
    single = _grouped(imported, platform, entries, options)
    check_size([single])

    def costs_of(of: GroupedNetwork) -> NetworkCosts:
        names = [unit.name for unit in units]
        costs = {
            name: network_costs(
                of, platform, precision=name, units=names, profile=profile, batch=network.batch
            )
            for name in dict.fromkeys(entry.number_format for entry in entries)
        }
        if any(entry.is_choice for entry in entries):
            return in_formats(batched(of, network.batch), platform, units, entries, costs)
        return costs[entries[0].number_format]

    costs = costs_of(single)
    if not network.grows:
        return NetworkTables(network, imported, batched(single, network.batch), costs)
    grown = load_network(network.source, dimensions=grown_dimensions(network))
    last = costs_of(grouped_alike(single, grown))
    costs = growing_costs(costs, last, network.repeats)
    return NetworkTables(network, imported, single, costs, grown)


def _check_batch(network: WorkloadNetwork, imported: ImportedNetwork) -> None:
    """Refuse a batch of a model whose inputs are no single image, naming the input."""
    for name, shape in imported.inputs:
        if network.batch > 1 and shape[:1] != (1,):
            raise WorkloadError(
                f"network {network.name!r}: batch {network.batch} multiplies inputs whose first "
                f"dimension is 1, got {name!r} with the shape {list(shape)}"
            )


def check_size(networks: Sequence[GroupedNetwork]) -> None:
    """Refuse more groups or edges, of all networks together, than a search has memory for.

    Raises:
        WorkloadError: naming the networks and both limits.
    """
    groups = sum(len(network.groups) for network in networks)
    edges = sum(len(network.edges) for network in networks)
    if groups > MAX_GROUPS or edges > MAX_EDGES:
        names = ", ".join(dict.fromkeys(network.name for network in networks))
        raise WorkloadError(
            f"{names}: at most {MAX_GROUPS} groups and {MAX_EDGES} edges between them can be "
            f"searched, got {groups} and {edges}; {as_written('groups')} joins groups"
        )


def _grouped(
    network: ImportedNetwork, platform: Platform, entries: Sequence[UnitFormat], options: Options
) -> GroupedNetwork:
    layers = [actor.layer for actor in network.graph.actors if actor.layer is not None]
    formats = dict.fromkeys(entry.number_format for entry in entries)
    support = {name: layer_support(layers, platform, name) for name in formats}
    columns = [
        (entry, support[entry.number_format], platform.units.index(entry.unit)) for entry in entries
    ]
    table = np.stack([of.table[:, column] for _, of, column in columns], axis=1)
    for index in np.flatnonzero(~table.any(axis=1)):
        reasons = "; ".join(
            f"{entry.name}: {of.reasons[index][column]}" for entry, of, column in columns
        )
        raise WorkloadError(
            f"network {network.graph.name!r}: no unit can run layer {layers[index].name!r} "
            f"({reasons})"
        )
    return group_network(network.graph, table, options.groups)
