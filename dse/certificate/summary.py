"""Texts about what is proved of a front."""

from __future__ import annotations

from collections.abc import Sequence

from common.units import PPM
from results.front.certificate import CertificateStatus
from results.front.epsilon import least_within, percent
from results.front.front import CertificateSummary, Front
from results.io.plural import pluralize
from results.problem.objectives import (
    Objective,
    ObjectiveKind,
    objective_names,
    objective_unit,
    objective_value,
)
from results.problem.problem import Problem


def describe_claims(front: Front) -> list[str]:
    """What is proved of a front, a sentence or two for each certificate, and at the end of which
    space."""
    claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
    sentences = [
        describe_claim(front.problem, claim, front.members[claim.members[0]].objectives)
        for claim in claims
    ]
    return sentences + [space_sentence(space) for space in dict.fromkeys(c.space for c in claims)]


def space_sentence(space: str) -> str:
    """The subject of a claim, appended to it."""
    return f"The claims are about this space: {space}."


def describe_claim(problem: Problem, claim: CertificateSummary, best: Sequence[int]) -> str:
    """What is proved; ``best``: the objectives of the first member that it is about."""
    lemmas, nodes = pluralize(claim.lemmas, "lemma"), pluralize(claim.nodes, "node")
    size = f"{lemmas}, {nodes}, {claim.seconds:.2f} s"
    how = f"{size}, covered by {', '.join(claim.solvers)}."
    if claim.status is CertificateStatus.SEARCHED:
        how = f"by the search's own account; {size}, too many to be covered."
    epsilon = claim.epsilon_ppm
    if len(claim.objectives) > 1:
        if claim.status is CertificateStatus.GAP:
            how = f"by the search's own account; {size}. 'dse certify' goes further."
        if epsilon == 0:
            return f"complete: no design point is missing from the {len(claim.members)}; {how}"
        if epsilon is None:
            return f"nothing is proved of the whole front yet; {how}"
        if epsilon >= PPM:
            return (
                f"little is proved of the whole front: a design point that the search has not seen "
                f"could be better than every member, but in some objective by no more than "
                f"{1 + epsilon / PPM:.3g} times; {how}"
            )
        return (
            f"within {percent(epsilon)}: for every design point a member is worse in no objective "
            f"by more; {how}"
        )
    names = objective_names(problem)
    column = names.index(claim.objectives[0])
    value = _format_value(problem.objectives[column], best[column])
    is_time = problem.objectives[column].kind is ObjectiveKind.LATENCY
    relation = "is faster than" if is_time else "is better than"
    if claim.status is CertificateStatus.GAP:
        bound = "no known bound"
        if epsilon is not None:
            bound = _format_value(problem.objectives[column], least_within(best[column], epsilon))
        return (
            f"gap: member {claim.members[0]} has {value}, no design point {relation} {bound} "
            f"(gap {percent(epsilon)}); {size}. Run 'dse certify' to continue."
        )
    status = claim.status.value
    return f"{status}: no design point {relation} member {claim.members[0]} ({value}); {how}"


def _format_value(objective: Objective, value: int) -> str:
    digits = 6 if objective.kind is ObjectiveKind.LATENCY else 3
    return f"{objective_value(objective, value):.{digits}f} {objective_unit(objective)}"
