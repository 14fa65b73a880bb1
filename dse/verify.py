"""What a result folder claims, checked without trusting what wrote it.

Everything is computed anew from ``problem.json`` in Python integers: members by the plain
evaluator, lemmas by the plain checker, and the cover by solvers from a formula written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.engines import ENGINES
from dse.member_check import check_members
from dse.rate_check import claimed_periods_ps, overloaded_unit
from dse.smt_cover import confirm_cover, cover_smtlib, prove_cover
from fitness.lemma_check import check_lemmas
from fitness.lemma_claim import LemmaClaim
from results.certificate import Certificate, CertificateStatus, ProofFiles
from results.counted import counted
from results.dominance import non_dominated
from results.epsilon import epsilon_ppm, percent
from results.errors import ResultError
from results.front import CertificateClaim, Front
from results.front_check import objective_array
from results.front_file import CERTIFICATE, EPSILON, read_certificate, read_costs, read_results
from results.objectives import objective_names, objective_unit, objective_value
from results.problem import Problem
from results.space_description import describe_space

SOLVER_SECONDS = 600.0

DECIDING = {name.value for name, info in ENGINES.items() if info.decides}
"""Engines whose front is their own decision, and may be behind a baseline."""


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
        proofs = [
            (
                name,
                claim,
                read_certificate(folder, front.problem, name=name, check_hashes=check_hashes),
            )
            for name, claim in ((CERTIFICATE, front.certificate), (EPSILON, front.epsilon))
        ]
        if check_hashes:
            read_costs(folder, front.problem)
    except ResultError as error:
        yield Check("files", False, str(error))
        return
    hashes = "hashes, " if check_hashes else ""
    yield Check("files", True, f"schemas, {hashes}{len(front.members)} non-dominated members")
    yield from _rates_hold(front)
    yield _members_hold(front)
    if front.baselines:
        yield _baselines_hold(front)
    if all(claim is None and files is None for _, claim, files in proofs):
        yield Check("certificate", True, "there is none, and none is claimed")
        return
    for name, claim, files in proofs:
        if claim is None and files is None:
            continue
        if claim is None or files is None:
            missing = "front.json" if claim is None else f"{name}.json"
            yield Check(name, False, f"{missing} does not have it")
            return
        yield from _proof_holds(front, name, claim, files)


def _proof_holds(
    front: Front, name: str, claim: CertificateClaim, files: ProofFiles
) -> Iterator[Check]:
    certificate = files.certificate
    yield _claim_holds(front, name, claim, certificate)
    if certificate.status is CertificateStatus.GAP:
        yield Check("bound", True, "not checked: the lemmas of a search that was ended are open")
        return
    yield _lemmas_hold(front.problem, certificate)
    if certificate.status is CertificateStatus.SEARCHED:
        yield Check("cover", True, "not claimed: the search is complete by its own account only")
        return
    yield from _cover_holds(front.problem, name, files)


def _rates_hold(front: Front) -> Iterator[Check]:
    """No rate that is claimed is above what the units can do; nothing where none is claimed."""
    points = [(f"member {i}", member) for i, member in enumerate(front.members)]
    points += [(point.name, point.member) for point in front.baselines]
    claims = [(name, m) for name, m in points if claimed_periods_ps(front.problem, m)]
    for name, member in claims:
        wrong = overloaded_unit(front.problem, member)
        if wrong is not None:
            yield Check("rates", False, f"{name}: {wrong}")
            return
    if claims:
        yield Check("rates", True, "times loads are at most 1 on every unit")


def _members_hold(front: Front) -> Check:
    """Every member's schedule, objectives and constraints by the plain evaluator."""
    found = check_members(front.problem, [(member, False) for member in front.members])
    for index, wrong in enumerate(found):
        if wrong is not None:
            return Check("members", False, f"member {index}: {wrong}")
    return Check(
        "members", True, f"{len(front.members)} replayed: schedules, objectives, constraints"
    )


def _baselines_hold(front: Front) -> Check:
    """The same for the baselines, which may break the constraints that they say they do."""
    found = check_members(
        front.problem, [(point.member, bool(point.breaks)) for point in front.baselines]
    )
    for point, wrong in zip(front.baselines, found, strict=True):
        if wrong is not None:
            return Check("baselines", False, f"{point.name}: {wrong}")
    if front.provenance.engine not in DECIDING:
        values = objective_array(front)
        for point in front.baselines:
            reached = (values <= np.array(point.member.objectives, dtype=np.int64)).all(axis=1)
            if not point.breaks and not reached.any():
                why = "keeps all constraints, but no member is as good"
                return Check("baselines", False, f"{point.name}: {why}")
    return Check("baselines", True, f"{len(front.baselines)} replayed: schedules, objectives")


