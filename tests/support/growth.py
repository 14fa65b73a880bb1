"""How fast work grows with the size of its input: a ratio of counts, the same on every machine."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

FACTOR = 4
LINEAR = 6.0
"""Four times the input may take so many times the steps; work of quadratic time takes 16 times."""


def growth(run: Callable[[Any], object], make: Callable[[int], Any], size: int) -> float:
    """Python's lines that ``run`` runs on what ``make`` gives at four times the size, over those at
    the size. Each round of a loop counts, on one line as well. A builtin counts as nothing."""
    run(make(size))  # What is imported or compiled once belongs to neither.
    return _lines(run, make(FACTOR * size)) / _lines(run, make(size))


def _lines(run: Callable[[Any], object], value: Any) -> int:
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(value)
    finally:
        sys.settrace(before)
    return count


def memory_growth(run: Callable[[Any], object], make: Callable[[int], Any], size: int) -> float:
    """The same of the most memory that Python holds at a time."""
    return _peak(run, make(FACTOR * size)) / _peak(run, make(size))


def _peak(run: Callable[[Any], object], value: Any) -> int:
    tracemalloc.start()
    try:
        run(value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
