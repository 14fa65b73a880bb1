"""The front as a picture for a paper: one column wide, in SVG and PNG.

Two objectives: the staircase of all members, a marker for each choice by the units used, colour by
the clock that changes most. Three: staircases for levels of the third. Grey crosses are other
methods' schedules, and a dashed line is a method's front.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import least_points, within
from paretosoc.results.front.front import Front
from paretosoc.results.front.mapping_gain import is_at_fastest
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.bars import Bars, Intervals, bars_of, draw_levels
from paretosoc.results.plots.baselines import BaselineMark, baseline_marks, unnamed_baselines
from paretosoc.results.plots.labels import Placement
from paretosoc.results.plots.names import Name, lay_out, names_of, place_names, write_names
from paretosoc.results.plots.style import (
    COLOURS,
    COLUMN_INCHES,
    GREY,
    INK,
    LIGHT,
    PICTURE_MAKERS,
    add_legend,
    picture_settings,
    use_log_scale,
)
from paretosoc.results.problem.objectives import Objective, shown_values
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import clocks_mhz, varying_domains
from paretosoc.results.text.space_description import names_of_kinds, without_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_HEIGHT_INCHES = 2.6
_CAPTION_CHARACTERS = 84
_MAX_KIND = 24
"""Two names up to this length are placed side by side in the legend."""
LOG_RATIO = 10
"""An axis whose values span more than this is logarithmic, in the report, too (``scales.js``)."""


def front_pictures(
    front: Front, *suffixes: str, intervals: Intervals | None = None
) -> dict[str, bytes]:
    """Return the picture in each format, by the ending of its file's name (``PICTURE_MAKERS``). It
    is drawn and laid out once. Equal fronts give equal bytes. ``intervals``: see
    :func:`draw_front`.

    Raises:
        ResultError: if the front has no member or fewer than two objectives.
    """
    with picture_settings():
        figure = draw_front(front, intervals)
        figure.set_layout_engine("none")
        return {suffix: PICTURE_MAKERS[suffix](figure) for suffix in suffixes}


def axis_title(objective: Objective, problem: Problem, *others: Problem) -> str:
    """Return ``Latency of vgg19 (ms)``. The unit fits the figures of all problems."""
    label = objective.label(problem)
    return f"{label[0].upper()}{label[1:]} ({objective.heading(problem, *others)})"


def scale_axis(axes: Axes, name: str, values: Sequence[float], title: str) -> None:
    """Write the title of the axis ``x`` or ``y``, and make it logarithmic if the values need it."""
    getattr(axes, f"set_{name}label")(title)
    if min(values) > 0 and max(values) > LOG_RATIO * min(values):
        use_log_scale(getattr(axes, f"{name}axis"))


@dataclass(frozen=True)
class _Colouring:
    """A value per member (None: has none), the name of the values, and all of them in order."""

    label: str
    values: tuple[float | None, ...]
    levels: tuple[float, ...]


def draw_front(front: Front, intervals: Intervals | None = None) -> Figure:
    """Return the picture as a matplotlib figure, which the caller may change.

    Args:
        intervals: those of the choices, which get bars.

    Raises:
        ResultError: if the front has no member or fewer than two objectives.
    """
    from matplotlib.figure import Figure

    objectives = front.problem.objectives
    if not front.members or len(objectives) < 2:
        raise ResultError(
            "a picture of a front needs a member and two objectives, got "
            f"{len(front.members)} and {len(objectives)}"
        )
    figure = Figure(figsize=(COLUMN_INCHES, _HEIGHT_INCHES), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(True)
    points = [shown_values(objectives, member.objectives) for member in front.members]
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    for name, values, objective in zip("xy", (xs, ys), objectives, strict=False):
        scale_axis(axes, name, values, axis_title(objective, front.problem))
    axes.margins(0.12)
    choices = choose(front)
    # In between two members the best known is the worse of both: a step, never the diagonal.
    where = "steps-pre" if objectives[0].larger_is_better else "steps-post"
    if len(objectives) == 2:
        best = non_dominated(front.objective_array).tolist()
        line = sorted((xs[i], ys[i]) for i in best)
        axes.plot(
            *zip(*line, strict=True),
            color=GREY,
            linewidth=0.7,
            drawstyle=where,
            zorder=1,
            label=f"all {len(xs)} members" if len(choices.members) < len(xs) else None,
        )
    marks = baseline_marks(front, xs, ys)
    # Bounds widen the axes: points that come into sight then are marked, too.
    places = [*zip(xs, ys, strict=True), *((mark.x, mark.y) for mark in marks)]
    bars = Bars()
    if intervals:
        bars = bars_of(axes, front.problem, list(zip(xs, ys, strict=True)), intervals)
    ends = [end for segment in bars.segments for end in segment]
    axes.update_datalim([*places, *_bounds(front), *ends])
    axes.autoscale_view()
    frame = axes.get_xlim(), axes.get_ylim()
    axes.set(xlim=frame[0], ylim=frame[1])
    bars.draw(axes)
    marks = baseline_marks(front, xs, ys, frame)
    baselines = tuple(mark for mark in marks if not mark.in_front)
    series = dict.fromkeys(mark.label for mark in marks if mark.in_front)
    for colour, name in zip(COLOURS[5:] + COLOURS, series, strict=False):
        steps = sorted((mark.x, mark.y) for mark in marks if mark.in_front and mark.label == name)
        axes.plot(
            *zip(*steps, strict=True),
            color=colour,
            linewidth=0.9,
            linestyle=(0, (4, 2)) if len(objectives) == 2 else "",
            drawstyle=where,
            marker="" if len(objectives) == 2 and len(steps) > 1 else "x",
            markersize=3,
            zorder=1.6,
            label=name,
        )
    if baselines:
        axes.scatter(
            [mark.x for mark in baselines],
            [mark.y for mark in baselines],
            marker="x",
            s=16,
            c=GREY,
            linewidths=0.9,
            zorder=1.5,
            label="other methods"
            + (", fastest clocks" if _are_fastest(front) else "")
            + (" (* breaks a limit)" if any("*" in mark.label for mark in baselines) else ""),
        )
    if len(objectives) == 2:
        _shade_region(axes, front, xs, ys)
        _scatter(figure, axes, front, choices.members, xs, ys)
    else:
        draw_levels(figure, axes, front, choices.members, xs, ys)
    names = names_of(front, xs, ys, baselines)
    places = list(zip(xs, ys, strict=True)) + [(mark.x, mark.y) for mark in marks]
    placed = _laid_out(figure, axes, front, marks, names, places, bars)
    while crowded := [name for name, place in placed if name.is_baseline and place.is_far]:
        names = [name for name in names if name not in crowded]
        placed = _laid_out(figure, axes, front, marks, names, places, bars)
    write_names(figure, axes, placed)
    return figure


def _are_fastest(front: Front) -> bool:
    """Return whether all methods with one point have the fastest of several clocks."""
    counts = Counter(point.name for point in front.baselines)
    return all(
        is_at_fastest(front.problem, point) for point in front.baselines if counts[point.name] == 1
    )


def _laid_out(
    figure: Figure,
    axes: Axes,
    front: Front,
    marks: Sequence[BaselineMark],
    names: Sequence[Name],
    points: Sequence[tuple[float, float]],
    bars: Bars,
) -> list[tuple[Name, Placement]]:
    """Lay out the figure with its caption. Return a place for each name. Names without a place are
    in the caption."""
    named = [name.words for name in names if name.is_baseline]
    texts = filter(None, (bars.words, unnamed_baselines(front, marks, named)))
    caption = textwrap.fill(" ".join(texts), _CAPTION_CHARACTERS)
    if caption:
        figure.supxlabel(caption, x=0.01, ha="left", fontsize=5.5, color=GREY)
    lay_out(figure)
    members = len(front.members)
    return place_names(axes, names, points, members=members, bars=bars.segments)


def _bounds(front: Front) -> list[tuple[float, ...]]:
    """Return the points such that every design point is at or above one of them. Empty if no such
    region is drawn."""
    objectives = front.problem.objectives
    bounds = front.bounds
    # Of a space that was simulated the region ends at the members.
    if (
        bounds is None
        or bounds.simulated
        or len(objectives) != 2
        or any(objective.larger_is_better for objective in objectives)
    ):
        return []
    return [
        shown_values(objectives, point)
        for point in least_points(bounds.region)
        if len(point) == len(objectives)
    ]


def _shade_region(axes: Axes, front: Front, xs: list[float], ys: list[float]) -> None:
    """Shade the region without design points by the bounds over boxes: below and left of steps."""
    claim, points = front.bounds, _bounds(front)
    if claim is None or not points:
        return
    across = [points[0][0], *(x for x, _ in points), max(max(xs), points[-1][0])]
    down = [max(max(ys), points[0][1]), *(y for _, y in points), points[-1][1]]
    label = f"proved: none below ({within(claim.epsilon_ppm)})"
    axes.plot(across, down, color=GREY, linewidth=0.7, drawstyle="steps-post")
    left, right, bottom, top = *axes.get_xlim(), *axes.get_ylim()
    edge = [left, *across, right], [top, *down, down[-1]]
    axes.fill_between(*edge, bottom, step="post", color=LIGHT, linewidth=0, zorder=0.5, label=label)


def _colouring(front: Front) -> _Colouring | None:
    """Return the colouring by the clock of the unit that takes most energy, if it varies."""
    problem = front.problem
    for domain in varying_domains(front)[:1]:
        name = problem.domains[domain].name
        megahertz = tuple(clocks_mhz(problem, member)[name] for member in front.members)
        levels = tuple(sorted({clock for clock in megahertz if clock is not None}))
        return _Colouring(f"{name} clock (MHz)", megahertz, levels)
    return None


def _kinds(front: Front) -> list[str]:
    """Return, per member, a name for the units it uses: ``gpu + dla``, ``2 dla`` for both of two
    that cost the same. If such names would be too long for the column, all cores of a kind are
    counted: ``2 a57 + gpu`` for a57-1 and a57-3."""
    names = names_of_kinds(front.problem)
    used = [[names[u] for u in sorted(set(m.design.units.tolist()))] for m in front.members]
    kinds = [_counted(units) for units in used]
    if max(map(len, kinds)) <= _MAX_KIND:
        return kinds
    return [_counted([without_number(unit) for unit in units]) for units in used]


def _counted(names: Sequence[str]) -> str:
    counts = Counter(names)
    return " + ".join(f"{count} {name}" if count > 1 else name for name, count in counts.items())


def _scatter(
    figure: Figure,
    axes: Axes,
    front: Front,
    choices: Sequence[int],
    xs: list[float],
    ys: list[float],
) -> None:
    """Mark the choices."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm

    marked = mark_members(front)
    used = _kinds(front)
    shown = Counter(used[i] for i in choices)
    kinds = sorted(shown, key=lambda kind: (-shown[kind], kind))
    colouring = _colouring(front)
    colours: list[Any] = [colormaps["viridis"](0.25)] * len(xs)
    if colouring is not None:
        levels = colouring.levels
        norm = BoundaryNorm([i - 0.5 for i in range(len(levels) + 1)], len(levels))
        palette = colormaps["viridis"].resampled(len(levels))
        colours = [
            LIGHT if value is None else palette(norm(levels.index(value)))
            for value in colouring.values
        ]
        bar = figure.colorbar(ScalarMappable(norm, palette), ax=axes, pad=0.02, aspect=28)
        bar.set_label(colouring.label)
        bar.outline.set_linewidth(0.4)
        bar.ax.tick_params(width=0.4, length=2)
        step = -(-len(levels) // 14)
        ticks = list(range(0, len(levels), step))
        bar.set_ticks(ticks, labels=[f"{levels[i]:.0f}" for i in ticks])
        bar.ax.minorticks_off()
    if colouring is not None and None in colouring.values:
        off = f"{colouring.label.removesuffix(' clock (MHz)')} off"
        axes.scatter([], [], c=LIGHT, s=18, linewidths=0, label=off)
    for k, kind in enumerate(kinds):
        chosen = [i for i in choices if used[i] == kind]
        axes.scatter(
            [xs[i] for i in chosen],
            [ys[i] for i in chosen],
            c=[colours[i] for i in chosen],
            marker=MARKERS[min(k, len(MARKERS) - 1)],
            s=[34 if i in marked else 18 for i in chosen],
            linewidths=[1.0 if i in marked else 0.4 for i in chosen],
            edgecolors=INK,
            zorder=2,
            label=kind if k < len(MARKERS) else None,
        )
    # Above the axes: on a long front no place inside is free of points and labels.
    legend = add_legend(figure, handletextpad=0.1, columnspacing=0.8)
    for handle in legend.legend_handles[-min(len(kinds), len(MARKERS)) :]:
        if handle is not None:
            # matplotlib copies the first mark, which may be an emphasised one.
            handle.set(facecolor="white", sizes=[18], linewidths=[0.6])
