"""Rates of single networks, from a workload file to releases, responses, files and limits."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx
import pytest

from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
    with_rates,
)
from paretosoc.dse.api.front import load
from paretosoc.dse.certificate.verify.members import what_is_wrong
from paretosoc.dse.engines.diagnose_infeasible import explain_infeasible
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.surrogate.lower_bounds import make_lower_bound_evaluator
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.dse.workload.with_options import period_of_rates_s, with_releases
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import Kernel, fastest_kernel, make_evaluator
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.front_document import front_from_document
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.rates import response_lines
from paretosoc.results.text.space_description import describe_space
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.support.problems import small_problems
from tests.support.recomputed import recomputed, recomputed_members

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
    problem = with_rates(rng, random_problem(rng, RandomShape(networks=(3, 3))))
    for n, network in enumerate(problem.networks):
        times = [problem.release_ps(n, k) - network.arrival_ps for k in range(network.repeats)]
        share = Fraction(problem.execution.period_ps, network.repeats)
        assert times == [math.floor(k * share) if network.paced else 0 for k in range(len(times))]


def test_outcomes_are_those_of_the_plain_evaluator_and_no_bound_is_above():
    paced = many = 0
    broken, windows = Counter(), Counter()
    # Of groups, in these a window of two periods recurs.
    two_periods = 90, 416
    for seed in (*range(120), 416):
        rng = np.random.default_rng([29, seed])
        problem = with_rates(rng, random_problem(rng, RandomShape(graphs=seed % 2 == 0)))
        if seed not in two_periods:
            problem = with_dispatch(np.random.default_rng([seed, 3]), problem)
        design = random_design(rng, problem)
        row = design.row[None]
        outcomes = make_outcomes(problem)(row)
        plain = plain_outcome(problem, design)
        assert tuple(outcomes.objectives[0].tolist()) == plain.objectives, seed
        limits = constraints_of(problem)
        over = [
            limit.name
            for limit, value in zip(limits, outcomes.constraint_values[0], strict=True)
            if value > limit.limit
        ]
        assert over == [entry.constraint for entry in plain.broken], seed
        broken.update({name.partition(" of ")[0] for name in over} or {"none"})
        least, real = make_lower_bound_evaluator(problem)(row), make_evaluator(problem)(row)
        for name in ("latency_ps", "makespan_ps", "percentile_95_ps", "jitter_ps", "misses"):
            assert (getattr(least, name) <= getattr(real, name)).all(), seed
        (member,) = make_members(problem, row, outcomes.objectives)
        assert what_is_wrong(problem, member, over) is None, seed
        window, period = member.window_ps, problem.execution.period_ps
        if window is not None:
            windows[(window[1] - window[0]) // period if window[0] else 0] += 1
        schedule = schedule_of(problem, design)
        assert fastest_kernel(problem) is Kernel.GENERAL
        for n, network in enumerate(problem.networks):
            times = response_times_ps(problem, schedule, n, window)
            paced += network.paced and network.repeats > 1
            many += len(times) >= 20 and max(times) > real.percentile_95_ps[0, n]
            assert max(times) == real.latency_ps[0, n], seed
            # By nearest rank: numpy's inverse of the distribution function.
            rank = np.percentile(times, 95, method="inverted_cdf")
            assert rank == real.percentile_95_ps[0, n], seed
            assert max(times) - min(times) == real.jitter_ps[0, n], seed
            late = sum(time > problem.late_ps(n) for time in times)
            often = problem.releases(n)
            assert math.ceil(Fraction(late * often, len(times))) == real.misses[0, n], seed
            assert len(times) == often * max(1, int(real.periods[0])), seed
    assert paced > 80
    assert many > 4
    kinds = ("none", "response", "95th percentile", "jitter", "misses")
    assert all(broken[name] > 4 for name in (*kinds, "time until all recurs")), broken
    # In the first period, or later: one period or several.
    assert windows[0] > 12
    assert windows[1] > 4
    assert windows[2] >= 2


def response_times_ps(problem, schedule, n, window):
    """[releases]: of network n, from each release to its end, of those that end in the window."""
    network, period = problem.networks[n], problem.execution.period_ps
    ends = {}
    for row in schedule.groups:
        if row.network == n:
            release = row.repeat - 1 if network.paced else 0
            ends.setdefault((row.frame, release), []).append(row.end_ps)
    size = len(network.groups) * (1 if network.paced else network.repeats)
    begin, last = (0, math.inf) if window is None or window[0] == 0 else window
    return [
        max(each) - (frame - 1) * period - problem.release_ps(n, release)
        for (frame, release), each in ends.items()
        if len(each) == size and begin < max(each) <= last
    ]


def test_from_a_file_to_the_results(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    goals = ("--objective", "response:detect", "--objective", "power", "--groups", "2")
    folder = tmp_path / "run"
    ran = dse(*command, *goals, "--precision", "fp16", "--max-evaluations", "300", "-o", folder)
    assert ran.status == 0
    assert re.search(r"within [0-9.]+ %: for every design point", ran.out)
    front = read_results(folder)
    problem = front.problem
    # 30 and 12.5 per second: 12 and 5 releases in 400 ms.
    assert problem.execution == Rates(400 * 10**9)
    assert [(n.repeats, n.paced) for n in problem.networks] == [(12, True), (5, True), (1, False)]
    assert problem.release_ps(1, 4) == (2 + 320) * 10**9
    for member in front.members:
        times = response_times_ps(problem, schedule_of(problem, member.design), 0, member.window_ps)
        assert member.objectives[0] == max(times) <= 20 * 10**9
    assert dse("verify", folder).status == 0
    assert recomputed(folder) == 0
    shown = dse("show", folder, "--member", "0").out
    for line in response_lines(problem, front.members[0]):
        assert line in " ".join(shown.split())
    assert "12 releases a period" in shown
    assert "priorities: detect 0, segment 1, background 2" in shown
    table = dse("show", folder).out
    assert "segment" in table
    assert "Priorities: detect 0, segment 1, background 2." in table
    assert json.loads((folder / "problem.json").read_text())["networks"][0]["paced"] is True


def test_rates_go_with_number_formats():
    recurs = 0
    for seed in range(50):
        rng = np.random.default_rng([41, seed])
        drawn = with_formats(rng, random_problem(rng, RandomShape(graphs=seed % 2 == 0)))
        problem = with_rates(rng, drawn)
        design = random_design(rng, problem)
        row = design.row[None]
        outcomes, plain = make_outcomes(problem)(row), plain_outcome(problem, design)
        assert tuple(outcomes.objectives[0].tolist()) == plain.objectives, seed
        assert bool(outcomes.feasible[0]) == (not plain.broken), seed
        (member,) = make_members(problem, row, outcomes.objectives)
        over = [entry.constraint for entry in plain.broken]
        assert what_is_wrong(problem, member, over) is None, seed
        recurs += bool(member.window_ps and member.window_ps[0])
    assert recurs > 5


def test_a_third_program_recomputes_what_recurs(tmp_path):
    for seed in range(20):
        rng = np.random.default_rng([31, seed])
        problem = with_rates(rng, random_problem(rng, RandomShape(graphs=seed % 2 == 0)))
        rows = np.stack([random_design(rng, problem).row for _ in range(3)])
        members = make_members(problem, rows, make_outcomes(problem)(rows).objectives)
        assert recomputed_members(tmp_path, problem, members) == 0, seed


def test_objectives_where_none_are_asked_for(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    folder = tmp_path / "run"
    budget = ("--precision", "fp16", "--max-evaluations", "200", "--max-nodes", "0")
    assert dse(*command, *budget, "--search-order", "networks", "-o", folder).status == 0
    front = read_results(folder)
    assert front.problem.objective_names == ("relative_response_ppm", "power_uw")
    for member in front.members:
        pairs = zip(member.latencies_ps, (12, 5, 1), strict=True)
        shares = [time * count * 10**6 // (400 * 10**9) for time, count in pairs]
        assert member.objectives[0] == max(shares)
    assert recomputed(folder) == 0
    assert dse("verify", folder).status == 0
    assert "priority" not in describe_space(front.problem)
    member = load(folder)[0]
    assert member.responses["detect"]["longest_ms"] == front.members[0].latencies_ps[0] / 1e9
    row = json.loads(dse("show", folder, "--json").out)[0]
    names = {"detect", "segment", "background"}
    assert row["priorities"].keys() == row["responses"].keys() == names
    assert row["responses"]["detect"]["longest_ps"] == front.members[0].latencies_ps[0]


def test_changed_responses_are_found(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    folder = tmp_path / "run"
    budget = ("--precision", "fp16", "--max-evaluations", "100", "--max-nodes", "0")
    assert dse(*command, *budget, "-o", folder).status == 0
    problem = read_results(folder).problem
    text = (folder / "front.json").read_text()
    for name in ("detect", "segment", "background"):
        for field in ("percentile_95_ps", "jitter_ps", "misses"):
            document = json.loads(text)
            document["members"][0]["responses"][name][field] += 1
            try:
                front = front_from_document(document, problem, check_hashes=False)
                wrong = what_is_wrong(problem, front.members[0], ())
            except ResultError as error:
                wrong = str(error)
            assert "responses" in wrong
    document = json.loads(text)
    del document["members"][0]["responses"]
    with pytest.raises(ResultError, match="responses: must be there if networks have rates"):
        front_from_document(document, problem, check_hashes=False)


@pytest.mark.parametrize("objective", ["latency", "latency:detect", "inverse-latency"])
def test_latencies_are_refused_with_the_name_of_responses(dse, tmp_path, objective):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "-o", tmp_path / "run")
    ran = dse(*command, "--objective", objective)
    assert (ran.status, "exclude each other" in ran.err) == (2, True)
    instead = objective.replace("latency", "response")
    assert (f"did you mean {instead}?" in ran.err) == (objective != "inverse-latency")


def test_responses_are_refused_without_rates(dse, tmp_path):
    ran = dse(
        "explore",
        "squeezenet",
        "-p",
        "jetson-agx-orin",
        "--objective",
        "jitter",
        "-o",
        tmp_path / "run",
    )
    assert (ran.status, "rate_hz is required" in ran.err) == (2, True)


@pytest.mark.parametrize("key", ["deadline_95_ms", "max_jitter_ms", "max_misses"])
def test_limits_of_responses_need_rates(key):
    network = WorkloadNetwork("a", "a", **{key: 1})
    with pytest.raises(WorkloadError, match=f"'a': {key} is of responses: rate_hz is required"):
        check_workload(Workload((network,)))


def over_the_end(late: int) -> Problem:
    """One unit and a period of 10: one network at 0 for 3, another at 7 for ``late``."""
    networks = [small_problems.network("early", 0, 1), small_problems.network("late", 1, 1)]
    networks[1] = replace(networks[1], arrival_ps=7)
    kinds = (ObjectiveKind.RESPONSE, ObjectiveKind.STRETCH)
    return replace(
        small_problems.problem(networks, [[3], [late]]),
        execution=Rates(10),
        objectives=(*(Objective(kinds[0], n) for n in range(2)), Objective(kinds[1])),
    )


def test_work_over_the_end_of_the_period_delays_the_next_one():
    """The late one runs from 7 to 13, then the early one, released at 10, to 16, and so on."""
    problem, rows = over_the_end(6), np.array([[0, 0, 0]])
    outcomes = make_outcomes(problem)(rows)
    assert outcomes.objectives.tolist() == [[6, 6, 0]]
    assert outcomes.feasible.all()
    (member,) = make_members(problem, rows, outcomes.objectives)
    assert member.window_ps == (13, 23)
    assert member.makespan_ps == 13
    assert what_is_wrong(problem, member, ()) is None
    schedule = schedule_of(problem, member.design)
    ends = [(row.frame, row.network, row.end_ps) for row in schedule.groups]
    assert ends == [(1, 0, 3), (1, 1, 13), (2, 0, 16), (2, 1, 23)]
    moved = replace(member, window_ps=(23, 33))
    assert what_is_wrong(problem, moved, ()) == "the window is (13, 23), not (23, 33)"


def test_what_never_recurs_is_overloaded():
    """3 + 8 in a period of 10: each leaves one more to the next."""
    problem = over_the_end(8)
    outcomes = make_outcomes(problem)(np.array([[0, 0, 0]]))
    assert not outcomes.feasible.any()
    # 32 periods, and 15 - 10 more.
    assert outcomes.constraint_values.tolist() == [[325]]
    (broken,) = plain_outcome(problem, problem.design_of(np.zeros(3))).broken
    assert broken.why == "nothing recurs: the units are overloaded"
    result = search(Nsga2Engine(DesignSpace(problem), seed=0), make_outcomes(problem), Budget(4))
    text = explain_infeasible(problem, result, seed=0)
    assert "overloaded: nothing recurs within 32 periods of 0.00000001 ms" in text


def test_a_miss_is_beyond_the_deadline_or_the_next_release():
    """Releases at 0, 12 and 24 of a period of 36 take 12 each."""
    network = replace(small_problems.network("fast", 0, 1, repeats=3), paced=True, max_misses=2)
    base = small_problems.problem([network], [[12]])
    problem = replace(
        base,
        execution=Rates(36),
        objectives=(Objective(ObjectiveKind.MISSES), Objective(ObjectiveKind.RESPONSE_95)),
    )
    for deadline, misses in ((None, 0), (12, 0), (11, 3)):
        limited = replace(problem, networks=(replace(problem.networks[0], deadline_ps=deadline),))
        outcome = make_outcomes(limited)(np.array([[0, 0]]))
        assert outcome.objectives[0].tolist() == [misses, 12]
        assert bool(outcome.feasible[0]) == (misses <= 2)


@pytest.mark.parametrize(
    ("words", "group"),
    [
        (("--fps", "5"), ()),
        (("--free-running",), ()),
        (("--objective", "throughput"), ()),
        (("--balance",), ("papers",)),
    ],
)
def test_what_excludes_rates_says_so(dse, tmp_path, words, group):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(WORKLOAD.replace("deadline_ms: 20", "repeats: 1"))
    command = (*group, "explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin")
    ran = dse(*command, "-o", tmp_path / "run", *words)
    assert (ran.status, "exclude" in ran.err) == (2, True)
