"""Proofs of fronts: certify, resume, keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from paretosoc.common import compiling
from paretosoc.common.compiling import announce_compilation
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.certificate.boxes.prove import BoundedFront
from paretosoc.dse.certificate.branch_and_bound import Cluster, SearchProgress
from paretosoc.dse.certificate.certify import CertifiedFront, Limits
from paretosoc.dse.certificate.formulation.prove import FormulationProgress
from paretosoc.dse.certificate.outcome import ProofOutcome
from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.certificate.strategy import add_formulation, prove_front
from paretosoc.dse.compile.load import check_address_space, load_bound_code, load_proof_code
from paretosoc.dse.inputs.arguments import check_arguments
from paretosoc.results.front.certificate import CertificateStatus, ProofArtifacts
from paretosoc.results.front.front import BoundSummary, CertificateSummary
from paretosoc.results.front.front import Front as NumericFront
from paretosoc.results.io.canonical_json import INT64_MAX

PICTURE_SECONDS, PICTURE_SHARE = 1.5, 0.125
"""Seconds of a time limit that pictures have, and their largest share of it."""


def before_pictures(limit: float | None, clock: Callable[[], float] = compiling.clock) -> Deadline:
    """Return the deadline of a time limit, less what pictures take of it."""
    if limit is None:
        return NEVER
    return Deadline.after(limit - min(PICTURE_SECONDS, PICTURE_SHARE * limit), clock)


def certify(
    front: Front | str | Path,
    *,
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    fastest_only: bool = False,
    formulation: bool = False,
    jobs: int | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> Front:
    """Prove that a front (or the front of a folder) is complete, or bound its distance from
    completeness, and prove that nothing is faster.

    The result may have more members, since the exact search adds its finds to the front. Ctrl-C
    ends the proof and keeps all claims proved so far. ``formulation``: certify the fastest member
    only, and have Z3 prove it by HaX-CoNN's equations. ``jobs``: number of workers. Default: one
    per core.

    Raises:
        ResultError: if nothing can be proved about any objective.
    """
    arguments: dict[str, Any] = {
        "time_limit_s": time_limit_s,
        "max_nodes": max_nodes,
        "fastest_only": fastest_only,
        "formulation": formulation,
        "jobs": jobs,
        "on_progress": on_progress,
    }
    check_arguments(**arguments)
    front = front_of(front)
    proof = prove(front, **arguments)
    return front if proof is None else front.with_proof(proof)


def prove(
    front: Front,
    *,
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    fastest_only: bool = False,
    formulation: bool = False,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    on_checkpoint: Callable[[ProofOutcome], None] | None = None,
    on_formulation: Callable[[FormulationProgress], None] | None = None,
) -> ProofOutcome | None:
    """Return the proof that :func:`certify` adds, or None if nothing is left to prove.

    ``on_formulation``: called while Z3 proves the fastest member by HaX-CoNN's equations.

    Raises:
        ResultError: if nothing can be proved about any objective.
    """
    check_address_space()
    goal = Goal.FASTEST if fastest_only or formulation else Goal.WHOLE_FRONT
    if time_limit_s is not None:
        announce_compilation()
        load_proof_code(front.problem)
        load_bound_code()
    until, proof = before_pictures(time_limit_s), None
    # A claim whose certificate is lost is proved again.
    if front.certificate is None or not _is_reached(front.numeric, goal):
        earlier = front.certificate
        gap = None if _is_claim(front.epsilon) else front.epsilon
        if gap is not None and (goal is Goal.WHOLE_FRONT or len(gap.certificate.objectives) == 1):
            earlier = gap
        announce_compilation()
        proof = prove_front(
            front.numeric,
            goal=goal,
            limits=Limits(max_nodes, until),
            earlier=earlier,
            jobs=jobs,
            cluster=cluster,
            on_progress=on_progress,
            on_checkpoint=on_checkpoint,
        )
        proof = _keep_claims(front, proof)
    claim = (front.numeric if proof is None else proof.front).certificate
    if not formulation or (claim is not None and claim.formulation is not None):
        return proof
    if proof is None:
        proof = ProofOutcome(
            front.numeric, front.certificate, front.epsilon, front.bounds, False, None
        )
    return add_formulation(proof, jobs=jobs, until=until, on_progress=on_formulation)


def _keep_claims(front: Front, proof: ProofOutcome) -> ProofOutcome:
    """Return a proof's outcome with those claims of the front that are stronger than its own."""
    numeric, found = front.numeric, proof.front
    if _is_claim(proof.certificate) and _is_reached(found, Goal.WHOLE_FRONT):
        return proof
    fastest = _claim_about(found, numeric, numeric.certificate, front.certificate)
    if fastest is not None and _says_more(fastest.claim, found.certificate):
        gap = found.epsilon, proof.epsilon
        if not _is_claim(proof.certificate) and not _is_claim(proof.epsilon):
            gap = found.certificate, proof.certificate
        found = replace(found, certificate=fastest.claim, epsilon=gap[0])
        proof = replace(proof, front=found, certificate=fastest.files, epsilon=gap[1])
    within = _claim_about(found, numeric, numeric.epsilon, front.epsilon)
    if within is not None and (within.claim.epsilon_ppm or 0) < _reached(found, within.claim):
        found = replace(found, epsilon=within.claim, bounds=None)
        return replace(proof, front=found, epsilon=within.files, bounds=None, refused=None)
    bounded = _bounds_about(found, front)
    if bounded is not None and bounded.claim.epsilon_ppm < _reached(found, bounded.claim):
        is_all = len(bounded.claim.objectives) == len(found.problem.objectives)
        kept = (None, None) if _is_claim(proof.epsilon) else (found.epsilon, proof.epsilon)
        found = replace(found, epsilon=kept[0], bounds=bounded.claim)
        refused = None if is_all else proof.refused
        return replace(proof, front=found, epsilon=kept[1], bounds=bounded.proof, refused=refused)
    return proof


