"""The reliability diagram: stated probabilities against the shares of networks that were left out
which lie within the intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.fit_costs.errors import (
    LEVELS,
    Logs,
    calibration_error,
    held_out,
    widening,
    within,
)
from paretosoc.common.arrays import FloatArray
from paretosoc.results.plots.chart import Axis, Chart
from paretosoc.results.plots.items import DASHES, Curve, Marks, solid_marks
from paretosoc.results.plots.style import GREY, INK, LINE_COLOURS


def ratios_of(found: Mapping[str, Logs]) -> dict[str, FloatArray]:
    """Return |error| over its scale of every row, by pool."""
    ratios = {}
    for name, logs in found.items():
        widened = widening(logs)
        ratios[name] = np.array([r / widened[entry] for entry, _, r in held_out(logs)])
    return ratios


def diagram(ratios: Mapping[str, FloatArray]) -> bytes:
    """Return the diagram as SVG: a line for each pool, a thick one for all."""
    every = np.concatenate([*ratios.values()])
    items: list[Curve | Marks] = [Curve([(0.0, 0.0), (100.0, 100.0)], GREY, 0.6)]
    for k, (name, own) in enumerate(ratios.items()):
        colour, dash = LINE_COLOURS[k % len(LINE_COLOURS)], DASHES[k // len(LINE_COLOURS)]
        items.append(Curve(_shares(own), colour, 0.7, dash=dash, name=f"{name} ({len(own)})"))
    points = _shares(every)
    name = f"all ({len(every)}), error {100 * calibration_error(every):.1f} %"
    items += [Curve(points, INK, 1.6), solid_marks(points, "o", INK, name)]
    x = Axis("stated probability (%)", 0.0, 100.0)
    y = replace(x, title="rows within the interval (%)")
    return Chart(x, y, tuple(items), height=300.0).picture().svg()


def _shares(ratios: FloatArray) -> list[tuple[float, float]]:
    """Return stated probabilities and the shares of rows within, in per cent."""
    return [(100 * level, 100 * within(ratios, level)) for level in LEVELS]
