"""One schedule as a Gantt picture: units as rows, networks as colours, contention hatched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.front import FreeRun
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.plots.picture import wrapped
from paretosoc.results.plots.style import (
    COLOURS,
    GREY,
    INK,
    PAGE_INCHES,
    PICTURE_MAKERS,
    add_legend,
    ink_on,
    picture_settings,
)
from paretosoc.results.text.member_diff import conversion_count, is_conversion
from paretosoc.results.text.rates import describe_shown_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_INCHES = 0.42
_BAR = 0.62
_LINE_INCHES = 0.09
"""Height of a line of a bar's label."""
_NUMBER_SHARE = 0.018
"""A bar at least this share of the picture wide has room for the number of its group."""
_FRAME_SHARE = 0.004
"""A narrower bar has no frame: it would hide the bar."""
_TITLE, _WIDEST_TITLE = 8.0, 600.0
"""Size of the type of titles, and dots of their widest line, beside names of units."""
_MAX_ARROWS = 200
"""Maximum number of arrows that are drawn. More would be one grey mass."""


def gantt_picture(shown: ScheduledMember, suffix: str) -> bytes:
    """Return the schedule of one member in the format of a file's ending (``PICTURE_MAKERS``).
    Equal schedules give equal bytes."""
    with picture_settings():
        return PICTURE_MAKERS[suffix](draw_gantts([("", shown)]))


def draw_gantts(schedules: Sequence[tuple[str, ScheduledMember]]) -> Figure:
    """Draw schedules, each under its title, one below the other over the same time.

    A bar is one execution of a group, with the group's number in its network (and the frame, if
    there are several). The solid part is its stand-alone time, the hatched rest is added by
    contention. Inside an execution the two alternate, only their sum is drawn. Networks that
    overlap on a unit have a part of its row each. Arrows are
    transitions, grey ones conversions between two number formats of a unit. A dotted line leads on
    to the target group if its unit is still busy. If networks run freely, the window that is
    counted is shaded.
    """
    from matplotlib.figure import Figure

    rows = [sorted(set(shown.member.design.units.tolist())) for _, shown in schedules]
    titles = [
        f"{title}: {describe_shown_part(run)}".removeprefix(": ") if run else title
        for title, run in ((title, shown.member.free_run) for title, shown in schedules)
    ]
    titles = [wrapped(title, _TITLE, _WIDEST_TITLE) for title in titles]
    lines = sum(title.count("\n") + 1 for title in titles if title)
    height = 0.95 + sum(0.2 + _ROW_INCHES * len(used) for used in rows) + 0.15 * lines
    figure = Figure(figsize=(PAGE_INCHES, height), layout="constrained")
    places = figure.subplots(
        len(schedules), sharex=True, squeeze=False, height_ratios=[len(used) for used in rows]
    )[:, 0]
    networks = {n.name: None for _, shown in schedules for n in shown.problem.networks}
    colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(networks)}
    span = max(shown.shown_ps for _, shown in schedules) / PS_PER_MS
    for axes, used, title, (_, shown) in zip(places, rows, titles, schedules, strict=True):
        row_of, run = {unit: row for row, unit in enumerate(used)}, shown.member.free_run
        axes.grid(True, axis="x")
        if run is not None:
            _draw_window(axes, run)
        _draw_bars(axes, shown, row_of, span, colours)
        _draw_transitions(axes, shown, row_of)
        axes.set_yticks(range(len(used)), [shown.problem.units[unit].name for unit in used])
        axes.set_ylim(len(used) - 0.5, -0.5)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        if title:
            axes.set_title(title, fontsize=_TITLE, loc="left")
    places[-1].set_xlim(0, span * 1.01)
    places[-1].set_xlabel("Time (ms)")
    _add_legend(figure, schedules, colours)
    return figure


def _draw_window(axes: Axes, run: FreeRun) -> None:
    """Shade the shown part of the window that throughput and power are counted in."""
    begin, end = run.window_ps[0] / PS_PER_MS, run.shown_ps / PS_PER_MS
    if begin < end:
        axes.axvspan(begin, end, color=GREY, alpha=0.18, linewidth=0, zorder=0)


