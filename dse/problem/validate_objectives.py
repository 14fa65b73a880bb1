"""Which options go with which objectives; what has no meaning is refused, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from dse.errors import WorkloadError
from dse.workload.options import Options
from dse.workload.workload import Workload
from dse.workload.workload_check import MAX_FRAMES_IN_FLIGHT
from results.problem.pipeline_model import PipelineTime, ThroughputModel
from results.problem.problem import Objective, ObjectiveKind
from results.problem.problem_check import OF_A_FRAME


def check_throughput_model(options: Options, objectives: Sequence[Objective]) -> None:
    """Accepts a closed form only for throughput, and its kind of period only with one.

    Raises:
        WorkloadError: otherwise.
    """
    if options.throughput_model is ThroughputModel.TIMELINE:
        if options.pipeline_time is not PipelineTime.PERIOD:
            raise WorkloadError(
                f"--pipeline-time {options.pipeline_time.value} needs an analytic "
                "--throughput-model, got timeline"
            )
    elif not any(objective.kind is ObjectiveKind.THROUGHPUT for objective in objectives):
        raise WorkloadError(
            f"--throughput-model {options.throughput_model.value} needs the objective throughput, "
            f"got {', '.join(options.objectives)}"
        )


def check_frames_in_flight(
    options: Options, objectives: Sequence[Objective], *, free_running: bool
) -> None:
    """Accepts a number of frames in flight only where frames overlap.

    Raises:
        WorkloadError: otherwise.
    """
    if options.frames_in_flight is None:
        return
    if not 1 <= options.frames_in_flight <= MAX_FRAMES_IN_FLIGHT:
        raise WorkloadError(
            f"--frames-in-flight: from 1 to {MAX_FRAMES_IN_FLIGHT} is required, got "
            f"{options.frames_in_flight}"
        )
    pipeline = any(objective.kind is ObjectiveKind.THROUGHPUT for objective in objectives)
    if not (pipeline or free_running) or options.throughput_model is not ThroughputModel.TIMELINE:
        raise WorkloadError(
            f"--frames-in-flight {options.frames_in_flight}: the objective throughput, on the "
            "timeline, or --free-running is required"
        )


def check_rates(
    workload: Workload,
    options: Options,
    objectives: Sequence[Objective],
    *,
    free_running: bool,
) -> None:
    """Accepts least rates and fairness only where every network has a rate of its own.

    Raises:
        WorkloadError: otherwise.
    """
    if free_running:
        return
    asked = [f"min_rate_hz (of {n.name!r})" for n in workload.networks if n.min_rate_hz is not None]
    if options.min_rates_hz:
        asked.append("--min-rate")
    if any(objective.kind is ObjectiveKind.FAIRNESS for objective in objectives):
        asked.append("the objective fairness")
    if asked:
        raise WorkloadError(
            f"{asked[0]}: --free-running is required; in a common frame all networks have one rate "
            "(--fps and --deadline limit that)"
        )


def check_free_running(
    workload: Workload, options: Options, objectives: Sequence[Objective]
) -> None:
    """Accepts what means something without a common frame.

    Raises:
        WorkloadError: otherwise.
    """

    def refuse(what: str, why: str) -> WorkloadError:
        return WorkloadError(f"free-running networks and {what} exclude each other: {why}")

    for objective, text in zip(objectives, options.objectives, strict=True):
        if objective.kind in OF_A_FRAME:
            raise refuse(
                f"the objective {text}",
                "there is no common frame (throughput, fairness, power, efficiency and energy are "
                "possible)",
            )
    for network in workload.networks:
        if network.waits_for:
            raise refuse(
                f"waits_for ({network.name!r} waits for {network.waits_for[0]!r})",
                "every network is a stream of its own",
            )
        if network.arrival_ms:
            raise refuse(f"arrival_ms (of {network.name!r})", "there is no common frame")
        if network.deadline_ms is not None:
            raise refuse(f"deadline_ms (of {network.name!r})", "there is no common frame")
    if options.deadlines_ms:
        raise refuse("--deadline", "there is no common frame")
    if options.frames_per_second is not None or workload.frames_per_second is not None:
        raise refuse("a frame rate (--fps)", "a network begins a frame when one of its own ends")
    if options.throughput_model is not ThroughputModel.TIMELINE:
        raise refuse(
            f"--throughput-model {options.throughput_model.value}", "they need the timeline"
        )
