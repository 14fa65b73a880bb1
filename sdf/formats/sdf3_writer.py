"""Dataflow graphs written in the XML format of the SDF3 tool set (sdf3-sdf.xsd, sdf3-csdf.xsd)."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.sdf3_xml import MAX_NUMBER, UNNAMED
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_sdf3(graph: SdfGraph) -> str:
    """Return the graph as an SDF3 document, of type ``csdf`` if an actor has several phases.
    ``parse_sdf3`` returns the graph again, but without layers, names of phases, the unit of time,
    and phases of actors that have neither channels nor times, since the format has no place for
    them.

    Raises:
        GraphError: if a name is empty or cannot be written in XML, if two channels have the same
            name, one has a name reserved for channels without one, or a number is too large.
    """
    where = f"graph {graph.name!r}"
    kind = "csdf" if any(len(actor.phases) > 1 for actor in graph.actors) else "sdf"
    phases = {actor.name: len(actor.phases) for actor in graph.actors}
    channels = _named(graph)
    root = ElementTree.Element("sdf3", {"type": kind, "version": "1.0"})
    root.set("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root.set("xsi:noNamespaceSchemaLocation", f"http://www.es.ele.tue.nl/sdf3/xsd/sdf3-{kind}.xsd")
    title = _xml_text(graph.name, where, "name") if graph.name else ""
    application = ElementTree.SubElement(root, "applicationGraph", {"name": title})
    body = ElementTree.SubElement(application, kind, {"name": title, "type": title or "graph"})
    elements = {}
    for actor in graph.actors:
        label = _xml_text(actor.name, where, "actor name")
        elements[actor.name] = ElementTree.SubElement(body, "actor", {"name": label, "type": label})
    for number, (name, channel) in enumerate(channels):
        for end, port, direction, rate in (
            (channel.source, f"out{number}", "out", channel.production),
            (channel.target, f"in{number}", "in", channel.consumption),
        ):
            text = _figures(rate, phases[end], f"{where}: channel {name!r}", "rate")
            ElementTree.SubElement(
                elements[end], "port", {"name": port, "type": direction, "rate": text}
            )
    for number, (name, channel) in enumerate(channels):
        attributes = {
            "name": _xml_text(name, where, "channel name"),
            "srcActor": channel.source,
            "srcPort": f"out{number}",
            "dstActor": channel.target,
            "dstPort": f"in{number}",
        }
        if channel.initial_tokens:
            attributes["initialTokens"] = _countable(
                channel.initial_tokens, f"{where}: channel {name!r}", "initialTokens"
            )
        ElementTree.SubElement(body, "channel", attributes)
    properties = ElementTree.SubElement(application, f"{kind}Properties")
    for actor in graph.actors:
        _write_times(properties, actor, where)
    for name, channel in channels:
        element = ElementTree.SubElement(properties, "channelProperties", {"channel": name})
        bits = _countable(8 * channel.token_bytes, f"{where}: channel {name!r}", "token size")
        ElementTree.SubElement(element, "tokenSize", {"sz": bits})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _named(graph: SdfGraph) -> list[tuple[str, Channel]]:
    """Return all channels by the names they are written with, capacities as channels at the end."""
    where = f"graph {graph.name!r}"
    names = [channel.name or UNNAMED.format(n) for n, channel in enumerate(graph.channels)]
    for number, channel in enumerate(graph.channels):
        if channel.name == UNNAMED.format(number):
            raise GraphError(f"{where}: channel name {channel.name!r} means 'no name' in SDF3")
    bounded = [
        name for name, c in zip(names, graph.channels, strict=True) if c.capacity is not None
    ]
    names += [f"{name}_room" for name in bounded]
    for name, count in Counter(names).items():
        if count > 1:
            raise GraphError(f"{where}: channel {name!r} is there more than once")
    return list(zip(names, graph.with_rooms.channels, strict=True))


def _write_times(properties: ElementTree.Element, actor: Actor, where: str) -> None:
    label = f"{where}: actor {actor.name!r}"
    kinds = [kind for kind, _ in actor.execution_times]
    if not kinds:
        return
    element = ElementTree.SubElement(properties, "actorProperties", {"actor": actor.name})
    for position, (kind, time) in enumerate(actor.execution_times):
        if kinds.count(kind) > 1:
            raise GraphError(f"{label}: processor type {kind!r} is there more than once")
        attributes = {"type": _xml_text(kind, label, "processor type")}
        attributes["default"] = "false" if position else "true"
        processor = ElementTree.SubElement(element, "processor", attributes)
        text = _figures(time, len(actor.phases), label, "execution time", least=0)
        ElementTree.SubElement(processor, "executionTime", {"time": text})


def _figures(figure: PerPhase, phases: int, where: str, what: str, *, least: int = 1) -> str:
    """Return the text of figures: one number, ``N*F`` for the same one in N phases, or a list."""
    if isinstance(figure, int):
        text = _countable(figure, where, what, least=least)
        return text if phases == 1 else f"{phases}*{text}"
    return ",".join(_countable(entry, where, what, least=0) for entry in figure)


def _countable(value: int, where: str, what: str, *, least: int = 1) -> str:
    if not least <= value <= MAX_NUMBER:
        raise GraphError(
            f"{where}: {what} must be from {least} to {MAX_NUMBER} to be written, got {value}"
        )
    return str(value)


def _xml_text(text: str, where: str, what: str) -> str:
    """Return the text. Refuse an empty one and characters that XML cannot hold, with ``where`` and
    ``what``."""
    if not text:
        raise GraphError(f"{where}: an empty {what} cannot be written in SDF3")
    found = _NOT_XML.search(text)
    if found:
        raise GraphError(f"{where}: {what} holds {found.group()!r}, which XML cannot hold")
    return text
