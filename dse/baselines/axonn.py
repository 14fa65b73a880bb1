"""AxoNN (Dagli et al., DAC 2022), as HaX-CoNN describes it: one network, optimal under a budget of
energy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.baselines.base import Baseline, Costs, costs_of, gpu_of, whole_networks
from paretosoc.dse.baselines.budgeted_path import Layer, Path, fastest_path
from paretosoc.dse.space.design_space import DesignSpace


class AxoNN(Baseline):
    """The fastest mapping of a network whose energy is within its budget, hand-overs counted
    (HaX-CoNN, 2: layers of a single network, one after the other, under an energy budget).

    Assumed: energy is that of the network alone at the fastest clocks, idle power of all that is on
    included. The budget of a workload (``--energy-budget``) is shared out by the energies that the
    networks take on the GPU. Without one, a network may take as much as on the GPU. It considers
    one network only: each is placed as if it were alone, and all then run together. If no mapping
    keeps the budget, the lowest energy one is taken. Networks whose groups form a graph are left to
    others.
    """

    name = "axonn"
    label = "AxoNN"

    def rows(self) -> IntArray:
        """Return [1, width], or no row if a network is not a chain."""
        space = self._space
        chain = {(g, g + 1) for n in space.problem.networks for g in n.groups[:-1]}
        if set(space.problem.edges) != chain:
            return self._nothing()
        costs = costs_of(space)
        shares = gpu_energies_fj(space, costs)
        budget = space.problem.energy_budget_fj
        mapping: list[int] = []
        for n, network in enumerate(space.problem.networks):
            own = shares[n] // network.repeats
            if budget is not None:
                # A chip without any power figure takes no energy.
                own = budget * shares[n] // max(1, sum(shares) * network.repeats)
            mapping += fastest_within(space, costs, n, own)
        return self._row(mapping)


def fastest_within(space: DesignSpace, costs: Costs, network: int, budget_fj: int) -> list[int]:
    """Return the units of a chain's groups in its fastest mapping that takes at most ``budget_fj``.

    The energy is that of one run alone. If no mapping keeps the budget, it is the one of lowest
    energy. Idle power depends on the domains that are on, so the mappings are searched once for
    every set of domains that may be on, with the idle power of that set.
    """

    def rank(path: Path) -> tuple[bool, int, int]:
        over = path.energy > budget_fj
        return over, path.energy if over else path.time, path.time if over else path.energy

    paths = []
    for on in _power_states(space):
        layers = _layers(space, costs, network, on)
        if all(layer.units for layer in layers):
            paths.append(fastest_path(layers, budget_fj))
    return list(min(paths, key=rank).units)


def gpu_energies_fj(space: DesignSpace, costs: Costs) -> list[int]:
    """Return the energy of each network alone on the GPU with all its repeats, in fJ."""
    mapping = whole_networks(space, [gpu_of(space)] * len(space.size)).tolist()
    power = dynamic_mw(space)
    energies = []
    for network in space.problem.networks:
        used = np.zeros((1, len(space.problem.units)), dtype=np.bool_)
        used[0, [mapping[g] for g in network.groups]] = True
        time = busy = 0
        for g in network.groups:
            own = costs.time_ps[g][mapping[g]]
            busy += own * power[mapping[g]][g]
            time += own + sum(
                costs.transition_ps(edge, mapping[source], mapping[g])
                for source, edge in costs.incoming[g]
            )
        idle = idle_power_mw(space, space.domains_on(used)[0])
        energies.append(network.repeats * (idle * time + busy))
    return energies


def dynamic_mw(space: DesignSpace) -> list[list[int]]:
    """Return [units][groups]: power above idle at the fastest clocks, in mW."""
    tables = []
    for unit in space.problem.units:
        points = tuple(int(space.points[clock][-1]) for clock in unit.clocks)
        at = int(np.ravel_multi_index(points, unit.dynamic_mw.shape[1:]))
        tables.append(unit.dynamic_mw.reshape(space.groups, -1)[:, at].tolist())
    return tables


def idle_power_mw(space: DesignSpace, on: BoolArray) -> int:
    """Return the power drawn while the domains ``on`` [domains] are at their fastest clocks, in
    mW."""
    points = [allowed[-1] for allowed in space.points[: len(on)]]
    return int(space.idle_mw(on[None], np.array([points]))[0])


def _power_states(space: DesignSpace) -> Iterator[BoolArray]:
    """Yield [domains]: which domains may be on, for every subset of those that may be off."""
    always = np.array([not domain.may_be_off for domain in space.problem.domains])
    optional = np.flatnonzero(~always)
    for choice in itertools.product((False, True), repeat=len(optional)):
        on = always.copy()
        on[optional] = choice
        yield on


def _layers(space: DesignSpace, costs: Costs, network: int, on: BoolArray) -> list[Layer]:
    """Return the groups of a network on the units whose domains are on."""
    units = space.problem.units
    usable = [u for u, unit in enumerate(units) if all(on[clock] for clock in unit.clocks)]
    idle = idle_power_mw(space, on)
    power = dynamic_mw(space)
    layers: list[Layer] = []
    for g in space.problem.networks[network].groups:
        options = tuple(u for u in usable if u in costs.time_ps[g])
        times = tuple(costs.time_ps[g][u] for u in options)
        hops: tuple[tuple[int, ...], ...] = ()
        if layers:
            ((_, edge),) = costs.incoming[g]
            hops = tuple(
                tuple(costs.transition_ps(edge, before, u) for u in options)
                for before in layers[-1].units
            )
        layers.append(
            Layer(
                units=options,
                time=times,
                energy=tuple(t * (idle + power[u][g]) for t, u in zip(times, options, strict=True)),
                hop_time=hops,
                hop_energy=tuple(tuple(idle * hop for hop in row) for row in hops),
            )
        )
    return layers
