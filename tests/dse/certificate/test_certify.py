"""From explored fronts to certificates, on spaces small enough to enumerate."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate import strategy
from paretosoc.dse.certificate.certify import Limits, prove
from paretosoc.dse.certificate.cover import smtlib as smt_cover
from paretosoc.dse.certificate.improve import find_fastest
from paretosoc.dse.certificate.preconditions import certified_column
from paretosoc.dse.certificate.verify import verify as verifying
from paretosoc.dse.certificate.verify.verify import exit_status
from paretosoc.dse.errors import InternalError
from paretosoc.dse.space.members import make_members
from paretosoc.dse.workload.options import Options
from paretosoc.fitness.check.tree import TreeReport
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_certificate, read_results, write_results
from paretosoc.results.front.certificate import (
    Certificate,
    CertificateStatus,
    ProofArtifacts,
    certificate_bytes,
    certificate_from_bytes,
)
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_check import check_front
from paretosoc.results.front.proof_tree import (
    PART,
    POWER_LIMIT,
    ProofTree,
    tree_bytes,
    tree_from_bytes,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.space_description import describe_space
from tests.support.explored import explore
from tests.support.problems.random_spaces import NOTHING, space_of

NETWORKS = ["squeezenet", "bvlc_alexnet"]
PAIR = (*NETWORKS, "-p", "jetson-agx-xavier", "--units", "gpu,dla0", "--groups", "4")
SEARCH = ("--fix", "emc=max", "--max-evaluations", "2000", "-q")
OPTIONS = Options(units=("gpu", "dla0"), groups=4, fixed=(("emc", "max"),))


def optimum_of(front: Front) -> int:
    """The first objective's smallest value over the whole space."""
    best = int(space_of(front.problem).value.min())
    assert best < NOTHING
    return best


def without_fastest(front: Front) -> Front:
    return replace(front, members=front.members[1:])


@dataclass(frozen=True)
class Done:
    """A front whose fastest was proved, and the proof."""

    front: Front
    files: ProofArtifacts

    @property
    def certificate(self) -> Certificate:
        return self.files.certificate

    @property
    def smtlib(self) -> str | None:
        return self.files.smtlib

    @property
    def optimum(self) -> int:
        return self.certificate.optimum

    @property
    def bound(self) -> int:
        assert self.certificate.bound is not None
        return self.certificate.bound


def proved(
    front: Front,
    *,
    nodes: int | None = None,
    earlier: ProofArtifacts | None = None,
) -> Done:
    column = certified_column(front.problem)
    assert column is not None
    done = prove(front, (column,), limits=Limits(nodes), earlier=earlier)
    front = replace(done.front, certificate=done.claim)
    return Done(front, done.files)


def through_file(front: Front, files: ProofArtifacts) -> ProofArtifacts:
    return replace(
        files,
        certificate=certificate_from_bytes(certificate_bytes(files.certificate), front.problem),
        tree=tree_from_bytes(tree_bytes(files.tree)),
    )


@pytest.fixture(scope="module")
def front() -> Front:
    """Explored, not yet certified."""
    return explore(NETWORKS, "jetson-agx-xavier", options=OPTIONS, max_evaluations=2000)


@pytest.fixture(scope="module")
def slow_front(front: Front) -> Front:
    """Its lowest energy member alone: the search has much to find."""
    return replace(front, members=front.members[-1:])


def test_a_member_outside_the_space_is_refused(front: Front) -> None:
    """At a clock that may not be chosen: what is better than it would be looked for in vain."""
    points = front.members[0].design.operating_points
    domains = list(front.problem.domains)
    d = next(d for d, domain in enumerate(domains) if domain.allowed.sum() > 1)
    allowed = domains[d].allowed.copy()
    allowed[points[d]] = False
    domains[d] = replace(domains[d], allowed=allowed)
    narrower = replace(front, problem=replace(front.problem, domains=tuple(domains)))
    with pytest.raises(ResultError, match=r"member 0: must be a design point of the problem"):
        prove(narrower, (0,))


