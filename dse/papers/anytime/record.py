"""The record of a replay (Fig. 7 of HaX-CoNN): schedules as they came, and frames.

Its files are ``replay.json``, ``replay.csv`` (a row per frame) and the pictures.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paretosoc.common.tables import csv_text
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.plots.style import COLOURS, COLUMN_INCHES, GREY, INK, use_log_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMAT = "paretosoc-replay/1"
REPLAY_FOLDER = FolderKind(frozenset({"replay.json", "replay.csv", "replay.svg", "replay.png"}))
COLUMNS = ("frame", "phase", "start_ms", "latency_ms", "baseline_ms", "oracle_ms", "nodes")


@dataclass(frozen=True)
class ReplaySchedule:
    """A schedule that was published. Times in seconds after the workload changed.

    ``used_s``: the time from which frames start with it. It is later than ``found_s`` if schedules
    are taken up at set instants, and None if a better one came before that.
    """

    latency_ps: int
    source: str
    nodes: int
    found_s: float
    used_s: float | None


@dataclass(frozen=True)
class ReplayPhase:
    """One workload, from its change on. ``searched_s``: until the search had nothing left.
    ``proved_s``: until that was proved, or None if it was not."""

    name: str
    networks: tuple[str, ...]
    begins_s: float
    ends_s: float
    schedules: tuple[ReplaySchedule, ...]
    baseline_ps: int
    """The best naive schedule's."""
    oracle_ps: int
    """The static optimum's, found by a separate search beforehand."""
    oracle_proved: bool
    nodes: int
    searched_s: float | None
    proved_s: float | None
    status: str
    """Status of the certificate: certified, searched or gap."""


@dataclass(frozen=True)
class ReplayFrame:
    """One frame: when it started, how long it took, by which schedule of its phase."""

    phase: int
    start_ps: int
    latency_ps: int
    schedule: int


@dataclass(frozen=True)
class Replay:
    """A whole replay. ``clock`` is the kind of clock of the search's seconds."""

    title: str
    platform: str
    clock: str
    phases: tuple[ReplayPhase, ...]
    frames: tuple[ReplayFrame, ...]


def replay_json(replay: Replay) -> str:
    """Return phases and schedules as JSON. Times are in ps and s. The frames are in the CSV."""
    document = asdict(replay)
    document["frames"] = len(replay.frames)
    return json.dumps({"format": FORMAT, **document}, indent=1) + "\n"


def replay_csv(replay: Replay) -> str:
    """Return one row per frame. Frames count from 1, phases from 1, times in ms."""
    rows: list[list[object]] = []
    for number, frame in enumerate(replay.frames, 1):
        phase = replay.phases[frame.phase]
        times = (frame.start_ps, frame.latency_ps, phase.baseline_ps, phase.oracle_ps)
        texts = [f"{time / PS_PER_MS:.6f}" for time in times]
        rows.append([number, frame.phase + 1, *texts, phase.schedules[frame.schedule].nodes])
    return csv_text(COLUMNS, rows)


def replay_files(replay: Replay) -> dict[str, bytes]:
    """Return all four files by name. Equal replays give equal bytes."""
    from paretosoc.results.plots.style import picture_settings, png_bytes, svg_bytes

    with picture_settings():
        return {
            "replay.csv": replay_csv(replay).encode(),
            "replay.svg": svg_bytes(draw_replay(replay)),
            "replay.png": png_bytes(draw_replay(replay)),
            "replay.json": replay_json(replay).encode(),
        }


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
