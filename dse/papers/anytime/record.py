"""The record of a replay (Fig. 7 of HaX-CoNN): schedules as they came, and frames.

Its files are ``replay.json``, ``replay.csv`` (a row per frame) and the pictures.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from paretosoc.common.tables import csv_text
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.io.atomic_folder import FolderKind

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
    from paretosoc.dse.papers.anytime.picture import draw_replay
    from paretosoc.results.plots.style import picture_settings, png_bytes, svg_bytes

    with picture_settings():
        return {
            "replay.csv": replay_csv(replay).encode(),
            "replay.svg": svg_bytes(draw_replay(replay)),
            "replay.png": png_bytes(draw_replay(replay)),
            "replay.json": replay_json(replay).encode(),
        }
