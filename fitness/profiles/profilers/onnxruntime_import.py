"""Turn ONNX Runtime's profiles into a profile of a network's layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from paretosoc.common.text import pluralize
from paretosoc.fitness.profiles.importing import Import
from paretosoc.fitness.profiles.layer_names import (
    LayerNames,
    NamedLayers,
    short_name,
    unknown_parts,
)
from paretosoc.fitness.profiles.measured_layers import LayerTime, joined, ms_text
from paretosoc.fitness.profiles.profilers.onnxruntime_profile import SessionProfile
from paretosoc.platforms.errors import PlatformError

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
        made: the profile.
        profiles: (file name, its content).
        names: of the network's layers.
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