def _claim_holds(
    front: Front, name: str, claim: CertificateClaim, certificate: Certificate
) -> Check:
    """The claim in the front is the certificate's, of this space, and about the members that are
    best in its objectives."""

    def fails(why: str) -> Check:
        return Check("claim", False, f"{name}.json: {why}")

    for what, said, proved in (
        ("status", claim.status, certificate.status),
        ("objectives", claim.objectives, certificate.objectives),
        ("epsilon_ppm", claim.epsilon_ppm, certificate.epsilon_ppm),
        ("solvers", claim.solvers, certificate.solvers),
        ("nodes", claim.nodes, certificate.nodes),
        ("space", claim.space, describe_space(front.problem)),
    ):
        if said != proved:
            return fails(f"{what}: front.json says something else")
    names = objective_names(front.problem)
    foreign = [entry for entry in certificate.objectives if entry not in names]
    if foreign or len(set(certificate.objectives)) != len(certificate.objectives):
        return fails(f"objectives: {', '.join(certificate.objectives)} are not the problem's")
    columns = [names.index(entry) for entry in certificate.objectives]
    if name == EPSILON and len(columns) != len(names):
        return fails("objectives: all are required")
    if not front.members:
        return fails("there are no members")
    values = np.array([member.objectives for member in front.members], dtype=np.int64)
    best = non_dominated(values[:, columns]).tolist()
    if list(claim.members) != best:
        return fails(f"members: those that no other beats are {best}, not {list(claim.members)}")
    if certificate.members != tuple(tuple(values[index, columns].tolist()) for index in best):
        return fails("members: their values are other ones")
    gap = certificate.status is CertificateStatus.GAP
    bounds = np.array(certificate.bounds, dtype=np.int64).reshape(-1, len(columns))
    needed = epsilon_ppm(values[best][:, columns], bounds)
    if not gap and (certificate.epsilon_ppm is None or len(bounds)):
        return fails("a search that is complete has an epsilon and no bounds")
    if certificate.epsilon_ppm is not None and (needed is None or needed > certificate.epsilon_ppm):
        return fails(f"epsilon_ppm is {certificate.epsilon_ppm}, its bounds need {needed}")
    if not gap and name == CERTIFICATE and certificate.epsilon_ppm != 0:
        return fails(f"epsilon_ppm must be 0, got {certificate.epsilon_ppm}")
    if certificate.status is CertificateStatus.CERTIFIED:
        if not certificate.solvers:
            return fails("no solver is named")
        if claim.lemmas != len(certificate.lemmas):
            return fails(f"lemmas: {claim.lemmas} claimed, {len(certificate.lemmas)} there")
    told = _told(front, certificate, best)
    if certificate.status is not CertificateStatus.CERTIFIED:
        told += f"; {certificate.status.value} only"
    return Check("claim", True, told)


def _told(front: Front, certificate: Certificate, members: list[int]) -> str:
    epsilon = certificate.epsilon_ppm
    within = "" if epsilon == 0 else f" within {percent(epsilon)}"
    if len(certificate.objectives) > 1:
        reach = "complete" if epsilon == 0 else f"within {percent(epsilon)} of every point"
        return f"{reach}: {counted(len(members), 'member')}"
    objective = front.problem.objectives[
        objective_names(front.problem).index(certificate.objectives[0])
    ]
    value = f"{objective_value(objective, certificate.members[0][0]):.6f}"
    return f"member {members[0]} with {value} {objective_unit(objective)}{within}"


def _lemmas_hold(problem: Problem, certificate: Certificate) -> Check:
    names = objective_names(problem)
    assert certificate.epsilon_ppm is not None, "looked at with the claim"
    try:
        failures = check_lemmas(
            problem,
            certificate.lemmas,
            LemmaClaim(
                tuple(names.index(name) for name in certificate.objectives),
                certificate.members,
                certificate.epsilon_ppm,
                certificate.rates_mw,
            ),
        )
    except ResultError as error:
        return Check("lemmas", False, str(error))
    if failures:
        first = failures[0]
        return Check("lemmas", False, f"lemma {first.index}: {first.reason}")
    return Check("lemmas", True, f"{len(certificate.lemmas)} hold by the plain checker")


def _cover_holds(problem: Problem, name: str, files: ProofFiles) -> Iterator[Check]:
    try:
        anew = cover_smtlib(problem, files.certificate.lemmas)
    except ResultError as error:
        yield Check("formula", False, str(error))
        return
    if files.smtlib is None:
        yield Check("formula", False, f"{name}.smt2 is missing")
        return
    if files.smtlib != anew:
        yield Check("formula", False, f"{name}.smt2 is not what the lemmas and rules give")
        return
    yield Check("formula", True, f"{name}.smt2 is what the lemmas and rules give")
    result = prove_cover(anew, timeout_s=SOLVER_SECONDS)
    yield Check("cover", result.verdict == "unsat", f"{result.solver} says {result.verdict}")
    second = confirm_cover(anew, timeout_s=SOLVER_SECONDS)
    if second is None:
        yield Check("cover", True, "no second opinion: cvc5 is not installed (extra 'proofs')")
    else:
        yield Check("cover", second.verdict == "unsat", f"{second.solver} says {second.verdict}")
