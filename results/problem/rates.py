"""Periods of frames and their rates, in integers that never claim too much, rates relative to each
network alone, and reaction times.

The time from an event to the output of a chain of networks with rates is after Davare et al.,
"Period Optimization for Hard Real-time Distributed Automotive Systems", DAC 2007: a network that
reads what is newest adds its period and its response. One that waits for the network before it
takes that network's result by number, and only adds the time between their releases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PPM, UHZ_PS
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from paretosoc.results.front.front import Member

NEVER = INT64_MAX
"""Stands for the time if a unit cannot run a group."""


def rate_uhz(period_ps: int) -> int:
    """Return the frames in 10^6 s, rounded down."""
    return UHZ_PS // period_ps


def time_per_image_ps(images: Sequence[int], periods_ps: Sequence[int]) -> int:
    """Return the time that belongs to the mean over n networks of images per second, rounded up:
    n / (sum of images / frame period), at most 2**63 - 1.

    Args:
        images: [networks]: of a frame (:attr:`results.problem.problem.Problem.images`).
        periods_ps: [networks], or the one period of a frame that all share.
    """
    count = len(images)
    if len(periods_ps) == 1:
        images = (sum(images),)
    above, below = 0, 1
    for number, period in zip(images, periods_ps, strict=True):
        above, below = above * period + number * below, below * period
    return min(-(-count * below // above), INT64_MAX)


def frame_period_limit_ps(problem: Problem, per_image_ps: int) -> int:
    """Return the longest period of a shared frame that keeps to a limit on the time per image."""
    return per_image_ps * sum(problem.images) // len(problem.networks)


@lru_cache(maxsize=4)
def times_alone_ps(problem: Problem) -> tuple[int, ...]:
    """Return, per network, the time of one frame alone on its best unit.

    The least, over the units and all operating points of each unit's clocks, allowed or not, of
    the sum of the stand-alone times of its groups in all repeats. A group that the unit cannot run
    counts with its smallest time on any unit. A network that has a unit for itself, and all its
    groups there, ends a frame after each such time.
    """
    tables = [_times(problem, u) for u in range(len(problem.units))]
    best = np.min([table.min(axis=1) for table in tables], axis=0)
    times = []
    for network in problem.networks:
        inside = slice(network.groups.start, network.groups.stop)
        smallest = best[inside, None]
        frames = [
            np.where(table[inside] < NEVER, table[inside], smallest).sum(axis=0).min()
            for table in tables
        ]
        times.append(int(min(frames)))
    return tuple(times)


def _times(problem: Problem, u: int) -> IntArray:
    """Return the times of all repeats, [groups, operating points], NEVER if it cannot run."""
    table = problem.frame_ps(u).reshape(problem.group_count, -1)
    return np.where(table < 1, NEVER, table)


def relative_rates_ppm(problem: Problem, periods_ps: IntArray) -> IntArray:
    """Return each network's rate as a share of the rate that it reaches alone, [..., networks]. It
    is :func:`times_alone_ps` over its period, rounded down, at most 2**63 - 1.

    Args:
        periods_ps: [..., networks], of networks that run freely.
    """
    # In Python's integers: a time of ten seconds in ppm of a picosecond is beyond int64.
    alone = np.array(times_alone_ps(problem), dtype=object)
    shares = PPM * alone // np.asarray(periods_ps).astype(object)
    result: IntArray = np.minimum(shares, INT64_MAX).astype(np.int64)
    return result


def member_relative_ppm(problem: Problem, member: Member) -> tuple[int, ...]:
    """Return the relative rates of a member, empty if networks share a frame."""
    if member.free_run is None:
        return ()
    periods = np.array(member.free_run.periods_ps, dtype=np.int64)
    return tuple(relative_rates_ppm(problem, periods).tolist())


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
