"""The reliability diagram: stated probabilities against the shares of networks that were left out
which lie within the intervals."""

from __future__ import annotations

from collections.abc import Mapping

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
from paretosoc.results.plots.style import (
    COLOURS,
    COLUMN_INCHES,
    GREY,
    INK,
    picture_settings,
    svg_bytes,
)


def ratios_of(found: Mapping[str, Logs]) -> dict[str, FloatArray]:
    """Return |error| over its scale of every row, by pool."""
    ratios = {}
    for name, logs in found.items():
        widened = widening(logs)
        ratios[name] = np.array([r / widened[entry] for entry, _, r in held_out(logs)])
    return ratios


def diagram(ratios: Mapping[str, FloatArray]) -> bytes:
    """Return the diagram as SVG: a line for each pool, a thick one for all."""
    from matplotlib.figure import Figure

    every = np.concatenate([*ratios.values()])
    percent = [100 * level for level in LEVELS]
    with picture_settings():
        figure = Figure(figsize=(COLUMN_INCHES, COLUMN_INCHES), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 100], [0, 100], color=GREY, linewidth=0.6)
        for colour, (name, own) in zip(COLOURS * 2, ratios.items(), strict=False):
            shares = [100 * within(own, level) for level in LEVELS]
            axes.plot(percent, shares, color=colour, linewidth=0.7, label=f"{name} ({len(own)})")
        axes.plot(
            percent,
            [100 * within(every, level) for level in LEVELS],
            color=INK,
            linewidth=1.6,
            marker="o",
            markersize=3,
            label=f"all ({len(every)}), error {100 * calibration_error(every):.1f} %",
        )
        axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
        axes.set_xlabel("stated probability (%)")
        axes.set_ylabel("rows within the interval (%)")
        axes.legend(fontsize=5)
        return svg_bytes(figure)
