"""How long something takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

R = TypeVar("R")


def best_seconds(work: Callable[[], object], *, repetitions: int) -> float:
    """The shortest of several runs: what the machine can do when nothing else runs on it."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def timed(work: Callable[[], R], *, short_s: float = 0.0, repetitions: int = 0) -> tuple[R, float]:
    """What ``work`` gives, and its seconds; the shortest of ``repetitions`` more runs where it took
    less than ``short_s``."""
    results: list[R] = []

    def once() -> None:
        results[:] = [work()]

    seconds = best_seconds(once, repetitions=1)
    if seconds < short_s:
        seconds = min(seconds, best_seconds(once, repetitions=repetitions))
    return results[0], seconds


def best_of_each(works: Sequence[Callable[[], object]], *, repetitions: int) -> list[float]:
    """The same for several works that take turns, so that a quiet or a busy minute is everybody's.

    Each run should be short, a few milliseconds: then some of many runs meet no other load.
    """
    best = [float("inf")] * len(works)
    for _ in range(repetitions):
        for index, work in enumerate(works):
            best[index] = min(best[index], best_seconds(work, repetitions=1))
    return best
