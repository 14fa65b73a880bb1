"""The proofs in ``report.html``, as JSON content."""

from __future__ import annotations

from paretosoc.results.front.epsilon import is_weak, least_points, least_within, percent
from paretosoc.results.front.front import BoundSummary, CertificateSummary, Front
from paretosoc.results.io.canonical_json import Json, finite_or_none

BOUND_DECIMALS = 6
"""Decimals of least values. The page writes them with as many."""


def proofs_of(front: Front) -> list[Json]:
    """Return all claims that are proved."""
    claims = (front.certificate, front.epsilon, front.bounds)
    return [_proof(front, claim) for claim in claims if claim is not None]


def _proof(front: Front, claim: BoundSummary | CertificateSummary) -> dict[str, Json]:
    """Return a claim as JSON. ``bounds``: per member that the claim is about, and in the order of
    ``objectives``, the least values of a design point that this member reaches within the epsilon.
    Any design point lies beyond the bounds of some member."""
    objectives, ppm = front.problem.objectives, claim.epsilon_ppm
    places = [front.problem.objective_names.index(name) for name in claim.objectives]
    is_whole = len(places) == len(objectives)
    points = [
        tuple(least_within(front.members[index].objectives[place], ppm) for place in places)
        for index in claim.members
        if ppm is not None
    ]
    own: dict[str, Json]
    if isinstance(claim, BoundSummary):
        # Of more objectives they may be thousands.
        points = (least_points(claim.region) if len(places) <= 2 else []) or points
        own = {
            "status": "simulated" if claim.simulated else "bounded",
            "boxes": claim.boxes,
            "inequalities": claim.inequalities,
            "simulated": claim.simulated,
        }
    else:
        own = {
            "status": claim.status.value,
            "lemmas": claim.lemmas,
            "nodes": claim.nodes,
            "solvers": list(claim.solvers),
            "formulation": None if claim.formulation is None else claim.formulation.statement,
        }

    def shown(place: int, value: int) -> Json:
        if isinstance(claim, BoundSummary):
            return finite_or_none(objectives[place].bound(value, BOUND_DECIMALS))
        return finite_or_none(objectives[place].shown(value))

    bounds: list[Json] = [list(map(shown, places, point)) for point in points]
    return {
        **own,
        "seconds": claim.seconds,
        "objectives": [*places],
        "whole": is_whole,
        "complete": is_whole and ppm == 0,
        "exact": ppm == 0,
        "members": list(claim.members),
        "within": percent(ppm),
        "weak": is_weak(ppm),
        "bounds": None if ppm is None else bounds,
        "space": claim.space,
    }
