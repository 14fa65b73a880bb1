"""How fast work grows with the size of its input, in CPU time: a ratio, whatever the machine."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

FACTOR = 4
LINEAR = 9.0
"""Four times the input may take so many times the time; work of quadratic time takes 16 times."""


def growth(run: Callable[[Any], object], make: Callable[[int], Any], size: int) -> float:
    """CPU time of ``run`` on what ``make`` gives at four times the size, over that at the size; of
    each the least of three."""
    small, large = make(size), make(FACTOR * size)
    return min(_cpu_s(run, large) for _ in range(3)) / min(_cpu_s(run, small) for _ in range(3))


def _cpu_s(run: Callable[[Any], object], value: Any) -> float:
    start = time.process_time()
    run(value)
    return time.process_time() - start


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
