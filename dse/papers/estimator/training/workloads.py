"""Random workloads on MapFormer's board, and design points that a search on them visits.

MapFormer 5 draws 2,000 workloads of 1 to 10 networks, maps each at random and lets every component
run at a random clock or not at all. It does not say how partitions were drawn. :func:`random_rows`
says how it is done here.
"""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping, Sequence
from functools import lru_cache

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.predictor import Predictor, TimelinePredictor
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.space.design_space import DesignSpace, Random
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.problem import Problem

PLATFORM = "jetson-agx-xavier"
GROUPS = 20
"""Groups per network: ten networks have about 200 of them (MapFormer maps more than 1,000 layers
one by one)."""
MIN_NETWORKS, MAX_NETWORKS = 1, 10
WHOLE_SHARE, IMPROVED_SHARE = 0.25, 0.25
"""Shares of rows that put each network on one unit, and that were improved; the rest is random."""
MAX_IMPROVEMENTS = 40


def random_workload(
    rng: Random, networks: Sequence[str], *, least: int = MIN_NETWORKS, most: int = MAX_NETWORKS
) -> tuple[str, ...]:
    """Draw from ``least`` to ``most`` of ``networks``, any number of them equally likely, none
    twice.

    Raises:
        WorkloadError: if there are fewer networks than a workload may have.
    """
    if not 1 <= least <= most <= len(networks):
        raise WorkloadError(
            f"workloads of {least} to {most} networks: from 1 to {len(networks)} are required"
        )
    count = int(rng.integers(least, most + 1))
    return tuple(networks[i] for i in rng.choice(len(networks), count, replace=False).tolist())


def build(
    names: Sequence[str],
    platform: str = PLATFORM,
    *,
    groups: int = GROUPS,
    known: MutableMapping[Hashable, NetworkTables] | None = None,
) -> Problem:
    """Return the problem of a workload: networks that run freely, for mean throughput and power.

    Args:
        known: networks that earlier calls have cut and costed. New ones are added.
    """
    options = Options(objectives=("throughput", "power"), groups=groups, free_running=True)
    chip = _chip(platform)
    return build_problem(workload_from(list(names)), chip, options, known=known).problem


@lru_cache(maxsize=4)
def _chip(platform: str) -> Platform:
    """Return a platform, cached: checking its file takes longer than building a problem on it."""
    return load_platform(platform)


def random_rows(rng: Random, problem: Problem, n: int, judge: Predictor | None = None) -> IntArray:
    """Draw [n, groups + domains]: a mix of design points, canonical rows.

    A quarter puts each network on one unit, as simple managers do. A quarter has gone through up to
    40 changes, of which those that made it better were kept, "better" being a random weighing of
    throughput against power. The rest cuts each network into one to three parts on random units.
    All begin with random clocks. Units without groups are off.

    Args:
        judge: decides which changes are improvements. None: the timeline.
    """
    space = DesignSpace(problem)
    kind = rng.random(n)
    rows = space.random(rng, n)
    whole = np.flatnonzero(kind < WHOLE_SHARE)
    if len(whole):
        rows[whole] = _whole_networks(space, rng, rows[whole])
    chosen = np.flatnonzero(kind >= 1.0 - IMPROVED_SHARE)
    if len(chosen):
        rows[chosen] = _improved(space, rng, rows[chosen], judge or TimelinePredictor())
    return rows


def _whole_networks(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    units = rng.integers(0, len(space.problem.units), (len(rows), len(space.first)))
    result = rows.copy()
    result[:, : space.groups] = units[:, space.owner]
    return space.repair(rng, result, space.domains_used(rows))


def _improved(space: DesignSpace, rng: Random, rows: IntArray, judge: Predictor) -> IntArray:
    weight = rng.random(len(rows))
    changes = rng.integers(1, MAX_IMPROVEMENTS + 1, len(rows))
    value = _value(space.problem, judge, rows, weight)
    for step in range(int(changes.max())):
        tried = space.repair(rng, space.mutate(rng, rows), space.domains_used(rows))
        new = _value(space.problem, judge, tried, weight)
        better = (new > value) & (step < changes)
        rows = np.where(better[:, None], tried, rows)
        value = np.where(better, new, value)
    return rows


def _value(problem: Problem, judge: Predictor, rows: IntArray, weight: FloatArray) -> FloatArray:
    """Return [n]: throughput weighed against power, in logarithms."""
    judged = judge.predict(problem, rows)
    value: FloatArray = weight * np.log(judged.throughput_hz)
    return value - (1.0 - weight) * np.log(judged.power_w)
