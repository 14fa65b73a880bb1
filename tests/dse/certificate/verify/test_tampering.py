"""Result folders whose claims somebody changed: verify refuses every false one."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.certify import Limits, prove
from paretosoc.dse.certificate.verify import solvers
from paretosoc.dse.certificate.verify import verify as verifying
from paretosoc.dse.certificate.verify.checks import Checker, Verdict
from paretosoc.dse.certificate.verify.verify import FAILED, exit_status
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_document import front_to_document
from paretosoc.results.front.proof_tree import PART
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.results.problem.problem_file import problem_from_document
from paretosoc.results.text.space_description import describe_space
from tests.support.proofs.changed_trees import change_tree
from tests.support.proofs.tampered_folder import Files, files_in, judge


def test_changed_trees(files: Files) -> None:
    random_ = random.Random(1)
    seen: Counter[str] = Counter()
    for _ in range(50):
        changed = files.copy()
        change_tree(random_, changed.tree)
        lemmas = sum(kind > PART for part in changed.tree for kind in part)
        for claim in (changed.front["certificate"], changed.certificate):
            claim["lemmas"] = lemmas
        judge(seen, changed)
    assert seen["false"] > 15, seen
    assert seen["tree"] > 25, seen
    assert seen["holds"] > 0, seen


@pytest.mark.parametrize("names", [("front",), ("certificate",), ("front", "certificate")])
def test_another_claim_is_refused(files: Files, names: tuple[str, ...]) -> None:
    """Members, epsilon and objectives, in one file or in both."""
    random_ = random.Random(4)
    seen: Counter[str] = Counter()
    for _ in range(40):
        changed = files.copy()
        index = random_.randrange(len(changed.certificate["members"]))
        change = random_.choice([-1, 1, -1000, 10**6, -(10**9), 10**18])
        how = random_.randrange(5)
        for name in names:
            is_proof = name == "certificate"
            claim = changed.certificate if is_proof else changed.front["certificate"]
            if how == 0:
                claim["epsilon_ppm"] = abs(change)
            elif how == 1:
                claim["objectives"] = claim["objectives"][::-1]
            elif how == 2:
                claim["objectives"] = claim["objectives"][:1]
            elif how == 3:
                del claim["members"][index]
            elif is_proof:
                claim["members"][index][random_.randrange(2)] += change
            else:
                claim["members"][index] += 1
        judge(seen, changed)
    assert seen["true"] == 0, seen


def test_changed_members(files: Files) -> None:
    random_ = random.Random(2)
    seen: Counter[str] = Counter()
    for _ in range(40):
        changed = files.copy()
        member = random_.choice(changed.front["members"])
        change = random_.choice([-1, 1, 10**6, -(10**6)])
        match random_.randrange(6):
            case 0:
                name = random_.choice(list(member["objectives"]))
                member["objectives"][name] += change
            case 1:
                member["objectives"]["latency_ps"] += change
                member["makespan_ps"] += change
                latencies = member["latencies_ps"]
                latencies[max(latencies, key=latencies.__getitem__)] += change
            case 2:
                member["objectives"]["energy_fj"] += change
                member["energy_fj"] += change
            case 3:
                network = random_.choice(list(member["mapping"]))
                units = member["mapping"][network]
                g = random_.randrange(len(units))
                units[g] = "gpu" if units[g] == "dla0" else "dla0"
            case 4:
                latencies = member["latencies_ps"]
                latencies[min(latencies, key=latencies.__getitem__)] += change
            case 5:
                energy = member["energy_by_unit_fj"]
                name = random_.choice([name for name in energy if energy[name]])
                energy[name] = random_.choice([0, energy[name] // 2, energy[name] - 1])
        judge(seen, changed)
        assert changed.falsehood is not None
    assert seen["members"] > 3, seen
    assert seen["files"] > 3, seen


def test_members_taken_away_or_another_one_named(files: Files) -> None:
    for index in range(len(files.front["members"])):
        changed = files.copy()
        del changed.front["members"][index]
        judge(Counter(), changed)
    for index in range(len(files.front["members"])):
        # The proof follows: its tree needs the member.
        changed = files.copy()
        changed.front["baselines"] = []
        del changed.front["members"][index]
        del changed.certificate["members"][index]
        changed.front["certificate"]["members"].pop()
        assert changed.falsehood == "a design point is better"
        failing = changed.failing()
        assert failing is not None
        assert failing.name == "tree"
    for change in (
        lambda front, _: front.update(members=[]),
        lambda front, _: front["certificate"].update(solvers=[]),
        lambda front, _: front["certificate"].update(space="another space"),
        lambda front, proof: front["certificate"].update(lemmas=proof["lemmas"] + 1),
    ):
        changed = files.copy()
        change(changed.front, changed.certificate)
        failing = changed.failing()
        assert failing is not None
        assert failing.name in ("files", "claim", "baselines")


def test_other_figures_and_limits_of_a_baseline(files: Files) -> None:
    """Each is a method's schedule; what it breaks is what it breaks."""
    broken = [point for point in files.front["baselines"] if point["breaks"]]
    assert broken, "there must be some"
    assert len(broken) < len(files.front["baselines"])
    names = ["transitions of squeezenet", "transitions of bvlc_alexnet", "power", "gap"]
    refused = 0
    for index, point in enumerate(files.front["baselines"]):
        really = point["breaks"]
        for breaks in ([], *([name] for name in names), really * 2, [*really, "power"]):
            changed = files.copy()
            changed.front["baselines"][index]["breaks"] = breaks
            failing = changed.failing()
            assert (failing is None) == (breaks == really), (breaks, really)
            refused += failing is not None and failing.name == "baselines"
        changed = files.copy()
        changed.front["baselines"][index]["point"]["energy_by_unit_fj"]["gpu"] -= 1
        judge(Counter(), changed)
        assert changed.falsehood is not None
    assert refused > 20


