"""``bounds.json``: a region that no design point reaches, and the multipliers that prove it."""

from __future__ import annotations

from paretosoc.common.documents.marks import Context
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.io.canonical_json import canonical_bytes, parse
from paretosoc.results.io.document import Document
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import signed_content

BOUNDS = Document(
    "bounds",
    BoundProof,
    "bounds.json: a region that no design point reaches, with its proof",
    is_signed=True,
)


def bounds_bytes(proof: BoundProof) -> bytes:
    """Return the bytes of ``bounds.json``, the same for the same proof."""
    return canonical_bytes(BOUNDS.write(proof))


def bounds_from_bytes(data: bytes, problem: Problem, *, check_hashes: bool = True) -> BoundProof:
    """Return the proof in the bytes of a ``bounds.json``.

    Args:
        data: the bytes of the file.
        problem: the problem of the proof.
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or does not fit the
            problem. It names the JSON path. :mod:`fitness.check.boxes` checks the proof.
    """
    content = signed_content(BOUNDS, parse(data), problem, check_hashes=check_hashes, is_proof=True)
    problem = problem.proved_in(content["objectives"])
    width = len(content["objectives"])
    for index, corner in enumerate(content["region"]):
        if len(corner) != width:
            raise ResultError(f"$.region[{index}]: must have {width} values")
    firsts = [int(u == first) for u, first in enumerate(problem.unit_of)]
    prices = [len(row) for row in content["classes"]] or firsts
    sizes = (*prices, len(content["chains"]), len(firsts), len(additive_figures(problem)))
    return BOUNDS.read(content, Context(subject=sizes))
