"""Fig. 7 of HaX-CoNN: latency per frame while workloads change, in SVG and PNG.

Above the entire run. Below, each change separately on a logarithmic axis, since all happens in its
first moments. Two columns of a paper wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.anytime.record import Replay, ReplayPhase
from paretosoc.results.plots.style import (
    COLOURS,
    COLUMN_INCHES,
    GREY,
    INK,
    use_log_scale,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE = COLOURS[0], COLOURS[1]
_FIRST_S = 1e-3
"""The start of the logarithmic axes."""


def draw_replay(replay: Replay) -> Figure:
    """Return the picture as a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 * COLUMN_INCHES, 4.0), layout="constrained")
    count = len(replay.phases)
    grid = figure.add_gridspec(2, count, height_ratios=(1, 1.1))
    whole = figure.add_subplot(grid[0, :])
    _draw_whole(whole, replay)
    first = None
    for index, phase in enumerate(replay.phases):
        axes = figure.add_subplot(grid[1, index], sharey=first)
        first = first or axes
        _draw_change(axes, phase)
        if index:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel("Latency (ms)")
    handles, labels = whole.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels))
    return figure


def _draw_whole(axes: Axes, replay: Replay) -> None:
    axes.grid(True)
    for index, phase in enumerate(replay.phases):
        names = (
            ("best naive schedule", "optimum (oracle)", "D-HaX-CoNN", "schedule taken up")
            if index == 0
            else (None, None, None, None)
        )
        frames = [frame for frame in replay.frames if frame.phase == index]
        span = [phase.begins_s, phase.ends_s]
        axes.plot(
            span, [phase.baseline_ps / PS_PER_MS] * 2, color=GREY, linestyle=":", label=names[0]
        )
        axes.plot(
            span, [phase.oracle_ps / PS_PER_MS] * 2, color=ORANGE, linewidth=2.6, label=names[1]
        )
        axes.plot(
            [frame.start_ps / PS_PER_S for frame in frames],
            [frame.latency_ps / PS_PER_MS for frame in frames],
            color=BLUE,
            linewidth=1.0,
            drawstyle="steps-post",
            label=names[2],
        )
        used = [schedule for schedule in phase.schedules if schedule.used_s is not None]
        axes.plot(
            [phase.begins_s + (schedule.used_s or 0.0) for schedule in used],
            [schedule.latency_ps / PS_PER_MS for schedule in used],
            color=BLUE,
            marker="*",
            markersize=4,
            linestyle="none",
            label=names[3],
        )
        axes.axvline(phase.begins_s, color=GREY, linewidth=0.5)
        axes.text(
            (phase.begins_s + phase.ends_s) / 2,
            1.0,
            phase.name,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=6.5,
        )
    axes.set_xlim(replay.phases[0].begins_s, replay.phases[-1].ends_s)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Latency (ms)")


def _draw_change(axes: Axes, phase: ReplayPhase) -> None:
    """Draw one change. Events within the first millisecond are drawn at it."""
    axes.grid(True)
    use_log_scale(axes.xaxis)
    last = phase.ends_s - phase.begins_s
    used = [schedule for schedule in phase.schedules if schedule.used_s is not None]
    times = [max(schedule.used_s or 0.0, _FIRST_S) for schedule in used]
    values = [schedule.latency_ps / PS_PER_MS for schedule in used]
    axes.plot([_FIRST_S, last], [phase.baseline_ps / PS_PER_MS] * 2, color=GREY, linestyle=":")
    axes.plot([_FIRST_S, last], [phase.oracle_ps / PS_PER_MS] * 2, color=ORANGE, linewidth=2.6)
    axes.plot(
        [_FIRST_S, *times[1:], last],
        [*values, values[-1]],
        color=BLUE,
        linewidth=1.0,
        drawstyle="steps-post",
    )
    axes.plot(times, values, color=BLUE, marker="*", markersize=5, linestyle="none")
    if phase.proved_s is not None:
        at = max(phase.proved_s, _FIRST_S)
        axes.axvline(at, color=INK, linewidth=0.6, linestyle="--")
        axes.text(
            at,
            0.6,
            f" proved\n {1000 * phase.proved_s:.0f} ms",
            transform=axes.get_xaxis_transform(),
            va="top",
            fontsize=6.5,
        )
    axes.set_xlim(_FIRST_S, last)
    axes.set_xlabel("Time after the change (s)")
