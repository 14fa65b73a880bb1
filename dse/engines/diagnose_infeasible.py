"""Why nothing is feasible: each limit beside the best value that can be reached alone, and the
smallest relaxation found that makes the problem feasible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.text import pluralize
from paretosoc.dse.problem.constraint_status import limit_and_value, limit_for, shown
from paretosoc.dse.search.driver import Budget, SearchResult, StoppedBy, search
from paretosoc.dse.space.design_space import DesignSpace, starting_rows
from paretosoc.fitness.objectives import (
    OutcomeFunction,
    Outcomes,
    alone_times_by_unit,
    make_outcomes,
)
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.execution import OneFrame, Periodic
from paretosoc.results.problem.limits import (
    GUARANTEED_PERIOD,
    LIMITS,
    MISSES,
    OVER_TIME,
    OVERLOAD,
    PERIOD,
    POOL,
    RATE,
    RESPONSE,
    RESPONSES,
    TRANSITIONS,
    Constraint,
    constraints_of,
    with_limit,
    without_limits,
)
from paretosoc.results.problem.objectives import Objective
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import rate_uhz, times_alone_ps
from paretosoc.results.text.rates import describe_loads

PROBE_EVALUATIONS = 5_000
"""Spent on each constraint that the search did not meet, to see how near one can come to it."""
FREE_RUNNING_PROBE_EVALUATIONS = 300
"""The same if networks run freely: 5,000 took 69 s of the processor for six of them, the search
itself 4 s."""

MORE_COUNTS = (1, 2, 4, 8)
"""Increments of a limit on transitions that are tried."""


def explain_infeasible(
    problem: Problem, result: SearchResult, *, seed: int, jobs: int = 1, probe: bool = True
) -> str:
    """Return the constraints that cannot be met, in one line or a few.

    With ``probe``, a constraint that no design point met is searched for alone: a short search
    minimises only its value. If one limit is in the way of the others, or each is met alone, the
    smallest relaxation of one that helps is searched for in the same way. The results are findings,
    not proofs.
    """
    if result.evaluations == 0 and result.stopped_by is StoppedBy.EXHAUSTED:
        return "no design point was proposed: the engine expects none to keep all constraints"
    if result.evaluations == 0:
        return "the search was ended before the first design point"
    head = f"no feasible design point in {pluralize(result.evaluations, 'evaluation')}"
    constraints = constraints_of(problem)
    least = [int(value) for value in result.least_constraint_values]
    lightest: IntArray | None = None
    for index, constraint in enumerate(constraints):
        if not probe or least[index] <= constraint.limit or constraint.kind.figure is None:
            continue
        probed = _probe(problem, constraint)
        if constraint.kind is OVERLOAD:
            lightest = _least_loaded(probed, seed, jobs)
            alone = [] if lightest is None else [_recurs_ps(probed, lightest)]
        else:
            alone = _least_alone(probed, constraint, seed, jobs)
        least[index] = min([least[index], *alone])
    lines = []
    for entry, value in zip(constraints, least, strict=True):
        if entry.kind is OVERLOAD and value > entry.limit:
            lines.append(_overload(problem, entry, value, lightest))
            continue
        limit, found = limit_and_value(entry, value)
        if value > entry.limit:
            # A user who takes this figure as the limit must not miss it by its last digit.
            found = limit_for(entry, value)
        best = "highest" if entry.is_least else "lowest"
        lines.append(f"{entry.name}: {limit}, {best} found {found}{_alone(problem, entry)}")
    over = [
        (entry.kind, line)
        for line, entry, value in zip(lines, constraints, least, strict=True)
        if value > entry.limit
    ]
    if any(kind in (PERIOD, GUARANTEED_PERIOD) for kind, _ in over):
        # Power and energy over a period that is too short mean nothing.
        over = [item for item in over if item[0] not in OVER_TIME]
    missed = [line for _, line in over]
    if len(missed) == 1:
        entry = constraints[lines.index(missed[0])]
        # The lowest value alone was found with all limits on mappings.
        others = [c for c in constraints if c is not entry and c.kind.counts is None]
        needed = _relaxation(problem, entry, seed, jobs) if probe and others else None
        value = least[lines.index(missed[0])]
        if needed is None or needed <= value:
            return f"{head}: {missed[0]}"
        return f"{head}: {missed[0]}{_relaxed_text(entry, needed)}"
    if missed:
        return "\n".join([f"{head}:", *missed])
    asked, helpful, useless = [], [], []
    for line, entry in zip(lines, constraints, strict=True):
        if not entry.kind.is_asked:
            continue
        asked.append(line)
        needed = _relaxation(problem, entry, seed, jobs) if probe else None
        if needed is not None:
            helpful.append(line + _relaxed_text(entry, needed))
        elif probe:
            useless.append(entry.name)
    if not asked:
        return f"{head}; each constraint was met alone: more evaluations may find one"
    lines = [f"{head}; each constraint was met alone, but not all together:", *(helpful or asked)]
    if useless:
        lines.append(f"relaxing one of these alone was not found to help: {', '.join(useless)}")
    return "\n".join(lines)


def _alone(problem: Problem, constraint: Constraint) -> str:
    """Return a text, after the best value found, about the network's rate alone on its best unit,
    or the part of a response in which it waits for its batch."""
    if constraint.kind is not RATE or constraint.index is None:
        return _of_batch(problem, constraint)
    n = constraint.index
    rate = problem.images[n] * rate_uhz(times_alone_ps(problem)[n])
    return f"; alone on its best unit it reaches {shown(rate, constraint.unit)}"


def _of_batch(problem: Problem, constraint: Constraint) -> str:
    if constraint.kind not in RESPONSES or constraint.index is None:
        return ""
    network = problem.networks[constraint.index]
    if not network.batch_wait_ps:
        return ""
    wait = shown(network.batch_wait_ps, constraint.unit)
    return f", {wait} of it from the first of {network.batch} images to the last"


def _relaxed_text(constraint: Constraint, needed: int) -> str:
    """Return a text, after the best value alone, about the value that makes it feasible."""
    figure = limit_for(constraint, needed)
    share = abs(needed - constraint.limit) / max(1, abs(constraint.limit))
    change = f"{100 * share:.0f} % {'less' if constraint.is_least else 'more'}"
    if not constraint.is_least and share >= 1:
        change = f"{share + 1:.3g} times as much"
    return f"; with all others as they are, {figure} is enough ({change})"


def _relaxation(problem: Problem, constraint: Constraint, seed: int, jobs: int) -> int | None:
    """Return the smallest value of a constraint found beside all others, or None if there is
    none."""
    kind = constraint.kind
    if not can_be_relaxed(constraint):
        return None
    column = constraints_of(problem).index(constraint)
    limits: list[int | None] = [None]
    if kind is TRANSITIONS:
        limits = [constraint.limit + more for more in MORE_COUNTS]
    for rows in relaxed_rows(problem, constraint, limits, seed, jobs):
        return int(make_outcomes(problem)(rows).constraint_values[:, column].min())
    return None


def relaxed_rows(
    problem: Problem,
    constraint: Constraint,
    limits: Sequence[int | None],
    seed: int,
    jobs: int,
    *,
    beside: tuple[Objective, ...] = (),
    start: IntArray | None = None,
) -> Iterator[IntArray]:
    """Yield the rows that short searches find, if any, with each of ``limits`` in place of a
    constraint's, and the figure of the constraint as a further objective if it has one."""
    for limit in limits:
        relaxed = lifted(problem, constraint, limit)
        if constraint.kind.figure is not None:
            relaxed = with_figure(relaxed, constraint, beside)
        found = short_search(relaxed, seed, jobs, figure_of_pool(relaxed, constraint), start).rows
        if len(found):
            yield found


