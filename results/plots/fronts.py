"""Several fronts in one picture: by their choices, a panel for each pair of objectives, or by the
hypervolume that their searches reached."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import Front
from paretosoc.results.plots.bars import staircase
from paretosoc.results.plots.chart import COLUMN, PAGE, Axis, Chart, Charts
from paretosoc.results.plots.front import axis_title, is_wide
from paretosoc.results.plots.items import DASHES, FORMS, Curve, Item, solid_marks
from paretosoc.results.plots.style import INK, LINE_COLOURS
from paretosoc.results.problem.objectives import idle_time_name

_PANELS_IN_A_ROW = 3


def draw_fronts(fronts: Sequence[tuple[str, Front]]) -> Charts:
    """Return fronts of the same objectives, one form and colour for each.

    Raises:
        ResultError: if a front is empty, has one objective, or other ones than the first.
    """
    names = fronts[0][1].problem.objective_names
    required = _labels(fronts[0][1])
    if len(names) < 2:
        raise ResultError(f"a picture of fronts needs two objectives, got only {required}")
    for title, front in fronts:
        if sorted(front.problem.objective_names) != sorted(names):
            raise ResultError(f"{title}: must have the objectives {required}, got {_labels(front)}")
        if not front.members:
            raise ResultError(f"{title}: the front is empty")
    pairs = list(combinations(range(len(names)), 2))
    columns = min(len(pairs), _PANELS_IN_A_ROW)
    width = COLUMN if columns == 1 else PAGE / columns
    charts = [_chart(fronts, pair, steps=len(names) == 2, width=width) for pair in pairs]
    return Charts([charts[k : k + columns] for k in range(0, len(charts), columns)])


def _labels(front: Front) -> str:
    return ", ".join(objective.label(front.problem) for objective in front.problem.objectives)


def _chart(
    fronts: Sequence[tuple[str, Front]], pair: tuple[int, int], *, steps: bool, width: float
) -> Chart:
    problems = [front.problem for _, front in fronts]
    first = problems[0]
    names = first.objective_names
    # An axis with energies of several T cannot name one, so the legend does.
    name_times = len({idle_time_name(problem) for problem in problems}) > 1
    every: list[tuple[float, float]] = []
    lines: list[Item] = []
    marks: list[Item] = []
    for n, (title, front) in enumerate(fronts):
        places = [front.problem.objective_names.index(names[k]) for k in pair]
        objectives = [front.problem.objectives[place] for place in places]
        xs, ys = (
            [objective.shown(m.objectives[place]) for m in front.members]
            for place, objective in zip(places, objectives, strict=True)
        )
        points = list(zip(xs, ys, strict=True))
        chosen = [points[i] for i in choose(front).members]
        every += points if steps else chosen
        colour = LINE_COLOURS[n % len(LINE_COLOURS)]
        if steps:
            lines.append(Curve(staircase(sorted(points), objectives), colour, 0.8))
        name = f"{title}, {idle_time_name(front.problem) or 'timeline'}" if name_times else title
        marks.append(solid_marks(chosen, FORMS[n % len(FORMS)], colour, name, ink=INK))
    x, y = (
        Axis.over(axis_title(first.objectives[k], *problems), values, 0.06, is_log=is_wide(values))
        for k, values in zip(pair, zip(*every, strict=True), strict=True)
    )
    return Chart(x, y, (*lines, *marks), width=width)


_THOUSANDS = 10_000
"""Numbers of design points are in thousands on axes that end above this."""


def draw_convergence(fronts: Sequence[tuple[str, Front]]) -> Chart:
    """Return one line for each front, in per cent of its own last value.

    Raises:
        ResultError: if a front was not reached by a search that recorded its hypervolume.
    """
    ends = [each.provenance.evaluations for _, each in fronts]
    ends += [point.evaluations for _, each in fronts for point in each.provenance.convergence]
    in_thousands = max(ends) > _THOUSANDS
    unit = 1000 if in_thousands else 1
    items, shares = list[Item](), list[float]()
    for n, (title, front) in enumerate(fronts):
        found = front.provenance.convergence
        if not found:
            raise ResultError(f"{title}: the search recorded no hypervolume to draw")
        points = [(point.evaluations / unit, 100 * point.hypervolume) for point in found]
        # The time after the last growth is part of the search.
        end = max(front.provenance.evaluations / unit, points[-1][0])
        colour = LINE_COLOURS[n % len(LINE_COLOURS)]
        dash = DASHES[n // len(LINE_COLOURS) % len(DASHES)]
        name = title if len(fronts) > 1 else ""
        steps = staircase([*points, (end, points[-1][1])])
        items.append(Curve(steps, colour, 1.1, dash=dash, name=name))
        shares += [share for _, share in points]
    words = "Thousands of design points evaluated" if in_thousands else "Design points evaluated"
    x = Axis(words, 0.0, 1.03 * max(ends) / unit)
    y = Axis.over("Hypervolume\n(% of the last)", shares, 0.05)
    return Chart(x, y, tuple(items), height=150.0)
