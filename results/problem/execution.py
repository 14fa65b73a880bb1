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

from paretosoc.common.documents.marks import Positive

MAX_BATCH = 1000
"""Images that a network computes at once."""
MAX_TOLERANCE_PERMILLE = 10_000
GROUP, ENGINE, SHARED = DISPATCHES = ("group", "engine", "shared")
"""The ways in which a unit takes its work, see docs/concepts/model.md."""


class ChannelUse(Enum):
    """The channels that the closed form counts."""

    BETWEEN_UNITS = "between-units"
    """The channels between units, as the text beside Tang's Eq. 7 has it."""
    ALL = "all"
    """Every channel, as Eq. 7 is printed."""


class IdleTime(Enum):
    """The time T over which a frame of the closed form draws idle power. Values are the names on
    the command line."""

    PERIOD = "period"
    """The largest load of a unit: one frame leaves the pipeline in each."""
    SUM_OF_LOADS = "sum-of-loads"
    """The loads of all units added up, as Tang's Eq. 12 has it."""


class SearchedOrder(Enum):
    """Whose priorities the search chooses. Values are the names on the command line."""

    NETWORKS = "networks"
    """Each network has one."""
    GROUPS = "groups"
    """Each group has one, so that two networks take turns in another order on each unit."""


@dataclass(frozen=True)
class OneFrame:
    """One frame alone. Idle power is drawn over its makespan."""

    model: ClassVar[str] = "frame"
    words: ClassVar[str] = "one frame alone"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: ClassVar[None] = None


@dataclass(frozen=True)
class Periodic:
    """A frame in every period. Idle power is drawn over the period."""

    model: ClassVar[str] = "periodic"
    words: ClassVar[str] = "a frame in every period"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: Positive
    """Constraint: the makespan must not exceed it."""


@dataclass(frozen=True)
class Rates:
    """Networks with rates of their own. Every network is a stream whose frame k, from 0, is
    released at k * period_ps, but no execution of it is ready before frame k - 1 has ended. In a
    frame a paced network is released repeats times, any other once. A response is the end of a
    release less the instant of it. If one frame of every network simulated alone ends by period_ps,
    the window is from 0 to period_ps of that. Otherwise it is that of the long run with F = 1, from
    a state to its recurrence. If no state has recurred by 32 * period_ps, the constraint that it
    recurs is broken, and that one frame stands for it. Energy of a period is the idle power times
    period_ps, plus over the processors the dynamic energy in the window / its periods, rounded down
    for each processor with all its number formats."""

    model: ClassVar[str] = "rates"
    words: ClassVar[str] = "networks with rates of their own"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = False
    period_ps: Positive
    """From frame to frame."""


@dataclass(frozen=True)
class Pipeline:
    """Frames that never run out. Throughput is one over the frame period in the long run."""

    model: ClassVar[str] = "pipeline"
    words: ClassVar[str] = "a pipeline"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    frames_in_flight: Positive
    """Most frames under way at one time."""


@dataclass(frozen=True)
class ClosedForm:
    """A pipeline in the closed form of Tang et al.: the load of a unit is the sum of t over all
    repeats of its groups, plus repeats times its time on channels (see units.channels): for each
    edge that counts, the source's unit writes its tokens and the target's reads them. The frame
    period is the largest load. The energy of a frame is the idle power times T, plus dynamic_mw
    times t over all repeats of each group, plus channels.busy_mw times the time that each unit
    spends on channels."""

    model: ClassVar[str] = "closed-form"
    words: ClassVar[str] = "a pipeline in closed form"
    has_frame: ClassVar[bool] = True
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    channels: ChannelUse
    """The edges that count: those whose ends are on different units, or all."""
    idle_time: IdleTime
    """T: the largest load of a unit, or the loads of all units added up (Eq. 12 of Tang et al.)."""


@dataclass(frozen=True)
class FreeRunning:
    """Every network is a stream of its own: there is no common frame, and frames count from 1
    within each network. A network's rate is 10^18 / its frame period in ps, rounded down, in uHz.
    Its time alone is the least, over the units and over all operating points of each unit's clocks,
    allowed or not, of the sum of t over all repeats of its groups. A group that the unit cannot run
    counts with its smallest t on any unit. Its relative rate is 10^6 times its time alone / its
    frame period, rounded down, at most 2^63 - 1, in ppm. waits_for is empty, arrival_ps 0,
    deadline_ps null, and no objective is of one frame (latency, inverse-latency, stretch). Only
    here fairness is an objective."""

    model: ClassVar[str] = "free-running"
    words: ClassVar[str] = "free-running networks"
    has_frame: ClassVar[bool] = False
    frames_overlap: ClassVar[bool] = True
    period_ps: ClassVar[None] = None
    frames_in_flight: Positive
    """Most frames of each network under way at one time."""


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