def can_be_relaxed(constraint: Constraint) -> bool:
    """Return whether a limit was asked for, and says nothing else."""
    kind = constraint.kind
    return kind.is_asked and kind.field is not None and kind not in RESPONSES


def lifted(problem: Problem, constraint: Constraint, limit: int | None) -> Problem:
    """Return the problem with one limit that :func:`can_be_relaxed` changed, or without it."""
    kind, index = constraint.kind, constraint.index
    if limit is None and kind is MISSES:
        # Without a number no response may be beyond the deadline.
        assert index is not None, "of a network"
        limit = problem.releases(index)
    if limit is None and kind is POOL:
        # The figure of a pool is that of its constraint.
        limit = INT64_MAX
    return with_limit(problem, kind, index, limit)


def _overload(problem: Problem, entry: Constraint, value: int, lightest: IntArray | None) -> str:
    """Return a text about an overload, with the loads of ``lightest``: a state that does not recur
    is as far beyond its limit as a period's work is beyond a period."""
    period = entry.limit // MAX_PERIODS
    work, given = (shown(ps, entry.unit) for ps in (value - entry.limit + period, period))
    text = (
        f"overloaded: nothing recurs within {MAX_PERIODS} periods of {given}; the work of one "
        f"takes {work} at best"
    )
    if lightest is None:
        return text
    loads = describe_loads(problem, problem.design_of(lightest))
    return f"{text}; with the work as even as was found, {loads}"


