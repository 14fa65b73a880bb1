"""The front: mutually non-dominated design points with objectives and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.documents.marks import (
    ByName,
    Choices,
    Context,
    Count,
    Default,
    Int64,
    Items,
    Key,
    Keys,
    LeftOut,
    Maybe,
    Positive,
    Seconds,
    Sha256,
    Text,
)
from paretosoc.common.text import pluralize
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import Corner
from paretosoc.results.front.certificate import CertificateStatus, FormulationProof
from paretosoc.results.front.front_keys import (
    Choice,
    ProblemHash,
    choice_of,
    design_of,
    problem_of,
    problem_sha256_of,
)
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import rate_uhz

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class FreeRun:
    """The behaviour of a design point's networks that run freely, and the length that is shown."""

    window_ps: tuple[Count, Count]
    """Beginning and end of the window of the long run, see problem.schema.json. Throughput, power
    and energy are counted in it."""
    periods_ps: Annotated[tuple[Positive, ...], ByName("networks"), Key("frame_periods_ps")]
    """Network to its frame period in the long run, see problem.schema.json."""
    shown_ps: Count
    """Shown is every execution that starts before this instant, with its own end: the end of the
    window or, if it is earlier, the first instant at which 1000 executions have ended."""

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
    """Responses of a network with a rate, from release to end. The longest is its latency."""

    percentile_95_ps: Count
    """The ceil(0.95 n)-th smallest of n."""
    jitter_ps: Count
    """The longest less the shortest."""
    misses: Count
    """Number of misses, see max_misses in problem.schema.json."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Member:
    """One point of a front. Tuples are in the order of the problem's lists.

    Its schedule follows from design and problem: :func:`fitness.execution.schedule_of`.
    """

    objectives: Annotated[tuple[Int64, ...], ByName("objectives")]
    """Objective name to integer; all are minimised. latency_ps: the makespan of one frame played
    alone, that is the end of its last execution. latency_ps:NETWORK: end of the network's last
    execution minus its arrival, in one frame played alone. guaranteed_latency_ps,
    guaranteed_latency_ps:NETWORK: the same of the late one of two timelines that are played side by
    side. In both, every processor keeps the order in which executions start in one frame played
    alone (of equal starts, those that take no time first, then each after those that it waits for):
    one starts at the first instant at which it is ready and the one before it has ended. Late, each
    takes its longest time within tolerance_permille of problem.json, and y, the demand of others,
    is the sum over the other processors of the largest demand of the executions that have started
    early, have not ended late, and neither wait for this one, directly, by that order or through
    others, nor are waited for by it. Early, each takes its shortest time, and y is the sum of the
    demands of the executions on other processors that run both late and early.
    guaranteed_response_ps:NETWORK, if the execution model is rates: the longest, over the network's
    releases in the first period, from a release to its end in that late timeline, which ends within
    the period; without :NETWORK the largest over the networks. negative_rate_sum_uhz: minus the sum
    over the networks of 10^18 / that latency in ps, each rounded down. time_per_image_ps: n over
    the sum, over n networks, of the images of a frame of the network over its frame period in the
    long run (in one stream, and for 'closed-form', for which it is the largest load of a unit, the
    same period for all), rounded up, at most 2^63 - 1; the images of a frame are batch times
    repeats, batch alone of a network that is the target of handovers; see problem.schema.json.
    energy_fj: energy of a frame, of free-running networks per image, at most 2^63 - 1; see
    problem.schema.json. energy_per_image_fj: energy_fj / the images of all networks in a frame,
    with rates in a period, rounded down; of free-running networks energy_fj itself. power_uw: 1000
    * energy_fj / whole time, rounded down; the whole time in ps is for the execution model 'frame'
    the makespan, for 'periodic' and 'rates' period_ps, for 'closed-form' T; else power_uw is 1000 *
    D / w, rounded down, of the long run's window, see problem.schema.json. stretch_ppm: 10^6 *
    (busy - alone) / alone, rounded down, busy the sum of end - start and alone the sum of
    stand-alone times over the executions of one frame played alone. time_per_token_ps:NETWORK: the
    end of the network's last execution minus the later of its arrival and the ends of the networks
    in waits_for, over its repeats, rounded up, in one frame played alone.
    energy_per_token_fj:NETWORK: energy_fj / the network's repeats, rounded down. If the execution
    model is rates, over the releases of a network that end in the window: response_ps:NETWORK is
    its longest response; response_95_ps:NETWORK its 95th percentile, the ceil(95 n / 100)-th
    smallest of n; jitter_ps:NETWORK the longest less the shortest; misses:NETWORK how many exceed
    deadline_ps, or if that is null floor(period_ps / r) + batch_wait_ps, over the window's periods,
    rounded up; relative_response_ppm:NETWORK 10^6 times the longest times r / period_ps, r the
    releases in a period, rounded down; without :NETWORK the largest over the networks, for misses
    the sum; in stretch_ppm busy is that of the window over its periods, rounded down.
    negative_fairness_ppm, of free-running networks: minus the smallest relative rate of a network,
    see execution in problem.schema.json. accuracy_loss_ppm, accuracy_loss_ppm:NETWORK: the loss_ppm
    of all groups, or of those of the network, each on the unit that it is mapped to, added up.
    memory_bytes: the sum over all memory_pools of problem.json; without pools the activation_bytes
    of all networks and the weight_bytes of all groups, each on the unit that it is mapped to, added
    up, of units with loads_whole_networks as said there."""
    makespan_ps: Count
    """End of the last execution of one frame played alone."""
    latencies_ps: Annotated[tuple[Count, ...], ByName("networks")]
    """Network to the end of its last execution minus its arrival, one frame alone. If the execution
    model is rates, to its longest response."""
    responses: Maybe[Annotated[tuple[Responses, ...], ByName("networks")]] = None
    """If the execution model is rates: network to 95th percentile, jitter and misses of its
    responses, see objectives; the longest is in latencies_ps."""
    window_ps: Annotated[tuple[Count, Count] | None, LeftOut("responses")] = None
    """If the execution model is rates: begin and end of the recurring part, see
    problem.schema.json; null: nothing does."""
    robust: Maybe[Annotated[tuple[Int64, ...], ByName("objectives")]] = None
    """Of a member of a front with robust: objective name to its measure over the draws."""
    energy_fj: Count
    energy_by_unit_fj: Annotated[tuple[Count, ...], ByName("units")]
    """Every entry of units in problem.json to its processor's part of energy_fj, idle and busy, in
    all number formats at the processor's first entry and 0 at the others (for the execution models
    'pipeline' and 'free-running' its part of D, times the frame period / (n w), rounded down for
    each unit, see problem.schema.json); what is left of energy_fj is that of the board and of
    domains that are on."""
    design: Annotated[DesignPoint, Keys(Choice, design_of, choice_of, ("domain_on",))]
    domain_on: tuple[bool, ...]
    free_run: FreeRun | None = None
    """The counted window of free-running networks and the part of it that is shown, else null."""

    @property
    def points(self) -> tuple[int | None, ...]:
        """Return the operating point of each domain, or None if it is off."""
        points = self.design.operating_points.tolist()
        return tuple(
            point if on else None for point, on in zip(points, self.domain_on, strict=True)
        )

    @property
    def ranked(self) -> tuple[int, ...]:
        """Return the figures that members are non-dominated in."""
        return self.objectives if self.robust is None else self.robust

    @property
    def is_overloaded(self) -> bool:
        """Return whether networks have rates but nothing recurs. The figures then describe the
        first period alone and mean little."""
        return self.responses is not None and self.window_ps is None


@dataclass(frozen=True)
class HypervolumePoint:
    """Hypervolume of the front after ``evaluations``, as a share of the final one."""

    evaluations: Count
    hypervolume: Seconds


@dataclass(frozen=True)
class InputFile:
    """An input and the SHA-256 of its bytes."""

    name: str
    sha256: Sha256
    file: Default[str] = ""
    """Path of a user's own platform."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The record of how a front was reached, enough to reach it again."""

    version: str
    """Version of paretosoc."""
    command: str
    platform: str
    precision: str
    """Number format that all times, demands and powers hold for."""
    engine: str
    single_decision: Default[bool] = False
    """The engine's own decision is the result, which a baseline may dominate."""
    seed: Count
    evaluations: Count
    """Design points evaluated."""
    stopped_by: Annotated[
        str, Choices(("budget", "time limit", "stalled", "interrupt", "exhausted"))
    ]
    """stalled: the hypervolume hardly grew any more; exhausted: no new design point to try, or
    a proof that none is missing."""
    seconds: Seconds
    inputs: tuple[InputFile, ...]
    """Input files and the SHA-256 of their bytes."""
    reference_point: tuple[float, ...]
    """Reference point of the hypervolume, in the units of the objectives: 1.1 x the nadir of this
    front."""
    convergence: tuple[HypervolumePoint, ...]
    """Hypervolume after so many evaluations, as a share of the final one."""

    @property
    def effort(self) -> str:
        """Return how much was searched, and in which time unless that is not kept, as by
        campaigns."""
        took = f" in {self.seconds:.1f} s" if self.seconds else ""
        return f"{pluralize(self.evaluations, 'design point')}{took}"

    @property
    def ended(self) -> str:
        """Return why the search ended, in words."""
        is_over = self.stopped_by == "exhausted"
        return "found nothing new to try" if is_over else f"stopped by {self.stopped_by}"


