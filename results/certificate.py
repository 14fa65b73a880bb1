"""The certificate: lemmas that leave no design point faster than the fastest one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from results.problem import IntArray

MaskArray = NDArray[np.uint64]

NOT_NAMED = -1


class CertificateStatus(Enum):
    """What was proved."""

    CERTIFIED = "certified"
    """No design point in the space is better: every lemma holds, and together they leave none."""
    SEARCHED = "searched"
    """The search is complete, but its lemmas are too many to be covered by a solver."""
    GAP = "gap"
    """The search was ended; no design point is better than ``bound``."""


@dataclass(frozen=True, eq=False)
class LemmaTable:
    """n lemmas. Each says: no design point with these choices is better than the certified one.

    ``units`` [n, groups]: the unit of a group, or ``NOT_NAMED``. ``points`` [n, domains]: the
    operating points that a domain may have, bit k for point k; never 0.
    """

    units: IntArray
    points: MaskArray

    def __len__(self) -> int:
        return len(self.units)


@dataclass(frozen=True)
class Certificate:
    """What is claimed of a front's fastest member, and what proves it.

    ``objective`` is ``latency_ps`` (the makespan, Eq. 11) or ``negative_rate_sum_uhz`` (Eq. 10),
    ``optimum`` its value; no design point is below ``bound`` (the same where ``status`` is not
    ``GAP``). ``search`` says where a search that was ended can go on.
    """

    status: CertificateStatus
    problem_sha256: str
    objective: str
    optimum: int
    bound: int
    member: int
    lemmas: LemmaTable
    nodes: int
    search_seconds: float
    cover_seconds: float | None
    solvers: tuple[str, ...]
    """Names and versions of the solvers that found no model left."""
    search: dict[str, list[int]] | None = None
    """Arrays of :data:`dse.exact_search.STATE_FIELDS`, for ``GAP`` only."""
