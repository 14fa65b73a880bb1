"""What a result folder claims, checked without trusting what wrote it.

Everything is computed anew from ``problem.json`` in Python integers: members by the plain
evaluator, lemmas by the plain checker, and the cover by solvers from a formula written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dse.certify import MAKESPAN, RATE_SUM, space_in_words
from dse.smt_cover import confirm_cover, cover_smtlib, prove_cover
from fitness.lemma_check import check_lemmas
from fitness.plain_outcomes import plain_outcome
from results.certificate import Certificate, CertificateStatus
from results.errors import ResultError
from results.front import CertificateClaim, Front, Member
from results.front_file import read_certificate, read_costs, read_results
from results.objectives import objective_names
from results.problem import Problem

SOLVER_SECONDS = 600.0


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    name: str
    holds: bool
    detail: str


def verify(folder: Path, *, ignore_hashes: bool = False) -> Iterator[Check]:
    """Checks one thing after the other; ends with the first that does not hold."""
    for check in _checks(folder, check_hashes=not ignore_hashes):
        yield check
        if not check.holds:
            return


def _checks(folder: Path, *, check_hashes: bool) -> Iterator[Check]:
    try:
        front = read_results(folder, check_hashes=check_hashes)
        found = read_certificate(folder, front.problem, check_hashes=check_hashes)
        if check_hashes:
            read_costs(folder, front.problem)
    except ResultError as error:
        yield Check("files", False, str(error))
        return
    hashes = "hashes, " if check_hashes else ""
    yield Check("files", True, f"schemas, {hashes}{len(front.members)} non-dominated members")
    yield _members_hold(front)
    if front.baselines:
        yield _baselines_hold(front)
    if front.certificate is None and found is None:
        yield Check("certificate", True, "there is none, and none is claimed")
        return
    if front.certificate is None or found is None:
        missing = "front.json" if front.certificate is None else "certificate.json"
        yield Check("certificate", False, f"{missing} does not have it")
        return
    certificate, text = found
    yield _claim_holds(front, front.certificate, certificate)
    if certificate.status is CertificateStatus.GAP:
        yield Check("bound", True, "not checked: the lemmas of a search that was ended are open")
        return
    yield _lemmas_hold(front.problem, certificate)
    if certificate.status is CertificateStatus.SEARCHED:
        yield Check("cover", True, "not claimed: the search is complete by its own account only")
        return
    yield from _cover_holds(front.problem, certificate, text)


def _members_hold(front: Front) -> Check:
    """Every member's schedule, objectives and constraints by the plain evaluator."""
    for index, member in enumerate(front.members):
        wrong = _wrong(front.problem, member, may_break=False)
        if wrong is not None:
            return Check("members", False, f"member {index}: {wrong}")
    return Check(
        "members", True, f"{len(front.members)} replayed: schedules, objectives, constraints"
    )


def _baselines_hold(front: Front) -> Check:
    """The same for the baselines, which may break the constraints that they say they do."""
    for point in front.baselines:
        wrong = _wrong(front.problem, point.member, may_break=bool(point.breaks))
        if wrong is not None:
            return Check("baselines", False, f"{point.name}: {wrong}")
    return Check("baselines", True, f"{len(front.baselines)} replayed: schedules, objectives")


def _wrong(problem: Problem, member: Member, *, may_break: bool) -> str | None:
    try:
        outcome = plain_outcome(problem, member.design)
    except (ValueError, IndexError) as error:
        return str(error)
    if outcome.broken and not may_break:
        return outcome.broken[0]
    if may_break and not outcome.broken:
        return "keeps all constraints, but is said to break some"
    names = objective_names(problem)
    for name, claimed, value in zip(names, member.objectives, outcome.objectives, strict=True):
        if claimed != value:
            return f"{name} is {value}, not {claimed}"
    if outcome.timeline.schedule != member.schedule:
        return "the schedule is another one"
    if outcome.energy_fj != member.energy_fj:
        return f"energy is {outcome.energy_fj}, not {member.energy_fj}"
    if outcome.timeline.latency_ps[0] != member.latencies_ps:
        return "latencies are other ones"
    return None


