"""Profiles that ONNX Runtime writes: chrome-trace events, one per node and run, times in us.

The closing bracket is missing if the session died. Nodes may have no name, and in older versions no
provider. The first runs allocate and tune, and are left out.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretosoc.common.text import pluralize, printable
from paretosoc.common.units import PS_PER_US
from paretosoc.fitness.profiles.layer_names import (
    LayerNames,
    NamedLayers,
    short_name,
    unknown_parts,
)
from paretosoc.fitness.profiles.measured_layers import LayerTime, joined, ms_text
from paretosoc.fitness.profiles.profile_document import Import
from paretosoc.fitness.profiles.profilers.trace_ranges import MAX_US
from paretosoc.platforms.errors import PlatformError

_NODE = re.compile(r"(.*)_kernel_time")
_RUN = "model_run"
_MAX_UNREADABLE = 100
"""With more events that cannot be read the file is something else."""


@dataclass(frozen=True)
class NodeTime:
    """A node's time per run, ps. The name is empty if the model gave none."""

    name: str
    operation: str
    provider: str
    mean_ps: Fraction
    median_ps: Fraction


@dataclass(frozen=True)
class SessionProfile:
    """The nodes in the order of their first execution, over this many runs."""

    nodes: tuple[NodeTime, ...]
    runs: int
    warnings: tuple[str, ...]


def parse_onnxruntime_profile(text: str, label: str, *, skip: int) -> SessionProfile:
    """Read the profile of a session without its first ``skip`` runs. Messages start with ``label``.

    Raises:
        PlatformError: if the text is no such profile, or no run is left.
    """
    events, warnings = _events(text, label)
    starts = sorted(
        (int(event["ts"]), int(event["ts"]) + int(event["dur"]))
        for event in events
        if event.get("cat") == "Session" and event.get("name") == _RUN and _timed(event)
    )
    if not starts:
        raise PlatformError(
            f"{label}: must hold a finished run (an event {_RUN!r}), got {len(events)} events "
            "without one"
        )
    used = starts[skip:]
    if not used:
        raise PlatformError(
            f"{label}: must hold more runs than the {skip} left out (--skip), got {len(starts)}"
        )
    samples: dict[tuple[str, str, str], Counter[int]] = {}
    outside = 0
    begins = [begin for begin, _ in starts]
    for event in events:
        found = _NODE.fullmatch(_text(event, "name"))
        if event.get("cat") != "Node" or found is None or not _timed(event):
            continue
        run = bisect_right(begins, int(event["ts"])) - 1
        if run < 0 or int(event["ts"]) > starts[run][1]:
            outside += 1
            continue
        if run < skip:
            continue
        args = event.get("args")
        args = args if isinstance(args, Mapping) else {}
        key = (found[1], _text(args, "op_name"), _text(args, "provider"))
        samples.setdefault(key, Counter())[run] += int(event["dur"])
    if outside:
        warnings.append(f"{outside} nodes ran outside a finished run; not used")
    if not samples:
        raise PlatformError(f"{label}: must hold times of nodes, got none")
    nodes = [
        NodeTime(
            *key,
            Fraction(times.total() * PS_PER_US, len(used)),
            _median(list(times.values()), len(used)) * PS_PER_US,
        )
        for key, times in samples.items()
    ]
    return SessionProfile(tuple(nodes), len(used), tuple(warnings))


def _median(times: list[int], runs: int) -> Fraction:
    """Return the median over all runs. Runs without a time of the node count as 0."""
    times.sort()
    middle = ((runs - 1) // 2, runs // 2)
    absent = runs - len(times)
    return Fraction(sum(times[place - absent] if place >= absent else 0 for place in middle), 2)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return printable(value) if isinstance(value, str) else ""


def _timed(event: Mapping[str, Any]) -> bool:
    return all(type(event.get(key)) is int and 0 <= event[key] <= MAX_US for key in ("ts", "dur"))


def _events(text: str, label: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return all events that can be read, and warnings. An event that is cut off is left out."""
    start = re.match(r"\s*\[", text)
    if start is None:
        raise PlatformError(f"{label}: must be a JSON list of trace events, got something else")
    decoder = json.JSONDecoder()
    events: list[Mapping[str, Any]] = []
    warnings: list[str] = []
    place = start.end()
    while True:
        place = _skip(text, place)
        if place >= len(text):
            warnings.append("the closing bracket is missing: the session may have died")
            break
        if text[place] == "]":
            break
        try:
            event, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            line_end = text.find("\n", place)
            if len(warnings) == _MAX_UNREADABLE:
                raise PlatformError(
                    f"{label}: must be a JSON list of trace events, got more than "
                    f"{_MAX_UNREADABLE} that cannot be read"
                ) from None
            warnings.append(
                f"an event cannot be read, and is left out: {text[place : place + 60]!r}"
            )
            if line_end < 0:
                break
            place = line_end
            continue
        if isinstance(event, Mapping):
            events.append(event)
    return events, warnings


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,":
        place += 1
    return place


ANY_PROVIDER = ""
"""Key of the units for nodes of every provider that is not named."""


def import_onnxruntime(
    made: Import,
    profiles: Sequence[tuple[str, SessionProfile]],
    names: LayerNames,
    *,
    providers: Mapping[str, Sequence[str]],
    use_median: bool,
) -> None:
    """Add the measured layers.

    Args:
        profiles: (file name, its content).
        providers: execution provider to the units that take its times.

    Raises:
        PlatformError: if no node is a layer of the network.
    """
    by_units: dict[tuple[str, ...], list[list[LayerTime]]] = {}
    for label, profile in profiles:
        made.flagged += [f"{label}: {text}" for text in profile.warnings]
        found: dict[tuple[str, ...], list[LayerTime]] = {}
        total = used = Fraction(0)
        for node in profile.nodes:
            time = node.median_ps if use_median else node.mean_ps
            total += time
            units = tuple(providers.get(node.provider, providers.get(ANY_PROVIDER, ())))
            item = names.find(node.name) if node.name else NamedLayers((), ())
            matched = item.layers
            if not matched or not units or not time:
                why = "is no layer of the network" if not matched else "took no time"
                why = why if units else f"ran on {node.provider}, for which no --unit is given"
                shown = short_name(node.name) if node.name else f"a nameless {node.operation}"
                made.flagged.append(f"{label}: {shown} {why}; {ms_text(time)} not used")
                continue
            used += time
            if item.unknown:
                made.flagged.append(f"{label}: {unknown_parts(node.name, item.unknown)}")
            found.setdefault(units, []).append(LayerTime(frozenset(matched), time))
        for units, items in found.items():
            by_units.setdefault(units, []).append(joined(items))
        made.lines.append(
            f"{label}: {pluralize(len(profile.nodes), 'node')}, {ms_text(total)} a run in "
            f"{pluralize(profile.runs, 'run')}; {ms_text(used)} belong to layers"
        )
    if not by_units:
        raise PlatformError(
            f"no node is a layer of network {made.subject.network!r}, which has "
            f"{', '.join(map(repr, names.layers[:3]))}, ...; the profile has "
            f"{', '.join(repr(node.name[:40]) for node in profiles[0][1].nodes[:3])}, ..."
        )
    for units, measured in by_units.items():
        made.add_layer_times(names, units, measured, subtract=False)
