"""Typed answers of the server: small, in the units of people."""

from __future__ import annotations

from dataclasses import dataclass

import paretosoc as dse
from paretosoc.dse.api.evaluation import Evaluated
from paretosoc.dse.certificate.verify.checks import Check
from paretosoc.dse.server.workspace import MAX_ROWS
from paretosoc.results.front.mapping_gain import describe_mapping_gain
from paretosoc.results.text.compare_fronts import FrontComparison, FrontSide


@dataclass(frozen=True)
class MemberRow:
    """A member of a front and how many it stands for: ``objectives`` by label, in ms, mJ, W or
    rates. Clocks: None if off."""

    member: int
    marks: list[str]
    stands_for: int
    objectives: dict[str, float]
    groups_by_unit: dict[str, int]
    clocks_mhz: dict[str, float | None]


@dataclass(frozen=True)
class FrontAnswer:
    """A front: ``rows`` are its choices, ``claims`` the proofs, ``mapping_gain`` what mapping is
    worth."""

    folder: str
    networks: list[str]
    platform: str
    members: int
    rows: list[MemberRow]
    mapping_gain: str | None
    claims: list[str]
    warnings: list[str]


@dataclass
class ProgressAnswer:
    """A search: ``state`` is waiting, searching, proving, done or failed, then with an ``error``.
    ``folder`` is its output, for ``poll`` and ``show``. It changes while the search runs."""

    folder: str
    state: str = "waiting"
    evaluations: int = 0
    members: int = 0
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing will change any more."""
        return self.state in ("done", "failed")


@dataclass(frozen=True)
class EvaluationAnswer:
    """A simulated mapping: ``broken`` are the constraints that it does not keep."""

    objectives: dict[str, float]
    latencies_ms: dict[str, float]
    feasible: bool
    broken: list[str]


@dataclass(frozen=True)
class VerificationAnswer:
    """All checks. ``holds`` is true only if each of them holds."""

    holds: bool
    checks: list[Check]


@dataclass(frozen=True)
class SideAnswer:
    """One of two fronts: hypervolume as a share of that of both together."""

    members: int
    hypervolume: float
    coverage: float
    additive_epsilon: float


@dataclass(frozen=True)
class ComparisonAnswer:
    """Two fronts. ``differences`` of their problems are empty if these are the same."""

    first: SideAnswer
    second: SideAnswer
    differences: list[str]


def front_answer(
    front: dse.Front,
    folder: str,
    resolution: float | None = None,
    *,
    warnings: tuple[str, ...] = (),
) -> FrontAnswer:
    """Return the choices of a front as an answer: at most ``MAX_ROWS``, or all named members."""
    choices = front.rows(resolution)
    marked = [row for row in choices if row["marks"]]
    others = [row for row in choices if not row["marks"]][: max(MAX_ROWS - len(marked), 0)]
    kept = sorted([*marked, *others], key=lambda row: row["member"])
    gain = describe_mapping_gain(front.numeric)
    return FrontAnswer(
        folder=folder,
        networks=[network.name for network in front.problem.networks],
        platform=front.numeric.provenance.platform,
        members=len(front),
        rows=[
            MemberRow(
                row["member"],
                row["marks"],
                row["stands_for"],
                row["display"],
                row["groups_by_unit"],
                row["clocks_mhz"],
            )
            for row in kept
        ],
        mapping_gain=None if gain is None else gain.text,
        claims=list(front.claims),
        warnings=list(warnings),
    )


def evaluation_answer(evaluated: Evaluated) -> EvaluationAnswer:
    """Return a simulated mapping as an answer."""
    member = evaluated.member
    return EvaluationAnswer(
        objectives=member.display,
        latencies_ms=dict(member.latencies_ms),
        feasible=evaluated.feasible,
        broken=[
            str(state.to_document()["name"]) for state in evaluated.constraints if not state.met
        ],
    )


def comparison_answer(comparison: FrontComparison) -> ComparisonAnswer:
    """Return a comparison as an answer."""

    def side(one: FrontSide) -> SideAnswer:
        return SideAnswer(one.members, one.hypervolume, one.coverage, one.additive_epsilon)

    return ComparisonAnswer(
        side(comparison.first), side(comparison.second), list(comparison.differences)
    )
