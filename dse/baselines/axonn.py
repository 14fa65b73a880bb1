"""AxoNN (Dagli et al., DAC 2022), as HaX-CoNN describes it: one network, optimal under a budget of
energy.

The fastest way through layers of options whose energy keeps a budget is a shortest path with one
resource, solved exactly in integers (Handler and Zang 1980, closed by labels).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.baselines.base import Baseline, Costs, costs_of, gpu_of, whole_networks
from paretosoc.dse.space.design_space import DesignSpace

FIRST = 1 << 100
"""Weight of the figure that is minimised first, beyond any time or energy of a problem."""
MAX_LABELS = 20_000
"""Per layer. Of more, those with the best bound stay, and the path may not be the fastest."""


@dataclass(frozen=True)
class Layer:
    """Options of one step, all figures at least 0.

    ``time``, ``energy``: [options]. ``hop_time``, ``hop_energy``: [options of the layer
    before][options], empty in the first layer.
    """

    units: tuple[int, ...]
    time: tuple[int, ...]
    energy: tuple[int, ...]
    hop_time: tuple[tuple[int, ...], ...] = ()
    hop_energy: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Path:
    """One option per layer, as units, and the sums."""

    units: tuple[int, ...]
    time: int
    energy: int


@dataclass
class _Label:
    time: int
    energy: int
    option: int
    parent: _Label | None


def fastest_path(layers: list[Layer], budget: int) -> Path:
    """Return the path of least time with an energy of at most ``budget``, or if there is none, of
    least energy."""
    fast = _weighted(layers, FIRST, 1)
    if fast.energy <= budget:
        return fast
    min_energy = _weighted(layers, 1, FIRST)
    if min_energy.energy > budget:
        return min_energy
    # The multiplier of the budget is the slope of the hull of (energy, time) at the budget.
    while True:
        by_time, by_energy = fast.energy - min_energy.energy, min_energy.time - fast.time
        middle = _weighted(layers, by_time, by_energy)
        value = by_time * middle.time + by_energy * middle.energy
        if value >= by_time * fast.time + by_energy * fast.energy:
            break
        if middle.energy <= budget:
            min_energy = middle
        else:
            fast = middle
    return _closed(layers, budget, min_energy, by_time, by_energy)


def _to_go(layers: list[Layer], by_time: int, by_energy: int) -> list[list[int]]:
    """Return [layers][options]: the least weighted sum of all that follows an option."""
    costs = [[0] * len(layers[-1].units)]
    for layer in layers[:0:-1]:
        after = costs[-1]
        own = [
            by_time * t + by_energy * e + rest
            for t, e, rest in zip(layer.time, layer.energy, after, strict=True)
        ]
        costs.append(
            [
                min(
                    by_time * t + by_energy * e + rest
                    for t, e, rest in zip(times, energies, own, strict=True)
                )
                for times, energies in zip(layer.hop_time, layer.hop_energy, strict=True)
            ]
        )
    return costs[::-1]


def _weighted(layers: list[Layer], by_time: int, by_energy: int) -> Path:
    """Return the path of least ``by_time`` x time + ``by_energy`` x energy."""
    after = _to_go(layers, by_time, by_energy)
    units = []
    time = energy = 0
    option = -1
    for index, layer in enumerate(layers):
        steps = [
            (
                layer.time[o] + (layer.hop_time[option][o] if index else 0),
                layer.energy[o] + (layer.hop_energy[option][o] if index else 0),
            )
            for o in range(len(layer.units))
        ]
        option = min(
            range(len(steps)),
            key=lambda o: by_time * steps[o][0] + by_energy * steps[o][1] + after[index][o],
        )
        units.append(layer.units[option])
        time += steps[option][0]
        energy += steps[option][1]
    return Path(tuple(units), time, energy)


def _closed(layers: list[Layer], budget: int, known: Path, by_time: int, by_energy: int) -> Path:
    """Return the fastest path that is faster than ``known`` and keeps the budget, or ``known``.

    A label is dropped if no completion can do both: by its least time, its least energy, or their
    weighted sum.
    """
    time_left, energy_left = _to_go(layers, 1, 0), _to_go(layers, 0, 1)
    both_left = _to_go(layers, by_time, by_energy)
    most = by_time * (known.time - 1) + by_energy * budget
    labels: list[_Label | None] = [None]
    for index, layer in enumerate(layers):
        reached: list[list[tuple[int, int, _Label | None]]] = [[] for _ in layer.units]
        for label in labels:
            for o in range(len(layer.units)):
                time, energy = layer.time[o], layer.energy[o]
                if label is not None:
                    time += label.time + layer.hop_time[label.option][o]
                    energy += label.energy + layer.hop_energy[label.option][o]
                if (
                    time + time_left[index][o] < known.time
                    and energy + energy_left[index][o] <= budget
                    and by_time * time + by_energy * energy + both_left[index][o] <= most
                ):
                    reached[o].append((time, energy, label))
        labels = []
        for o, found in enumerate(reached):
            least = None
            for time, energy, label in sorted(found, key=lambda entry: entry[:2]):
                if least is None or energy < least:
                    labels.append(_Label(time, energy, o, label))
                    least = energy
        if len(labels) > MAX_LABELS:
            bound = both_left[index]

            def promise(label: _Label | None, bound: list[int] = bound) -> int:
                assert label is not None
                return by_time * label.time + by_energy * label.energy + bound[label.option]

            labels = sorted(labels, key=promise)[:MAX_LABELS]
    ended = [label for label in labels if label is not None]
    if not ended:
        return known
    best = min(ended, key=lambda label: (label.time, label.energy))
    units: list[int] = []
    at: _Label | None = best
    for layer in reversed(layers):
        assert at is not None
        units.append(layer.units[at.option])
        at = at.parent
    return Path(tuple(units[::-1]), best.time, best.energy)


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
    problem = space.problem
    points = [int(allowed[-1]) for allowed in space.points]
    power = problem.board_mw
    for d, domain in enumerate(problem.domains):
        if on[d]:
            power += int(domain.static_mw[points[d]])
    for unit in problem.units:
        if on[unit.clocks[0]]:
            power += int(unit.idle_mw[tuple(points[clock] for clock in unit.clocks)])
    return power


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
    for g in costs.order[network]:
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
