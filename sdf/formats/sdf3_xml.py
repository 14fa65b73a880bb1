"""Reading dataflow graphs in the XML format of the SDF3 tool set (sdf3-sdf.xsd, sdf3-csdf.xsd).

Carried: actors, rates, channels, initial tokens, execution times by processor type, token sizes.
Rates and times of a cyclo-static graph are lists with an entry per phase. ``3*2`` in a list is 2
three times, and a single number goes for all phases. A channel named ``X_room`` that mirrors
channel X bounds it, and is read as its capacity. SDF3 counts token sizes in bits: they are rounded
up to bytes, at least one. A channel without a size keeps the default of ``Channel``. An actor's
default processor comes first in its ``execution_times``. If a file marks several, the first of them
counts, and a note says so. Everything else in a file (architecture, mapping, memory, constraints)
is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree
from xml.parsers import expat

from paretosoc.common.text import has_control_characters, shortened
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph, room_channel
from paretosoc.sdf.rates import PerPhase, per_phase

MAX_NUMBER = 10**18
"""Largest number read: more than any count or time here, and within 64 bits."""

MAX_BYTES = 64 * 2**20

MAX_NAMED = 5
"""Actors that a note names."""

MAX_ENTRIES = 4_000_000
"""Entries of all lists of rates and times together, repeated ones counted."""

UNNAMED = "_unnamed_{}"
"""SDF3 requires a name for every channel; channel number N without one is written with this."""

_KINDS = ("sdf", "csdf")

_OTHER_TYPES = {"sadf": "scenario-aware", "fsmsadf": "scenario-aware", "mpsadf": "scenario-aware"}


def parse_sdf3(data: bytes, *, origin: str = "SDF3") -> SdfGraph:
    """Return the application graph of an SDF3 document.

    Args:
        data: the document. Its XML declaration says the encoding, UTF-8 if there is none.
        origin: its name in messages.

    Raises:
        GraphError: if it is not well-formed XML, has a document type declaration, is not an SDF
            or CSDF graph (scenario-aware ones are refused by name), has rates or times of other
            syntax than integers, or contradicts itself.
    """
    root = _parse(data, origin)
    if root.tag != "sdf3":
        raise GraphError(f"{origin}: the outermost element must be 'sdf3', got {root.tag!r}")
    kind = root.get("type", "sdf")
    if kind not in _KINDS:
        known = f", a {_OTHER_TYPES[kind]} graph" if kind in _OTHER_TYPES else ""
        raise GraphError(f"{origin}: sdf3 type must be 'sdf' or 'csdf', got {kind!r}{known}")
    application = _only(root, "applicationGraph", origin)
    for other in ("fsmsadf", "sadf"):
        if application.find(other) is not None:
            raise GraphError(f"{origin}: holds a {_OTHER_TYPES[other]} graph ({other!r})")
    bodies = [body for tag in _KINDS for body in application.findall(tag)]
    if len(bodies) != 1:
        raise GraphError(f"{origin}: there must be one element 'sdf' or 'csdf', got {len(bodies)}")
    (body,) = bodies
    properties = application.find(f"{body.tag}Properties")
    lists = _Lists(cyclo_static="csdf" in (kind, body.tag))
    times, notes = _execution_times(properties, lists, origin)
    sizes = _token_sizes(properties, origin)

    ports: dict[tuple[str, str], tuple[str, PerPhase]] = {}
    actors: list[Actor] = []
    for actor, element, where in _each(body, "actor", "name", origin):
        rates: dict[str, tuple[int, ...]] = {}
        directions: dict[str, str] = {}
        for name, port, label in _each(element, "port", "name", where):
            directions[name] = _attribute(port, "type", label)
            if directions[name] not in ("in", "out"):
                raise GraphError(f"{label}: type must be 'in' or 'out', got {directions[name]!r}")
            rates[name] = lists.parse(_attribute(port, "rate", label), f"{label}: rate", 1)
        own = times.pop(actor, {})
        phases = _phases(
            [(f"port {port!r}", rate) for port, rate in rates.items()]
            + [(f"processor {processor!r}", time) for processor, time in own.items()],
            where,
        )
        for name, rate in rates.items():
            ports[actor, name] = directions[name], per_phase(rate)
        found = tuple((processor, per_phase(time)) for processor, time in own.items())
        actors.append(Actor(actor, execution_times=found, phases=("",) * phases))
    if times:
        raise GraphError(f"{origin}: actorProperties for {next(iter(times))!r}, no such actor")
    channels = _channels(body, ports, sizes, origin)
    if sizes:
        raise GraphError(f"{origin}: channelProperties for {next(iter(sizes))!r}, no such channel")
    if ports:
        actor, name = next(iter(ports))
        raise GraphError(f"{origin}: actor {actor!r}: port {name!r} is on no channel")
    title = application.get("name") or body.get("name") or ""
    return SdfGraph(title, tuple(actors), tuple(channels), notes=notes)


class _Lists:
    """Reader of rates and times, which are lists in cyclo-static graphs."""

    def __init__(self, *, cyclo_static: bool) -> None:
        self._cyclo_static = cyclo_static
        self._entries = 0

    def parse(self, text: str, where: str, least: int) -> tuple[int, ...]:
        """Return the entries of a list, each at least ``least`` if all are the same, else at least
        0.

        Raises:
            GraphError: if it is not one, or too long. ``where`` names it.
        """
        if not self._cyclo_static:
            if "," in text or "*" in text:
                raise GraphError(
                    f"{where} {text[:40]!r} is cyclo-static, and the graph of type 'sdf'"
                )
            return (_count(text, where, least),)
        if ";" in text:
            raise GraphError(f"{where} {text[:40]!r}: initial phases are not supported")
        entries: list[int] = []
        for part in text.split(","):
            times, star, figure = part.rpartition("*")
            repeated = _count(times, f"{where}: repetitions", 1) if star else 1
            self._entries += repeated
            if self._entries > MAX_ENTRIES:
                raise GraphError(
                    f"{where}: all rates and times may have at most {MAX_ENTRIES} entries"
                )
            entries += [_count(figure, where, 0)] * repeated
        if max(entries) < least:
            raise GraphError(f"{where} must not be 0 in all phases")
        return tuple(entries)


def _phases(lists: list[tuple[str, tuple[int, ...]]], where: str) -> int:
    """Return the number of phases that an actor's lists of rates and times have."""
    phases = max((len(entries) for _, entries in lists), default=1)
    for name, entries in lists:
        if len(entries) not in (1, phases):
            raise GraphError(
                f"{where}: {name} must have one entry or {phases}, as others of the actor have, "
                f"got {len(entries)}"
            )
    return phases


