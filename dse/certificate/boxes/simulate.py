"""The front of a small space: all of its design points are simulated."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_summary
from paretosoc.dse.certificate.boxes.search import MAX_CORNERS
from paretosoc.dse.errors import InternalError
from paretosoc.dse.problem.int64_bounds import fits_int64
from paretosoc.dse.search.optimizers.plain import ExhaustiveEngine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.bounds import MAX_SIMULATED, BoundProof, Simulated
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import closed_region
from paretosoc.results.front.front import Front
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256

MAX_COMBINATIONS = 20 * MAX_SIMULATED
"""Combinations of units and operating points, those with the same effect counted apart."""
MAX_FREE_RUNS = 300
"""A free run can take a good part of a second."""


def simulate_space(front: Front, until: Deadline = NEVER) -> tuple[Front, BoundedFront] | None:
    """Simulate all design points. Return the complete front, and its claim and proof.

    Returns None if there are too many design points, or the check would take longer than there is
    time for.

    Raises:
        InternalError: if the search's evaluator and the check disagree.
    """
    problem = front.problem
    rows = _all_rows(problem)
    if rows is None:
        return None
    compiled = fits_int64(problem)
    first = problem.design_of(rows[0])
    if compiled:
        # Loads the code, or compiles it.
        plain_outcome(problem, first, compiled=True)
    began, started = time.monotonic(), until.clock()
    plain_outcome(problem, first, compiled=compiled)
    if (until.clock() - started) * len(rows) > until.left:
        return None
    outcomes = make_outcomes(problem, jobs=os.cpu_count() or 1)(rows)
    feasible = rows[outcomes.feasible], outcomes.objectives[outcomes.feasible]
    best = non_dominated(feasible[1])
    values = feasible[1][best]
    if {*map(tuple, values.tolist())} != {*map(tuple, front.objective_array.tolist())}:
        front = replace(front, members=make_members(problem, feasible[0][best], values))
    checked, proof = _simulated(problem, values, compiled=compiled)
    if checked.simulated != len(rows) or not all(map(checked.is_empty, proof.region)):
        raise InternalError("the check of a simulated space finds other design points")
    proof = replace(proof, seconds=round(time.monotonic() - began, 3))
    claim = bound_summary(front, proof, 1, len(rows))
    return None if claim is None else (front, BoundedFront(claim, proof))


def simulate_closed(problem: Problem, points: IntArray) -> BoundProof | None:
    """Return a proof that no feasible design point is better than all of these points [n,
    objectives], or None if one is, or if there are too many design points."""
    if _all_rows(problem) is None:
        return None
    checked, proof = _simulated(problem, points, compiled=fits_int64(problem))
    return proof if all(map(checked.is_empty, proof.region)) else None


def _simulated(
    problem: Problem, members: IntArray, *, compiled: bool
) -> tuple[CheckedBounds, BoundProof]:
    """Return the check of all design points, and its proof that none is better than the members
    [members, objectives], which may not hold."""
    proof = BoundProof(
        problem_sha256=problem_sha256(problem),
        objectives=tuple(problem.objective_names),
        region=closed_region(members, MAX_CORNERS),
        chains=(),
        paths=(),
        apart=(),
        classes=(),
        multipliers=(),
        tree=(Simulated(),),
        seconds=0.0,
    )
    return CheckedBounds(problem, proof, compiled=compiled), proof


def _all_rows(problem: Problem) -> IntArray | None:
    """Return all rows of a space, or None if there are too many."""
    if problem.searched_order is not None:
        return None
    space = DesignSpace(problem)
    if space.combinations > MAX_COMBINATIONS:
        return None
    # All of them are one batch.
    rows = ExhaustiveEngine(space, batch=MAX_COMBINATIONS).ask()
    most = MAX_SIMULATED if problem.execution.has_frame else MAX_FREE_RUNS
    return rows if len(rows) <= most else None
