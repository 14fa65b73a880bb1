"""Predicted against measured: a picture of each set, a panel for each protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.validation.scores import Comparison
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import Curve, Marks
from paretosoc.results.plots.style import GREY, LINE_COLOURS

MARKERS = ("o", "", "^", "s", "D", "v")
WIDTH = PAGE / 3
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
    laws = list(dict.fromkeys(one.law for one in found))
    protocols = list(dict.fromkeys(one.fitted for one in found))
    charts = [
        _chart(fitted, [one for one in found if one.fitted == fitted], laws) for fitted in protocols
    ]
    columns = min(len(charts), MOST_COLUMNS)
    rows = [charts[k : k + columns] for k in range(0, len(charts), columns)]
    return Charts(rows).picture().svg()


def _chart(title: str, found: Sequence[Comparison], laws: Sequence[str]) -> Chart:
    """Return a chart with a mark for each point held out, by its law. On the line both agree."""
    values = np.concatenate([values for one in found for values in (one.measured, one.predicted)])
    ends = [(end, end) for end in (float(values.min()), float(values.max()))]
    items: list[Curve | Marks] = [Curve(ends, GREY, 0.6)]
    for one in found:
        place = laws.index(one.law)
        form, colour = MARKERS[place % len(MARKERS)], LINE_COLOURS[place % len(LINE_COLOURS)]
        points = list(zip(one.measured.tolist(), one.predicted.tolist(), strict=True))
        items.append(Marks(points, form, name=one.law, ink=colour, width=0.6))
    unit = f" [{found[0].unit}]" if found[0].unit else ""
    x = Axis.over(f"measured{unit}", values.tolist(), 0.05, is_log=True)
    y = replace(x, title=f"predicted{unit}")
    return Chart(x, y, tuple(items), title=title, width=WIDTH)
