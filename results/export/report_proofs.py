"""The proofs in ``report.html``, as JSON content."""

from __future__ import annotations

from paretosoc.results.front.epsilon import is_weak, least_points, least_within, percent
from paretosoc.results.front.front import BoundSummary, CertificateSummary, Front
from paretosoc.results.io.canonical_json import Json, finite_or_none

BOUND_DECIMALS = 6
"""Decimals of least values. The page writes them with as many."""


def proofs_of(front: Front) -> list[Json]:
    """Return all claims that are proved."""
    claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
    proofs: list[Json] = [_proof(front, claim) for claim in claims]
    return proofs if front.bounds is None else [*proofs, _bounds(front, front.bounds)]


def _bounds(front: Front, claim: BoundSummary) -> dict[str, Json]:
    """Return the proof by bounds over boxes, in the form of :func:`_proof`."""
    names = front.problem.objective_names
    places = [names.index(name) for name in claim.objectives]
    # Of more objectives they may be thousands.
    points = (least_points(claim.region) if len(places) <= 2 else []) or [
        tuple(
            least_within(front.members[index].objectives[place], claim.epsilon_ppm)
            for place in places
        )
        for index in claim.members
    ]
    return {
        "status": "simulated" if claim.simulated else "bounded",
        "objectives": [*places],
        "whole": len(places) == len(names),
        "complete": len(places) == len(names) and claim.epsilon_ppm == 0,
        "members": list(claim.members),
        "within": percent(claim.epsilon_ppm),
        "weak": is_weak(claim.epsilon_ppm),
        "bounds": [
            [
                finite_or_none(front.problem.objectives[place].bound(value, BOUND_DECIMALS))
                for place, value in zip(places, point, strict=True)
            ]
            for point in points
        ],
        "space": claim.space,
        "boxes": claim.boxes,
        "inequalities": claim.inequalities,
        "simulated": claim.simulated,
        "seconds": claim.seconds,
    }


def _proof(front: Front, claim: CertificateSummary) -> dict[str, Json]:
    """Return a claim as JSON. ``bounds``: per member that the claim is about, and in the order of
    ``objectives``, the least values of a design point that this member reaches within the epsilon.
    Any design point lies beyond the bounds of some member."""
    names = front.problem.objective_names
    places = [names.index(name) for name in claim.objectives]
    return {
        "status": claim.status.value,
        "objectives": [*places],
        "whole": len(places) == len(names),
        "complete": len(places) == len(names) and claim.epsilon_ppm == 0,
        "members": list(claim.members),
        "within": percent(claim.epsilon_ppm),
        "weak": is_weak(claim.epsilon_ppm),
        "bounds": None
        if claim.epsilon_ppm is None
        else [
            [
                finite_or_none(
                    front.problem.objectives[place].shown(
                        least_within(front.members[index].objectives[place], claim.epsilon_ppm)
                    )
                )
                for place in places
            ]
            for index in claim.members
        ],
        "space": claim.space,
        "lemmas": claim.lemmas,
        "nodes": claim.nodes,
        "solvers": list(claim.solvers),
        "formulation": None if claim.formulation is None else claim.formulation.statement,
        "seconds": claim.seconds,
    }