def _claim_holds(front: Front, claim: CertificateClaim, certificate: Certificate) -> Check:
    """The claim in the front is the certificate's, of this space, and the optimum the best member's
    value."""
    pairs = (
        ("status", claim.status, certificate.status),
        ("member", claim.member, certificate.member),
        ("objective", claim.objective, certificate.objective),
        ("optimum", claim.optimum, certificate.optimum),
        ("bound", claim.bound, certificate.bound),
        ("solvers", claim.solvers, certificate.solvers),
        ("nodes", claim.nodes, certificate.nodes),
        ("space", claim.space, space_in_words(front.problem)),
    )
    for name, said, proved in pairs:
        if said != proved:
            return Check("claim", False, f"{name}: front.json says something else")
    names = objective_names(front.problem)
    if certificate.objective not in names:
        return Check("claim", False, f"{certificate.objective} is no objective of the problem")
    column = names.index(certificate.objective)
    values = [member.objectives[column] for member in front.members]
    if not certificate.member < len(values):
        return Check("claim", False, f"there is no member {certificate.member}")
    if values[certificate.member] != certificate.optimum or min(values) != certificate.optimum:
        return Check(
            "claim",
            False,
            f"the optimum is {certificate.optimum}, the best member's {min(values)}, "
            f"member {certificate.member}'s {values[certificate.member]}",
        )
    gap = certificate.status is CertificateStatus.GAP
    if (certificate.bound != certificate.optimum) and not gap:
        return Check("claim", False, "the bound must be the optimum where there is no gap")
    if certificate.bound > certificate.optimum:
        return Check("claim", False, "the bound is above the optimum")
    if certificate.status is CertificateStatus.CERTIFIED:
        if not certificate.solvers:
            return Check("claim", False, "no solver is named")
        if claim.lemmas != len(certificate.lemmas):
            return Check(
                "claim", False, f"lemmas: {claim.lemmas} claimed, {len(certificate.lemmas)} there"
            )
    if certificate.status is not CertificateStatus.SEARCHED and not gap:
        return Check("claim", True, _told(certificate))
    return Check("claim", True, f"{_told(certificate)}; {certificate.status.value} only")


def _told(certificate: Certificate) -> str:
    if certificate.objective == MAKESPAN:
        return f"member {certificate.member} with {certificate.optimum / 1e9:.6f} ms"
    return f"member {certificate.member} with {-certificate.optimum / 1e6:.6f} inferences/s"


def _lemmas_hold(problem: Problem, certificate: Certificate) -> Check:
    try:
        failures = check_lemmas(
            problem,
            certificate.lemmas,
            certificate.optimum,
            sums_rates=certificate.objective == RATE_SUM,
        )
    except ResultError as error:
        return Check("lemmas", False, str(error))
    if failures:
        first = failures[0]
        return Check("lemmas", False, f"lemma {first.index}: {first.reason}")
    return Check("lemmas", True, f"{len(certificate.lemmas)} hold by the plain checker")


def _cover_holds(problem: Problem, certificate: Certificate, text: str | None) -> Iterator[Check]:
    try:
        anew = cover_smtlib(problem, certificate.lemmas)
    except ResultError as error:
        yield Check("formula", False, str(error))
        return
    if text is None:
        yield Check("formula", False, "certificate.smt2 is missing")
        return
    if text != anew:
        yield Check("formula", False, "certificate.smt2 is not what the lemmas and rules give")
        return
    yield Check("formula", True, "certificate.smt2 is what the lemmas and rules give")
    result = prove_cover(anew, timeout_s=SOLVER_SECONDS)
    yield Check("cover", result.verdict == "unsat", f"{result.solver} says {result.verdict}")
    second = confirm_cover(anew, timeout_s=SOLVER_SECONDS)
    if second is None:
        yield Check("cover", True, "no second opinion: cvc5 is not installed (extra 'proofs')")
    else:
        yield Check("cover", second.verdict == "unsat", f"{second.solver} says {second.verdict}")
