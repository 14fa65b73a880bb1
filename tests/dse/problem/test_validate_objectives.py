"""Which options go with which objectives: every pair that has a meaning is taken, no other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dse.errors import WorkloadError
from dse.problem.validate_objectives import (
    check_frames_in_flight,
    check_free_running,
    check_rates,
    check_throughput_model,
)
from dse.workload.options import Options
from dse.workload.workload import Workload, workload_of
from dse.workload.workload_check import MAX_FRAMES_IN_FLIGHT
from results.problem.pipeline_model import PipelineTime, ThroughputModel
from results.problem.problem import Objective, ObjectiveKind
from results.problem.problem_check import OF_A_FRAME

PAIR = workload_of(["alexnet", "squeezenet"])
LATENCY, THROUGHPUT = (Objective(ObjectiveKind.LATENCY),), (Objective(ObjectiveKind.THROUGHPUT),)


def changed(**network: Any) -> Workload:
    """The pair with other values of its second network."""
    first, second = PAIR.networks
    return replace(PAIR, networks=(first, replace(second, **network)))


@pytest.mark.parametrize("model", ThroughputModel)
@pytest.mark.parametrize("time", PipelineTime)
@pytest.mark.parametrize("objectives", [LATENCY, THROUGHPUT])
def test_a_closed_form_is_of_throughput_and_its_period_of_a_closed_form(
    model: ThroughputModel, time: PipelineTime, objectives: tuple[Objective, ...]
) -> None:
    options = Options(throughput_model=model, pipeline_time=time)
    timeline = model is ThroughputModel.TIMELINE
    sound = time is PipelineTime.PERIOD if timeline else objectives == THROUGHPUT
    if sound:
        check_throughput_model(options, objectives)
        return
    option = "--pipeline-time" if timeline else "--throughput-model"
    with pytest.raises(WorkloadError, match=f"^{option} "):
        check_throughput_model(options, objectives)


@pytest.mark.parametrize("model", [ThroughputModel.TIMELINE, ThroughputModel.ANALYTIC])
@pytest.mark.parametrize("free_running", [False, True])
@pytest.mark.parametrize("objectives", [LATENCY, THROUGHPUT])
@pytest.mark.parametrize("frames", [None, 0, 1, MAX_FRAMES_IN_FLIGHT, MAX_FRAMES_IN_FLIGHT + 1])
def test_frames_are_in_flight_where_they_overlap_on_the_timeline(
    model: ThroughputModel,
    free_running: bool,
    objectives: tuple[Objective, ...],
    frames: int | None,
) -> None:
    options = Options(throughput_model=model, frames_in_flight=frames)
    overlap = objectives == THROUGHPUT or free_running
    sound = frames in (1, MAX_FRAMES_IN_FLIGHT) and overlap and model is ThroughputModel.TIMELINE
    if frames is None or sound:
        check_frames_in_flight(options, objectives, free_running=free_running)
        return
    with pytest.raises(WorkloadError, match=r"^--frames-in-flight"):
        check_frames_in_flight(options, objectives, free_running=free_running)


RATES: list[tuple[Workload, Options, tuple[Objective, ...], str]] = [
    (changed(min_rate_hz=Fraction(5)), Options(), THROUGHPUT, r"min_rate_hz \(of 'squeezenet'\)"),
    (PAIR, Options(min_rates_hz=((None, Fraction(5)),)), THROUGHPUT, "--min-rate"),
    (PAIR, Options(), (Objective(ObjectiveKind.FAIRNESS),), "the objective fairness"),
]


@pytest.mark.parametrize(("workload", "options", "objectives", "named"), RATES)
def test_rates_are_of_networks_that_run_freely(
    workload: Workload, options: Options, objectives: tuple[Objective, ...], named: str
) -> None:
    check_rates(workload, options, objectives, free_running=True)
    check_rates(PAIR, Options(), LATENCY, free_running=False)
    with pytest.raises(WorkloadError, match=f"^{named}: --free-running is required"):
        check_rates(workload, options, objectives, free_running=False)


@pytest.mark.parametrize("kind", ObjectiveKind)
def test_no_objective_is_of_a_frame_where_networks_run_freely(kind: ObjectiveKind) -> None:
    options = Options(objectives=(kind.value,))
    if kind not in OF_A_FRAME:
        check_free_running(PAIR, options, (Objective(kind),))
        return
    with pytest.raises(WorkloadError, match=f"the objective {kind.value} exclude each other"):
        check_free_running(PAIR, options, (Objective(kind),))


@pytest.mark.parametrize(
    ("workload", "options", "named"),
    [
        (changed(waits_for=("alexnet",)), Options(), "waits_for"),
        (changed(arrival_ms=Fraction(1)), Options(), "arrival_ms"),
        (changed(deadline_ms=Fraction(1)), Options(), "deadline_ms"),
        (replace(PAIR, frames_per_second=Fraction(5)), Options(), "a frame rate"),
        (PAIR, Options(deadlines_ms=((None, Fraction(1)),)), "--deadline"),
        (PAIR, Options(frames_per_second=Fraction(5)), "a frame rate"),
        (PAIR, Options(throughput_model=ThroughputModel.ANALYTIC), "--throughput-model analytic"),
    ],
)
def test_nothing_of_a_common_frame_goes_with_free_running(
    workload: Workload, options: Options, named: str
) -> None:
    options = replace(options, objectives=("throughput",))
    with pytest.raises(WorkloadError, match=rf"^free-running networks and {named}.* exclude each"):
        check_free_running(workload, options, THROUGHPUT)
    check_free_running(PAIR, Options(objectives=("throughput",)), THROUGHPUT)
