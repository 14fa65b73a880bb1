"""The loop that runs all missing runs of a store, with any workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

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


@dataclass
class _Loop:
    store: Store
    workers: Workers
    max_attempts: int
    on_progress: Callable[[CampaignProgress], None] | None
    queue: list[RunTask] = field(default_factory=list)
    tasks: dict[str, RunTask] = field(default_factory=dict)
    ends: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    done_here: int = 0
    report_at: float = 0.0

    def run(self) -> CampaignProgress:
        self.store.begin_work()
        while True:
            slots = max(1, self.workers.slots)
            if len(self.queue) < slots:
                self.queue += self.store.claim(CLAIMED_AHEAD * slots - len(self.queue))
            self._submit()
            if not self.queue and not self.tasks:
                if self.store.waiting() == 0:
                    break
                # Another process has claimed the remaining runs, or those that they wait for.
                time.sleep(PATIENCE_S)
                continue
            for ended in self.workers.wait(PATIENCE_S):
                # The worker first: it need not wait while the disk does.
                self._submit()
                self._take(ended)
            self._report()
        progress = self._progress()
        if self.on_progress is not None:
            self.on_progress(progress)
        return progress

    def _submit(self) -> None:
        while self.queue and self.workers.running < self.workers.slots:
            task = self.queue.pop(self.workers.preferred(self.queue))
            self.tasks[task.hash] = task
            self.workers.submit(task)

    def _take(self, ended: RunFinished) -> None:
        task = self.tasks.pop(ended.hash)
        if ended.outcome is not None:
            self.store.record(ended.hash, ended.outcome)
        elif not self.store.record_failure(ended.hash, ended.error, max_attempts=self.max_attempts):
            self.queue.append(task)
            return
        self.done_here += 1
        self.ends.append(time.monotonic())

    def _report(self) -> None:
        """Report progress at intervals, since counting a million runs takes a while."""
        began = time.monotonic()
        if self.on_progress is not None and began >= self.report_at:
            self.on_progress(self._progress())
            ended = time.monotonic()
            self.report_at = ended + max(PATIENCE_S, 50 * (ended - began))

    def _progress(self) -> CampaignProgress:
        counts = {status: count for status, (count, _) in self.store.counts().items()}
        waiting = counts[RunStatus.WAITING]
        left = None
        if len(self.ends) > 1:
            left = waiting * (time.monotonic() - self.ends[0]) / (len(self.ends) - 1)
        return CampaignProgress(
            finished=counts[RunStatus.FINISHED],
            infeasible=counts[RunStatus.INFEASIBLE],
            failed=counts[RunStatus.FAILED],
            waiting=waiting,
            running=self.workers.running,
            done_here=self.done_here,
            seconds_left=left,
        )
