"""Input and output of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs

Row = tuple[int, ...]


class RunStatus(Enum):
    """How a run stands in the store."""

    WAITING = "waiting"
    FINISHED = "finished"
    INFEASIBLE = "infeasible"
    """Finished, too: no design point found meets all constraints."""
    FAILED = "failed"


DONE = (RunStatus.FINISHED, RunStatus.INFEASIBLE)


@dataclass(frozen=True)
class RunTask:
    """One run to do. ``start``: rows of the front to begin with."""

    hash: str
    inputs: RunInputs
    start: tuple[Row, ...] | None = None


@dataclass(frozen=True)
class BaselineFigures:
    """Figures of another method on the same problem."""

    name: str
    objectives: Row
    keeps_constraints: bool


@dataclass(frozen=True)
class FrontFigures:
    """The numbers of a front: ``names`` as in ``front.json``, ``objectives`` one row a member, all
    minimised, and ``rows``: units and operating points of the members."""

    names: tuple[str, ...]
    objectives: tuple[Row, ...]
    rows: tuple[Row, ...]
    baselines: tuple[BaselineFigures, ...] = ()


@dataclass(frozen=True)
class RunOutcome:
    """Outcome of a run. Equal inputs give equal outcomes except for the seconds.

    ``problem``: compressed ``problem.json``, which runs share. ``pack``: the kept files, as one ZIP
    archive. ``message``: reason if there is no front.
    """

    status: RunStatus
    message: str = ""
    figures: FrontFigures | None = None
    evaluations: int = 0
    problem_sha256: str | None = None
    problem: bytes | None = None
    pack: bytes | None = None
    seconds: float = 0.0
    """From the task to the outcome."""
    cpu_seconds: float = 0.0
    search_cpu_seconds: float = 0.0
    """Of these: in the exploration itself, without building the problem and packing the result."""


RunFunction = Callable[[RunTask], RunOutcome]
"""Something that a worker process can import by its name."""
