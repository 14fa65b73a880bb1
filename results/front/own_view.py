"""What a proof about the parts of a user's own objectives says of these.

Such a proof is of the problem :attr:`Problem.of_parts`. It has points such that every design point
is at or above one of them in all parts. A monotone objective is then at or above its value at this
point. So the images of the points are bounds on the front of the problem itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof, Corner
from paretosoc.results.front.certificate import Certificate
from paretosoc.results.front.epsilon import closed_region, least_points, least_within
from paretosoc.results.problem.objectives import Objective
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.problem import Problem

MAX_POINTS = 3000
"""If a region has more least points, fewer and lower ones are used."""
MAX_FIGURES = 200_000
"""Figures of an objective that are computed to check its declaration."""


def shown_objectives(problem: Problem, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the objectives of a problem that a proof says something of, or None if it says
    nothing.

    Args:
        names: of the objectives that the proof is about.
    """
    parts = problem.proved_in(names)
    if parts is not problem and len(set(names)) == len(parts.objectives):
        return problem.objective_names
    return tuple(names) if set(names) <= set(problem.objective_names) else None


def images(problem: Problem, names: Sequence[str], points: IntArray) -> IntArray:
    """Return [n, objectives] from points [n, names] of a proof: a column for each of
    :func:`shown_objectives`.

    Raises:
        ResultError: if the function of an objective of a user's own fails.
    """
    parts, shown = problem.proved_in(names), shown_objectives(problem, names)
    assert shown is not None, "shown_objectives"
    if shown == tuple(names):
        return points
    column_of = {
        parts.objectives[parts.objective_names.index(name)]: points[:, k].tolist()
        for k, name in enumerate(names)
    }
    networks = [network.name for network in problem.networks]
    columns = [each.integers(networks, column_of.__getitem__) for each in problem.objectives]
    return np.stack(columns, axis=1)


def certified_points(certificate: Certificate) -> IntArray:
    """Return [n, objectives]: every design point is at or above one of them in all objectives."""
    epsilon = certificate.epsilon_ppm or 0
    rows = [[least_within(value, epsilon) for value in row] for row in certificate.members]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(certificate.objectives))


def shown_region(problem: Problem, proof: BoundProof) -> tuple[Corner, ...]:
    """Return the region of a proof in the objectives that it says something of, or an empty one if
    a part has no least value."""
    if shown_objectives(problem, proof.objectives) == proof.objectives:
        return proof.region
    points = bounded_points(proof)
    if not len(points):
        return ()
    rows = images(problem, proof.objectives, points)
    return closed_region(rows)


def bounded_points(proof: BoundProof) -> IntArray:
    """Return [n, objectives], as :func:`certified_points` does."""
    points = least_points(proof.region, MAX_POINTS)
    return np.array(points, dtype=np.int64).reshape(len(points), len(proof.objectives))


def check_declarations(problem: Problem, points: IntArray) -> None:
    """Check that no monotone objective becomes better if one of its parts becomes worse, from value
    to value of these points.

    Args:
        points: [n, objectives of ``problem.of_parts``].

    Raises:
        ResultError: with the counterexample.
    """
    parts = problem.of_parts.objectives
    for objective in problem.objectives:
        if isinstance(objective.kind, OwnObjective) and objective.kind.monotone:
            of = objective.parts([network.name for network in problem.networks])
            columns = np.unique(points[:, [parts.index(part) for part in of]], axis=0)
            _check_never_better(objective, of, columns)


def _check_never_better(objective: Objective, of: Sequence[Objective], points: IntArray) -> None:
    """Give every part in turn all of its values, with those of a point for the others."""
    kind = objective.kind
    assert isinstance(kind, OwnObjective)
    for k in range(len(of)):
        values = np.unique(points[:, k])
        others = np.unique(np.delete(points, k, axis=1), axis=0)
        most = max(1, min(MAX_FIGURES // len(values), len(others)))
        others = others[np.linspace(0, len(others) - 1, most).astype(np.int64)]
        table = np.insert(
            np.repeat(others, len(values), axis=0), k, np.tile(values, len(others)), axis=1
        ).tolist()
        shown = zip(of, zip(*table, strict=True), strict=True)
        found = kind.integers([np.array([each.shown(v) for v in column]) for each, column in shown])
        steps = np.diff(found.reshape(len(others), len(values)), axis=1)
        for row, step in np.argwhere(steps < 0)[:1].tolist():
            at = row * len(values) + step
            good, bad = (
                f"{objective.text(int(found[i]))} at "
                + ", ".join(map(_text, kind.of, of, table[i]))
                for i in (at, at + 1)
            )
            raise ResultError(
                f"objective {kind.name!r}: is declared monotone, but becomes better, from {good} "
                f"to {bad}"
            )


def _text(name: str, part: Objective, value: int) -> str:
    return f"{name} {part.text(value)}"
