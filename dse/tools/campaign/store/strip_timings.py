"""The proof of a front without the seconds that it took: these are another machine's others."""

from __future__ import annotations

from dataclasses import replace

from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import BOUNDS_FILE, CERTIFICATE, EPSILON
from paretosoc.results.front.bounds_file import bounds_bytes
from paretosoc.results.front.certificate import ProofArtifacts
from paretosoc.results.front.certificate_file import proof_files
from paretosoc.results.front.front import CertificateSummary, Front


def timeless_proof(front: Front, goal: Goal) -> tuple[Front, dict[str, bytes], str]:
    """Return the front with its claims, the proof's files by name, and why something is not proved,
    if so.

    Limits are numbers of nodes. Only a solver that runs out of time (two minutes for one formula)
    can make a difference between machines, and the status says so.

    Raises:
        WorkloadError: if the proof was interrupted.
    """
    try:
        proof = prove_front(front, goal=goal, jobs=1)
    except ResultError as error:
        return front, {}, f"not certified: {error}"
    if proof.interrupted:
        raise WorkloadError("the proof was interrupted")
    files: dict[str, bytes] = {}
    for name, made in ((CERTIFICATE, proof.certificate), (EPSILON, proof.epsilon)):
        if made is not None:
            files |= _files(name, made)
    if proof.bounds is not None:
        files[BOUNDS_FILE] = bounds_bytes(replace(proof.bounds, seconds=0.0))
    bounds = proof.front.bounds
    front = replace(
        proof.front,
        bounds=None if bounds is None else replace(bounds, seconds=0.0),
        certificate=_timeless(proof.front.certificate),
        epsilon=_timeless(proof.front.epsilon),
    )
    refused = proof.refused
    return front, files, "" if refused is None else f"the front is not proved: {refused}"


def _timeless(claim: CertificateSummary | None) -> CertificateSummary | None:
    return None if claim is None else replace(claim, seconds=0.0)


def _files(name: str, proof: ProofArtifacts) -> dict[str, bytes]:
    certificate = proof.certificate
    timeless = replace(
        certificate,
        search_seconds=0.0,
        check_seconds=None if certificate.check_seconds is None else 0.0,
        cover_seconds=None if certificate.cover_seconds is None else 0.0,
    )
    return proof_files(name, replace(proof, certificate=timeless))
