"""Mapped networks as JSON: graphs whose actors are processors, with named phases and capacities.
Files of graphs, by their endings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paretosoc.common.documents.schema import violation
from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import naming, read_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.sdf3_xml import MAX_BYTES, parse_sdf3
from paretosoc.sdf.formats.tgff import parse_tgff
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, in_phases, per_phase

FORMAT = "paretosoc-csdf/1"


def format_graph_json(graph: SdfGraph) -> str:
    """Return a graph as JSON. Each actor must have times on one processor type, named like the
    actor. Phases have names, rates are lists, initial tokens and capacities are given (null if
    unbounded).

    Raises:
        GraphError: if an actor has other processor types.
    """
    document = {
        "format": FORMAT,
        "name": graph.name,
        "time_unit": graph.time_unit,
        "actors": [
            {
                "name": actor.name,
                "phases": [
                    {"name": name, "time": time}
                    for name, time in zip(actor.phases, _own_times(graph, actor), strict=True)
                ],
            }
            for actor in graph.actors
        ],
        "channels": [
            {
                "name": channel.name,
                "source": channel.source,
                "target": channel.target,
                "production": _list(channel.production, graph.actor_by_name[channel.source]),
                "consumption": _list(channel.consumption, graph.actor_by_name[channel.target]),
                "initial_tokens": channel.initial_tokens,
                "capacity": channel.capacity,
                "token_bytes": channel.token_bytes,
            }
            for channel in graph.channels
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _own_times(graph: SdfGraph, actor: Actor) -> tuple[int, ...]:
    if [kind for kind, _ in actor.execution_times] != [actor.name]:
        raise GraphError(
            f"graph {graph.name!r}: actor {actor.name!r} must have execution times on one "
            "processor type, of its own name, to be written as JSON"
        )
    return in_phases(actor.execution_times[0][1], len(actor.phases))


def _list(rate: PerPhase, actor: Actor) -> list[int]:
    return list(in_phases(rate, len(actor.phases)))


def parse_graph_json(data: bytes, *, origin: str = "JSON") -> SdfGraph:
    """Return the graph of a document that ``format_graph_json`` makes. A ``throughput`` beside the
    graph is ignored.

    Raises:
        GraphError: if it is not one. The message names the field.
    """
    with naming(origin, GraphError, DseError):
        document = parse_json(data)
    fault = violation(document, (__package__, "csdf"))
    if fault is not None:
        raise GraphError(f"{origin}: {fault[0]}: {fault[1]}")
    actors = tuple(
        Actor(
            entry["name"],
            execution_times=((entry["name"], per_phase([p["time"] for p in entry["phases"]])),),
            phases=tuple(phase["name"] for phase in entry["phases"]),
        )
        for entry in document["actors"]
    )
    phases = {actor.name: len(actor.phases) for actor in actors}
    channels = tuple(
        Channel(
            entry["source"],
            entry["target"],
            _rate(entry, "production", "source", phases, f"{origin}: $.channels[{number}]"),
            _rate(entry, "consumption", "target", phases, f"{origin}: $.channels[{number}]"),
            entry["initial_tokens"],
            entry["token_bytes"],
            entry["name"],
            entry["capacity"],
        )
        for number, entry in enumerate(document["channels"])
    )
    return SdfGraph(document["name"], actors, channels, document["time_unit"])


def _rate(
    entry: Mapping[str, Any], rate: str, end: str, phases: Mapping[str, int], where: str
) -> PerPhase:
    actor, counts = entry[end], entry[rate]
    if actor not in phases:
        raise GraphError(f"{where}.{end}: must be the name of an actor, got {actor[:40]!r}")
    if len(counts) != phases[actor]:
        raise GraphError(
            f"{where}.{rate}: must have one entry per phase of {actor!r} ({phases[actor]}), "
            f"got {len(counts)}"
        )
    return per_phase(counts)


def read_graph(path: Path, number: int = 0) -> SdfGraph:
    """Return the graph of a file: ``.json`` as ``dse analyze csdf`` writes it, one of the task
    graphs of a ``.tgff``, else SDF3's XML.

    Raises:
        GraphError: if the file cannot be read or is not a graph, or another number than 0 is asked
            for of a file that is one graph.
    """
    data = read_file(path, GraphError, MAX_BYTES)
    if path.suffix == ".tgff":
        return parse_tgff(data, number, origin=str(path))
    if number:
        raise GraphError(f"{path}: only a .tgff has several task graphs, got the number {number}")
    parse = parse_graph_json if path.suffix == ".json" else parse_sdf3
    return parse(data, origin=str(path))
