"""MOSAIC (Han et al., PACT 2019), as MapFormer compares with it: each network is cut for itself.

Known: layer times by linear regression. A model is cut into slices for heterogeneous processors
with communication in view, optimally, by dynamic programming. Throughput and power count. Other
networks that run are ignored, "thus overloading the embedded GPU" (MapFormer, 2).

Assumed: CPU and GPU only (MapFormer, Table 1). A network's slices are those of least latency by the
regression and the measured transitions. Of the clocks up to the power mode of the cap
(:mod:`dse.papers.managers.base`), each network chooses those at which it draws least energy by
itself. The board runs at the fastest of these.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.papers.managers.base import (
    LayerTimes,
    Manager,
    cpu_and_gpu,
    fit_layer_times,
    mode_steps,
    power_mode,
    whole_row,
)
from paretosoc.dse.space.design_space import DesignSpace

MAX_STEPS = 8
"""Clock settings that a network chooses from."""


class Mosaic(Manager):
    """Slices each network by least latency, at the clocks of least energy."""

    name = "mosaic"

    def decide(self) -> IntArray:
        """Return [groups + domains]: the slices of all networks at the fastest clocks that one
        chooses."""
        space = self._space
        units = cpu_and_gpu(space.problem)
        times = fit_layer_times(space, units)
        steps = _settings(space, units)
        wanted = max(
            _least_energy_step(space, times, steps, network)
            for network in range(len(space.problem.networks))
        )
        clocks = steps[wanted]
        seconds = times.predict(clocks)
        mapping = np.concatenate(
            [
                np.array(units, dtype=np.int64)[_least_latency(space, seconds, units, n)[0]]
                for n in range(len(space.problem.networks))
            ]
        )
        return whole_row(space, mapping, clocks)


def _settings(space: DesignSpace, units: tuple[int, ...]) -> IntArray:
    """Return [settings, domains]: some of the steps up to the power mode, slowest first."""
    steps, mode = mode_steps(space), power_mode(space, units)
    last = int(np.flatnonzero((steps == mode).all(axis=1))[0])
    places = np.unique(np.linspace(0, last, MAX_STEPS).astype(np.int64))
    return steps[places]


def _least_energy_step(space: DesignSpace, times: LayerTimes, steps: IntArray, network: int) -> int:
    """Return the setting at which one inference of the network alone takes least energy."""
    problem, units = space.problem, times.units
    energies = []
    for clocks in steps:
        seconds = times.predict(clocks)
        chosen, latency = _least_latency(space, seconds, units, network)
        groups = np.array(problem.networks[network].groups)
        energy = 0.0
        power = float(problem.board_mw)
        for d, domain in enumerate(problem.domains):
            power += float(domain.static_mw[clocks[d]])
        for k, u in enumerate(units):
            unit = problem.units[u]
            at = tuple(clocks[list(unit.clocks)])
            mine = groups[chosen == k]
            power += float(unit.idle_mw[at])
            energy += float(seconds[mine, k] @ unit.dynamic_mw[(mine, *at)])
        energies.append(energy + power * latency)
    return int(np.argmin(energies))


def _least_latency(
    space: DesignSpace, seconds: FloatArray, units: tuple[int, ...], network: int
) -> tuple[IntArray, float]:
    """Return [groups of the network] places in ``units`` on the shortest way through its groups in
    order, transitions counted, and its latency."""
    groups = space.problem.networks[network].groups
    total = seconds[groups[0]].copy()
    came_from = np.zeros((len(groups), len(units)), dtype=np.int64)
    for position, g in enumerate(groups[1:], start=1):
        handing_over = space.transition_before[g][np.ix_(units, units)] / PS_PER_S
        through = total[:, None] + handing_over
        came_from[position] = through.argmin(axis=0)
        total = through.min(axis=0) + seconds[g]
    chosen = np.zeros(len(groups), dtype=np.int64)
    chosen[-1] = total.argmin()
    for position in range(len(groups) - 1, 0, -1):
        chosen[position - 1] = came_from[position, chosen[position]]
    return chosen, float(total.min())
