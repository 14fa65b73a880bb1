"""How often a board keeps all limits, the figures of its best design point over draws of its costs,
and which of them are only assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import NINE_OF_TEN, percent_off
from paretosoc.dse.engines.diagnose_infeasible import PROBE_EVALUATIONS
from paretosoc.dse.problem.constraint_status import limit_in_units
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.tools.analysis.confidence import played
from paretosoc.dse.tools.analysis.cost_draws import CostErrors, at_clocks_of, fitting, with_factors
from paretosoc.dse.tools.choose.boards import Figure
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.source import Status
from paretosoc.results.costs.cost_origins import CostOrigin, CostOrigins
from paretosoc.results.front.choices import PERCENTILES, SURE
from paretosoc.results.front.named_members import time_of_all
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import (
    DEADLINES,
    GUARANTEED_PERIOD,
    MEMORY,
    PERIOD,
    POOL,
    POWER,
    RESPONSE_95,
    constraints_of,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

DEADLINE_USED, ENERGY = "deadline used [%]", "energy [mJ]"
_TIMES = (*DEADLINES, RESPONSE_95, PERIOD, GUARANTEED_PERIOD)
_WORST = 1 << 62


@dataclass(frozen=True)
class Judged:
    """Outcome of the draws of a board. ``design``: position among its candidates."""

    probability: float
    design: int
    probability_of_design: float
    figures: dict[str, Figure]
    memory_bytes: int | None
    memory_left_bytes: int | None


def judge(problem: Problem, rows: IntArray, errors: CostErrors, draws: int, seed: int) -> Judged:
    """Return how often some of the candidates keeps all limits, and the figures of the one that
    uses the least energy among those that keep them in ``SURE`` of the draws or, if none does, most
    often.

    Args:
        rows: [candidates, groups + domains].

    Raises:
        ResultError: if figures would leave int64.
    """
    shown = replace(problem, objectives=_shown_objectives(problem))
    small, few = at_clocks_of(shown, rows)
    errors = fitting(small, errors, draws, seed)
    nominal = played(small)(few)
    values = np.zeros((draws, len(rows), len(shown.objectives)))
    kept = np.zeros((draws, len(rows)), dtype=np.bool_)
    for index, factors in enumerate(errors.draws(draws, seed)):
        outcomes = played(with_factors(small, factors))(few)
        values[index], kept[index] = _figures(shown, outcomes), outcomes.feasible
    often = kept.mean(axis=0)
    able = np.flatnonzero(often >= min(SURE, often.max()))
    at_nominal = _figures(shown, nominal)
    design = int(able[at_nominal[able, figure_names(problem).index(ENERGY)].argmin()])
    ranks = [-(-percent * draws // 100) - 1 for percent in PERCENTILES]
    ends = np.sort(values[:, design], axis=0)[ranks]
    memory, left = _memory(problem, nominal, design)
    return Judged(
        probability=float(kept.any(axis=1).mean()),
        design=design,
        probability_of_design=float(often[design]),
        figures={
            name: Figure(float(at_nominal[design, k]), *map(float, sorted(ends[:, k])))
            for k, name in enumerate(figure_names(problem))
        },
        memory_bytes=memory,
        memory_left_bytes=left,
    )


def figure_names(problem: Problem) -> list[str]:
    """Return the names of the figures of a board, with their units: time, energy, power."""
    time, _, power = _shown_objectives(problem)
    names = [each.title(problem) for each in (time, power)]
    return [DEADLINE_USED if _time_limits(problem) else names[0], ENERGY, names[1]]


def figure_limits(problem: Problem) -> dict[str, float]:
    """Return the limits of those figures that have one."""
    time, _, power = figure_names(problem)
    limits = {time: 100.0} if _time_limits(problem) else {}
    for limit in constraints_of(problem):
        if limit.kind is POWER:
            limits[power] = limit_in_units(limit, limit.limit)[0]
    return limits


def _shown_objectives(problem: Problem) -> tuple[Objective, ...]:
    kinds = ObjectiveKind.ENERGY, ObjectiveKind.POWER
    return time_of_all(problem), *map(Objective, kinds)


def _time_limits(problem: Problem) -> list[int]:
    """Return the positions of the limits of latencies and responses."""
    return [
        column
        for column, limit in enumerate(constraints_of(problem))
        if limit.kind in _TIMES and limit.limit > 0
    ]


def _figures(problem: Problem, outcomes: Outcomes) -> FloatArray:
    """Return [rows, 3] figures, infinite if overloaded. The images of the network with the highest
    rate share the energy of a period."""
    found = np.empty((len(outcomes.objectives), len(problem.objectives)))
    for k, objective in enumerate(problem.objectives):
        values = outcomes.objectives[:, k].tolist()
        found[:, k] = [objective.shown(value) for value in values]
    columns = _time_limits(problem)
    if columns:
        bounds = np.array([constraints_of(problem)[column].limit for column in columns])
        found[:, 0] = (100 * outcomes.constraint_values[:, columns] / bounds).max(axis=1)
    if problem.has_rates:
        found[:, 1] /= max(problem.images)
    found[outcomes.objectives[:, 1] == INT64_MAX] = np.inf
    return found


def _memory(problem: Problem, nominal: Outcomes, design: int) -> tuple[int | None, int | None]:
    """Return the bytes that a design point takes of a limited memory, and those left."""
    for column, limit in enumerate(constraints_of(problem)):
        if limit.kind is MEMORY:
            used = int(nominal.constraint_values[design, column])
            return used, limit.limit - used
    return None, None


def nearest_row(problem: Problem, seed: int) -> IntArray:
    """Return [1, groups + domains]: of a problem in which nothing keeps all limits, the design
    point found whose worst limit is exceeded by the smallest factor.

    Limits on mappings and memories, which no error of a time changes, are kept if anything does.
    """
    limits = constraints_of(problem)
    fixed = np.array([limit.kind.counts is not None or limit.kind in (MEMORY, POOL)
                      for limit in limits])  # fmt: skip
    bounds = np.array([limit.limit for limit in limits], dtype=np.int64)
    evaluate = make_outcomes(problem, jobs=1)

    def excess(rows: IntArray) -> Outcomes:
        found = evaluate(rows)
        values = found.constraint_values
        keeps = (values <= bounds)[:, fixed].all(axis=1)
        factors = [_factors(values[:, k].tolist(), bounds[k]) for k in np.flatnonzero(~fixed)]
        worst = np.array([[0] * len(rows), *factors], dtype=np.int64).max(axis=0)
        return replace(found, objectives=worst[:, None], feasible=found.possible & keeps)

    from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine

    one = replace(problem, objectives=problem.objectives[:1])
    # Bounds are on the problem's objectives, not on this one.
    engine = Nsga2Engine(DesignSpace(one), seed=seed, surrogate_evaluations=0)
    return search(engine, excess, Budget(PROBE_EVALUATIONS)).rows[:1]


def _factors(values: Sequence[int], bound: int) -> list[int]:
    """Return figures over their limit, in millionths. Those of a least value are negative."""
    found = []
    for value in values:
        above, below = (bound, value) if bound < 0 else (value, bound)
        found.append(
            _WORST if below == 0 else min(_WORST, int(Fraction(above, int(below)) * 10**6))
        )
    return found


def times_off_percent(costs: CostOrigins, units: Sequence[int]) -> tuple[int, int] | None:
    """Return by how much the times of networks on these units are off: half of them at most, nine
    of ten at most, of the network that is known worst. None if none can run there."""
    scales = [
        group.by_unit[unit].error.of_network
        for network in costs.networks
        for group in network.groups
        for unit in units
        if group.by_unit[unit].origin is not CostOrigin.CANNOT_RUN
    ]
    if not scales:
        return None
    return percent_off(max(scales)), percent_off(max(scales), NINE_OF_TEN)


def assumed_figures(
    chip: Platform, units: Mapping[str, str], number_format: str
) -> tuple[str, ...]:
    """Return the figures behind times and powers of these units that are assumed: neither measured
    nor derived from measurements. ``units`` maps their names to those for people."""
    found = []
    sources = []
    for name, shown in units.items():
        unit = chip.unit_by_name[name]
        peak = unit.peak_by_format.get(number_format)
        # An error that was found by leaving networks out counts more than an assumed peak.
        if peak is not None and peak.error is None:
            found.append(f"times of {shown}")
        sources += [(shown, table.source) for table in unit.power]
    sources += [("the memory", chip.memory.power.source), ("the board", chip.board_source)]
    found += [f"power of {of}" for of, source in sources if source.status is Status.ASSUMED]
    return tuple(dict.fromkeys(found))
