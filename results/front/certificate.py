"""The documents of proofs: the certificate, a claim about members of a front with the tree that
proves it, and ``bounds.json``, a region that no design point reaches with its multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.documents.marks import (
    Choices,
    Context,
    Count,
    Default,
    Int64,
    Items,
    Positive,
    Seconds,
    Sha256,
)
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.epsilon import least_within
from paretosoc.results.front.proof_tree import ProofTree, tree_bytes
from paretosoc.results.io.canonical_json import canonical_bytes, parse
from paretosoc.results.io.document import Document
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import signed_content

MaskArray = NDArray[np.uint64]

NOT_NAMED = -1


class CertificateStatus(Enum):
    """The kind of claim that was proved."""

    CERTIFIED = "certified"
    """The search is complete: every leaf of its tree is closed."""
    GAP = "gap"
    """The search was ended: parts of its tree are open."""


@dataclass(frozen=True, eq=False)
class LemmaTable:
    """A table of n lemmas, leaves of a tree. Each says: no design point with these choices is
    better than the certified members.

    ``units`` [n, groups]: the unit of a group, or ``NOT_NAMED``. ``points`` [n, domains]: the
    operating points that a domain may have, bit k for point k. Never 0.
    """

    units: IntArray
    points: MaskArray

    def __len__(self) -> int:
        return len(self.units)


@dataclass(frozen=True)
class FormulationProof:
    """Proof that Eq. 1 to 11 of HaX-CoNN have no solution with a makespan below ``optimum_ps``."""

    setting: Annotated[str, Choices(("dispatch",))]
    """When a layer that is ready starts. dispatch: by the rule of the timeline."""
    optimum_ps: Count
    """The smallest makespan of the members."""
    solver: str
    """Name and version."""
    parts: Positive
    """Parts of the space without a solution. Together they are the whole space."""
    questions: Positive
    """Questions that the solver has answered with unsat."""
    seconds: Seconds

    @property
    def statement(self) -> str:
        """Return the claim as text."""
        return (
            f"{self.solver}: Eq. 1 to 11 of HaX-CoNN ({self.setting} rule) have no solution below "
            f"{self.optimum_ps / PS_PER_MS:.6f} ms; {pluralize(self.parts, 'part')}, "
            f"{pluralize(self.questions, 'question')}, {self.seconds:.2f} s"
        )


@dataclass(frozen=True)
class Certificate:
    """Claim: under the dispatch rule of the timeline, for the groups and costs of problem.json, for
    every design point within its constraints there is a member that is nowhere above it, in the
    objectives named, by more than epsilon_ppm."""

    problem_sha256: Sha256
    """SHA-256 of the bytes of problem.json. If objectives of a user's own are declared monotone: of
    those of the same with each replaced by what it is computed from, every objective once."""
    status: CertificateStatus
    """certified: every leaf of the tree is closed; gap: the search was ended, and parts of the tree
    are open."""
    objectives: Annotated[tuple[str, ...], Items(1)]
    """The objectives that count, as named in front.json. One: no design point is better in it than
    its best member, or by more than epsilon_ppm. All: the front is complete."""
    members: tuple[tuple[Int64, ...], ...]
    """Values of the members that the claim is about, in the order of front.json. If objectives of a
    user's own are replaced: of the design points of the front of the objectives named. Beside no
    front.json: of design points of other combinations of variants; none: nothing is feasible."""
    epsilon_ppm: Count | None
    """Millionths by which a member may be above a design point in an objective; 0: by nothing;
    null: nothing is known."""
    tree_sha256: Sha256
    """SHA-256 of the bytes of the tree's file."""
    lemmas: Count
    """Closed leaves of the tree."""
    nodes: Count
    """Nodes of all searches for it. The tree has those of the last one."""
    search_seconds: Seconds
    check_seconds: Seconds | None
    """Time of the check of the tree. null: there was none."""
    cover_seconds: Seconds | None
    solvers: tuple[str, ...]
    """Names and versions of the solvers that found that the lemmas leave no design point."""
    formulation: FormulationProof | None = None
    """Proof that HaX-CoNN's Eq. 1 to 11 have no solution with a smaller makespan than optimum_ps;
    null: not tried, or not shown."""
    prices: Default[Annotated[tuple[tuple[Count, ...], ...], Items(most=64)]] = ()
    """Rows of 1 for energy or 0 for the makespan, prices of all units and prices of all networks.
    The check of the tree may add up what is left to execute at them. Any are sound."""

    @property
    def optimum(self) -> int:
        """Return the value of the best member, for a certificate of one objective."""
        return min(row[0] for row in self.members)

    @property
    def bound(self) -> int | None:
        """Return the value that no design point is below, or None if nothing is known, for a
        certificate of one objective."""
        return None if self.epsilon_ppm is None else least_within(self.optimum, self.epsilon_ppm)


@dataclass(frozen=True)
class ProofArtifacts:
    """A certificate, its tree, and the formula that solvers have refuted, or None if they have
    not."""

    certificate: Certificate
    tree: ProofTree
    smtlib: str | None


CERTIFICATE = Document(
    "certificate",
    Certificate,
    "certificate.json, epsilon.json: a proof about members of a front",
    version=4,
    is_signed=True,
)


def certificate_bytes(certificate: Certificate) -> bytes:
    """Return the bytes of ``certificate.json``, the same for the same certificate."""
    return canonical_bytes(CERTIFICATE.write(certificate))


def certificate_from_bytes(
    data: bytes, problem: Problem, *, check_hashes: bool = True
) -> Certificate:
    """Return the certificate in the bytes of a ``certificate.json``.

    Args:
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or does not fit the
            problem. It names the JSON path.
    """
    content = signed_content(
        CERTIFICATE, parse(data), problem, check_hashes=check_hashes, is_proof=True
    )
    certificate = CERTIFICATE.read(content)
    for name, rows, width in (
        ("members", certificate.members, len(certificate.objectives)),
        ("prices", certificate.prices, 1 + len(problem.units) + len(problem.networks)),
    ):
        for index, row in enumerate(rows):
            if len(row) != width:
                raise ResultError(f"$.{name}[{index}]: must be {width} values, got {len(row)}")
    return certificate


def proof_files(name: str, proof: ProofArtifacts) -> dict[str, bytes]:
    """Return the files of a proof by their names: ``certificate.json``, ``.tree`` and ``.smt2``."""
    files = {
        f"{name}.json": certificate_bytes(proof.certificate),
        f"{name}.tree": tree_bytes(proof.tree),
    }
    if proof.smtlib is not None:
        files[f"{name}.smt2"] = proof.smtlib.encode()
    return files


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
            raise ResultError(f"$.region[{index}]: must have {width} values, got {len(corner)}")
    firsts = [int(u == first) for u, first in enumerate(problem.unit_of)]
    prices = [len(row) for row in content["classes"]] or firsts
    sizes = (*prices, len(content["chains"]), len(firsts), len(additive_figures(problem)))
    return BOUNDS.read(content, Context(subject=sizes))
