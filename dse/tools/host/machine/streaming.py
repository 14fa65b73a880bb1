"""A process that does nothing but read memory, at a given rate: the co-runner of a sweep."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray

CHUNK = 1 << 18
"""Bytes between two looks at the clock."""
BUFFER = 1 << 27
"""Bytes that are read in turn: more than caches hold."""

FEWEST_CHUNKS = 8
"""However short the time, so that there is a rate."""


@dataclass(frozen=True, eq=False)
class StreamLog:
    """Begin and end of each chunk, ns. Arrays are [chunks]."""

    begin: IntArray
    end: IntArray

    @property
    def gbps(self) -> float:
        """Return bytes over the whole time."""
        return float((len(self.begin) - 1) * CHUNK / (self.begin[-1] - self.begin[0]))


def make_buffer() -> IntArray:
    """Create memory to read, written once so that all of it exists."""
    return np.ones(BUFFER // 8, dtype=np.int64)


def stream(
    buffer: IntArray, gbps: float | None, is_over: Callable[[], bool], now: Callable[[], int]
) -> StreamLog:
    """Read chunk after chunk until ``is_over``, a few at least. With ``gbps`` None, read as fast as
    possible."""
    step = CHUNK // 8
    chunks = [buffer[k * step : (k + 1) * step] for k in range(len(buffer) // step)]
    period = 0.0 if gbps is None else CHUNK / gbps
    begins, ends = array("q"), array("q")
    due = float(now())
    place = 0
    while len(begins) < FEWEST_CHUNKS or not is_over():
        begin = now()
        np.add.reduce(chunks[place])
        begins.append(begin)
        ends.append(now())
        place = (place + 1) % len(chunks)
        # Missed reads are not caught up with: the rate is a limit.
        due = max(due + period, ends[-1])
        while now() < due and not is_over():
            pass
    return StreamLog(
        np.frombuffer(begins, dtype=np.int64).copy(), np.frombuffer(ends, dtype=np.int64).copy()
    )
