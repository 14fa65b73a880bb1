"""Frames of this machine for a while, by one schedule or by schedules that improve meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paretosoc.common.units import NS_PER_MS
from paretosoc.dse.certificate.improve import Published, improve
from paretosoc.dse.tools.host.machine.frame_stream import (
    FrameRecord,
    Schedule,
    ledger_of,
    schedule_of,
)
from paretosoc.dse.tools.host.machine.host_units import joules_since, read_counters
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.fitness.simulate import simulate
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class Streamed:
    """Measurements. ``joules`` is None without a counter."""

    frames: int
    seconds: float
    latency_ms: float
    """Median, from release to end."""
    latency_p99_ms: float
    swaps: int
    """Frames whose schedule is not that of the frame before."""
    lost: int
    doubled: int
    joules: float | None


def stream_for(
    machine: HostMachine, problem: Problem, current: Callable[[], Schedule], seconds: float
) -> tuple[Streamed, list[FrameRecord]]:
    """Release frames for a while. Frames in flight at the end are finished.

    Raises:
        ResultError: if a unit fails.
    """
    ledger = ledger_of(problem, machine.memory.slots)
    counters, begin = read_counters(), time.monotonic()
    records, lost, doubled = machine.stream_frames(
        ledger, current, lambda released: released < 1 or time.monotonic() - begin < seconds
    )
    took, joules = time.monotonic() - begin, joules_since(counters)
    latency = np.array([(r.end_ns - r.release_ns) / NS_PER_MS for r in records])
    streamed = Streamed(
        frames=len(records),
        seconds=took,
        latency_ms=float(np.median(latency)),
        latency_p99_ms=float(np.percentile(latency, 99)),
        swaps=sum(one.version != other.version for one, other in pairwise(records)),
        lost=lost,
        doubled=doubled,
        joules=joules,
    )
    return streamed, records


class ImprovingSchedules:
    """The newest schedule of a workload that changes repeatedly, as in D-HaX-CoNN.

    Each change starts with everything on the first unit. Branch and bound improves it in a thread
    while frames run. A context manager.

    Args:
        problem: the largest workload.
        workloads: networks of each, one after the other and again.
        clock: seconds, never falling.

    Raises:
        ResultError: if the problem has no objective of latency.
    """

    def __init__(
        self,
        problem: Problem,
        workloads: Sequence[Sequence[int]],
        change_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._problem, self._workloads, self._clock = problem, workloads, clock
        self._change_s, self._due = change_s, 0.0
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self.thread: threading.Thread | None = None
        self._version = 0
        self._newest: Schedule | None = None
        self.changes = -1
        """Of the workload, after the first."""
        self.published = 0
        """Schedules that the searches found."""
        self._naive = _naive(problem)

    def current(self) -> Schedule:
        """Return the schedule for the next frame."""
        if self._newest is None or self._clock() >= self._due:
            self._change()
        with self._lock:
            assert self._newest is not None, "a change has a schedule at once"
            return self._newest

    def _change(self) -> None:
        self.close()
        self.changes += 1
        self._due = self._clock() + self._change_s
        networks = self._workloads[self.changes % len(self._workloads)]
        self._cancelled = threading.Event()
        self._take(self._naive.design, networks)
        self.thread = threading.Thread(
            target=self._search, args=(networks, self._cancelled), daemon=True
        )
        self.thread.start()

    def _take(self, design: DesignPoint, networks: Sequence[int]) -> None:
        schedule = schedule_of(self._problem, design, self._version, networks)
        with self._lock:
            self._newest = schedule
            self._version += 1

    def _search(self, networks: Sequence[int], cancelled: threading.Event) -> None:
        steps = improve(
            self._problem, self._naive, time_limit_s=self._change_s, stopped=cancelled.is_set
        )
        for step in steps:
            if cancelled.is_set():
                return
            if isinstance(step, Published):
                self.published += 1
                self._take(step.design, networks)

    def close(self) -> None:
        """End the search, and wait for its thread."""
        self._cancelled.set()
        if self.thread is not None:
            self.thread.join()

    def __enter__(self) -> ImprovingSchedules:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _naive(problem: Problem) -> Published:
    """Return a design with everything on the first unit, at the first permitted clocks."""
    design = DesignPoint(
        np.zeros(problem.group_count, dtype=np.int64),
        np.zeros(len(problem.domains), dtype=np.int64),
    )
    value = simulate(problem, design).frame_end_ps[0]
    return Published(design, int(value), problem.units[0].name, 0, 0.0)
