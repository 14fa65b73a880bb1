"""A front with three objectives: the reachable values of the first two for levels of the third."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.style import INK, add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
"""Shares of the members that keep each level."""


def draw_levels(
    figure: Figure,
    axes: Axes,
    front: Front,
    choices: Sequence[int],
    xs: Sequence[float],
    ys: Sequence[float],
) -> None:
    """Draw, for some values of the third objective, the staircase of the members that are at least
    as good. Every choice is a dot in the colour of the first staircase that it counts for."""
    from matplotlib import colormaps

    objective = front.problem.objectives[2]
    values = front.objective_array
    third = values[:, 2]
    ranks = np.ceil(np.array(SHARES) * len(third)).astype(int) - 1
    limits = np.unique(np.sort(third)[ranks])
    # The yellow end of the map is too light on white paper.
    colours = [colormaps["viridis"](share) for share in np.linspace(0.0, 0.9, len(limits))]
    level = np.searchsorted(limits, third)
    descending = front.problem.objectives[0].larger_is_better
    bound = "at least" if objective.larger_is_better else "at most"
    texts = objective.format(limits.tolist())
    label = objective.label(front.problem)
    for k, text in enumerate(texts):
        kept = np.flatnonzero(third <= limits[k])
        best = kept[non_dominated(values[kept, :2])]
        line = sorted((xs[i], ys[i]) for i in best.tolist())
        axes.plot(
            *zip(*line, strict=True),
            color=colours[k],
            linewidth=1.1,
            drawstyle="steps-pre" if descending else "steps-post",
            zorder=2,
            label=f"{label} {bound} {text} {objective.unit}",
        )
    marked = mark_members(front)
    axes.scatter(
        [xs[i] for i in choices],
        [ys[i] for i in choices],
        s=[30 if i in marked else 14 for i in choices],
        c=[colours[level[i]] for i in choices],
        edgecolors=INK,
        linewidths=[1.0 if i in marked else 0.4 for i in choices],
        zorder=4,
    )
    add_legend(figure, handletextpad=0.4, columnspacing=0.8)
