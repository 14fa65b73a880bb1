"""Whole networks on one unit: GPU only and GPU & DSA (HaX-CoNN, 5, baselines 1 and 2, Cases 1 and 2
of Fig. 1), and TensorRT-style, the GPU through one core at every clock (Tang et al., 5.3)."""

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
from paretosoc.results.problem.objectives import ObjectiveKind


class GpuOnly(Baseline):
    """Every group on the GPU.

    Assumed: groups of networks that wait at the same time take turns in the order of the timeline's
    queue. Groups that the GPU cannot run go to the unit that is fastest for them.
    """

    name = "gpu-only"
    label = "GPU only"

    def title(self) -> str:
        """Return the label, with the name of the unit that stands for a missing GPU. Groups that
        pins or their layers keep off it are told."""
        gpu, problem = gpu_of(self._space), self._space.problem
        unit = "GPU" if has_gpu(self._space) else problem.units[gpu].name
        return f"{unit} {'only' if problem.allowed[:, gpu].all() else 'where allowed'}"

    def rows(self) -> IntArray:
        """Return [1, width]."""
        gpu = gpu_of(self._space)
        return self._row(whole_networks(self._space, [gpu] * len(self._space.size)))


MAX_ASSIGNMENTS = 4096
MAX_FREE_ASSIGNMENTS = 256
"""The same for free-running networks, as one simulation may take a thousand times as long."""


class GpuAndDsa(Baseline):
    """Whole networks on units, at least two units used. A single network leaves the GPU.

    Assumed: of all such assignments the paper's authors took the best. So all are proposed, and the
    best by the timeline, with contention, represents the method. If there are more than
    ``MAX_ASSIGNMENTS`` (``MAX_FREE_ASSIGNMENTS`` if networks run freely) one is proposed: the
    longest network first, each to the unit that is done first, at least one elsewhere. Groups that
    a unit cannot run fall back to the GPU, as in TensorRT.
    """

    name = "gpu-and-dsa"
    label = "GPU & DSA"

    def title(self) -> str:
        """Return the label. Without a GPU: which assignments were tried."""
        if has_gpu(self._space):
            return self.label
        unit = self._space.problem.units[gpu_of(self._space)].name
        alone = len(self._space.size) == 1
        return f"not on {unit}" if alone else "whole networks on two or more units"

    def rows(self) -> IntArray:
        """Return [assignments, width], none if there is one unit, or no other runs anything."""
        space = self._space
        units, networks, gpu = len(space.problem.units), len(space.size), gpu_of(space)
        has_frame = space.problem.execution.has_frame
        if units**networks > (MAX_ASSIGNMENTS if has_frame else MAX_FREE_ASSIGNMENTS):
            assignments = [self._longest_first()]
        else:
            assignments = [
                list(choice)
                for choice in itertools.product(range(units), repeat=networks)
                if (len(set(choice)) > 1 if networks > 1 else choice[0] != gpu)
            ]
        alone = whole_networks(space, [gpu] * networks)
        mappings = [whole_networks(space, choice) for choice in assignments]
        others = [mapping for mapping in mappings if (mapping != alone).any()]
        return at_fastest_clocks(space, np.unique(others, axis=0)) if others else self._nothing()

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


class TensorRtStyle(Baseline):
    """Every group on the GPU, which one core feeds, at all clocks that the GPU has among its own:
    on a Jetson TX2 with the memory's clock held, 12 x 13 of them.

    Unlike the other methods it yields a front, not one point. It applies if throughput is an
    objective. Assumed: groups that the GPU cannot run go to the unit that is fastest for them.
    """

    name = "tensorrt-style"
    label = "TensorRT-style"
    has_front = True

    def rows(self) -> IntArray:
        """Return [clock choices, width]."""
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
