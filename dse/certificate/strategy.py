"""The proof that goes with a front: complete, or within an epsilon, like its fastest member.

If a search does not end, bounds over boxes of operating points say how far the front can be from
the true one. If no exact search is known, and the space is small, all of it is simulated. The
findings of a search that was ended are not claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_front, default_boxes
from paretosoc.dse.certificate.boxes.simulate import simulate_space
from paretosoc.dse.certificate.branch_and_bound import Cluster, SearchProgress
from paretosoc.dse.certificate.certify import CertifiedFront, Limits, prove, usual_nodes
from paretosoc.dse.certificate.formulation.prove import (
    FEW_PARTS,
    FormulationProgress,
    prove_formulation,
)
from paretosoc.dse.certificate.formulation.refute import NotShown
from paretosoc.dse.certificate.outcome import ProofOutcome, outcome_of, own_outcome, parts_front
from paretosoc.dse.certificate.preconditions import Goal, Provable, is_searchable, provable
from paretosoc.dse.compile.load import load_bound_code, load_proof_code
from paretosoc.dse.inputs.interrupts import deferred_interrupt
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import CertificateStatus, ProofArtifacts
from paretosoc.results.front.front import Front
from paretosoc.results.problem.problem import Problem

TOLERANCES_PPM = (100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500)
"""Each search within one of them finds the next one easier, for it leaves better members."""
FASTEST_PPM = (100_000, 50_000, 30_000, 20_000, 10_000, 5_000)
"""The same of the fastest member alone."""
FIRST_FASTEST_PPM = 50_000
"""Down to this one they come before the whole front, the others after it."""
SMALL_NODES = 250_000
"""Nodes, about a second, of a first exact search, and of the first one within a tolerance."""
TAME_GROWTH, TAME_NODES = 10.0, 10_000
"""If the tree, of so many nodes or more, grows by no larger factor from one tolerance to the next,
the exact search follows at once. With larger factors its tree is hundreds of times as large."""
EXACT_TIMES = 3.5
"""An exact search, with its check, takes two to four times as long as the last one within a
tolerance. With less time left the next tolerance follows."""
SMALL_SHARE, FASTEST_SHARE, EXACT_SHARE, BOUNDS_SHARE = 0.125, 0.4, 0.75, 0.75
"""Shares of the time to a deadline: for each of the first searches, then of the remaining time for
the fastest member, an exact search, and bounds over boxes."""
HOPELESS_TIMES = 4.0
"""Before a deadline, a tolerance whose search would take more than so many times the time left is
not tried: its tree, of ``TAME_NODES`` or more, grows by no smaller a factor than the last time."""
TIMED_BOXES = 2
"""Before a deadline, so many times the default number of boxes at most."""


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

    Monotone objectives of a user's own are proved by the front of their parts: see
    :mod:`dse.certificate.outcome`.

    Raises:
        ResultError: if nothing can be proved about any objective, or an objective of a user's own
            does not keep to its declaration.
    """
    if front.robust is not None:
        raise ResultError(
            f"nothing is proved of a front by {front.robust.measure}: proofs are of nominal costs"
        )
    limits = limits or Limits()
    if goal is Goal.WHOLE_FRONT and not is_searchable(front.problem):
        found = simulate_space(front, limits.until)
        if found is not None:
            return outcome_of(found[0], None, None, found[1], False, None)
    can = provable(front.problem, goal)
    began = limits.until.clock()
    if can.front is not None or can.fastest is not None:
        load_proof_code(front.problem)
    if limits.until.is_limited and can.bounded:
        load_bound_code()
    limits = replace(limits, until=limits.until.sooner(began - limits.until.clock()))
    attempt = partial(_proved, can=can, limits=limits, earlier=earlier, jobs=jobs, cluster=cluster)
    if front.problem.of_parts is front.problem:
        outcome = attempt(front, on_progress=on_progress, on_checkpoint=on_checkpoint)
    else:
        own, progress, checkpoint = front, on_progress, on_checkpoint
        parts = attempt(
            parts_front(own),
            # Its epsilon is that of the parts.
            on_progress=progress and (lambda now: progress(replace(now, epsilon_ppm=None))),
            on_checkpoint=checkpoint and (lambda gap: checkpoint(own_outcome(own, gap))),
        )
        outcome = own_outcome(own, parts)
    if outcome.interrupted or limits.until.is_past:
        return outcome
    shown = add_formulation(outcome, max_parts=FEW_PARTS, until=limits.until)
    return replace(shown, not_shown=None)


