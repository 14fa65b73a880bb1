"""Check the claims of a result folder without trusting the program that wrote it.

Everything is recomputed from ``problem.json``: members and trees by a checker that shares nothing
with the search, and the second opinion of solvers from a formula written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.dse.certificate.verify.checks import (
    SOLVER_SECONDS,
    Check,
    Checker,
    Verdict,
    fails,
    holds,
    not_checked,
)
from paretosoc.dse.certificate.verify.members import (
    check_members,
    claimed_periods_ps,
    overloaded_unit,
)
from paretosoc.dse.problem.int64_bounds import fits_int64
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    BOUNDS_FILE,
    CERTIFICATE,
    EPSILON,
    FRONT_FILE,
    PROBLEM_FILE,
    read_bounds,
    read_certificate,
    read_closed,
    read_costs,
    read_results,
    require_result_folder,
)
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import Certificate, CertificateStatus, ProofArtifacts
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import epsilon_ppm, percent
from paretosoc.results.front.front import CertificateSummary, Front
from paretosoc.results.front.own_view import (
    bounded_points,
    certified_points,
    check_declarations,
    images,
    shown_objectives,
)
from paretosoc.results.io.canonical_json import parse, sha256_of
from paretosoc.results.problem.objectives import kinds_by_name
from paretosoc.results.problem.own_objective import OWN_OBJECTIVES
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import describe_space

FAILED, NOT_ALL_CHECKED = 1, 4
"""Exit statuses."""
NOT_CLAIMED = (
    "Not claimed: how the result was reached, names of methods and solvers, where costs are from, "
    "pictures, report.html."
)
"""A sentence for people. docs/concepts/certificate.md has a table of all keys."""


def verify(
    folder: Path,
    *,
    ignore_hashes: bool = False,
    checker: Checker = Checker.FAST,
    solver_seconds: float = SOLVER_SECONDS,
    then: Callable[[Front], Iterator[Check]] = lambda front: iter(()),
    closed: bool = False,
) -> Iterator[Check]:
    """Check one claim after the other, and end with the first that fails.

    Args:
        ignore_hashes: check the claims of files that were changed.
        solver_seconds: for each claim that a solver is asked about again.
        then: further checks of the front.
        closed: the folder has a proof in place of a front (:mod:`results.export.result_folder`).

    Raises:
        ResultError: if there is no result folder.
    """
    require_result_folder(folder)
    checks = partial(_checks, solver_seconds=solver_seconds, then=then)
    for check in (_closed_checks if closed else checks)(
        folder, checker, check_hashes=not ignore_hashes
    ):
        yield check
        if check.verdict is Verdict.FAILS:
            return


def exit_status(checks: Sequence[Check]) -> int:
    """Return 0 if all claims hold, ``FAILED`` if one does not, else ``NOT_ALL_CHECKED``."""
    verdicts = {check.verdict for check in checks}
    if Verdict.FAILS in verdicts:
        return FAILED
    return NOT_ALL_CHECKED if Verdict.NOT_CHECKED in verdicts else 0


def summary(checks: Sequence[Check]) -> str:
    """Return the result of all checks as text, with a note on claims that are not made."""
    status = exit_status(checks)
    if status == FAILED:
        return f"Does not hold: {checks[-1].name}."
    if status == 0:
        return f"Holds. {NOT_CLAIMED}"
    open_ = ", ".join(check.name for check in checks if check.verdict is Verdict.NOT_CHECKED)
    if not any(check.holds for check in checks):
        return f"Not checked: {open_}."
    return f"Holds, except what was not checked: {open_}. {NOT_CLAIMED}"


def _checks(
    folder: Path,
    checker: Checker,
    *,
    solver_seconds: float,
    then: Callable[[Front], Iterator[Check]],
    check_hashes: bool,
) -> Iterator[Check]:
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
        bounds = read_bounds(folder, front.problem, check_hashes=check_hashes)
        read_costs(folder, front.problem, check_hashes=check_hashes)
    except ResultError as error:
        missing = _missing_objective(folder, check_hashes=check_hashes)
        yield not_checked("files", missing) if missing else fails("files", str(error))
        return
    hashes = "hashes, " if check_hashes else ""
    yield holds("files", f"schemas, {hashes}{len(front.members)} non-dominated members")
    if not check_hashes:
        yield not_checked("hashes", as_written("ignore_hashes", value=True))
    yield from _rates_hold(front)
    compiled = not _is_plain(front.problem, LemmaTarget((), ()), checker)
    yield _members_hold(front, compiled=compiled)
    if front.baselines:
        yield _baselines_hold(front, compiled=compiled)
    if front.problem.of_parts is not front.problem:
        artifacts = [files for _, _, files in proofs]
        yield _declarations_hold(front, artifacts, bounds, compiled=compiled)
    if front.bounds is not None or bounds is not None:
        from paretosoc.dse.certificate.verify.solvers import wrong_bounds

        wrong = wrong_bounds(front, front.bounds, bounds, compiled=compiled)
        yield fails("bounds", wrong) if wrong else _describe_bounds(front)
    elif all(claim is None and files is None for _, claim, files in proofs):
        yield holds("certificate", "there is none, and none is claimed")
    for name, claim, files in proofs:
        if claim is None and files is None:
            continue
        if claim is None or files is None:
            missing = "front.json" if claim is None else f"{name}.json"
            yield fails(name, f"{missing} does not have it")
            return
        yield from _proof_holds(front, name, claim, files, checker, solver_seconds)
    yield from then(front)


def _closed_checks(folder: Path, checker: Checker, *, check_hashes: bool) -> Iterator[Check]:
    from paretosoc.dse.certificate.verify.solvers import open_corner
    from paretosoc.fitness.check.boxes.check import CheckedBounds

    try:
        closed = read_closed(folder, check_hashes=check_hashes)
    except ResultError as error:
        yield fails("files", str(error))
        return
    proof = closed.proof
    if not isinstance(proof, BoundProof):
        certificate = proof.certificate
        if certificate.status is not CertificateStatus.CERTIFIED or certificate.epsilon_ppm != 0:
            yield fails("claim", f"{CERTIFICATE}.json: must be certified, with epsilon_ppm 0")
            return
        yield _tree_holds(closed.problem.proved_in(certificate.objectives), proof, checker)
        return
    problem = closed.problem.proved_in(proof.objectives)
    compiled = not _is_plain(problem, LemmaTarget((), ()), checker)
    try:
        wrong = open_corner(CheckedBounds(problem, proof, compiled=compiled), proof)
    except ResultError as error:
        wrong = f"{BOUNDS_FILE}: {error}"
    corners = pluralize(len(proof.region), "corner")
    yield fails("bounds", wrong) if wrong else holds("bounds", f"{corners} without design points")


def _missing_objective(folder: Path, *, check_hashes: bool) -> str | None:
    """Return a sentence about an objective that no installed package has, if the problem is the
    front's."""
    try:
        data = (folder / PROBLEM_FILE).read_bytes()
        front: Any = parse((folder / FRONT_FILE).read_bytes())
        problem: Any = parse(data)
        if check_hashes and front["problem_sha256"] != sha256_of(data):
            return None
        known = {*kinds_by_name(), *OWN_OBJECTIVES.names()}
        for entry in problem["objectives"]:
            if entry["kind"] not in known:
                group = OWN_OBJECTIVES.group
                return f"the objective {entry['kind']} is not installed (entry point {group})"
    except (OSError, ResultError, LookupError, TypeError):
        pass
    return None


