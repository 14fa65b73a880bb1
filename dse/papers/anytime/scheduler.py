"""D-HaX-CoNN (HaX-CoNN, 3.5 and 5.3): an anytime scheduler for workloads that change.

A runtime submits a workload whenever it changes, and fetches the best schedule whenever it starts
a frame. In between a thread looks for better ones, until none can be better.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from paretosoc.dse.certificate.improve import (
    Clock,
    FinalSchedule,
    Published,
    improve,
    naive_schedule,
)
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.fitness.warm_up import warm_up
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.front.certificate import Certificate
from paretosoc.results.problem.problem import Problem


class AnytimeScheduler:
    """Schedules for the workload that was submitted last. All methods may be called by any thread.

    :meth:`submit` returns with the best naive schedule ready. Better ones replace it as the search,
    in a separate thread, finds them. The proof comes last. A new workload ends the search for the
    one before it.

    Args:
        options: objectives (the first of ``latency`` and ``inverse-latency`` counts), units,
            grouping, limits; by default the makespan alone.
        budget_s: of the search, for each workload. If it runs out, the proof has a gap.
        max_nodes: of the search, for each workload, on any machine alike.
        clock: seconds, never falling.
        on_publish: called by the searching thread (the first time for a workload by the one that
            submits it) with each schedule that is published. It must not call the scheduler.
    """

    def __init__(
        self,
        platform: str | Platform,
        *,
        options: Options | None = None,
        profile: Profile | None = None,
        budget_s: float | None = None,
        max_nodes: int | None = None,
        clock: Clock = time.monotonic,
        on_publish: Callable[[Published], None] | None = None,
    ) -> None:
        self._platform = load_platform(platform) if isinstance(platform, str) else platform
        self._options = options or Options(objectives=("latency",))
        self._profile = profile
        self._budget_s = budget_s
        self._max_nodes = max_nodes
        self._clock = clock
        self._on_publish = on_publish
        self._prepared: dict[Workload, Problem] = {}
        self._changed = threading.Condition()
        self._cancelled: threading.Event | None = None
        """Ends the present workload's search. None before the first workload."""
        self._best: Published | None = None
        self._ended: FinalSchedule | None = None
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def prepare(self, workload: Workload) -> Problem:
        """Make groups and costs of a workload, and load compiled code, so that :meth:`submit` has
        nothing to do but to schedule.

        Raises:
            GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used.
        """
        with self._changed:
            problem = self._prepared.get(workload)
        if problem is None:
            warm_up()
            problem = build_problem(
                workload, self._platform, self._options, profile=self._profile
            ).problem
            with self._changed:
                self._prepared[workload] = problem
        return problem

    def submit(self, workload: Workload) -> None:
        """Change to a workload, and end the search for the one before it.

        Raises:
            GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used. The
                scheduler stays with the workload before it.
        """
        problem = self.prepare(workload)
        first = naive_schedule(problem, clock=self._clock)
        cancelled = threading.Event()
        steps = improve(
            problem,
            first,
            max_nodes=self._max_nodes,
            time_limit_s=self._budget_s,
            clock=self._clock,
            stopped=cancelled.is_set,
        )
        with self._changed:
            if self._cancelled is not None:
                self._cancelled.set()
            self._cancelled = cancelled
            self._best, self._ended, self._failure = None, None, None
            if first is not None:
                self._take(first)
            self._thread = threading.Thread(
                target=self._run, args=(cancelled, steps), name="anytime scheduler", daemon=True
            )
            self._thread.start()

    def best(self) -> Published | None:
        """Return the best schedule so far, or None if none is known that keeps all constraints.

        Raises:
            RuntimeError: if no workload was submitted, or the search has failed.
        """
        with self._changed:
            self._check()
            return self._best

    def certificate(self) -> Certificate | None:
        """Return the proof about :meth:`best` once the search has ended, None before that.

        Raises:
            RuntimeError: as :meth:`best`.
        """
        with self._changed:
            self._check()
            return None if self._ended is None else self._ended.certificate

    def wait(self, timeout_s: float | None = None) -> FinalSchedule | None:
        """Wait for the end of the search for the present workload. Return None if it has not come.

        Raises:
            RuntimeError: as :meth:`best`.
        """
        with self._changed:
            self._check()
            self._changed.wait_for(lambda: self._ended or self._failure, timeout_s)
            self._check()
            return self._ended

    def close(self) -> None:
        """End the search, and wait for its thread. The best schedule stays."""
        with self._changed:
            if self._cancelled is not None:
                self._cancelled.set()
            thread = self._thread
        if thread is not None:
            thread.join()

    def __enter__(self) -> AnytimeScheduler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        if self._cancelled is None:
            raise RuntimeError("no workload was submitted")
        if self._failure is not None:
            raise RuntimeError("the search has failed") from self._failure

    def _take(self, step: Published | FinalSchedule) -> None:
        """Take in a step of the present workload. The caller holds the lock."""
        if isinstance(step, Published):
            self._best = step
            if self._on_publish is not None:
                self._on_publish(step)
        else:
            self._ended = step
        self._changed.notify_all()

    def _run(self, cancelled: threading.Event, steps: Iterator[Published | FinalSchedule]) -> None:
        try:
            for step in steps:
                with self._changed:
                    if self._cancelled is not cancelled:
                        return
                    self._take(step)
        except Exception as error:  # A thread's failure is raised by the next call.
            with self._changed:
                if self._cancelled is cancelled:
                    self._failure = error
                    self._changed.notify_all()
