"""Tables of measured networks that vendors publish, and a profile made of them.

Rockchip's model zoo: images per second in its ``README.md``. Hailo's model zoo: public models
(``docs/public_models/*/*.rst``). Qualcomm AI Hub: ``perf.yaml`` of a model, times by number format,
device and runtime.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretosoc.common.files import naming
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.measured_layers import ms_text
from paretosoc.fitness.profiles.profile_document import Import
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal

CATALOGUE_NAMES = {
    "mobilenetv210": "mobilenet_v2",
    "mobilenetv212": "mobilenet_v2",
    "regnet": "regnet_x_3_2gf",
    "resnet50v27": "resnet50",
    "resnetv118": "resnet18",
    "resnetv134": "resnet34",
    "resnetv150": "resnet50",
    "resnext101": "resnext101_32x8d",
    "resnext50": "resnext50_32x4d",
    "shufflenetv2": "shufflenet_v2_x0_5",
    "squeezenetv11": "squeezenet1_1",
    "swintiny": "swin_t",
    "vit": "vit_b_16",
    "vitbase": "vit_b_16",
    "wideresnet50": "wide_resnet50_2",
}
"""Vendors' names (as :func:`plain_name` spells them) of networks of the catalogue."""


@dataclass(frozen=True)
class Row:
    """One network of a table in one number format."""

    network: str
    precision: str
    time_ps: Fraction
    note: str = ""


@dataclass(frozen=True)
class VendorTable:
    """The usable rows of a table, and texts about rows that were left out, with reasons."""

    rows: tuple[Row, ...]
    flagged: tuple[str, ...]


def positive(text: str, what: str) -> Fraction:
    """Read a number above 0.

    Raises:
        PlatformError: if it is none. The message begins with ``what``.
    """
    with naming(what, PlatformError):
        value = Fraction(exact_decimal(text))
    if value <= 0:
        raise PlatformError(f"{what}: must be above 0, got {text}")
    return value


def time_at_rate(text: str, what: str) -> Fraction:
    """Return the time of one image, in ps, at ``text`` images per second.

    Raises:
        PlatformError: if that is no number above 0.
    """
    return PS_PER_S / positive(text, what)


def import_row(made: Import, row: Row, names: LayerNames, *, units: Sequence[str]) -> None:
    """Add a row: all layers of the network, measured together on each of ``units``."""
    made.add_time(names.layers, units, row.time_ps, row.note)
    made.lines.append(f"{row.network}, {row.precision}: {ms_text(row.time_ps)}")


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


_HAILO_NAME, _HAILO_RATE, _BATCHED = "network name", "fps (batch size=1)", "fps (batch size=8)"
_IMAGE = re.compile(r"\|\w+\|")


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
        if _HAILO_NAME in (cell.lower() for cell in cells):
            header = [cell.lower() for cell in cells]
            if _HAILO_RATE not in header:
                raise PlatformError(f"{label}: must have a column 'FPS (Batch Size=1)'")
            continue
        if not header:
            continue
        if len(cells) != len(header):
            flagged.append(f"{cells[0]}: {len(cells)} cells instead of {len(header)}")
            continue
        name = _IMAGE.sub("", cells[header.index(_HAILO_NAME)]).strip()
        rate = cells[header.index(_HAILO_RATE)]
        if not _RATE.fullmatch(rate):
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


PRECISIONS = {"float": "fp16", "w8a8": "int8"}
"""Number formats of the table and their names here. The NPU runs floats in FP16."""
DEVICES = {
    "snapdragon-8-gen-3": "Samsung Galaxy S24",
    "snapdragon-8-elite": "Samsung Galaxy S25",
    "snapdragon-x-elite": "Snapdragon X Elite CRD",
}
"""Platform to the device of the table that has this chip."""


def read_qai_hub(document: Any, *, device: str, runtime: str, label: str) -> VendorTable:
    """Read times of the model's parts on ``device`` with ``runtime``, all layers on the NPU.

    Raises:
        PlatformError: if the document is no such file, or has no such device or runtime. The
            message begins with ``label``.
    """
    rows: list[Row] = []
    flagged: list[str] = []
    seen: dict[str, set[str]] = {}
    for precision, component, device_name, runtimes in _entries(document, label):
        seen.setdefault(device_name, set()).update(runtimes)
        if device_name != device or runtime not in runtimes:
            continue
        what = f"{component}, {precision}"
        entry = runtimes[runtime]
        counts = entry.get("layer_counts") if isinstance(entry, Mapping) else None
        if not isinstance(counts, Mapping) or "inference_time_milliseconds" not in entry:
            flagged.append(f"{what}: no time or layer counts")
        elif precision not in PRECISIONS:
            flagged.append(f"{what}: the number format is not one of {', '.join(PRECISIONS)}")
        elif counts.get("npu") != counts.get("total"):
            spread = ", ".join(f"{unit} {count}" for unit, count in counts.items())
            flagged.append(f"{what}: not all layers on the NPU ({spread})")
        else:
            text = str(entry["inference_time_milliseconds"])
            time_ps = positive(text, f"{label}: {what}") * PS_PER_MS
            rows.append(Row(component, PRECISIONS[precision], time_ps, f"{device}, {runtime}"))
    if device not in seen:
        raise PlatformError(
            f"{label}: must have the device {device!r}, got {', '.join(sorted(seen)) or 'none'}"
        )
    if runtime not in seen[device]:
        raise PlatformError(
            f"{label}: {device} must have the runtime {runtime!r}, "
            f"got {', '.join(sorted(seen[device]))}"
        )
    return VendorTable(tuple(rows), tuple(flagged))


def _entries(document: Any, label: str) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Yield (number format, part of the model, device, runtime to its figures)."""
    for precision, formats in _mapping(document, "precisions", label).items():
        for component, part in _mapping(formats, "components", f"{label}: {precision}").items():
            where = f"{label}: {precision}, {component}"
            for device, runtimes in _mapping(part, "performance_metrics", where).items():
                if not isinstance(runtimes, Mapping):
                    raise PlatformError(f"{where}, {device}: must map runtimes to figures")
                yield precision, component, device, runtimes


def _mapping(parent: Any, key: str, where: str) -> Mapping[str, Any]:
    value = parent.get(key) if isinstance(parent, Mapping) else None
    if not isinstance(value, Mapping):
        raise PlatformError(f"{where}: must have a mapping {key!r}, as AI Hub's perf.yaml has it")
    return value