def _describe_bounds(front: Front) -> Check:
    claim = front.bounds
    assert claim is not None
    size = f"{pluralize(claim.boxes, 'box', 'boxes')} checked in integers"
    if claim.simulated:
        size = f"{pluralize(claim.simulated, 'design point')} of the space simulated"
    reach = f"within {percent(claim.epsilon_ppm)} of every point"
    if claim.epsilon_ppm == 0:
        reach = "complete"
    scope = _scope(front.problem, claim.objectives)
    return holds("bounds", f"{reach}{scope}: {size}")


def _scope(problem: Problem, objectives: Sequence[str]) -> str:
    """Return the objectives that a claim is about as text, empty if it is about all."""
    return "" if len(objectives) == len(problem.objectives) else f" in {', '.join(objectives)}"


def _proof_holds(
    front: Front,
    name: str,
    claim: CertificateSummary,
    files: ProofArtifacts,
    checker: Checker,
    solver_seconds: float,
) -> Iterator[Check]:
    from paretosoc.dse.certificate.verify.solvers import cover_holds, formulation_holds, target_of

    certificate = files.certificate
    yield _claim_holds(front, name, claim, certificate)
    if certificate.status is CertificateStatus.GAP:
        yield holds("search", "nothing is claimed: it was ended before")
        return
    problem = front.problem.proved_in(certificate.objectives)
    tree = _tree_holds(problem, files, checker)
    yield tree
    if tree.verdict is not Verdict.HOLDS:
        return
    if certificate.solvers:
        plain = _is_plain(problem, target_of(problem, certificate), checker)
        yield from cover_holds(problem, name, files, plain=plain, seconds=solver_seconds)
    elif files.smtlib is not None:
        yield fails("formula", f"{name}.smt2 is there, but {name}.json names no solver")
    if certificate.formulation is not None:
        yield formulation_holds(front, certificate.formulation, seconds=solver_seconds)