def _parse(data: bytes, origin: str) -> ElementTree.Element:
    """Parse elements and attributes only: without a document type no entities expand."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()

    def refuse_doctype(*_: object) -> None:
        raise GraphError(f"{origin}: a document type declaration (DOCTYPE) is not allowed")

    def start(tag: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if has_control_characters(value):
                raise GraphError(
                    f"{origin}: {tag}: {name} must not have control characters, got "
                    f"{shortened(value)!r}"
                )
        builder.start(tag, attributes)

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(data, True)
        return builder.close()
    except GraphError:
        raise
    except (expat.ExpatError, LookupError, ValueError, AssertionError) as error:
        raise GraphError(f"{origin}: not well-formed XML: {error}") from error


def _execution_times(
    properties: ElementTree.Element | None, lists: _Lists, origin: str
) -> tuple[dict[str, dict[str, tuple[int, ...]]], tuple[str, ...]]:
    """Return the times by actor and processor type, its default processors first, the others in the
    file's order. Also return a note on the actors that have several defaults."""
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    several: list[str] = []
    for actor, element, where in _each(properties, "actorProperties", "actor", origin):
        first: dict[str, tuple[int, ...]] = {}
        others: dict[str, tuple[int, ...]] = {}
        for kind, processor, label in _each(element, "processor", "type", where):
            default = processor.get("default", "false")
            if default not in ("true", "false", "1", "0"):
                raise GraphError(f"{label}: default must be 'true' or 'false', got {default!r}")
            time = _only(processor, "executionTime", label)
            chosen = first if default in ("true", "1") else others
            chosen[kind] = lists.parse(_attribute(time, "time", label), f"{label}: time", 0)
        if len(first) > 1:
            several.append(f"{actor!r} on {next(iter(first))!r}")
        found[actor] = first | others
    if not several:
        return found, ()
    shown = several[:MAX_NAMED] + ["..."] * (len(several) > MAX_NAMED)
    return found, (
        "if several processors are marked as default, the first one counts: " + ", ".join(shown),
    )


