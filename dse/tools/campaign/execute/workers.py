"""Common interface of all places for runs: this process, processes beside it, or a cluster."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import Protocol

from paretosoc.common.errors import DseError
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
