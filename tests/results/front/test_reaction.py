"""Reaction times along chains, against chains that are followed release by release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.oracles.planned_play import play, stand_alone_ps
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
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.guarantee import plain_guarantee
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.front import Member
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import reaction_ps
from tests.dse.workload.test_waiting_releases import eye_and_track
from tests.fitness.guarantee.test_guarantee import late_releases, times_within, with_jitter

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


def followed_ps(problem: Problem, jobs: Jobs, chain: Sequence[int], periods: range) -> int:
    """Follow the releases of these periods: every event right after one of the first network to
    the output that knows of it, and every output that is being replaced back to its release. Return
    the longest."""
    first, last = chain[0], chain[-1]

    def numbers(n: int) -> range:
        return range(periods.start * problem.releases(n), periods.stop * problem.releases(n))

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


def recurring_ps(problem: Problem, member: Member, chain: Sequence[int], begin: int) -> int:
    """Follow the nominal releases of two recurrences."""
    assert member.window_ps is not None
    length = (member.window_ps[1] - member.window_ps[0]) // (problem.execution.period_ps or 1)
    jobs = jobs_of(problem, member, begin + (SETTLED + 2) * length * (len(chain) + 2))
    return followed_ps(problem, jobs, chain, range(begin, begin + 2 * length))


@pytest.mark.parametrize("waits", [True, False])
def test_a_chain_of_two(waits: bool) -> None:
    """The eye is released every 6 and takes 2, the track takes 5: it waits 2 for the eye, or reads
    the result of the eye's release before."""
    problem = eye_and_track()
    if not waits:
        networks = (problem.networks[0], replace(problem.networks[1], waits_for=()))
        problem = replace(problem, networks=networks)
    member = member_of(problem, np.array([0, 1, 0]))
    assert reaction_ps(problem, member.latencies_ps, [0, 1]) == (6 + 7 if waits else 6 + 2 + 6 + 5)
    assert recurring_ps(problem, member, [0, 1], SETTLED) == (6 + 7 if waits else 6 + 6 + 5)


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
        if member.is_overloaded:
            seen.add("overloaded")
            continue
        bound = reaction_ps(problem, member.latencies_ps, chain)
        assert member.window_ps is not None
        begin = 1 + member.window_ps[1] // (problem.execution.period_ps or 1)
        found = recurring_ps(problem, member, chain, begin)
        assert found <= bound, (seed, chain)
        direct = any(m in problem.networks[n].waits_for for m, n in pairwise(chain))
        seen.add(("waits" if direct else "reads", 2 * found > bound))
    assert {("waits", True), ("reads", True)} <= seen, seen


def test_no_chain_takes_longer_when_releases_are_late() -> None:
    """Periods one after the other, each with times and late releases of its own."""
    shape = RandomShape(networks=(2, 4), groups=(1, 2), units=(2, 3), points=(1, 2))
    seen, periods = set(), 8
    for seed in range(40):
        rng = np.random.default_rng((59, seed))
        problem = with_rates(rng, random_problem(rng, shape))
        if seed % 2:
            problem = with_waiting_releases(rng, problem)
        design = random_design(rng, problem)
        alone = stand_alone_ps(problem, design)
        order = play(problem, design, alone).order
        # Long enough for everything to end in it.
        room = 3 * max(play(problem, design, alone, order).end.values())
        rates = replace(problem.execution, period_ps=room)
        problem = with_jitter(rng, replace(problem, execution=rates))
        order = play(problem, design, alone).order
        schedule = simulate(problem, design).schedule
        bounds = plain_guarantee(problem, design, schedule, (700, 1100))
        if bounds.makespan_ps > room:
            seen.add("does not fit")
            continue
        jobs: Jobs = {n: {} for n in range(len(problem.networks))}
        for p in range(periods):
            times, late = times_within(rng, alone, (700, 1100)), late_releases(rng, problem)
            played = play(problem, design, times, order, late)
            for (repeat, group), start in played.start.items():
                n = problem.network_of[group]
                number = p * problem.releases(n) + (repeat if problem.networks[n].paced else 1) - 1
                release = p * room + problem.release_ps(n, repeat - 1)
                begun, end = p * room + start, p * room + played.end[repeat, group]
                _, earliest, latest = jobs[n].get(number, (0, begun, 0))
                jobs[n][number] = release, min(earliest, begun), max(latest, end)
        chain = rng.permutation(len(problem.networks))[:2].tolist()
        waiting = [(m, n) for n, each in enumerate(problem.networks) for m in each.waits_for]
        if waiting and rng.integers(3):
            chain = list(waiting[int(rng.integers(len(waiting)))])
        bound = reaction_ps(problem, bounds.latency_ps, chain)
        found = followed_ps(problem, jobs, chain, range(2, periods - 4))
        assert found <= bound, (seed, chain)
        nominal = member_of(replace(problem, guarantee=False), design.row)
        beyond = found > reaction_ps(problem, nominal.latencies_ps, chain)
        seen.add((chain[0] in problem.networks[chain[1]].waits_for, beyond))
    # Bounds that leave late releases out are not above all of these runs.
    assert {(True, True), (False, True)} <= seen, seen
