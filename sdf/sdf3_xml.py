"""SDF graphs in the XML format of the SDF3 tool set (sdf3-sdf.xsd), read and written.

Carried: actors, rates, channels, initial tokens, execution times by processor type, token sizes.
SDF3 counts token sizes in bits: they are rounded up to whole bytes, at least one; a channel
without a size keeps the default of ``Channel``. An actor's default processor comes first in its
``execution_times``; where a file marks several, the first of them, and a note says so. Everything
else in a file (architecture, mapping, memory, constraints) is passed over, and layers are not
written: the format has no place for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from sdf.errors import GraphError
from sdf.graph import Actor, Channel, SdfGraph

LARGEST = 10**18
"""Largest number read: more than any count or time here, and within 64 bits."""

MOST_BYTES = 64 * 2**20

MOST_NAMED = 5
"""Actors that a note names."""

_UNNAMED = "_unnamed_{}"
"""SDF3 wants a name for every channel; channel number N without one is written with this."""

_OTHER_TYPES = {
    "csdf": "cyclo-static",
    "sadf": "scenario-aware",
    "fsmsadf": "scenario-aware",
    "mpsadf": "scenario-aware",
}

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_sdf3(path: Path) -> SdfGraph:
    """The application graph of an SDF3 file.

    Raises:
        GraphError: if the file cannot be read, and as ``parse_sdf3`` does.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise GraphError(f"{path}: cannot be read: {_cause(error)}") from error
    if len(data) > MOST_BYTES:
        raise GraphError(f"{path}: an SDF3 file may have at most {MOST_BYTES} bytes")
    return parse_sdf3(data, origin=str(path))


def write_sdf3(graph: SdfGraph, path: Path) -> None:
    """Write ``format_sdf3`` to a file.

    Raises:
        GraphError: if the file cannot be written, and as ``format_sdf3`` does.
    """
    text = format_sdf3(graph)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise GraphError(f"{path}: cannot be written: {_cause(error)}") from error


