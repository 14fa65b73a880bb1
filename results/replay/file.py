"""The files of a replay: ``replay.json``, ``replay.csv`` (a row per frame) and the pictures."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path

from paretosoc.common.units import PS_PER_MS
from paretosoc.results.io.atomic_folder import check_own_folder, write_files
from paretosoc.results.replay.replay import Replay

FORMAT = "paretosoc-replay/1"
JSON_FILE, CSV_FILE = "replay.json", "replay.csv"
REPLAY_FILES = frozenset({JSON_FILE, CSV_FILE, "replay.svg", "replay.png"})
COLUMNS = ("frame", "phase", "start_ms", "latency_ms", "baseline_ms", "oracle_ms", "nodes")


def check_replay_folder(folder: Path, *, overwrite: bool) -> None:
    """Accept a folder that :func:`write_replay` may write.

    Raises:
        ResultError: if it exists and ``overwrite`` is false, or holds anything but a replay.
    """
    check_own_folder(folder, lambda entry: entry.name in REPLAY_FILES, overwrite=overwrite)


def write_replay(folder: Path, replay: Replay, *, overwrite: bool = False) -> None:
    """Write all four files, or none.

    Raises:
        ResultError: if the folder must not be replaced or cannot be written.
    """
    from paretosoc.results.replay.picture import replay_png, replay_svg

    check_replay_folder(folder, overwrite=overwrite)
    contents = {
        CSV_FILE: replay_csv(replay).encode(),
        "replay.svg": replay_svg(replay),
        "replay.png": replay_png(replay),
        JSON_FILE: replay_json(replay).encode(),
    }
    write_files(
        folder,
        contents,
        check=lambda: check_replay_folder(folder, overwrite=overwrite),
        ours=REPLAY_FILES,
    )


def replay_json(replay: Replay) -> str:
    """Return phases and schedules as JSON. Times are in ps and s. The frames are in the CSV."""
    document = asdict(replay)
    document["frames"] = len(replay.frames)
    return json.dumps({"format": FORMAT, **document}, indent=1) + "\n"


def replay_csv(replay: Replay) -> str:
    """Return one row per frame. Frames count from 1, phases from 1, times in ms."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, frame in enumerate(replay.frames, 1):
        phase = replay.phases[frame.phase]
        writer.writerow(
            [
                number,
                frame.phase + 1,
                f"{frame.start_ps / PS_PER_MS:.6f}",
                f"{frame.latency_ps / PS_PER_MS:.6f}",
                f"{phase.baseline_ps / PS_PER_MS:.6f}",
                f"{phase.oracle_ps / PS_PER_MS:.6f}",
                phase.schedules[frame.schedule].nodes,
            ]
        )
    return text.getvalue()
