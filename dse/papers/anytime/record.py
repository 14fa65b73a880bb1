"""The record of a replay (Fig. 7 of HaX-CoNN): schedules as they came, and frames.

Its files are ``replay.json``, ``replay.csv`` (a row per frame) and the pictures.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from paretosoc.common.tables import csv_text
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.plots.bars import staircase
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import DASHES, Curve, Item, solid_marks
from paretosoc.results.plots.picture import Picture, Point, Text
from paretosoc.results.plots.style import COLOURS, GREY, INK, png_bytes

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
    picture = draw_replay(replay)
    return {
        "replay.csv": replay_csv(replay).encode(),
        "replay.svg": picture.svg(),
        "replay.png": png_bytes(picture),
        "replay.json": replay_json(replay).encode(),
    }


BLUE, ORANGE = COLOURS[0], COLOURS[1]
_FIRST_S = 1e-3
"""The start of the logarithmic axes."""


def draw_replay(replay: Replay) -> Picture:
    """Return the picture: latency over the whole time, and from each change on."""
    times = [frame.latency_ps for frame in replay.frames]
    times += [s.latency_ps for phase in replay.phases for s in phase.schedules]
    times += [time for phase in replay.phases for time in (phase.baseline_ps, phase.oracle_ps)]
    y = Axis.over("Latency (ms)", [time / PS_PER_MS for time in times], 0.05)
    width = PAGE / len(replay.phases)
    changes = [
        replace(_change(phase, y if k == 0 else replace(y, title="")), width=width)
        for k, phase in enumerate(replay.phases)
    ]
    return Charts([[_whole(replay, y)], changes]).picture()


def _whole(replay: Replay, y: Axis) -> Chart:
    items: list[Item] = []
    for index, phase in enumerate(replay.phases):
        frames = [frame for frame in replay.frames if frame.phase == index]
        latencies = [(f.start_ps / PS_PER_S, f.latency_ps / PS_PER_MS) for f in frames]
        stars = [(phase.begins_s + time, latency) for time, latency in _used(phase)]
        items += _lines(phase, phase.begins_s, phase.ends_s, staircase(latencies), stars)
        items.append(Curve([(phase.begins_s, y.low), (phase.begins_s, y.high)], GREY, 0.5))
        middle = (phase.begins_s + phase.ends_s) / 2
        items.append(Text((middle, y.high), phase.name, 6.5, INK, 0.5, 0.0))
    x = Axis("Time (s)", replay.phases[0].begins_s, replay.phases[-1].ends_s)
    return Chart(x, y, tuple(items), width=PAGE, height=110.0)


def _change(phase: ReplayPhase, y: Axis) -> Chart:
    """Return one change. Events within the first millisecond are drawn at it."""
    last = phase.ends_s - phase.begins_s
    used = [(max(time, _FIRST_S), latency) for time, latency in _used(phase)]
    steps = staircase([(_FIRST_S, used[0][1]), *used[1:], (last, used[-1][1])])
    items = _lines(phase, _FIRST_S, last, steps, used)
    if phase.proved_s is not None:
        at = max(phase.proved_s, _FIRST_S)
        items.append(Curve([(at, y.low), (at, y.high)], INK, 0.6, dash=DASHES[1]))
        words = f"\N{NO-BREAK SPACE}proved\n\N{NO-BREAK SPACE}{1000 * phase.proved_s:.0f} ms"
        items.append(Text((at, (y.low + y.high) / 2), words, 6.5, INK))
    x = Axis("Time after the change (s)", _FIRST_S, last, is_log=True)
    return Chart(x, y, tuple(items), height=120.0)


def _used(phase: ReplayPhase) -> list[Point]:
    """Return the seconds at which schedules were taken up, and their latency in ms."""
    schedules = (schedule for schedule in phase.schedules if schedule.used_s is not None)
    return [(schedule.used_s or 0.0, schedule.latency_ps / PS_PER_MS) for schedule in schedules]


def _lines(
    phase: ReplayPhase, begin: float, end: float, steps: list[Point], stars: list[Point]
) -> list[Item]:
    """Return the lines of the naive schedule, the optimum and the schedules that were used."""
    naive, best = phase.baseline_ps / PS_PER_MS, phase.oracle_ps / PS_PER_MS
    level = [(begin, naive), (end, naive)]
    return [
        Curve(level, GREY, 1.1, dash=DASHES[2], name="best naive schedule"),
        Curve([(begin, best), (end, best)], ORANGE, 2.6, name="optimum (oracle)"),
        Curve(steps, BLUE, 1.0, name="D-HaX-CoNN"),
        solid_marks(stars, "*", BLUE, "schedule taken up"),
    ]
