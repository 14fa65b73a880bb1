"""Predicted against measured: a picture of each set, a panel for each protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.validation.scores import Comparison
from paretosoc.results.plots.style import (
    COLOURS,
    GREY,
    PAGE_INCHES,
    picture_settings,
    svg_bytes,
    use_log_scale,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "ox+^*s"
PANEL_INCHES = PAGE_INCHES / 3
MOST_COLUMNS = 5


def write_pictures(found: Sequence[Comparison], folder: Path) -> list[Path]:
    """Write a file for each set, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for data in dict.fromkeys(one.data for one in found):
        path = folder / picture_name(data)
        path.write_bytes(picture([one for one in found if one.data == data]))
        paths.append(path)
    return paths


def picture_name(data: str) -> str:
    """Return the file of a set: letters, digits and underscores."""
    return f"{re.sub(r'[^a-z0-9]+', '_', data.lower()).strip('_')}.svg"


def picture(found: Sequence[Comparison]) -> bytes:
    """Return the SVG of one set."""
    from matplotlib.figure import Figure

    protocols = list(dict.fromkeys(one.fitted for one in found))
    columns = min(len(protocols), MOST_COLUMNS)
    rows = -(-len(protocols) // columns)
    with picture_settings():
        size = (PANEL_INCHES * columns, PANEL_INCHES * rows)
        figure = Figure(figsize=size, layout="constrained")
        for place, fitted in enumerate(protocols):
            axes = figure.add_subplot(rows, columns, place + 1)
            _draw(axes, [one for one in found if one.fitted == fitted])
        return svg_bytes(figure)


def _draw(axes: Axes, found: Sequence[Comparison]) -> None:
    """Draw a mark for each point held out, by its law. On the line both agree."""
    values = np.concatenate([values for one in found for values in (one.measured, one.predicted)])
    ends = [values.min(), values.max()]
    axes.plot(ends, ends, color=GREY, linewidth=0.6)
    for place, one in enumerate(found):
        axes.scatter(
            one.measured,
            one.predicted,
            s=7,
            c=COLOURS[place],
            marker=MARKERS[place],
            linewidths=0.6,
            label=one.law,
        )
    use_log_scale(axes.xaxis)
    use_log_scale(axes.yaxis)
    axes.tick_params(which="both", labelsize=5)
    unit = f" [{found[0].unit}]" if found[0].unit else ""
    axes.set_xlabel(f"measured{unit}")
    axes.set_ylabel(f"predicted{unit}")
    axes.set_title(found[0].fitted, fontsize=6)
    axes.legend(fontsize=5)
