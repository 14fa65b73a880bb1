"""Periods of frames and their rates, in integers that never claim too much, and rates relative to
each network alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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
    """Return the times of all repeats, [groups, operating points]. NEVER if the unit cannot run
    it."""
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
