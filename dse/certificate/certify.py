"""From a front to its certificate: prove it, or find what it lacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from common.arrays import IntArray
from dse.certificate.branch_and_bound import ExactResult, Incumbents, SearchProgress, find_front
from dse.certificate.cover import cover_smtlib, prove_cover
from dse.certificate.snapshot import Snapshot
from dse.errors import InternalError
from dse.problem.int64_bounds import check_magnitudes
from dse.space.design_space import DesignSpace
from dse.space.members import make_members
from fitness.objectives import make_outcomes
from fitness.simulate import row_of
from results.errors import ResultError
from results.front.certificate import Certificate, CertificateStatus, LemmaTable, ProofArtifacts
from results.front.dominance import non_dominated
from results.front.front import CertificateSummary, Front
from results.problem.objectives import ObjectiveKind, objective_names
from results.problem.problem import Problem
from results.problem.problem_file import problem_sha256
from results.text.space_description import describe_space

MAX_LEMMAS = 200_000
"""More lemmas are not given to a solver: what they prove is ``searched`` then."""
COVER_SECONDS = 120.0
DEFAULT_SIMULATED_GROUPS = 40_000_000
"""By default a search has this many nodes over the number of groups: a node simulates each group
once at most, so that the time is about the same for small and large workloads."""


@dataclass(frozen=True)
class Limits:
    """What one search may do: None for nodes is ``DEFAULT_SIMULATED_GROUPS`` over the number of
    groups without a time limit, and no limit with one."""

    nodes: int | None = None
    seconds: float | None = None
    lemmas: int = MAX_LEMMAS

    def nodes_for(self, problem: Problem) -> int | None:
        """Nodes of a search of this problem."""
        if self.nodes is not None or self.seconds is not None:
            return self.nodes
        return default_nodes(problem)


@dataclass(frozen=True, eq=False)
class CertifiedFront:
    """A front, maybe with members that the search has found; what was proved of it."""

    front: Front
    claim: CertificateSummary
    files: ProofArtifacts

    @property
    def status(self) -> CertificateStatus:
        """What was proved."""
        return self.claim.status

    @property
    def is_exact(self) -> bool:
        """Whether no design point is better at all, by the search's own account at least."""
        return self.status is not CertificateStatus.GAP and self.claim.epsilon_ppm == 0

    def about(self, front: Front) -> CertifiedFront:
        """The same about a later front, whose members dominate those of this one or equal them:
        whatever a member closes, one that dominates it closes too."""
        if front is self.front:
            return self
        problem = front.problem
        names = objective_names(problem)
        columns = [names.index(name) for name in self.claim.objectives]
        values = np.array([member.objectives for member in front.members], dtype=np.int64)
        best = non_dominated(values[:, columns]).tolist()
        certificate = replace(
            self.files.certificate,
            members=tuple(tuple(values[index, columns].tolist()) for index in best),
        )
        claim = replace(self.claim, members=tuple(best))
        return CertifiedFront(front, claim, replace(self.files, certificate=certificate))

    def without_gap(self) -> CertifiedFront:
        """The same without what a search that was ended has found out: nobody can check that."""
        if self.status is not CertificateStatus.GAP:
            return self
        certificate = replace(self.files.certificate, epsilon_ppm=None, bounds=())
        claim = replace(self.claim, epsilon_ppm=None)
        return CertifiedFront(self.front, claim, replace(self.files, certificate=certificate))


def certified_column(problem: Problem) -> int | None:
    """The objective whose best member is certified: the makespan where latency is an objective,
    else Eq. 10 where that is, else none."""
    kinds = [(objective.kind, objective.network) for objective in problem.objectives]
    for kind in (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY):
        if (kind, None) in kinds:
            return kinds.index((kind, None))
    return None


