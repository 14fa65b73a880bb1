"""One schedule as a Gantt picture: units as rows, networks as colours, contention hatched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from results.front import Member
from results.picture_style import (
    COLOURS,
    COLUMN_INCHES,
    GREY,
    INK,
    ink_on,
    picture_settings,
    png_bytes,
    svg_bytes,
)
from results.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PS_PER_MS = 1e9
_WIDTH_INCHES = 2 * COLUMN_INCHES
_ROW_INCHES = 0.42
_BAR = 0.62
_NUMBER_SHARE = 0.018
"""A bar at least this share of the picture wide has room for the number of its group."""
_MOST_ARROWS = 200
"""Beyond so many transitions they are one grey mass, and are left out."""


def gantt_svg(problem: Problem, member: Member, *, title: str = "") -> bytes:
    """The schedule of one member as SVG; equal schedules give equal bytes."""
    with picture_settings():
        return svg_bytes(draw_gantt(problem, member, title=title))


def gantt_png(problem: Problem, member: Member, *, title: str = "") -> bytes:
    """The schedule of one member as PNG; equal schedules give equal bytes."""
    with picture_settings():
        return png_bytes(draw_gantt(problem, member, title=title))


def draw_gantt(problem: Problem, member: Member, *, title: str = "") -> Figure:
    """The schedule as a matplotlib figure, two columns wide.

    A bar is one execution of a group, with the group's number in its network (and the frame, where
    there are several). The solid part is its stand-alone time, the hatched rest what contention
    adds: inside an execution the two alternate, only their sum is drawn. Arrows are transitions.
    """
    from matplotlib.figure import Figure

    used = sorted(set(member.design.units.tolist()))
    row_of = {unit: row for row, unit in enumerate(used)}
    height = 1.15 + _ROW_INCHES * len(used)
    figure = Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(True, axis="x")
    span = member.schedule.makespan_ps / _PS_PER_MS
    _draw_bars(axes, problem, member, row_of, span)
    _draw_transitions(axes, problem, member, row_of)
    axes.set_yticks(range(len(used)), [problem.units[unit].name for unit in used])
    axes.set_ylim(len(used) - 0.5, -0.5)
    axes.set_xlim(0, span * 1.01)
    axes.set_xlabel("Time (ms)")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    if title:
        axes.set_title(title, fontsize=8, loc="left")
    _add_legend(figure, problem, member)
    return figure


def _colour(network: int) -> str:
    return COLOURS[network % len(COLOURS)]


def _draw_bars(
    axes: Axes, problem: Problem, member: Member, row_of: dict[int, int], span: float
) -> None:
    several_frames = member.schedule.groups[-1].frame > 1
    for execution in member.schedule.groups:
        network = problem.networks[execution.network]
        colour = _colour(execution.network)
        row = row_of[execution.unit]
        start, end = execution.start_ps / _PS_PER_MS, execution.end_ps / _PS_PER_MS
        alone = execution.alone_ps / _PS_PER_MS
        axes.barh(row, alone, _BAR, start, color=colour, linewidth=0)
        if end > start + alone:
            axes.barh(
                row,
                end - start - alone,
                _BAR,
                start + alone,
                color=colour,
                alpha=0.55,
                hatch="//////",
                edgecolor="white",
                linewidth=0,
            )
        axes.barh(row, end - start, _BAR, start, fill=False, edgecolor="white", linewidth=0.7)
        if end - start >= _NUMBER_SHARE * span:
            label = str(execution.group - network.first_group)
            if network.repeats > 1:
                label += f"·{execution.repeat}"
            if several_frames:
                label += f"\n({execution.frame})"
            middle, ink = start + alone / 2, ink_on(colour)
            axes.text(middle, row, label, ha="center", va="center", fontsize=6, color=ink)


def _draw_transitions(axes: Axes, problem: Problem, member: Member, row_of: dict[int, int]) -> None:
    units = member.design.units.tolist()
    end_ps = {(e.frame, e.repeat, e.group): e.end_ps for e in member.schedule.groups}
    moves = [
        (e, source, target)
        for e, (source, target) in enumerate(problem.edges)
        if units[source] != units[target]
    ]
    copies = len(member.schedule.groups) / problem.group_count
    if len(moves) * copies > _MOST_ARROWS:
        return
    for e, source, target in moves:
        delay = int(problem.transition_ps[e, units[source], units[target]])
        above, below = row_of[units[source]], row_of[units[target]]
        side = 1 if below > above else -1
        for frame, repeat, group in end_ps:
            if group != source:
                continue
            begin = end_ps[frame, repeat, group]
            axes.annotate(
                "",
                xy=((begin + delay) / _PS_PER_MS, below - side * _BAR / 2),
                xytext=(begin / _PS_PER_MS, above + side * _BAR / 2),
                arrowprops={
                    "arrowstyle": "-|>,head_width=0.14,head_length=0.28",
                    "linewidth": 0.7,
                    "color": INK,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )


def _add_legend(figure: Figure, problem: Problem, member: Member) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(facecolor=_colour(n), label=network.name)
        for n, network in enumerate(problem.networks)
    ]
    if any(e.end_ps - e.start_ps > e.alone_ps for e in member.schedule.groups):
        handles.append(Patch(facecolor=GREY, alpha=0.55, hatch="//////", label="contention"))
    units = member.design.units
    if any(units[source] != units[target] for source, target in problem.edges):
        handles.append(Line2D([], [], color=INK, linewidth=0.7, marker=">", markersize=3))
        handles[-1].set_label("transition")
    figure.legend(
        handles=handles, loc="outside upper right", ncols=min(len(handles), 6), columnspacing=1.2
    )
