"""Rates of single networks, from a workload file to releases, responses, files and limits."""

import json
import math
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from dse.errors import WorkloadError
from dse.search.surrogate.lower_bounds import make_lower_bound_evaluator
from dse.workload.releases import period_of_rates_s, with_releases
from dse.workload.workload import Workload, WorkloadNetwork
from fitness.execution import schedule_of
from fitness.objectives import make_outcomes
from fitness.reference.objectives import plain_outcome
from fitness.simulate import Kernel, fastest_kernel, make_evaluator, row_of
from results.export.result_folder import read_results
from results.problem.execution import Periodic
from results.text.releases import release_lines, response_times_ps
from tests.dse.tools.deploy.test_strong_types import small_network

RECOMPUTE = Path(__file__).parents[2] / "support" / "recompute_front.py"
WORKLOAD = """\
networks:
  - {name: detect, network: small.onnx, rate_hz: 30, deadline_ms: 20}
  - {name: segment, network: small.onnx, rate_hz: 12.5, arrival_ms: 2, priority: 1}
  - {name: background, network: small.onnx, priority: 2}
"""


def of_rates(*rates):
    return [WorkloadNetwork(f"n{i}", "a", rate_hz=rate) for i, rate in enumerate(rates)]


def test_the_period_has_whole_releases_of_every_rate():
    rng = np.random.default_rng(1)
    for _ in range(200):
        rates = [Fraction(*rng.integers(1, 40, 2).tolist()) for _ in range(rng.integers(1, 4))]
        period = period_of_rates_s(of_rates(*rates))
        counts = [period * rate for rate in rates]
        assert all(count.denominator == 1 for count in counts)
        # No shorter one has: their numbers have no divisor in common.
        assert math.gcd(*map(int, counts)) == 1
    assert period_of_rates_s([WorkloadNetwork("a", "a")]) is None


def test_too_many_releases_are_refused_by_name():
    with pytest.raises(WorkloadError, match=r"'n0': rate_hz 30 is 3000 releases in .* 100 s"):
        with_releases(Workload(tuple(of_rates(Fraction(30), Fraction("29.99")))))


def test_releases_are_even_and_rounded_down():
    rng = np.random.default_rng(3)
    problem = with_rates(rng, random_problem(rng, RandomShape(networks=(3, 3), waiting=False)))
    for n, network in enumerate(problem.networks):
        times = [problem.release_ps(n, k) - network.arrival_ps for k in range(network.repeats)]
        share = Fraction(problem.execution.period_ps, network.repeats)
        assert times == [math.floor(k * share) if network.paced else 0 for k in range(len(times))]


def test_outcomes_are_those_of_the_plain_evaluator_and_no_bound_is_above():
    paced = late = 0
    for seed in range(150):
        rng = np.random.default_rng([29, seed])
        problem = with_rates(rng, random_problem(rng, RandomShape(graphs=seed % 2 == 0)))
        design = random_design(rng, problem)
        row = row_of(design)[None]
        outcomes = make_outcomes(problem)(row)
        plain = plain_outcome(problem, design)
        assert tuple(outcomes.objectives[0].tolist()) == plain.objectives, seed
        assert bool(outcomes.feasible[0]) == (not plain.broken), seed
        late += not outcomes.feasible[0]
        least, real = make_lower_bound_evaluator(problem)(row), make_evaluator(problem)(row)
        assert (least.latency_ps <= real.latency_ps).all(), seed
        assert (least.makespan_ps <= real.makespan_ps).all(), seed
        schedule = schedule_of(problem, design)
        for n, network in enumerate(problem.networks):
            if network.paced:
                paced += network.repeats > 1
                assert fastest_kernel(problem) is Kernel.GENERAL
                times = response_times_ps(problem, schedule, n)
                assert max(times) == real.latency_ps[0, n], seed
    assert paced > 100
    assert 0 < late < 150


def test_from_a_file_to_the_results(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    goals = ("--objective", "latency:detect", "--objective", "power", "--groups", "2")
    folder = tmp_path / "run"
    ran = dse(*command, *goals, "--precision", "fp16", "--max-evaluations", "300", "-o", folder)
    assert ran.status == 0
    assert "nothing is proved where networks have rates of their own" in ran.out + ran.err
    front = read_results(folder)
    problem = front.problem
    # 30 and 12.5 per second: 12 and 5 releases in 400 ms.
    assert problem.execution == Periodic(400 * 10**9)
    assert [(n.repeats, n.paced) for n in problem.networks] == [(12, True), (5, True), (1, False)]
    assert problem.release_ps(1, 4) == (2 + 320) * 10**9
    for member in front.members:
        times = response_times_ps(problem, schedule_of(problem, member.design), 0)
        assert member.objectives[0] == max(times) <= 20 * 10**9
    assert dse("verify", folder).status == 0
    assert runpy.run_path(str(RECOMPUTE))["main"](folder) == 0
    shown = dse("show", folder, "--member", "0").out
    for line in release_lines(problem, schedule_of(problem, front.members[0].design)):
        assert line in " ".join(shown.split())
    assert "12 a period" in shown
    assert json.loads((folder / "problem.json").read_text())["networks"][0]["paced"] is True


@pytest.mark.parametrize(
    "words", [("--fps", "5"), ("--free-running",), ("--objective", "throughput"), ("--balance",)]
)
def test_what_excludes_rates_says_so(dse, tmp_path, words):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD.replace("deadline_ms: 20", "repeats: 1"))
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "-o", tmp_path / "run")
    ran = dse(*command, *words)
    assert (ran.status, "exclude" in ran.err) == (2, True)
