"""The order in which the engines of a member run: one order for each queue, and what every run
waits for. All runners of deployments read it from ``deployment.json``."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.results.io.canonical_json import Json


@dataclass(frozen=True)
class PlannedRun:
    """One run of a segment in a frame."""

    network: int
    repeat: int
    """Counted from 1."""
    segment: int
    """Counted from 0 within its network."""
    queue: str
    """The unit, and on a shared unit the network, too."""
    waits_for: tuple[int, ...]
    """Positions of earlier runs whose end it waits for."""
    release_ns: int
    """When its network, or this repeat of it, is released: latencies and responses count from it.
    All instants count from the beginning of the frame."""
    ready_ns: int
    """When it may start at the earliest."""


@dataclass(frozen=True)
class EnginePlan:
    """Runs of one frame, or of one period, by start. Every queue keeps this order, and waits if its
    next run is not ready."""

    runs: tuple[PlannedRun, ...]
    period_ns: int | None
    predicted_ns: tuple[int, ...]
    """[networks]: latencies, or responses of networks with rates."""
    guaranteed_ns: tuple[int, ...] | None
    """[networks]: upper bounds if the order is kept, or None if nothing is guaranteed."""

    def to_document(self) -> dict[str, Json]:
        """Return ``plan`` of ``deployment.json``."""
        bounds = self.guaranteed_ns
        return {
            "runs": [{**vars(run), "waits_for": list(run.waits_for)} for run in self.runs],
            "period_ns": self.period_ns,
            "predicted_ns": list(self.predicted_ns),
            "guaranteed_ns": None if bounds is None else list(bounds),
        }
