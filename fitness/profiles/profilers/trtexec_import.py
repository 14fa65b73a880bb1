"""Turn trtexec's profiles, and its inspector's output, into a profile of a network's layers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from paretosoc.common.documents.schema import shown
from paretosoc.common.text import pluralize
from paretosoc.fitness.profiles.layer_names import LayerNames, short_name, unknown_parts
from paretosoc.fitness.profiles.measured_layers import LayerTime, joined, ms_text
from paretosoc.fitness.profiles.profile_document import Import
from paretosoc.fitness.profiles.profilers.trtexec_profile import EngineProfile, EngineRow
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import parse_exact

_COPY_NODE = re.compile(r"Reformatting CopyNode for (Input|Output) Tensor \d+ (?:to|from|for) (.*)")
_REFORMATTER = re.compile(r"(.*) (input|output) reformatter \d+")
_FINISH = re.compile(r"(.*?)(?: output to be reformatted \d+| reformatted input \d+| copy)? finish")
_NVM = re.compile(r"(.*) (to|from) nvm")
_COPY = re.compile(r"(.*) copy")


class RowKind(Enum):
    """The work of a row of the engine."""

    LAYERS = "layers"
    INPUT = "input reformatting"
    OUTPUT = "output reformatting"
    TO_DLA = "to the DLA's memory"
    FROM_DLA = "from the DLA's memory"
    FINISH = "finish"


@dataclass(frozen=True)
class TimedRow:
    """Time of something named as the engine names it, ps."""

    name: str
    time_ps: Fraction


@dataclass
class EngineTimes:
    """The rows of an engine by the work that they measure.

    ``layers``: rows by the name of the layers they belong to. ``blocks``: the parts that a DLA ran,
    each with the names handed over together. ``handed_over``: bringing data there and back.
    ``flagged``: texts about unknown rows, with reasons.
    """

    layers: list[TimedRow] = field(default_factory=list)
    blocks: list[tuple[tuple[str, ...], Fraction]] = field(default_factory=list)
    handed_over: list[TimedRow] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)


def kind_of(name: str) -> tuple[RowKind, str]:
    """Return the kind of a row, and the name of the layers or part that it belongs to."""
    if found := _COPY_NODE.fullmatch(name):
        return RowKind.INPUT if found[1] == "Input" else RowKind.OUTPUT, found[2]
    if found := _REFORMATTER.fullmatch(name):
        return RowKind.INPUT if found[2] == "input" else RowKind.OUTPUT, found[1]
    if found := _FINISH.fullmatch(name):
        return RowKind.FINISH, found[1]
    if found := _NVM.fullmatch(name):
        return RowKind.TO_DLA if found[2] == "to" else RowKind.FROM_DLA, found[1]
    if found := _COPY.fullmatch(name):
        return RowKind.LAYERS, found[1]
    return RowKind.LAYERS, name


def is_block(name: str) -> bool:
    """Return whether a name denotes a part compiled as a whole, for a DLA or by a compiler."""
    return name.startswith("{") and name.endswith("}")


def sort_rows(
    rows: Sequence[EngineRow], *, has_dla: bool, use_median: bool, label: str
) -> EngineTimes:
    """Sort rows by the work that they measure.

    Args:
        rows: in the engine's order.
        has_dla: whether ``{...}`` rows ran on a DLA. Otherwise they are layers like others
            (Myelin).
        use_median: the median of the iterations instead of the mean.

    Raises:
        PlatformError: if medians are requested and not there, or the rows show a DLA's work
            and ``has_dla`` is false.
    """
    result = EngineTimes()
    pending: list[TimedRow] = []
    between = 0
    kinds = [kind_of(row.name) for row in rows]
    signs = {RowKind.TO_DLA, RowKind.FROM_DLA, RowKind.FINISH}
    waits_later = any(kind in signs for kind, _ in kinds)
    if not has_dla and waits_later:
        sign = next(row.name for row, (kind, _) in zip(rows, kinds, strict=True) if kind in signs)
        raise PlatformError(
            f"{label}: a part of the engine ran on a DLA ({sign[-60:]!r}); "
            "--dla must name the unit that it was"
        )
    for place, (row, (kind, owner)) in enumerate(zip(rows, kinds, strict=True)):
        time = _time_of(row, use_median, label)
        dla = has_dla and is_block(owner)
        if dla and kind is RowKind.LAYERS:
            if waits_later:
                pending.append(TimedRow(owner, time))
            else:
                result.blocks.append(((owner,), time))
            continue
        if kind is RowKind.FINISH or kind is RowKind.TO_DLA or (dla and kind is RowKind.INPUT):
            result.handed_over.append(TimedRow(row.name, time))
            continue
        reads = kind is RowKind.FROM_DLA or (dla and kind is RowKind.OUTPUT)
        unread = bool(pending) and not between and not _is_read(kinds, place + 1, pending)
        if pending and (reads or (kind is RowKind.INPUT and unread)):
            _close(result, pending, time, between)
            pending, between = [], 0
        elif reads:
            result.handed_over.append(TimedRow(row.name, time))
        elif unread:
            result.flagged.append(
                f"{short_name(row.name)}: may hold the wait for {short_name(pending[0].name)}, so "
                "neither time is known; not used"
            )
            pending = []
        else:
            between += bool(pending)
            result.layers.append(TimedRow(owner, time))
    result.flagged += [f"{short_name(row.name)}: no row waits for it; not used" for row in pending]
    return result


def _time_of(row: EngineRow, use_median: bool, label: str) -> Fraction:
    if not use_median:
        return row.mean_ps
    if row.median_ps is None:
        raise PlatformError(f"{label}: --median needs medians, got none for {short_name(row.name)}")
    return row.median_ps


def _is_read(kinds: Sequence[tuple[RowKind, str]], start: int, pending: Sequence[TimedRow]) -> bool:
    """Return whether a row from ``start`` on reads the pending parts' results by their own name."""
    names = {row.name for row in pending}
    for place in range(start, len(kinds)):
        kind, owner = kinds[place]
        if kind is RowKind.FROM_DLA or (kind is RowKind.OUTPUT and owner in names):
            return True
        if kind is RowKind.LAYERS and is_block(owner):
            return False
    return False


