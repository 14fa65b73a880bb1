"""Rockchip's model zoo: the table of images per second in its ``README.md``."""

from __future__ import annotations

import re

from paretosoc.fitness.profiles.vendors.table import Row, VendorTable, time_at_rate
from paretosoc.platforms.errors import PlatformError

_NAME, _PRECISION = "model_name", "dtype"
_RATE = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)


def read_rknn(text: str, *, chip: str, label: str) -> VendorTable:
    """Read the column of ``chip`` (``RK3588``, one NPU core). A rate is one image after the other.

    Raises:
        PlatformError: if there is no such table or column. The message begins with ``label``.
    """
    header: list[str] | None = None
    column = -1
    rows: list[Row] = []
    flagged: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if _NAME in cells and _PRECISION in cells:
            header = cells
            column = _column(header, chip, label)
        elif header is not None and not set(line) <= set("|-: "):
            if len(cells) != len(header):
                flagged.append(f"line {number}: {len(cells)} cells instead of {len(header)}")
                continue
            name, precision = cells[header.index(_NAME)], cells[header.index(_PRECISION)].lower()
            rate = cells[column]
            if _RATE.fullmatch(rate) and precision in ("int8", "fp16"):
                what = f"{label}: line {number}"
                rows.append(Row(name, precision, time_at_rate(rate, what), f"{rate} images/s"))
            else:
                flagged.append(f"{name}, {precision}: no rate of images, {rate!r}")
    if column < 0:
        raise PlatformError(f"{label}: must have a table with {_NAME} and {_PRECISION}, got none")
    return VendorTable(tuple(rows), tuple(flagged))


def _column(header: list[str], chip: str, label: str) -> int:
    """Return the index of the column whose heading begins with or lists the chip."""
    chips = [re.findall(r"R[KV][0-9]+[A-Z]*", cell) for cell in header]
    for index, names in enumerate(chips):
        if chip.upper() in names:
            return index
    known = ", ".join(name for names in chips for name in names)
    raise PlatformError(f"{label}: must have a column of {chip}, got {known or 'none'}")
