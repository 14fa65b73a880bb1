"""Durations of functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

R = TypeVar("R")


def best_seconds(work: Callable[[], object], *, repetitions: int) -> float:
    """Return the seconds of the shortest of several runs, the one least disturbed by other load."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def timed(work: Callable[[], R], *, short_s: float = 0.0, repetitions: int = 0) -> tuple[R, float]:
    """Return the result of ``work``, and its seconds.

    If it took less than ``short_s``, the seconds are those of the shortest of ``repetitions`` more
    runs.
    """
    results: list[R] = []

    def once() -> None:
        results[:] = [work()]

    seconds = best_seconds(once, repetitions=1)
    if seconds < short_s:
        seconds = min(seconds, best_seconds(once, repetitions=repetitions))
    return results[0], seconds


def best_of_each(works: Sequence[Callable[[], object]], *, repetitions: int) -> list[float]:
    """Return the shortest seconds of several works that take turns, so that other load meets all
    alike.

    Each run should be short, a few milliseconds: then some of many runs meet no other load.
    """
    best = [float("inf")] * len(works)
    for _ in range(repetitions):
        for index, work in enumerate(works):
            best[index] = min(best[index], best_seconds(work, repetitions=1))
    return best
