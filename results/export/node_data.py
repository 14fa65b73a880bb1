"""Unit, time and energy of every layer, as node data of Model Explorer."""

from __future__ import annotations

import json

from paretosoc.common.units import FJ_PER_MJ, PS_PER_MS
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.text.power_bandwidth_trace import activity

COLOURS = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#e0e0e0", "#d9c3a5")
"""Of units, in their order. Names of nodes are black on them."""


def node_data(shown: ScheduledMember, origins: CostOrigins) -> dict[str, bytes]:
    """Return the node data of each network of a member, by the networks' names. Tasks have no
    model, and none.

    The values are texts by names of nodes, which are those of layers: ``gpu, 0.83 ms, 4.1 mJ with
    12 layers``. Time and energy are those of the layer's group, contention included, in its first
    execution. The energy is that above idle.
    """
    problem = shown.problem
    dynamic_mw = activity(problem, shown.member).dynamic_mw
    first = {row.group: row for row in reversed(shown.schedule.groups)}
    documents = {}
    for network, origin in zip(problem.networks, origins.networks, strict=True):
        if origin.source.is_task:
            continue
        nodes: dict[str, dict[str, str]] = {}
        for g, group in zip(network.groups, origin.groups, strict=True):
            row = first[g]
            unit = problem.units[row.unit].name
            took_ps, size = row.end_ps - row.start_ps, len(group.layers)
            ms, mj = took_ps / PS_PER_MS, took_ps * dynamic_mw[g] / FJ_PER_MJ
            colour = COLOURS[problem.unit_of[row.unit] % len(COLOURS)]
            value = f"{unit}, {ms:.4g} ms, {mj:.4g} mJ" + (
                f" with {size} layers" if size > 1 else ""
            )
            nodes |= {layer: {"value": value, "bgColor": colour} for layer in group.layers}
        document = {"name": f"{network.name}: unit, time", "results": nodes}
        documents[network.name] = (json.dumps(document, indent=1) + "\n").encode()
    return documents
