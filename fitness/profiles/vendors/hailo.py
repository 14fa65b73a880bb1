"""Hailo's model zoo: the tables of public models (``docs/public_models/*/*.rst``)."""

from __future__ import annotations

import re

from paretosoc.fitness.profiles.vendors.table import Row, VendorTable, time_at_rate
from paretosoc.platforms.errors import PlatformError

_NAME, _RATE, _BATCHED = "network name", "fps (batch size=1)", "fps (batch size=8)"
_IMAGE = re.compile(r"\|\w+\|")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)


def read_hailo(text: str, *, label: str) -> VendorTable:
    """Read networks with their images per second at batch 1.

    If the rate is the same at batch 8, the chip holds the network, and images follow each other
    through it. The time of one image is then longer than the time that the rate gives.

    Raises:
        PlatformError: if there is no such table. The message begins with ``label``.
    """
    rows: list[Row] = []
    flagged: list[str] = []
    header: list[str] = []
    for cells in _list_rows(text):
        if _NAME in (cell.lower() for cell in cells):
            header = [cell.lower() for cell in cells]
            if _RATE not in header:
                raise PlatformError(f"{label}: must have a column 'FPS (Batch Size=1)'")
            continue
        if not header:
            continue
        if len(cells) != len(header):
            flagged.append(f"{cells[0]}: {len(cells)} cells instead of {len(header)}")
            continue
        name = _IMAGE.sub("", cells[header.index(_NAME)]).strip()
        rate = cells[header.index(_RATE)]
        if not _NUMBER.fullmatch(rate):
            flagged.append(f"{name}: no rate at batch 1, {rate!r}")
            continue
        piped = _BATCHED in header and cells[header.index(_BATCHED)] == rate
        note = f"{rate} images/s{', of a pipeline' if piped else ''}"
        rows.append(Row(name, "int8", time_at_rate(rate, f"{label}: {name}"), note))
    if not header:
        raise PlatformError(f"{label}: must have a list-table with 'Network Name', got none")
    return VendorTable(tuple(rows), tuple(flagged))


def _list_rows(text: str) -> list[list[str]]:
    """Return the rows of the list-tables of reStructuredText, every one a list of cells."""
    rows: list[list[str]] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("* - "):
            rows.append([stripped[4:].strip()])
        elif rows and line.startswith(" ") and (stripped.startswith("- ") or stripped == "-"):
            rows[-1].append(stripped[2:].strip())
    return rows
