"""Costs over a box of operating points, as arrays for the compiled search for multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.fitness.simulator.types.tables import Tables
from paretosoc.results.front.bounds import owners_of_classes
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS
from paretosoc.results.problem.parts import ContentionTable, ProblemUnit
from paretosoc.results.problem.problem import Problem

OWNER_STEP = 1 << 48
"""Above all demands: classes of a unit are in order by this and their demand."""


@dataclass(frozen=True, eq=False)
class BoxArrays(Tables):
    """Costs over a box: candidates of group g on unit u are start[g, u] to end[g, u]."""

    start: IntArray
    end: IntArray
    time_ps: FloatArray
    energy_fj: FloatArray
    kind: IntArray
    """The class of demand, counted over all units."""
    running: IntArray
    """[configurations, units]: the class that runs, counted over all units."""
    rate: FloatArray
    """[configurations, units]: 0 if a unit rests."""
    lost_mw: FloatArray
    """[configurations]"""
    idle_mw: int

    @property
    def is_possible(self) -> bool:
        """Return whether every group can run on some unit."""
        return bool((self.end > self.start).any(axis=1).all())


class BoxArrayTables:
    """Make :class:`BoxArrays`, with each unit's part once per choice of its points.

    Args:
        groups_apart: for each network that is apart, its groups with classes of their own. No two
            of them run side by side.
        executed: the share of a group's energy and class of demand that is sure to count.
    """

    def __init__(
        self,
        problem: Problem,
        classes: Sequence[Sequence[int]],
        groups_apart: Sequence[Sequence[int]] = (),
        executed: float = 1.0,
    ) -> None:
        self._problem = problem
        self._owner = np.zeros(problem.group_count, dtype=np.int64)
        for owner, groups in enumerate(groups_apart if classes else (), start=1):
            self._owner[list(groups)] = owner
        self._owners = [np.array(owners_of_classes(row), dtype=np.int64) for row in classes]
        self._classes = classes
        self._executed = executed
        self._unit_of = problem.unit_of
        # Number formats of a unit share its classes, at its first entry.
        firsts = [int(u == first) for u, first in enumerate(problem.unit_of)]
        sizes = [len(row) for row in classes] or firsts
        self.class_start = np.cumsum([0, *sizes])
        self._units: dict[tuple[int, tuple[tuple[int, ...], ...]], _UnitPart] = {}
        self._rates: dict[object, tuple[IntArray, FloatArray, FloatArray]] = {}

    def over(self, box: Sequence[int]) -> BoxArrays:
        """Return the costs over a box, a set of bits per domain as in
        :class:`results.front.bounds.Split`.
        """
        problem = self._problem
        sizes = [len(domain.frequencies_khz) for domain in problem.domains]
        sets = [
            tuple(k for k in range(size) if bits >> k & 1)
            for bits, size in zip(box, sizes, strict=True)
        ]
        on = [not bits >> size & 1 for bits, size in zip(box, sizes, strict=True)]
        groups, units = problem.group_count, len(problem.units)
        start = np.zeros((groups, units), dtype=np.int64)
        end = np.zeros((groups, units), dtype=np.int64)
        parts, used, at = [], [], 0
        for u, unit in enumerate(problem.units):
            points = tuple(sets[clock] for clock in unit.clocks)
            if all(points):
                part = self._unit(u, points)
                start[:, u], end[:, u] = part.start + at, part.end + at
                parts.append(part)
                used.append((u, points))
                at += len(part.time_ps)
        memory = problem.memory_domain
        memory_points = (0,) if memory is None else sets[memory]
        running, rate, lost = self._rates_of(tuple(used), memory_points)
        idle = problem.board_mw + sum(
            min(int(domain.static_mw[k]) for k in points)
            for domain, points, is_on in zip(problem.domains, sets, on, strict=True)
            if is_on
        )
        for unit in problem.units:
            if on[unit.clocks[0]]:
                own = [sets[d] or (problem.domains[d].point_when_off,) for d in unit.clocks]
                idle += int(unit.idle_mw[np.ix_(*own)].min())
        empty = [np.zeros(0)]
        return BoxArrays(
            start=start,
            end=end,
            time_ps=np.concatenate([part.time_ps for part in parts] or empty),
            energy_fj=self._executed * np.concatenate([part.energy_fj for part in parts] or empty),
            kind=np.concatenate([part.kind for part in parts] or empty).astype(np.int64),
            running=running,
            rate=rate,
            lost_mw=lost,
            idle_mw=int(idle),
        )

    def _unit(self, u: int, points: tuple[tuple[int, ...], ...]) -> _UnitPart:
        found = self._units.get((u, points))
        if found is None:
            first = self._unit_of[u]
            begins = np.zeros(1, dtype=np.int64)
            if self._classes:
                begins = self._classes[first] + OWNER_STEP * self._owners[first]
            found = self._units[u, points] = _make_part(
                self._problem.units[u],
                self._problem.frame_ps(u),
                _drawn_mw(self._problem, u),
                points,
                np.ascontiguousarray(self._problem.allowed[:, u]),
                begins,
                OWNER_STEP * self._owner,
                int(self.class_start[first]),
            )
        return found

    def _rates_of(
        self,
        used: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...],
        memory_points: tuple[int, ...],
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return [configurations, units] classes and rates, [configurations] power x lost rate."""
        if not self._classes:
            # One configuration: every unit at its full rate.
            running = np.arange(self.class_start[-1], dtype=np.int64)[None, :]
            return running, np.ones(running.shape), np.zeros(1)
        least: dict[int, dict[int, tuple[int, int]]] = {}
        for u, points in used:
            of_unit = least.setdefault(self._unit_of[u], {})
            for k, pair in self._unit(u, points).minima.items():
                demand, power = map(min, of_unit.get(k, pair), pair)
                of_unit[k] = demand, power
        options: list[list[tuple[int, int, int, int] | None]] = [
            [None, *((u, k, d, mw) for k, (d, mw) in sorted(minima.items()))]
            for u, minima in least.items()
        ]
        key = (tuple(map(tuple, options)), memory_points)
        if key not in self._rates:
            running, rate, lost_mw = self._make_rates(options, memory_points)
            self._rates[key] = running, rate / self._executed, lost_mw
        return self._rates[key]

    def _make_rates(
        self,
        options: Sequence[Sequence[tuple[int, int, int, int] | None]],
        memory_points: Sequence[int],
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the rates of all combinations of a class or nothing per unit: beside resting units
        others are faster."""
        rows = [np.array([entry or (-1, 0, 0, 0) for entry in own]) for own in options]
        picks = np.indices([len(own) for own in rows]).reshape(len(rows), -1)
        choices = np.array([own[pick] for own, pick in zip(rows, picks, strict=True)])
        choices = choices.transpose(1, 0, 2)[self._can_be(choices)]
        configurations = len(choices)
        running = np.zeros((configurations, len(options)), dtype=np.int64)
        rate = np.zeros((configurations, len(options)))
        lost_mw = np.zeros(configurations)
        total = choices[:, :, 2].sum(axis=1)
        for at in range(len(options)):
            u, k, demand, power = choices[:, at].T
            unit = int(u.max(initial=-1))
            if unit < 0:
                continue
            lost = np.full(configurations, np.inf)
            for m in memory_points:
                table = self._problem.units[unit].contention
                lost = np.minimum(lost, lost_shares(table, m, demand, total - demand))
            runs = u >= 0
            running[runs, at] = self.class_start[unit] + k[runs]
            rate[:, at] = np.where(runs, 1 - lost, 0.0)
            lost_mw += np.where(runs, power * lost, 0.0)
        return running, rate, lost_mw

    def _can_be(self, choices: IntArray) -> BoolArray:
        """Return a mask of choices [units, configurations, 4]: none has two groups of one network
        apart."""
        owners = np.zeros(choices.shape[:2], dtype=np.int64)
        for at in range(len(choices)):
            runs = choices[at, :, 0] >= 0
            if runs.any():
                of_class = self._owners[int(choices[at, :, 0].max())]
                owners[at, runs] = of_class[choices[at, runs, 1]]
        sound = np.ones(choices.shape[1], dtype=np.bool_)
        for owner in range(1, int(self._owner.max(initial=0)) + 1):
            sound &= (owners == owner).sum(axis=0) <= 1
        return sound


def lost_shares(
    table: ContentionTable | None, memory_point: int, own_kbps: IntArray, others_kbps: IntArray
) -> FloatArray:
    """Return [configurations]: lower bounds of the share of its rate that a unit loses.

    They hold for demands of at least these, in floating point. :mod:`fitness.check.boxes` has them
    in whole numbers.
    """
    if table is None:
        return np.zeros(len(own_kbps))
    row = {name: float(column[memory_point]) for name, column in table.columns.items()}
    own, others = own_kbps.astype(float), others_kbps.astype(float)
    minor = np.minimum(others, row["peak_kbps"]) * (row["minor_num"] / row["minor_den"])
    span = own + row["balance_kbps"] - row["total_kbps"]
    over = np.clip(own + others - row["total_kbps"], 0, np.maximum(span, 0))
    proportional = over * (row["proportional_num"] / row["proportional_den"])
    intensive = np.maximum(span, row["balance_kbps"]) * np.minimum(others, row["balance_kbps"])
    intensive *= row["intensive_num"] / row["intensive_den"]
    heavy = np.where(own < row["total_kbps"], np.minimum(proportional, intensive), intensive)
    heavy = np.where((own >= row["normal_kbps"]) & (span > 0), heavy, 0.0)
    asked = own + others
    excess = np.maximum(asked - row["memory_kbps"], 0) * (WORK_PER_PS / np.maximum(asked, 1))
    lost = np.minimum(np.maximum(np.maximum(minor, excess), heavy), LOSS_LIMIT) / WORK_PER_PS
    return np.where(others == 0, 0.0, lost)


@dataclass(frozen=True, eq=False)
class _UnitPart:
    start: IntArray
    end: IntArray
    time_ps: FloatArray
    energy_fj: FloatArray
    kind: IntArray
    minima: dict[int, tuple[int, int]]
    """Per class its least demand and power."""


def _drawn_mw(problem: Problem, u: int) -> IntArray:
    """Return [groups, *points]: dynamic power, for networks that run freely the least of a unit's
    groups in any format."""
    power = problem.units[u].dynamic_mw
    if problem.execution.has_frame:
        return power
    own = [v for v, first in enumerate(problem.unit_of) if first == problem.unit_of[u]]
    least = power.copy()
    for network in problem.networks:
        groups = np.array(network.groups)
        there = [problem.units[v].dynamic_mw[groups[problem.allowed[groups, v]]] for v in own]
        rows = np.concatenate(there)
        if rows.size:
            least[groups] = rows.min(axis=0)
    return least


def _make_part(
    unit: ProblemUnit,
    frame_ps: IntArray,
    drawn_mw: IntArray,
    points: Sequence[Sequence[int]],
    allowed: BoolArray,
    begins: IntArray,
    shift: IntArray,
    first_kind: int,
) -> _UnitPart:
    """Return the candidates of every group: costs on the lower hull of its points, by class."""
    from paretosoc.fitness.multipliers.kernels import fill_hulls

    groups = len(allowed)
    time, power, demand = (
        np.asarray(table[np.ix_(range(groups), *points)]).reshape(groups, -1)
        for table in (frame_ps, drawn_mw, unit.demand_kbps)
    )
    kind = np.searchsorted(begins, demand + shift[:, None], side="right") - 1
    minima = {}
    for k in range(len(begins)):
        there = (kind == k) & allowed[:, None]
        if there.any():
            minima[k] = (int(demand[there].min()), int(power[there].min()))
    scaled: FloatArray = time.astype(np.float64)
    energy: FloatArray = scaled * power
    start, end = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
    # By class, then time.
    order = np.lexsort((energy, scaled, kind), axis=1)
    kept = np.zeros(order.size, dtype=np.int64)
    count = fill_hulls(order, scaled, energy, kind, allowed, start, end, kept)
    kept = kept[:count]
    return _UnitPart(
        start,
        end,
        scaled.reshape(-1)[kept],
        energy.reshape(-1)[kept],
        (first_kind + kind.reshape(-1)[kept]).astype(np.int64),
        minima,
    )