def _rates_hold(front: Front) -> Iterator[Check]:
    """Check that no claimed rate is above the units' capacity. Yield nothing if none is."""
    points = [(f"member {i}", member) for i, member in enumerate(front.members)]
    points += [(point.name, point.member) for point in front.baselines]
    claims = [(name, m) for name, m in points if claimed_periods_ps(front.problem, m)]
    for name, member in claims:
        wrong = overloaded_unit(front.problem, member)
        if wrong is not None:
            yield fails("rates", f"{name}: {wrong}")
            return
    if claims:
        yield holds("rates", "times loads are at most 1 on every unit")


def _members_hold(front: Front, *, compiled: bool) -> Check:
    """Check every member's objectives, energy and constraints."""
    claims = [(member, ()) for member in front.members]
    found = check_members(front.problem, claims, compiled=compiled)
    for index, wrong in enumerate(found):
        if wrong is not None:
            return fails("members", f"member {index}: {wrong}")
    return holds(
        "members", f"{len(front.members)} replayed: objectives, energy, latencies, constraints"
    )


def _baselines_hold(front: Front, *, compiled: bool) -> Check:
    """Check the baselines, which must break the constraints that they state, and no others."""
    claims = [(point.member, point.breaks) for point in front.baselines]
    found = check_members(front.problem, claims, compiled=compiled)
    for point, wrong in zip(front.baselines, found, strict=True):
        if wrong is not None:
            return fails("baselines", f"{point.name}: {wrong}")
    detail = (
        f"{len(front.baselines)} replayed: objectives, energy, latencies, limits that they break"
    )
    if front.provenance.single_decision:
        detail += f"; {front.provenance.engine} may be behind them"
    elif front.robust is None:
        values = front.objective_array
        for point in front.baselines:
            reached = (values <= np.array(point.member.objectives, dtype=np.int64)).all(axis=1)
            if not point.breaks and not reached.any():
                why = "keeps all constraints, but no member is as good"
                return fails("baselines", f"{point.name}: {why}")
    return holds("baselines", detail)


def _declarations_hold(
    front: Front,
    proofs: Sequence[ProofArtifacts | None],
    bounds: BoundProof | None,
    *,
    compiled: bool,
) -> Check:
    """Check monotone objectives of a user's own at the figures of all members and proofs."""
    problem = front.problem.of_parts
    names = problem.objective_names
    found = [
        (files.certificate.objectives, certified_points(files.certificate))
        for files in proofs
        if files is not None
    ]
    if bounds is not None:
        found.append((bounds.objectives, bounded_points(bounds)))
    tables = [
        points[:, [of.index(name) for name in names]]
        for of, points in found
        if set(of) == set(names)
    ]
    for member in front.members:
        outcome = plain_outcome(problem, member.design, compiled=compiled)
        tables.append(np.array([outcome.objectives], dtype=np.int64))
    figures = np.concatenate(tables)
    try:
        check_declarations(front.problem, figures)
    except ResultError as error:
        return fails("monotone", str(error))
    count = pluralize(len(figures), "point")
    return holds("monotone", f"own objectives keep to it at the figures of {count}")


