"""The outcome of a proof, and that of a proof about the parts of a user's own objectives.

A design point that is no better than another in any part is no better in a monotone objective. So
the front is the image of the parts' front, without dominated members, and bounds on that one give
bounds on it (:mod:`results.front.own_view`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretosoc.dse.certificate.boxes.prove import BoundedFront
from paretosoc.dse.certificate.certify import CertifiedFront, with_rows
from paretosoc.dse.space.members import make_members, rows_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import ProofArtifacts
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import CertificateSummary, Front
from paretosoc.results.front.own_view import (
    bounded_points,
    certified_points,
    check_declarations,
)


@dataclass(frozen=True, eq=False)
class ProofOutcome:
    """A front with its claims, and their proofs.

    ``refused``: why the whole front cannot be proved, if so. ``not_shown``: why HaX-CoNN's
    formulation does not show that the fastest member is the fastest, if it was asked for.
    """

    front: Front
    certificate: ProofArtifacts | None
    epsilon: ProofArtifacts | None
    bounds: BoundProof | None
    interrupted: bool
    refused: str | None
    not_shown: str | None = None


def outcome_of(
    front: Front,
    certificate: CertifiedFront | None,
    epsilon: CertifiedFront | None,
    bounds: BoundedFront | None,
    interrupted: bool,
    refused: str | None,
) -> ProofOutcome:
    """Return the outcome of proofs about a front, which gets their claims."""
    return ProofOutcome(
        replace(
            front,
            certificate=None if certificate is None else certificate.claim,
            epsilon=None if epsilon is None else epsilon.claim,
            bounds=None if bounds is None else bounds.claim,
        ),
        None if certificate is None else certificate.files,
        None if epsilon is None else epsilon.files,
        None if bounds is None else bounds.proof,
        interrupted,
        refused,
    )


def parts_front(front: Front) -> Front:
    """Return the members that are non-dominated in the parts, without claims.

    Raises:
        ResultError: if an objective does not keep to its declaration at these members.
    """
    problem, rows = front.problem.of_parts, rows_of(front.members)
    objectives = make_outcomes(problem)(rows).objectives
    check_declarations(front.problem, objectives)
    kept = non_dominated(objectives)
    return replace(
        front,
        problem=problem,
        members=make_members(problem, rows[kept], objectives[kept]),
        certificate=None,
        epsilon=None,
        bounds=None,
        baselines=(),
    )


def own_outcome(front: Front, proved: ProofOutcome) -> ProofOutcome:
    """Return the outcome of a proof about the parts as one about a front of own objectives.

    Members that the proof has found join the front.

    Raises:
        ResultError: if an objective does not keep to its declaration at all figures of the proof.
    """
    points = [proved.front.objective_array]
    whole = len(front.problem.of_parts.objectives)
    for files in (proved.certificate, proved.epsilon):
        if files is not None and len(files.certificate.objectives) == whole:
            points.append(certified_points(files.certificate))
    if proved.bounds is not None and len(proved.bounds.objectives) == whole:
        points.append(bounded_points(proved.bounds))
    check_declarations(front.problem, np.concatenate(points))
    front = with_rows(front, rows_of(proved.front.members))

    def about(
        claim: CertificateSummary | None, files: ProofArtifacts | None
    ) -> CertifiedFront | None:
        if claim is None or files is None:
            return None
        return CertifiedFront(proved.front, claim, files).about(front)

    certificate = about(proved.front.certificate, proved.certificate)
    epsilon = about(proved.front.epsilon, proved.epsilon)
    bounds = None
    if proved.front.bounds is not None and proved.bounds is not None:
        bounds = BoundedFront(proved.front.bounds, proved.bounds).about(front)
    outcome = outcome_of(front, certificate, epsilon, bounds, proved.interrupted, proved.refused)
    return replace(outcome, not_shown=proved.not_shown)