def _close(result: EngineTimes, pending: list[TimedRow], wait: Fraction, between: int) -> None:
    names = tuple(row.name for row in pending)
    if between:
        result.flagged.append(
            f"{short_name(names[0])}: {between} rows of another unit ran while the DLA did, so its "
            "time is unknown; not used"
        )
        return
    result.blocks.append((names, wait + sum((row.time_ps for row in pending), Fraction(0))))


_DUMP = re.compile(r'\s*\{\s*"')
_SEPARATORS = re.compile(r"\\u001[efEF]|[\x1e\x1f]")
"""Between the nodes of a layer: control characters, which no text of ours has."""
_NODE = re.compile(r"\[ONNX Layer: (.*?)\](?=\s|\[|$)")


def is_layer_info(text: str) -> bool:
    """Return whether a text is a dump of the inspector, an object, and not a profile."""
    return _DUMP.match(text) is not None


def parse_layer_info(text: str, label: str) -> dict[str, tuple[str, ...]]:
    """Return each layer of the engine with the nodes that it was made of.

    Messages start with ``label``.

    Raises:
        PlatformError: if the text is not JSON, or names no node.
    """
    document = parse_exact(_SEPARATORS.sub(" ", text).encode("utf-8", "replace"), label)
    layers = document.get("Layers")
    if not isinstance(layers, list):
        raise PlatformError(
            f"{label}: must have a list Layers, as trtexec writes it with --exportLayerInfo, got "
            f"{shown(document)}"
        )
    nodes: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        if not isinstance(layer, dict) or not isinstance(layer.get("Name"), str):
            continue
        found = _NODE.findall(str(layer.get("Metadata", "")))
        if found:
            nodes[layer["Name"]] = tuple(dict.fromkeys(found))
    if not nodes:
        raise PlatformError(
            f"{label}: must name the ONNX nodes of Layers, got {len(layers)} without: build the "
            "engine with --profilingVerbosity=detailed"
        )
    return nodes