def test_costs_lowered_and_everything_else_made_to_fit(files: Files) -> None:
    """Members, claim and formula follow the new costs; the tree is the old one."""
    random_ = random.Random(3)
    seen: Counter[str] = Counter()
    for _ in range(50):
        changed = files.copy()
        for unit in changed.problem["units"]:
            table = np.array(unit["time_ps"])
            for group in range(len(table)):
                if random_.randrange(3) == 0:
                    table[group] = np.where(
                        table[group] > 0, table[group] * random_.randint(5, 99) // 100, -1
                    )
            unit["time_ps"] = table.tolist()
        problem = problem_from_document(changed.problem)
        rows = np.stack([member.design.row for member in files.read_front.members])
        objectives = make_outcomes(problem)(rows).objectives
        kept = non_dominated(objectives)
        claim = files.read_front.certificate
        assert claim is not None
        front = replace(
            files.read_front,
            problem=problem,
            members=make_members(problem, rows[kept], objectives[kept]),
            baselines=(),
            certificate=replace(claim, members=tuple(range(len(kept)))),
        )
        changed.front.clear()
        changed.front.update(json.loads(canonical_bytes(front_to_document(front))))
        values = [list(member.objectives) for member in front.members]
        changed.certificate["members"] = values
        judge(seen, changed)
    assert seen["false"] >= 10, seen
    assert seen["tree"] >= 10, seen


def test_limits_lifted(files: Files) -> None:
    """A wider space than the tree is of: each change lets better design points in."""
    for change in (None, 3, 5):
        changed = files.copy()
        changed.front["baselines"] = []
        for network in changed.problem["networks"]:
            network["max_transitions"] = change
        space = describe_space(problem_from_document(changed.problem))
        changed.front["certificate"]["space"] = space
        assert changed.falsehood is not None
        failing = changed.failing()
        assert failing is not None
        assert failing.name == "tree"


