"""Reaction times along chains, against chains that are followed release by release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_batches,
    with_rates,
    with_waiting_releases,
)
from paretosoc.dse.space.members import make_members
from paretosoc.dse.tools.host.machine.execution_plan import predicted_releases
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.front import Member
from paretosoc.results.front.reaction import reaction_ps
from paretosoc.results.problem.problem import Problem
from tests.dse.workload.test_waiting_releases import eye_and_track

SETTLED = 4
"""Periods after which all recurs in these problems, and that a chain may take to its end."""


def member_of(problem: Problem, row: np.ndarray) -> Member:
    rows = row[None]
    return make_members(problem, rows, make_outcomes(problem)(rows).objectives)[0]


Jobs = dict[int, dict[int, tuple[int, int, int]]]
"""Release, start and end of each release, by network and number."""


def jobs_of(problem: Problem, member: Member, periods: int) -> Jobs:
    period = problem.execution.period_ps or 0
    jobs: Jobs = {n: {} for n in range(len(problem.networks))}
    for row in predicted_releases(problem, member.design, periods=periods).values():
        last = row.repeat if problem.networks[row.network].paced else 1
        number = (row.frame - 1) * problem.releases(row.network) + last - 1
        release = (row.frame - 1) * period + problem.release_ps(row.network, last - 1)
        _, start, end = jobs[row.network].get(number, (0, row.start_ps, 0))
        jobs[row.network][number] = release, min(start, row.start_ps), max(end, row.end_ps)
    return jobs


def followed_ps(problem: Problem, member: Member, chain: Sequence[int], begin: int) -> int:
    """Follow the releases of two recurrences: every event right after one of the first network to
    the output that knows of it, and every output that is being replaced back to its release. Return
    the longest."""
    assert member.window_ps is not None
    length = (member.window_ps[1] - member.window_ps[0]) // (problem.execution.period_ps or 1)
    jobs = jobs_of(problem, member, begin + (SETTLED + 2) * length * (len(chain) + 2))
    first, last = chain[0], chain[-1]

    def numbers(n: int) -> range:
        return range(begin * problem.releases(n), (begin + 2 * length) * problem.releases(n))

    def taken(before: int, n: int, k: int) -> int:
        """Return the number of the release whose result a release takes, -1 for none."""
        if before in problem.networks[n].waits_for:
            return k * problem.releases(before) // problem.releases(n)
        start = jobs[n][k][1]
        return max((m for m, job in jobs[before].items() if job[2] <= start), default=-1)

    longest = 0
    for event in numbers(first):
        number = event + 1
        for before, n in pairwise(chain):
            number = next(k for k in sorted(jobs[n]) if taken(before, n, k) >= number)
        longest = max(longest, jobs[last][number][2] - jobs[first][event][0])
    for output in numbers(last):
        number = output
        for n, before in pairwise(reversed(chain)):
            number = taken(before, n, number) if number >= 0 else -1
        if number >= 0:
            longest = max(longest, jobs[last][output + 1][2] - jobs[first][number][0])
    return longest


@pytest.mark.parametrize("waits", [True, False])
def test_a_chain_of_two(waits: bool) -> None:
    """The eye is released every 6 and takes 2, the track takes 5: it waits 2 for the eye, or reads
    the result of the eye's release before."""
    problem = eye_and_track()
    if not waits:
        networks = (problem.networks[0], replace(problem.networks[1], waits_for=()))
        problem = replace(problem, networks=networks)
    member = member_of(problem, np.array([0, 1, 0]))
    assert reaction_ps(problem, member, [0, 1]) == (6 + 7 if waits else 6 + 2 + 6 + 5)
    assert followed_ps(problem, member, [0, 1], SETTLED) == (6 + 7 if waits else 6 + 6 + 5)


def test_no_chain_takes_longer() -> None:
    shape = RandomShape(
        networks=(2, 4), groups=(1, 2), units=(2, 3), points=(1, 2), any_slopes=True
    )
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng((53, seed))
        problem = with_rates(rng, random_problem(rng, shape))
        if seed % 2:
            problem = with_waiting_releases(rng, problem)
        if seed % 3 == 0:
            problem = with_batches(rng, problem)
        member = member_of(problem, random_design(rng, problem).row)
        chain = rng.permutation(len(problem.networks))[: int(rng.integers(2, 4))].tolist()
        waiting = [(m, n) for n, each in enumerate(problem.networks) for m in each.waits_for]
        if waiting and rng.integers(3):
            chain = list(waiting[int(rng.integers(len(waiting)))])
        bound = reaction_ps(problem, member, chain)
        assert (bound is None) == member.is_overloaded
        if bound is None:
            seen.add("overloaded")
            continue
        assert member.window_ps is not None
        begin = 1 + member.window_ps[1] // (problem.execution.period_ps or 1)
        found = followed_ps(problem, member, chain, begin)
        assert found <= bound, (seed, chain)
        direct = any(m in problem.networks[n].waits_for for m, n in pairwise(chain))
        seen.add(("waits" if direct else "reads", 2 * found > bound))
    assert {("waits", True), ("reads", True)} <= seen, seen
