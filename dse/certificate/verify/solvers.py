"""Check again the claims of a folder that rest on solvers, or on bounds over boxes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.dse.certificate.cover.leaves import MAX_LEMMAS, leaf_table, most_lemmas
from paretosoc.dse.certificate.cover.smtlib import confirm_cover, cover_smtlib, prove_cover
from paretosoc.dse.certificate.formulation.prove import prove_formulation
from paretosoc.dse.certificate.formulation.refute import Ended, NotShown
from paretosoc.dse.certificate.verify.checks import Check, fails, holds, not_checked
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import Certificate, FormulationProof, ProofArtifacts
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import open_corners, region_reaches
from paretosoc.results.front.front import BoundSummary, Front
from paretosoc.results.front.own_view import shown_objectives, shown_region
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import describe_space


def target_of(problem: Problem, certificate: Certificate) -> LemmaTarget:
    """Return the members and objectives that a tree is checked against."""
    names = problem.objective_names
    return LemmaTarget(
        tuple(names.index(name) for name in certificate.objectives),
        certificate.members,
        certificate.epsilon_ppm or 0,
        certificate.prices,
    )


def formulation_holds(front: Front, claim: FormulationProof, *, seconds: float) -> Check:
    """Check the equations again, from the costs: Z3 must show the same within ``seconds``."""
    fastest = min(front.members, key=lambda member: member.makespan_ps)
    if claim.optimum_ps != fastest.makespan_ps:
        return fails("formulation", f"is about {claim.optimum_ps} ps, not {fastest.makespan_ps}")
    until = time.monotonic() + seconds
    try:
        shown = prove_formulation(
            front.problem,
            fastest.design,
            fastest.makespan_ps,
            stopped=lambda: time.monotonic() >= until,
        )
    except Ended as error:
        claimed = f"{pluralize(claim.parts, 'part')} and {pluralize(claim.questions, 'question')}"
        return not_checked(
            "formulation", f"{error}, within {_limit(seconds)}; {claimed} are claimed"
        )
    except (NotShown, ResultError) as error:
        return fails("formulation", str(error))
    if (shown.parts, shown.questions) != (claim.parts, claim.questions):
        return fails("formulation", f"has {shown.parts} parts and {shown.questions} questions")
    return holds("formulation", shown.statement)


def cover_holds(
    problem: Problem, name: str, files: ProofArtifacts, *, plain: bool, seconds: float
) -> Iterator[Check]:
    """Check that the formula follows from the problem and the tree, and that solvers refute it.

    Each solver has ``seconds``. ``plain``: the checker that names the lemmas.
    """
    target = target_of(problem, files.certificate)
    lemmas = most_lemmas(problem, files.tree)
    if lemmas > MAX_LEMMAS:
        yield not_checked("cover", f"at most {MAX_LEMMAS:,} lemmas are, got up to {lemmas:,}")
        return
    anew = cover_smtlib(problem, leaf_table(problem, files.tree, target, plain=plain))
    if files.smtlib is None:
        yield fails("formula", f"{name}.smt2 is missing")
        return
    if files.smtlib != anew:
        yield fails("formula", f"{name}.smt2 is not what the lemmas and rules give")
        return
    yield holds("formula", f"{name}.smt2 is what the lemmas and rules give")
    answers = [prove_cover(anew, timeout_s=seconds)]
    second = confirm_cover(anew, timeout_s=seconds)
    if second is not None:
        answers.append(second)
    stated = ", ".join(f"{answer.solver} says {answer.verdict}" for answer in answers)
    stated += "; cvc5 is not installed (extra 'proofs')" if second is None else ""
    verdicts = {answer.verdict for answer in answers}
    if "sat" in verdicts:
        yield fails("cover", stated)
    elif "unsat" in verdicts:
        yield holds("cover", stated)
    else:
        yield not_checked("cover", f"{stated} within {_limit(seconds)}")


def _limit(seconds: float) -> str:
    return f"{seconds:g} s ({as_written('solver_seconds', command='--time-limit')})"


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
