"""Boxes of operating points, down the tree of a proof, and costs over a box: of groups, and of
units that run side by side."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.contention import largest_products, parameters_at
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import (
    BoundProof,
    BoxNode,
    Leaf,
    Simulated,
    Split,
    owners_of_classes,
)
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS
from paretosoc.results.problem.parts import ContentionTable, ProblemDomain
from paretosoc.results.problem.problem import Problem

Box = tuple[int, ...]
"""[domains]: sets of operating points, with bit k for point k and the bit after the last for
off."""
Points = tuple[int, ...]
MAX_PRODUCT = 1 << 62
"""Above all whole numbers of numpy that are used."""


def whole_space(problem: Problem) -> Box:
    """Return the box of all allowed operating points, and off for domains that may be off."""
    return tuple(
        sum(1 << k for k, may in enumerate(domain.allowed.tolist()) if may)
        | (off_bit(domain) if domain.may_be_off else 0)
        for domain in problem.domains
    )


def off_bit(domain: ProblemDomain) -> int:
    """Return the bit that stands for a domain being off."""
    return 1 << len(domain.frequencies_khz)


def points_of(domain: ProblemDomain, bits: int) -> tuple[int, ...]:
    """Return the operating points of a set, without off."""
    return tuple(k for k in range(len(domain.frequencies_khz)) if bits >> k & 1)


def leaves(problem: Problem, tree: Sequence[BoxNode]) -> Iterator[tuple[Box, Leaf | Simulated]]:
    """Yield the boxes that are not divided. Together they are the whole space.

    Raises:
        ResultError: if a part has no points, or the tree has too few or too many nodes.
    """
    open_boxes = [whole_space(problem)]
    for index, node in enumerate(tree):
        if not open_boxes:
            raise ResultError(f"$.tree[{index}]: all boxes are complete before it")
        box = open_boxes.pop()
        if not isinstance(node, Split):
            yield box, node
            continue
        if not 0 <= node.domain < len(box):
            raise ResultError(f"$.tree[{index}]: there is no domain {node.domain}")
        inside = box[node.domain] & node.points
        outside = box[node.domain] & ~node.points
        if not inside or not outside:
            raise ResultError(f"$.tree[{index}]: both parts of a split must have points")
        for part in (outside, inside):
            open_boxes.append((*box[: node.domain], part, *box[node.domain + 1 :]))
    if open_boxes:
        raise ResultError(f"$.tree: {len(open_boxes)} boxes lack a node")


class Cost(NamedTuple):
    """The cost of all repeats of a group at one choice of clocks."""

    demand_class: int
    time_ps: int
    energy_fj: int


class ClassMinima(NamedTuple):
    """Smallest figures of a class of demand on a unit, over groups and operating points."""

    demand_kbps: int
    power_mw: int


@dataclass(frozen=True, eq=False)
class Configurations:
    """The combinations of classes that may run side by side.

    Numbers are whole: numpy's, or Python's if they are large.
    """

    running: IntArray
    """[configurations, units]: the class that runs, counted from 1, or 0 for none."""
    rate: IntArray
    """[configurations, units]: rates in 1/65536, 0 if a unit rests."""
    lost: IntArray
    """[configurations]: sum of power x lost rate."""


@dataclass(frozen=True)
class BoxCosts:
    """Costs over one box.

    ``costs`` [groups]: (unit, its costs on the lower hull) for every unit that may run the group,
    with one entry for each number format of a unit.
    ``configurations``: None if contention is not counted.
    """

    costs: tuple[tuple[tuple[int, tuple[Cost, ...]], ...], ...]
    configurations: Configurations | None
    idle_mw: int


class BoxCostTables:
    """Make :class:`BoxCosts`, computing a unit's part only once per choice of its points."""

    def __init__(self, problem: Problem, proof: BoundProof) -> None:
        self._problem = problem
        self._classes = proof.classes
        self._owners = [owners_of_classes(begins) for begins in proof.classes]
        self._owner = [0] * problem.group_count
        for owner, n in enumerate(proof.apart, start=1):
            for g in proof.paths[n]:
                self._owner[g] = owner
        self._repeats = [n.repeats for n in problem.networks for _ in n.groups]
        self._units: dict[
            tuple[int, tuple[Points, ...]],
            tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]],
        ] = {}
        self._rates: dict[
            tuple[tuple[tuple[int, int, ClassMinima], ...], Points], Configurations
        ] = {}

    def over(self, box: Box) -> BoxCosts:
        """Return the costs over a box."""
        problem = self._problem
        sets = [points_of(d, bits) for d, bits in zip(problem.domains, box, strict=True)]
        per_unit: dict[int, list[tuple[Cost, ...] | None]] = {}
        of_class: dict[tuple[int, int], ClassMinima] = {}
        for u, unit in enumerate(problem.units):
            if all(sets[clock] for clock in unit.clocks):
                per_unit[u], least = self._unit(u, tuple(sets[clock] for clock in unit.clocks))
                for k, one in least.items():
                    key = problem.unit_of[u], k
                    of_class[key] = _smaller(of_class.get(key, one), one)
        minima = [(u, k, of_class[u, k]) for u, k in sorted(of_class)]
        costs = tuple(
            tuple((u, found) for u, table in per_unit.items() if (found := table[g]) is not None)
            for g in range(problem.group_count)
        )
        if not self._classes:
            return BoxCosts(costs, None, self._idle_mw(box, sets))
        memory = problem.memory_domain
        memory_points = (0,) if memory is None else sets[memory]
        known = (tuple(minima), memory_points)
        if known not in self._rates:
            self._rates[known] = self._configurations(minima, memory_points)
        return BoxCosts(costs, self._rates[known], self._idle_mw(box, sets))

    def _unit(
        self, u: int, points: tuple[Points, ...]
    ) -> tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]]:
        found = self._units.get((u, points))
        if found is None:
            found = self._units[u, points] = self._make_unit(u, points)
        return found

    def _make_unit(
        self, u: int, points: tuple[Points, ...]
    ) -> tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]]:
        unit = self._problem.units[u]
        first = self._problem.unit_of[u]
        begins = [(0, 0)]
        if self._classes:
            begins = list(zip(self._owners[first], self._classes[first], strict=True))
        time, steps, power, demand = (
            rows[np.ix_(range(len(rows)), *points)].reshape(len(rows), -1).tolist()
            for rows in (unit.time_ps, unit.steps_ps, unit.dynamic_mw, unit.demand_kbps)
        )
        if not self._problem.execution.has_frame:
            power = self._least_power(u, points)
        table: list[tuple[Cost, ...] | None] = []
        minima: dict[int, ClassMinima] = {}
        for g, repeats in enumerate(self._repeats):
            if not self._problem.allowed[g, u]:
                table.append(None)
                continue
            found = []
            for ps, step, mw, kbps in zip(time[g], steps[g], power[g], demand[g], strict=True):
                k = bisect_right(begins, (self._owner[g] if self._classes else 0, kbps)) - 1
                total = repeats * ps + repeats * (repeats - 1) // 2 * step
                found.append(Cost(k, total, total * mw))
                one = ClassMinima(kbps, mw)
                minima[k] = _smaller(minima.get(k, one), one)
            table.append(_lower_hull(found))
        return table, minima

    def _least_power(self, u: int, points: tuple[Points, ...]) -> list[list[int]]:
        """Return [groups][points]: the least power of its network's groups in any format of the
        unit, empty if none may be there."""
        problem = self._problem
        own = [v for v, first in enumerate(problem.unit_of) if first == problem.unit_of[u]]
        least: list[list[int]] = []
        for network in problem.networks:
            there = [
                problem.units[v].dynamic_mw[g][np.ix_(*points)].reshape(-1).tolist()
                for v in own
                for g in network.groups
                if problem.allowed[g, v]
            ]
            row = [min(column) for column in zip(*there, strict=True)]
            least += [row] * len(network.groups)
        return least

    def _configurations(
        self, minima: Sequence[tuple[int, int, ClassMinima]], memory_points: Points
    ) -> Configurations:
        """Return all combinations of a class or nothing per unit that can run together, with the
        largest rates."""
        units = range(len(self._problem.units))
        # Per unit (class counted from 1, demand, power, the network that has it for itself).
        options = [
            [(0, 0, 0, 0)]
            + [(k + 1, *least, self._owners[u][k]) for v, k, least in minima if v == u]
            for u in units
        ]
        picks = np.indices([len(own) for own in options]).reshape(len(options), -1)
        table = [np.array(own, dtype=object) for own in options]
        owners = np.array([own[:, 3][pick] for own, pick in zip(table, picks, strict=True)])
        sound = np.ones(picks.shape[1], dtype=np.bool_)
        for owner in range(1, int(owners.max()) + 1):
            sound &= (owners == owner).sum(axis=0) <= 1
        picks = picks[:, sound]
        largest = sum(int(own[:, 1].max()) for own in table)
        exact = self._whole_numbers(largest, max(int(own[:, 2].max()) for own in table))
        running, demand, power = (
            np.array(
                [own[:, j].astype(exact)[pick] for own, pick in zip(table, picks, strict=True)]
            )
            for j in range(3)
        )
        total = demand.sum(axis=0)
        rate, lost = np.zeros_like(demand), np.zeros_like(total)
        for u in units:
            of_unit = _least_loss(
                self._problem.units[u].contention, memory_points, demand[u], total - demand[u]
            )
            rate[u] = np.where(running[u] > 0, WORK_PER_PS - of_unit, 0)
            lost += power[u] * of_unit
        return Configurations(running.T.astype(np.int64), rate.T, lost)

    def _whole_numbers(self, demand: int, power: int) -> type:
        """Return numpy's integer type if no product can overflow it, otherwise ``object`` for
        Python's."""
        products = [demand * WORK_PER_PS, power * WORK_PER_PS * len(self._problem.units)]
        for unit in self._problem.units:
            if unit.contention is not None:
                for m in range(len(unit.contention.peak_kbps)):
                    row = parameters_at(unit.contention, m)
                    total = row[1]
                    products += [
                        *row[:4],
                        row[-1],
                        *largest_products(row, max(demand, total)).values(),
                    ]
        return np.int64 if max(products) < MAX_PRODUCT else object

    def _idle_mw(self, box: Box, sets: Sequence[Points]) -> int:
        """Return the idle power of the board, the domains that are on over the whole box, and their
        units."""
        problem = self._problem
        on = [not bits & off_bit(domain) for domain, bits in zip(problem.domains, box, strict=True)]
        idle = problem.board_mw
        for domain, points, is_on in zip(problem.domains, sets, on, strict=True):
            if is_on:
                idle += min(int(domain.static_mw[k]) for k in points)
        for unit in problem.units:
            if on[unit.clocks[0]]:
                # A host that is off changes no idle power.
                own = [sets[d] or (problem.domains[d].point_when_off,) for d in unit.clocks]
                idle += min(int(unit.idle_mw[at]) for at in product(*own))
        return idle


