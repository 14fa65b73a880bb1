"""Proof that a problem adds nothing to known points: every design point breaks a limit, or one of
the points is at least as good. Without points: nothing is feasible."""

from __future__ import annotations

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.boxes.prove import bound_closed
from paretosoc.dse.certificate.boxes.simulate import simulate_closed
from paretosoc.dse.certificate.certify import Limits, prove_closed
from paretosoc.dse.certificate.preconditions import Goal, is_searchable, provable
from paretosoc.dse.compile.load import load_bound_code, load_proof_code
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import Closed
from paretosoc.results.problem.problem import Problem


def close(
    problem: Problem, points: IntArray, *, limits: Limits, jobs: int | None = None
) -> Closed | None:
    """Return the proof about a problem and points [n, objectives], or None if there is none.

    It is the tree of an exact search if that is known for the objectives, else bounds over boxes,
    or a simulation of a small space.
    """
    if not is_searchable(problem):
        simulated = simulate_closed(problem, points)
        if simulated is not None:
            return Closed(problem, simulated)
    parts, needs_all = problem.of_parts, len(points) > 0
    if needs_all and parts is not problem:
        # The points have no figures of the parts.
        return None
    try:
        can = provable(problem, Goal.WHOLE_FRONT)
    except ResultError:
        return None
    searched = can.front
    if searched is None and can.fastest is not None and not needs_all:
        searched = (can.fastest,)
    if searched is not None:
        load_proof_code(parts)
        tree = prove_closed(parts, searched, points[:, list(searched)], limits=limits, jobs=jobs)
        if tree is not None:
            return Closed(problem, tree)
    has_bounds = can.bounded and (not needs_all or len(can.bounded) == len(parts.objectives))
    if has_bounds and not limits.until.is_past:
        load_bound_code()
        own = points[:, list(can.bounded)]
        bounds = bound_closed(parts, can.bounded, own, until=limits.until)
        if bounds is not None:
            return Closed(problem, bounds)
    return None
