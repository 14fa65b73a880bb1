"""Rooflines: operations per second, and per joule, over operations per byte of memory traffic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.results.plots.style import INK, LINE_COLOURS, PAGE_INCHES, add_legend, use_log_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES: tuple[Any, ...] = ("-", "--", ":", "-.")
_MARKERS = "osD^vP*X"


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
        rate: FloatArray = np.minimum(self.gops, self.gbps * intensity)
        return rate

    def attainable_per_watt(self, intensity: FloatArray) -> FloatArray:
        """Return the GOP/J of the highest rate."""
        rate = self.attainable(intensity)
        return rate / (self.watts + self.watts_per_gbps * rate / intensity)


def draw_roofline(members: Sequence[tuple[str, Sequence[Roof]]]) -> Figure:
    """Return the roofs of members, each beside its title, as a matplotlib figure: of time and, if
    powers are known, of energy. Groups that move nothing stand at the right edge. Convolutions by
    Winograd's algorithm may lie above the roof. Units of a member with the same roof have one
    line."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    roofs = [
        (n, title, roof) for n, (title, apart) in enumerate(members) for roof in _together(apart)
    ]
    names = list(dict.fromkeys(roof.unit for _, _, roof in roofs))
    networks = list(dict.fromkeys(p.network for *_, roof in roofs for p in roof.points))
    finite = [p.intensity for *_, roof in roofs for p in roof.points if p.intensity < math.inf]
    ridges = [roof.gops / roof.gbps for *_, roof in roofs]
    low, high = min((*finite, *ridges)) or 1.0, max((*finite, *ridges, 1.0))
    steps = np.geomspace(low / 2, 2 * high, 200)
    powered = all(roof.watts > 0 for *_, roof in roofs)
    width = PAGE_INCHES if powered else PAGE_INCHES / 2
    figure = Figure(figsize=(width, 3.0), layout="constrained")
    panels = [("Giga-operations per second", Roof.attainable, "gops")]
    if powered:
        panels.append(("Giga-operations per joule", Roof.attainable_per_watt, "gops_per_watt"))
    for place, (label, line, field) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), place)
        axes.grid(True)
        for n, _, roof in roofs:
            colour = LINE_COLOURS[names.index(roof.unit) % len(LINE_COLOURS)]
            axes.plot(steps, line(roof, steps), _LINES[n % len(_LINES)], color=colour, linewidth=1)
            for point in roof.points:
                axes.plot(
                    min(point.intensity, steps[-1]),
                    getattr(point, field),
                    _MARKERS[networks.index(point.network) % len(_MARKERS)],
                    color=colour,
                    markerfacecolor="white" if n else colour,
                    markersize=4,
                    clip_on=False,
                )
        use_log_scale(axes.xaxis)
        use_log_scale(axes.yaxis)
        axes.set_xlim(steps[0], steps[-1])
        axes.set_xlabel("Operations per byte of memory traffic")
        axes.set_ylabel(label)
    handles = [
        Line2D(
            *([], []),
            color=LINE_COLOURS[names.index(roof.unit) % len(LINE_COLOURS)],
            linestyle=_LINES[n % len(_LINES)],
            label=f"{title}: {roof.unit} ("
            + ", ".join(f"{clock} {mhz:.0f} MHz" for clock, mhz in roof.clocks_mhz)
            + ")",
        )
        for n, title, roof in roofs
    ]
    handles += [
        Line2D([], [], color=INK, linestyle="", marker=_MARKERS[k % len(_MARKERS)], label=name)
        for k, name in enumerate(networks)
    ]
    add_legend(figure, handles=handles)
    return figure


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
