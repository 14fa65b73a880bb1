"""Scenarios against workloads written by hand, and the table of all methods."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.baselines.repeat_matching import alone_on_best_unit, balanced
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.tools.analysis.compare_baselines import improvement, two_accelerators
from paretosoc.dse.workload.options import Options, Scenario
from paretosoc.dse.workload.with_options import apply_scenario
from paretosoc.dse.workload.workload import workload_of
from paretosoc.dse.workload.workload_file import read_workload
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.execution import frames_in_flight
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem_file import problem_sha256

BY_HAND = {
    Scenario.INSTANCES: (
        ["squeezenet*3"],
        """
networks:
  - network: squeezenet
    copies: 3
""",
    ),
    Scenario.SAME_INPUT: (
        ["squeezenet", "inception_v1"],
        """
networks:
  - network: squeezenet
  - network: inception_v1
""",
    ),
    Scenario.STREAM: (
        ["squeezenet", "inception_v1", "squeezenet"],
        """
frames_in_flight: 3
networks:
  - network: squeezenet
    copies: 1
  - network: inception_v1
    waits_for: [squeezenet]
  - {name: "third", network: squeezenet, waits_for: [inception_v1]}
""",
    ),
}


def problem_of(workload, *objectives):
    options = Options(units=("gpu", "dla0"), groups=3, objectives=objectives)
    return build_problem(workload, load_platform("jetson-agx-xavier"), options).problem


@pytest.mark.parametrize("scenario", Scenario)
def test_a_scenario_is_the_workload_written_by_hand(scenario):
    networks, text = BY_HAND[scenario]
    workload = apply_scenario(workload_of(networks), scenario)
    by_hand = read_workload(text.encode(), "by_hand.yaml")
    names = tuple(network.name for network in workload.networks)
    renamed = dict(zip((network.name for network in by_hand.networks), names, strict=True))
    by_hand = replace(
        by_hand,
        networks=tuple(
            replace(
                network,
                name=renamed[network.name],
                waits_for=tuple(renamed[other] for other in network.waits_for),
            )
            for network in by_hand.networks
        ),
    )
    objectives = ("throughput", "energy") if scenario is Scenario.STREAM else ("latency", "energy")
    made, expected = (problem_of(each, *objectives) for each in (workload, by_hand))
    assert problem_sha256(made) == problem_sha256(expected)


def test_in_a_stream_network_2_of_frame_k_runs_beside_network_1_of_frame_k_plus_1():
    workload = apply_scenario(workload_of(["squeezenet", "inception_v1"]), Scenario.STREAM)
    problem = problem_of(workload, "throughput", "latency")
    units = np.array([0] * 3 + [1] * 3)
    fallback = np.where(problem.allowed[np.arange(6), units], units, 0)
    points = np.array([len(domain.frequencies_khz) - 1 for domain in problem.domains])
    design = problem.design_of(np.concatenate((fallback, points)))
    in_flight = frames_in_flight(problem.execution)
    timeline = plain_timeline.simulate(problem, design, frames=5, in_flight=in_flight)
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for row in timeline.schedule.groups:
        start, end = spans.get((row.frame, row.network), (row.start_ps, row.end_ps))
        spans[row.frame, row.network] = min(start, row.start_ps), max(end, row.end_ps)
    beside = 0
    for frame in range(1, 5):
        assert spans[frame, 1][0] >= spans[frame, 0][1]
        beside += spans[frame + 1, 0][0] < spans[frame, 1][1]
    assert beside == 4


def test_one_network_as_instances_is_two():
    workload = apply_scenario(workload_of(["squeezenet"]), Scenario.INSTANCES)
    assert [network.name for network in workload.networks] == ["squeezenet", "squeezenet#2"]


def test_balancing_repeats_the_faster_network_as_often_as_fits():
    rng = np.random.default_rng(1)
    for _ in range(30):
        problem = random_problem(rng, RandomShape(networks=(2, 3), unsupported=0.0))
        times = alone_on_best_unit(problem)
        clocks = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
        for network, time in zip(problem.networks, times, strict=True):
            by_unit = []
            for unit in problem.units:
                at = tuple(clocks[clock] for clock in unit.clocks)
                by_unit.append(sum(int(unit.time_ps[(g, *at)]) for g in network.groups))
            assert time == network.repeats * min(by_unit)
        after = balanced(problem)
        for network, time, more in zip(problem.networks, times, after.networks, strict=True):
            factor = more.repeats // network.repeats
            assert factor * network.repeats == more.repeats
            distance = abs(factor * time - max(times))
            assert distance <= abs((factor + 1) * time - max(times))
            assert factor == 1 or distance <= abs((factor - 1) * time - max(times))


def test_far_too_many_repeats_are_refused():
    rng = np.random.default_rng(2)
    problem = random_problem(rng, RandomShape(networks=(2, 2), units=(1, 1), unsupported=0.0))
    (unit,) = problem.units
    time = unit.time_ps.copy()
    time[list(problem.networks[0].groups)] = 10**9
    time[list(problem.networks[1].groups)] = 10
    with pytest.raises(WorkloadError, match="at most 1000 are possible"):
        balanced(replace(problem, units=(replace(unit, time_ps=time),)))


@pytest.mark.parametrize(
    ("networks", "scenario", "message"),
    [
        (["squeezenet", "vgg19"], Scenario.INSTANCES, "one network is required"),
        (["squeezenet"], Scenario.SAME_INPUT, "two networks or more are required, got 1"),
        (["squeezenet"], Scenario.STREAM, "two networks or more are required, got 1"),
        (["squeezenet*9"], Scenario.STREAM, "at most 8 networks are possible"),
    ],
)
def test_workloads_that_do_not_fit_are_refused(networks, scenario, message):
    with pytest.raises(WorkloadError, match=message):
        apply_scenario(workload_of(networks), scenario)


def test_a_workload_that_says_who_waits_is_a_scenario_of_its_own():
    text = "networks:\n- network: squeezenet\n- {network: vgg19, waits_for: [squeezenet]}\n"
    with pytest.raises(WorkloadError, match="'vgg19' waits for others already"):
        apply_scenario(read_workload(text.encode(), "x.yaml"), Scenario.STREAM)


def test_explore_takes_scenarios(dse, tmp_path):
    networks = ("squeezenet", "inception_v1")
    asked = ("papers", "explore", *networks, "-p", "jetson-agx-xavier", "--units")
    more = ("gpu,dla0", "--groups", "3", "--max-evaluations", "200", "-q")
    folder = tmp_path / "stream"
    assert dse(*asked, *more, "--scenario", "stream", "-o", folder).status == 0
    front = json.loads((folder / "front.json").read_text())
    assert front["objectives"] == ["time_per_image_ps", "latency_ps"]
    refused = dse(
        *asked, *more, *("--scenario", "stream", "--objective", "latency"), "-o", tmp_path / "no"
    )
    assert refused.status == 2
    assert "throughput is required among the objectives" in refused.err
    assert dse(*asked, *more, "--scenario", "river", "-o", tmp_path / "no").status == 2


def test_all_methods_side_by_side(dse):
    asked = ("baselines", "squeezenet", "resnet50", "-p", "jetson-agx-xavier", "--groups", "4")
    shown = dse(*asked)
    assert shown.status == 0
    for label in ("GPU only", "GPU & DSA", "Mensa", "Herald", "H2H", "AxoNN", "optimum"):
        assert label in shown.out
    assert "certified: no design point is faster" in shown.out
    document = json.loads(dse(*asked, "--json").out)
    *methods, optimum = document["methods"]
    assert optimum["makespan_ps"] == document["certificate"]["optimum"]
    kept = [method for method in methods if not method["breaks"]]
    best = min(kept, key=lambda method: method["makespan_ps"])
    assert document["best_baseline"] == best["name"]
    assert optimum["gain"] == best["makespan_ps"] / optimum["makespan_ps"] - 1
    assert document["units"] == ["gpu", "dla0"]


def test_the_sum_of_rates_and_streams_can_be_compared(dse):
    asked = ("baselines", "squeezenet", "resnet50", "-p", "jetson-agx-xavier", "--groups", "3")
    rates = json.loads(dse(*asked, "--objective", "inverse-latency", "--json").out)
    optimum = rates["methods"][-1]
    assert optimum["rate_sum_per_s"] == max(m["rate_sum_per_s"] for m in rates["methods"])
    assert -rates["certificate"]["optimum"] == round(optimum["rate_sum_per_s"] * 1e6)
    stream = json.loads(dse(*asked, "--scenario", "stream", "--balance", "--json").out)
    periods = [m["objectives"]["time_per_image_ps"] for m in stream["methods"]]
    assert periods[-1] == min(periods)
    assert stream["certificate"] is None
    assert stream["networks"][0]["repeats"] > 1
    assert "throughput is required, got 'energy'" in dse(*asked, "--objective", "energy").err


def test_gains_are_ratios_less_one():
    latency = Objective(ObjectiveKind.LATENCY)
    assert improvement(latency, 10, 15) == 0.5
    assert improvement(Objective(ObjectiveKind.INVERSE_LATENCY), -30, -20) == 0.5
    assert improvement(Objective(ObjectiveKind.THROUGHPUT), 10, 15) == 0.5


def test_two_accelerators_are_those_of_the_papers():
    assert two_accelerators(load_platform("jetson-agx-xavier")) == ("gpu", "dla0")
    # RKNN, the board's runtime, serves no GPU.
    assert two_accelerators(load_platform("rk3588")) is None
    assert two_accelerators(load_platform("rk3588"), "none") == ("gpu", "npu0")
    assert two_accelerators(load_platform("snapdragon-865")) == ("gpu", "dsp")
    assert two_accelerators(load_platform("jetson-tx2")) is None
