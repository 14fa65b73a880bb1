"""Choice of the execution model from the user's options. Options without meaning in it are refused
by name."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.common.units import PS_PER_S
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.fields import Fits
from paretosoc.dse.workload.options import FIELDS, FILES, Options, ThroughputModel, as_written
from paretosoc.dse.workload.with_options import period_of_rates_s
from paretosoc.dse.workload.workload import MAX_FRAMES_IN_FLIGHT, Workload
from paretosoc.platforms.source import round_half_up
from paretosoc.results.problem.execution import (
    ChannelUse,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    IdleTime,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
    SearchedOrder,
)
from paretosoc.results.problem.objectives import Kind, Objective, ObjectiveKind

_NONE = Options()
_CHANNELS = {
    ThroughputModel.ANALYTIC: ChannelUse.BETWEEN_UNITS,
    ThroughputModel.ANALYTIC_ALL_CHANNELS: ChannelUse.ALL,
}


def choose_execution(
    workload: Workload, options: Options, objectives: Sequence[Objective]
) -> ExecutionModel:
    """Return the execution model: free-running networks if requested, a pipeline for throughput, a
    period with a frame rate, else one frame.

    Args:
        objectives: ``options.objectives``, parsed.

    Raises:
        WorkloadError: on an option or objective that means nothing under that model.
    """
    free_running = options.free_running or workload.free_running
    kinds = [part.kind for objective in objectives for part in objective.parts(workload.names)]
    throughput = ObjectiveKind.THROUGHPUT in kinds
    rate = options.frames_per_second or workload.frames_per_second
    own_period = period_of_rates_s(workload.networks)
    if own_period is not None and (free_running or throughput or rate is not None):
        raise WorkloadError(
            f"rate_hz (of networks) excludes frame rates ({as_written('frames_per_second')}), "
            "free-running networks and the objective throughput"
        )
    _check_closed_form(options, throughput=throughput)
    has_rates = own_period is not None
    check_objectives(options.objectives, objectives, free_running=free_running, has_rates=has_rates)
    _check_guarantee(workload, options, kinds)
    _check_options(options, free_running=free_running, has_rates=has_rates)
    if free_running:
        _check_free_running(workload, options)
    for network in workload.networks:
        if network.min_rate_hz is not None and not free_running:
            raise _needs_free_running(f"min_rate_hz (of {network.name!r})", has_rates=has_rates)
    if options.search_order is SearchedOrder.NETWORKS and len(workload.networks) < 2:
        raise WorkloadError(
            f"{as_written('search_order', SearchedOrder.NETWORKS.value)}: two networks or more are "
            "required, got 1"
        )
    overlap = throughput or free_running
    _check_frames_in_flight(options, overlap=overlap)
    frames = options.frames_in_flight or workload.frames_in_flight
    if free_running:
        return FreeRunning(frames)
    if throughput:
        if rate is not None:
            raise WorkloadError("a frame rate and the objective throughput exclude each other")
        if options.throughput_model is ThroughputModel.TIMELINE:
            return Pipeline(frames)
        if options.search_order is not None:
            raise WorkloadError(
                f"{as_written('search_order')} and a closed form exclude each other: nothing "
                "waits in it"
            )
        return ClosedForm(_CHANNELS[options.throughput_model], options.pipeline_time)
    if own_period is not None:
        return Rates(round_half_up(PS_PER_S * own_period))
    return OneFrame() if rate is None else Periodic(round_half_up(PS_PER_S / rate))


def check_objectives(
    texts: Sequence[str], objectives: Sequence[Objective], *, free_running: bool, has_rates: bool
) -> None:
    """Check that objectives have a meaning with, or without, a common frame and rates.

    Args:
        texts: the objectives as they were given.

    Raises:
        WorkloadError: on the first that does not.
    """
    for text, objective in zip(texts, objectives, strict=True):
        kind, models = objective.kind, objective.kind.spec.models
        if not free_running and models == (FreeRunning,):
            raise _needs_free_running(f"the objective {text}", has_rates=has_rates)
        if not has_rates and models == (Rates,):
            raise WorkloadError(
                f"the objective {text} is of responses: rate_hz is required of a network"
            )
        model = FreeRunning if free_running else Rates
        if not (free_running or has_rates) or model in models:
            continue
        others = ", ".join(other.value for other in ObjectiveKind if model in other.spec.models)
        if free_running:
            raise _excluded(
                f"the objective {text}", f"there is no common frame ({others} are possible)"
            )
        instead = ObjectiveKind.RESPONSE.value + text[len(kind.value) :]
        hint = f"; did you mean {instead}?" if kind is ObjectiveKind.LATENCY else ""
        raise WorkloadError(
            f"the objective {text} and rate_hz (of networks) exclude each other: each release has "
            f"a response of its own ({others} are possible{hint})"
        )


def _check_options(options: Options, *, free_running: bool, has_rates: bool) -> None:
    """Check that options that were given have a meaning under the execution model."""
    for name, field in FIELDS.items():
        if name in FILES or getattr(options, name) == getattr(_NONE, name):
            continue
        if field.fits is Fits.RATES and not has_rates:
            raise WorkloadError(
                f"{field.as_written()} is of responses: rate_hz is required of a network"
            )
        if field.fits is Fits.FREE_RUNNING and not free_running:
            raise _needs_free_running(field.as_written(), has_rates=has_rates)
        if field.fits is Fits.COMMON_FRAME and free_running:
            raise _excluded(field.as_written(), "there is no common frame")


def guarantees(workload: Workload, options: Options) -> bool:
    """Return whether deadlines, a frame rate or rates must be kept for all times in a tolerance."""
    asked = options.deadline_ms, options.frames_per_second, workload.frames_per_second
    return options.tolerance is not None and any(
        (*asked, *(value for n in workload.networks for value in (n.deadline_ms, n.rate_hz)))
    )


def _check_guarantee(workload: Workload, options: Options, kinds: Sequence[Kind]) -> None:
    """Check that guaranteed objectives and late releases have a tolerance, which fits the rest."""
    is_guaranteed = guarantees(workload, options)
    asked = as_written("tolerance") if is_guaranteed else None
    for kind in (ObjectiveKind.GUARANTEED_LATENCY, ObjectiveKind.GUARANTEED_RESPONSE):
        if kind in kinds:
            asked = f"the objective {kind.value}"
    if asked is not None and options.tolerance is None:
        raise WorkloadError(f"{asked}: {as_written('tolerance')} is required, such as 0.7..1.1")
    if asked is not None and ObjectiveKind.THROUGHPUT in kinds:
        raise WorkloadError(f"{asked}: is of one frame alone; frames of a pipeline overlap")
    late = [network.name for network in workload.networks if network.jitter_ms]
    if late and not is_guaranteed:
        raise WorkloadError(
            f"jitter_ms (of {late[0]!r}): only guaranteed responses take it into account, so "
            f"{as_written('tolerance')} is required, such as 1..1"
        )
    if is_guaranteed and (
        options.max_misses or any(n.max_misses is not None for n in workload.networks)
    ):
        raise WorkloadError(
            f"{as_written('tolerance')} and {as_written('max_misses')} exclude each other: a "
            "deadline that is guaranteed has no misses"
        )


def _check_closed_form(options: Options, *, throughput: bool) -> None:
    """Check that a closed form is used for throughput only, and its kind of period with it only."""
    model = options.throughput_model
    if model is ThroughputModel.TIMELINE:
        if options.pipeline_time is not IdleTime.PERIOD:
            raise WorkloadError(
                f"{as_written('pipeline_time', options.pipeline_time.value)} needs an analytic "
                f"{as_written('throughput_model')}, got timeline"
            )
    elif not throughput:
        raise WorkloadError(
            f"{as_written('throughput_model', model.value)} needs the objective throughput, got "
            f"{', '.join(options.objectives)}"
        )


def _check_frames_in_flight(options: Options, *, overlap: bool) -> None:
    """Check that a number of frames in flight is set only if frames overlap on the timeline."""
    frames = options.frames_in_flight
    if frames is None:
        return
    if not 1 <= frames <= MAX_FRAMES_IN_FLIGHT:
        raise WorkloadError(
            f"{as_written('frames_in_flight')}: from 1 to {MAX_FRAMES_IN_FLIGHT} is required, "
            f"got {frames}"
        )
    if not overlap or options.throughput_model is not ThroughputModel.TIMELINE:
        raise WorkloadError(
            f"{as_written('frames_in_flight', frames)}: the objective throughput, on the timeline, "
            f"or {as_written('free_running')} is required"
        )


def _needs_free_running(what: str, *, has_rates: bool) -> WorkloadError:
    if has_rates:
        return WorkloadError(
            f"{what} and rate_hz (of networks) exclude each other: rate_hz is their rate; "
            f"{as_written('free_running')} and no rate_hz let networks run as often as they can"
        )
    limits = f"{as_written('frames_per_second')} and {as_written('deadline_ms')}"
    return WorkloadError(
        f"{what}: {as_written('free_running')} is required; in a common frame all "
        f"networks have one rate ({limits} limit that)"
    )


def _check_free_running(workload: Workload, options: Options) -> None:
    """Check that no option of a common frame is set."""
    for network in workload.networks:
        if network.waits_for:
            raise _excluded(
                f"waits_for ({network.name!r} waits for {network.waits_for[0]!r})",
                "every network is a stream of its own",
            )
        if network.arrival_ms:
            raise _excluded(f"arrival_ms (of {network.name!r})", "there is no common frame")
        if network.priority:
            raise _excluded(
                f"priority (of {network.name!r})",
                "a network that starts again at once would leave nothing to those after it",
            )
        if network.deadline_ms is not None:
            raise _excluded(f"deadline_ms (of {network.name!r})", "there is no common frame")
    if workload.frames_per_second is not None:
        raise _excluded("frames_per_second", "a network begins a frame when one of its own ends")
    if options.throughput_model is not ThroughputModel.TIMELINE:
        raise _excluded(
            as_written("throughput_model", options.throughput_model.value), "they need the timeline"
        )


def _excluded(what: str, why: str) -> WorkloadError:
    return WorkloadError(f"free-running networks and {what} exclude each other: {why}")
