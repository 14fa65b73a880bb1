"""From a front to its certificate: prove the fastest member, or find a faster one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dse.design_space import DesignSpace
from dse.exact_search import ExactResult, Proof, Snapshot, find_fastest
from dse.members import make_members
from dse.smt_cover import cover_smtlib, prove_cover
from fitness.outcomes import make_outcomes
from fitness.timeline import row_of
from results.certificate import Certificate, CertificateStatus
from results.dominance import non_dominated
from results.errors import ResultError
from results.front import CertificateClaim, Front
from results.objectives import objective_names
from results.problem import IntArray, ObjectiveKind, Problem
from results.problem_file import problem_sha256

MOST_LEMMAS = 200_000
"""More lemmas are not given to a solver: the front's fastest member is ``searched`` then."""
COVER_SECONDS = 120.0
DEFAULT_GROUP_PLAYS = 40_000_000
"""By default a search has this many nodes over the number of groups: a node plays each group once
at most, so that the time is about the same for small and large workloads."""
MAKESPAN = "latency_ps"
RATE_SUM = "negative_rate_sum_uhz"


@dataclass(frozen=True, eq=False)
class Certified:
    """A front with its claim, the proof, and the formula that solvers have refuted."""

    front: Front
    certificate: Certificate
    smtlib: str | None
    """None where the lemmas do not cover the space, or are too many."""


def certified_objective(problem: Problem) -> str | None:
    """What the certificate is about: the makespan where latency is an objective, else Eq. 10 where
    that is, else nothing."""
    kinds = {(objective.kind, objective.network) for objective in problem.objectives}
    if (ObjectiveKind.LATENCY, None) in kinds:
        return MAKESPAN
    if (ObjectiveKind.INVERSE_LATENCY, None) in kinds:
        return RATE_SUM
    return None


def certify(
    front: Front,
    *,
    most_nodes: int | None = None,
    time_limit_s: float | None = None,
    most_lemmas: int = MOST_LEMMAS,
    earlier: Certificate | None = None,
    on_progress: Callable[[Proof], None] | None = None,
) -> Certified:
    """Searches for a design point that beats the front's fastest, until one is found or none can
    be. A better one joins the front, and is the one certified.

    Args:
        most_nodes: ends the search, on any machine alike; the certificate then gives the bound.
            None: ``DEFAULT_GROUP_PLAYS`` over the number of groups.
        time_limit_s: ends the search; the certificate then gives the bound reached (``GAP``).
        most_lemmas: a search that needs more is complete, but not covered (``SEARCHED``).
        earlier: a certificate with ``GAP`` of the same problem, to go on from.

    Raises:
        ResultError: where a constraint has no lemmas, see :func:`dse.exact_search.find_fastest`.
        ValueError: where neither latency nor inverse-latency is an objective.
    """
    problem = front.problem
    objective = certified_objective(problem)
    if objective is None:
        raise ValueError("a certificate needs latency or inverse-latency among the objectives")
    column = objective_names(problem).index(objective)
    digest = problem_sha256(problem)
    result = find_fastest(
        problem,
        known_ps=min(member.objectives[column] for member in front.members),
        sums_rates=objective == RATE_SUM,
        most_lemmas=most_lemmas,
        most_nodes=most_nodes or default_nodes(problem),
        time_limit_s=time_limit_s,
        going_on=None if earlier is None else _snapshot(earlier, digest),
        on_progress=on_progress,
    )
    if result.best is not None:
        front = _joined(front, DesignSpace(problem).canonical(row_of(result.best)[None]))
    values = [member.objectives[column] for member in front.members]
    member = values.index(min(values))
    certificate, smtlib = _proved(problem, digest, objective, values[member], member, result)
    claim = CertificateClaim(
        status=certificate.status,
        member=member,
        objective=objective,
        optimum=certificate.optimum,
        bound=certificate.bound,
        space=space_in_words(problem),
        lemmas=result.lemma_count,
        nodes=certificate.nodes,
        solvers=certificate.solvers,
        seconds=round(certificate.search_seconds + (certificate.cover_seconds or 0.0), 3),
    )
    return Certified(replace(front, certificate=claim), certificate, smtlib)


def default_nodes(problem: Problem) -> int:
    """Nodes of the search where nothing else is asked for."""
    return max(1, DEFAULT_GROUP_PLAYS // problem.group_count)


def _proved(
    problem: Problem, digest: str, objective: str, optimum: int, member: int, result: ExactResult
) -> tuple[Certificate, str | None]:
    draft = Certificate(
        status=CertificateStatus.GAP,
        problem_sha256=digest,
        objective=objective,
        optimum=optimum,
        bound=result.bound_ps,
        member=member,
        lemmas=result.lemmas,
        nodes=result.nodes,
        search_seconds=round(result.seconds, 3),
        cover_seconds=None,
        solvers=(),
    )
    if not result.complete:
        kept = result.lemma_count == len(result.lemmas)
        return replace(draft, search=result.snapshot.arrays if kept else None), None
    draft = replace(draft, status=CertificateStatus.SEARCHED, bound=optimum)
    if result.lemma_count > len(result.lemmas):
        return draft, None
    text = cover_smtlib(problem, result.lemmas)
    began = time.monotonic()
    cover = prove_cover(text, timeout_s=COVER_SECONDS)
    seconds = round(time.monotonic() - began, 3)
    if cover.verdict == "sat":
        raise ResultError(
            f"the search's lemmas leave out a design point, {cover.left_over}: this is a fault of "
            "the program, and nothing is claimed"
        )
    if cover.verdict != "unsat":
        return replace(draft, cover_seconds=seconds), None
    return (
        replace(
            draft,
            status=CertificateStatus.CERTIFIED,
            cover_seconds=seconds,
            solvers=(cover.solver,),
        ),
        text,
    )


def _snapshot(earlier: Certificate, digest: str) -> Snapshot | None:
    """Where an earlier search of this problem stood; None where there is nothing to go on from."""
    if earlier.search is None or earlier.problem_sha256 != digest:
        return None
    return Snapshot(
        arrays=earlier.search,
        lemmas=earlier.lemmas,
        lemma_count=len(earlier.lemmas),
        seconds=earlier.search_seconds,
    )


def _joined(front: Front, row: IntArray) -> Front:
    """The front with one more design point [1, groups + domains], without what that dominates."""
    problem = front.problem
    objectives = np.concatenate(
        (
            make_outcomes(problem)(row).objectives,
            np.array([member.objectives for member in front.members], dtype=np.int64),
        )
    )
    rows = np.concatenate((row, np.stack([row_of(member.design) for member in front.members])))
    kept = non_dominated(objectives)
    return replace(front, members=make_members(problem, rows[kept], objectives[kept]))


def space_in_words(problem: Problem) -> str:
    """The space that a claim is about: networks, units, operating points and limits."""
    networks = ", ".join(
        f"{network.name} ({len(network.group_names)} groups"
        + (
            ""
            if network.max_transitions is None
            else f", at most {network.max_transitions} transitions"
        )
        + ")"
        for network in problem.networks
    )
    clocks = ", ".join(f"{domain.name} {int(domain.allowed.sum())}" for domain in problem.domains)
    units = ", ".join(unit.name for unit in problem.units)
    return f"{networks} on {units}; operating points: {clocks}"