def test_a_front_is_certified(front: Front) -> None:
    done = proved(front)
    claim = done.front.certificate
    assert claim is not None
    assert claim.space == describe_space(front.problem)
    assert claim.status is done.certificate.status is CertificateStatus.CERTIFIED
    best = optimum_of(front)
    assert done.optimum == done.bound == best
    assert (claim.epsilon_ppm, claim.objectives, claim.members) == (0, ("latency_ps",), (0,))
    assert done.front.members[claim.members[0]].objectives[0] == best
    assert find_fastest(front.problem).best_value == best
    assert claim.lemmas == done.certificate.lemmas == done.files.tree.leaves > 50
    assert claim.solvers == done.certificate.solvers
    assert len(claim.solvers) == 1
    assert done.smtlib is not None
    assert smt_cover.prove_cover(done.smtlib).verdict == "unsat"
    assert "gpu at any of 14 clocks" in claim.space
    check_front(done.front)


def test_the_fastest_comes_back_and_what_it_dominates_goes(front: Front, slow_front: Front) -> None:
    for start in (without_fastest(front), slow_front):
        done = proved(start)
        best = optimum_of(front)
        assert start.members[0].objectives[0] > best
        assert done.certificate.status is CertificateStatus.CERTIFIED
        assert done.front.certificate is not None
        assert done.front.certificate.members == (0,)
        assert done.front.members[0].objectives[0] == best
        check_front(done.front)
        found = {m.objectives for m in done.front.members} - {m.objectives for m in start.members}
        assert found == {done.front.members[0].objectives}
        kept = {m.objectives for m in start.members} & {m.objectives for m in done.front.members}
        values = np.array([*kept, *found], dtype=np.int64)
        assert len(non_dominated(values)) == len(values)
        better = done.front.members[0].objectives
        for member in start.members:
            dominated = all(a <= b for a, b in zip(better, member.objectives, strict=True))
            assert (member.objectives in kept) != dominated


def test_members_that_the_better_one_dominates_go(front: Front) -> None:
    """A front of one slow and wasteful design point has only the better one at the end."""
    space = space_of(front.problem)
    outcomes = make_outcomes(front.problem)(space.rows)
    worst = int(np.argmax(outcomes.objectives.astype(float).prod(axis=1)))
    members = make_members(front.problem, space.rows[worst][None], outcomes.objectives[worst][None])
    done = proved(replace(front, members=members))
    assert len(done.front.members) == 1
    assert done.front.members[0].objectives[0] == optimum_of(front)
    assert members[0].objectives not in {m.objectives for m in done.front.members}


