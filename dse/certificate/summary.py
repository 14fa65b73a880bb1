"""Texts about the proofs of a front."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.common.text import pluralize
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.epsilon import within
from paretosoc.results.front.front import BoundSummary, CertificateSummary, Front
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

FACTOR = 3
"""How long a search is likely to take is mostly right within this (``benchmarks.work_left``)."""


def describe_claims(front: Front) -> list[str]:
    """Return the claims about a front, a sentence or two for each certificate, and at the end the
    space."""
    claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
    sentences = [
        describe_claim(front.problem, claim, front.members[claim.members[0]].objectives)
        for claim in claims
    ]
    shown = [claim.formulation for claim in claims if claim.formulation is not None]
    sentences += [f"{proof.statement}." for proof in shown]
    spaces = [claim.space for claim in claims]
    if front.bounds is not None:
        sentences.append(describe_bounds(front.problem, front.bounds))
        spaces.append(front.bounds.space)
    return sentences + [space_sentence(space) for space in dict.fromkeys(spaces)]


def describe_proof(front: Front) -> list[str]:
    """Return the claims about a front, or that there are none."""
    claims = describe_claims(front)
    if not claims:
        more = "" if front.robust is not None else " ('dse certify' proves what it can)"
        claims.append(f"Not proved: design points that were not searched may be better{more}.")
    return claims


def describe_bounds(problem: Problem, claim: BoundSummary) -> str:
    """Return the claim of bounds over boxes as text."""
    if claim.simulated and claim.epsilon_ppm == 0:
        members = pluralize(len(claim.members), "member")
        size = f"all {pluralize(claim.simulated, 'design point')} were simulated"
        missing = f"complete: no design point is missing from the {members}"
        return f"{missing}; {size}{_took(claim.seconds)}."
    names = problem.objective_names
    least = []
    for j, name in enumerate(claim.objectives):
        alone = [
            corner[j]
            for corner in claim.region
            if all(value is None for k, value in enumerate(corner) if k != j)
        ]
        known = [value for value in alone if value is not None]
        if known:
            objective = problem.objectives[names.index(name)]
            label = objective.label(problem)
            side = "above" if objective.larger_is_better else "below"
            digits = _decimals(objective)
            value = objective.bound(max(known) + 1, digits)
            least.append(f"no {label} is {side} {value:.{digits}f} {objective.unit}")
    if len(claim.objectives) > 1:
        reach = "for every design point a member is worse in no objective by more"
    else:
        reach = f"no design point is better than member {claim.members[0]} by more"
    size = f"{pluralize(claim.inequalities, 'inequality', 'inequalities')} over "
    size += pluralize(claim.boxes, "box", "boxes")
    parts = [f"{within(claim.epsilon_ppm)}: {reach}", ", ".join(least), size]
    return f"{'; '.join(filter(None, parts))}{_took(claim.seconds)}."


def _took(seconds: float) -> str:
    """Return the time of a proof, and nothing if it is not kept, as by campaigns."""
    return f", {seconds:.2f} s" if seconds else ""


def space_sentence(space: str) -> str:
    """Return the sentence that names the space of the claims."""
    return f"The claims are about this space: {space}."


def describe_claim(problem: Problem, claim: CertificateSummary, best: Sequence[int]) -> str:
    """Return a claim as text. ``best``: the objectives of the first member that it is about."""
    lemmas, nodes = pluralize(claim.lemmas, "lemma"), pluralize(claim.nodes, "node")
    size = f"{lemmas}, {nodes}{_took(claim.seconds)}"
    how = f"{size}."
    if claim.solvers:
        how = f"{size}, covered by {', '.join(claim.solvers)}."
    epsilon = claim.epsilon_ppm
    # The tree has open parts, so nothing has checked its epsilon.
    reached = "" if epsilon is None else f" {within(epsilon)} (not checked)"
    if len(claim.objectives) > 1 and claim.status is CertificateStatus.GAP:
        return (
            f"gap: the search for the whole front was ended{reached}; {size}. "
            f"Run 'dse certify' to continue{_likely(claim)}."
        )
    if len(claim.objectives) > 1:
        if epsilon == 0:
            members = pluralize(len(claim.members), "member")
            return f"complete: no design point is missing from the {members}; {how}"
        return (
            f"{within(epsilon)}: for every design point a member is worse in no objective "
            f"by more; {how}"
        )
    names = problem.objective_names
    column = names.index(claim.objectives[0])
    value = _format_value(problem.objectives[column], best[column])
    is_time = problem.objectives[column].kind is ObjectiveKind.LATENCY
    relation = "is faster than" if is_time else "is better than"
    if claim.status is CertificateStatus.GAP:
        return (
            f"gap: the search for a design point that {relation} member {claim.members[0]} "
            f"({value}) was ended{reached}; {size}. Run 'dse certify' to continue{_likely(claim)}."
        )
    status, more = claim.status.value, ""
    if epsilon:
        status, more = within(epsilon), " by more"
    return f"{status}: no design point {relation} member {claim.members[0]} ({value}){more}; {how}"


def _likely(claim: CertificateSummary) -> str:
    """Return how long the rest of a search is likely to take, an order of magnitude."""
    if claim.likely_s is None:
        return ""
    low, middle, high = (f"{claim.likely_s * k:.1g}" for k in (1 / FACTOR, 1, FACTOR))
    # 2e+03 is nothing that people read.
    low, middle, high = (f"{float(text):,g}" for text in (low, middle, high))
    return f": some {middle} s more are likely to complete it ({low} to {high} s)"


def _format_value(objective: Objective, value: int) -> str:
    number = objective.shown(value)
    return f"{number:.{_decimals(objective)}f} {objective.unit}"


def _decimals(objective: Objective) -> int:
    return 6 if objective.kind is ObjectiveKind.LATENCY else 3
