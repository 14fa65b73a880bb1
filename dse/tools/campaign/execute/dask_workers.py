"""Workers of a Dask cluster."""

from __future__ import annotations

import queue
import time
from concurrent.futures import CancelledError
from typing import Any

from paretosoc.dse.tools.campaign.execute.workers import RunFinished, Workers, error_text
from paretosoc.dse.tools.campaign.store.run import RunFunction, RunOutcome, RunTask
from paretosoc.dse.tools.dask_cluster import ASK_SECONDS, connect
from paretosoc.results.errors import ResultError

AHEAD = 2
"""Runs given for each of the cluster's threads: the next one is there when one ends."""


class DaskWorkers(Workers):
    """An existing cluster, given by the address of its scheduler.

    The scheduler gives the runs of a worker that dies to others. The runs of all others continue.
    """

    def __init__(self, function: RunFunction, address: str) -> None:
        """Connect to the scheduler.

        Raises:
            ResultError: if ``distributed`` is not installed, or no scheduler answers.
        """
        self._client: Any = connect(address)
        self._function = function
        self._futures: dict[str, Any] = {}
        self._ended: queue.Queue[str] = queue.Queue()
        self._address = address
        self._threads = 0
        self._asked = -ASK_SECONDS

    @property
    def slots(self) -> int:
        """Return the number of runs at a time, which grows and shrinks with the cluster.

        Raises:
            ResultError: if the scheduler has gone.
        """
        if time.monotonic() - self._asked >= ASK_SECONDS:
            if self._client.status != "running":
                raise ResultError(f"--dask {self._address}: the scheduler has gone")
            self._threads = sum(self._client.ncores().values())
            self._asked = time.monotonic()
        return AHEAD * self._threads

    @property
    def running(self) -> int:
        """Runs given and not given back."""
        return len(self._futures)

    def submit(self, task: RunTask) -> None:
        """Give the run to the cluster, in the order of submission."""
        # pure=False: the same run may come again after it has failed.
        future = self._client.submit(
            self._function, task, pure=False, key=f"run-{task.hash[:16]}-{id(task):x}"
        )
        self._futures[task.hash] = future
        future.add_done_callback(lambda _: self._ended.put(task.hash))

    def wait(self, seconds: float) -> list[RunFinished]:
        """Return the runs that have ended."""
        ended = []
        try:
            ended.append(self._taken(self._ended.get(timeout=max(seconds, 0.001))))
            while True:
                ended.append(self._taken(self._ended.get_nowait()))
        except queue.Empty:
            return ended

    def close(self) -> None:
        """Cancel the unfinished runs and leave the cluster."""
        self._client.cancel(list(self._futures.values()), force=True)
        self._client.close()

    def _taken(self, run_hash: str) -> RunFinished:
        future = self._futures.pop(run_hash)
        try:
            outcome: RunOutcome = future.result()
        except CancelledError:
            # Nobody but a scheduler that ends does that.
            raise ResultError(f"--dask {self._address}: the scheduler has gone") from None
        except Exception as error:
            return RunFinished(run_hash, error=error_text(error))
        return RunFinished(run_hash, outcome)
