"""Map the names in a runtime's profile to the layers of a network, and join their times.

Runtimes fuse layers and name the result after all of them: ``conv1 + relu1``, ``a || b`` (merged
side by side), ``PWN(x, y)`` (element-wise), ``{a,b,c}`` and ``{ForeignNode[a...c]}`` (a part given
to a DLA or a compiler). Layers that they create, or that had no name, are called after their
result: ``node_of_r1`` (TensorRT), ``r1_nchwc`` (ONNX Runtime).

Times of sets of layers, from one or several profiles of one network on one unit.

Within a profile, rows that share a layer are parts of the same work and add up. Between profiles
they are the same work measured again. Equal sets are averaged. A set inside another one is
subtracted from it on request (a DLA's times per group are differences of runs that hand over ever
fewer layers). Any other set that overlaps an earlier one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.common.units import PS_PER_MS
from paretosoc.platforms.measurement import plain_name
from paretosoc.sdf.grouping.groups import GroupedNetwork

_FOREIGN = re.compile(r"\{ForeignNode\[(.*)\]\}")
_OF_RESULT = re.compile(r"node_of_(.+)|(.+)_nchwc(?:_token_\d+)?")
_FUSION = re.compile(r"(.+)/\w*Fusion")
"""A node that an optimisation of ONNX Runtime made, after the first node that it replaced."""
_SEPARATORS = (" + ", " || ", ", ")
_MAX_NAME = 100_000
"""Most characters of a name. A part given to a DLA names all its layers, and taking names apart is
not linear."""
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class NamedLayers:
    """The layers that a name denotes.

    ``layers`` are in the network's order, ``unknown`` are the parts of the name that are none of
    them. ``is_range``: the name has only the first and the last one, and means those between, too.
    """

    layers: tuple[str, ...]
    unknown: tuple[str, ...]
    is_range: bool = False


class LayerNames:
    """Looks up names of a profile among the layers of one network.

    ``results``: tensor name to the layer that makes it. ``rows``: rows whose names do not say which
    layers they are, to the names of those.
    """

    def __init__(
        self,
        layers: Sequence[str],
        results: Mapping[str, str] | None = None,
        rows: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._rows = dict(rows or {})
        self._order = {name: index for index, name in enumerate(layers)}
        self._results = dict(results or {})
        self.layers = tuple(layers)
        plain: dict[str, list[str]] = {}
        for name in layers:
            plain.setdefault(plain_name(name), []).append(name)
        self._plain = {key: names[0] for key, names in plain.items() if len(names) == 1}

    def find(self, text: str) -> NamedLayers:
        """Return the layers that the name of a row denotes."""
        if len(text) > _MAX_NAME:
            return NamedLayers((), (text,))
        if text in self._rows:
            return self._all(self._rows[text])
        if self._known(text) is not None:
            return self._all([text])
        foreign = _FOREIGN.fullmatch(text)
        if foreign:
            return self._between(foreign[1])
        if text.startswith("{") and text.endswith("}"):
            return self._all(text[1:-1].split(","))
        return self._all(_atoms(text))

    def in_order(self, names: Sequence[str] | set[str] | frozenset[str]) -> tuple[str, ...]:
        """Return ``names`` in the network's order."""
        return tuple(sorted(names, key=self._order.__getitem__))

    def place(self, names: frozenset[str]) -> int:
        """Return the position of the first of ``names`` in the network's order."""
        return min(self._order[name] for name in names)

    def _known(self, atom: str) -> str | None:
        """Return the layer of that name, or the layer whose result has that name."""
        if atom in self._order:
            return atom
        result = _OF_RESULT.fullmatch(atom)
        tensor = (result[1] or result[2]) if result else atom
        if tensor in self._results:
            return self._results[tensor]
        fused = _FUSION.fullmatch(atom)
        base = fused[1] if fused else tensor
        if base in self._order:
            return base
        return self._plain.get(plain_name(atom)) if plain_name(atom) else None

    def _all(self, atoms: Sequence[str]) -> NamedLayers:
        pairs = [(atom.strip(), self._known(atom.strip())) for atom in atoms if atom.strip()]
        found = {name for _, name in pairs if name is not None}
        return NamedLayers(
            self.in_order(found), tuple(atom for atom, name in pairs if name is None)
        )

    def _between(self, text: str) -> NamedLayers:
        """Return the layers from the first to the last named, in the order of execution."""
        # A name may have dots of its own, at either end.
        for start, _, stop in (text.partition("..."), text.rpartition("...")):
            ends = [
                self._all([part] if self._known(part) is not None else _atoms(part)).layers
                for part in (start, stop)
            ]
            if not all(ends):
                continue
            first = min(self._order[name] for name in ends[0])
            last = max(self._order[name] for name in ends[1])
            if first <= last:
                return NamedLayers(self.layers[first : last + 1], (), is_range=True)
        return NamedLayers((), (text,))


def names_of(
    network: GroupedNetwork, rows: Mapping[str, Sequence[str]] | None = None
) -> LayerNames:
    """Return the names of a network's layers and results. ``rows`` as in :class:`LayerNames`."""
    layers = {
        actor.name: actor.layer.name for actor in network.graph.actors if actor.layer is not None
    }
    return LayerNames(
        [layer.name for group in network.groups for layer in group.layers],
        {
            channel.name: layers[channel.source]
            for channel in network.graph.channels
            if channel.name and channel.source in layers
        },
        rows,
    )


