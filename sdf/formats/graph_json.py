"""Mapped networks as JSON: graphs whose actors are processors, with named phases and capacities.
Files of graphs, by their endings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import read_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.sdf3_xml import MAX_BYTES, MAX_NUMBER, parse_sdf3
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
    try:
        document = parse_json(data)
    except DseError as error:
        raise GraphError(f"{origin}: {error}") from None
    root = _Field(document, origin)
    names = ("format", "name", "time_unit", "actors", "channels")
    root.check_names(names, optional=("throughput",))
    if root["format"].value != FORMAT:
        raise root["format"].refused(repr(FORMAT))
    actors = tuple(_actor(entry) for entry in root["actors"].items())
    phases = {actor.name: len(actor.phases) for actor in actors}
    return SdfGraph(
        root["name"].text(),
        actors,
        tuple(_channel(entry, phases) for entry in root["channels"].items()),
        root["time_unit"].text(),
    )


def _actor(field: _Field) -> Actor:
    field.check_names(("name", "phases"))
    phases = field["phases"].items()
    for phase in phases:
        phase.check_names(("name", "time"))
    if not phases:
        raise field["phases"].refused("a list with an entry")
    name = field["name"].text()
    times = per_phase([phase["time"].count() for phase in phases])
    return Actor(
        name,
        execution_times=((name, times),),
        phases=tuple(phase["name"].text() for phase in phases),
    )


def _channel(field: _Field, phases: dict[str, int]) -> Channel:
    field.check_names(
        (
            "name",
            "source",
            "target",
            "production",
            "consumption",
            "initial_tokens",
            "capacity",
            "token_bytes",
        )
    )
    capacity = field["capacity"]
    return Channel(
        field["source"].text(),
        field["target"].text(),
        _rate(field, "production", "source", phases),
        _rate(field, "consumption", "target", phases),
        field["initial_tokens"].count(),
        field["token_bytes"].count(),
        field["name"].text(),
        None if capacity.value is None else capacity.count(),
    )


def _rate(field: _Field, rate: str, end: str, phases: dict[str, int]) -> PerPhase:
    actor, entries = field[end].text(), field[rate].items()
    if actor not in phases:
        raise field[end].refused("the name of an actor")
    if len(entries) != phases[actor]:
        raise GraphError(
            f"{field[rate].where} must have one entry per phase of {actor!r} ({phases[actor]}), "
            f"got {len(entries)}"
        )
    return per_phase([entry.count() for entry in entries])


class _Field:
    """A value of the document, and its place."""

    def __init__(self, value: Any, where: str) -> None:
        self.value = value
        self.where = where

    def refused(self, required: str) -> GraphError:
        """Return the error to raise if the value is not as required."""
        got = json.dumps(self.value)[:40]
        if isinstance(self.value, dict | list):
            got = "an object" if isinstance(self.value, dict) else "a list"
        return GraphError(f"{self.where} must be {required}, got {got}")

    def check_names(self, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
        """Refuse anything but an object of these names."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        for name in names:
            if name not in self.value:
                raise GraphError(f"{self.where} must have {name!r}, got none")
        for name in self.value:
            if name not in (*names, *optional):
                raise GraphError(f"{self.where} has {name[:40]!r}, which is not known")

    def __getitem__(self, name: str) -> _Field:
        return _Field(self.value[name], f"{self.where}: {name}")

    def items(self) -> list[_Field]:
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return [_Field(item, f"{self.where}[{n}]") for n, item in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.refused("a text")
        return self.value

    def count(self) -> int:
        if type(self.value) is not int or not 0 <= self.value <= MAX_NUMBER:
            raise self.refused(f"a whole number from 0 to {MAX_NUMBER}")
        return self.value


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
