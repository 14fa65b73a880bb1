"""The loop that runs all missing runs of a store, with any workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from paretosoc.dse.tools.campaign.execute.workers import RunFinished, Workers
from paretosoc.dse.tools.campaign.store.run import RunStatus, RunTask
from paretosoc.dse.tools.campaign.store.store import Store

CLAIMED_AHEAD = 8
"""Runs claimed for each slot: few enough that a second process finds some, too."""
PATIENCE_S = 0.5
RECENT = 100
"""Runs that the time left is estimated from."""


@dataclass(frozen=True)
class CampaignProgress:
    """Progress of a campaign: runs of the plan by status, and the work of this process."""

    finished: int
    infeasible: int
    failed: int
    waiting: int
    running: int
    done_here: int
    seconds_left: float | None
    """At the pace of the last runs; None: too few have ended yet."""

    @property
    def total(self) -> int:
        """Runs of the plan."""
        return self.finished + self.infeasible + self.failed + self.waiting


def do_missing(
    store: Store,
    workers: Workers,
    *,
    max_attempts: int = 3,
    on_progress: Callable[[CampaignProgress], None] | None = None,
) -> CampaignProgress:
    """Run all runs of the plan that are not done. Returns when none is left, here or elsewhere.

    A run that fails is repeated, at most ``max_attempts`` times in all, then recorded as failed.

    Raises:
        ResultError: if the store cannot be written. Finished runs stay.
    """
    return _Loop(store, workers, max_attempts, on_progress).run()


class _Loop:
    def __init__(
        self,
        store: Store,
        workers: Workers,
        max_attempts: int,
        on_progress: Callable[[CampaignProgress], None] | None,
    ) -> None:
        self._store, self._workers = store, workers
        self._max_attempts = max_attempts
        self._on_progress = on_progress
        self._queue: list[RunTask] = []
        self._tasks: dict[str, RunTask] = {}
        self._ends: deque[float] = deque(maxlen=RECENT)
        self._done_here = 0
        self._report_at = 0.0

    def run(self) -> CampaignProgress:
        self._store.begin_work()
        while True:
            self._fill()
            if not self._queue and not self._tasks:
                if self._store.waiting() == 0:
                    break
                # Another process has claimed the remaining runs, or those that they wait for.
                time.sleep(PATIENCE_S)
                continue
            for ended in self._workers.wait(PATIENCE_S):
                # The worker first: it need not wait while the disk does.
                self._submit()
                self._take(ended)
            self._report()
        progress = self._progress()
        if self._on_progress is not None:
            self._on_progress(progress)
        return progress

    def _fill(self) -> None:
        slots = max(1, self._workers.slots)
        if len(self._queue) < slots:
            self._queue += self._store.claim(CLAIMED_AHEAD * slots - len(self._queue))
        self._submit()

    def _submit(self) -> None:
        while self._queue and self._workers.running < self._workers.slots:
            task = self._queue.pop(self._workers.preferred(self._queue))
            self._tasks[task.hash] = task
            self._workers.submit(task)

    def _take(self, ended: RunFinished) -> None:
        task = self._tasks.pop(ended.hash)
        if ended.outcome is not None:
            self._store.record(ended.hash, ended.outcome)
        elif not self._store.record_failure(
            ended.hash, ended.error, max_attempts=self._max_attempts
        ):
            self._queue.append(task)
            return
        self._done_here += 1
        self._ends.append(time.monotonic())

    def _report(self) -> None:
        """Report progress at intervals, since counting a million runs takes a while."""
        began = time.monotonic()
        if self._on_progress is not None and began >= self._report_at:
            self._on_progress(self._progress())
            ended = time.monotonic()
            self._report_at = ended + max(PATIENCE_S, 50 * (ended - began))

    def _progress(self) -> CampaignProgress:
        counts = {status: count for status, (count, _) in self._store.counts().items()}
        waiting = counts[RunStatus.WAITING]
        left = None
        if len(self._ends) > 1:
            left = waiting * (time.monotonic() - self._ends[0]) / (len(self._ends) - 1)
        return CampaignProgress(
            finished=counts[RunStatus.FINISHED],
            infeasible=counts[RunStatus.INFEASIBLE],
            failed=counts[RunStatus.FAILED],
            waiting=waiting,
            running=self._workers.running,
            done_here=self._done_here,
            seconds_left=left,
        )
