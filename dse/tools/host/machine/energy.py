"""Energy counters of the processor (RAPL), if the system has them and lets us read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


def read_counters(root: Path = POWERCAP) -> dict[Path, int]:
    """Return microjoules by counter: packages only, since their parts are in them."""
    found = {}
    for folder in sorted(root.glob("*rapl:[0-9]*")):
        if folder.name.count(":") == 1 and (value := _number(folder / "energy_uj")) is not None:
            found[folder] = value
    return found


def joules_since(before: Mapping[Path, int], root: Path = POWERCAP) -> float | None:
    """Return the energy since counters were read, or None if there are none or one has gone.

    A counter that has wrapped around once is counted on.
    """
    after = read_counters(root)
    if not before or set(after) != set(before):
        return None
    total = 0
    for folder, value in after.items():
        used = value - before[folder]
        if used < 0:
            used += _number(folder / "max_energy_range_uj") or 0
        total += used
    return total / 1e6


def _number(path: Path) -> int | None:
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdigit() else None
