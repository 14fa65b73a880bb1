"""The design points of a box, simulated one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from paretosoc.fitness.check.boxes.costs import Box, off_bit, points_of
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import MAX_SIMULATED
from paretosoc.results.problem.problem import DesignPoint, Problem


def design_points(problem: Problem, box: Box) -> Iterator[DesignPoint]:
    """Yield the design points of a box. A domain that may be off is on if a used unit needs it.

    Raises:
        ResultError: if there are more than ``MAX_SIMULATED``, or priorities are searched.
    """
    if problem.searches_priorities:
        raise ResultError("$.tree: with searched priorities no design points are simulated")
    count = 0
    allowed = [np.flatnonzero(row).tolist() for row in problem.allowed]
    for mappings, units in enumerate(product(*allowed)):
        used = {clock for u in set(units) for clock in problem.units[u].clocks}
        choices = []
        for d, (domain, bits) in enumerate(zip(problem.domains, box, strict=True)):
            points = points_of(domain, bits)
            if domain.may_be_off and d not in used:
                points = (domain.point_when_off,) if bits & off_bit(domain) else ()
            choices.append(points)
        for operating_points in product(*choices):
            count += 1
            if count > MAX_SIMULATED:
                break
            yield DesignPoint(
                np.array(units, dtype=np.int64), np.array(operating_points, dtype=np.int64)
            )
        if max(count, mappings + 1) > MAX_SIMULATED:
            raise ResultError(
                f"$.tree: at most {MAX_SIMULATED} design points may be simulated, got more"
            )


def simulated(
    problem: Problem, box: Box, columns: Sequence[int], *, compiled: bool
) -> tuple[int, list[tuple[int, ...]]]:
    """Return the number of design points of a box, and the objectives of those that keep all rules
    and limits.

    Args:
        columns: positions of the objectives.
        compiled: the problem's figures must then fit in int64 with all their products.

    Raises:
        ResultError: see :func:`design_points`.
    """
    outcomes = [
        plain_outcome(problem, design, compiled=compiled) for design in design_points(problem, box)
    ]
    return len(outcomes), [
        tuple(outcome.objectives[column] for column in columns)
        for outcome in outcomes
        if not outcome.broken
    ]