def _cause(error: OSError | ValueError) -> str:
    """Without the path, which the message has already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def parse_sdf3(data: bytes, *, origin: str = "SDF3") -> SdfGraph:
    """The application graph of an SDF3 document.

    Args:
        data: the document; its XML declaration says the encoding, UTF-8 if there is none.
        origin: what messages call it.

    Raises:
        GraphError: if it is not well-formed XML, has a document type declaration, is not an SDF
            graph (cyclo-static and scenario-aware ones are refused by name), has rates of other
            syntax than a whole number, or contradicts itself.
    """
    root = _parse(data, origin)
    if root.tag != "sdf3":
        raise GraphError(f"{origin}: the outermost element must be 'sdf3', got {root.tag!r}")
    kind = root.get("type", "sdf")
    if kind != "sdf":
        known = f", a {_OTHER_TYPES[kind]} graph" if kind in _OTHER_TYPES else ""
        raise GraphError(f"{origin}: sdf3 type must be 'sdf', got {kind!r}{known}")
    application = _only(root, "applicationGraph", origin)
    for other in ("csdf", "fsmsadf", "sadf"):
        if application.find(other) is not None:
            raise GraphError(f"{origin}: holds a {_OTHER_TYPES[other]} graph ({other!r}), not SDF")
    body = _only(application, "sdf", origin)
    name = application.get("name") or body.get("name") or ""
    properties = application.find("sdfProperties")
    times, notes = _execution_times(properties, origin)
    sizes = _token_sizes(properties, origin)

    ports: dict[tuple[str, str], tuple[str, int]] = {}
    actors: list[Actor] = []
    seen: set[str] = set()
    for element in body.findall("actor"):
        actor = _attribute(element, "name", f"{origin}: an actor")
        where = f"{origin}: actor {actor!r}"
        if actor in seen:
            raise GraphError(f"{where} is there more than once")
        seen.add(actor)
        for port in element.findall("port"):
            key = (actor, _attribute(port, "name", f"{where}: a port"))
            label = f"{where}: port {key[1]!r}"
            if key in ports:
                raise GraphError(f"{label} is there more than once")
            direction = _attribute(port, "type", label)
            if direction not in ("in", "out"):
                raise GraphError(f"{label}: type must be 'in' or 'out', got {direction!r}")
            ports[key] = (direction, _rate(_attribute(port, "rate", label), label))
        actors.append(Actor(actor, execution_times=times.pop(actor, ())))
    if times:
        raise GraphError(f"{origin}: actorProperties for {next(iter(times))!r}, no such actor")
    channels = _channels(body, ports, sizes, origin)
    if sizes:
        raise GraphError(f"{origin}: channelProperties for {next(iter(sizes))!r}, no such channel")
    if ports:
        actor, port_name = next(iter(ports))
        raise GraphError(f"{origin}: actor {actor!r}: port {port_name!r} is on no channel")
    return SdfGraph(name, tuple(actors), tuple(channels), notes)


def format_sdf3(graph: SdfGraph) -> str:
    """The graph as an SDF3 document; ``parse_sdf3`` of it is the graph again, without layers.

    Raises:
        GraphError: if a name is empty or cannot be written in XML, if two channels have the same
            name, one has a name reserved for channels without one, or a number is too large.
    """
    where = f"graph {graph.name!r}"
    names = [channel.name or _UNNAMED.format(n) for n, channel in enumerate(graph.channels)]
    uses = Counter(names)
    for number, channel in enumerate(graph.channels):
        if channel.name == _UNNAMED.format(number):
            raise GraphError(f"{where}: channel name {channel.name!r} stands for 'no name' in SDF3")
        if uses[names[number]] > 1:
            raise GraphError(f"{where}: channel {names[number]!r} is there more than once")
    root = ElementTree.Element("sdf3", {"type": "sdf", "version": "1.0"})
    root.set("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root.set("xsi:noNamespaceSchemaLocation", "http://www.es.ele.tue.nl/sdf3/xsd/sdf3-sdf.xsd")
    title = xml_text(graph.name, where, "name") if graph.name else ""
    application = ElementTree.SubElement(root, "applicationGraph", {"name": title})
    body = ElementTree.SubElement(application, "sdf", {"name": title, "type": title or "graph"})
    elements = {}
    for actor in graph.actors:
        label = xml_text(actor.name, where, "actor name")
        elements[actor.name] = ElementTree.SubElement(body, "actor", {"name": label, "type": label})
    for number, channel in enumerate(graph.channels):
        for end, port, direction, rate in (
            (channel.source, f"out{number}", "out", channel.production),
            (channel.target, f"in{number}", "in", channel.consumption),
        ):
            text = _countable(rate, f"{where}: channel {names[number]!r}", "rate")
            ElementTree.SubElement(
                elements[end], "port", {"name": port, "type": direction, "rate": text}
            )
    for number, channel in enumerate(graph.channels):
        attributes = {
            "name": xml_text(names[number], where, "channel name"),
            "srcActor": channel.source,
            "srcPort": f"out{number}",
            "dstActor": channel.target,
            "dstPort": f"in{number}",
        }
        if channel.initial_tokens:
            attributes["initialTokens"] = _countable(
                channel.initial_tokens, f"{where}: channel {names[number]!r}", "initialTokens"
            )
        ElementTree.SubElement(body, "channel", attributes)
    properties = ElementTree.SubElement(application, "sdfProperties")
    for actor in graph.actors:
        _write_times(properties, actor, where)
    for channel, name in zip(graph.channels, names, strict=True):
        element = ElementTree.SubElement(properties, "channelProperties", {"channel": name})
        bits = _countable(8 * channel.token_bytes, f"{where}: channel {name!r}", "token size")
        ElementTree.SubElement(element, "tokenSize", {"sz": bits})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _parse(data: bytes, origin: str) -> ElementTree.Element:
    """Elements and attributes only. Without a document type there are no entities to expand."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()

    def refuse_doctype(*_: object) -> None:
        raise GraphError(f"{origin}: a document type declaration (DOCTYPE) is not allowed")

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(data, True)
        return builder.close()
    except GraphError:
        raise
    except (expat.ExpatError, LookupError, ValueError, AssertionError) as error:
        raise GraphError(f"{origin}: not well-formed XML: {error}") from error


def _execution_times(
    properties: ElementTree.Element | None, origin: str
) -> tuple[dict[str, tuple[tuple[str, int], ...]], tuple[str, ...]]:
    """By actor: its default processors first, the others in the file's order. And a note on the
    actors that have several defaults."""
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    several: list[str] = []
    for element in _children(properties, "actorProperties"):
        actor = _attribute(element, "actor", f"{origin}: actorProperties")
        where = f"{origin}: actorProperties of {actor!r}"
        if actor in found:
            raise GraphError(f"{where} are there more than once")
        first: list[tuple[str, int]] = []
        others: list[tuple[str, int]] = []
        for processor in element.findall("processor"):
            kind = _attribute(processor, "type", f"{where}: a processor")
            label = f"{where}: processor {kind!r}"
            default = processor.get("default", "false")
            if default not in ("true", "false", "1", "0"):
                raise GraphError(f"{label}: default must be 'true' or 'false', got {default!r}")
            time = _only(processor, "executionTime", label)
            if kind in dict(first + others):
                raise GraphError(f"{label} is there more than once")
            chosen = first if default in ("true", "1") else others
            chosen.append((kind, _count(_attribute(time, "time", label), f"{label}: time", 0)))
        if len(first) > 1:
            several.append(f"{actor!r} on {first[0][0]!r}")
        found[actor] = (*first, *others)
    if not several:
        return found, ()
    shown = several[:MOST_NAMED] + ["..."] * (len(several) > MOST_NAMED)
    return found, (
        "where several processors are marked as default, the first one counts: " + ", ".join(shown),
    )


