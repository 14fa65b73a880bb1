"""The sequence of frames: the part that is simulated, and the time over which energy is counted.

A closed set of models, with these attributes:

* ``model``: its name in ``problem.json``.
* ``words``: its name for people.
* ``has_frame``: whether all networks share a frame, which has a makespan, latencies and deadlines.
* ``frames_overlap``: whether a frame begins before the one ahead has ended, so that there is a
  throughput that is not one over the makespan.
* ``period_ps``: the time from frame to frame, if it is given.

:mod:`fitness.execution` says which figures can be computed and proved under each. There are no
arrays here, since the command line needs the names before anything heavy is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, get_args


class ChannelUse(Enum):
    """Which channels the closed form counts."""

    BETWEEN_UNITS = "between-units"
    """Those between units, as the text beside Tang's Eq. 7 has it."""
    ALL = "all"
    """Every channel, as Eq. 7 is printed."""


class IdleTime(Enum):
    """The time T over which a frame of the closed form draws idle power. Values are the names on
    the command line."""

    PERIOD = "period"
    """The largest load of a unit: one frame leaves the pipeline in each."""
    SUM_OF_LOADS = "sum-of-loads"
    """The loads of all units added up, as Tang's Eq. 12 has it."""


@dataclass(frozen=True)
class OneFrame:
    """One frame alone. It draws idle power until it has ended."""

    model: ClassVar[str] = "frame"
    words: ClassVar[str] = "one frame alone"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: ClassVar[None] = None


@dataclass(frozen=True)
class Periodic:
    """A frame in every period, within which it must end. It draws idle power for the whole
    period."""

    model: ClassVar[str] = "periodic"
    words: ClassVar[str] = "a frame in every period"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: int


@dataclass(frozen=True)
class Rates:
    """Networks with rates of their own. Each is released evenly over the period of all, or once in
    it, for ever. The run is simulated until the state recurs. Idle power is drawn all the time."""

    model: ClassVar[str] = "rates"
    words: ClassVar[str] = "networks with rates of their own"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: int


@dataclass(frozen=True)
class Pipeline:
    """Frames that never run out, at most ``frames_in_flight`` at a time, in the long run
    (:mod:`fitness.simulate_long_run`)."""

    model: ClassVar[str] = "pipeline"
    words: ClassVar[str] = "a pipeline"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    frames_in_flight: int


@dataclass(frozen=True)
class ClosedForm:
    """A pipeline whose throughput is 1 / (largest load of a unit), Tang Eq. 1-13."""

    model: ClassVar[str] = "closed-form"
    words: ClassVar[str] = "a pipeline in closed form"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    channels: ChannelUse
    idle_time: IdleTime


@dataclass(frozen=True)
class FreeRunning:
    """No common frame: every network is a stream of frames of its own, at most
    ``frames_in_flight`` of each at a time, in the long run."""

    model: ClassVar[str] = "free-running"
    words: ClassVar[str] = "free-running networks"
    has_frame: ClassVar[bool] = False
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    frames_in_flight: int


LongRun = Pipeline | FreeRunning
"""Models that are simulated in the long run."""
ExecutionModel = OneFrame | Periodic | Rates | LongRun | ClosedForm
EXECUTION_MODELS: tuple[type[ExecutionModel], ...] = get_args(ExecutionModel)


def frames_in_flight(execution: ExecutionModel) -> int:
    """Return the number of frames under way at a time, of every stream of a long run.

    Raises:
        ValueError: under a model that is not simulated in the long run.
    """
    if not isinstance(execution, LongRun):
        raise ValueError(f"pipeline or free-running is required, got {execution.model}")
    return execution.frames_in_flight
