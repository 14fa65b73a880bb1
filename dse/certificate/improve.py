"""Schedules that get better and end with a proof: the steps of D-HaX-CoNN (HaX-CoNN, 5.3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.baselines.whole_networks import GpuAndDsa, GpuOnly
from paretosoc.dse.certificate.branch_and_bound import (
    ExactResult,
    Incumbents,
    SearchProgress,
    find_front,
)
from paretosoc.dse.certificate.certify import Limits, prove, unchecked, usual_nodes
from paretosoc.dse.certificate.preconditions import certified_column
from paretosoc.dse.certificate.subtree import Subtree
from paretosoc.dse.search.driver import StoppedBy
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.dse.version import program_version
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import Certificate
from paretosoc.results.front.dominance import non_dominated, reference_point
from paretosoc.results.front.epsilon import epsilon_ppm
from paretosoc.results.front.front import BaselinePoint, Front, Provenance
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem


def seed_front(
    problem: Problem,
    rows: IntArray,
    *,
    engine: str,
    platform: str = "",
    baselines: tuple[BaselinePoint, ...] = (),
) -> Front:
    """Return the front of ``rows`` [n, groups + domains], which are canonical and feasible."""
    objectives = make_outcomes(problem)(rows).objectives
    kept = non_dominated(objectives)
    return Front(
        problem=problem,
        members=make_members(problem, rows[kept], objectives[kept]),
        provenance=Provenance(
            version=program_version(),
            engine=engine,
            seed=0,
            evaluations=len(rows),
            stopped_by=StoppedBy.EXHAUSTED.value,
            seconds=0.0,
            inputs=(),
            platform=platform,
            precision="",
            command="",
            convergence=(),
            reference_point=tuple(reference_point(objectives).tolist()),
        ),
        baselines=baselines,
    )


@dataclass(frozen=True, eq=False)
class FastestResult(ExactResult):
    """The best design point of a search for one objective.

    ``best`` is None if no design point is better than the one that the search started from, or none
    is feasible. ``best_value`` is its value, or the one started from (None: neither). No design
    point is below ``bound``.
    """

    best: DesignPoint | None
    best_value: int | None
    bound: int


def find_fastest(
    problem: Problem,
    *,
    known: int | None = None,
    sums_rates: bool = False,
    max_nodes: int | None = None,
    until: Deadline = NEVER,
    resume_from: Subtree | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> FastestResult:
    """Find the smallest makespan, one of the problem's objectives.

    Args:
        known: a value that some feasible design point has. Only better ones are searched for.
        sums_rates: minimise -sum of floor(10^18 / T_n) in uHz (Eq. 10 of HaX-CoNN) instead.
        max_nodes, until, resume_from, on_progress: see
            :func:`dse.certificate.branch_and_bound.find_front`.

    Raises:
        ResultError: as :func:`dse.certificate.branch_and_bound.find_front`.
    """
    kind = ObjectiveKind.INVERSE_LATENCY if sums_rates else ObjectiveKind.LATENCY
    result = find_front(
        problem,
        objectives=(problem.objectives.index(Objective(kind)),),
        known=None if known is None else Incumbents(np.array([[known]], dtype=np.int64)),
        max_nodes=max_nodes,
        until=until,
        resume_from=resume_from,
        on_progress=on_progress,
    )
    value = int(result.objectives[0, 0]) if len(result.objectives) else None
    below = INT64_MAX if value is None else value
    best = None
    if value is not None and result.rows[0, 0] >= 0:
        best = problem.design_of(result.rows[0])
    bound = min(int(result.open_bounds.min(initial=INT64_MAX)), below)
    return FastestResult(**vars(result), best=best, best_value=value, bound=bound)


START = (GpuOnly, GpuAndDsa)
"""The naive schedules. HaX-CoNN starts from the best of these, too (its footnote 1)."""
FIRST_SLICE, MAX_SLICE = 200, 20_000
"""Nodes of the first slice of the search; each further slice has twice as many."""
SEARCH = "search"

Clock = Callable[[], float]


@dataclass(frozen=True, eq=False)
class Published:
    """A schedule that is better than all before it.

    ``value``: its makespan in ps (Eq. 11), or minus its sum of rates in uHz (Eq. 10). ``source``:
    the label of a baseline, or ``search``. ``nodes`` of the search and ``seconds`` until then.
    """

    design: DesignPoint
    value: int
    source: str
    nodes: int
    seconds: float


@dataclass(frozen=True, eq=False)
class FinalSchedule:
    """The end: nothing better will come. ``best`` is None if nothing keeps all constraints.

    ``searched_s``: seconds until the search was complete, None if it was ended before.
    ``certificate``: the proof, or with ``GAP`` the bound, None without any schedule.
    """

    best: Published | None
    certificate: Certificate | None
    nodes: int
    searched_s: float | None
    seconds: float


def naive_schedule(problem: Problem, *, clock: Clock = time.monotonic) -> Published | None:
    """Return the best naive schedule that keeps all constraints, or None if none does.

    Raises:
        ResultError: if neither makespan nor Eq. 10 is an objective.
    """
    began = clock()
    column = _column(problem)
    space = DesignSpace(problem)
    evaluate = make_outcomes(problem)
    best: tuple[int, IntArray, str] | None = None
    for method in START:
        rows = method(space).ask()
        if len(rows) == 0:
            continue
        outcomes = evaluate(rows)
        values = np.where(outcomes.feasible, outcomes.objectives[:, column], np.iinfo(np.int64).max)
        index = int(values.argmin())
        if outcomes.feasible[index] and (best is None or int(values[index]) < best[0]):
            best = int(values[index]), rows[index], method.label
    if best is None:
        return None
    value, row, label = best
    return Published(problem.design_of(row), value, label, 0, clock() - began)


def improve(
    problem: Problem,
    start: Published | None,
    *,
    max_nodes: int | None = None,
    time_limit_s: float | None = None,
    clock: Clock = time.monotonic,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Published | FinalSchedule]:
    """Yield schedules better than ``start`` as branch and bound finds them, then the end.

    The schedules depend on the problem and the number of nodes alone, their times on the machine.
    Seconds count on from those of ``start``.

    Args:
        start: the result of :func:`naive_schedule`.
        max_nodes: of the search. None: as many as ``dse certify`` has.
        time_limit_s: by ``clock``, checked between slices of the search.
        stopped: polled between slices. Once it is true, the search ends as at a time limit.

    Raises:
        ResultError: if neither makespan nor Eq. 10 is an objective, or a constraint has no
            lemmas.
    """
    began = clock() - (0.0 if start is None else start.seconds)
    column = _column(problem)
    sums_rates = problem.objectives[column].kind is ObjectiveKind.INVERSE_LATENCY
    space = DesignSpace(problem)
    best = start
    left = usual_nodes(problem) if max_nodes is None else max_nodes
    size = FIRST_SLICE
    earlier: Subtree | None = None
    while True:
        result = find_fastest(
            problem,
            known=None if best is None else best.value,
            sums_rates=sums_rates,
            max_nodes=min(size, left),
            resume_from=earlier,
        )
        earlier = result.root
        if result.best is not None and (best is None or _value(result) < best.value):
            (row,) = space.canonical(result.best.row[None])
            design = problem.design_of(row)
            best = Published(design, _value(result), SEARCH, result.nodes, clock() - began)
            yield best
        if result.complete:
            break
        left -= min(size, left)
        size = min(2 * size, MAX_SLICE)
        late = time_limit_s is not None and clock() - began >= time_limit_s
        if late or left <= 0 or stopped():
            gap = None if best is None else _gap(problem, column, best, result)
            yield FinalSchedule(best, gap, result.nodes, None, clock() - began)
            return
    searched_s = clock() - began
    proof = None
    if best is not None:
        front = seed_front(problem, best.design.row[None], engine=SEARCH)
        # Once more from the optimum: so the tree is smaller, and the same however it was found.
        proof = prove(front, (column,), limits=Limits(result.nodes + 1)).files.certificate
    yield FinalSchedule(best, proof, result.nodes, searched_s, clock() - began)


def _column(problem: Problem) -> int:
    column = certified_column(problem)
    if column is None:
        raise ResultError("schedules that improve need latency or inverse-latency as objective")
    return column


def _value(result: FastestResult) -> int:
    assert result.best_value is not None, "a design point that was found has a value"
    return result.best_value


def _gap(problem: Problem, column: int, best: Published, result: FastestResult) -> Certificate:
    members, bounds = np.array([[best.value]]), np.array([[min(result.bound, best.value)]])
    gap = epsilon_ppm(members, bounds)
    return unchecked(problem, (column,), members, result, gap).certificate
