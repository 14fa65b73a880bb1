"""One inequality about all design points of a box: multipliers and the least sum they give."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.fitness.check.boxes.costs import MAX_PRODUCT, BoxCosts
from paretosoc.fitness.check.boxes.frame_time import FrameTime
from paretosoc.results.front.bounds import BoundProof, Multipliers
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

Row = dict[int, int]
"""Per unit."""


@dataclass(frozen=True)
class Inequality:
    """``least`` <= time x ``time_weight`` / 65536 + energy x ``energy_weight`` + sum over chains of
    weight x the end of the last network, with the dynamic energy of a frame and its makespan or
    period (:class:`~fitness.check.boxes.frame_time.FrameTime`)."""

    least: int | None
    """None if no mapping is possible: there is no design point."""
    time_weight: int
    energy_weight: int
    chain_weights: tuple[int, ...]
    figure_weights: tuple[int, ...] = ()
    """Weights of the problem's additive figures. The right side has them like the chains."""
    beyond: tuple[int, ...] = ()
    """[networks]: of networks that run freely, the least sum of each less the smallest. ``least``
    is the smallest times their number, as ``time`` is the period of their mean rate."""


class Structure:
    """The common part of the inequalities of one proof: chains, paths and classes, checked."""

    def __init__(self, problem: Problem, proof: BoundProof, time: FrameTime) -> None:
        self._problem = problem
        self._time = time
        self._chains, self._paths = proof.chains, proof.paths
        self._figures = [_table(problem, figure) for figure in additive_figures(problem)]
        self._no_weights = Multipliers(
            energy=0,
            units=tuple((0,) * len(row) for row in proof.classes) or ((0,),) * len(problem.units),
            chains=(),
            segments=(),
            figures=(0,) * len(self._figures),
        )
        position = {edge: e for e, edge in enumerate(problem.edges)}
        self._transition_ps: list[list[list[list[int]]]] = []
        self._beside: list[list[int]] = []
        self._is_chain: list[bool] = []
        for network, path in zip(problem.networks, self._paths, strict=True):
            steps = list(itertools.pairwise(path))
            repeats = 0 if time.of_streams else network.repeats
            self._transition_ps.append(
                [
                    [[repeats * ps for ps in row] for row in table]
                    for step in steps
                    for table in [problem.transition_ps[position[step]].tolist()]
                ]
            )
            self._beside.append(sorted(set(network.groups) - set(path)))
            inside = {edge for edge in problem.edges if edge[0] in network.groups}
            self._is_chain.append(not self._beside[-1] and inside == set(steps))

    def inequality(self, box: BoxCosts, weights: Multipliers) -> Inequality:
        """Return the inequality that the multipliers give over a box."""
        problem = self._problem
        time_weight = self._time_weight(box, weights)
        energy_weight = self._time.executed * self._time.counted * weights.energy
        weights = self._scaled(weights)
        if self._time.of_streams:
            return self._of_streams(box, weights, time_weight, energy_weight)
        per_network = [0] * len(problem.networks)
        least = 0
        for chain, weight in zip(self._chains, weights.chains, strict=True):
            # With rates it is the sum of the paths of all releases that ends limit.
            if not problem.has_rates:
                least += weight * problem.networks[chain[0]].arrival_ps
            for n in chain:
                per_network[n] += weight
        entry = [
            0 if problem.units[first].max_segments is None else weights.segments[first]
            for first in problem.unit_of
        ]
        for unit, price in zip(problem.units, entry, strict=True):
            # Segments count on a unit's first number format alone.
            least -= price * (unit.max_segments or 0)
        for n, weight in enumerate(per_network):
            found = self._network(n, box, weights, weight, entry)
            if found is None:
                return Inequality(None, time_weight, energy_weight, weights.chains)
            least += found
        return Inequality(least, time_weight, energy_weight, weights.chains, weights.figures)

    def _of_streams(
        self, box: BoxCosts, weights: Multipliers, time_weight: int, energy_weight: int
    ) -> Inequality:
        """Return the inequality for networks that run freely. Units execute a chain's groups one
        after the other, so its times alone are a path. Transitions may be missing from the window,
        segments are limited whatever the rates."""
        networks = self._problem.networks
        per_network = [0] * len(networks)
        for chain, weight in zip(self._chains, weights.chains, strict=True):
            if len(chain) == 1 and self._is_chain[chain[0]]:
                per_network[chain[0]] += weight
        entry = [0] * len(self._problem.units)
        sums = [self._network(n, box, weights, w, entry) for n, w in enumerate(per_network)]
        found = [value for value in sums if value is not None]
        if len(found) < len(sums):
            return Inequality(None, time_weight, energy_weight, weights.chains)
        images = self._problem.images
        least = min(value // number for value, number in zip(found, images, strict=True))
        beyond = tuple(value - number * least for value, number in zip(found, images, strict=True))
        return Inequality(
            len(networks) * least, time_weight, energy_weight, weights.chains, beyond=beyond
        )

    def _time_weight(self, box: BoxCosts, weights: Multipliers) -> int:
        """Return the weight W of time, in 1/65536, times both numbers of frames."""
        executed, counted = self._time.executed, self._time.counted
        if box.configurations is None:
            # What a unit executes of all its groups is what the period is computed with.
            return executed * counted * WORK_PER_PS * sum(map(sum, weights.units))
        beside = box.configurations
        running, rate, lost = beside.running, beside.rate, beside.lost
        prices = [[0, *(counted * price for price in row)] for row in weights.units]
        energy = executed * weights.energy
        largest = WORK_PER_PS * sum(max(row) for row in prices) + energy * max(int(lost.max()), 1)
        exact = object if lost.dtype == object or largest >= MAX_PRODUCT else np.int64
        sums = lost.astype(exact) * -energy
        for u, row in enumerate(prices):
            sums = sums + np.array(row, dtype=exact)[running[:, u]] * rate[:, u].astype(exact)
        return counted * int(sums.max())

    def _scaled(self, weights: Multipliers) -> Multipliers:
        """Return the multipliers times both numbers of frames, of each group's own energy times
        ``executed`` of ``counted``."""
        executed, counted = self._time.executed, self._time.counted
        both = executed * counted
        return Multipliers(
            energy=executed * executed * weights.energy,
            units=tuple(tuple(both * price for price in row) for row in weights.units),
            chains=tuple(both * price for price in weights.chains),
            segments=tuple(both * price for price in weights.segments),
            figures=tuple(both * price for price in weights.figures),
        )

    def latencies_ps(self, box: BoxCosts) -> tuple[int, ...] | None:
        """Return the least latency of each network, along its path or a chain that ends with it.

        Returns None if no mapping is possible.
        """
        networks = self._problem.networks
        entry = [0] * len(self._problem.units)
        paths = []
        for n in range(len(networks)):
            path = self._network(n, box, self._no_weights, 1, entry)
            if path is None:
                return None
            paths.append(path)
        latencies = list(paths)
        for chain in self._chains:
            end = networks[chain[0]].arrival_ps + sum(paths[n] for n in chain)
            last = chain[-1]
            latencies[last] = max(latencies[last], end - networks[last].arrival_ps)
        return tuple(latencies)

    def _network(
        self, n: int, box: BoxCosts, weights: Multipliers, weight: int, entry: Sequence[int]
    ) -> int | None:
        """Return the least weighted sum of a network, or None if a group can run on no unit."""
        total = 0
        for g in self._beside[n]:
            row = self._least_costs(box, g, weights, 0)
            if not row:
                return None
            total += min(row.values())
        rows = [self._least_costs(box, g, weights, weight) for g in self._paths[n]]
        if not all(rows):
            return None
        if not self._is_chain[n]:
            # Groups beside the path may join its stretches on a unit: segments cannot be counted.
            entry = [0] * len(entry)
        limit = self._problem.networks[n].max_transitions
        transitions = self._transition_ps[n]
        if limit is None or limit >= len(transitions):
            return total + self._least_along(rows, transitions, weight, entry)
        along = self._least_along_limited(rows, transitions, weight, entry, limit)
        return None if along is None else total + along

    def _least_costs(self, box: BoxCosts, group: int, weights: Multipliers, weight: int) -> Row:
        """Return the least weighted cost of a group, per unit and number format."""
        energy, unit_of = weights.energy, self._problem.unit_of
        figures = [
            (price, table)
            for price, table in zip(weights.figures, self._figures, strict=True)
            if price
        ]
        return {
            u: min(
                energy * fj + (weights.units[unit_of[u]][k] + weight) * ps for k, ps, fj in costs
            )
            + sum(price * table[group][u] for price, table in figures)
            for u, costs in box.costs[group]
        }

    def _least_along(
        self,
        rows: list[Row],
        transitions: list[list[list[int]]],
        weight: int,
        entry: Sequence[int],
    ) -> int:
        """Return the length of the shortest way along a path. A change of number format on a unit
        takes time and begins a segment, but is no transition."""
        best = {u: entry[u] + cost for u, cost in rows[0].items()}
        for row, ps in zip(rows[1:], transitions, strict=True):
            best = {
                u: cost
                + min(
                    before + weight * ps[v][u] + entry[u] if v != u else before
                    for v, before in best.items()
                )
                for u, cost in row.items()
            }
        return min(best.values())

    def _least_along_limited(
        self,
        rows: list[Row],
        transitions: list[list[list[int]]],
        weight: int,
        entry: Sequence[int],
        limit: int,
    ) -> int | None:
        """Return the length of the shortest way with at most ``limit`` transitions, or None."""
        unit_of = self._problem.unit_of
        states = {(u, 0): entry[u] + cost for u, cost in rows[0].items()}
        for row, ps in zip(rows[1:], transitions, strict=True):
            after: dict[tuple[int, int], int] = {}
            for (v, used), before in states.items():
                for u, cost in row.items():
                    leaves = unit_of[v] != unit_of[u]
                    state = (u, used + leaves)
                    if state[1] <= limit:
                        added = weight * ps[v][u] + entry[u] if v != u else 0
                        value = before + added + cost
                        if state not in after or value < after[state]:
                            after[state] = value
            states = after
        return min(states.values(), default=None)


def _table(problem: Problem, figure: Objective) -> list[list[int]]:
    """Return [groups][units]: the contribution of each group to a figure that is a sum."""
    groups = range(problem.group_count)
    columns = []
    for unit in problem.units:
        if figure.kind is ObjectiveKind.MEMORY:
            table, counted = unit.weight_bytes, groups
        else:
            table = unit.loss_ppm
            counted = groups if figure.network is None else problem.networks[figure.network].groups
        known = [0] * len(groups) if table is None else table.tolist()
        columns.append([known[g] if g in counted else 0 for g in groups])
    return [list(row) for row in zip(*columns, strict=True)]