def _smaller(one: ClassMinima, other: ClassMinima) -> ClassMinima:
    return ClassMinima(min(one[0], other[0]), min(one[1], other[1]))


def _least_loss(
    table: ContentionTable | None, memory_points: Points, own_kbps: IntArray, others_kbps: IntArray
) -> IntArray:
    """Return [configurations]: a lower bound of :func:`fitness.contention.lost_rate` over all
    demands of at least these and the memory's points. The loss falls at one place only: where the
    own demand becomes an intensive one."""
    if table is None:
        return np.zeros_like(own_kbps)
    least = np.full_like(own_kbps, WORK_PER_PS)
    for m in memory_points:
        normal, total, balance, peak, *slopes, memory = parameters_at(table, m)
        minor, proportional, intensive = ((slopes[2 * j], slopes[2 * j + 1]) for j in range(3))
        span = own_kbps + (balance - total)
        over = np.minimum(np.maximum(own_kbps + others_kbps - total, 0), span)
        reached = np.maximum(span, balance) * np.minimum(others_kbps, balance)
        heavy = _ceil_div(reached * intensive[0], intensive[1])
        heavy = np.where(
            own_kbps < total,
            np.minimum(heavy, _ceil_div(over * proportional[0], proportional[1])),
            heavy,
        )
        heavy = np.where((own_kbps >= normal) & (span > 0), heavy, 0)
        asked = own_kbps + others_kbps
        excess = np.maximum(asked - memory, 0) * WORK_PER_PS
        loss = np.maximum(_ceil_div(np.minimum(others_kbps, peak) * minor[0], minor[1]), heavy)
        loss = np.maximum(loss, _ceil_div(excess, np.maximum(asked, 1)))
        loss = np.where(others_kbps == 0, 0, np.minimum(loss, LOSS_LIMIT))
        least = np.minimum(least, loss)
    return least


def _ceil_div(numerator: IntArray, denominator: int | IntArray) -> IntArray:
    return -(-numerator // denominator)


def _lower_hull(costs: list[Cost]) -> tuple[Cost, ...]:
    """Return the costs of each class that have the least weighted sum of time and energy at some
    weights."""
    hull: list[Cost] = []
    first = 0
    for cost in sorted(costs):
        if hull and cost.demand_class != hull[-1].demand_class:
            first = len(hull)
        if len(hull) > first and cost.energy_fj >= hull[-1].energy_fj:
            continue
        while len(hull) > first + 1 and _is_above(hull[-1], hull[-2], cost):
            hull.pop()
        hull.append(cost)
    return tuple(hull)


def _is_above(middle: Cost, left: Cost, right: Cost) -> bool:
    """Return whether a cost is on or above the line between two others."""
    return (middle.energy_fj - left.energy_fj) * (right.time_ps - left.time_ps) >= (
        right.energy_fj - left.energy_fj
    ) * (middle.time_ps - left.time_ps)
