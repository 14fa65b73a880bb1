"""The front as a picture for a paper, one column wide.

Two objectives: the staircase of all members, a marker for each choice by the units used, colour by
the clock that changes most. Three: staircases for levels of the third. Grey crosses are other
methods' schedules, and a dashed line is a method's front.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import least_points, within
from paretosoc.results.front.front import Front
from paretosoc.results.front.mapping_gain import is_at_fastest
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.bars import (
    Bars,
    BaselineMark,
    Intervals,
    bars_of,
    baseline_marks,
    levels,
    staircase,
    unnamed_baselines,
)
from paretosoc.results.plots.chart import Axis, Chart, Colours
from paretosoc.results.plots.items import FORMS, Curve, Item, Marks
from paretosoc.results.plots.names import names_of, place_names, written_names
from paretosoc.results.plots.picture import Point
from paretosoc.results.plots.style import COLOURS, GREY, INK, LIGHT, viridis
from paretosoc.results.problem.objectives import Objective, shown_values
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import clocks_mhz, varying_domains
from paretosoc.results.text.space_description import names_of_kinds, without_number

_METHOD_COLOURS = tuple(COLOURS[k] for k in (5, 3, 0, 2))
"""Of methods that have a front: dark enough for thin lines, and not grey, as single ones are."""
_MAX_KIND = 24
"""Two names up to this length are placed side by side in the legend."""
LOG_RATIO = 10
"""An axis whose values span more than this is logarithmic, in the report, too (``scales.js``)."""


def is_wide(values: Sequence[float]) -> bool:
    """Return whether the axis of the values is logarithmic."""
    return 0 < LOG_RATIO * min(values) < max(values)


def axis_title(objective: Objective, problem: Problem, *others: Problem) -> str:
    """Return ``Latency of vgg19 (ms)``. The unit fits the figures of all problems."""
    label = objective.label(problem)
    return f"{label[0].upper()}{label[1:]} ({objective.heading(problem, *others)})"


def draw_front(front: Front, intervals: Intervals | None = None) -> Chart:
    """Return the picture, laid out.

    Args:
        intervals: those of the choices, which get bars.

    Raises:
        ResultError: if the front has no member or fewer than two objectives.
    """
    problem, objectives = front.problem, front.problem.objectives
    if not front.members or len(objectives) < 2:
        raise ResultError(
            "a picture of a front needs a member and two objectives, got "
            f"{len(front.members)} and {len(objectives)}"
        )
    shown = [shown_values(objectives, member.objectives) for member in front.members]
    points = [(values[0], values[1]) for values in shown]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    marks = baseline_marks(front, xs, ys)
    # Bounds widen the axes: points that come into sight then are marked, too.
    places = [*points, *((mark.x, mark.y) for mark in marks), *_bounds(front)]
    logs = [is_wide(values) and min(p[k] for p in places) > 0 for k, values in enumerate((xs, ys))]
    bars = bars_of(problem, points, intervals, logs) if intervals else Bars()
    places += [end for segment in bars.segments for end in segment]
    x, y = (
        Axis.over(axis_title(objective, problem), [p[k] for p in places], 0.12, is_log=log)
        for k, (objective, log) in enumerate(zip(objectives, logs, strict=False))
    )
    marks = baseline_marks(front, xs, ys, ((x.low, x.high), (y.low, y.high)))
    choices = choose(front).members
    items: list[Item] = []
    if len(objectives) == 2:
        best = sorted(points[i] for i in non_dominated(front.objective_array).tolist())
        name = f"all {len(xs)} members" if len(choices) < len(xs) else ""
        items = [
            *_region(front, points, x, y),
            Curve(staircase(best, objectives), GREY, 0.7, name=name),
        ]
    items += _other_methods(front, marks)
    items += [Curve(segment, INK, 0.5, name="nine of ten draws") for segment in bars.segments]
    colours = None
    if len(objectives) == 2:
        chosen, colours = _choices(front, choices, points)
        items += chosen
    else:
        items += levels(front, choices, points)
    chart = Chart(x, y, tuple(items), colours)
    names = names_of(front, xs, ys, [mark for mark in marks if not mark.in_front])
    hidden = [*points, *((mark.x, mark.y) for mark in marks)]
    while True:
        placed = place_names(chart, names, hidden, members=len(points), bars=bars.segments)
        crowded = [name for name, place in placed if name.is_baseline and place.is_far]
        if not crowded:
            break
        names = [name for name in names if name not in crowded]
    named = [name.words for name in names if name.is_baseline]
    texts = filter(None, (bars.words, unnamed_baselines(front, marks, named)))
    return replace(chart, caption=" ".join(texts), over=written_names(chart, placed))


def _other_methods(front: Front, marks: Sequence[BaselineMark]) -> list[Item]:
    """Return a line for each method that has a front, and a cross for each of the others."""
    objectives = front.problem.objectives
    items: list[Item] = []
    series = dict.fromkeys(mark.label for mark in marks if mark.in_front)
    for colour, name in zip(cycle(_METHOD_COLOURS), series, strict=False):
        of_name = (mark for mark in marks if mark.in_front and mark.label == name)
        points = sorted((mark.x, mark.y) for mark in of_name)
        if len(objectives) == 2 and len(points) > 1:
            steps = staircase(points, objectives)
            items.append(Curve(steps, colour, 0.9, dash=(3.6, 1.8), name=name))
        else:
            items.append(Marks(points, ink=colour, name=name))
    single = [mark for mark in marks if not mark.in_front]
    if single:
        counts = Counter(point.name for point in front.baselines)
        alone = [point for point in front.baselines if counts[point.name] == 1]
        are_fastest = all(is_at_fastest(front.problem, point) for point in alone)
        name = (
            "other methods"
            + (", fastest clocks" if are_fastest else "")
            + (" (* breaks a limit)" if any("*" in mark.label for mark in single) else "")
        )
        items.insert(0, Marks([(mark.x, mark.y) for mark in single], ink=GREY, name=name))
    return items


def _bounds(front: Front) -> list[Point]:
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
    least = (point for point in least_points(bounds.region) if len(point) == len(objectives))
    return [(x, y) for x, y in (shown_values(objectives, point) for point in least)]


def _region(front: Front, members: Sequence[Point], x: Axis, y: Axis) -> list[Item]:
    """Return the region without design points by the bounds over boxes: below and left of steps."""
    claim, points = front.bounds, _bounds(front)
    if claim is None or not points:
        return []
    first = points[0][0], max(*(y for _, y in members), points[0][1])
    last = max(*(x for x, _ in members), points[-1][0]), points[-1][1]
    edge = staircase([first, *points, last], front.problem.objectives)
    corners = [(x.low, y.low), (x.low, y.high), (first[0], y.high), *edge]
    corners += [(x.high, last[1]), (x.high, y.low)]
    name = f"proved: none below ({within(claim.epsilon_ppm)})"
    return [Curve(corners, fill=LIGHT, name=name), Curve(edge, GREY, 0.7)]


def _colouring(front: Front) -> tuple[list[str], Colours | None]:
    """Return the colour of each member by the clock of the unit that takes most energy, and the
    scale of the colours, if that clock varies. Members that have the unit off are light."""
    problem = front.problem
    for domain in varying_domains(front)[:1]:
        name = problem.domains[domain].name
        megahertz = [clocks_mhz(problem, member)[name] for member in front.members]
        clocks = sorted({clock for clock in megahertz if clock is not None})
        palette = {f"{c:.0f}": viridis(k / max(1, len(clocks) - 1)) for k, c in enumerate(clocks)}
        colours = [LIGHT if clock is None else palette[f"{clock:.0f}"] for clock in megahertz]
        return colours, Colours(f"{name} clock (MHz)", palette)
    return [viridis(0.25)] * len(front.members), None


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


def _choices(
    front: Front, choices: Sequence[int], points: Sequence[Point]
) -> tuple[list[Item], Colours | None]:
    """Return the marks of the choices, and the scale of their colours."""
    marked, used = mark_members(front), _kinds(front)
    shown = Counter(used[i] for i in choices)
    kinds = sorted(shown, key=lambda kind: (-shown[kind], kind))
    colours, scale = _colouring(front)
    items: list[Item] = []
    if scale is not None and LIGHT in colours:
        off = f"{scale.title.removesuffix(' clock (MHz)')} off"
        items.append(Marks((), "o", name=off, key_fill=LIGHT))
    for k, kind in enumerate(kinds):
        chosen = [i for i in choices if used[i] == kind]
        items.append(
            Marks(
                [points[i] for i in chosen],
                FORMS[min(k, len(FORMS) - 1)],
                [colours[i] for i in chosen],
                [i in marked for i in chosen],
                name=kind if k < len(FORMS) else "",
            )
        )
    return items, scale
