"""The certificate: lemmas that leave no design point better than the members of a front."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from common.arrays import IntArray

MaskArray = NDArray[np.uint64]

NOT_NAMED = -1


class CertificateStatus(Enum):
    """What was proved."""

    CERTIFIED = "certified"
    """No design point in the space is better: every lemma holds, and together they leave none."""
    SEARCHED = "searched"
    """The search is complete, but its lemmas are too many to be covered by a solver."""
    GAP = "gap"
    """The search was ended; the open part of the space is not below any of ``bounds``."""


@dataclass(frozen=True, eq=False)
class LemmaTable:
    """n lemmas. Each says: no design point with these choices is better than the certified members.

    ``units`` [n, groups]: the unit of a group, or ``NOT_NAMED``. ``points`` [n, domains]: the
    operating points that a domain may have, bit k for point k; never 0.
    """

    units: IntArray
    points: MaskArray

    def __len__(self) -> int:
        return len(self.units)


@dataclass(frozen=True)
class Certificate:
    """What is claimed of members of a front, and what proves it.

    For every feasible design point there is a member that is at least as good, in the objectives
    named, or above by ``epsilon_ppm`` millionths at most (:mod:`results.front.epsilon`); None:
    nothing is known. With one objective the member is the best in that; with all, the front is
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
    """Rates of exchange of energy for time that the check of lemmas may use."""
    lemmas: LemmaTable
    nodes: int
    search_seconds: float
    cover_seconds: float | None
    solvers: tuple[str, ...]
    """Names and versions of the solvers that found no model left."""
    bounds: tuple[tuple[int, ...], ...] = ()
    """For ``GAP`` only: what ``epsilon_ppm`` is over."""
    search: dict[str, list[int]] | None = None
    """The state from which an ended search can resume, ``GAP`` only: the arrays of
    :data:`dse.certificate.snapshot.STATE_FIELDS`."""

    @property
    def optimum(self) -> int:
        """Of one objective: the value of its best member."""
        return min(row[0] for row in self.members)

    @property
    def bound(self) -> int:
        """Of one objective: no design point is below; the optimum unless there is a gap."""
        return min(self.optimum, *(row[0] for row in (*self.members, *self.bounds)))


@dataclass(frozen=True)
class ProofArtifacts:
    """A certificate, and the formula that solvers have refuted; None where they have not."""

    certificate: Certificate
    smtlib: str | None