def test_ended_early_and_gone_on_through_the_file(
    slow_front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = proved(slow_front)
    monkeypatch.setattr(exact_search, "SLICE_NODES", 50)
    best = optimum_of(slow_front)
    done = proved(slow_front, nodes=50)
    bounds: list[int] = []
    while done.certificate.status is CertificateStatus.GAP:
        assert done.smtlib is None
        assert done.certificate.solvers == ()
        assert done.front.certificate is not None
        assert done.front.certificate.status is CertificateStatus.GAP
        assert done.certificate.nodes == 50 * (len(bounds) + 1)
        assert done.bound <= best <= done.optimum
        assert done.optimum == min(m.objectives[0] for m in done.front.members)
        bounds.append(done.bound)
        earlier = through_file(done.front, done.files)
        done = proved(done.front, nodes=50, earlier=earlier)
    assert len(bounds) > 5
    # Bounds rise, but for whole millionths of better and better members.
    assert all(later > bound - 2 - bound // 10**6 for bound, later in pairwise(bounds))
    assert done.certificate.status is CertificateStatus.CERTIFIED
    assert done.optimum == done.bound == best
    # Several open subtrees are searched in turn, with members that are found a little later. That
    # costs some ten nodes each time, however large the tree is.
    assert done.certificate.nodes < whole.certificate.nodes + 12 * len(bounds)
    assert done.front.members[0].objectives == whole.front.members[0].objectives


@pytest.fixture
def ended(front: Front, monkeypatch: pytest.MonkeyPatch) -> ProofArtifacts:
    """Return the proof of a search that was ended after 100 nodes."""
    monkeypatch.setattr(exact_search, "SLICE_NODES", 50)
    files = proved(front, nodes=100).files
    assert not files.tree.is_complete
    return files


def test_no_search_goes_on_from_another_problem_or_from_a_tree_that_is_wrong(
    front: Front, ended: ProofArtifacts
) -> None:
    foreign = replace(ended, certificate=replace(ended.certificate, problem_sha256="0" * 64))
    wrong = replace(ended, tree=ProofTree(tuple(part[1:] for part in ended.tree.parts)))
    for files, nodes in ((ended, 150), (foreign, 50), (wrong, 50)):
        assert proved(front, nodes=50, earlier=files).certificate.nodes == nodes


def test_the_seconds_of_a_search_that_went_on_are_those_of_all_its_nodes(
    front: Front, ended: ProofArtifacts
) -> None:
    slow = replace(ended, certificate=replace(ended.certificate, search_seconds=1000.0))
    assert proved(front, nodes=1, earlier=slow).certificate.search_seconds > 1000.0


def test_a_search_goes_on_without_the_check_of_what_is_closed_which_comes_at_the_end(
    front: Front, ended: ProofArtifacts
) -> None:
    parts = [part.copy() for part in ended.tree.parts]
    for part in parts:
        part[part > PART] = POWER_LIMIT
    wrong = replace(ended, tree=ProofTree(tuple(parts)))
    assert proved(front, nodes=50, earlier=wrong).certificate.nodes == 150
    with pytest.raises(ResultError, match="certificate: the earlier tree does not hold"):
        proved(front, earlier=wrong)


@pytest.mark.parametrize("limit", ["MAX_COVERED", "MAX_LEMMAS"])
def test_a_large_tree_gets_no_second_opinion(
    front: Front, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    whole = proved(front)
    monkeypatch.setattr(f"paretosoc.dse.certificate.certify.{limit}", 50)
    done = proved(front)
    assert done.certificate.status is CertificateStatus.CERTIFIED
    assert done.optimum == done.bound == optimum_of(front)
    assert (done.certificate.solvers, done.certificate.cover_seconds, done.smtlib) == (
        (),
        None,
        None,
    )
    assert done.certificate.lemmas == whole.certificate.lemmas
    assert done.certificate.tree_sha256 == whole.certificate.tree_sha256


def test_a_tree_that_does_not_hold_is_reported(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = TreeReport("part 0: node 7 is not closed by members", {})
    monkeypatch.setattr("paretosoc.dse.certificate.certify.check_tree", lambda *_, **__: report)
    with pytest.raises(InternalError, match="does not hold: part 0: node 7"):
        proved(front)


def test_lemmas_that_leave_a_point_out_are_reported(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_over = front.members[-1].design
    answer = smt_cover.CoverResult("sat", "z3 0", 1.5, left_over)
    monkeypatch.setattr("paretosoc.dse.certificate.certify.prove_cover", lambda *_, **__: answer)
    with pytest.raises(InternalError, match="leave out a design point"):
        proved(front)


def test_a_solver_without_an_answer_is_not_named(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = smt_cover.CoverResult("unknown", "z3 0", 1.5)
    monkeypatch.setattr("paretosoc.dse.certificate.certify.prove_cover", lambda *_, **__: answer)
    done = proved(front)
    assert done.certificate.status is CertificateStatus.CERTIFIED
    assert done.certificate.solvers == ()
    assert done.certificate.cover_seconds is not None
    assert done.smtlib is None


def test_the_sum_of_rates_is_certified(tmp_path: Path) -> None:
    options = replace(OPTIONS, objectives=("inverse-latency", "energy"))
    front = explore(NETWORKS, "jetson-agx-xavier", options=options, max_evaluations=2000)
    assert certified_column(front.problem) == 0
    best = optimum_of(front)
    for start in (front, without_fastest(front)):
        done = proved(start)
        assert done.certificate.status is CertificateStatus.CERTIFIED
        assert done.certificate.objectives == ("negative_rate_sum_uhz",)
        assert done.optimum == done.front.members[0].objectives[0] == best < 0
    folder = tmp_path / "rates"
    write_results(
        folder,
        done.front,
        certificate=done.files,
        pictures=False,
    )
    checks = list(verifying.verify(folder))
    assert exit_status(checks) == 0, checks
    assert any("inferences/s" in check.detail for check in checks)


def test_what_is_certified(front: Front) -> None:
    problem = front.problem

    def with_objectives(*objectives: Objective) -> int | None:
        return certified_column(replace(problem, objectives=objectives))

    latency = Objective(ObjectiveKind.LATENCY)
    rates, energy = Objective(ObjectiveKind.INVERSE_LATENCY), Objective(ObjectiveKind.ENERGY)
    assert with_objectives(energy, rates, latency) == 2
    assert with_objectives(energy, rates) == 1
    assert with_objectives(energy, Objective(ObjectiveKind.LATENCY, 0)) is None
    assert with_objectives(energy) is None


def test_bounds_of_a_pipeline_under_a_power_cap(dse: Any, tmp_path: Path) -> None:
    folder = tmp_path / "capped"
    done = dse(
        *("explore", *PAIR, *SEARCH, "-o", folder, "--power-cap", "40"),
        *("--objective", "latency", "--objective", "throughput"),
    )
    assert (done.status, done.err) == (0, "")
    front = read_results(folder)
    assert front.certificate is None
    assert front.bounds is not None
    checked = dse("verify", folder)
    assert checked.status == 0
    assert "bounds: within" in checked.out
    again = dse("certify", folder)
    assert again.status == 0
    assert "no throughput is above" in again.out


def test_where_there_is_no_bound(dse: Any, tmp_path: Path) -> None:
    folder = tmp_path / "stretch"
    done = dse("explore", *PAIR, *SEARCH, "-o", folder, "--objective", "stretch")
    assert done.status == 0
    words = "the exact search has no bound on the objective stretch of one frame alone"
    assert f"not certified: {words}" in done.err
    assert "there is none, and none is claimed" in dse("verify", folder).out
    refused = dse("certify", folder)
    assert refused.status == 2
    assert "no bound on the objective stretch" in refused.err
    assert "Traceback" not in refused.err


def test_certify_and_verify_from_the_command_line(
    dse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pair"
    assert dse("explore", *PAIR, *SEARCH, "--max-nodes", "0", "-o", folder).status == 0
    assert read_results(folder).certificate is None
    assert dse("verify", folder).status == 0
    costs = (folder / "costs.json").read_bytes()

    monkeypatch.setattr(exact_search, "SLICE_NODES", 50)
    ended = dse("certify", folder, "--fastest", "--max-nodes", "50")
    assert ended.status == 0
    assert re.match(r"within [\d.]+ %: no design point is faster than member 0 \(2.37", ended.out)
    assert "gap: the search for a design point that is faster than member 0 (2.37" in ended.out
    checked = dse("verify", folder)
    assert checked.status == 0
    assert re.search(r"holds +claim: within [\d.]+ %: member 0 with 2.37", checked.out)
    assert "search: nothing is claimed" in checked.out

    assert dse("report", folder).status == 0
    done = dse("certify", folder, "--fastest")
    assert done.status == 0
    kept = (folder / "report.html").read_bytes()
    assert dse("report", folder).status == 0
    assert (folder / "report.html").read_bytes() == kept
    assert done.out.startswith("certified: no design point is faster than member 0 (2.37")
    assert (folder / "costs.json").read_bytes() == costs
    front = read_results(folder)
    found = read_certificate(folder, front.problem)
    assert found is not None
    assert found.certificate.status is CertificateStatus.CERTIFIED
    assert found.certificate.members[0][0] == optimum_of(front)
    checked = dse("verify", folder)
    assert checked.status == 0
    *lines, last = checked.out.splitlines()
    assert {line.split()[0] for line in lines} == {"holds"}
    assert last.startswith("Holds. Not claimed: how the result was reached")

    # The claim is still there, but not what it rests on.
    (folder / "certificate.json").unlink()
    assert dse("verify", folder).status == 1
    assert dse("certify", folder, "--fastest").status == 0
    assert dse("verify", folder).status == 0

    table = dse("verify", folder, "--json")
    assert table.status == 0
    assert [row["check"] for row in json.loads(table.out)][:6] == [
        *("files", "members", "baselines", "claim", "tree", "formula")
    ]
    solver = subprocess.run(
        [smt_cover._z3_program(), str(folder / "certificate.smt2")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (solver.returncode, solver.stdout.strip()) == (0, "unsat")

    (folder / "certificate.smt2").write_text("(check-sat)\n")
    refused = dse("verify", folder)
    assert refused.status == 1
    *_, failed, last = refused.out.splitlines()
    assert failed.startswith("FAILS        formula:")
    assert last == "Does not hold: formula."
    refused = dse("verify", folder, "--json")
    assert refused.status == 1
    assert json.loads(refused.out)[-1]["verdict"] == "fails"


def test_equations_that_show_nothing_end_with_a_status(
    dse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pair"
    pair = (*PAIR, "--runtime", "none")
    assert dse("explore", *pair, *SEARCH, "--max-nodes", "0", "-o", folder).status == 0
    with monkeypatch.context() as small:
        small.setattr(exact_search, "SLICE_NODES", 50)
        ended = dse("certify", folder, "--formulation", "--max-nodes", "50")
    assert ended.status == 4
    assert ended.out.startswith("within ")
    assert "gap: " in ended.out
    said = "HaX-CoNN's equations show nothing: no member is certified as the fastest"
    assert said in " ".join(ended.err.split())
    monkeypatch.setattr(strategy, "FEW_PARTS", 2)
    assert dse("certify", folder, "--fastest").status == 0
    assert dse("report", folder).status == 0
    late = dse("certify", folder, "--formulation", "--time-limit", "0.001")
    assert late.status == 4
    # The proof is the one that the page has.
    assert (folder / "report.html").exists()
    assert "ended after 0 questions by the time limit" in " ".join(late.err.split())
    done = dse("certify", folder, "--formulation")
    assert done.status == 0
    assert "HaX-CoNN's equations: " in done.err
    late = dse("verify", folder, "--time-limit", "0.001")
    assert late.status == 4
    assert "(--time-limit)" in late.out
    other = tmp_path / "energy"
    only = ("--objective", "energy", "--max-nodes", "0")
    assert dse("explore", *pair, *SEARCH, *only, "-o", other).status == 0
    for option in ("--formulation", "--fastest"):
        refused = dse("certify", other, option)
        assert refused.status == 2
        assert "no member can be certified as the fastest: latency" in refused.err
        assert refused.err.endswith("got energy\n")


def test_where_there_is_no_result_folder_verify_refuses_the_input(dse: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("nowhere", "there is no such folder"),
        ("file", "the folder of a result is required, got a file; 'dse explore' writes one"),
        ("empty", "the folder of a result is required, it has no front.json"),
    ):
        for command in (("verify",), ("verify", "--ignore-hashes"), ("verify", "--json")):
            refused = dse(*command, tmp_path / name)
            assert refused.status == 2
            assert refused.err == f"dse: {tmp_path / name}: {said}\n"
            assert refused.out == ""


def test_a_certified_row_is_what_the_search_found(slow_front: Front) -> None:
    done = proved(slow_front)
    result = find_fastest(slow_front.problem)
    assert result.best is not None
    mine = done.front.members[0].design.row[None]
    theirs = result.best.row[None]
    evaluate = make_outcomes(slow_front.problem)
    assert evaluate(mine).objectives[0, 0] == evaluate(theirs).objectives[0, 0]
