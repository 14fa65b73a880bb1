"""What a predictor says of design points, in the form in which our explorer takes outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import FJ_PER_J, PS_PER_S, UW_PER_W
from paretosoc.dse.papers.estimator.predictor import Predictor
from paretosoc.fitness.objectives import OutcomeFunction, Outcomes, make_segment_counter
from paretosoc.results.problem.limits import POWER, SEGMENTS, TRANSITIONS, constraints_of
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem


def predicted_outcomes(
    problem: Problem, predictor: Predictor, kinds: Sequence[ObjectiveKind]
) -> OutcomeFunction:
    """A function from rows [n, groups + domains] to objectives of these ``kinds`` (throughput as ps
    per inference, power in uW, efficiency as fJ per inference) and the power that a cap limits,
    from what ``predictor`` says of the rows; limits on the mapping are counted.

    Raises:
        KeyError: on another objective.
        ValueError: on a constraint that throughput, power and mapping do not tell.
    """
    for constraint in constraints_of(problem):
        if constraint.kind not in _KNOWN:
            raise ValueError(f"constraints: {constraint.name} cannot be predicted")
    limits = [constraint.limit for constraint in constraints_of(problem)]
    count_segments = make_segment_counter(problem)

    def evaluate(rows: IntArray) -> Outcomes:
        predicted = predictor.predict(problem, rows)
        possible = predicted.throughput_hz > 0.0
        hertz = np.where(possible, predicted.throughput_hz, 1.0)
        watts = np.where(possible, predicted.power_w, 0.0)
        columns = {
            ObjectiveKind.THROUGHPUT: PS_PER_S / hertz,
            ObjectiveKind.POWER: UW_PER_W * watts,
            ObjectiveKind.EFFICIENCY: FJ_PER_J * watts / (len(problem.networks) * hertz),
        }
        # Rounded up, as of the timeline: a power just above the cap is above it.
        power = np.ceil(columns[ObjectiveKind.POWER]).astype(np.int64)
        transitions, segments = count_segments(rows)
        limited = [n for n, one in enumerate(problem.networks) if one.max_transitions is not None]
        crowded = [u for u, unit in enumerate(problem.units) if unit.max_segments is not None]
        parts = [transitions[:, limited], segments[:, crowded]]
        if problem.power_cap_mw is not None:
            parts.append(power[:, None])
        figures = np.concatenate(parts, axis=1)
        return Outcomes(
            possible=possible,
            objectives=np.stack([columns[kind] for kind in kinds], axis=1).astype(np.int64),
            constraint_values=figures,
            feasible=possible & (figures <= limits).all(axis=1),
        )

    return evaluate


_KNOWN = (TRANSITIONS, SEGMENTS, POWER)
