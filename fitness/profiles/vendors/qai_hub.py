"""Qualcomm AI Hub: ``perf.yaml`` of a model, times by number format, device and runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paretosoc.fitness.profiles.vendors.table import PS_PER_MS, Row, VendorTable, positive
from paretosoc.platforms.errors import PlatformError

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
