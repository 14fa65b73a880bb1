"""How long something takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], *, repetitions: int) -> float:
    """The shortest of several runs: what the machine can do when nothing else runs on it."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
