"""``bounds.json``: a region that no design point reaches, and the multipliers that prove it.
Described in ``schemas/bounds.schema.json``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof, Corner, Leaf, Multipliers, Split
from paretosoc.results.io.canonical_json import (
    INT64_MAX,
    Json,
    canonical_bytes,
    content_sha256,
    parse,
)
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.problem.content_hashes import check_content_hashes
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.problem import Problem

BOUNDS_FORMAT = "paretosoc-bounds/1"


def region_to_json(region: Sequence[Corner]) -> list[Json]:
    """Return the corners as lists. 2^63 - 1 stands for any value."""
    return [[INT64_MAX if value is None else value for value in corner] for corner in region]


def region_from_json(rows: Sequence[Sequence[int]]) -> tuple[Corner, ...]:
    """Return the corners of :func:`region_to_json`."""
    return tuple(tuple(None if v == INT64_MAX else v for v in row) for row in rows)


def bounds_bytes(proof: BoundProof) -> bytes:
    """Return the bytes of ``bounds.json``, the same for the same proof."""
    document: dict[str, Json] = {
        "format": BOUNDS_FORMAT,
        "problem_sha256": proof.problem_sha256,
        "objectives": list(proof.objectives),
        "region": region_to_json(proof.region),
        "chains": [list(chain) for chain in proof.chains],
        "paths": [list(path) for path in proof.paths],
        "apart": list(proof.apart),
        "classes": [list(row) for row in proof.classes],
        "multipliers": [
            [
                m.energy,
                *(price for row in m.units for price in row),
                *(*m.chains, *m.segments, *m.figures),
            ]
            for m in proof.multipliers
        ],
        "tree": [
            f"{node.domain}/{node.points:x}"
            if isinstance(node, Split)
            else f"={','.join(map(str, node.multipliers))}"
            for node in proof.tree
        ],
        "seconds": proof.seconds,
    }
    document["content_sha256"] = content_sha256(document)
    return canonical_bytes(document)


def bounds_from_bytes(data: bytes, problem: Problem, *, check_hashes: bool = True) -> BoundProof:
    """Return the proof in the bytes of a ``bounds.json``.

    Args:
        data: the bytes of the file.
        problem: the problem of the proof.
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or does not fit the
            problem. It names the JSON path. :mod:`fitness.bound_checker` checks the proof.
    """
    document = parse(data)
    check_against_schema(document, "bounds")
    content: Any = document
    if check_hashes:
        check_content_hashes(content, problem)
    objectives = tuple(content["objectives"])
    for index, corner in enumerate(content["region"]):
        if len(corner) != len(objectives):
            raise ResultError(f"$.region[{index}]: must have {len(objectives)} values")
    firsts = [int(u == first) for u, first in enumerate(problem.unit_of)]
    sizes = [len(row) for row in content["classes"]] or firsts
    counts = (len(content["chains"]), len(firsts), len(additive_figures(problem)))
    return BoundProof(
        problem_sha256=content["problem_sha256"],
        objectives=objectives,
        region=region_from_json(content["region"]),
        chains=tuple(tuple(chain) for chain in content["chains"]),
        paths=tuple(tuple(path) for path in content["paths"]),
        apart=tuple(content["apart"]),
        classes=tuple(tuple(row) for row in content["classes"]),
        multipliers=tuple(
            _multipliers(row, sizes, counts, f"$.multipliers[{index}]")
            for index, row in enumerate(content["multipliers"])
        ),
        tree=tuple(
            Leaf(tuple(int(index) for index in text[1:].split(",") if index))
            if text.startswith("=")
            else Split(int(text.partition("/")[0]), int(text.partition("/")[2], 16))
            for text in content["tree"]
        ),
        seconds=float(content["seconds"]),
    )


def _multipliers(
    row: list[int], sizes: list[int], counts: tuple[int, int, int], path: str
) -> Multipliers:
    """Read multipliers. ``counts``: the number of chains, of units, and of figures that are
    sums."""
    wanted = 1 + sum(sizes) + sum(counts)
    if len(row) != wanted:
        raise ResultError(f"{path}: must have {wanted} weights, got {len(row)}")
    ends = list(accumulate([1, *sizes, *counts]))
    parts = [tuple(row[a:b]) for a, b in pairwise(ends)]
    return Multipliers(row[0], tuple(parts[:-3]), *parts[-3:])
