"""Check that the claim of bounds over boxes about a front follows from their proof."""

from __future__ import annotations

from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import open_corners, region_reaches
from paretosoc.results.front.front import BoundSummary, Front
from paretosoc.results.front.own_view import shown_objectives, shown_region
from paretosoc.results.text.space_description import describe_space


def wrong_bounds(
    front: Front, claim: BoundSummary | None, proof: BoundProof | None, *, compiled: bool = False
) -> str | None:
    """Return the first part of the claim that does not hold, or None if all does.

    Args:
        compiled: simulate with compiled code. See :class:`CheckedBounds`.
    """
    if claim is None or proof is None:
        return f"{'front.json' if claim is None else 'bounds.json'} does not have it"
    if claim.objectives != shown_objectives(front.problem, proof.objectives):
        return "objectives: front.json says something else"
    for what, stated, proved in (
        ("region", claim.region, shown_region(front.problem, proof)),
        ("inequalities", claim.inequalities, len(proof.multipliers)),
        ("boxes", claim.boxes, (len(proof.tree) + 1) // 2),
        ("space", claim.space, describe_space(front.problem)),
    ):
        if stated != proved:
            return f"{what}: front.json says something else"
    try:
        problem = front.problem.proved_in(proof.objectives)
        checked = CheckedBounds(problem, proof, compiled=compiled)
    except ResultError as error:
        return f"bounds.json: {error}"
    if claim.simulated != checked.simulated:
        return f"simulated: there are {checked.simulated} design points, not {claim.simulated}"
    names = front.problem.objective_names
    columns = [names.index(name) for name in claim.objectives]
    values = front.objective_array[:, columns]
    best = non_dominated(values).tolist()
    if list(claim.members) != best:
        return f"members: those that no other beats are {best}, not {list(claim.members)}"
    if (wrong := open_corner(checked, proof)) is not None:
        return wrong
    if not region_reaches(open_corners(values[best].tolist()), claim.region, claim.epsilon_ppm):
        return f"epsilon_ppm: {claim.epsilon_ppm} does not follow from the region"
    return None


def open_corner(checked: CheckedBounds, proof: BoundProof) -> str | None:
    """Return the first corner of the region that is not proved empty, in words."""
    places = (k for k, corner in enumerate(proof.region) if not checked.is_empty(corner))
    first = next(places, None)
    return None if first is None else f"region[{first}]: a design point may be in it"
