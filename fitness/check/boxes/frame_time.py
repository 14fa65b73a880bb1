"""The time that inequalities are about: the makespan of a frame, or a pipeline's period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import ClosedForm, FreeRunning, Pipeline
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

BEGINS_AFTER, ENDS_AFTER = 2048, 8192
"""Executions that have ended at least as a window begins, and as it ends."""
OF_A_FRAME = frozenset(
    {ObjectiveKind.LATENCY, ObjectiveKind.GUARANTEED_LATENCY, ObjectiveKind.INVERSE_LATENCY}
)
"""Objectives of one frame alone, whatever follows it. A guaranteed latency is never below the
nominal one, so bounds on this one hold for it."""


@dataclass(frozen=True)
class FrameTime:
    """The numbers of frames of a window that a bound may count.

    At least ``executed`` frames of every group are executed in it, and at most ``counted`` frames
    of every unit's load, from which the period is computed. If the window recurs, both are equal.
    """

    is_period: bool = False
    """Whether this is the time from frame to frame in the long run, or the makespan of one
    frame."""
    executed: int = 1
    counted: int = 1
    in_flight: int | None = 1
    """Frames under way at a time. None: a period has no room for paths."""
    of_streams: bool = False
    """Whether every network has frames of its own, so that the period is that of their mean
    rate."""


def frame_time(problem: Problem, columns: Sequence[int]) -> FrameTime:
    """Return the window that the inequalities of a claim are about.

    Args:
        columns: positions of the objectives that count.

    Raises:
        ResultError: if so many frames are in flight that a window may have no complete one.
    """
    execution = problem.execution
    limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
    if not execution.frames_overlap or (
        execution.has_frame
        and not limited
        and all(problem.objectives[c].kind in OF_A_FRAME for c in columns)
    ):
        return FrameTime()
    if isinstance(execution, ClosedForm):
        return FrameTime(is_period=True, in_flight=None)
    if isinstance(execution, FreeRunning):
        return FrameTime(is_period=True, in_flight=execution.frames_in_flight, of_streams=True)
    assert isinstance(execution, Pipeline), "others have a frame that is alone"
    in_flight = execution.frames_in_flight
    frames = fewest_frames(problem, in_flight)
    if frames < in_flight:
        raise ResultError(f"no bound over boxes is known with {in_flight} frames in flight")
    return FrameTime(True, frames - in_flight + 1, frames + in_flight - 1, in_flight)


def fewest_frames(problem: Problem, in_flight: int) -> int:
    """Return the least number of frames that end in a window in which nothing recurs.

    When k frames have ended, the executions of between k and k + F - 1 frames have ended. The round
    before was over at most as many frames earlier as can end at one instant.
    """
    executions = sum(network.repeats * len(network.groups) for network in problem.networks)
    at_once = min(in_flight, len(set(problem.unit_of)))
    begins = max(in_flight + 1, (BEGINS_AFTER - 1) // executions) + at_once
    ends = max(2 * in_flight + 8, -(-ENDS_AFTER // executions) - in_flight + 1)
    return max(1, ends - begins)
