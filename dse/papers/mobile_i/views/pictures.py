"""Pictures of periodic schedules: latency over engines and energy, and one period as a Gantt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import FORMS, Curve, Item, bar, solid_marks
from paretosoc.results.plots.picture import Picture, Text
from paretosoc.results.plots.style import COLOURS, INK, LIGHT, lighter

_MAX_STAGES = 3
"""So many stages of the prologue are drawn in front of a full period."""
_MAX_ROWS_LABELLED = 16


def front_picture(result: PeriodicResult) -> Picture:
    """Draw the latency of all inferences over the number of engines, and over energy, for all
    methods."""
    methods: dict[str, list[PeriodicSchedule]] = {}
    for schedule in (*result.members, *result.others):
        methods.setdefault(schedule.method, []).append(schedule)
    lines = [(method, schedules, result.inferences) for method, schedules in methods.items()]
    label = f"Latency of {pluralize(result.inferences, 'inference')} (s)"
    return _fronts(lines, label, members=1)


def fronts_picture(results: Sequence[tuple[str, PeriodicResult]]) -> Picture:
    """Draw the members of several results under their names, as :func:`front_picture` does. A
    latency is that of the inferences of its result."""
    counts = {result.inferences for _, result in results}
    of = f" of {pluralize(counts.pop(), 'inference')}" if len(counts) == 1 else " of all inferences"
    lines = [(name, list(result.members), result.inferences) for name, result in results]
    return _fronts(lines, f"Latency{of} (s)", members=len(lines))


def _fronts(
    lines: Sequence[tuple[str, list[PeriodicSchedule], int]], label: str, *, members: int
) -> Picture:
    """Draw the fronts. Engines are written beside the points of the first ``members`` lines."""
    left, right, beside = list[Item](), list[Item](), list[Item]()
    every: list[tuple[int, float, float]] = []
    for number, (name, schedules, inferences) in enumerate(lines):
        colour, form = COLOURS[number % len(COLOURS)], FORMS[number % len(FORMS)]
        points: list[tuple[int, float, float]] = []
        for schedule in sorted(schedules, key=lambda schedule: schedule.array.engines):
            count, seconds = schedule.array.engines, schedule.latency_ps(inferences) / PS_PER_S
            points.append((count, schedule.energy_fj(inferences) / FJ_PER_J, seconds))
            if number < members:
                # The words end left of the mark.
                words = f"{count}\N{NO-BREAK SPACE}"
                beside.append(Text(points[-1][1:], words, 6.0, INK, 1.0, -0.3))
        for items, k in ((left, 0), (right, 1)):
            places = [(point[k], point[2]) for point in points]
            items += [Curve(places, colour, 0.8), solid_marks(places, form, colour, name)]
        every += points
    counts, energies, latencies = zip(*every, strict=True)
    names = {float(count): str(count) for count in sorted(set(counts))}
    engines = Axis.over("Processing engines", counts, 0.05, is_log=True)
    energy = Axis.over("Energy (J); engines beside the members", energies, 0.12)
    latency = Axis(label, 0.0, 1.06 * max(latencies))
    first = Chart(replace(engines, names=names), latency, tuple(left), width=PAGE / 2)
    second = replace(first, x=energy, y=replace(latency, title=""), items=(*right, *beside))
    return Charts([[first, second]]).picture()


def schedule_picture(schedule: PeriodicSchedule) -> Picture:
    """Draw the last stages of the prologue and one full period, with a colour for each copy of the
    graph.

    In the period that comes s periods before the first full one, only tasks with r >= s run.
    """
    rows, period = schedule.array.engines, schedule.period_ps / PS_PER_MS
    stages = min(_MAX_STAGES, schedule.prologue_periods)
    step = max(1, rows // _MAX_ROWS_LABELLED)
    names = {-float(row): f"PE {row}" for row in range(0, rows, step)}
    x = Axis("Time (ms)", 0.0, (stages + 1) * period)
    y = Axis("", 0.5 - rows, 0.5, names=names)
    words = f"{schedule.graph.name}, {schedule.method}: {schedule.copies} copies a period"
    if stages:
        words += (
            f"; the last {stages} of {schedule.prologue_periods} periods of the prologue shaded"
        )
    items: list[Item] = [bar(0.0, y.low, stages * period, y.high, lighter(LIGHT, 0.5))]
    for column in range(stages + 1):
        items += _bars(schedule, column * period, stages - column)
    for column in range(stages + 1):
        items.append(Curve([(column * period, y.low), (column * period, y.high)], INK, 0.6))
    height = min(600.0, max(11.0 * rows, 160.0))
    return Chart(x, y, tuple(items), title=words, width=PAGE, height=height).picture()


def _bars(schedule: PeriodicSchedule, begin: float, stage: int) -> list[Item]:
    """Return the tasks of one period: in one of the prologue, those that are far enough ahead."""
    items: list[Item] = []
    tasks = schedule.graph.tasks
    for number, (engine, start_ps, ahead) in enumerate(
        zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
    ):
        if ahead >= stage:
            start = begin + start_ps / PS_PER_MS
            end = start + tasks[number % len(tasks)].time_ps / PS_PER_MS
            colour = COLOURS[number // len(tasks) % len(COLOURS)]
            box = (start, -engine - 0.4, end, 0.4 - engine)
            items.append(bar(*box, colour, ink="#FFFFFF", width=0.3))
    return items