def _proved(
    front: Front,
    *,
    can: Provable,
    limits: Limits,
    earlier: ProofArtifacts | None,
    jobs: int | None,
    cluster: Cluster | None,
    on_progress: Callable[[SearchProgress], None] | None,
    on_checkpoint: Callable[[ProofOutcome], None] | None,
) -> ProofOutcome:
    """Attempt the proofs that a problem without objectives of a user's own permits."""
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
            work.begin(can.front, earlier)
        narrows = can.fastest is not None and can.front != (can.fastest,)
        if can.fastest is not None and not work.is_certified and not work.interrupted():
            is_all = can.front is None and can.bounded == (can.fastest,)
            until = limits.until.share(EXACT_SHARE if is_all else FASTEST_SHARE)
            exact_until = until.share(0.5) if narrows else until
            work.prove_fastest(can.fastest, until=exact_until, earlier=earlier)
            if narrows:
                least_ppm = 0 if can.front is None else FIRST_FASTEST_PPM
                until = limits.until if is_all else until
                work.narrow_fastest(can.fastest, until=until, least_ppm=least_ppm)
        if can.front is not None:
            work.narrow(can.front)
            if can.fastest is not None and narrows:
                until = limits.until
                until = until.share(FASTEST_SHARE) if work.within is None else until
                work.narrow_fastest(can.fastest, until=until)
        if can.bounded and work.within is None:
            work.bound(can.bounded)
            if can.front is not None:
                work.narrow(can.front)
        return work.result(interrupt.requested, _still_refused(can, work))


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
    is_certified = claim is not None and claim.status is CertificateStatus.CERTIFIED
    if claim is None or proof is None or not is_certified or claim.epsilon_ppm != 0:
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
    is_open = can.front is not None and work.within is None and not work.interrupted()
    no_bounds = can.unbounded or "bounds over boxes were ended before they reached a percentage"
    if is_open:
        return f"the search was ended, and {no_bounds}"
    if can.refused is not None and can.bounded == columns and not work.interrupted():
        return f"{can.refused}; {no_bounds}"
    return can.refused


