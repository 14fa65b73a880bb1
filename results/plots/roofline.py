"""Rooflines: operations per second, and per joule, over operations per byte of memory traffic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import DASHES, FORMS, Curve, Marks
from paretosoc.results.plots.style import INK, LINE_COLOURS

LEAST_OF_RIDGE = 0.01
"""The axis begins at this share of the lowest ridge at least."""


@dataclass(frozen=True)
class Point:
    """A group: operations per byte (infinite if it moves nothing), GOP/s, GOP/J."""

    network: str
    intensity: float
    gops: float
    gops_per_watt: float


@dataclass(frozen=True)
class Roof:
    """A unit at the clocks of a member."""

    unit: str
    clocks_mhz: tuple[tuple[str, float], ...]
    gops: float
    """The peak."""
    gbps: float
    """The memory bandwidth that the unit alone can draw. Infinite if it needs none."""
    watts: float
    """Power while it computes, without that of memory traffic."""
    watts_per_gbps: float
    points: tuple[Point, ...]

    def attainable(self, intensity: FloatArray) -> FloatArray:
        """Return the highest GOP/s at operations per byte."""
        return np.minimum(self.gops, self.gbps * intensity)

    def attainable_per_watt(self, intensity: FloatArray) -> FloatArray:
        """Return the GOP/J of the highest rate."""
        rate = self.attainable(intensity)
        return rate / (self.watts + self.watts_per_gbps * rate / intensity)


def draw_roofline(members: Sequence[tuple[str, Sequence[Roof]]]) -> Charts:
    """Return the roofs of members, each beside its title: of time and, if powers are known, of
    energy. Groups that move nothing stand at the right edge, those far left of all ridges, with
    nearly no operations, at the left edge, by their bytes per second (or joule). Convolutions by
    Winograd's algorithm may lie above the roof. Units of a member with the same roof have one
    line."""
    roofs = [
        (n, title, roof) for n, (title, apart) in enumerate(members) for roof in _together(apart)
    ]
    units = list(dict.fromkeys(roof.unit for _, _, roof in roofs))
    networks = list(dict.fromkeys(p.network for *_, roof in roofs for p in roof.points))
    finite = [p.intensity for *_, roof in roofs for p in roof.points if p.intensity < math.inf]
    ridges = [roof.gops / roof.gbps for *_, roof in roofs if roof.gbps < math.inf] or [1.0]
    low = max(min((*finite, *ridges)), min(ridges) * LEAST_OF_RIDGE)
    high = max((*finite, *ridges, 1.0))
    intensities = np.geomspace(low / 2, 2 * high, 200)
    panels = [("Giga-operations per second", Roof.attainable, "gops")]
    if all(roof.watts > 0 for *_, roof in roofs):
        panels.append(("Giga-operations per joule", Roof.attainable_per_watt, "gops_per_watt"))
    x = Axis("Operations per byte of memory traffic", low / 2, 2 * high, is_log=True)
    charts = []
    for label, line, field in panels:
        items: list[Curve | Marks] = []
        for n, title, roof in roofs:
            colour = LINE_COLOURS[units.index(roof.unit) % len(LINE_COLOURS)]
            clocks = ", ".join(f"{clock} {mhz:.0f} MHz" for clock, mhz in roof.clocks_mhz)
            points = list(zip(intensities.tolist(), line(roof, intensities).tolist(), strict=True))
            name, dash = f"{title}: {roof.unit} ({clocks})", DASHES[n % len(DASHES)]
            items.append(Curve(points, colour, 1.0, dash=dash, name=name))
            fill = "#FFFFFF" if n else colour
            for k, network in enumerate(networks):
                groups = [p for p in roof.points if p.network == network]
                # The left edge leaves the distance to the slope of the roof as it is.
                places = [
                    (
                        min(max(p.intensity, x.low), x.high),
                        getattr(p, field) * max(1.0, x.low / p.intensity),
                    )
                    for p in groups
                ]
                form = FORMS[k % len(FORMS)]
                items.append(Marks(places, form, [fill] * len(places), ink=colour, width=1.0))
        items += [
            Marks((), FORMS[k % len(FORMS)], name=network, key_fill=INK)
            for k, network in enumerate(networks)
        ]
        values = [y for item in items for _, y in item.points]
        y = Axis.over(label, values, 0.05, is_log=True)
        charts.append(Chart(x, y, tuple(items), width=PAGE / 2, height=200.0))
    return Charts([charts])


def _together(roofs: Sequence[Roof]) -> list[Roof]:
    """Return one roof, named after all of them, for units that differ only in their points."""
    alike: dict[Roof, list[Roof]] = {}
    for roof in roofs:
        alike.setdefault(replace(roof, unit="", points=()), []).append(roof)
    return [
        replace(
            same[0],
            unit=", ".join(roof.unit for roof in same),
            points=tuple(point for roof in same for point in roof.points),
        )
        for same in alike.values()
    ]
