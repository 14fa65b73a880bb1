"""Planning of a campaign's runs, an estimate of their time, and the loop that runs all that are
missing, with any workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paretosoc.dse.tools.campaign.execute.workers import RunFinished, Workers, attempt
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.plan import PlanSize
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.run import RunStatus, RunTask
from paretosoc.dse.tools.campaign.store.store import Store

PROBED_RUNS = 3
PROBED_EVALUATIONS = 1_000, 3_000


@dataclass(frozen=True)
class Probe:
    """Estimated time of the runs of a plan, from short ones of a few of them.

    ``core_seconds``: of all runs, one after the other, or None if no short one ended well.
    """

    runs: int
    seconds: float
    core_seconds: float | None
    errors: tuple[str, ...]


def plan_store(path: Path, folder: Path) -> Store:
    """Return the store in ``folder``, made if there is none, with the runs of a campaign file.

    Raises:
        WorkloadError, PlatformError, ResultError, OSError: as :func:`load_plan` and the store.
    """
    plan = load_plan(path)
    inputs = inputs_of(plan, program_identity())
    store = Store(folder, create=True)
    store.set_plan(plan.runs, inputs, plan.title)
    return store


def probe(size: PlanSize, inputs: Sequence[RunInputs]) -> Probe:
    """Run a few of the plan's runs short, twice each. The difference of the two gives the pace of
    the search. The rest is spent once per run, and once per problem on building it.

    A proof is not probed.
    """
    from paretosoc.dse.tools.campaign.execute.exploration import explore_run

    every = max(1, len(inputs) // PROBED_RUNS)
    samples = inputs[every // 2 :: every][:PROBED_RUNS]
    first: list[float] = []
    again: list[float] = []
    pace: list[float] = []
    spent = 0.0
    errors = []
    # Once for nothing: the first run of a process loads libraries and machine code.
    attempt(explore_run, _short(inputs[0], PROBED_EVALUATIONS[0]))
    for entry in samples:
        seconds = []
        for evaluations in (PROBED_EVALUATIONS[0], *PROBED_EVALUATIONS):
            ended = attempt(explore_run, _short(entry, evaluations))
            if ended.outcome is None:
                errors.append(ended.error)
                break
            seconds.append((ended.outcome.seconds, ended.outcome.evaluations))
            spent += ended.outcome.seconds
        else:
            (build, _), short, longer = seconds
            first.append(max(0.0, build - short[0]))
            once, each = once_and_each(short, longer)
            again.append(once)
            pace.append(each)
    if not pace:
        return Probe(len(samples), spent, None, tuple(errors))
    mean = [sum(values) / len(values) for values in (first, again, pace)]
    total = mean[0] * size.problems + mean[1] * size.runs + mean[2] * size.evaluations
    return Probe(len(samples), spent, total, tuple(errors))


def once_and_each(short: tuple[float, int], longer: tuple[float, int]) -> tuple[float, float]:
    """Return the seconds that a run takes once, and for each evaluation, from two runs of one
    problem, in seconds and evaluations.

    If the longer one made no more evaluations, because none were left or allowed, the two differ by
    chance alone. Their time then counts once, with no pace.
    """
    more = longer[1] - short[1]
    if more <= 0:
        return min(short[0], longer[0]), 0.0
    each = max(0.0, longer[0] - short[0]) / more
    return max(0.0, short[0] - short[1] * each), each


def _short(inputs: RunInputs, evaluations: int) -> RunTask:
    settings = replace(
        inputs.settings,
        max_evaluations=min(evaluations, inputs.settings.max_evaluations),
        prove=False,
    )
    entry = replace(inputs, settings=settings, starts_from=None)
    return RunTask(entry.hash, entry)


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
