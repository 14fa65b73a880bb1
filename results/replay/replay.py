"""A replay of changing workloads (Fig. 7 of HaX-CoNN): schedules as they came, and frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplaySchedule:
    """A schedule that was published. Times in seconds after the workload changed.

    ``used_s``: the time from which frames start with it. It is later than ``found_s`` if schedules
    are taken up at set instants, and None if a better one came before that.
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
    """A whole replay. ``clock`` is the kind of clock of the search's seconds."""

    title: str
    platform: str
    clock: str
    phases: tuple[ReplayPhase, ...]
    frames: tuple[ReplayFrame, ...]