def _token_sizes(properties: ElementTree.Element | None, origin: str) -> dict[str, int | None]:
    """Return the token sizes in bytes by channel, or None if none are given."""
    found: dict[str, int | None] = {}
    for channel, element, where in _each(properties, "channelProperties", "channel", origin):
        found[channel] = None
        size = element.find("tokenSize")
        if size is not None:
            bits = _count(_attribute(size, "sz", where), f"{where}: tokenSize", 0)
            found[channel] = max(1, -(-bits // 8))
    return found


def _channels(
    body: ElementTree.Element,
    ports: dict[tuple[str, str], tuple[str, PerPhase]],
    sizes: dict[str, int | None],
    origin: str,
) -> list[Channel]:
    """Return the channels. Remove the entries that it uses from ``ports`` and ``sizes``."""
    used: set[tuple[str, str]] = set()
    channels = []
    for name, element, where in _each(body, "channel", "name", origin):
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
        channel = Channel(source, target, production, consumption, tokens, name=name)
        channels.append(channel if size is None else replace(channel, token_bytes=size))
    return [
        replace(channel, name="") if channel.name == UNNAMED.format(number) else channel
        for number, channel in enumerate(_with_capacities(channels))
    ]


def _with_capacities(channels: list[Channel]) -> list[Channel]:
    """Replace each channel ``X_room`` that mirrors X by a capacity of X."""
    kept = {channel.name: channel for channel in channels}
    for channel in sorted(channels, key=lambda channel: len(channel.name)):
        bounded = kept.get(channel.name.removesuffix("_room"))
        if bounded is None or bounded is channel or bounded.capacity is not None:
            continue
        capacity = bounded.initial_tokens + channel.initial_tokens
        if room_channel(bounded, capacity) == channel:
            kept[bounded.name] = replace(bounded, capacity=capacity)
            del kept[channel.name]
    return list(kept.values())


def _each(
    parent: ElementTree.Element | None, tag: str, attribute: str, where: str
) -> Iterator[tuple[str, ElementTree.Element, str]]:
    """Yield the elements of a tag: the value of the attribute that tells them apart, the element,
    and its place in messages."""
    several = tag.endswith("Properties")
    article = "" if several else "an " if tag == "actor" else "a "
    seen: set[str] = set()
    for element in () if parent is None else parent.findall(tag):
        name = _attribute(element, attribute, f"{where}: {article}{tag}")
        label = f"{where}: {tag} of {name!r}" if several else f"{where}: {tag} {name!r}"
        if name in seen:
            raise GraphError(f"{label} {'are' if several else 'is'} there more than once")
        seen.add(name)
        yield name, element, label


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


def _count(text: str, where: str, least: int) -> int:
    """Return an integer in decimal digits."""
    digits = text.strip(" \t\r\n")
    if not re.fullmatch("[0-9]+", digits) or len(digits.lstrip("0")) > 19:
        raise GraphError(
            f"{where} must be a whole number from {least} to {MAX_NUMBER}, got {text[:40]!r}"
        )
    value = int(digits.lstrip("0") or "0")
    if not least <= value <= MAX_NUMBER:
        raise GraphError(
            f"{where} must be a whole number from {least} to {MAX_NUMBER}, got {value}"
        )
    return value
