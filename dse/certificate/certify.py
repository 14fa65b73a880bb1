"""Certificates of fronts: prove a front, or find the design points that it lacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.branch_and_bound import (
    Cluster,
    ExactResult,
    Incumbents,
    SearchProgress,
    find_front,
)
from paretosoc.dse.certificate.cover.leaves import MAX_LEMMAS, leaf_table, most_lemmas
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib, prove_cover
from paretosoc.dse.certificate.subtree import Subtree, tree_of_subtrees
from paretosoc.dse.certificate.work_left import likely_seconds
from paretosoc.dse.errors import InternalError
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members, rows_of
from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import Certificate, CertificateStatus, ProofArtifacts
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import epsilon_ppm
from paretosoc.results.front.front import CertificateSummary, Front
from paretosoc.results.front.own_view import certified_points, images, shown_objectives
from paretosoc.results.front.proof_tree import tree_bytes
from paretosoc.results.io.canonical_json import sha256_of
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.text.space_description import describe_space

MAX_COVERED = 5_000
"""Trees of more leaves are not given to a solver for a second opinion."""
COVER_SECONDS = 120.0
SEARCH_SHARE, AGAIN_SHARE = 0.7, 0.5
"""Shares of the time to a deadline: first for the search, then of the remaining time for a second
search that makes the tree smaller. The check and a solver have the rest."""
SEARCHED_AGAIN = 500_000
"""Larger searches are not done again for a smaller tree, which would save less than it takes."""
DEFAULT_NODES = 4_000_000
"""Nodes that a search has by default: some 15 s of one core (:func:`usual_nodes`). Those of many
groups do not take longer, as a node simulates only what the last choice has opened."""
NODE_EXECUTIONS = 300
"""A choice opens a group's executions in all repeats of its network: a node takes twice as long if
there are so many beside the first ones. Measured: 3 us, and 11 ns for each execution."""


def usual_nodes(problem: Problem, nodes: int | None = None) -> int:
    """Return how many nodes take as long in ``problem`` as ``nodes``, by default
    ``DEFAULT_NODES``, do in one whose networks run once a frame."""
    most = DEFAULT_NODES if nodes is None else nodes
    repeated = sum((network.repeats - 1) * len(network.groups) for network in problem.networks)
    return most * NODE_EXECUTIONS // (NODE_EXECUTIONS + repeated)


@dataclass(frozen=True)
class Limits:
    """The limits of one search.

    ``nodes`` None: the usual ones without a deadline, and no limit with one.
    """

    nodes: int | None = None
    until: Deadline = NEVER
    """Also of the check and the second opinion that follow."""
    planned: Deadline = NEVER
    """An earlier end, but for the check of a search that is complete by then, which may go on."""

    def most_nodes(self, problem: Problem) -> int | None:
        """Return the nodes of a search. None: no limit."""
        if self.nodes is not None or self.until.is_limited:
            return self.nodes
        return usual_nodes(problem)

    @property
    def search_until(self) -> Deadline:
        """Return the earlier one of the two deadlines."""
        return min(self.planned, self.until, key=lambda deadline: deadline.at)


@dataclass(frozen=True, eq=False)
class CertifiedFront:
    """A front, maybe with members that the search has found, and the proof about it."""

    front: Front
    claim: CertificateSummary
    files: ProofArtifacts

    @property
    def status(self) -> CertificateStatus:
        """Return the status of the claim."""
        return self.claim.status

    @property
    def is_exact(self) -> bool:
        """Return whether no design point is better at all."""
        return self.status is not CertificateStatus.GAP and self.claim.epsilon_ppm == 0

    def about(self, front: Front) -> CertifiedFront | None:
        """Return the same proof about a later front whose members dominate or equal those of this
        one, or about the front of own objectives that this one is of the parts of.

        A bound that a member closes is also closed by one that dominates it. None: the proof says
        nothing of that front.
        """
        if front is self.front:
            return self
        problem, certificate = front.problem, self.files.certificate
        objectives = shown_objectives(problem, certificate.objectives)
        if objectives is None:
            return None
        columns = [problem.objective_names.index(name) for name in objectives]
        values = front.objective_array[:, columns]
        best = non_dominated(values).tolist()
        claim = replace(self.claim, objectives=objectives, members=tuple(best))
        if objectives == certificate.objectives:
            rows = tuple(map(tuple, values[best].tolist()))
            certificate = replace(certificate, members=rows)
        elif certificate.epsilon_ppm is None:
            claim = replace(claim, epsilon_ppm=None)
        else:
            points = images(problem, certificate.objectives, certified_points(certificate))
            claim = replace(claim, epsilon_ppm=epsilon_ppm(values[best], points))
            if claim.epsilon_ppm is None:
                return None
        return CertifiedFront(front, claim, replace(self.files, certificate=certificate))

    def without_gap(self) -> CertifiedFront:
        """Return the same without the epsilon of a search that was ended, which cannot be
        checked."""
        if self.status is not CertificateStatus.GAP:
            return self
        certificate = replace(self.files.certificate, epsilon_ppm=None)
        claim = replace(self.claim, epsilon_ppm=None)
        return CertifiedFront(self.front, claim, replace(self.files, certificate=certificate))


def prove(
    front: Front,
    columns: tuple[int, ...],
    *,
    tolerance_ppm: int = 0,
    limits: Limits | None = None,
    earlier: ProofArtifacts | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    on_checkpoint: Callable[[CertifiedFront], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> CertifiedFront:
    """Search for design points that no member equals or beats in these objectives, until none is
    left.

    Design points that are found join the front.

    Args:
        columns: positions of the objectives that count. One: only its best member is proved.
        tolerance_ppm: design points better by no more need not be found.
        limits: if they end the search, the certificate has a gap.
        earlier: a proof with a gap of the same problem and objectives, to resume from.
        on_checkpoint: called now and then with a proof with a gap, to resume from.
        jobs, cluster, on_progress, interrupted: see
            :func:`dse.certificate.branch_and_bound.find_front`.

    Raises:
        ResultError: if an objective or a constraint has no bounds, see
            :func:`dse.certificate.preconditions.check_provable`, the problem is not sound, its
            figures may leave int64, or a member is outside the space.
    """
    problem = front.problem
    chosen = Limits() if limits is None else limits
    check_magnitudes(problem)
    front.require_members("prove")
    rows = rows_of(front.members)
    for index in np.flatnonzero(~DesignSpace(problem).holds(rows)).tolist():
        raise ResultError(f"member {index}: must be a design point of the problem's space")
    search = partial(
        find_front,
        problem,
        objectives=columns,
        tolerance_ppm=tolerance_ppm,
        max_nodes=chosen.most_nodes(problem),
        jobs=jobs,
        cluster=cluster,
        on_progress=on_progress,
        interrupted=interrupted,
    )
    until = chosen.search_until
    resumed = None if earlier is None else _resumed(front, columns, earlier)
    before_s = 0.0 if earlier is None or resumed is None else earlier.certificate.search_seconds

    def draft_of(result: ExactResult) -> CertifiedFront:
        return _with_gap(front, columns, replace(result, seconds=before_s + result.seconds))

    result = search(
        known=_known(front, columns),
        until=until.share(SEARCH_SHARE),
        resume_from=resumed,
        on_checkpoint=None
        if on_checkpoint is None
        else lambda known: on_checkpoint(draft_of(known).without_gap()),
    )
    many_found = 2 * result.found > len(result.objectives) and result.nodes <= SEARCHED_AGAIN
    if len(columns) > 1 and result.complete and many_found:
        # From its own front the tree is smaller, half as large perhaps: less to check.
        again = search(
            known=Incumbents(result.objectives, result.rows), until=until.share(AGAIN_SHARE)
        )
        result = again if again.complete else result
    draft = draft_of(result)
    if not result.complete:
        return draft
    checked = _checked(
        problem, draft.files, columns, jobs, chosen.until, is_resumed=resumed is not None
    )
    if checked is None:
        return draft
    files = _covered(problem, checked, columns, until)
    certificate = files.certificate
    seconds = (
        certificate.search_seconds
        + (certificate.check_seconds or 0.0)
        + (certificate.cover_seconds or 0.0)
    )
    claim = replace(
        draft.claim,
        status=certificate.status,
        solvers=certificate.solvers,
        seconds=round(seconds, 3),
    )
    return CertifiedFront(draft.front, claim, files)


def _with_gap(front: Front, columns: tuple[int, ...], result: ExactResult) -> CertifiedFront:
    """Return the front with the members that a search has found, and its unchecked tree."""
    problem = front.problem
    front = with_rows(front, result.rows)
    values = front.objective_array[:, list(columns)]
    best = non_dominated(values).tolist()
    files = unchecked(problem, columns, values[best], result, result.epsilon_ppm)
    certificate = files.certificate
    claim = CertificateSummary(
        status=certificate.status,
        objectives=certificate.objectives,
        members=tuple(best),
        epsilon_ppm=certificate.epsilon_ppm,
        space=describe_space(problem),
        lemmas=certificate.lemmas,
        nodes=certificate.nodes,
        solvers=(),
        seconds=certificate.search_seconds,
        likely_s=None if result.complete else likely_seconds(problem, result),
    )
    return CertifiedFront(front, claim, files)


def unchecked(
    problem: Problem,
    columns: Sequence[int],
    members: IntArray,
    result: ExactResult,
    epsilon_ppm: int | None,
) -> ProofArtifacts:
    """Return the tree of a search, with a certificate that has a gap until it is checked."""
    tree = result.tree
    certificate = Certificate(
        status=CertificateStatus.GAP,
        problem_sha256=problem_sha256(problem),
        objectives=tuple(problem.objective_names[column] for column in columns),
        members=tuple(map(tuple, members.tolist())),
        epsilon_ppm=epsilon_ppm,
        prices=result.prices,
        tree_sha256=sha256_of(tree_bytes(tree)),
        lemmas=tree.leaves,
        nodes=result.nodes,
        search_seconds=round(result.seconds, 3),
        check_seconds=None,
        cover_seconds=None,
        solvers=(),
    )
    return ProofArtifacts(certificate, tree, None)


def prove_closed(
    problem: Problem,
    columns: Sequence[int],
    points: IntArray,
    *,
    limits: Limits,
    jobs: int | None = None,
) -> ProofArtifacts | None:
    """Prove that no feasible design point is better than all of these points [n, objectives], in
    these objectives (positions). Return None if one is, or if the limits end the search.

    Raises:
        ResultError: as :func:`prove`.
    """
    check_magnitudes(problem)
    is_refuted = False

    def look(progress: SearchProgress) -> None:
        nonlocal is_refuted
        is_refuted |= bool((progress.rows[:, 0] >= 0).any())

    points = points[non_dominated(points)]
    result = find_front(
        problem,
        objectives=columns,
        known=Incumbents(points),
        max_nodes=limits.most_nodes(problem),
        until=limits.until.share(SEARCH_SHARE),
        jobs=jobs,
        on_progress=look,
        interrupted=lambda: is_refuted,
    )
    if not result.complete or result.found:
        return None
    return _checked(
        problem, unchecked(problem, columns, points, result, 0), columns, jobs, limits.until
    )


def with_rows(front: Front, rows: IntArray) -> Front:
    """Return the front with more feasible design points [n, groups + domains], without dominated
    ones.

    Rows of -1 stand for members that it has.
    """
    problem = front.problem
    known = {member.objectives for member in front.members}
    rows = DesignSpace(problem).canonical(rows[rows[:, 0] >= 0])
    objectives = make_outcomes(problem)(rows).objectives
    new = [i for i, row in enumerate(objectives.tolist()) if tuple(row) not in known]
    if not new:
        return front
    before = rows_of(front.members)
    values = front.objective_array
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
    values = front.objective_array
    rows = rows_of(front.members)
    best = non_dominated(values[:, list(columns)])
    return Incumbents(values[best][:, list(columns)], rows[best])


def _target(certificate: Certificate, columns: Sequence[int]) -> LemmaTarget:
    return LemmaTarget(
        tuple(columns),
        certificate.members,
        certificate.epsilon_ppm or 0,
        certificate.prices,
    )


def _checked(
    problem: Problem,
    files: ProofArtifacts,
    columns: Sequence[int],
    jobs: int | None,
    until: Deadline,
    *,
    is_resumed: bool = False,
) -> ProofArtifacts | None:
    """Return the proof of a complete search whose tree was checked, or None if that was ended."""
    began = time.monotonic()
    target = _target(files.certificate, columns)
    report = check_tree(problem, files.tree, target, jobs=jobs, until=until)
    if report.is_ended:
        return None
    if report.fault is not None and is_resumed:
        raise ResultError(
            f"certificate: the earlier tree does not hold ({report.fault}); explore again"
        )
    if report.fault is not None:
        raise InternalError(f"the search's tree does not hold: {report.fault}")
    certificate = replace(
        files.certificate,
        status=CertificateStatus.CERTIFIED,
        check_seconds=round(time.monotonic() - began, 3),
    )
    return replace(files, certificate=certificate)


def _covered(
    problem: Problem, files: ProofArtifacts, columns: Sequence[int], until: Deadline
) -> ProofArtifacts:
    """Return the proof. If its tree is small, a solver has confirmed that no leaf is missing."""
    if files.tree.leaves > MAX_COVERED or most_lemmas(problem, files.tree) > MAX_LEMMAS:
        return files
    began = time.monotonic()
    lemmas = leaf_table(problem, files.tree, _target(files.certificate, columns), plain=False)
    text = cover_smtlib(problem, lemmas)
    cover = prove_cover(text, timeout_s=min(COVER_SECONDS, until.left))
    seconds = round(time.monotonic() - began, 3)
    if cover.verdict == "sat":
        raise InternalError(f"the search's lemmas leave out a design point, {cover.left_over}")
    is_proved = cover.verdict == "unsat"
    certificate = replace(
        files.certificate,
        cover_seconds=seconds,
        solvers=(cover.solver,) if is_proved else (),
    )
    return ProofArtifacts(certificate, files.tree, text if is_proved else None)


def _resumed(front: Front, columns: Sequence[int], earlier: ProofArtifacts) -> Subtree | None:
    """Return the tree of an earlier search of this problem, or None if none can be resumed."""
    certificate, names = earlier.certificate, front.problem.objective_names
    if (
        certificate.problem_sha256 != problem_sha256(front.problem)
        or certificate.objectives != tuple(names[column] for column in columns)
        or earlier.tree.is_complete
    ):
        return None
    members = tuple(map(tuple, _known(front, columns).objectives.tolist()))
    target = LemmaTarget(tuple(columns), members, 0, load_prices(front.problem, columns))
    # What it closes is checked with the rest, once the search is complete.
    report = check_tree(front.problem, earlier.tree, target, only_open=True)
    return None if report.wrong else tree_of_subtrees(earlier.tree, report.open)
