"""The front: mutually non-dominated design points with objectives and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import Corner
from paretosoc.results.front.certificate import CertificateStatus, FormulationProof
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import rate_uhz

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class FreeRun:
    """The behaviour of a design point's networks that run freely, and the length that is shown."""

    window_ps: tuple[int, int]
    """Throughput, power and energy are counted between these two instants."""
    periods_ps: tuple[int, ...]
    """Per network: from frame to frame in the mean, rounded up."""
    shown_ps: int
    """Its schedule holds every execution that starts before this instant: the window's end, or an
    earlier one if that were too many."""

    @property
    def shows_window(self) -> bool:
        """Return whether the schedule reaches to the window's end."""
        return self.shown_ps == self.window_ps[1]

    def rates_uhz(self, images: Sequence[int]) -> tuple[int, ...]:
        """Return, per network, its ``images`` of a frame times frames in 10^6 s, rounded down."""
        pairs = zip(images, self.periods_ps, strict=True)
        return tuple(number * rate_uhz(period) for number, period in pairs)


@dataclass(frozen=True)
class Responses:
    """How long a network with a rate takes from its releases to their ends, beside the longest,
    which is its latency."""

    percentile_95_ps: int
    """The ceil(0.95 n)-th smallest of n."""
    jitter_ps: int
    """The longest less the shortest."""
    misses: int
    """How many are beyond :meth:`results.problem.problem.Problem.late_ps`."""


@dataclass(frozen=True, eq=False)
class Member:
    """One point of a front. ``objectives`` in the problem's order, integers, all minimised.

    Its schedule follows from design and problem: :func:`fitness.execution.schedule_of`.
    """

    design: DesignPoint
    objectives: tuple[int, ...]
    domain_on: tuple[bool, ...]
    latencies_ps: tuple[int, ...]
    """Per network: last end minus arrival, in one frame alone. If networks have rates, the longest
    response."""
    makespan_ps: int
    """Of one frame alone."""
    energy_fj: int
    energy_by_unit_fj: tuple[int, ...]
    """Per unit, idle and busy. The rest of ``energy_fj`` is the memory's and the board's."""
    free_run: FreeRun | None = None
    """None if networks share a frame."""
    responses: tuple[Responses, ...] | None = None
    """Per network if these have rates, else None."""
    window_ps: tuple[int, int] | None = None
    """If networks have rates: the part that recurs for ever, whole periods. None if nothing
    recurs."""

    @property
    def is_overloaded(self) -> bool:
        """Return whether networks have rates but nothing recurs. The figures then describe the
        first period alone and mean little."""
        return self.responses is not None and self.window_ps is None


@dataclass(frozen=True)
class HypervolumePoint:
    """Hypervolume of the front after ``evaluations``, as a share of the final one."""

    evaluations: int
    hypervolume: float


@dataclass(frozen=True)
class InputFile:
    """An input and the SHA-256 of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """How a front was reached: enough to reach it again."""

    version: str
    engine: str
    seed: int
    evaluations: int
    stopped_by: str
    """``budget``, ``time limit``, ``interrupt``, ``stalled`` (the hypervolume hardly grew any more)
    or ``exhausted`` (no new design point to try)."""
    seconds: float
    inputs: tuple[InputFile, ...]
    platform: str
    precision: str
    """The number format that all costs hold for, such as ``int8``."""
    command: str
    convergence: tuple[HypervolumePoint, ...]
    reference_point: tuple[float, ...]
    """Of the hypervolume: 1.1 x the nadir of the final front."""
    single_decision: bool = False
    """True if the engine's own decision is the result, which a baseline may dominate."""


@dataclass(frozen=True)
class CertificateSummary:
    """The claim of a certificate beside the front. :mod:`results.front.certificate` has the
    proof."""

    status: CertificateStatus
    objectives: tuple[str, ...]
    """Names, as in ``front.json``, of those that count."""
    members: tuple[int, ...]
    """Positions of the members that it is about: the best in one objective, or all."""
    epsilon_ppm: int | None
    """No feasible design point is better than every one of them by more. None: nothing is known."""
    space: str
    """See :func:`results.text.space_description.describe_space`."""
    lemmas: int
    nodes: int
    solvers: tuple[str, ...]
    """Names and versions of those that found the lemmas to leave nothing out."""
    seconds: float
    formulation: FormulationProof | None = None


@dataclass(frozen=True)
class BoundSummary:
    """The claim that bounds over boxes prove of members. :mod:`results.front.bounds` has the
    proof."""

    objectives: tuple[str, ...]
    """Names, as in ``front.json``, of those that count."""
    members: tuple[int, ...]
    """Positions of the members that it is about: those that no other beats in these."""
    epsilon_ppm: int
    """For every feasible design point some of them is worse in no objective by more."""
    region: tuple[Corner, ...]
    """No feasible design point is at or below a corner in all objectives."""
    space: str
    """See :func:`results.text.space_description.describe_space`."""
    boxes: int
    inequalities: int
    seconds: float


@dataclass(frozen=True, eq=False)
class BaselinePoint:
    """The figures of another method's schedule on the same problem. It is no member of the
    front."""

    name: str
    label: str
    member: Member
    breaks: tuple[str, ...] = ()
    """Names of the constraints that it does not keep."""


@dataclass(frozen=True, eq=False)
class Front:
    """Members by rising first objective, and ``baselines`` to compare them with."""

    problem: Problem
    members: tuple[Member, ...]
    provenance: Provenance
    certificate: CertificateSummary | None = None
    epsilon: CertificateSummary | None = None
    """About all members, if ``certificate`` is about one."""
    bounds: BoundSummary | None = None
    """Set if the search for a proof has not ended."""
    baselines: tuple[BaselinePoint, ...] = ()

    def __repr__(self) -> str:
        return f"<Front: {len(self.members)} members of {self.problem!r}>"

    def to_pandas(self) -> DataFrame:
        """Return a row per member. See :func:`results.text.dataframe.front_frame`."""
        from paretosoc.results.text.dataframe import front_frame

        return front_frame(self)

    def _repr_html_(self) -> str:
        from paretosoc.results.export.notebook import front_html

        return front_html(self)

    @property
    def is_complete(self) -> bool:
        """Return whether the front is complete, by a proof or at least by the search's own
        account."""
        return any(
            claim is not None
            and claim.status is not CertificateStatus.GAP
            and claim.epsilon_ppm == 0
            and len(claim.objectives) == len(self.problem.objectives)
            for claim in (self.certificate, self.epsilon)
        )


def objective_array(front: Front) -> IntArray:
    """Return the objectives of all members, [members, objectives]. All are minimised.

    Raises:
        ResultError: if a value is beyond int64.
    """
    try:
        values: IntArray = np.array(
            [member.objectives for member in front.members], dtype=np.int64
        ).reshape(len(front.members), len(front.problem.objectives))
    except (OverflowError, ValueError):
        raise ResultError("$.members[*].objectives: must be int64, one per objective") from None
    return values
