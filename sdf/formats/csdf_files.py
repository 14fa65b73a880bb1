"""Cyclo-static graphs as JSON and in the XML format of SDF3 (sdf3-csdf.xsd)."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from sdf.analysis.csdf import CsdfChannel, CsdfGraph
from sdf.formats.sdf3_xml import xml_text


def format_csdf_json(graph: CsdfGraph) -> str:
    """All of the graph: actors with phases, channels with rates, initial tokens and capacity."""
    document = {
        "format": "paretosoc-csdf/1",
        "name": graph.name,
        "time_unit": graph.time_unit,
        "actors": [
            {
                "name": actor.name,
                "phases": [{"name": phase.name, "time": phase.time} for phase in actor.phases],
            }
            for actor in graph.actors
        ],
        "channels": [
            {
                "name": channel.name,
                "source": channel.source,
                "target": channel.target,
                "production": list(channel.production),
                "consumption": list(channel.consumption),
                "initial_tokens": channel.initial_tokens,
                "capacity": channel.capacity,
                "token_bytes": channel.token_bytes,
            }
            for channel in graph.channels
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def format_csdf_sdf3(graph: CsdfGraph) -> str:
    """An SDF3 document of type ``csdf``; rates and times have an entry per phase.

    A capacity is written as a channel back, ``NAME_room``, with a token for each free place: the
    usual way to bound a buffer in the graph itself. The format has no place for names of phases.

    Raises:
        GraphError: where a name cannot be written in XML.
    """
    where = f"graph {graph.name!r}"
    root = ElementTree.Element("sdf3", {"type": "csdf", "version": "1.0"})
    root.set("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root.set("xsi:noNamespaceSchemaLocation", "http://www.es.ele.tue.nl/sdf3/xsd/sdf3-csdf.xsd")
    title = xml_text(graph.name, where, "name")
    application = ElementTree.SubElement(root, "applicationGraph", {"name": title})
    body = ElementTree.SubElement(application, "csdf", {"name": title, "type": title})
    elements = {}
    for actor in graph.actors:
        name = xml_text(actor.name, where, "actor name")
        elements[actor.name] = ElementTree.SubElement(body, "actor", {"name": name, "type": name})
    channels = [entry for channel in graph.channels for entry in (channel, _room(channel))]
    for number, channel in enumerate(channels):
        for end, port, direction, rates in (
            (channel.source, f"out{number}", "out", channel.production),
            (channel.target, f"in{number}", "in", channel.consumption),
        ):
            text = ",".join(map(str, rates))
            ElementTree.SubElement(
                elements[end], "port", {"name": port, "type": direction, "rate": text}
            )
    for number, channel in enumerate(channels):
        attributes = {
            "name": xml_text(channel.name, where, "channel name"),
            "srcActor": channel.source,
            "srcPort": f"out{number}",
            "dstActor": channel.target,
            "dstPort": f"in{number}",
        }
        if channel.initial_tokens:
            attributes["initialTokens"] = str(channel.initial_tokens)
        ElementTree.SubElement(body, "channel", attributes)
    properties = ElementTree.SubElement(application, "csdfProperties")
    for actor in graph.actors:
        element = ElementTree.SubElement(properties, "actorProperties", {"actor": actor.name})
        processor = ElementTree.SubElement(
            element, "processor", {"type": actor.name, "default": "true"}
        )
        times = ",".join(str(phase.time) for phase in actor.phases)
        ElementTree.SubElement(processor, "executionTime", {"time": times})
    for channel in channels:
        element = ElementTree.SubElement(properties, "channelProperties", {"channel": channel.name})
        ElementTree.SubElement(element, "tokenSize", {"sz": str(8 * channel.token_bytes)})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _room(channel: CsdfChannel) -> CsdfChannel:
    """The channel back that carries free places."""
    free = channel.capacity - channel.initial_tokens
    return CsdfChannel(
        name=f"{channel.name}_room",
        source=channel.target,
        target=channel.source,
        production=channel.consumption,
        consumption=channel.production,
        initial_tokens=free,
        capacity=channel.capacity,
        token_bytes=channel.token_bytes,
    )
