"""Faster networks repeated to match the slowest (HaX-CoNN, 5.4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import whole_networks
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import as_written
from paretosoc.results.problem.problem import Problem

MAX_REPEATS = 1000


def balanced(problem: Problem) -> Problem:
    """Return the problem with faster networks repeated to match the slowest (HaX-CoNN, 5.4).

    A network's time is that of all its repeats on its best unit alone, at the fastest clocks. It is
    repeated as often as brings that nearest to the slowest network's.

    Raises:
        WorkloadError: if a network would have to run more than ``MAX_REPEATS`` times.
        ResultError: if the figures leave int64.
    """
    times = alone_on_best_unit(problem)
    networks = []
    for network, time in zip(problem.networks, times, strict=True):
        # Rounded half up, in integers.
        repeats = network.repeats * max(1, (2 * max(times) + time) // (2 * time))
        if repeats > MAX_REPEATS:
            raise WorkloadError(
                f"{as_written('match_repeats')}: {network.name!r} would have to run {repeats} "
                f"times to match the slowest network; at most {MAX_REPEATS} are possible"
            )
        networks.append(replace(network, repeats=repeats))
    result = replace(problem, networks=tuple(networks))
    check_magnitudes(result)
    return result


def alone_on_best_unit(problem: Problem) -> list[int]:
    """Return the time of each network with all its repeats on its fastest unit, in ps.

    Hand-overs are not counted. Groups that this unit cannot run are on their own best unit.
    """
    space = DesignSpace(problem)
    units, count = len(problem.units), len(problem.networks)
    totals: list[IntArray] = []
    for u in range(units):
        mapping = whole_networks(space, [u] * count)
        groups = space.fastest_time[np.arange(space.groups), mapping]
        totals.append(np.add.reduceat(groups, space.first))
    least = np.stack(totals).min(axis=0)
    return [
        network.repeats * int(time) for network, time in zip(problem.networks, least, strict=True)
    ]