@dataclass(frozen=True)
class CertificateSummary:
    """The claim of a certificate beside the front. :mod:`results.front.certificate` has the
    proof."""

    status: CertificateStatus
    """certified: every leaf of the tree beside it is closed; gap: the search was ended, epsilon_ppm
    is what its open tree shows."""
    objectives: Annotated[tuple[str, ...], Items(1)]
    """The objectives that the claim is about. One: no design point is better in it than the
    member, or by more than epsilon_ppm. All: the front is complete, up to epsilon_ppm."""
    members: Annotated[tuple[Count, ...], Items(1)]
    """Positions, from 0."""
    epsilon_ppm: Count | None
    """For every design point there is a member that is above it in no objective by more than so
    many millionths; null: nothing is known."""
    space: str
    """The space that was searched, in words."""
    lemmas: Count
    nodes: Count
    solvers: tuple[str, ...]
    """Names and versions of those that found the lemmas to leave nothing out."""
    seconds: Seconds
    likely_s: Maybe[Seconds] = None
    """With a gap, the seconds after which the search would likely be complete: an estimate from
    the share of the design points that it has done."""
    formulation: FormulationProof | None = None
    """Proof that HaX-CoNN's Eq. 1 to 11 have no solution with a smaller makespan than optimum_ps;
    null: not tried, or not shown."""