def _claim_holds(
    front: Front, name: str, claim: CertificateSummary, certificate: Certificate
) -> Check:
    """Check that the front's claim is the certificate's, of this space, and about the members that
    are best in its objectives."""

    def wrong(why: str) -> Check:
        return fails("claim", f"{name}.json: {why}")

    problem = front.problem
    shown = shown_objectives(problem, certificate.objectives)
    if shown is None or len(set(certificate.objectives)) != len(certificate.objectives):
        return wrong(f"objectives: {', '.join(certificate.objectives)} are not the problem's")
    if claim.objectives != shown:
        return wrong("objectives: front.json says something else")
    names = problem.objective_names
    columns = [names.index(entry) for entry in shown]
    if not front.members:
        return wrong("there are no members")
    values = front.objective_array[:, columns]
    best = non_dominated(values).tolist()
    is_seen, epsilon = shown != certificate.objectives, certificate.epsilon_ppm
    if is_seen and epsilon is not None:
        bounds = images(problem, certificate.objectives, certified_points(certificate))
        epsilon = epsilon_ppm(values[best], bounds)
    for what, stated, proved in (
        ("status", claim.status, certificate.status),
        ("epsilon_ppm", claim.epsilon_ppm, epsilon),
        ("solvers", claim.solvers, certificate.solvers),
        ("formulation", claim.formulation, certificate.formulation),
        ("lemmas", claim.lemmas, certificate.lemmas),
        ("nodes", claim.nodes, certificate.nodes),
        ("space", claim.space, describe_space(problem)),
    ):
        if stated != proved:
            return wrong(f"{what}: front.json says something else")
    gap = certificate.status is CertificateStatus.GAP
    if name == EPSILON and len(columns) != len(names) and not gap:
        return wrong("objectives: all are required")
    if list(claim.members) != best:
        return wrong(f"members: those that no other beats are {best}, not {list(claim.members)}")
    if not is_seen and certificate.members != tuple(map(tuple, values[best].tolist())):
        return wrong("members: their values are other ones")
    if gap != (certificate.epsilon_ppm is None):
        return wrong("a search that is complete has an epsilon, one that was ended claims nothing")
    is_of_all = name == CERTIFICATE and len(certificate.objectives) > 1
    if not gap and is_of_all and certificate.epsilon_ppm != 0:
        return wrong(f"epsilon_ppm must be 0, got {certificate.epsilon_ppm}")
    if certificate.epsilon_ppm != 0 and certificate.formulation is not None:
        return wrong("formulation: nothing is claimed, and this is")
    detail = _describe_claim(front, claim, best)
    if is_seen:
        points = pluralize(len(certificate.members), "point")
        detail += f", by {points} in {', '.join(certificate.objectives)}"
    if certificate.status is not CertificateStatus.CERTIFIED:
        detail += f"; {certificate.status.value} only"
    return holds("claim", detail)


def _describe_claim(front: Front, claim: CertificateSummary, members: list[int]) -> str:
    epsilon = claim.epsilon_ppm
    if len(claim.objectives) > 1:
        reach = "complete" if epsilon == 0 else f"within {percent(epsilon)} of every point"
        reach += _scope(front.problem, claim.objectives)
        return f"{reach}: {pluralize(len(members), 'member')}"
    column = front.problem.objective_names.index(claim.objectives[0])
    objective = front.problem.objectives[column]
    value = f"{objective.shown(front.members[members[0]].objectives[column]):.6f}"
    reach = f"within {percent(epsilon)}: " if epsilon else ""
    return f"{reach}member {members[0]} with {value} {objective.unit}"


def _is_plain(problem: Problem, target: LemmaTarget, checker: Checker) -> bool:
    """Return whether the plain checker is used: on request, or if the compiled one cannot be."""
    return checker is Checker.PLAIN or not fits_int64(problem, target)


def _tree_holds(problem: Problem, files: ProofArtifacts, checker: Checker) -> Check:
    """Check that the tree proves the claim."""
    from paretosoc.dse.certificate.verify.solvers import target_of

    tree, certificate = files.tree, files.certificate
    if tree.leaves != certificate.lemmas:
        return fails("tree", f"has {tree.leaves} lemmas, not {certificate.lemmas}")
    if certificate.status is CertificateStatus.CERTIFIED and not tree.is_complete:
        return fails("tree", "has open parts, but is said to be complete")
    target = target_of(problem, certificate)
    try:
        plain = _is_plain(problem, target, checker)
        fault = check_tree(problem, tree, target, plain=plain).fault
    except ResultError as error:
        return fails("tree", str(error))
    except MemoryError:
        return not_checked("tree", "its check needs more memory than there is")
    if fault is not None:
        return fails("tree", fault)
    detail = f"{pluralize(tree.leaves, 'lemma')} of {pluralize(tree.nodes, 'node')} hold"
    return holds(
        "tree", f"{detail}, nothing is left out, by the {'plain' if plain else 'fast'} checker"
    )
