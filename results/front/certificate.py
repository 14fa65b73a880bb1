"""The certificate: a claim about members of a front, and the tree that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.epsilon import least_within
from paretosoc.results.front.proof_tree import ProofTree
from paretosoc.results.io.plural import pluralize

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
    """That Eq. 1 to 11 of HaX-CoNN have no solution with a makespan below ``optimum_ps``."""

    setting: str
    """When a layer that is ready starts: ``dispatch``, the rule of the timeline."""
    optimum_ps: int
    """The smallest makespan of the members."""
    solver: str
    """Name and version."""
    parts: int
    """Parts of the space that have no solution. Together they are all of it."""
    questions: int
    """All that the solver said "unsat" to."""
    seconds: float

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
    """A claim about members of a front, and its proof.

    For every feasible design point there is a member that is at least as good, in the objectives
    named, or above by ``epsilon_ppm`` millionths at most (:mod:`results.front.epsilon`). None means
    that nothing is known. With one objective the member is the best in that. With all, the front is
    complete.
    """

    status: CertificateStatus
    problem_sha256: str
    objectives: tuple[str, ...]
    """Names, as in ``front.json``, of those that count."""
    members: tuple[tuple[int, ...], ...]
    """Their values, by the position in the front."""
    epsilon_ppm: int | None
    rates_mw: tuple[int, ...]
    """Rates of exchange of energy for time that the check of the tree may use."""
    tree_sha256: str
    lemmas: int
    """Closed leaves of the tree."""
    nodes: int
    """Of all searches for it. The tree has those of the last one."""
    search_seconds: float
    check_seconds: float | None
    """Of the check of the tree, or None if there was none."""
    cover_seconds: float | None
    solvers: tuple[str, ...]
    """Names and versions of the solvers that found that the lemmas leave no design point."""
    formulation: FormulationProof | None = None
    """None: not tried, or not shown."""

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
