"""One unit per network at free clocks: the front that needs no mapping inside networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, at_fastest_clocks, whole_networks
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.front.mapping_gain import ONE_UNIT, ONE_UNIT_LABEL
from paretosoc.results.problem.execution import FreeRunning, Pipeline, Rates
from paretosoc.results.problem.interchangeable import interchangeable_before

MAX_EXECUTIONS = 40_000_000
"""Executions of groups in all simulations: about two seconds of one core."""
MAX_MAPPINGS = 20_000
"""Mappings that are written down: about half a second of one core."""
_FRAMES = {Rates: 4, Pipeline: 50, FreeRunning: 2_000}
"""About how many frames a simulation takes, if not one."""


class OneUnit(Baseline):
    """Whole networks on units in every way, at all clocks and priorities that may be chosen.

    It proposes all of them, a mapping at a time, so that its front is exact. It proposes none if
    there are more than ``MAX_MAPPINGS`` or if simulating them takes more than ``MAX_EXECUTIONS``.
    Groups that a unit cannot run fall back to the GPU, as in TensorRT. Clocks that nothing depends
    on are at their lowest power.
    """

    name = ONE_UNIT
    label = ONE_UNIT_LABEL
    has_front = True

    def __init__(self, space: DesignSpace) -> None:
        super().__init__(space)
        self._blocks = self._every_block()

    def ask(self) -> IntArray:
        """Return the next mapping at all clocks, none after the last."""
        return next(self._blocks, self._nothing())

    def rows(self) -> IntArray:
        """Return [n, width]: all rows."""
        return np.concatenate((self._nothing(), *self._every_block()))

    def _every_block(self) -> Iterator[IntArray]:
        space, problem = self._space, self._space.problem
        mappings = list(itertools.islice(self._mappings(), MAX_MAPPINGS + 1))
        if len(mappings) > MAX_MAPPINGS:
            return
        starts = at_fastest_clocks(space, np.unique(np.stack(mappings), axis=0))
        axes = [
            self._axes(start, used)
            for start, used in zip(starts, space.domains_used(starts), strict=True)
        ]
        frame = sum(network.repeats * len(network.groups) for network in problem.networks)
        frame *= _FRAMES.get(type(problem.execution), 1)
        if frame * sum(math.prod(map(len, choice)) for choice in axes) > MAX_EXECUTIONS:
            return
        for start, choice in zip(starts, axes, strict=True):
            grid = np.meshgrid(*choice, indexing="ij")
            rows = np.repeat(start[None], grid[0].size, axis=0)
            rows[:, space.groups :] = np.stack([axis.reshape(-1) for axis in grid], axis=1)
            rows = space.repair(np.random.default_rng(0), rows)
            # Rows with too many transitions have been repaired to another mapping.
            same = (rows[:, : space.groups] == start[: space.groups]).all(axis=1)
            if same.any():
                yield rows[same]

    def _axes(self, start: IntArray, used: IntArray) -> list[IntArray]:
        """Return the points of each setting that make a difference, with the fastest of others."""
        space = self._space
        memory = space.problem.memory_domain
        return [
            points
            if used[d] or d == memory or d >= len(space.problem.domains)
            else start[space.groups + d : space.groups + d + 1]
            for d, points in enumerate(space.points)
        ]

    def _mappings(self) -> Iterator[IntArray]:
        """Yield every mapping, [groups]. Of alike units the first ones are used."""
        space = self._space
        before = interchangeable_before(space.problem)
        units = range(len(space.problem.units))
        for choice in itertools.product(units, repeat=len(space.size)):
            if all(before[unit] < 0 or before[unit] in choice[:n] for n, unit in enumerate(choice)):
                yield whole_networks(space, list(choice))
