"""Design points for networks that run freely, good by an estimate, for a first population.

If each network runs as often as it can, the largest sum of rates comes from light networks on units
that they share with few others, while heavy ones may wait on a slow unit. Few random mappings are
of that kind. So networks, or networks cut in two, are moved from unit to unit and clocks along
their ladders, from random beginnings. Each move goes to the best choice by
:mod:`dse.search.surrogate.mean_value_analysis`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import UHZ_PS
from paretosoc.dse.search.surrogate.mean_value_analysis import (
    ClockTables,
    Work,
    estimate,
    estimate_rows,
    work_of_rows,
)
from paretosoc.dse.space.design_space import DesignSpace, Random, unique_rows
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.rates import times_alone_ps

BEGINNINGS = 24
DRAWS = 8
"""Random rows of which each descent begins with the best."""
SWEEPS = 4
"""Sweeps over all networks and clocks. The last ones change next to nothing."""
SHARES = (1 / 3, 1 / 2, 2 / 3, 1.0)
"""Points at which a network is cut in two, as shares of its time on the first unit. 1: not cut."""
MARGINS = (0.97, 0.88)
"""Shares of the power cap, and of the rates that are held against least rates, tried in turn: a row
that is expected to keep a limit may break it."""
FAIR = (0.0, 0.5, 1.0)
"""Weights of fairness, tried in turn if it is an objective."""
SAME = 1e6
"""Rows whose throughput and power are expected to be equal to a millionth are taken for one."""
STEEPNESS = 20.0
"""Cost of one percent above the cap, or below a least rate, in percent of the value, and of one
segment too many, in its logarithm."""


def free_running_seeds(space: DesignSpace, rng: Random) -> IntArray:
    """Return [n, width]: canonical rows, by estimated efficiency, for each margin in turn.

    Every second descent aims at efficiency, the others at more throughput or less power. If
    fairness is an objective, two in three aim at the smallest relative rate as well or instead.
    """
    count = np.arange(BEGINNINGS)
    kinds = [objective.kind for objective in space.problem.objectives]
    fair = np.array(FAIR)[count // 2 % len(FAIR)]
    aims = _Aims(
        weight=np.where(count % 2, 1.0, 2.0 * count / BEGINNINGS),
        margin=np.array(MARGINS)[count // 2 % len(MARGINS)],
        fair=fair if ObjectiveKind.FAIRNESS in kinds else np.zeros(BEGINNINGS),
    )
    drawn = space.random(rng, DRAWS * BEGINNINGS)
    value = _value(space, drawn, aims.take(np.repeat(count, DRAWS))).reshape(-1, DRAWS)
    rows = drawn[count * DRAWS + value.argmax(axis=1)]
    options = [network_options(space, n) for n in range(len(space.first))]
    for _ in range(SWEEPS):
        before = rows.copy()
        for n in rng.permutation(len(options)).tolist():
            _move_network(space, rows, n, options[n], aims)
        for d in space.free_domains.tolist():
            _move_clock(space, rows, d, aims)
        if np.array_equal(rows, before):
            break
    # The best of each margin in turn: if one is above the cap, the next is not.
    alike = _Aims(np.ones(BEGINNINGS), aims.margin, np.zeros(BEGINNINGS))
    order = np.argsort(-_value(space, rows, alike), kind="stable")
    place = np.zeros(BEGINNINGS)
    for margin in MARGINS:
        mine = order[aims.margin[order] == margin]
        place[mine] = np.arange(len(mine))
    order = order[np.argsort(place[order], kind="stable")]
    rows = space.canonical(rows[order])
    # Alike units exchanged make another row of the same.
    estimated = estimate_rows(space, rows)
    figures = np.log(np.stack((estimated.image_rate, estimated.power), axis=1))
    return rows[unique_rows(np.round(figures * SAME).astype(np.int64))]


@dataclass(frozen=True, eq=False)
class _Aims:
    """The aims of n descents."""

    weight: FloatArray
    """[n]: weight of the logarithm of power against that of throughput. 1: efficiency."""
    margin: FloatArray
    """[n]: the share of the power cap that they keep, and of the rates that they count on."""
    fair: FloatArray
    """[n]: the share of the smallest relative rate against that of all rates together."""

    def take(self, index: IntArray) -> _Aims:
        """Return the aims at ``index``."""
        return _Aims(self.weight[index], self.margin[index], self.fair[index])


def network_options(space: DesignSpace, network: int) -> IntArray:
    """Return [k, groups of the network]: mappings on one unit, or in two parts on two units.

    Groups that a unit cannot run are on the other one. No mapping has more changes of unit than the
    network may have.
    """
    begin = int(space.first[network])
    block = slice(begin, begin + int(space.size[network]))
    allowed = space.problem.allowed[block]
    times = np.where(allowed, space.fastest_time[block], 0)
    here = np.arange(len(allowed))
    units = range(allowed.shape[1])
    found = [space.best_unit[block]]
    for u in units:
        share = np.cumsum(times[:, u]) / max(int(times[:, u].sum()), 1)
        for v in units:
            for cut in SHARES:
                wanted = np.where(share <= cut, u, v)
                mapping = np.where(allowed[here, wanted], wanted, u + v - wanted)
                fits = allowed[here, mapping]
                found.append(np.where(fits, mapping, space.best_unit[block]))
    options = np.array(found, dtype=np.int64)
    limit = space.problem.networks[network].max_transitions
    if limit is not None:
        options = options[(options[:, 1:] != options[:, :-1]).sum(axis=1) <= limit]
    return options[unique_rows(options)]


def _move_network(
    space: DesignSpace, rows: IntArray, network: int, options: IntArray, aims: _Aims
) -> None:
    """Move the network of each row [n, width] to its best mapping among ``options``."""
    if len(options) == 0:
        return
    n, k = len(rows), len(options)
    begin, repeats = int(space.first[network]), space.problem.networks[network].repeats
    block = slice(begin, begin + int(space.size[network]))
    tables = ClockTables(space, rows[:, space.groups :])
    base = work_of_rows(space, rows, tables)
    on = (options[:, :, None] == np.arange(len(space.problem.units))).astype(np.float64)
    moving = np.zeros(options.shape)
    group = np.arange(begin + 1, block.stop)
    moving[:, 1:] = space.transition_before[group, options[:, :-1], options[:, 1:]]
    trial = base.take(np.repeat(np.arange(n), k + 1))
    # The last choice is to stay.
    at = (np.arange(n)[:, None] * (k + 1) + np.arange(k)).reshape(-1)
    shape = (n * k, on.shape[2])
    time = np.einsum("ngu,kgu->nku", tables.time[:, block], on)
    trial.time[at, network] = repeats * time.reshape(shape)
    trial.visits[at, network] = repeats * np.tile(on.sum(axis=1), (n, 1))
    trial.moving[at, network] = repeats * np.tile(moving.sum(axis=1), n)
    energy = np.einsum("ngu,kgu->nk", tables.energy[:, block], on)
    trial.energy[at, network] = repeats * energy.reshape(-1)
    trial.segments[at, network] = np.tile(_segments(options, on), (n, 1))
    which = np.repeat(np.arange(n), k + 1)
    value = _worth(space, trial, tables, which, aims.take(which)).reshape(n, k + 1)
    chosen = value.argmax(axis=1)
    moved = np.flatnonzero((chosen < k) & (value.max(axis=1) > value[:, k]))
    rows[moved, block] = options[chosen[moved]]


def _move_clock(space: DesignSpace, rows: IntArray, domain: int, aims: _Aims) -> None:
    """Set the clock of each row [n, width] to its best point."""
    points = space.points[domain]
    gene = space.groups + domain
    trial = np.repeat(rows, len(points), axis=0)
    trial[:, gene] = np.tile(points, len(rows))
    value = _value(space, trial, aims.take(np.repeat(np.arange(len(rows)), len(points)))).reshape(
        len(rows), -1
    )
    rows[:, gene] = points[value.argmax(axis=1)]


def _value(space: DesignSpace, rows: IntArray, aims: _Aims) -> FloatArray:
    """Return [n]: the worth of rows [n, width]."""
    tables = ClockTables(space, rows[:, space.groups :])
    return _worth(space, work_of_rows(space, rows, tables), tables, slice(None), aims)


def _worth(
    space: DesignSpace, work: Work, tables: ClockTables, which: IntArray | slice, aims: _Aims
) -> FloatArray:
    """Return [n]: log throughput - weight x log power, less penalties beyond the limits."""
    problem = space.problem
    estimated = estimate(space, work, tables, which)
    value: FloatArray = np.log(estimated.image_rate) - aims.weight * np.log(estimated.power)
    if aims.fair.any():
        least = (estimated.rate * times_alone_ps(problem)).min(axis=1)
        value += aims.fair * (np.log(least) - np.log(estimated.image_rate))
    for n, network in enumerate(problem.networks):
        if network.min_rate_uhz is not None:
            # A rate is of frames per ps.
            rate = problem.images[n] * estimated.rate[:, n]
            under = np.log(network.min_rate_uhz / UHZ_PS / (aims.margin * rate))
            value -= STEEPNESS * np.maximum(under, 0.0)
    if problem.power_cap_mw is not None:
        over = np.log(estimated.power / (aims.margin * problem.power_cap_mw))
        value -= STEEPNESS * np.maximum(over, 0.0)
    for u, unit in enumerate(problem.units):
        if unit.max_segments is not None:
            over = work.segments[:, :, u].sum(axis=1) - unit.max_segments
            value -= STEEPNESS * np.maximum(over, 0.0)
    return value


def _segments(options: IntArray, on: FloatArray) -> FloatArray:
    """Return [k, units]: segments of options [k, groups], which are ``on`` [k, groups, units]."""
    begins = np.ones(options.shape)
    begins[:, 1:] = options[:, 1:] != options[:, :-1]
    count: FloatArray = np.einsum("kg,kgu->ku", begins, on)
    return count