def _draw_bars(
    axes: Axes,
    shown: ScheduledMember,
    row_of: dict[int, int],
    span: float,
    colours: dict[str, str],
) -> None:
    groups = shown.schedule.groups
    several_frames = groups[-1].frame > 1
    for n, network in enumerate(shown.problem.networks):
        executions = [entry for entry in groups if entry.network == n]
        colour = colours[network.name]
        lanes = [shown.schedule.lanes[entry.unit, n] for entry in executions]
        tall = np.array([_BAR / count for _, count in lanes])
        rows = np.array(
            [
                row_of[entry.unit] + (lane - (count - 1) / 2) * _BAR / count
                for entry, (lane, count) in zip(executions, lanes, strict=True)
            ]
        )
        start = np.array([entry.start_ps for entry in executions]) / PS_PER_MS
        end = np.array([entry.end_ps for entry in executions]) / PS_PER_MS
        alone = np.array([entry.alone_ps for entry in executions]) / PS_PER_MS
        framed = end - start >= _FRAME_SHARE * span
        # A narrow bar has no room to tell apart the time that contention adds.
        solid, slowed = np.where(framed, alone, end - start), framed & (end > start + alone)
        axes.barh(rows, solid, tall, start, color=colour, linewidth=0)
        axes.barh(
            rows[slowed],
            (end - start - alone)[slowed],
            tall[slowed],
            (start + alone)[slowed],
            color=colour,
            alpha=0.55,
            hatch="//////",
            edgecolor="white",
            linewidth=0,
        )
        axes.barh(
            rows[framed],
            (end - start)[framed],
            tall[framed],
            start[framed],
            fill=False,
            edgecolor="white",
            linewidth=0.7,
        )
        high = tall * _ROW_INCHES >= (2 if several_frames else 1) * _LINE_INCHES
        for i in np.flatnonzero(high & (end - start >= _NUMBER_SHARE * span)).tolist():
            label = str(executions[i].group - network.first_group)
            if network.repeats > 1:
                label += f"·{executions[i].repeat}"
            if several_frames:
                label += f"\n({executions[i].frame})"
            middle, ink = start[i] + alone[i] / 2, ink_on(colour)
            axes.text(middle, rows[i], label, ha="center", va="center", fontsize=6, color=ink)


def _draw_transitions(axes: Axes, shown: ScheduledMember, row_of: dict[int, int]) -> None:
    problem, units = shown.problem, shown.member.design.units.tolist()
    end_ps = {(e.frame, e.repeat, e.group): e.end_ps for e in shown.schedule.groups}
    start_ps = {(e.frame, e.repeat, e.group): e.start_ps for e in shown.schedule.groups}
    moves = [
        (e, source, target)
        for e, (source, target) in enumerate(problem.edges)
        if units[source] != units[target]
    ]
    runs = Counter(group for _, _, group in end_ps)
    if sum(runs[source] for _, source, _ in moves) > _MAX_ARROWS:
        return
    for e, source, target in moves:
        delay = int(problem.delay_ps[e, units[source], units[target]])
        colour = GREY if is_conversion(problem, units[source], units[target]) else INK
        above, below = row_of[units[source]], row_of[units[target]]
        side = 1 if below > above else -1
        for frame, repeat, group in end_ps:
            if group != source:
                continue
            begin = end_ps[frame, repeat, group]
            arrival, edge = (begin + delay) / PS_PER_MS, below - side * _BAR / 2
            start = start_ps.get((frame, repeat, target), 0) / PS_PER_MS
            if start > arrival:
                axes.plot((arrival, start), (edge, edge), ":", color=colour, linewidth=1.1)
            axes.annotate(
                "",
                xy=(arrival, edge),
                xytext=(begin / PS_PER_MS, above + side * _BAR / 2),
                arrowprops={
                    "arrowstyle": "-|>,head_width=0.14,head_length=0.28",
                    "linewidth": 0.7,
                    "color": colour,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )


def _add_legend(
    figure: Figure, schedules: Sequence[tuple[str, ScheduledMember]], colours: dict[str, str]
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    priorities = {
        network.name: priority
        for _, shown in schedules
        for network, (priority, *others) in zip(
            shown.problem.networks, shown.problem.priorities(shown.member.design), strict=True
        )
        if not others
    }
    handles: list[Patch | Line2D] = [
        Patch(
            facecolor=colour,
            label=name + (f", priority {priorities[name]}" if priorities.get(name) else ""),
        )
        for name, colour in colours.items()
    ]
    if any(row.contention_ps for _, shown in schedules for row in shown.schedule.groups):
        handles.append(Patch(facecolor=GREY, alpha=0.55, hatch="//////", label="contention"))
    changes = [shown.problem.transition_count(shown.member.design) for _, shown in schedules]
    conversions = [conversion_count(shown.problem, shown.member) for _, shown in schedules]
    for counts, colour, label in (
        (changes, INK, "transition"),
        (conversions, GREY, "conversion"),
    ):
        if any(counts):
            arrow = Line2D([], [], color=colour, linewidth=0.7, marker=">", markersize=3)
            arrow.set_label(label)
            handles.append(arrow)
    runs = [shown.member.free_run for _, shown in schedules]
    if any(run and run.window_ps[0] < run.shown_ps for run in runs):
        handles.append(Patch(facecolor=GREY, alpha=0.18, label="counted window"))
    add_legend(figure, columns=6, side="right", handles=handles, columnspacing=1.2)