def certify(
    front: Front,
    *,
    limits: Limits | None = None,
    earlier: Certificate | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Front:
    """The front with a certificate of its fastest member: see :func:`prove`, with the objective of
    :func:`certified_column`.

    Raises:
        ResultError: as :func:`prove`.
        ValueError: where neither latency nor inverse-latency is an objective.
    """
    column = certified_column(front.problem)
    if column is None:
        raise ValueError("a certificate needs latency or inverse-latency among the objectives")
    proved = prove(
        front,
        (column,),
        limits=limits,
        earlier=earlier,
        on_progress=on_progress,
        interrupted=interrupted,
    )
    return replace(proved.front, certificate=proved.claim)


def prove(
    front: Front,
    columns: Sequence[int],
    *,
    tolerance_ppm: int = 0,
    limits: Limits | None = None,
    earlier: Certificate | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> CertifiedFront:
    """Searches for design points that no member is as good as, in these objectives, until there are
    none. What is found joins the front.

    Args:
        columns: positions of the objectives that count. One: only its best member is proved.
        tolerance_ppm: what is better by no more need not be found.
        limits: where they end the search, the certificate has a gap.
        earlier: a certificate with a gap of the same problem and objectives, to resume from.
        on_progress, interrupted: see :func:`dse.certificate.branch_and_bound.find_front`.

    Raises:
        ResultError: where an objective or a constraint has no bounds, see
            :func:`dse.certificate.preconditions.check_provable`; on a problem that is not sound,
            figures that may leave int64, or a member outside the space.
    """
    problem = front.problem
    chosen = Limits() if limits is None else limits
    names = tuple(objective_names(problem)[column] for column in columns)
    digest = problem_sha256(problem)
    check_magnitudes(problem)
    rows = np.stack([row_of(member.design) for member in front.members])
    for index in np.flatnonzero(~DesignSpace(problem).holds(rows)).tolist():
        raise ResultError(f"member {index}: must be a design point of the problem's space")
    search = partial(
        find_front,
        problem,
        objectives=columns,
        tolerance_ppm=tolerance_ppm,
        max_lemmas=chosen.lemmas,
        max_nodes=chosen.nodes_for(problem),
        time_limit_s=chosen.seconds,
        on_progress=on_progress,
        interrupted=interrupted,
    )
    result = search(
        known=_known(front, columns),
        resume_from=None if earlier is None else _snapshot(earlier, digest, names),
    )
    if len(columns) > 1 and result.complete and result.found:
        # From its own front it takes fewer lemmas, a half perhaps: less to cover and to check.
        again = search(known=Incumbents(result.objectives, result.rows))
        result = again if again.complete else result
    front = with_rows(front, result.rows)
    values = np.array([member.objectives for member in front.members], dtype=np.int64)
    best = non_dominated(values[:, list(columns)]).tolist()
    draft = Certificate(
        status=CertificateStatus.GAP,
        problem_sha256=digest,
        objectives=names,
        members=tuple(tuple(values[index, list(columns)].tolist()) for index in best),
        epsilon_ppm=result.epsilon_ppm,
        rates_mw=result.rates_mw,
        lemmas=result.lemmas,
        nodes=result.nodes,
        search_seconds=round(result.seconds, 3),
        cover_seconds=None,
        solvers=(),
    )
    files = _covered(problem, draft, result)
    certificate = files.certificate
    claim = CertificateSummary(
        status=certificate.status,
        objectives=names,
        members=tuple(best),
        epsilon_ppm=certificate.epsilon_ppm,
        space=describe_space(problem),
        lemmas=result.lemma_count,
        nodes=certificate.nodes,
        solvers=certificate.solvers,
        seconds=round(certificate.search_seconds + (certificate.cover_seconds or 0.0), 3),
    )
    return CertifiedFront(front, claim, files)


def default_nodes(problem: Problem) -> int:
    """Default number of nodes of a search."""
    return max(1, DEFAULT_SIMULATED_GROUPS // problem.group_count)


def with_rows(front: Front, rows: IntArray) -> Front:
    """The front with more feasible design points [n, groups + domains], without what is dominated;
    rows of -1 are those of members that it has."""
    problem = front.problem
    known = {member.objectives for member in front.members}
    rows = DesignSpace(problem).canonical(rows[rows[:, 0] >= 0])
    objectives = make_outcomes(problem)(rows).objectives
    new = [i for i, row in enumerate(objectives.tolist()) if tuple(row) not in known]
    if not new:
        return front
    before = np.stack([row_of(member.design) for member in front.members])
    values = np.array([member.objectives for member in front.members], dtype=np.int64)
    rows = np.concatenate((before, rows[new]))
    objectives = np.concatenate((values, objectives[new]))
    kept = non_dominated(objectives)
    return replace(
        front,
        members=make_members(problem, rows[kept], objectives[kept]),
        certificate=None,
        epsilon=None,
        bounds=None,
    )


def _known(front: Front, columns: Sequence[int]) -> Incumbents:
    values = np.array([member.objectives for member in front.members], dtype=np.int64)
    rows = np.stack([row_of(member.design) for member in front.members])
    best = non_dominated(values[:, list(columns)])
    return Incumbents(values[best][:, list(columns)], rows[best])


def _covered(problem: Problem, draft: Certificate, result: ExactResult) -> ProofArtifacts:
    """The certificate with its status: whether the search has ended, and a solver agrees."""
    if not result.complete:
        kept = result.lemma_count == len(result.lemmas)
        gap = replace(
            draft,
            bounds=tuple(tuple(row) for row in result.open_bounds.tolist()),
            search=result.snapshot.arrays if kept else None,
        )
        return ProofArtifacts(gap, None)
    draft = replace(draft, status=CertificateStatus.SEARCHED)
    if result.lemma_count > len(result.lemmas):
        # A part of the lemmas proves nothing.
        none = LemmaTable(result.lemmas.units[:0], result.lemmas.points[:0])
        return ProofArtifacts(replace(draft, lemmas=none), None)
    text = cover_smtlib(problem, result.lemmas)
    began = time.monotonic()
    cover = prove_cover(text, timeout_s=COVER_SECONDS)
    seconds = round(time.monotonic() - began, 3)
    if cover.verdict == "sat":
        raise InternalError(f"the search's lemmas leave out a design point, {cover.left_over}")
    if cover.verdict != "unsat":
        return ProofArtifacts(replace(draft, cover_seconds=seconds), None)
    certified = replace(
        draft,
        status=CertificateStatus.CERTIFIED,
        cover_seconds=seconds,
        solvers=(cover.solver,),
    )
    return ProofArtifacts(certified, text)


def _snapshot(earlier: Certificate, digest: str, names: tuple[str, ...]) -> Snapshot | None:
    """Where an earlier search of this problem stood; None where there is nothing to resume from."""
    if earlier.search is None or earlier.problem_sha256 != digest or earlier.objectives != names:
        return None
    return Snapshot(
        arrays=earlier.search,
        lemmas=earlier.lemmas,
        lemma_count=len(earlier.lemmas),
        seconds=earlier.search_seconds,
    )
