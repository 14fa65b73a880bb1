"""``certificate.json``: the lemmas and what they prove, for anybody to check again.

A lemma is one string: a character per group (its unit in base 36, ``.`` where it is not named), a
bar, and per domain the set of operating points as a hexadecimal mask, bit k for point k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from results.canonical_json import Json, canonical_bytes, content_sha256, parse
from results.certificate import NOT_NAMED, Certificate, CertificateStatus, LemmaTable
from results.errors import ResultError
from results.problem import Problem
from results.problem_file import problem_sha256
from results.schema_check import check_against_schema

CERTIFICATE_FORMAT = "paretosoc-certificate/1"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MOST_UNITS = len(_DIGITS)


def certificate_bytes(certificate: Certificate) -> bytes:
    """The file's bytes, the same for the same certificate."""
    document: dict[str, Json] = {
        "format": CERTIFICATE_FORMAT,
        "problem_sha256": certificate.problem_sha256,
        "status": certificate.status.value,
        "objective": certificate.objective,
        "optimum": certificate.optimum,
        "bound": certificate.bound,
        "member": certificate.member,
        "nodes": certificate.nodes,
        "search_seconds": certificate.search_seconds,
        "cover_seconds": certificate.cover_seconds,
        "solvers": list(certificate.solvers),
        "lemmas": _lemmas_to_strings(certificate.lemmas),
        "search": _search_to_document(certificate.search),
    }
    document["content_sha256"] = content_sha256(document)
    return canonical_bytes(document)


def certificate_from_bytes(
    data: bytes, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """The certificate in a file.

    Args:
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: where the content does not follow the schema, was changed, or does not fit the
            problem; it names the JSON path.
    """
    document = parse(data)
    check_against_schema(document, "certificate")
    content: Any = document
    if check_hashes:
        if content["problem_sha256"] != problem_sha256(problem):
            raise ResultError("$.problem_sha256: is not that of problem.json")
        signed = {key: value for key, value in content.items() if key != "content_sha256"}
        if content["content_sha256"] != content_sha256(signed):
            raise ResultError("$.content_sha256: the content was changed after it was written")
    return Certificate(
        status=CertificateStatus(content["status"]),
        problem_sha256=content["problem_sha256"],
        objective=content["objective"],
        optimum=content["optimum"],
        bound=content["bound"],
        member=content["member"],
        lemmas=_lemmas_from_strings(content["lemmas"], problem),
        nodes=content["nodes"],
        search_seconds=float(content["search_seconds"]),
        cover_seconds=content["cover_seconds"],
        solvers=tuple(content["solvers"]),
        search=content["search"],
    )


def _search_to_document(search: dict[str, list[int]] | None) -> Json:
    if search is None:
        return None
    return {name: list(values) for name, values in search.items()}


def _lemmas_to_strings(lemmas: LemmaTable) -> list[Json]:
    symbols = np.array([".", *_DIGITS])
    rows = symbols[lemmas.units + 1]
    return [
        f"{''.join(row)}|{','.join(f'{mask:x}' for mask in masks)}"
        for row, masks in zip(rows.tolist(), lemmas.points.tolist(), strict=True)
    ]


def _lemmas_from_strings(texts: list[str], problem: Problem) -> LemmaTable:
    groups, domains = problem.group_count, len(problem.domains)
    value = {digit: index for index, digit in enumerate(_DIGITS)} | {".": NOT_NAMED}
    units = np.empty((len(texts), groups), dtype=np.int64)
    points = np.empty((len(texts), domains), dtype=np.uint64)
    for index, text in enumerate(texts):
        names, _, sets = text.partition("|")
        masks = [int(mask, 16) for mask in sets.split(",")]
        if len(names) != groups or len(masks) != domains:
            raise ResultError(
                f"$.lemmas[{index}]: {groups} groups and {domains} domains are required, got "
                f"{len(names)} and {len(masks)}"
            )
        if max(masks) >= 1 << 64:
            raise ResultError(f"$.lemmas[{index}]: a mask must be below 2**64")
        units[index] = [value[name] for name in names]
        points[index] = masks
    return LemmaTable(units, points)
