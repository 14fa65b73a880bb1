"""Pictures of periodic schedules: latency over engines and energy, and one period as a Gantt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult
from paretosoc.results.plots.style import COLOURS, INK, LIGHT, PAGE_INCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_STAGES = 3
"""So many stages of the prologue are drawn in front of a full period."""
_MAX_ROWS_LABELLED = 16


def front_picture(result: PeriodicResult) -> Figure:
    """Draw the latency of all inferences over the number of engines, and over energy, for all
    methods."""
    methods: dict[str, list[PeriodicSchedule]] = {}
    for schedule in (*result.members, *result.others):
        methods.setdefault(schedule.method, []).append(schedule)
    lines = [(method, schedules, result.inferences) for method, schedules in methods.items()]
    label = f"Latency of {result.inferences:,} inferences (s)"
    return _fronts(lines, label, members=1)


def fronts_picture(results: Sequence[tuple[str, PeriodicResult]]) -> Figure:
    """Draw the members of several results under their names, as :func:`front_picture` does. A
    latency is that of the inferences of its result."""
    counts = {result.inferences for _, result in results}
    of = f" of {counts.pop():,} inferences" if len(counts) == 1 else " of all inferences"
    lines = [(name, list(result.members), result.inferences) for name, result in results]
    return _fronts(lines, f"Latency{of} (s)", members=len(lines))


def _fronts(
    lines: Sequence[tuple[str, list[PeriodicSchedule], int]], label: str, *, members: int
) -> Figure:
    """Draw the fronts. Engines are written beside the points of the first ``members`` lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PAGE_INCHES, 2.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for number, (name, unsorted, inferences) in enumerate(lines):
        schedules = sorted(unsorted, key=lambda schedule: schedule.array.engines)
        latency = [schedule.latency_ps(inferences) / PS_PER_S for schedule in schedules]
        engines = [schedule.array.engines for schedule in schedules]
        energy = [schedule.energy_fj(inferences) / FJ_PER_J for schedule in schedules]
        colour = COLOURS[number % len(COLOURS)]
        style = {"color": colour, "marker": "osD^v"[number % 5], "markersize": 4}
        left.plot(engines, latency, linewidth=0.8, label=name, **style)
        right.plot(energy, latency, linewidth=0.8, **style)
        for x, y, count in zip(energy, latency, engines, strict=True) if number < members else ():
            right.annotate(
                str(count),
                (x, y),
                xytext=(-4, 3),
                textcoords="offset points",
                fontsize=6,
                ha="right",
            )
    left.set_xscale("log", base=2)
    ticks = sorted({schedule.array.engines for _, schedules, _ in lines for schedule in schedules})
    left.set_xticks(ticks, [str(tick) for tick in ticks])
    left.minorticks_off()
    left.set_xlabel("Processing engines")
    left.set_ylabel(label)
    left.set_ylim(bottom=0)
    right.set_xlabel("Energy (J); engines beside the members")
    right.margins(x=0.12)
    for axes in (left, right):
        axes.grid(True)
    figure.legend(loc="outside upper left", ncols=min(len(lines), 4))
    return figure


def schedule_picture(schedule: PeriodicSchedule) -> Figure:
    """Draw the last stages of the prologue and one full period, with a colour for each copy of the
    graph.

    In the period that comes s periods before the first full one, only tasks with r >= s run.
    """
    from matplotlib.figure import Figure

    rows = schedule.array.engines
    height = min(7.0, 1.0 + max(0.11, 1.6 / rows) * rows)
    figure = Figure(figsize=(PAGE_INCHES, height), layout="constrained")
    axes = figure.subplots()
    stages = min(_MAX_STAGES, schedule.prologue_periods)
    for column, stage in enumerate(range(stages, -1, -1)):
        _draw_period(axes, schedule, column, stage)
    period = schedule.period_ps / PS_PER_MS
    for column in range(stages + 1):
        axes.axvline(column * period, color=INK, linewidth=0.6)
    if stages:
        axes.axvspan(0, stages * period, color=LIGHT, alpha=0.5, zorder=0, linewidth=0)
    axes.set_xlim(0, (stages + 1) * period)
    axes.set_ylim(rows - 0.5, -0.5)
    step = max(1, rows // _MAX_ROWS_LABELLED)
    axes.set_yticks(range(0, rows, step), [f"PE {row}" for row in range(0, rows, step)])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Time (ms)")
    words = f"{schedule.graph.name}, {schedule.method}: {schedule.copies} copies a period"
    if stages:
        words += (
            f"; the last {stages} of {schedule.prologue_periods} periods of the prologue shaded"
        )
    axes.set_title(words, fontsize=7.5, loc="left")
    return figure


def _draw_period(axes: Axes, schedule: PeriodicSchedule, column: int, stage: int) -> None:
    size = len(schedule.graph.tasks)
    period = schedule.period_ps / PS_PER_MS
    for number, (engine, start, ahead) in enumerate(
        zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
    ):
        if ahead < stage:
            continue
        width = schedule.graph.tasks[number % size].time_ps / PS_PER_MS
        left = column * period + start / PS_PER_MS
        colour = COLOURS[number // size % len(COLOURS)]
        axes.barh(engine, width, 0.8, left, color=colour, linewidth=0.3, edgecolor="white")