def _reached(found: NumericFront, claim: CertificateSummary | BoundSummary) -> int:
    """Return the least epsilon of what is claimed of a front about as many objectives as a claim
    is, or more."""
    ppm = [
        other.epsilon_ppm
        for other in (found.epsilon, found.bounds)
        if other is not None and len(other.objectives) >= len(claim.objectives)
    ]
    return min((known for known in ppm if known is not None), default=INT64_MAX)


def save_checkpoint(front: Front, folder: Path, gap: ProofOutcome) -> None:
    """Write the state of an exact search into the folder of its front, for :func:`prove` to resume
    from. No claim is lost. Beside a certified member, the gap of a whole front is that of
    ``epsilon.json``. Beside a claim about the whole front, no checkpoint is written."""
    numeric, found = front.numeric, gap.front
    if _is_claim(front.epsilon):
        return
    bounded = _bounds_about(found, front)
    if bounded is not None:
        found = replace(found, bounds=bounded.claim)
        gap = replace(gap, front=found, bounds=bounded.proof)
    fastest = _claim_about(found, numeric, numeric.certificate, front.certificate)
    if fastest is not None:
        found = replace(found, certificate=fastest.claim, epsilon=found.certificate)
        gap = replace(gap, front=found, certificate=fastest.files, epsilon=gap.certificate)
    front.with_proof(gap).save(folder, overwrite=True, pictures=False)


def _claim_about(
    found: NumericFront,
    earlier: NumericFront,
    claim: CertificateSummary | None,
    files: ProofArtifacts | None,
) -> CertifiedFront | None:
    """Return a claim of an earlier front, if it is one, as a claim about the front that was
    found."""
    if claim is None or files is None or not _is_claim(files):
        return None
    return CertifiedFront(earlier, claim, files).about(found)


def _bounds_about(found: NumericFront, earlier: Front) -> BoundedFront | None:
    """Return the bounds of an earlier front, if it has some, as bounds on the one that was
    found."""
    if earlier.numeric.bounds is None or earlier.bounds is None:
        return None
    return BoundedFront(earlier.numeric.bounds, earlier.bounds).about(found)


def _says_more(claim: CertificateSummary, other: CertificateSummary | None) -> bool:
    """Return whether a claim about the fastest member is stronger than another one, or a gap."""
    if other is None or other.epsilon_ppm is None or claim.epsilon_ppm is None:
        return True
    return other.status is CertificateStatus.GAP or claim.epsilon_ppm < other.epsilon_ppm


def _is_claim(proof: ProofArtifacts | None) -> bool:
    return proof is not None and proof.certificate.status is not CertificateStatus.GAP


def _is_reached(front: NumericFront, goal: Goal) -> bool:
    """Return whether nothing is left to prove."""
    claim = front.certificate
    if claim is None or claim.status is CertificateStatus.GAP or claim.epsilon_ppm != 0:
        return False
    return goal is Goal.FASTEST or len(claim.objectives) == len(front.problem.objectives)