def test_a_gap_is_not_made_into_more(
    explored_exactly: Front, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 10)
    done = prove(explored_exactly, (0, 1), limits=Limits(10)).without_gap()
    folder = files.folder / "lesser"
    write_results(
        folder,
        replace(done.front, certificate=done.claim),
        certificate=done.files,
        pictures=False,
    )
    (folder / "costs.json").write_text(json.dumps(files.costs))
    checks = list(verifying.verify(folder, ignore_hashes=True))
    assert [check.name for check in checks if check.verdict is not Verdict.HOLDS] == ["hashes"]
    lesser = files_in(folder, folder)
    assert lesser.certificate["status"] == "gap"
    for claim in (lesser.front["certificate"], lesser.certificate):
        claim["epsilon_ppm"] = 0
    failing = lesser.copy().failing()
    assert failing is not None
    assert failing.name == "claim"
    for claim in (lesser.front["certificate"], lesser.certificate):
        claim["status"] = "certified"
    assert lesser.falsehood == "a design point is left"
    failing = lesser.failing()
    assert failing is not None
    assert failing.detail == "has open parts, but is said to be complete"
    # A formula without a claim that it proves is not passed over.
    write_results(folder, done.front, certificate=done.files, pictures=False, overwrite=True)
    (folder / "certificate.smt2").write_text("(check-sat)\n")
    assert exit_status(list(verifying.verify(folder))) == FAILED


@pytest.mark.parametrize("checker", Checker)
def test_the_line_says_which_checker_it_was(dse: Any, certified: Path, checker: Checker) -> None:
    checked = dse("verify", certified, "--checker", checker.value)
    assert checked.status == 0
    assert f"nothing is left out, by the {checker.value} checker" in checked.out


@pytest.mark.parametrize(("name", "what"), [("check_tree", "tree"), ("most_lemmas", "cover")])
def test_what_needs_too_much_memory_is_not_checked(
    certified: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: str
) -> None:
    def too_much(*_: object, **__: object) -> int:
        if name == "most_lemmas":
            return 479_001_600
        raise MemoryError

    place = solvers if name == "most_lemmas" else verifying
    monkeypatch.setattr(place, name, too_much)
    checks = list(verifying.verify(certified))
    assert [c.name for c in checks if c.verdict is Verdict.NOT_CHECKED] == [what]
    assert exit_status(checks) == verifying.NOT_ALL_CHECKED


def test_a_smaller_epsilon_is_refused(explored_exactly: Front, tmp_path: Path) -> None:
    """Of a proof within a tolerance; of a gap any."""
    few = replace(explored_exactly, members=explored_exactly.members[::3])
    near = prove(few, (0, 1), tolerance_ppm=150_000)
    assert near.status is CertificateStatus.CERTIFIED
    gap = prove(few, (0, 1), limits=Limits(40))
    assert gap.claim.epsilon_ppm is not None
    assert gap.claim.epsilon_ppm > 0
    for number, done in enumerate((near, gap)):
        folder = tmp_path / str(number)
        for epsilon in (done.claim.epsilon_ppm, 20_000, 0):
            certificate = replace(done.files.certificate, epsilon_ppm=epsilon)
            front = replace(done.front, epsilon=replace(done.claim, epsilon_ppm=epsilon))
            proof = replace(done.files, certificate=certificate)
            write_results(folder, front, epsilon=proof, pictures=False, overwrite=True)
            checks = list(verifying.verify(folder))
            refused = exit_status(checks) == FAILED
            assert refused == (done is gap or epsilon != done.claim.epsilon_ppm), checks
    # What is within a tolerance is no certificate of the whole front.
    front = replace(near.front, certificate=near.claim)
    write_results(folder, front, certificate=near.files, pictures=False, overwrite=True)
    assert list(verifying.verify(folder))[-1].name == "claim"
