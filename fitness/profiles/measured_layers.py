"""Times of sets of layers, from one or several profiles of one network on one unit.

Within a profile, rows that share a layer are parts of the same work and add up. Between profiles
they are the same work measured again. Equal sets are averaged. A set inside another one is
subtracted from it on request (a DLA's times per group are differences of runs that hand over ever
fewer layers). Any other set that overlaps an earlier one is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.common.units import PS_PER_MS


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
