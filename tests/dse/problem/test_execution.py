"""From options to the execution model: every combination that has a meaning is taken, no other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.execution import check_objectives, choose_execution
from paretosoc.dse.workload.options import Options, ThroughputModel
from paretosoc.dse.workload.workload import MAX_FRAMES_IN_FLIGHT, Workload, workload_of
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
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

PAIR = workload_of(["alexnet", "squeezenet"])
LATENCY, THROUGHPUT = ("latency",), ("throughput",)


def changed(**network: Any) -> Workload:
    """The pair with other values of its second network."""
    first, second = PAIR.networks
    return replace(PAIR, networks=(first, replace(second, **network)))


def chosen(options: Options, workload: Workload = PAIR) -> Any:
    objectives = tuple(Objective(ObjectiveKind(text)) for text in options.objectives)
    return choose_execution(workload, options, objectives)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), OneFrame()),
        (Options(frames_per_second=Fraction(30)), Periodic(33_333_333_333)),
        (Options(objectives=THROUGHPUT), Pipeline(2)),
        (Options(objectives=THROUGHPUT, frames_in_flight=5), Pipeline(5)),
        (
            Options(objectives=THROUGHPUT, throughput_model=ThroughputModel.ANALYTIC),
            ClosedForm(ChannelUse.BETWEEN_UNITS, IdleTime.PERIOD),
        ),
        (
            Options(
                objectives=THROUGHPUT,
                throughput_model=ThroughputModel.ANALYTIC_ALL_CHANNELS,
                pipeline_time=IdleTime.SUM_OF_LOADS,
            ),
            ClosedForm(ChannelUse.ALL, IdleTime.SUM_OF_LOADS),
        ),
        (Options(objectives=THROUGHPUT, free_running=True), FreeRunning(2)),
        (Options(objectives=("power",), free_running=True, frames_in_flight=1), FreeRunning(1)),
    ],
)
def test_what_is_asked_for_says_the_model(options: Options, expected: object) -> None:
    assert chosen(options) == expected


def test_the_workload_says_it_where_no_option_does() -> None:
    workload = replace(PAIR, frames_in_flight=3, frames_per_second=Fraction(5))
    assert chosen(Options(), workload) == Periodic(2 * 10**11)
    assert chosen(Options(frames_per_second=Fraction(10)), workload) == Periodic(10**11)
    free = replace(PAIR, frames_in_flight=3, free_running=True)
    assert chosen(Options(objectives=THROUGHPUT), free) == FreeRunning(3)
    with pytest.raises(WorkloadError, match="a frame rate and the objective throughput exclude"):
        chosen(Options(objectives=THROUGHPUT), workload)


@pytest.mark.parametrize(
    ("model", "time", "objectives"), [*product(ThroughputModel, IdleTime, (LATENCY, THROUGHPUT))]
)
def test_a_closed_form_is_of_throughput_and_its_period_of_a_closed_form(
    model: ThroughputModel, time: IdleTime, objectives: tuple[str, ...]
) -> None:
    options = Options(objectives=objectives, throughput_model=model, pipeline_time=time)
    timeline = model is ThroughputModel.TIMELINE
    if time is IdleTime.PERIOD if timeline else objectives == THROUGHPUT:
        assert isinstance(chosen(options), ClosedForm) != timeline
        return
    option = "pipeline_time" if timeline else "throughput_model"
    with pytest.raises(WorkloadError, match=f"^{option}"):
        chosen(options)


@pytest.mark.parametrize("model", [ThroughputModel.TIMELINE, ThroughputModel.ANALYTIC])
@pytest.mark.parametrize("free_running", [False, True])
@pytest.mark.parametrize("objectives", [("energy",), THROUGHPUT])
@pytest.mark.parametrize("frames", [0, 1, MAX_FRAMES_IN_FLIGHT, MAX_FRAMES_IN_FLIGHT + 1])
def test_frames_are_in_flight_where_they_overlap_on_the_timeline(
    model: ThroughputModel, free_running: bool, objectives: tuple[str, ...], frames: int
) -> None:
    options = Options(
        objectives=objectives,
        throughput_model=model,
        free_running=free_running,
        frames_in_flight=frames,
    )
    overlap = objectives == THROUGHPUT or free_running
    timeline = model is ThroughputModel.TIMELINE
    if frames in (1, MAX_FRAMES_IN_FLIGHT) and overlap and timeline:
        assert chosen(options) == (FreeRunning(frames) if free_running else Pipeline(frames))
        return
    # A closed form of other objectives, or of free-running networks, is refused before.
    refused = r"^frames_in_flight" if timeline or not free_running else "throughput_model"
    if not timeline and objectives != THROUGHPUT:
        refused = "^throughput_model"
    with pytest.raises(WorkloadError, match=refused):
        chosen(options)


@pytest.mark.parametrize(
    ("workload", "options", "named"),
    [
        (changed(min_rate_hz=Fraction(5)), Options(), r"min_rate_hz \(of 'squeezenet'\)"),
        (PAIR, Options(min_rate_hz=((None, Fraction(5)),)), "min_rate_hz"),
        (PAIR, Options(objectives=("fairness",)), "the objective fairness"),
    ],
)
def test_rates_are_of_free_running_networks(
    workload: Workload, options: Options, named: str
) -> None:
    with pytest.raises(WorkloadError, match=f"^{named}: free_running is required"):
        chosen(options, workload)
    objectives = ("fairness",) if options.objectives == ("fairness",) else THROUGHPUT
    free = replace(options, objectives=objectives, free_running=True)
    assert chosen(free, workload) == FreeRunning(2)


@pytest.mark.parametrize("model", [OneFrame, FreeRunning, Rates])
@pytest.mark.parametrize("kind", ObjectiveKind)
def test_objectives_are_of_the_models_that_have_them(
    kind: ObjectiveKind, model: type[ExecutionModel]
) -> None:
    rules = {"free_running": model is FreeRunning, "has_rates": model is Rates}
    models = set(kind.spec.models)
    if model in models or (model is OneFrame and models - {FreeRunning, Rates}):
        check_objectives([kind.value], (Objective(kind),), **rules)
        return
    with pytest.raises(WorkloadError, match=f"the objective {kind.value}") as refused:
        check_objectives([kind.value], (Objective(kind),), **rules)
    # With rates nothing that excludes them is proposed.
    assert "free_running is required" not in str(refused.value) or model is OneFrame


@pytest.mark.parametrize(
    ("workload", "options", "named"),
    [
        (changed(waits_for=("alexnet",)), Options(), "waits_for"),
        (changed(arrival_ms=Fraction(1)), Options(), "arrival_ms"),
        (changed(priority=1), Options(), "priority"),
        (changed(deadline_ms=Fraction(1)), Options(), "deadline_ms"),
        (replace(PAIR, frames_per_second=Fraction(5)), Options(), "frames_per_second"),
        (PAIR, Options(deadline_ms=((None, Fraction(1)),)), "deadline_ms"),
        (PAIR, Options(frames_per_second=Fraction(5)), "frames_per_second"),
        (PAIR, Options(throughput_model=ThroughputModel.ANALYTIC), "throughput_model='analytic'"),
    ],
)
def test_nothing_of_a_common_frame_goes_with_free_running(
    workload: Workload, options: Options, named: str
) -> None:
    options = replace(options, objectives=THROUGHPUT, free_running=True)
    with pytest.raises(WorkloadError, match=rf"^free-running networks and {named}.* exclude each"):
        chosen(options, workload)
