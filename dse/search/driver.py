"""The loop of a search: ask an engine, evaluate, keep the front, stop within the budget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from paretosoc.common import compiling
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.files import naming
from paretosoc.common.options import as_written
from paretosoc.common.plugins import plugin_errors
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.interrupts import deferred_interrupt
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import Engine, ResumableEngine, checked_proposal
from paretosoc.dse.search.checkpoint import CheckpointFile, SearchState, Snapshot
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import OutcomeFunction, Outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.dominance import hypervolume, reference_point

MIN_GROWTH = 1e-4
"""A hypervolume that grew by a smaller share than this has stalled."""
MAX_SNAPSHOTS = 400
MIN_PART, PART_SECONDS = 2, 0.25
"""Rows and seconds: with a time limit a batch is evaluated in parts of about this many seconds,
starting with the minimum of rows, and none is started that would end too late. Free-running
networks can take a second for a few rows."""
FORGOTTEN = 0.9
"""Decay, per part, of the largest time per row so far: slow rows may come again."""


class StoppedBy(Enum):
    """Why a search ended."""

    BUDGET = "budget"
    TIME_LIMIT = "time limit"
    STALLED = "stalled"
    INTERRUPT = "interrupt"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True)
class Budget:
    """The limits of a search. A time limit makes the result depend on the machine.

    Some rows are evaluated whatever the limit. ``stalled``: the search ends if the hypervolume has
    grown by less than ``MIN_GROWTH`` within this many evaluations, both fronts measured up to 1.1 x
    the nadir of the two together.
    """

    evaluations: int
    seconds: float | None = None
    stalled: int | None = None


@dataclass(frozen=True, eq=False)
class Progress:
    """Progress of a search."""

    evaluations: int
    seconds: float
    members: int
    hypervolume: float
    """Up to 1.1 x the nadir of the first front found, as a share of the box from the origin."""
    rows: IntArray
    """[members, groups + domains]: the front so far."""
    objectives: IntArray
    """[members, objectives]"""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Rows and objectives of the front that a search found, and its growth."""

    rows: IntArray
    objectives: IntArray
    least_constraint_values: IntArray
    evaluations: int
    seconds: float
    stopped_by: StoppedBy
    snapshots: tuple[Snapshot, ...] = field(default=())


def search(
    engine: Engine,
    evaluate: OutcomeFunction,
    budget: Budget,
    *,
    checkpoint: CheckpointFile | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    foreign: DesignSpace | None = None,
) -> SearchResult:
    """Run an engine within a budget. Ctrl-C ends it and keeps the front found so far.

    The result depends on the engine and the number of evaluations alone, unless a time limit or
    Ctrl-C ends the search. A search that resumes from a checkpoint gives the result of an
    uninterrupted one, also with a larger budget.

    Args:
        checkpoint: file for the state, to continue from if it exists. It is written from time to
            time and at the end.
        foreign: the space, if the engine is not the program's own. Its rows are checked to lie in
            it, and its failures are no faults of the program.

    Raises:
        WorkloadError: on a checkpoint for an engine that cannot resume from one, rows outside
            the space, or a failure of a foreign engine.
        ResultError: if the checkpoint cannot be read or written, or is another search's.
    """
    run = _Run(engine, evaluate, budget, checkpoint, on_progress, foreign)
    if checkpoint is not None:
        state = checkpoint.read()
        if state is not None:
            with naming(checkpoint.path, ResultError, ValueError):
                run.restore(state)
    with deferred_interrupt() as interrupt:
        while True:
            # Rows are proposed before the checkpoint is written, which therefore holds them: a
            # resumed search evaluates the same rows, whatever the engine would propose next.
            run.propose()
            stopped_by = run.reason_to_stop(interrupted=interrupt.requested)
            run.keep(last=stopped_by is not None)
            if stopped_by is not None:
                return run.result(stopped_by)
            run.advance()
            try:
                run.report()
            except KeyboardInterrupt:
                # Notebooks raise it where their output is written, and threads get no signal.
                interrupt.requested = True


