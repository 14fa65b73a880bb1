"""Lower bounds on the time and energy of design points, at a fraction of an evaluation's cost.

No schedule ends before the longest path through a network, nor before the largest load of a unit,
in stand-alone times: contention and queueing only add to them. So a design point whose bounds a
member beats need not be evaluated, and one with good bounds is a place to begin a search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from graphlib import TopologicalSorter

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.execution import rules_of
from paretosoc.fitness.objectives import OutcomeFunction, make_outcomes
from paretosoc.fitness.simulate import Evaluation, Evaluator
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import make_chosen
from paretosoc.results.problem.limits import LIMITS, without_limits
from paretosoc.results.problem.problem import Problem

Filter = Callable[[IntArray, IntArray], BoolArray]


def has_lower_bounds(problem: Problem) -> bool:
    """Return whether stand-alone times bound every objective."""
    bounded = rules_of(problem).bounded
    return all(objective.kind in bounded for objective in problem.objectives)


def make_lower_bound_evaluator(problem: Problem) -> Evaluator:
    """Return a function from rows [n, groups + domains] to least times and energies of one
    frame."""
    from paretosoc.dse.search.surrogate.lower_bounds_jit import Precedence, Scratch, least_rows

    plan = make_plan(problem)
    chosen = make_chosen(plan)
    networks = problem.networks
    waits = np.zeros((len(networks), len(networks)), dtype=np.int64)
    for n, network in enumerate(networks):
        # With rates a release waits for one release, which may be of any instant of the period.
        if not problem.has_rates:
            waits[n, list(network.waits_for)] = 1
    order = TopologicalSorter({n: network.waits_for for n, network in enumerate(networks)})
    edges = [(source, target, index) for index, (source, target) in enumerate(problem.edges)]
    edges.sort(key=lambda edge: edge[1])
    precedence = Precedence(
        edge=np.array(edges, dtype=np.int64).reshape(-1, 3),
        owner=np.repeat(np.arange(len(networks)), [len(n.group_names) for n in networks]),
        repeats=np.array([network.repeats for network in networks], dtype=np.int64),
        arrival=np.array([network.arrival_ps for network in networks], dtype=np.int64),
        order=np.array(list(order.static_order()), dtype=np.int64),
        waits=waits,
        paced=np.array([network.paced for network in networks], dtype=np.int64),
    )
    each = range(len(networks)) if problem.has_rates else ()
    late_ps = np.array([problem.late_ps(n) for n in each], dtype=np.int64)
    releases = np.array([problem.releases(n) for n in each], dtype=np.int64)
    sizes = (plan.groups, plan.networks, plan.networks, plan.units)
    scratch = Scratch(*(np.zeros(size, dtype=np.int64) for size in sizes))

    def evaluate(rows: IntArray) -> Evaluation:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        evaluation = Evaluation.unfilled(len(rows), plan.networks)
        least_rows(plan, precedence, chosen, scratch, rows, *evaluation.frame_columns)
        if not problem.has_rates:
            return evaluation
        # No response is shorter than its network's path.
        late = evaluation.latency_ps > late_ps
        return replace(evaluation, percentile_95_ps=evaluation.latency_ps, misses=late * releases)

    return evaluate


def make_lower_bounds(problem: Problem) -> OutcomeFunction:
    """Return a function to objectives and figures as if nothing contended or queued."""
    return make_outcomes(problem, simulate=make_lower_bound_evaluator(problem))


def make_filter(problem: Problem) -> Filter:
    """Return a function that finds rows which cannot join a front.

    It takes objectives of feasible members [m, objectives] and rows [n, groups + domains], and
    returns [n]: True if a row breaks a limit, or some member is at least as good as its bounds.
    """
    from paretosoc.dse.search.surrogate.lower_bounds_jit import beaten_rows

    # Only times and powers are bounded here. Transitions and segments count with the evaluation.
    problem = without_limits(problem, [kind for kind in LIMITS if kind.counts])
    simulate = make_lower_bound_evaluator(problem)
    cap = problem.power_cap_mw if problem.execution.period_ps is None else None

    def capped(rows: IntArray) -> Evaluation:
        frame = simulate(rows)
        if cap is None:
            return frame
        # A row that keeps the cap draws at most cap x T, and idle power x T of that is already
        # used.
        room = cap - frame.idle_mw
        time = -(-frame.dynamic_fj // np.maximum(room, 1))
        time = np.where(room > 0, np.maximum(time, frame.makespan_ps), frame.makespan_ps)
        return replace(frame, makespan_ps=time)

    outcomes_of = make_outcomes(problem, simulate=capped)

    def cannot_join(members: IntArray, rows: IntArray) -> BoolArray:
        outcomes = outcomes_of(rows)
        beaten = np.zeros(len(rows), dtype=np.bool_)
        rising = np.ascontiguousarray(members[np.argsort(members[:, 0], kind="stable")])
        beaten_rows(rising, outcomes.objectives, beaten)
        return beaten | ~outcomes.feasible

    return cannot_join
