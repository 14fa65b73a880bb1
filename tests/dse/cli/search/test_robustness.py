"""Errors in costs: exact factors, the whole against plain recomputation, and the command."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.oracles.frame_energy import frame_energy_fj
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from paretosoc.common.units import PPM
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.tools.analysis.robustness import (
    OVERLOADED,
    at_clocks_of,
    robustness,
    with_cost_errors,
)
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import design_of, row_of
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import FreeRunning, OneFrame, Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(2, 4))


def half_up(value):
    return math.floor(value + Fraction(1, 2))


def problem_and_rows(seed, count=5):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    rows = np.stack([row_of(random_design(rng, problem)) for _ in range(count)])
    return rng, problem, DesignSpace(problem).canonical(rows)


def test_factors_are_applied_exactly():
    for seed in range(10):
        rng, problem, _ = problem_and_rows(seed)
        factors = rng.integers(100_000, 1_900_000, (problem.group_count, len(problem.units)))
        changed = with_cost_errors(problem, factors)
        for u, (before, after) in enumerate(zip(problem.units, changed.units, strict=True)):
            for at, time in np.ndenumerate(before.time_ps):
                factor = Fraction(int(factors[at[0], u]), PPM)
                if time < 0:
                    assert after.time_ps[at] == -1
                else:
                    assert after.time_ps[at] == max(1, half_up(int(time) * factor))
                demand = half_up(int(before.demand_kbps[at]) / factor)
                assert after.demand_kbps[at] == demand
            assert np.array_equal(before.dynamic_mw, after.dynamic_mw)
            assert np.array_equal(before.idle_mw, after.idle_mw)


def test_times_near_the_limit_do_not_overflow():
    _, problem, _ = problem_and_rows(0)
    near = (1 << 47) - 1
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps < 0, -1, near)) for unit in problem.units
    )
    factors = np.full((problem.group_count, len(units)), 1_200_000, dtype=np.int64)
    changed = with_cost_errors(replace(problem, units=units), factors)
    assert changed.units[0].time_ps.max() == half_up(near * Fraction(6, 5))


def test_errors_that_pass_the_limits_are_refused():
    _, problem, rows = problem_and_rows(0)
    near = (1 << 47) - 1
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps < 0, -1, near)) for unit in problem.units
    )
    with pytest.raises(ResultError, match="with errors of 5 %"):
        robustness(replace(problem, units=units), rows, 0, samples=2)


def test_no_error_changes_nothing():
    for seed in range(10):
        _, problem, rows = problem_and_rows(seed)
        ones = np.full((problem.group_count, len(problem.units)), PPM, dtype=np.int64)
        before = make_outcomes(problem)(rows)
        after = make_outcomes(with_cost_errors(problem, ones))(rows)
        assert np.array_equal(before.objectives, after.objectives)


@pytest.mark.parametrize(
    "execution", [OneFrame(), Periodic(10**10), Pipeline(1)], ids=lambda model: model.model
)
def test_fewer_clocks_give_the_same(execution):
    objectives = (
        Objective(ObjectiveKind.LATENCY),
        Objective(ObjectiveKind.ENERGY),
        Objective(ObjectiveKind.STRETCH),
    )
    for seed in range(20):
        _, problem, rows = problem_and_rows(seed)
        problem = replace(problem, objectives=objectives, execution=execution)
        fewer, fewer_rows = at_clocks_of(problem, rows)
        whole = make_outcomes(problem)(rows)
        small = make_outcomes(fewer)(fewer_rows)
        assert np.array_equal(whole.objectives, small.objectives)
        assert np.array_equal(whole.constraint_values, small.constraint_values)
        assert all(len(domain.frequencies_khz) <= len(rows) for domain in fewer.domains), (
            "only clocks that are used are left"
        )


def test_against_plain_recomputation():
    """Every figure once more: factors drawn as documented, the plain timeline, own quantiles."""
    for seed in range(4):
        _, problem, rows = problem_and_rows(seed, count=4)
        samples, percent, member = 9, 20, 2
        found = robustness(problem, rows, member, samples=samples, seed=5, errors_percent=[percent])
        designs = [design_of(problem, row) for row in rows]

        def plain(changed, designs=designs):
            timelines = [simulate(changed, design) for design in designs]
            energies = [frame_energy_fj(changed, d) for d in designs]
            return [t.frame_end_ps[0] for t in timelines], energies

        exact_times, exact_energies = plain(problem)
        fastest = exact_times.index(min(exact_times))
        assert (found.fastest, found.time) == (fastest, exact_times[member])
        assert found.energy_fj == exact_energies[member]

        rng = np.random.default_rng([5, percent])
        shape = (problem.group_count, len(problem.units))
        times, energies, regrets = [], [], []
        for _ in range(samples):
            factors = PPM + rng.integers(-200_000, 200_000, shape, endpoint=True)
            sample_times, sample_energies = plain(with_cost_errors(problem, factors))
            times.append(sample_times[member])
            energies.append(sample_energies[member])
            best = min(sample_times)
            regrets.append(Fraction(sample_times[fastest] - best, best))
        (level,) = found.levels
        for spread, values in ((level.time, times), (level.energy_fj, energies)):
            values.sort()
            assert (spread.least, spread.largest) == (values[0], values[-1])
            assert (spread.median, spread.percentile_95) == (values[4], values[8])
        still = sum(regret == 0 for regret in regrets)
        assert level.still_fastest_ppm == still * PPM // samples
        near = sum(regret <= Fraction(1, 100) for regret in regrets)
        assert abs(level.near_fastest_ppm - near * PPM // samples) <= PPM // samples
        assert level.regret_ppm.largest >= math.floor(max(regrets) * PPM)
        assert level.feasible_ppm == PPM

        worst = []
        for group in range(problem.group_count):
            for factor in (1_200_000, 800_000):
                factors = np.full(shape, PPM, dtype=np.int64)
                factors[group] = factor
                worst.append(simulate(with_cost_errors(problem, factors), designs[member]))
        assert level.worst_groups[0].time == max(t.frame_end_ps[0] for t in worst)
        assert len({entry.group for entry in level.worst_groups}) == len(level.worst_groups)


def test_a_seed_gives_the_same_and_another_one_does_not():
    _, problem, rows = problem_and_rows(3)
    first = robustness(problem, rows, 0, samples=20, seed=1)
    assert robustness(problem, rows, 0, samples=20, seed=1) == first
    assert robustness(problem, rows, 0, samples=20, seed=2) != first
    alone = robustness(problem, rows, 0, samples=20, seed=1, errors_percent=[10])
    assert alone.levels == (first.levels[1],), "a level does not depend on the others"


def test_a_front_of_one_member_stays_the_fastest():
    _, problem, rows = problem_and_rows(4, count=1)
    for level in robustness(problem, rows, 0, samples=10).levels:
        assert level.still_fastest_ppm == PPM
        assert level.regret_ppm.largest == 0


def test_constraints_are_held_against_the_errors():
    _, problem, rows = problem_and_rows(6)
    makespan = int(make_outcomes(problem)(rows).objectives[0, 0])
    timed = replace(problem, execution=Periodic(makespan))
    (level,) = robustness(timed, rows, 0, samples=60, errors_percent=[20]).levels
    assert 0 < level.feasible_ppm < PPM


@pytest.mark.parametrize(
    "wrong", [{"member": 9}, {"member": -1}, {"samples": 0}, {"errors_percent": [0]}]
)
def test_arguments_that_are_refused(wrong):
    _, problem, rows = problem_and_rows(0)
    arguments = {"member": 0, "samples": 1, **wrong}
    with pytest.raises(WorkloadError):
        robustness(problem, rows, **arguments)


def test_networks_without_a_common_frame_are_refused():
    _, problem, rows = problem_and_rows(0)
    free = replace(problem, execution=FreeRunning(1))
    with pytest.raises(WorkloadError, match="frames in common are required, got free-running"):
        robustness(free, rows, 0, samples=1)


def test_command(dse, pair_folder):
    front = read_results(pair_folder)
    got = dse("analyze", "robustness", pair_folder, "--samples", "20", "--json", "--member", "knee")
    assert (got.status, got.err) == (0, "")
    document = json.loads(got.out)
    assert [level["percent"] for level in document["levels"]] == [5, 10, 20]
    member = front.members[document["member"]]
    assert (document["objective"], document["time"]) == ("latency_ps", member.makespan_ps)
    assert document["energy_fj"] == member.energy_fj
    makespans = [entry.makespan_ps for entry in front.members]
    assert makespans[document["fastest"]] == min(makespans)
    worst = document["levels"][0]["worst_groups"][0]
    assert worst["network"] in {"inception_v1", "squeezenet"}
    table = dse("analyze", "robustness", pair_folder, "--samples", "20", "--error", "10")
    assert table.status == 0
    assert "10 %" in table.out
    assert "20 %:" not in table.out
    assert "still the" in table.out


def test_networks_with_rates_are_compared_by_their_responses():
    """Against the plain evaluator; samples in which nothing recurs have no time."""
    compared = overloaded = 0
    for seed in range(12):
        rng = np.random.default_rng([61, seed])
        problem = with_rates(rng, random_problem(rng, SHAPE))
        rows = np.stack([row_of(random_design(rng, problem)) for _ in range(4)])
        rows = DesignSpace(problem).canonical(rows)
        problem = replace(problem, objectives=(Objective(ObjectiveKind.RELATIVE_RESPONSE),))
        plain = [played(problem, row) for row in rows]
        if min(plain) == OVERLOADED:
            continue
        member, samples = plain.index(min(plain)), 8
        found = robustness(problem, rows, member, samples=samples, seed=3, errors_percent=[60])
        assert (found.objective.kind, found.fastest) == (problem.objectives[0].kind, member)
        assert found.time == plain[member]
        drawn = np.random.default_rng([3, 60])
        times, regrets = [], []
        for _ in range(samples):
            shape = problem.group_count, len(problem.units)
            factors = PPM + drawn.integers(-600_000, 600_000, shape, endpoint=True)
            own = [played(with_cost_errors(problem, factors), row) for row in rows]
            times.append(own[member])
            regrets.append(own[member] - min(own))
        (level,) = found.levels
        assert (level.time.least, level.time.largest) == (min(times), max(times))
        assert level.still_fastest_ppm == sum(r == 0 for r in regrets) * PPM // samples
        compared += 1
        overloaded += max(times) == OVERLOADED
    assert compared > 5
    assert overloaded > 0


def played(problem, row):
    """The relative response by the plain evaluator."""
    outcome = plain_outcome(problem, design_of(problem, row))
    is_overloaded = any(entry.constraint == "time until all recurs" for entry in outcome.broken)
    return OVERLOADED if is_overloaded else outcome.objectives[0]


@pytest.mark.parametrize(
    "more",
    [
        ("--samples", "0"),
        ("--error", "0"),
        ("--error", "91"),
        ("--seed", "-1"),
        ("--member", "no"),
    ],
)
def test_command_refuses_in_one_line(dse, pair_folder, more):
    got = dse("analyze", "robustness", pair_folder, *more)
    assert (got.status, got.out, len(got.lines)) == (2, "", 1)
