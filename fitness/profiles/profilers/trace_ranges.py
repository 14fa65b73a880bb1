"""Named ranges of time in traces: Trace Event JSON (Perfetto, ONNX Runtime), SQLite of nsys.

A range of a GPU's host (NVTX) is where its kernels ran, from the start of the first to the end of
the last that calls in the range launched. One without kernels stays as it is if the trace has no
kernels at all, else it is left out, since the host hands work over before a device does it.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.platforms.errors import PlatformError

_NS_PER_US = 1000
MAX_US = 10**15
"""Thirty years. Longer times are refused."""
_KERNEL_TIME = "_kernel_time"
"""Ending of ONNX Runtime's names of nodes."""
_SQLITE = b"SQLite format 3\0"
_CALLS = """
SELECT call.globalTid, call.start, kernel.start, kernel.end
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call JOIN CUPTI_ACTIVITY_KIND_KERNEL AS kernel
ON kernel.correlationId = call.correlationId
AND kernel.globalPid / 0x1000000 % 0x1000000 = call.globalTid / 0x1000000 % 0x1000000
ORDER BY call.globalTid, call.start
"""
_RANGES = """
SELECT COALESCE(NVTX_EVENTS.text, {text}) AS name, start, end, globalTid
FROM NVTX_EVENTS {join} WHERE end IS NOT NULL AND name IS NOT NULL
"""


@dataclass(frozen=True)
class TraceRange:
    """From one instant to another of the trace's clock."""

    name: str
    start_ns: int
    end_ns: int


def read_trace(path: Path) -> list[TraceRange]:
    """Return the ranges of a trace, by rising start, longer ones first.

    Raises:
        PlatformError: if the file is of another kind, or has no range.
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
    if head == _SQLITE:
        found = _nsys_ranges(path)
    else:
        try:
            found = _event_ranges(read_file(path, PlatformError).decode(), str(path))
        except UnicodeDecodeError:
            raise PlatformError(
                f"{path}: Trace Event JSON or SQLite of nsys is required; "
                "'traceconv json FILE OUT.json' of Perfetto and 'nsys export --type sqlite FILE' "
                "write them"
            ) from None
    if not found:
        raise PlatformError(f"{path}: must hold ranges with a name, got none")
    return sorted(found, key=lambda r: (r.start_ns, -r.end_ns))


def _nsys_ranges(path: Path) -> list[TraceRange]:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as trace:
            tables = {name for (name,) in trace.execute("SELECT name FROM sqlite_master")}
            if "NVTX_EVENTS" not in tables:
                raise PlatformError(
                    f"{path}: must have a table NVTX_EVENTS ('nsys profile --trace cuda,nvtx')"
                )
            columns = {row[1] for row in trace.execute("PRAGMA table_info(NVTX_EVENTS)")}
            named = "textId" in columns and "StringIds" in tables
            ranges = _RANGES.format(
                text="value" if named else "NULL",
                join="LEFT JOIN StringIds ON StringIds.id = textId" if named else "",
            )
            found = trace.execute(ranges).fetchall()
            if not {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"} <= tables:
                return [TraceRange(*row[:3]) for row in found]
            calls: dict[int, list[tuple[int, ...]]] = {}
            for thread, *call in trace.execute(_CALLS):
                calls.setdefault(thread, []).append(tuple(call))
    except sqlite3.Error as error:
        raise PlatformError(f"{path}: is no export of nsys: {error}") from None
    projected = []
    for name, start, end, thread in found:
        of_thread = calls.get(thread, [])
        first = bisect_left(of_thread, start, key=itemgetter(0))
        launched = of_thread[first : bisect_right(of_thread, end, key=itemgetter(0))]
        if launched:
            starts, ends = {kernel[1] for kernel in launched}, {kernel[2] for kernel in launched}
            projected.append(TraceRange(name, min(starts), max(ends)))
    return projected


def _event_ranges(text: str, label: str) -> list[TraceRange]:
    """Return complete events (X) and pairs of a beginning and an end (B, E) of a thread."""
    try:
        try:
            document = json.loads(text)
        except ValueError:
            # The format allows the closing bracket to be left out.
            document = json.loads(text.rstrip().rstrip(",") + "]")
    except (ValueError, RecursionError) as error:
        raise PlatformError(f"{label}: is no Trace Event JSON: {error}") from None
    events = document.get("traceEvents") if isinstance(document, Mapping) else document
    if not isinstance(events, list):
        raise PlatformError(f"{label}: must be a list of events or have traceEvents")
    found: list[TraceRange] = []
    open_ranges: dict[tuple[Any, Any], list[tuple[str, float]]] = {}
    for event in events:
        if not isinstance(event, Mapping) or not _is_time(event.get("ts")):
            continue
        name, start = str(event.get("name", "")).removesuffix(_KERNEL_TIME), event["ts"]
        thread = open_ranges.setdefault((str(event.get("pid")), str(event.get("tid"))), [])
        if event.get("ph") == "X" and _is_time(event.get("dur")):
            found.append(_range(name, start, start + event["dur"]))
        elif event.get("ph") == "B":
            thread.append((name, start))
        elif event.get("ph") == "E" and thread:
            found.append(_range(*thread.pop(), start))
    return found


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MAX_US


def _range(name: str, start_us: float, end_us: float) -> TraceRange:
    return TraceRange(name, round(_NS_PER_US * start_us), round(_NS_PER_US * end_us))
