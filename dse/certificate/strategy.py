"""The proof that goes with a front: complete, or within an epsilon with its fastest certified.

If a search does not end, bounds over boxes of operating points say how far the front can be from
the true one. The findings of a search that was ended are not claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_front, default_boxes
from paretosoc.dse.certificate.branch_and_bound import Cluster, SearchProgress
from paretosoc.dse.certificate.certify import CertifiedFront, Limits, prove
from paretosoc.dse.certificate.formulation.prove import FormulationProgress, prove_formulation
from paretosoc.dse.certificate.formulation.refute import NotShown
from paretosoc.dse.certificate.preconditions import Goal, Provable, provable
from paretosoc.dse.compile.load import load_bound_code, load_proof_code
from paretosoc.dse.inputs.interrupts import deferred_interrupt
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import CertificateStatus, ProofArtifacts
from paretosoc.results.front.front import Front

TOLERANCES_PPM = (100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500)
"""Each search within one of them finds the next one easier, for it leaves better members."""
EXACT_SHARE, FASTEST_SHARE, BOUNDS_SHARE = 0.25, 0.25, 0.75
"""Shares of the time to a deadline: for the exact search, then of the remaining time for the
fastest member, and then of the remaining time for bounds over boxes."""
BY_ITSELF_PARTS = 24
"""If the space has fewer parts than this, every proof is followed by a second of Z3 on the
formulation."""
TIMED_BOXES = 2
"""Before a deadline, so many times the default number of boxes at most."""


@dataclass(frozen=True, eq=False)
class ProofOutcome:
    """A front with its claims, and their proofs.

    ``refused``: why the whole front cannot be proved, if so. ``not_shown``: why HaX-CoNN's
    formulation does not show that the fastest member is the fastest, if it was asked for.
    """

    front: Front
    certificate: ProofArtifacts | None
    epsilon: ProofArtifacts | None
    bounds: BoundProof | None
    interrupted: bool
    refused: str | None
    not_shown: str | None = None


def prove_front(
    front: Front,
    *,
    goal: Goal = Goal.WHOLE_FRONT,
    limits: Limits | None = None,
    earlier: ProofArtifacts | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    on_checkpoint: Callable[[ProofOutcome], None] | None = None,
) -> ProofOutcome:
    """Prove as much of a front as the limits allow. Ctrl-C ends it and keeps the proofs so far.

    Args:
        limits: the nodes are those of each search, and of several within a tolerance together. The
            deadline is that of all, later by the time of loading or compiling kernels.
        earlier: a proof with a gap, to resume from.
        jobs: threads; one per core by default. The proof depends on it only with a time limit.
        cluster: searches instead of threads.
        on_checkpoint: called now and then with the gap of an exact search, to resume from.

    Raises:
        ResultError: if nothing can be proved about any objective.
    """
    can = provable(front.problem, goal)
    limits = limits or Limits()
    began = limits.until.clock()
    if can.front is not None or can.fastest is not None:
        load_proof_code(front.problem)
    if limits.until.is_limited and can.bounded:
        load_bound_code()
    limits = replace(limits, until=limits.until.sooner(began - limits.until.clock()))
    with deferred_interrupt() as interrupt:
        search = partial(
            prove,
            jobs=jobs,
            cluster=cluster,
            on_progress=on_progress,
            interrupted=lambda: interrupt.requested,
        )
        work = _Work(front, limits, search, on_checkpoint, lambda: interrupt.requested)
        if can.front is not None:
            work.epsilon = work.prove(can.front, share=EXACT_SHARE, earlier=earlier)
        if can.fastest is not None and not work.is_certified and not work.interrupted():
            is_all = can.front is None and can.bounded == (can.fastest,)
            share = 1.0 if is_all else FASTEST_SHARE
            work.fastest = work.prove((can.fastest,), share=share, earlier=earlier)
        if can.bounded:
            work.bound(can.bounded)
        if can.front is not None:
            work.narrow(can.front)
        outcome = work.result(interrupt.requested, _still_refused(can, work))
    if outcome.interrupted:
        return outcome
    if limits.until.is_past:
        return outcome
    shown = add_formulation(outcome, max_parts=BY_ITSELF_PARTS, until=limits.until)
    return replace(shown, not_shown=None)


def add_formulation(
    outcome: ProofOutcome,
    *,
    jobs: int | None = None,
    max_parts: int | None = None,
    until: Deadline = NEVER,
    on_progress: Callable[[FormulationProgress], None] | None = None,
) -> ProofOutcome:
    """Return the outcome with a proof by HaX-CoNN's formulation about a certified fastest member.

    See :func:`dse.certificate.formulation.prove.prove_formulation`. Ctrl-C ends it.
    """
    front, proof = outcome.front, outcome.certificate
    claim = front.certificate
    if claim is None or proof is None or claim.status is CertificateStatus.GAP:
        why = "no member is certified as the fastest: the search for a faster one was ended"
        return replace(outcome, not_shown=why)
    fastest = min(front.members, key=lambda member: member.makespan_ps)
    is_late = False

    def stopped() -> bool:
        nonlocal is_late
        is_late = until.is_past
        return interrupt.requested or is_late

    with deferred_interrupt() as interrupt:
        try:
            shown = prove_formulation(
                front.problem,
                fastest.design,
                fastest.makespan_ps,
                jobs=jobs,
                max_parts=max_parts,
                on_progress=on_progress,
                stopped=stopped,
            )
        except (NotShown, ResultError) as error:
            interrupted = outcome.interrupted or interrupt.requested
            why = f"{error} by the time limit" if is_late else str(error)
            return replace(outcome, interrupted=interrupted, not_shown=why)
    return replace(
        outcome,
        front=replace(front, certificate=replace(claim, formulation=shown)),
        certificate=replace(proof, certificate=replace(proof.certificate, formulation=shown)),
    )


def _still_refused(can: Provable, work: _Work) -> str | None:
    """Return why nothing is proved of the whole front, after the proofs so far."""
    columns = tuple(range(len(work.front.problem.objectives)))
    if work.bounds is not None and can.bounded == columns:
        return None
    is_open = can.front is not None and not work.is_within and not work.interrupted()
    no_bounds = can.unbounded or "so were bounds over boxes, before they reached a percentage"
    if is_open:
        return f"the search was ended, and {no_bounds}"
    if can.refused is not None and can.bounded == columns and not work.interrupted():
        return f"{can.refused}; {no_bounds}"
    return can.refused


class _Work:
    """The proofs so far. Members found on the way serve all later proofs."""

    def __init__(
        self,
        front: Front,
        limits: Limits,
        search: Callable[..., CertifiedFront],
        on_checkpoint: Callable[[ProofOutcome], None] | None,
        interrupted: Callable[[], bool],
    ) -> None:
        self.front = front
        self.epsilon: CertifiedFront | None = None
        self.fastest: CertifiedFront | None = None
        self.bounds: BoundedFront | None = None
        self.interrupted = interrupted
        self._limits = limits
        self._search = search
        self._on_checkpoint = on_checkpoint

    def prove(
        self,
        columns: tuple[int, ...],
        *,
        share: float,
        tolerance_ppm: int = 0,
        nodes: int | None = None,
        earlier: ProofArtifacts | None = None,
    ) -> CertifiedFront:
        limits = replace(self._limits, until=self._limits.until.share(share))
        resumable = tolerance_ppm == 0 and self._on_checkpoint is not None
        proved = self._search(
            self.front,
            columns,
            tolerance_ppm=tolerance_ppm,
            limits=limits if nodes is None else replace(limits, nodes=nodes),
            earlier=earlier,
            on_checkpoint=self._write if resumable else None,
        )
        self.front = proved.front
        return proved

    def _write(self, gap: CertifiedFront) -> None:
        assert self._on_checkpoint is not None
        front = replace(gap.front, certificate=gap.claim, epsilon=None, bounds=None)
        self._on_checkpoint(ProofOutcome(front, gap.files, None, None, False, None))

    def bound(self, columns: tuple[int, ...]) -> None:
        """Bounds over boxes, unless the front is proved complete, or the only one of these
        objectives proved at its best."""
        is_fastest = len(columns) == 1 and self.fastest is not None and self.fastest.is_exact
        if self.interrupted() or self.is_certified or is_fastest:
            return
        load_bound_code()
        max_boxes, until = default_boxes(self.front.problem), self._limits.until
        if until.is_limited:
            max_boxes *= TIMED_BOXES
        self.bounds = bound_front(
            self.front,
            columns,
            max_boxes=max_boxes,
            until=until.share(BOUNDS_SHARE),
            interrupted=self.interrupted,
        )

    @property
    def is_certified(self) -> bool:
        """Return whether the front is proved complete."""
        full_front = self.epsilon
        return (
            full_front is not None
            and full_front.is_exact
            and full_front.status is CertificateStatus.CERTIFIED
        )

    @property
    def is_within(self) -> bool:
        """Return whether a search of the whole front has ended, exactly or within a tolerance."""
        return self.epsilon is not None and self.epsilon.status is not CertificateStatus.GAP

    def narrow(self, columns: tuple[int, ...]) -> None:
        """Prove within smaller and smaller tolerances, as long as the limits allow. The last is
        exact."""
        left = self._limits.nodes_for(self.front.problem)
        for tolerance in (*TOLERANCES_PPM, 0):
            if self.interrupted() or self._limits.until.is_past or (left is not None and left <= 0):
                return
            known = None if self.bounds is None else self.bounds.claim.epsilon_ppm
            if self.epsilon is not None and self.is_within:
                known = self.epsilon.claim.epsilon_ppm
            if self.epsilon is not None and self.epsilon.is_exact:
                return
            if known is not None and known <= tolerance:
                continue
            proved = self.prove(columns, share=1.0, tolerance_ppm=tolerance, nodes=left)
            if left is not None:
                left -= proved.claim.nodes
            if proved.status is CertificateStatus.GAP:
                return
            self.epsilon = proved

    def result(self, interrupted: bool, refused: str | None) -> ProofOutcome:
        """Return the final front, with claims about its members.

        They may have become better since a proof: a bound that an older member closes is also
        closed by one that dominates it.
        """
        front = self.front
        if self.epsilon is not None and self.is_certified:
            front = replace(front, certificate=self.epsilon.claim, epsilon=None, bounds=None)
            return ProofOutcome(front, self.epsilon.files, None, None, interrupted, None)
        fastest = None if self.fastest is None else self.fastest.about(front).without_gap()
        epsilon = bounds = None
        if self.epsilon is not None and self.is_within:
            epsilon = self.epsilon.about(front)
        elif self.bounds is not None:
            bounds = self.bounds.about(front)
        front = replace(
            front,
            certificate=None if fastest is None else fastest.claim,
            epsilon=None if epsilon is None else epsilon.claim,
            bounds=None if bounds is None else bounds.claim,
        )
        return ProofOutcome(
            front,
            None if fastest is None else fastest.files,
            None if epsilon is None else epsilon.files,
            None if bounds is None else bounds.proof,
            interrupted,
            refused,
        )
