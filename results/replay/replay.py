"""A replay of changing workloads (Fig. 7 of HaX-CoNN): schedules as they came, and frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplaySchedule:
    """A schedule that was published. Times in seconds after the workload changed.

    ``used_s``: from when on frames start with it. Later than ``found_s`` where schedules are taken
    up at set instants, None if a better one came before that.
    """

    latency_ps: int
    source: str
    nodes: int
    found_s: float
    used_s: float | None


@dataclass(frozen=True)
class ReplayPhase:
    """One workload, from its change on. ``searched_s``: until the search had nothing left.
    ``proved_s``: until that was proved, or None if it was not."""

    name: str
    networks: tuple[str, ...]
    begins_s: float
    ends_s: float
    schedules: tuple[ReplaySchedule, ...]
    baseline_ps: int
    """The best naive schedule's."""
    oracle_ps: int
    """The static optimum's, found by a separate search beforehand."""
    oracle_proved: bool
    nodes: int
    searched_s: float | None
    proved_s: float | None
    status: str
    """Of the certificate: certified, searched or gap."""


@dataclass(frozen=True)
class ReplayFrame:
    """One frame: when it started, how long it took, by which schedule of its phase."""

    phase: int
    start_ps: int
    latency_ps: int
    schedule: int


@dataclass(frozen=True)
class Replay:
    """All of it. ``clock`` says what the seconds of the search are."""

    title: str
    platform: str
    clock: str
    phases: tuple[ReplayPhase, ...]
    frames: tuple[ReplayFrame, ...]
