"""``certificate.json``, ``epsilon.json``: the lemmas and what they prove, for independent checks;
described in ``schemas/certificate.schema.json``.

A lemma is one text: per group its unit in base 36 (``.`` where it is not named), a bar, and per
domain the set of operating points as a hexadecimal mask, bit k for point k. Units take one
character, on chips with more than 36 named units two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common.arrays import IntArray
from results.errors import ResultError
from results.front.certificate import NOT_NAMED, Certificate, CertificateStatus, LemmaTable
from results.io.canonical_json import Json, canonical_bytes, content_sha256, parse
from results.io.schema import check_against_schema
from results.problem.problem import Problem
from results.problem.problem_file import problem_sha256

CERTIFICATE_FORMAT = "paretosoc-certificate/2"
_BASE = 36
_CHARACTERS = np.frombuffer(b".0123456789abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
"""The character of the digit d at d + 1; before all, that of ``NOT_NAMED``."""
_DIGIT_OF = np.full(256, NOT_NAMED, dtype=np.int64)
_DIGIT_OF[_CHARACTERS] = np.arange(-1, _BASE)


def certificate_bytes(certificate: Certificate) -> bytes:
    """The bytes of ``certificate.json``, the same for the same certificate.

    Raises:
        ResultError: where a lemma names a unit from 1296 on, for which there are no characters.
    """
    return canonical_bytes(certificate_to_document(certificate))


def certificate_from_bytes(
    data: bytes, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """The certificate in the bytes of a ``certificate.json``.

    Raises:
        ResultError: as :func:`certificate_from_document`, or where the text is not sound JSON.
    """
    return certificate_from_document(parse(data), problem, check_hashes=check_hashes)


def certificate_to_document(certificate: Certificate) -> dict[str, Json]:
    """The certificate as JSON content.

    Raises:
        ResultError: as :func:`certificate_bytes`.
    """
    search = certificate.search
    document: dict[str, Json] = {
        "format": CERTIFICATE_FORMAT,
        "problem_sha256": certificate.problem_sha256,
        "status": certificate.status.value,
        "objectives": list(certificate.objectives),
        "members": [list(values) for values in certificate.members],
        "epsilon_ppm": certificate.epsilon_ppm,
        "bounds": [list(values) for values in certificate.bounds],
        "rates_mw": list(certificate.rates_mw),
        "nodes": certificate.nodes,
        "search_seconds": certificate.search_seconds,
        "cover_seconds": certificate.cover_seconds,
        "solvers": list(certificate.solvers),
        "lemmas": _texts_of(certificate.lemmas),
        "search": None if search is None else {name: list(row) for name, row in search.items()},
    }
    document["content_sha256"] = content_sha256(document)
    return document


def certificate_from_document(
    document: Json, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """The certificate that :func:`certificate_to_document` gave this content for.

    Args:
        document: the content.
        problem: what the certificate is about; lemmas must have its groups and domains.
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: where the content does not follow the schema, was changed, or does not fit the
            problem; it names the JSON path.
    """
    check_against_schema(document, "certificate")
    content: Any = document
    if check_hashes:
        if content["problem_sha256"] != problem_sha256(problem):
            raise ResultError("$.problem_sha256: is not that of problem.json")
        signed = {key: value for key, value in content.items() if key != "content_sha256"}
        if content["content_sha256"] != content_sha256(signed):
            raise ResultError("$.content_sha256: the content was changed after it was written")
    names = tuple(content["objectives"])
    cover_seconds = content["cover_seconds"]
    return Certificate(
        status=CertificateStatus(content["status"]),
        problem_sha256=content["problem_sha256"],
        objectives=names,
        members=_vectors(content, "members", len(names)),
        epsilon_ppm=content["epsilon_ppm"],
        bounds=_vectors(content, "bounds", len(names)),
        rates_mw=tuple(content["rates_mw"]),
        lemmas=_lemmas_of(content["lemmas"], problem),
        nodes=content["nodes"],
        search_seconds=float(content["search_seconds"]),
        cover_seconds=None if cover_seconds is None else float(cover_seconds),
        solvers=tuple(content["solvers"]),
        search=content["search"],
    )


def _vectors(content: Any, key: str, width: int) -> tuple[tuple[int, ...], ...]:
    """Rows of values, one for each objective."""
    for index, row in enumerate(content[key]):
        if len(row) != width:
            raise ResultError(f"$.{key}[{index}]: must be {width} values, got {len(row)}")
    return tuple(tuple(row) for row in content[key])


def _texts_of(lemmas: LemmaTable) -> list[Json]:
    units = lemmas.units
    largest = int(units.max(initial=NOT_NAMED))
    if largest >= _BASE**2:
        raise ResultError(f"$.lemmas: units must be below {_BASE**2}, got {largest}")
    digits = [units]
    if largest >= _BASE:
        digits = [np.where(units == NOT_NAMED, NOT_NAMED, units // _BASE), units % _BASE]
        digits[1] = np.where(units == NOT_NAMED, NOT_NAMED, digits[1])
    named = _CHARACTERS[np.stack(digits, axis=-1) + 1].tobytes().decode("ascii")
    width = units.shape[1] * len(digits)
    sets: dict[tuple[int, ...], str] = {}
    texts: list[Json] = []
    for index, masks in enumerate(map(tuple, lemmas.points.tolist())):
        if masks not in sets:
            sets[masks] = ",".join(f"{mask:x}" for mask in masks)
        texts.append(f"{named[index * width : (index + 1) * width]}|{sets[masks]}")
    return texts


def _lemmas_of(texts: list[str], problem: Problem) -> LemmaTable:
    """The lemmas in texts that follow the schema's pattern."""
    groups, domains = problem.group_count, len(problem.domains)
    width = 2 if texts and texts[0].index("|") == 2 * groups else 1
    points = np.empty((len(texts), domains), dtype=np.uint64)
    sets: dict[str, list[int]] = {}
    names = []
    for index, text in enumerate(texts):
        name, _, listed = text.partition("|")
        if listed not in sets:
            sets[listed] = [int(mask, 16) for mask in listed.split(",")]
        if len(name) != groups * width or len(sets[listed]) != domains:
            raise ResultError(
                f"$.lemmas[{index}]: must have {groups * width} characters for {groups} groups and "
                f"{domains} sets, got {len(name)} and {len(sets[listed])}"
            )
        names.append(name)
        points[index] = sets[listed]
    characters = np.frombuffer("".join(names).encode("ascii"), dtype=np.uint8)
    digits = _DIGIT_OF[characters].reshape(len(texts), groups, width)
    return LemmaTable(_units_of(digits), points)


def _units_of(digits: IntArray) -> IntArray:
    """[lemmas, groups] units from [lemmas, groups, digits]."""
    if digits.shape[2] == 1:
        return digits[:, :, 0]
    unnamed = digits == NOT_NAMED
    for index in np.flatnonzero((unnamed[:, :, 0] != unnamed[:, :, 1]).any(axis=1))[:1].tolist():
        raise ResultError(f"$.lemmas[{index}]: a unit must be two digits or two dots")
    both: IntArray = digits[:, :, 0] * _BASE + digits[:, :, 1]
    return np.where(unnamed[:, :, 0], NOT_NAMED, both)
