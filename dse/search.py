"""The driver: asks an engine, evaluates, keeps the front, and stops when it must."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from dse.archive import Archive
from dse.engine import Engine
from dse.interrupts import deferred_interrupt
from fitness.outcomes import OutcomeFunction
from results.dominance import FloatArray, hypervolume, reference_point
from results.problem import IntArray


class StoppedBy(Enum):
    """Why a search ended."""

    BUDGET = "budget"
    TIME_LIMIT = "time limit"
    INTERRUPT = "interrupt"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True)
class Budget:
    """How much a search may do; a time limit makes the result depend on the machine."""

    evaluations: int
    seconds: float | None = None


@dataclass(frozen=True)
class Progress:
    """Where a search stands."""

    evaluations: int
    seconds: float
    members: int
    hypervolume: float
    """Up to 1.1 x the nadir of the first front found, as a share of the box from the origin."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The front after so many evaluations."""

    evaluations: int
    objectives: IntArray


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found: rows and objectives of the front, and how it grew."""

    rows: IntArray
    objectives: IntArray
    least_figures: IntArray
    evaluations: int
    seconds: float
    stopped_by: StoppedBy
    snapshots: tuple[Snapshot, ...] = field(default=())


def search(
    engine: Engine,
    evaluate: OutcomeFunction,
    budget: Budget,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> SearchResult:
    """Runs an engine within a budget. Ctrl-C ends it and keeps what was found so far.

    The result depends on the engine and the number of evaluations alone, unless a time limit or
    Ctrl-C ends the search.
    """
    began = time.monotonic()
    archive: Archive | None = None
    snapshots: list[Snapshot] = []
    evaluations = 0
    reference: FloatArray | None = None
    stopped_by = StoppedBy.BUDGET
    with deferred_interrupt() as interrupt:
        while evaluations < budget.evaluations:
            if interrupt.requested:
                stopped_by = StoppedBy.INTERRUPT
                break
            if budget.seconds is not None and time.monotonic() - began >= budget.seconds:
                stopped_by = StoppedBy.TIME_LIMIT
                break
            rows = engine.ask()
            if len(rows) == 0:
                stopped_by = StoppedBy.EXHAUSTED
                break
            whole = len(rows)
            rows = rows[: budget.evaluations - evaluations]
            outcomes = evaluate(rows)
            if archive is None:
                archive = Archive(
                    rows.shape[1], outcomes.objectives.shape[1], outcomes.figures.shape[1]
                )
            evaluations += len(rows)
            if archive.add(rows, outcomes):
                snapshots.append(Snapshot(evaluations, archive.objectives))
            if on_progress is not None:
                if reference is None and len(archive.objectives):
                    reference = reference_point(archive.objectives)
                on_progress(
                    Progress(
                        evaluations=evaluations,
                        seconds=time.monotonic() - began,
                        members=len(archive.rows),
                        hypervolume=_share_of_box(archive.objectives, reference),
                    )
                )
            if len(rows) == whole:
                engine.tell(rows, outcomes)
    if archive is None:
        archive = Archive(0, 0, 0)
    return SearchResult(
        rows=archive.rows,
        objectives=archive.objectives,
        least_figures=archive.least_figures,
        evaluations=evaluations,
        seconds=time.monotonic() - began,
        stopped_by=stopped_by,
        snapshots=tuple(snapshots),
    )


def _share_of_box(objectives: IntArray, reference: FloatArray | None) -> float:
    if reference is None:
        return 0.0
    inside = objectives[(objectives < reference).all(axis=1)]
    box = float(np.prod(np.abs(reference)))
    return hypervolume(inside, reference) / box if box else 0.0