@dataclass(frozen=True)
class BoundSummary:
    """The claim that bounds over boxes prove of members. :mod:`results.front.bounds` has the
    proof."""

    objectives: Annotated[tuple[str, ...], Items(1)]
    """The objectives that the claim is about."""
    members: Annotated[tuple[Count, ...], Items(1)]
    """Positions, from 0, of those that no other beats in these objectives."""
    epsilon_ppm: Count
    """For every design point there is a member that is above it in no objective by more than so
    many millionths."""
    region: tuple[Corner, ...]
    """Corners, a value per objective (9223372036854775807: any): no feasible design point is at or
    below one in all objectives."""
    space: str
    """The space that was searched, in words."""
    boxes: Count
    inequalities: Count
    seconds: Seconds
    simulated: Default[Count] = 0
    """Design points that were simulated, all of the space, instead of bounded."""


@dataclass(frozen=True, eq=False)
class BaselinePoint:
    """The figures of another method's schedule on the same problem. It is no member of the
    front."""

    name: str
    """Name of the method, such as gpu-only or herald. A method that has a front comes with several
    points of one name."""
    label: str
    """The same for people."""
    breaks: tuple[str, ...] = ()
    """Names of the constraints that it does not keep."""
    member: Annotated[Member, Key("point")] = field(kw_only=True)


MEASURE = "mean|p[1-9][0-9]?|cvar[1-9][0-9]?"


@dataclass(frozen=True)
class Robust:
    """The measure that a front was searched for in place of nominal figures. Each figure is
    computed for all draws of the costs from the errors in costs.json. Members are non-dominated in
    the measures, and keep all limits by the nominal figures and by the measures. A draw in which
    nothing recurs counts as infinite."""

    measure: Annotated[str, Text(f"^({MEASURE})$")]
    """mean: of all draws, rounded down. pN: the N-th percentile, which is the
    ceil(N draws / 100)-th smallest. cvarN: the mean of the largest, without the
    floor(N draws / 100) smallest, rounded down."""
    draws: Positive
    seed: Count


