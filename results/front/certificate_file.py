"""``certificate.json``, ``epsilon.json``: the claims that trees prove. Described in
``schemas/certificate.schema.json``. The tree is beside it (:mod:`results.front.proof_tree`)."""

from __future__ import annotations

from typing import Any

from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import (
    Certificate,
    CertificateStatus,
    FormulationProof,
    ProofArtifacts,
)
from paretosoc.results.front.proof_tree import tree_bytes
from paretosoc.results.io.canonical_json import Json, canonical_bytes, content_sha256, parse
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.problem.content_hashes import check_content_hashes
from paretosoc.results.problem.problem import Problem

CERTIFICATE_FORMAT = "paretosoc-certificate/4"


def certificate_bytes(certificate: Certificate) -> bytes:
    """Return the bytes of ``certificate.json``, the same for the same certificate."""
    return canonical_bytes(certificate_to_document(certificate))


def certificate_from_bytes(
    data: bytes, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """Return the certificate in the bytes of a ``certificate.json``.

    Raises:
        ResultError: as :func:`certificate_from_document`, or if the text is not sound JSON.
    """
    return certificate_from_document(parse(data), problem, check_hashes=check_hashes)


def certificate_to_document(certificate: Certificate) -> dict[str, Json]:
    """Return the certificate as JSON content."""
    document: dict[str, Json] = {
        "format": CERTIFICATE_FORMAT,
        "problem_sha256": certificate.problem_sha256,
        "status": certificate.status.value,
        "objectives": list(certificate.objectives),
        "members": [list(values) for values in certificate.members],
        "epsilon_ppm": certificate.epsilon_ppm,
        "rates_mw": list(certificate.rates_mw),
        "tree_sha256": certificate.tree_sha256,
        "lemmas": certificate.lemmas,
        "nodes": certificate.nodes,
        "search_seconds": certificate.search_seconds,
        "check_seconds": certificate.check_seconds,
        "cover_seconds": certificate.cover_seconds,
        "solvers": list(certificate.solvers),
        "formulation": formulation_to_document(certificate.formulation),
    }
    document["content_sha256"] = content_sha256(document)
    return document


def certificate_from_document(
    document: Json, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """Return the certificate that :func:`certificate_to_document` gave this content for.

    Args:
        document: the content.
        problem: the problem of the certificate.
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or does not fit the
            problem. It names the JSON path.
    """
    check_against_schema(document, "certificate")
    content: Any = document
    if check_hashes:
        check_content_hashes(content, problem)
    names = tuple(content["objectives"])
    return Certificate(
        status=CertificateStatus(content["status"]),
        problem_sha256=content["problem_sha256"],
        objectives=names,
        members=_vectors(content, "members", len(names)),
        epsilon_ppm=content["epsilon_ppm"],
        rates_mw=tuple(content["rates_mw"]),
        tree_sha256=content["tree_sha256"],
        lemmas=content["lemmas"],
        nodes=content["nodes"],
        search_seconds=float(content["search_seconds"]),
        check_seconds=_seconds(content["check_seconds"]),
        cover_seconds=_seconds(content["cover_seconds"]),
        solvers=tuple(content["solvers"]),
        formulation=formulation_from_document(content["formulation"]),
    )


def formulation_to_document(proof: FormulationProof | None) -> Json:
    """Return the proof by the formulation as JSON content."""
    return None if proof is None else dict(vars(proof))


def formulation_from_document(content: Any) -> FormulationProof | None:
    """Return the proof that :func:`formulation_to_document` gave this content for. It follows the
    schema."""
    if content is None:
        return None
    return FormulationProof(**content | {"seconds": float(content["seconds"])})


def _vectors(content: Any, key: str, width: int) -> tuple[tuple[int, ...], ...]:
    """Return rows of values, one for each objective."""
    for index, row in enumerate(content[key]):
        if len(row) != width:
            raise ResultError(f"$.{key}[{index}]: must be {width} values, got {len(row)}")
    return tuple(tuple(row) for row in content[key])


def _seconds(value: float | None) -> float | None:
    return None if value is None else float(value)


def proof_files(name: str, proof: ProofArtifacts) -> dict[str, bytes]:
    """Return the files of a proof by their names: ``certificate.json``, ``.tree`` and ``.smt2``."""
    files = {
        f"{name}.json": certificate_bytes(proof.certificate),
        f"{name}.tree": tree_bytes(proof.tree),
    }
    if proof.smtlib is not None:
        files[f"{name}.smt2"] = proof.smtlib.encode()
    return files
