"""The time from an event to the output of a chain of networks with rates.

After Davare et al., "Period Optimization for Hard Real-time Distributed Automotive Systems", DAC
2007: a network that reads what is newest adds its period and its response. One that waits for the
network before it takes that network's result by number, and only adds the time between their
releases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from paretosoc.results.problem.problem import Problem


def reaction_ps(problem: Problem, responses_ps: Sequence[int], chain: Sequence[int]) -> int:
    """Return an upper bound of the reaction time along a chain: from an event that the first
    network just missed to the end of the last one's first release that knows of it. No output is
    older either, when the next replaces it.

    Networks read when they start and write when they end. Releases that come late are accounted
    for if the responses are: these count from releases in time.

    Args:
        responses_ps: [networks], the longest of each.
        chain: networks, each of which reads the one before it.
    """
    first = chain[0]
    total = _longest_period_ps(problem, first)
    for before, n in pairwise(chain):
        if before in problem.networks[n].waits_for:
            total += _longest_step_ps(problem, before, n)
        else:
            total += responses_ps[before] + _longest_period_ps(problem, n)
    return total + responses_ps[chain[-1]]


def _longest_period_ps(problem: Problem, n: int) -> int:
    """Return the longest time from a release to the next."""
    return max(
        _release_ps(problem, n, k + 1) - _release_ps(problem, n, k)
        for k in range(problem.releases(n))
    )


def _longest_step_ps(problem: Problem, before: int, n: int) -> int:
    """Return the longest time from a release of a network to the first one of network n, which
    waits for it, that takes its result or a later one."""
    count, own = problem.releases(before), problem.releases(n)
    return max(
        _release_ps(problem, n, -(-k * own // count)) - _release_ps(problem, before, k)
        for k in range(count)
    )


def _release_ps(problem: Problem, n: int, k: int) -> int:
    """Return when release k is, which may be one of a later period."""
    periods, k = divmod(k, problem.releases(n))
    return problem.release_ps(n, k) + periods * (problem.execution.period_ps or 0)