@dataclass(frozen=True)
class _Members:
    """The keys of a front in ``front.json`` about its members."""

    objectives: Annotated[tuple[str, ...], Items(1)]
    """Names of the objectives, in order."""
    members: tuple[Member, ...]
    """By rising first objective."""


def _members_of(keys: _Members, _: Context) -> dict[str, tuple[Member, ...]]:
    return {"members": keys.members}


def _keys_of_members(front: Front, context: Context) -> _Members:
    return _Members(tuple(context.names["objectives"]), front.members)


@dataclass(frozen=True, eq=False)
class Front:
    """Mutually non-dominated design points of the problem in problem.json.

    Integers are in ps, fJ, kHz and mV, and fit in int64. Every objective of every member can be
    recomputed from problem.json with mapping and operating_points, and so can its schedule, which
    'dse show --member NAME --json' prints.
    """

    problem: Annotated[Problem, Keys(ProblemHash, problem_of, problem_sha256_of)]
    provenance: Provenance
    """The record of how the front was reached."""
    members: Annotated[tuple[Member, ...], Keys(_Members, _members_of, _keys_of_members)]
    certificate: CertificateSummary | None = None
    """The claim of certificate.json, about all members or one of them; null if nothing was
    proved."""
    epsilon: CertificateSummary | None = None
    """The claim of epsilon.json about all members, if certificate.json is about one only; else
    null."""
    bounds: BoundSummary | None = None
    """The claim of bounds.json, if the search for a proof has not ended; else null."""
    robust: Maybe[Robust] = None
    """The measure that members are non-dominated in, left out if it is their nominal figures."""
    baselines: tuple[BaselinePoint, ...] = ()
    """Results of other methods' schedules on this problem, to compare the front with. No member of
    it is worse than one of these that keeps all constraints, by the figures that members are
    non-dominated in. They may be dominated."""

    def __repr__(self) -> str:
        return f"<Front: {len(self.members)} members of {self.problem!r}>"

    def require_members(self, to_do: str) -> None:
        """Accept a front with members.

        Raises:
            ResultError: if it is empty. The message ends in what was ``to_do`` with one.
        """
        if not self.members:
            raise ResultError(f"the front is empty: it has no member to {to_do}")

    @property
    def objective_array(self) -> IntArray:
        """Return the objectives of all members, [members, objectives]. All are minimised.

        Raises:
            ResultError: if a value is beyond int64.
        """
        return self._table([member.objectives for member in self.members])

    @property
    def ranked_array(self) -> IntArray:
        """Return the figures that members are non-dominated in, [members, objectives]: the measures
        of a robust front, else the objectives.

        Raises:
            ResultError: if a value is beyond int64.
        """
        return self._table([member.ranked for member in self.members])

    def _table(self, rows: Sequence[tuple[int, ...]]) -> IntArray:
        shape = len(self.members), len(self.problem.objectives)
        try:
            values: IntArray = np.array(rows, dtype=np.int64).reshape(shape)
        except (OverflowError, ValueError):
            raise ResultError("$.members[*].objectives: must be int64, one per objective") from None
        return values

    def to_pandas(self) -> DataFrame:
        """Return a row per member. See :func:`results.text.front_rows.front_frame`."""
        from paretosoc.results.text.front_rows import front_frame

        return front_frame(self)

    def _repr_html_(self) -> str:
        from paretosoc.results.export.notebook import front_html

        return front_html(self)

    @property
    def proved_ppm(self) -> int | None:
        """Return the epsilon within which the whole front is proved, by a proof or at least by the
        search's own account. None: nothing is proved."""
        ended = CertificateStatus.GAP
        proofs = [c for c in (self.certificate, self.epsilon) if c is not None]
        claims = [c for c in proofs if c.status is not ended] + [self.bounds]
        everything = len(self.problem.objectives)
        reached = [
            claim.epsilon_ppm
            for claim in claims
            if claim is not None
            and claim.epsilon_ppm is not None
            and len(claim.objectives) == everything
        ]
        return min(reached, default=None)

    @property
    def is_complete(self) -> bool:
        """Return whether the front is complete, by a proof or at least by the search's own
        account."""
        return self.proved_ppm == 0