def _least_loaded(problem: Problem, seed: int, jobs: int) -> IntArray | None:
    """Return the design point found with the least busy unit, all limits but the overload kept, or
    None."""
    evaluate, constraints = make_outcomes(problem, jobs=jobs), constraints_of(problem)
    kept = np.array([limit.kind is not OVERLOAD for limit in constraints])
    limits = np.array([limit.limit for limit in constraints], dtype=np.int64)

    def loads(rows: IntArray) -> Outcomes:
        found = evaluate(rows)
        fits = (found.constraint_values <= limits)[:, kept].all(axis=1)
        busiest = alone_times_by_unit(problem, rows).max(axis=1)
        return replace(found, objectives=busiest[:, None], feasible=found.possible & fits)

    rows = short_search(problem, seed, jobs, loads).rows
    return rows[0] if len(rows) else None


def _recurs_ps(problem: Problem, row: IntArray) -> int:
    kinds = [constraint.kind for constraint in constraints_of(problem)]
    values = make_outcomes(problem)(row[None]).constraint_values[0]
    return int(values[kinds.index(OVERLOAD)])


def _probe(problem: Problem, constraint: Constraint) -> Problem:
    """Return the problem with one value to minimise and only the limits on mappings. Power and
    energy over a fixed period mean something only if the makespan fits into it."""
    execution = problem.execution
    if isinstance(execution, Periodic) and constraint.kind not in OVER_TIME:
        execution = OneFrame()
    # A deadline that defines the late responses stays.
    stays = RESPONSE if constraint.kind is MISSES else None
    asked = [kind for kind in LIMITS if kind.field and kind.counts is None and kind is not stays]
    problem = without_limits(problem, asked)
    if constraint.kind is POOL:
        problem = lifted(problem, constraint, None)
    return replace(with_figure(problem, constraint), execution=execution)


def with_figure(
    problem: Problem, constraint: Constraint, beside: tuple[Objective, ...] = ()
) -> Problem:
    """Return the problem with the objectives ``beside`` and the figure of a limit.

    The figure is the last objective, unless it is among them. Outcomes of a pool are those of
    :func:`figure_of_pool`.
    """
    assert constraint.kind.figure is not None, "a limit with an objective"
    if constraint.kind is POOL:
        return replace(problem, objectives=(*beside, Objective(constraint.kind.figure)))
    figure = Objective(constraint.kind.figure, constraint.index)
    return replace(problem, objectives=tuple(dict.fromkeys((*beside, figure))))


def figure_of_pool(problem: Problem, constraint: Constraint) -> OutcomeFunction | None:
    """Return a function to outcomes whose last objective, ``memory``, is that of a limited pool
    alone.

    Returns None if the limit is on something else.
    """
    if constraint.kind is not POOL:
        return None
    evaluate = make_outcomes(problem)
    column = [entry.name for entry in constraints_of(problem)].index(constraint.name)

    def outcomes(rows: IntArray) -> Outcomes:
        found = evaluate(rows)
        pool = found.constraint_values[:, [column]]
        return replace(found, objectives=np.concatenate((found.objectives[:, :-1], pool), axis=1))

    return outcomes


def _least_alone(problem: Problem, constraint: Constraint, seed: int, jobs: int) -> list[int]:
    """Return the smallest value found of the only objective, or nothing if no point is feasible."""
    evaluate = figure_of_pool(problem, constraint)
    values: IntArray = short_search(problem, seed, jobs, evaluate).objectives[:, 0]
    return [int(np.min(values))] if len(values) else []


def short_search(
    problem: Problem,
    seed: int,
    jobs: int,
    evaluate: OutcomeFunction | None = None,
    start: IntArray | None = None,
) -> SearchResult:
    """Run a search of ``PROBE_EVALUATIONS``, or fewer if networks run freely.

    ``start``: rows of the same groups, units and domains to begin with.
    """
    from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine

    space = DesignSpace(problem)
    if start is not None:
        space = replace(space, start=starting_rows(space, start))
    has_frame = problem.execution.has_frame
    evaluations = PROBE_EVALUATIONS if has_frame else FREE_RUNNING_PROBE_EVALUATIONS
    evaluate = evaluate or make_outcomes(problem, jobs=jobs)
    return search(Nsga2Engine(space, seed=seed), evaluate, Budget(evaluations))
