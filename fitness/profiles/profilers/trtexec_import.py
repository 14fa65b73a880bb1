"""Turn trtexec's profiles into a profile of a network's layers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paretosoc.common.text import pluralize
from paretosoc.fitness.profiles.importing import Import
from paretosoc.fitness.profiles.layer_names import LayerNames, short_name, unknown_parts
from paretosoc.fitness.profiles.measured_layers import LayerTime, joined, ms_text
from paretosoc.fitness.profiles.profilers.engine_rows import EngineTimes, sort_rows
from paretosoc.fitness.profiles.profilers.trtexec_profile import EngineProfile
from paretosoc.platforms.errors import PlatformError


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
        made: the profile.
        profiles: (file name, its content).
        names: of the network's layers.
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
