"""TensorRT-style: everything on the GPU through one core, at every clock (Tang et al., 5.3)."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, at_fastest_clocks, gpu_of, whole_networks
from paretosoc.results.problem.objectives import ObjectiveKind


class TensorRtStyle(Baseline):
    """Every group on the GPU, which one core feeds, at all clocks that the GPU has among its own:
    on a Jetson TX2 with the memory's clock held, 12 x 13 of them.

    Unlike the other methods it yields a front, not one point. It applies where throughput
    is an objective. Assumed: what the GPU cannot run goes to the unit that is fastest for it.
    """

    name = "tensorrt-style"
    label = "TensorRT-style"
    has_front = True

    def rows(self) -> IntArray:
        """[clock choices, width]"""
        space = self._space
        if all(o.kind is not ObjectiveKind.THROUGHPUT for o in space.problem.objectives):
            return self._nothing()
        gpu = gpu_of(space)
        mapping = whole_networks(space, [gpu] * len(space.size))
        clocks = space.problem.units[gpu].clocks
        grid = np.meshgrid(*(space.points[clock] for clock in clocks), indexing="ij")
        choices = np.stack([axis.reshape(-1) for axis in grid], axis=1)
        rows = np.repeat(at_fastest_clocks(space, mapping[None]), len(choices), axis=0)
        rows[:, space.groups + np.array(clocks)] = choices
        return space.canonical(rows)
