"""Phases of one model: costs that grow from repeat to repeat, and the cache that one phase leaves
to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.text import pluralize
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.fitness.cost_model.tables import NetworkCosts, UnitCosts
from paretosoc.fitness.costs.number_formats import UnitFormat, passing_in_formats
from paretosoc.fitness.costs.transitions import carrying_ps
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.objectives import Objective
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.grouping.grouping import groups_from_parts
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.onnx.importer import ImportedNetwork

if TYPE_CHECKING:
    from paretosoc.dse.problem.network_tables import NetworkTables


def grown_dimensions(entry: WorkloadNetwork) -> dict[str, int]:
    """Return the sizes at the last repeat, or at the second if there is only one."""
    steps = max(1, entry.repeats - 1)
    grows = dict(entry.grows)
    return {name: size + steps * grows.get(name, 0) for name, size in entry.dimensions}


def grouped_alike(grouped: GroupedNetwork, grown: ImportedNetwork) -> GroupedNetwork:
    """Return the grown model cut into the same groups.

    Raises:
        WorkloadError: if it has other layers.
    """
    place = {actor.name: index for index, actor in enumerate(grown.graph.actors)}
    parts = [[layer.name for layer in group.layers] for group in grouped.groups]
    names = [name for part in parts for name in part]
    again: GroupedNetwork | None = None
    if set(names) == set(place):
        again = groups_from_parts(grown.graph, [sorted(place[n] for n in part) for part in parts])
    if again is None or [[layer.name for layer in g.layers] for g in again.groups] != parts:
        raise WorkloadError(
            f"network {grouped.name!r}: grows: its layers are others at other sizes, so that its "
            "repeats have no groups in common"
        )
    return again


def growing_costs(first: NetworkCosts, last: NetworkCosts, repeats: int) -> NetworkCosts:
    """Return costs of the first repeat, with a step to each further one.

    Times lie on the line from the first repeat to the last one, with steps rounded up. By the law
    of costs a time is convex in the bytes read and operations computed, so no repeat is faster than
    its own costs. That holds between costs of one origin. If the ends have two origins, a note says
    so. Demand, power and transitions are the larger ones of both ends.
    """
    return replace(
        first,
        transition_ps=np.maximum(first.transition_ps, last.transition_ps),
        notes=(*first.notes, *_of_two_origins(first, last)),
        units=tuple(
            _growing(one, other, repeats)
            for one, other in zip(first.units, last.units, strict=True)
        ),
    )


def _of_two_origins(first: NetworkCosts, last: NetworkCosts) -> list[str]:
    """Return a text about units on which groups have costs of another origin at the last repeat."""
    notes = []
    for one, other in zip(first.units, last.units, strict=True):
        pairs = Counter(zip(one.origin, other.origin, strict=True))
        notes += [
            f"{first.network}: {one.unit}: costs of {pluralize(count, 'group')} are {a.value} at "
            f"the first repeat and {b.value} at the last: what repeats take longer mixes both"
            for (a, b), count in pairs.items()
            if a is not b
        ]
    return notes


def _growing(first: UnitCosts, last: UnitCosts, repeats: int) -> UnitCosts:
    step = -(-(last.time_ps - first.time_ps) // max(1, repeats - 1))
    runs = (first.time_ps > 0) & (last.time_ps > 0)
    return replace(
        first,
        time_ps=np.where(runs, first.time_ps, -1),
        demand_kbps=np.maximum(first.demand_kbps, last.demand_kbps) * runs,
        dynamic_mw=np.maximum(first.dynamic_mw, last.dynamic_mw) * runs,
        step_ps=np.where(runs, np.maximum(step, 0), 0),
    )


def with_handovers(
    problem: Problem,
    models: Sequence[NetworkTables],
    platform: Platform,
    entries: Sequence[UnitFormat],
) -> Problem:
    """Return the problem with the caches that later phases take over from earlier ones, and the
    results that networks and tasks read of others.

    A cache is an input of the later model that grows, and that a result of the earlier one fills.
    It is made in that group of the earlier model whose layer reads it in the later one. A result is
    made in the last group, and read in the first that reads an input.

    Raises:
        WorkloadError: if an earlier phase leaves nothing of the size that the later reads.
    """
    place = {model.entry.name: n for n, model in enumerate(models)}
    delays: dict[tuple[int, int], IntArray] = {}
    for later in models:
        for name, size in later.entry.reads_mb:
            made, read = problem.networks[place[name]], problem.networks[place[later.entry.name]]
            group_of = _group_of(later.grouped)
            readers = (group_of[name] for _, layers in later.imported.readers for name in layers)
            pair = made.groups[-1], read.first_group + min(readers, default=0)
            carried = carrying_ps(platform, [entry.unit for entry in entries], round(size * 10**6))
            delays[pair] = carried
        if later.entry.continues is not None:
            earlier = models[place[later.entry.continues]]
            first = [problem.networks[place[m.entry.name]].first_group for m in (earlier, later)]
            for (source, target), count in _cache_between(earlier, later).items():
                pair = first[0] + source, first[1] + target
                passed = passing_in_formats(platform, entries, count)
                delays[pair] = delays.get(pair, 0) + passed
    if not delays:
        return problem
    return replace(problem, handovers=tuple(delays), handover_ps=np.stack(list(delays.values())))


def _cache_between(earlier: NetworkTables, later: NetworkTables) -> dict[tuple[int, int], int]:
    """Return the elements by the group that makes them and the group that reads them."""
    elements: dict[tuple[int, int], int] = {}
    made_in, read_in = (_group_of(model.grouped) for model in (earlier, later))
    for name, size in _caches(earlier, later).items():
        for layer in dict(later.imported.readers)[name]:
            if layer not in made_in:
                raise WorkloadError(
                    f"network {later.entry.name!r}: continues {earlier.entry.name!r}, which has no "
                    f"layer {layer!r} to make {name!r}"
                )
            pair = made_in[layer], read_in[layer]
            elements[pair] = elements.get(pair, 0) + size
    return elements


def _caches(earlier: NetworkTables, later: NetworkTables) -> dict[str, int]:
    """Return the elements of the later model's inputs that grow and that the earlier one fills."""
    assert later.grown is not None, "check_workload: what continues another grows"
    before, grown = dict(later.imported.inputs), dict(later.grown.inputs)
    growing = {name: prod(shape) for name, shape in before.items() if grown[name] != shape}
    results = {prod(shape) for _, shape in earlier.imported.outputs}
    held: dict[str, int] = {}
    if later.imported.outputs == later.grown.outputs:
        # The outputs are the part that is added to the cache, not the whole cache.
        held = {name: prod(shape) for name, shape in earlier.imported.inputs}
    caches = {name: size for name, size in growing.items() if size - held.get(name, 0) in results}
    if not caches:
        sizes = _sizes(later.entry.dimensions), _sizes(earlier.entry.dimensions)
        raise WorkloadError(
            f"network {later.entry.name!r}: continues {earlier.entry.name!r}, so the sizes of its "
            f"first repeat must be those of the cache after that, got {sizes[0]} after {sizes[1]}"
        )
    return caches


def _sizes(dimensions: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {size}" for name, size in dimensions) or "none"


def _group_of(network: GroupedNetwork) -> Mapping[str, int]:
    return {layer.name: g for g, group in enumerate(network.groups) for layer in group.layers}


def of_continued(objective: Objective, text: str, workload: Workload) -> Objective:
    """Return the objective, for the only network that continues another if it needs one and has
    none.

    Raises:
        WorkloadError: if there is none, or several.
    """
    if objective.network is not None or not objective.kind.spec.needs_network:
        return objective
    later = [n for n, entry in enumerate(workload.networks) if entry.continues is not None]
    if len(later) != 1:
        names = ", ".join(entry.name for entry in workload.networks)
        raise WorkloadError(
            f"objective {text!r}: {text}:NETWORK is required, as {len(later)} networks continue "
            f"another (there are {names})"
        )
    return replace(objective, network=later[0])
