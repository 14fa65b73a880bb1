"""What a network reaches alone, and rates beside that: by hand, by playing, and in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import relative_rates_ppm, times_alone_ps
from tests.support.problems.small_problems import network, problem


def test_the_best_unit_by_hand() -> None:
    # Groups 0 and 1: 30 ps on the first unit, 25 on the second; 24 if each had its own best one.
    times = [[10, 9], [20, 16], [7, 3], [8, 90]]
    both = problem([network("a", 0, 2), network("b", 2, 2, repeats=3)], times)
    assert times_alone_ps(both) == (25, 3 * 15)


def test_what_a_unit_cannot_run_counts_as_it_is_at_best() -> None:
    times = [[10, -1, 4], [20, 5, -1], [9, 9, -1]]
    only = problem([network("a", 0, 3)], times)
    # 39 on the first unit; 4 + 5 + 9 on the second and on the third with the others' help.
    assert times_alone_ps(only) == (18,)


def test_clocks_that_may_not_be_chosen_count() -> None:
    """``--fix`` does not change what rates are compared with."""
    names = ["squeezenet", "alexnet"]
    chip = load_platform("jetson-agx-xavier")
    options = Options(objectives=("throughput", "power"), groups=3, free_running=True)
    free = build_problem(workload_of(names), chip, options).problem
    fixed = replace(options, fixed=(("gpu", "min"), ("emc", "min")))
    assert times_alone_ps(build_problem(workload_of(names), chip, fixed).problem) == times_alone_ps(
        free
    )


@pytest.mark.parametrize("name", ["squeezenet", "alexnet", "googlenet"])
def test_a_network_that_has_its_best_unit_for_itself_reaches_it(name: str) -> None:
    built = build_problem(
        workload_of([name]),
        load_platform("jetson-agx-xavier"),
        Options(objectives=("throughput", "power"), groups=4, free_running=True),
    )
    case = built.problem
    shares = []
    for u, unit in enumerate(case.units):
        if not case.allowed[:, u].all():
            continue
        frames = unit.time_ps.sum(axis=0)
        at = np.unravel_index(int(frames.argmin()), frames.shape)
        row = np.array([u] * case.group_count + [0] * len(case.domains), dtype=np.int64)
        for clock, point in zip(unit.clocks, at, strict=True):
            row[case.group_count + clock] = point
        periods = make_long_run_evaluator(case)(row[None]).stream_period_ps
        assert periods.tolist() == [[int(frames.min())]]
        shares.append(relative_rates_ppm(case, periods).item())
    assert max(shares) == 10**6
    assert len(shares) > 1


@pytest.mark.parametrize("seed", range(30))
def test_no_unit_and_no_clock_is_better_alone(seed: int) -> None:
    shape = RandomShape(groups=(1, 5), unsupported=0.3)
    case: Problem = random_problem(np.random.default_rng(seed), shape)
    for entry, time in zip(case.networks, times_alone_ps(case), strict=True):
        whole = []
        for unit in case.units:
            frames = unit.time_ps[entry.groups.start : entry.groups.stop]
            if (frames >= 1).all():
                whole.append(entry.repeats * int(frames.sum(axis=0).min()))
        assert all(time <= one for one in whole)
        best = [
            min(int(t) for unit in case.units for t in unit.time_ps[g].reshape(-1) if t >= 1)
            for g in entry.groups
        ]
        assert time >= entry.repeats * sum(best)


def test_a_share_is_rounded_down_and_fits_in_int64() -> None:
    case = problem([network("a", 0, 1), network("b", 1, 1)], [[3], [1 << 46]])
    periods = np.array([[7, 1], [INT64_MAX, 10**18]], dtype=np.int64)
    assert relative_rates_ppm(case, periods).tolist() == [[428_571, INT64_MAX], [0, 70]]


def test_a_rate_of_a_network_in_a_common_frame_is_refused(make_problem) -> None:
    from paretosoc.results.errors import ResultError
    from paretosoc.results.problem.problem_file import problem_bytes

    base = make_problem()
    fair = replace(base, objectives=(Objective(ObjectiveKind.FAIRNESS),))
    with pytest.raises(ResultError, match=r"\$\.objectives\[0\]: fairness is an objective of"):
        problem_bytes(fair)
    limited = replace(base.networks[1], min_rate_uhz=1)
    with pytest.raises(ResultError, match=r"\$\.networks\[1\]\.min_rate_uhz: must be null"):
        problem_bytes(replace(base, networks=(base.networks[0], limited, *base.networks[2:])))
