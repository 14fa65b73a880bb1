"""ODMDEF (Lim and Kim, IEEE Access 9, 2021), as MapFormer compares with it.

Known: layers of several networks are given to the CPU and to the GPU, with one query of the cost
models each. These are a linear regression of layer times and a k-nearest-neighbour classifier.
Throughput alone counts, power does not.

Assumed: the layers come in turn, one of each network (in the order of concurrent requests). The
classifier says, from the work and the traffic of the five most similar layers, which unit is the
faster one. A layer goes there unless the work already given to that unit makes it end later, by the
regression, than on the other by more than the layer's own time. Clocks: the power mode of the cap
(:mod:`dse.papers.managers.base`).
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.papers.managers.base import (
    LayerTimes,
    Manager,
    cpu_and_gpu,
    fit_layer_times,
    power_mode,
    whole_row,
)
from paretosoc.dse.space.design_space import DesignSpace

NEIGHBOURS = 5


class Odmdef(Manager):
    """Gives each layer to the unit that its neighbours liked, or to the one that is idle."""

    name = "odmdef"

    def decide(self) -> IntArray:
        """Return [groups + domains]: greedy, layer by layer."""
        space = self._space
        units = cpu_and_gpu(space.problem)
        clocks = power_mode(space, units)
        times = fit_layer_times(space, units)
        seconds = times.predict(clocks)
        liked = _liked_unit(space, times, clocks)
        load = np.zeros(len(units))
        mapping = np.zeros(space.groups, dtype=np.int64)
        # The first group of every network, then the second of every network, ...
        position = np.arange(space.groups) - space.first[space.owner]
        for g in np.lexsort((space.owner, position)).tolist():
            ends = load + seconds[g]
            soonest, first = int(ends.argmin()), int(liked[g])
            if not np.isfinite(ends[first]) or ends[first] > ends[soonest] + seconds[g, first]:
                first = soonest
            load[first] = ends[first]
            mapping[g] = units[first]
        return whole_row(space, mapping, clocks)


def _liked_unit(space: DesignSpace, times: LayerTimes, clocks: IntArray) -> IntArray:
    """Return [groups]: the place in ``times.units`` on which most neighbours, the nearest others by
    the logarithms of work and traffic, run fastest."""
    problem = space.problem
    measured = np.stack(
        [
            np.where(
                problem.allowed[:, u],
                problem.units[u]
                .time_ps[(slice(None), *clocks[list(problem.units[u].clocks)])]
                .astype(np.float64),
                np.inf,
            )
            for u in times.units
        ],
        axis=1,
    )
    fastest = measured.argmin(axis=1)
    figures = np.log(np.maximum(np.stack((times.work_s, times.traffic_bytes), axis=1), 1e-12))
    figures = (figures - figures.mean(axis=0)) / np.maximum(figures.std(axis=0), 1e-12)
    distance: FloatArray = ((figures[:, None] - figures[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :NEIGHBOURS]
    votes = np.stack([(fastest[nearest] == k).sum(axis=1) for k in range(len(times.units))], axis=1)
    liked: IntArray = votes.argmax(axis=1).astype(np.int64)
    return liked
