"""Networks with rates that wait for others, of equal and of other rates, release by release."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_priorities,
    with_rates,
    with_waiting_releases,
)
from paretosoc.dse.certificate.verify.members import what_is_wrong
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.surrogate.lower_bounds import make_lower_bound_evaluator
from paretosoc.dse.space.members import make_members
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem_check import check_problem
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.support.problems import small_problems
from tests.support.recomputed import recomputed, recomputed_members


def eye_and_track(arrival=0):
    """A period of 12, two releases each: the eye takes 2 on one unit, the track 5 on another."""
    networks = [small_problems.network(name, g, 1, repeats=2) for g, name in enumerate("et")]
    networks = [replace(network, paced=True) for network in networks]
    networks[1] = replace(networks[1], waits_for=(0,), arrival_ps=arrival)
    return replace(
        small_problems.problem(networks, [[2, 2], [5, 5]]),
        execution=Rates(12),
        objectives=tuple(Objective(ObjectiveKind.RESPONSE, n) for n in range(2)),
    )


def test_each_release_waits_for_that_of_the_same_number():
    """The eye ends at 2, 8, 14; so the track runs from 2 to 7, 8 to 13, 14 to 19."""
    for arrival in (0, 1):
        problem, rows = eye_and_track(arrival), np.array([[0, 1, 0]])
        outcomes = make_outcomes(problem)(rows)
        assert outcomes.objectives.tolist() == [[2, 7 - arrival]]
        (member,) = make_members(problem, rows, outcomes.objectives)
        assert what_is_wrong(problem, member, ()) is None
        groups = [row for row in schedule_of(problem, member.design).groups if row.network == 1]
        spans = [(row.start_ps, row.end_ps) for row in groups]
        assert spans[:3] == [(2, 7), (8, 13), (14, 19)]


def eye_and_other(eye, other, period=12):
    """So many releases of both in a period: the eye takes 2 on one unit, the other 1 on another."""
    networks = [
        replace(small_problems.network(name, g, 1, repeats=repeats), paced=True)
        for g, (name, repeats) in enumerate({"e": eye, "o": other}.items())
    ]
    networks[1] = replace(networks[1], waits_for=(0,))
    return replace(
        small_problems.problem(networks, [[2, 2], [1, 1]]),
        execution=Rates(period),
        objectives=tuple(Objective(ObjectiveKind.RESPONSE, n) for n in range(2)),
    )


@pytest.mark.parametrize(
    ("eye", "other", "starts"),
    [
        # Every third release of the eye, which ends 2 after 0, 4, 8.
        (3, 1, [2]),
        (6, 2, [2, 8]),
        # The same release again: the second and third of the other find it ended.
        (1, 3, [2, 4, 8]),
        # 0, 4, 8 of the eye; 0, 6 of the other: the latest due at 6 is that of 4.
        (3, 2, [2, 6]),
        # 0, 6 of the eye; 0, 4, 8 of the other.
        (2, 3, [2, 4, 8]),
        (4, 3, [2, 5, 8]),
    ],
)
def test_of_unequal_rates_the_latest_release_is_awaited_that_is_due(eye, other, starts):
    problem, rows = eye_and_other(eye, other), np.array([[0, 1, 0]])
    outcomes = make_outcomes(problem)(rows)
    (member,) = make_members(problem, rows, outcomes.objectives)
    assert what_is_wrong(problem, member, ()) is None
    groups = [row for row in schedule_of(problem, member.design).groups if row.network == 1]
    assert [row.start_ps for row in groups] == starts


def test_a_network_gets_ahead_of_one_that_it_waits_for_and_waits_in_the_next_period():
    """The eye is due at 6, 10, 14; the other starts at 8 and is ready for the next period at 12."""
    problem, rows = eye_and_other(3, 1), np.array([[0, 1, 0]])
    late = replace(problem.networks[0], arrival_ps=6)
    problem = replace(problem, networks=(late, problem.networks[1]))
    outcomes = make_outcomes(problem)(rows)
    assert outcomes.objectives.tolist() == [[2, 9]]
    (member,) = make_members(problem, rows, outcomes.objectives)
    assert what_is_wrong(problem, member, ()) is None
    groups = [row for row in schedule_of(problem, member.design).groups if row.network == 1]
    assert [row.start_ps for row in groups][:2] == [8, 20]


def drawn(seed):
    rng = np.random.default_rng([53, seed])
    shape = RandomShape(networks=(2, 4), graphs=seed % 2 == 0, ties=seed % 3 == 0)
    problem = with_waiting_releases(rng, with_rates(rng, random_problem(rng, shape)))
    if seed % 4 == 0:
        problem = with_priorities(rng, problem)
    return rng, problem


def test_outcomes_are_those_of_the_plain_evaluator_and_no_bound_is_above():
    recurs = later = paced = unequal = 0
    for seed in range(100):
        rng, problem = drawn(seed)
        check_problem(problem)
        design = random_design(rng, problem)
        row = design.row[None]
        outcomes, plain = make_outcomes(problem)(row), plain_outcome(problem, design)
        assert tuple(outcomes.objectives[0].tolist()) == plain.objectives, seed
        limits = zip(constraints_of(problem), outcomes.constraint_values[0], strict=True)
        over = [limit.name for limit, value in limits if value > limit.limit]
        assert over == [entry.constraint for entry in plain.broken], seed
        least, real = make_lower_bound_evaluator(problem)(row), make_evaluator(problem)(row)
        for name in ("latency_ps", "makespan_ps", "percentile_95_ps", "jitter_ps", "misses"):
            assert (getattr(least, name) <= getattr(real, name)).all(), seed
        (member,) = make_members(problem, row, outcomes.objectives)
        assert what_is_wrong(problem, member, over) is None, seed
        waiting = [n for n in problem.networks if n.waits_for]
        recurs += member.window_ps is not None and bool(waiting)
        later += bool(member.window_ps and member.window_ps[0]) and bool(waiting)
        paced += any(network.paced and network.repeats > 1 for network in waiting)
        unequal += any(
            problem.releases(n) != problem.releases(m)
            for n, network in enumerate(problem.networks)
            for m in network.waits_for
        )
    assert recurs > 16
    assert later > 4
    assert paced > 24
    assert unequal > 40


def test_starts_follow_the_ends_of_what_is_waited_for():
    for seed in range(300, 340):
        rng, problem = drawn(seed)
        design = random_design(rng, problem)
        rows = schedule_of(problem, design).groups
        begin, end = {}, {}
        for row in rows:
            network = problem.networks[row.network]
            k = (row.frame - 1) * problem.releases(row.network) + (row.repeat - 1) * network.paced
            at = row.network, k
            begin[at] = min(begin.get(at, row.start_ps), row.start_ps)
            end[at] = max(end.get(at, 0), row.end_ps)
        for (n, k), start in begin.items():
            for m in problem.networks[n].waits_for:
                # Without arrivals, the last of those due at the same instant or before.
                own, others = problem.releases(n), problem.releases(m)
                last = max(j for j in range((k + 1) * others) if j * own <= k * others)
                assert start >= end[m, last], seed


def test_a_third_program_recomputes_them(tmp_path):
    for seed in range(500, 520):
        rng, problem = drawn(seed)
        rows = np.stack([random_design(rng, problem).row for _ in range(2)])
        members = make_members(problem, rows, make_outcomes(problem)(rows).objectives)
        assert recomputed_members(tmp_path, problem, members) == 0, seed


def test_phases_and_rates_exclude_each_other():
    networks = (
        WorkloadNetwork("prompt", "a", rate_hz=Fraction(30)),
        WorkloadNetwork(
            "answer",
            "a",
            rate_hz=Fraction(30),
            waits_for=("prompt",),
            continues="prompt",
            dimensions=(("past", 1),),
            grows=(("past", 1),),
        ),
    )
    with pytest.raises(WorkloadError, match="'answer': continues excludes rate_hz, of other"):
        check_workload(Workload(networks))


@pytest.mark.parametrize("rate", [30, 10])
def test_from_a_file_to_the_results(dse, tmp_path, rate):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "rates.yaml").write_text(
        "networks:\n"
        "  - {name: detect, network: small.onnx, rate_hz: 30}\n"
        f"  - {{name: track, network: small.onnx, rate_hz: {rate}, waits_for: [detect]}}\n"
        "  - {name: rest, network: small.onnx, rate_hz: 15, waits_for: [track]}\n"
    )
    folder = tmp_path / "run"
    command = ("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    budget = ("--precision", "fp16", "--groups", "2", "--max-evaluations", "200")
    ran = dse(*command, *budget, "-o", folder)
    assert ran.status == 0, ran.err
    assert "for every design point" in ran.out
    assert dse("verify", folder).status == 0
    assert recomputed(folder) == 0
    assert read_results(folder).problem.networks[1].waits_for == (0,)