def _token_sizes(properties: ElementTree.Element | None, origin: str) -> dict[str, int | None]:
    """Bytes by channel; None where none are given."""
    found: dict[str, int | None] = {}
    for element in _children(properties, "channelProperties"):
        channel = _attribute(element, "channel", f"{origin}: channelProperties")
        where = f"{origin}: channelProperties of {channel!r}"
        if channel in found:
            raise GraphError(f"{where} are there more than once")
        found[channel] = None
        size = element.find("tokenSize")
        if size is not None:
            bits = _count(_attribute(size, "sz", where), f"{where}: tokenSize", 0)
            found[channel] = max(1, -(-bits // 8))
    return found


def _channels(
    body: ElementTree.Element,
    ports: dict[tuple[str, str], tuple[str, int]],
    sizes: dict[str, int | None],
    origin: str,
) -> list[Channel]:
    """Takes out of ``ports`` and ``sizes`` what it uses."""
    used: set[tuple[str, str]] = set()
    names: set[str] = set()
    channels = []
    for number, element in enumerate(body.findall("channel")):
        name = _attribute(element, "name", f"{origin}: a channel")
        where = f"{origin}: channel {name!r}"
        if name in names:
            raise GraphError(f"{where} is there more than once")
        names.add(name)
        ends = []
        for side, direction in (("src", "out"), ("dst", "in")):
            key = (
                _attribute(element, f"{side}Actor", where),
                _attribute(element, f"{side}Port", where),
            )
            if key in used:
                raise GraphError(f"{where}: port {key[1]!r} of actor {key[0]!r} is used twice")
            if key not in ports:
                raise GraphError(f"{where}: there is no port {key[1]!r} of actor {key[0]!r}")
            is_direction, rate = ports.pop(key)
            used.add(key)
            if is_direction != direction:
                raise GraphError(
                    f"{where}: {side}Port {key[1]!r} of actor {key[0]!r} must be of type "
                    f"{direction!r}, got {is_direction!r}"
                )
            ends.append((key[0], rate))
        tokens = _count(element.get("initialTokens", "0"), f"{where}: initialTokens", 0)
        size = sizes.pop(name, None)
        (source, production), (target, consumption) = ends
        channel = Channel(
            source,
            target,
            production,
            consumption,
            tokens,
            name="" if name == _UNNAMED.format(number) else name,
        )
        if size is not None:
            channel = Channel(source, target, production, consumption, tokens, size, channel.name)
        channels.append(channel)
    return channels


def _write_times(properties: ElementTree.Element, actor: Actor, where: str) -> None:
    label = f"{where}: actor {actor.name!r}"
    kinds = [kind for kind, _ in actor.execution_times]
    if not kinds:
        return
    element = ElementTree.SubElement(properties, "actorProperties", {"actor": actor.name})
    for position, (kind, time) in enumerate(actor.execution_times):
        if kinds.count(kind) > 1:
            raise GraphError(f"{label}: processor type {kind!r} is there more than once")
        attributes = {"type": xml_text(kind, label, "processor type")}
        attributes["default"] = "false" if position else "true"
        processor = ElementTree.SubElement(element, "processor", attributes)
        text = _countable(time, label, "execution time", least=0)
        ElementTree.SubElement(processor, "executionTime", {"time": text})


def _children(element: ElementTree.Element | None, tag: str) -> Iterable[ElementTree.Element]:
    return () if element is None else element.findall(tag)


def _only(element: ElementTree.Element, tag: str, where: str) -> ElementTree.Element:
    found = element.findall(tag)
    if len(found) != 1:
        raise GraphError(f"{where}: there must be one element {tag!r}, got {len(found)}")
    return found[0]


def _attribute(element: ElementTree.Element, name: str, where: str) -> str:
    value = element.get(name)
    if not value:
        got = "an empty one" if value == "" else "none"
        raise GraphError(f"{where}: {element.tag!r} needs an attribute {name!r}, got {got}")
    return value


def _rate(text: str, where: str) -> int:
    if "," in text or "*" in text:
        raise GraphError(f"{where}: rate {text[:40]!r} is cyclo-static; only SDF graphs are read")
    return _count(text, f"{where}: rate", 1)


def _count(text: str, where: str, least: int) -> int:
    """A whole number in decimal digits."""
    digits = text.strip(" \t\r\n")
    if not re.fullmatch("[0-9]+", digits) or len(digits.lstrip("0")) > 19:
        raise GraphError(
            f"{where} must be a whole number from {least} to {LARGEST}, got {text[:40]!r}"
        )
    value = int(digits.lstrip("0") or "0")
    if not least <= value <= LARGEST:
        raise GraphError(f"{where} must be a whole number from {least} to {LARGEST}, got {value}")
    return value


def xml_text(text: str, where: str, what: str) -> str:
    """The text itself.

    Raises:
        GraphError: where it is empty or holds what XML cannot; ``where`` and ``what`` name it.
    """
    if not text:
        raise GraphError(f"{where}: an empty {what} cannot be written in SDF3")
    found = _NOT_XML.search(text)
    if found:
        raise GraphError(f"{where}: {what} holds {found.group()!r}, which XML cannot hold")
    return text


def _countable(value: int, where: str, what: str, *, least: int = 1) -> str:
    if not least <= value <= LARGEST:
        raise GraphError(
            f"{where}: {what} must be from {least} to {LARGEST} to be written, got {value}"
        )
    return str(value)