def _fewer(problem: Problem, nodes: int | None) -> int:
    small = usual_nodes(problem, SMALL_NODES)
    return small if nodes is None else min(nodes, small)


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
        self.within: CertifiedFront | None = None
        """The best proof of the whole front: exact, or within a tolerance."""
        self.fastest: CertifiedFront | None = None
        """The best proof of the fastest member: exact, within a tolerance, or a gap."""
        self._fastest_was_ended = False
        """Whether a search within a tolerance for it was ended."""
        self._gap: CertifiedFront | None = None
        """The exact search for a faster member, to resume from."""
        self.bounds: BoundedFront | None = None
        self.interrupted = interrupted
        self._limits = limits
        self._search = search
        self._on_checkpoint = on_checkpoint

    def prove(
        self,
        columns: tuple[int, ...],
        *,
        until: Deadline,
        tolerance_ppm: int = 0,
        nodes: int | None = None,
        earlier: ProofArtifacts | None = None,
    ) -> CertifiedFront:
        limits = replace(self._limits, planned=until)
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
        self._on_checkpoint(outcome_of(gap.front, gap, None, None, False, None))

    def keep(self, proved: CertifiedFront) -> bool:
        """Keep a proof of the whole front unless its search was ended, and return whether it was
        kept."""
        if proved.status is CertificateStatus.GAP:
            return False
        self.within = proved
        return True

    def bound(self, columns: tuple[int, ...]) -> None:
        """Bounds over boxes, unless the front is proved complete, or something of the only one of
        these objectives."""
        is_claim = self.fastest is not None and self.fastest.status is not CertificateStatus.GAP
        if self.interrupted() or self.is_certified or (len(columns) == 1 and is_claim):
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
        return self.within is not None and self.within.is_exact

    def begin(self, columns: tuple[int, ...], earlier: ProofArtifacts | None) -> None:
        """Resume an exact search of the whole front, or try whether a small one ends."""
        problem, until = self.front.problem, self._limits.until
        nodes = self._limits.most_nodes(problem)
        if earlier is not None and len(earlier.certificate.objectives) > 1:
            until = until.share(EXACT_SHARE)
        else:
            earlier, until, nodes = None, until.share(SMALL_SHARE), _fewer(problem, nodes)
        self.keep(self.prove(columns, until=until, nodes=nodes, earlier=earlier))

    def narrow(self, columns: tuple[int, ...]) -> None:
        """Prove within smaller and smaller tolerances, as long as the limits allow, and at last
        exactly."""
        problem = self.front.problem
        left, last = self._limits.most_nodes(problem), 0
        for tolerance in (*TOLERANCES_PPM, 0):
            until = self._limits.until
            if self.interrupted() or until.is_past or self.is_certified or left == 0:
                return
            known = None if self.bounds is None else self.bounds.claim.epsilon_ppm
            if self.within is not None:
                known = self.within.claim.epsilon_ppm
            if known is not None and known <= tolerance:
                continue
            nodes = left
            if known is None:
                nodes, until = _fewer(problem, nodes), until.share(SMALL_SHARE)
            began = until.clock()
            proved = self.prove(columns, until=until, tolerance_ppm=tolerance, nodes=nodes)
            if not self.keep(proved):
                return
            grown, until, took_s = proved.claim.nodes, self._limits.until, until.clock() - began
            is_tame = last >= TAME_NODES and grown <= TAME_GROWTH * last
            if tolerance > 0 and is_tame and EXACT_TIMES * took_s <= until.left:
                self.keep(self.prove(columns, until=until.share(EXACT_SHARE)))
            expected_s = 0.0 if last < TAME_NODES else grown / last * took_s
            if until.is_limited and expected_s > HOPELESS_TIMES * until.left:
                return
            last = grown
            left = None if left is None else max(0, left - grown)

    def prove_fastest(
        self, column: int, *, until: Deadline, earlier: ProofArtifacts | None
    ) -> None:
        """Search for a faster member."""
        self.fastest = self.prove((column,), until=until, earlier=earlier)
        if self.fastest.status is CertificateStatus.GAP:
            self._gap = self.fastest

    def narrow_fastest(self, column: int, *, until: Deadline, least_ppm: int = 0) -> None:
        """Prove the fastest member within smaller and smaller tolerances, down to ``least_ppm``.

        Does nothing if it is proved exactly, or if a search was ended that would be repeated with
        as many nodes. Before a deadline there may be more time now.
        """
        if self._fastest_was_ended and not until.is_limited:
            return
        problem = self.front.problem
        left = self._limits.most_nodes(problem)
        for tolerance in (ppm for ppm in FASTEST_PPM if ppm >= least_ppm):
            if self.is_certified or self.fastest is None or self.fastest.is_exact:
                return
            if self.interrupted() or until.is_past or left == 0:
                return
            is_claim = self.fastest.status is not CertificateStatus.GAP
            # A proof of the whole front is one of its fastest member, too.
            proofs = [self.fastest] if is_claim else []
            proofs += [] if self.within is None else [self.within]
            if any((proof.claim.epsilon_ppm or 0) <= tolerance for proof in proofs):
                continue
            nodes = left if is_claim else _fewer(problem, left)
            proved = self.prove((column,), until=until, tolerance_ppm=tolerance, nodes=nodes)
            self._fastest_was_ended = proved.status is CertificateStatus.GAP
            if self._fastest_was_ended:
                return
            self.fastest = proved
            left = None if left is None else max(0, left - proved.claim.nodes)

    def result(self, interrupted: bool, refused: str | None) -> ProofOutcome:
        """Return the final front, with claims about its members.

        They may have become better since a proof: a bound that an older member closes is also
        closed by one that dominates it.
        """
        front = self.front
        if self.within is not None and self.within.is_exact:
            return outcome_of(front, self.within, None, None, interrupted, None)
        fastest = None if self.fastest is None else self.fastest.about(front)
        epsilon = bounds = None
        if self.within is not None:
            epsilon = self.within.about(front)
        elif self.bounds is not None:
            bounds = self.bounds.about(front)
        if epsilon is None and self._gap is not None and self._gap is not self.fastest:
            # Even a search within a tolerance was ended: the share that is done says too little.
            gap = replace(self._gap, claim=replace(self._gap.claim, likely_s=None))
            epsilon = gap.about(front)
            epsilon = None if epsilon is None else epsilon.without_gap()
        fastest = None if fastest is None else fastest.without_gap()
        return outcome_of(front, fastest, epsilon, bounds, interrupted, refused)
