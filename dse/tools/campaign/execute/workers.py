"""Places where runs are executed: this process, or processes beside it.

Each process on this machine has a pipe of its own, so one that dies takes only its own run along.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from multiprocessing import util
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from paretosoc.common.errors import DseError
from paretosoc.common.processes import end_with_parent
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.tools.campaign.plan.settings import problem_key
from paretosoc.dse.tools.campaign.store.run import RunFunction, RunOutcome, RunTask


@dataclass(frozen=True)
class RunFinished:
    """A run that a worker has returned, with an outcome or an error."""

    hash: str
    outcome: RunOutcome | None = None
    error: str = ""


class Workers(Protocol):
    """Workers take runs and give each back once, however it ended."""

    @property
    def slots(self) -> int:
        """Runs that can be at work at a time."""
        ...

    @property
    def running(self) -> int:
        """Runs that are."""
        ...

    def submit(self, task: RunTask) -> None:
        """Accept a run. Call it only if fewer than ``slots`` are at work."""
        ...

    def preferred(self, tasks: list[RunTask]) -> int:
        """Return the task to run next: the one whose problem a free worker remembers, or the first
        if it is not known who remembers what."""
        return 0

    def wait(self, seconds: float) -> list[RunFinished]:
        """Return runs that have ended. Waits up to the given time for the first one."""
        ...

    def close(self) -> None:
        """End the workers, and whatever they are at."""
        return


class SameProcess(Workers):
    """Runs done here, one after the other: for tests and for the probe."""

    slots = 1

    def __init__(self, function: RunFunction) -> None:
        self._function = function
        self._ended: list[RunFinished] = []

    @property
    def running(self) -> int:
        """Runs that are not given back yet."""
        return len(self._ended)

    def submit(self, task: RunTask) -> None:
        """Run it at once."""
        self._ended.append(attempt(self._function, task))

    def wait(self, seconds: float) -> list[RunFinished]:
        """Return the runs done since the last call."""
        if not self._ended:
            time.sleep(seconds)
        ended, self._ended = self._ended, []
        return ended


def attempt(function: RunFunction, task: RunTask) -> RunFinished:
    """Return the run, and any error as text: one line for input that cannot be used, else with its
    place in the program."""
    try:
        return RunFinished(task.hash, function(task))
    except (DseError, ValueError, OSError) as error:
        return RunFinished(task.hash, error=error_text(error))
    except Exception:
        return RunFinished(task.hash, error=traceback.format_exc(limit=-6).strip())


def error_text(error: Exception) -> str:
    """Return an error as one line, with its type unless it is about the input."""
    return str(error) if isinstance(error, DseError) else f"{type(error).__name__}: {error}"


_ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: RunTask | None = None
    remembers: str = ""


class LocalWorkers:
    """``slots`` processes, started when they are first needed and again if one has died."""

    def __init__(self, function: RunFunction, slots: int) -> None:
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        if "forkserver" in methods:
            _own_temporary_folder()
            # Imported once; what the kernels need is then shared by all workers.
            self._context.set_forkserver_preload([function.__module__])
        self._function = function
        self.slots = slots
        self._workers: list[_Worker] = []
        self._before = {name: os.environ.get(name) for name in _ONE_THREAD}
        os.environ.update(_ONE_THREAD)

    @property
    def running(self) -> int:
        """Runs at work."""
        return sum(worker.task is not None for worker in self._workers)

    @property
    def process_ids(self) -> list[int]:
        """Return the identifiers of the existing processes."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def submit(self, task: RunTask) -> None:
        """Give the run to a free process, to one that remembers its problem if there is one."""
        key = problem_key(task.inputs.settings)
        free = [worker for worker in self._workers if worker.task is None]
        worker = next((one for one in free if one.remembers == key), None)
        if worker is None:
            worker = free[0] if free else self._start()
        worker.task, worker.remembers = task, key
        try:
            worker.pipe.send(task)
        except OSError:
            # It has died; wait() will find its pipe at an end.
            return

    def preferred(self, tasks: list[RunTask]) -> int:
        """Return the first task whose problem a free process remembers, else one whose problem no
        process has."""
        keys = [problem_key(task.inputs.settings) for task in tasks]
        free = {worker.remembers for worker in self._workers if worker.task is None}
        busy = {worker.remembers for worker in self._workers if worker.task is not None}
        for index, key in enumerate(keys):
            if key in free:
                return index
        return next((index for index, key in enumerate(keys) if key not in busy), 0)

    def wait(self, seconds: float) -> list[RunFinished]:
        """Return the runs that have ended, and those whose process died."""
        busy = {worker.pipe: worker for worker in self._workers if worker.task is not None}
        ended = []
        for pipe in wait(list(busy), seconds):
            assert isinstance(pipe, Connection)
            worker = busy[pipe]
            assert worker.task is not None
            try:
                result: RunFinished = pipe.recv()
            except (EOFError, OSError):
                worker.process.join()
                result = RunFinished(worker.task.hash, error=_cause(worker.process.exitcode))
                pipe.close()
                self._workers.remove(worker)
            worker.task = None
            ended.append(result)
        return ended

    def close(self) -> None:
        """Kill the processes. No result depends on their current work."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, self._function), daemon=True, name="campaign worker"
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker


@cache
def _own_temporary_folder() -> None:
    """Set the folder of multiprocessing's sockets to one that the next run removes if this one is
    killed. Multiprocessing chooses it for the life of the process when it is first asked."""
    stack = ExitStack()
    folder = stack.enter_context(temporary_folder())
    # After multiprocessing has removed its files there, which has the priority -100.
    util.Finalize(None, stack.close, exitpriority=-101)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        util.get_temp_dir()
    finally:
        tempfile.tempdir = before


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"the worker process was ended by signal {-exit_code}"
    return f"the worker process ended with status {exit_code}"


def _serve(pipe: Connection, function: RunFunction) -> None:
    """Serve runs from the pipe and send outcomes into it, until the other end is closed."""
    # Ctrl-C in a terminal is for the whole group: it must not end a search half-way.
    os.setpgrp()
    end_with_parent()
    while True:
        try:
            task: RunTask = pipe.recv()
            pipe.send(attempt(function, task))
        except (EOFError, OSError):
            return
