"""GPU & DSA: each network on one unit, not all on the same (HaX-CoNN, 5, baseline 2; Case 2 of
Fig. 1)."""

from __future__ import annotations

import itertools

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import (
    Baseline,
    at_fastest_clocks,
    gpu_of,
    has_gpu,
    whole_networks,
)

MAX_ASSIGNMENTS = 4096
MAX_FREE_ASSIGNMENTS = 256
"""For free-running networks, where one simulation may take a thousand times as long."""


class GpuAndDsa(Baseline):
    """Whole networks on units, at least two units used; a single network leaves the GPU.

    Assumed: of all such assignments the paper's authors took the best; so all are proposed, and the
    best by the timeline, with contention, represents the method. Of more than ``MAX_ASSIGNMENTS``
    (``MAX_FREE_ASSIGNMENTS`` where networks run freely) one is: the longest network first, each to
    the unit that is done first, at least one elsewhere. What a unit cannot run falls back to the
    GPU, as in TensorRT.
    """

    name = "gpu-and-dsa"
    label = "GPU & DSA"

    def title(self) -> str:
        """In other words where there is no GPU."""
        return self.label if has_gpu(self._space) else "one unit per network"

    def rows(self) -> IntArray:
        """[assignments, width]; none where there is one unit."""
        space = self._space
        units, networks = len(space.problem.units), len(space.size)
        if units < 2:
            return self._nothing()
        has_frame = space.problem.execution.has_frame
        if units**networks > (MAX_ASSIGNMENTS if has_frame else MAX_FREE_ASSIGNMENTS):
            assignments = [self._longest_first()]
        else:
            gpu = gpu_of(space)
            assignments = [
                list(choice)
                for choice in itertools.product(range(units), repeat=networks)
                if (len(set(choice)) > 1 if networks > 1 else choice[0] != gpu)
            ]
        mappings = np.stack([whole_networks(space, choice) for choice in assignments])
        return at_fastest_clocks(space, np.unique(mappings, axis=0))

    def _longest_first(self) -> list[int]:
        space = self._space
        units = range(len(space.problem.units))
        load = [0] * len(units)
        times = []
        for network in space.problem.networks:
            groups = list(network.groups)
            rows = [space.fastest_time[groups, u] for u in units]
            runs = [bool(space.problem.allowed[groups, u].all()) for u in units]
            times.append(
                {u: network.repeats * int(rows[u].sum()) for u in units if runs[u]}
                or {gpu_of(space): 0}
            )
        chosen = [0] * len(times)
        for n in sorted(range(len(times)), key=lambda n: -min(times[n].values())):
            unit = min(times[n], key=lambda u: (load[u] + times[n][u], u))
            chosen[n] = unit
            load[unit] += times[n][unit]
        if len(set(chosen)) == 1 and len(chosen) > 1:
            # One unit is so fast that all are there: the network that loses least leaves it.
            losses = [(t, n, u) for n in range(len(times)) for u, t in times[n].items()]
            _, n, unit = min(loss for loss in losses if loss[2] != chosen[0])
            chosen[n] = unit
        return chosen