class _Run:
    """One running search."""

    def __init__(
        self,
        engine: Engine,
        evaluate: OutcomeFunction,
        budget: Budget,
        checkpoint: CheckpointFile | None,
        on_progress: Callable[[Progress], None] | None,
        foreign: DesignSpace | None,
    ) -> None:
        if checkpoint is not None and not isinstance(engine, ResumableEngine):
            raise WorkloadError(
                f"{as_written('checkpoint')}: the engine {engine.name} cannot resume from one"
            )
        self._engine = engine
        self._evaluate = evaluate
        self._budget = budget
        self._checkpoint = checkpoint
        self._on_progress = on_progress
        self._foreign = foreign
        self._began = compiling.clock()
        self._archive: Archive | None = None
        self._snapshots: list[Snapshot] = []
        self._mark: Snapshot | None = None
        self._evaluations = 0
        self._pending: IntArray | None = None
        self._cut_short = False
        self._part = MIN_PART
        self._row_seconds = 0.0
        self._reference: FloatArray | None = None

    @property
    def _seconds(self) -> float:
        return compiling.clock() - self._began

    def propose(self) -> None:
        """Ask for the next rows, also after the last ones if their state is to be kept."""
        if self._pending is None and (self._left > 0 or self._checkpoint is not None):
            with self._calling("ask()"):
                rows = self._engine.ask()
            if self._foreign is not None:
                rows = checked_proposal(self._engine.name, rows, self._foreign)
            self._pending = rows

    def _calling(self, method: str) -> AbstractContextManager[None]:
        if self._foreign is None:
            return nullcontext()
        return plugin_errors(f"engine {self._engine.name}: {method}", WorkloadError)

    @property
    def _left(self) -> int:
        return self._budget.evaluations - self._evaluations

    def reason_to_stop(self, *, interrupted: bool) -> StoppedBy | None:
        """Return the reason to stop, if there is one."""
        if self._left <= 0:
            return StoppedBy.BUDGET
        if interrupted:
            return StoppedBy.INTERRUPT
        if self._evaluations and self._is_too_late(self._pending):
            return StoppedBy.TIME_LIMIT
        if self._pending is not None and len(self._pending) == 0:
            return StoppedBy.EXHAUSTED
        return StoppedBy.STALLED if self._has_stalled() else None

    def _is_too_late(self, rows: IntArray | None) -> bool:
        """Return whether the next part, of at most ``rows``, would end after the time limit."""
        limit = self._budget.seconds
        if limit is None:
            return False
        part = self._part if rows is None else min(self._part, len(rows))
        return self._seconds + part * self._row_seconds >= limit

    def _has_stalled(self) -> bool:
        span, archive = self._budget.stalled, self._archive
        if span is None or archive is None or len(archive.objectives) == 0:
            return False
        now = Snapshot(self._evaluations, archive.objectives)
        if self._mark is None:
            self._mark = now
        if self._evaluations - self._mark.evaluations < span:
            return False
        # One reference point for both: volumes up to different points cannot be compared.
        reference = reference_point(np.concatenate((self._mark.objectives, now.objectives)))
        before = hypervolume(self._mark.objectives, reference)
        if hypervolume(now.objectives, reference) <= before * (1.0 + MIN_GROWTH):
            return True
        self._mark = now
        return False

    def keep(self, *, last: bool) -> None:
        """Write the checkpoint, if it is time to, or nothing comes after this."""
        checkpoint, engine, pending = self._checkpoint, self._engine, self._pending
        if checkpoint is None or pending is None or not isinstance(engine, ResumableEngine):
            return
        if self._cut_short:
            # The checkpoint that a larger budget resumes from was written before.
            return
        if not (last or len(pending) > self._left or checkpoint.due()):
            return
        checkpoint.write(
            SearchState(
                evaluations=self._evaluations,
                seconds=self._seconds,
                pending=pending,
                archive=self._archive or checkpoint.empty_archive(),
                snapshots=tuple(self._snapshots),
                mark=self._mark,
                engine=engine.state(),
            )
        )

    def restore(self, state: SearchState) -> None:
        """Restore the state of a checkpoint."""
        assert isinstance(self._engine, ResumableEngine)
        self._engine.restore(state.engine)
        self._began -= state.seconds
        self._evaluations = state.evaluations
        self._pending = state.pending
        self._archive = state.archive
        self._snapshots = list(state.snapshots)
        self._mark = state.mark

    def advance(self) -> None:
        """Evaluate the proposal within the budget.

        The engine receives complete batches only: a part would change its next proposal, and so the
        result with a larger budget.
        """
        assert self._pending is not None
        rows = self._pending[: self._left]
        outcomes = self._evaluated(rows)
        rows = rows[: len(outcomes.possible)]
        complete = len(rows) == len(self._pending)
        self._evaluations += len(rows)
        self._add(rows, outcomes)
        if complete:
            with self._calling("tell(rows, outcomes)"):
                self._engine.tell(rows, outcomes)
            self._pending = None
        else:
            self._cut_short = True

    def report(self) -> None:
        """Call the function that is told of the progress."""
        if self._on_progress is not None:
            self._on_progress(self._progress())

    def _evaluated(self, rows: IntArray) -> Outcomes:
        """Return the outcomes of the rows, or of the first ones if the time runs out. With a
        checkpoint batches are complete, since the engine resumes from nothing else."""
        if self._budget.seconds is None or self._checkpoint is not None:
            return self._evaluate(rows)
        parts: list[Outcomes] = []
        done = 0
        while done < len(rows) and not (parts and self._is_too_late(rows[done:])):
            began = compiling.clock()
            part = self._evaluate(rows[done : done + self._part])
            took = (compiling.clock() - began) / len(part.possible)
            parts.append(part)
            done += len(part.possible)
            # The slowest recent part decides the size of the next: too small costs little, too
            # large passes the limit.
            self._row_seconds = max(FORGOTTEN * self._row_seconds, took, 1e-7)
            self._part = max(round(PART_SECONDS / self._row_seconds), MIN_PART)
        return _joined(parts)

    def _add(self, rows: IntArray, outcomes: Outcomes) -> None:
        if self._archive is None:
            self._archive = Archive(
                rows.shape[1], outcomes.objectives.shape[1], outcomes.constraint_values.shape[1]
            )
        if not self._archive.add(rows, outcomes):
            return
        self._snapshots.append(Snapshot(self._evaluations, self._archive.objectives))
        if len(self._snapshots) > MAX_SNAPSHOTS:
            # Every second one, the last among them: the curve keeps its ends and even spacing.
            self._snapshots = self._snapshots[(len(self._snapshots) - 1) % 2 :: 2]

    def _progress(self) -> Progress:
        assert self._archive is not None
        objectives = self._archive.objectives
        if self._reference is None and len(objectives):
            self._reference = reference_point(objectives)
        reference = self._reference
        box = 0.0 if reference is None else float(np.prod(np.abs(reference)))
        return Progress(
            evaluations=self._evaluations,
            seconds=self._seconds,
            members=len(objectives),
            hypervolume=hypervolume(objectives, reference) / box if box else 0.0,
            rows=self._archive.rows,
            objectives=objectives,
        )

    def result(self, stopped_by: StoppedBy) -> SearchResult:
        """Return the front found, and how the search ended."""
        archive = self._archive or Archive(0, 0, 0)
        return SearchResult(
            rows=archive.rows,
            objectives=archive.objectives,
            least_constraint_values=archive.least_constraint_values,
            evaluations=self._evaluations,
            seconds=self._seconds,
            stopped_by=stopped_by,
            snapshots=tuple(self._snapshots),
        )


def _joined(parts: list[Outcomes]) -> Outcomes:
    if len(parts) == 1:
        return parts[0]
    return Outcomes(
        possible=np.concatenate([part.possible for part in parts]),
        objectives=np.concatenate([part.objectives for part in parts]),
        constraint_values=np.concatenate([part.constraint_values for part in parts]),
        feasible=np.concatenate([part.feasible for part in parts]),
    )
