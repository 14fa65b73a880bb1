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
    bounds: list[Json] = [
        [
            finite_or_none(front.problem.objectives[place].bound(value, BOUND_DECIMALS))
            for place, value in zip(places, point, strict=True)
        ]
        for point in points
    ]
    return {
        **_claim(front, claim, "simulated" if claim.simulated else "bounded", bounds),
        "boxes": claim.boxes,
        "inequalities": claim.inequalities,
        "simulated": claim.simulated,
        "seconds": claim.seconds,
    }


def _proof(front: Front, claim: CertificateSummary) -> dict[str, Json]:
    """Return a claim as JSON. ``bounds``: per member that the claim is about, and in the order of
    ``objectives``, the least values of a design point that this member reaches within the epsilon.
    Any design point lies beyond the bounds of some member."""
    names, ppm = front.problem.objective_names, claim.epsilon_ppm
    places = [names.index(name) for name in claim.objectives]
    bounds: list[Json] | None = None
    if ppm is not None:
        objectives, members = front.problem.objectives, front.members
        bounds = [
            [
                finite_or_none(objectives[k].shown(least_within(members[index].objectives[k], ppm)))
                for k in places
            ]
            for index in claim.members
        ]
    return {
        **_claim(front, claim, claim.status.value, bounds),
        "lemmas": claim.lemmas,
        "nodes": claim.nodes,
        "solvers": list(claim.solvers),
        "formulation": None if claim.formulation is None else claim.formulation.statement,
        "seconds": claim.seconds,
    }


def _claim(
    front: Front, claim: BoundSummary | CertificateSummary, status: str, bounds: list[Json] | None
) -> dict[str, Json]:
    """Return what both kinds of proof say."""
    names = front.problem.objective_names
    is_whole = len(claim.objectives) == len(names)
    return {
        "status": status,
        "objectives": [names.index(name) for name in claim.objectives],
        "whole": is_whole,
        "complete": is_whole and claim.epsilon_ppm == 0,
        "members": list(claim.members),
        "within": percent(claim.epsilon_ppm),
        "weak": is_weak(claim.epsilon_ppm),
        "bounds": bounds,
        "space": claim.space,
    }