def _atoms(text: str) -> list[str]:
    """Return the single names in a fused one. Separators inside brackets belong to a name."""
    result: list[str] = []
    rest = [text]
    while rest:
        whole = rest.pop()
        inner = re.fullmatch(r"(?:PWN|COPY)\((.*)\)", whole)
        parts = [inner[1]] if inner else _split(whole)
        if parts == [whole]:
            result.append(whole)
        else:
            rest += reversed(parts)
    return result


def _split(text: str) -> list[str]:
    parts, depth, start, place = [], 0, 0, 0
    while place < len(text):
        depth += (text[place] in _OPENING) - (text[place] in _CLOSING)
        separator = next((s for s in _SEPARATORS if text.startswith(s, place)), None)
        if depth == 0 and separator is not None:
            parts.append(text[start:place])
            place = start = place + len(separator)
        else:
            place += 1
    return [*parts, text[start:]]


def short_name(name: str) -> str:
    """Return a name that may be long, quoted, with both of its ends."""
    return repr(name if len(name) <= 60 else f"{name[:40]}...{name[-17:]}")


def unknown_parts(name: str, parts: Sequence[str]) -> str:
    """Report a fused row of which only some parts are layers of the network."""
    shown = ", ".join(map(short_name, parts[:3]))
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return (
        f"{short_name(name)}: {shown}{more} not known in the network; all its time goes to the "
        "layers that are"
    )


@dataclass(frozen=True)
class LayerTime:
    """The time of a set of layers in ps, and its origin."""

    layers: frozenset[str]
    time_ps: Fraction
    note: str = ""


def ms_text(time_ps: Fraction) -> str:
    """Return a time for people."""
    return f"{float(time_ps / PS_PER_MS):.6g} ms"


def joined(items: Iterable[LayerTime]) -> list[LayerTime]:
    """Return the rows of one profile, with rows that share a layer joined and their times added."""
    result: list[LayerTime] = []
    for item in items:
        touching = [other for other in result if other.layers & item.layers]
        result = [other for other in result if not other.layers & item.layers]
        result.append(
            LayerTime(
                item.layers.union(*(other.layers for other in touching)),
                item.time_ps + sum((other.time_ps for other in touching), Fraction(0)),
                item.note,
            )
        )
    return result


def combined(
    profiles: Sequence[Sequence[LayerTime]], *, subtract: bool
) -> tuple[list[LayerTime], list[str]]:
    """Return disjoint sets with their times from several profiles, and texts about flagged sets.

    ``profiles``: for each, the sets that :func:`joined` gave. Without ``subtract`` only equal sets
    of several profiles are used, else those of the first one: layers that were fused otherwise take
    other times, and their differences would mean nothing. With it, a difference that is not
    positive is noise larger than the work. It is flagged and not used, and its layers stay together
    with those of the set that it was to be subtracted from.
    """
    flagged: list[str] = []
    samples: dict[frozenset[str], list[LayerTime]] = {}
    for profile in profiles:
        for item in profile:
            crossed = next(
                (
                    known
                    for known in samples
                    if known & item.layers and not _fits(known, item.layers, subtract)
                ),
                None,
            )
            if crossed is None:
                samples.setdefault(item.layers, []).append(item)
            else:
                flagged.append(
                    f"{_shown(item)}: {len(crossed & item.layers)} of its layers were measured "
                    f"with {len(crossed)} layers in an earlier file; not used"
                )
    sets = [_mean(items) for items in samples.values()]
    sets.sort(key=lambda item: len(item.layers))
    kept: list[LayerTime] = []
    result: list[LayerTime] = []
    for item in sets:
        inner = _largest_inside(item, kept)
        if item.layers == frozenset().union(*(part.layers for part in inner)):
            continue  # Known in more detail.
        while inner:
            rest = item.time_ps - sum((part.time_ps for part in inner), Fraction(0))
            if rest > 0:
                break
            worst = max(inner, key=lambda part: part.time_ps)
            flagged.append(
                f"{_shown(item)}: less its part of {len(worst.layers)} layers ("
                f"{ms_text(worst.time_ps)}) leaves {ms_text(item.time_ps - worst.time_ps)}; the "
                "difference is not used"
            )
            kept.remove(worst)
            inner = _largest_inside(item, kept)
        kept.append(item)
    for item in kept:
        inner = _largest_inside(item, [other for other in kept if other is not item])
        layers = item.layers.difference(*(part.layers for part in inner))
        rest = item.time_ps - sum((part.time_ps for part in inner), Fraction(0))
        if layers and rest > 0:
            note = item.note
            if inner:
                held = sum(len(part.layers) for part in inner)
                note += (
                    f"{': ' if note else ''}{ms_text(item.time_ps)} for {len(item.layers)} layers "
                    f"less {ms_text(item.time_ps - rest)} for {held} of them"
                )
            result.append(LayerTime(layers, rest, note))
    return result, flagged


def _fits(known: frozenset[str], new: frozenset[str], subtract: bool) -> bool:
    """Return whether two sets that share layers can both be used."""
    return known == new or (subtract and (known < new or new < known))


def _mean(items: Sequence[LayerTime]) -> LayerTime:
    total = sum((item.time_ps for item in items), Fraction(0))
    note = items[0].note
    if len(items) > 1:
        note += f"{', ' if note else ''}mean of {len(items)} profiles"
    return LayerTime(items[0].layers, total / len(items), note)


def _largest_inside(item: LayerTime, others: Sequence[LayerTime]) -> list[LayerTime]:
    """Return the largest sets inside ``item``. Sets never cross."""
    inside = [other for other in others if other.layers < item.layers]
    return [part for part in inside if not any(part.layers < other.layers for other in inside)]


def _shown(item: LayerTime) -> str:
    first = min(item.layers)
    return repr(first) if len(item.layers) == 1 else f"{first!r} and {len(item.layers) - 1} others"
