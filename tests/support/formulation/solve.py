"""HaX-CoNN's scheduling problem, Eq. 1 to 11, as one model for Z3: for small instances.

The equations stand in :mod:`dse.certificate.formulation.equations`. The three settings differ in
when a layer that is ready starts, and so bound each other: ``FREE`` <= ``DISPATCH`` <= ``PAPER``.
``DISPATCH`` is the timeline's rule, so its optimum is that of the design space to the last
picosecond.

All three are in integer picoseconds and share one definition of an end, so nothing is rounded in
one of them that is not in the others, and the two inequalities hold without a tolerance:

* what ``DISPATCH`` or ``PAPER`` allows, ``FREE`` allows;
* where nothing waits and no two layers share a unit, the dispatch rule starts everything at the
  same instants, so that every solution of ``PAPER`` is the timeline of its design point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from paretosoc.dse.certificate.formulation.equations import Term, check_formulated
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.problem import DesignPoint, Problem
from tests.support.formulation.rate_sum import rate_uhz
from tests.support.formulation.whole_equations import Setting, WholeEquations

__all__ = ["Setting", "WholeSolution", "WholeStatus", "solve_whole"]


CLOSE = 64
"""Bounds are near each other when they differ by less than this part of the best value."""


class WholeStatus(Enum):
    """What the solver could say."""

    OPTIMAL = "optimal"
    """No solution is faster."""
    INFEASIBLE = "infeasible"
    """There is no solution."""
    STOPPED = "stopped"
    """The effort was spent: no solution is below ``bound``; the one found may be above it."""


@dataclass(frozen=True)
class WholeSolution:
    """The best solution found, None where there is none, and what was proved of it.

    Values are makespans in ps, or -sum of floor(10^18 / T_n) in uHz.
    """

    status: WholeStatus
    setting: Setting
    bound: int
    """No solution has a smaller value; the trivial bound where nothing is feasible."""
    value: int | None
    design: DesignPoint | None
    schedule: Schedule | None
    checks: int
    """Questions put to Z3."""


def solve_whole(
    problem: Problem, setting: Setting, *, sums_rates: bool = False, effort: int | None = None
) -> WholeSolution:
    """Minimises the makespan of one frame (Eq. 11), or maximises the sum of 1 / T (Eq. 10).

    Honoured: what is allowed (units, operating points), limits on transitions, segments, deadlines,
    losses of accuracy, memory and the period.

    Args:
        sums_rates: minimise -sum of floor(10^18 / T_n) in uHz, T_n in ps, instead of the makespan.
        effort: most that Z3 may spend on one question, in its own units (about 10 million are a
            second), so that the answer is the same on any machine; None: until it is proved.

    Raises:
        ResultError: a power cap or an energy budget, which Eq. 1 to 11 do not know; phases of one
            model; priorities that are searched.
    """
    check_formulated(problem)
    import z3

    equations = WholeEquations(problem, setting, sums_rates=sums_rates)
    # Not Solver(): its preprocessing is made for one check, and here there are several.
    solver = z3.SimpleSolver()
    solver.add(equations.constraints)
    if effort is not None:
        solver.set("rlimit", effort)
    bound, checks = _trivial_bound(equations), 0
    best: Term = None
    best_value: int | None = None
    while best_value is None or bound < best_value:
        target = None if best_value is None else _target(bound, best_value, checks)
        solver.push()
        if target is not None:
            solver.add(equations.objective <= target)
        answer = solver.check()
        checks += 1
        model = solver.model() if answer == z3.sat else None
        solver.pop()
        if answer == z3.unknown:
            return _solution(equations, WholeStatus.STOPPED, bound, best, checks)
        if answer == z3.unsat:
            if target is None:
                return _solution(equations, WholeStatus.INFEASIBLE, bound, None, checks)
            bound = target + 1
            continue
        found = _value(equations, model)
        if best_value is None or found < best_value:
            best, best_value = model, found
        # Where the model's rates are only its secants', these are split here.
        if equations.rate_bounds:
            latencies = _latencies(equations, model)
            for rate_bound, latency in zip(equations.rate_bounds, latencies, strict=True):
                solver.add(rate_bound.refine(latency))
    return _solution(equations, WholeStatus.OPTIMAL, bound, best, checks)


def _trivial_bound(equations: WholeEquations) -> int:
    """No makespan is negative; no network is faster than its smallest times."""
    frame = equations.frame
    networks = range(len(equations.problem.networks))
    if not equations.rate_bounds:
        return 0
    return -sum(rate_uhz(frame.least_latency_ps(n)) for n in networks)


def _target(bound: int, best: int, checks: int) -> int:
    """The value to try next: halfway, since models shortly below the best one are hard to find;
    near the end in turn with the next smaller one, which may prove the optimum at once."""
    if CLOSE * (best - bound) < abs(best) and checks % 2:
        return best - 1
    return (bound + best - 1) // 2


def _latencies(equations: WholeEquations, model: Term) -> list[int]:
    """Per network, in ps."""
    networks = enumerate(equations.problem.networks)
    return [
        max(int(model[equations.et[i]].as_long()) for i in equations.frame.last_executions(n))
        - network.arrival_ps
        for n, network in networks
    ]


def _value(equations: WholeEquations, model: Term) -> int:
    """What the model's schedule is worth, whatever its own rates say."""
    if equations.rate_bounds:
        return -sum(rate_uhz(latency) for latency in _latencies(equations, model))
    return max(int(model[end].as_long()) for end in equations.et)


def _solution(
    equations: WholeEquations, status: WholeStatus, bound: int, model: Term, checks: int
) -> WholeSolution:
    if model is None:
        return WholeSolution(status, equations.setting, bound, None, None, None, checks)

    def chosen(one_of: dict[int, Term]) -> int:
        import z3

        return next(k for k, holds in one_of.items() if z3.is_true(model[holds]))

    design = DesignPoint(
        np.array([chosen(units) for units in equations.S], dtype=np.int64),
        np.array([chosen(points) for points in equations.point], dtype=np.int64),
    )
    rows = tuple(
        ScheduledGroup(
            frame=1,
            network=layer.network,
            repeat=layer.repeat,
            group=layer.group,
            unit=int(design.units[layer.group]),
            ready_ps=model[equations.ready[i]].as_long(),
            start_ps=model[equations.st[i]].as_long(),
            end_ps=model[equations.et[i]].as_long(),
            alone_ps=model[equations.alone[layer.group]].as_long(),
        )
        for i, layer in enumerate(equations.frame.executions)
    )
    return WholeSolution(
        status=status,
        setting=equations.setting,
        bound=bound,
        value=_value(equations, model),
        design=design,
        schedule=Schedule(rows),
        checks=checks,
    )