def import_trtexec(
    made: Import,
    profiles: Sequence[tuple[str, EngineProfile]],
    names: LayerNames,
    *,
    units: Sequence[str],
    dla: Sequence[str],
    use_median: bool,
) -> None:
    """Add the measured layers.

    Args:
        profiles: (file name, its content).
        units: that the plain rows were measured on. All of them take the times.
        dla: that the engine's DLA parts were measured on. Empty if there is none.

    Raises:
        PlatformError: if no row belongs to a layer of the network.
    """
    plain: list[list[LayerTime]] = []
    blocks: list[list[LayerTime]] = []
    for label, profile in profiles:
        made.flagged += [f"{label}: {text}" for text in profile.warnings]
        times = sort_rows(profile.rows, has_dla=bool(dla), use_median=use_median, label=label)
        made.flagged += [f"{label}: {text}" for text in times.flagged]
        found, parts = _matched(made, times, names, label)
        plain.append(found)
        blocks.append(parts)
        made.lines.append(_summary(label, profile, times, found + parts))
    if not any(plain) and not any(blocks):
        example = profiles[0][1].rows[0].name
        raise PlatformError(
            f"no row belongs to a layer of network {made.subject.network!r}, which has "
            f"{', '.join(map(repr, names.layers[:3]))}, ...; the profile has {example[:80]!r}, "
            "...: give the .onnx file that the engine was built from"
        )
    made.add_layer_times(names, units, plain, subtract=False)
    made.add_layer_times(names, dla, blocks, subtract=True)


def _matched(
    made: Import, times: EngineTimes, names: LayerNames, label: str
) -> tuple[list[LayerTime], list[LayerTime]]:
    """Return plain rows and DLA parts by the layers that they denote."""
    found = [(row, names.find(row.name)) for row in times.layers]
    # A range names its ends only, and layers that other rows name are not in it.
    named = {name for _, item in found if not item.is_range for name in item.layers}
    plain = []
    for row, item in found:
        layers = frozenset(item.layers) - (named if item.is_range else frozenset())
        if layers:
            plain.append(LayerTime(layers, row.time_ps))
            if item.unknown:
                made.flagged.append(f"{label}: {unknown_parts(row.name, item.unknown)}")
        else:
            made.flagged.append(
                f"{label}: {short_name(row.name)} is no layer of the network; "
                f"{ms_text(row.time_ps)} not used"
            )
    parts = []
    for rows, time in times.blocks:
        items = [names.find(row) for row in rows]
        held = frozenset(
            name for item in items for name in item.layers if not (item.is_range and name in named)
        )
        if held:
            parts.append(LayerTime(held, time))
            made.flagged += [
                f"{label}: {unknown_parts(row, item.unknown)}"
                for row, item in zip(rows, items, strict=True)
                if item.unknown
            ]
        else:
            made.flagged.append(
                f"{label}: {short_name(rows[0])} names no layer of the network; "
                f"{ms_text(time)} not used"
            )
    return joined(plain), joined(parts)


def _summary(
    label: str, profile: EngineProfile, times: EngineTimes, used: Sequence[LayerTime]
) -> str:
    total = sum((row.mean_ps for row in profile.rows), Fraction(0))
    kept = sum((item.time_ps for item in used), Fraction(0))
    moved = sum((row.time_ps for row in times.handed_over), Fraction(0))
    text = f"{label}: {pluralize(len(profile.rows), 'row')}, {ms_text(total)}"
    if profile.iterations:
        text += f" a run in {pluralize(profile.iterations, 'run')}"
    text += f"; {ms_text(kept)} belong to "
    text += pluralize(len({n for i in used for n in i.layers}), "layer")
    if times.blocks:
        text += (
            f"; {pluralize(len(times.blocks), 'part')} on the DLA, handed over in {ms_text(moved)}"
        )
    return text
