"""Map the names in a runtime's profile to the layers of a network.

Runtimes fuse layers and name the result after all of them: ``conv1 + relu1``, ``a || b`` (merged
side by side), ``PWN(x, y)`` (element-wise), ``{a,b,c}`` and ``{ForeignNode[a...c]}`` (a part given
to a DLA or a compiler). Layers that they create, or that had no name, are called after their
result: ``node_of_r1`` (TensorRT), ``r1_nchwc`` (ONNX Runtime).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
