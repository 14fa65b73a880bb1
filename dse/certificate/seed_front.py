"""A front of a few design points that no search has made, for the proof to start from."""

from __future__ import annotations

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.driver import StoppedBy
from paretosoc.dse.space.members import make_members
from paretosoc.dse.version import program_version
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated, reference_point
from paretosoc.results.front.front import BaselinePoint, Front, Provenance
from paretosoc.results.problem.problem import Problem


def seed_front(
    problem: Problem,
    rows: IntArray,
    *,
    engine: str,
    platform: str = "",
    precision: str = "",
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
            precision=precision,
            command="",
            convergence=(),
            reference_point=tuple(reference_point(objectives).tolist()),
        ),
        baselines=baselines,
    )
