"""What a folder claims of HaX-CoNN's equations is shown again, or refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paretosoc.dse.certificate.verify import solvers
from paretosoc.dse.certificate.verify import verify as verifying
from paretosoc.dse.certificate.verify.checks import Check, Verdict
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.export.report_data import report_data
from paretosoc.results.export.result_folder import read_results


@pytest.fixture(scope="module")
def shown(certified: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified folder with the claim: never written to."""
    from paretosoc.dse.cli.main import run

    folder = tmp_path_factory.mktemp("formulation") / "shown"
    shutil.copytree(certified, folder)
    assert run(["certify", str(folder), "--formulation", "--quiet"]) == 0
    return folder


def rehash(folder: Path) -> None:
    """Hashes as somebody would make them who wants a false claim to pass."""
    from paretosoc.results.io.canonical_json import content_sha256

    for name in ("front", "certificate"):
        path = folder / f"{name}.json"
        content = json.loads(path.read_text())
        del content["content_sha256"]
        content["content_sha256"] = content_sha256(content)
        path.write_text(json.dumps(content))


def changed(shown: Path, folder: Path, change: Callable[[Any], object]) -> Check:
    """The last check of the folder whose claim is changed in both files."""
    shutil.copytree(shown, folder)
    for name in ("front", "certificate"):
        path = folder / f"{name}.json"
        content = json.loads(path.read_text())
        change((content if name == "certificate" else content["certificate"])["formulation"])
        path.write_text(json.dumps(content))
    rehash(folder)
    return list(verifying.verify(folder))[-1]


def test_the_claim_is_shown_and_checked(dse: Any, shown: Path) -> None:
    claim = read_results(shown).certificate
    assert claim is not None
    assert claim.formulation is not None
    said = claim.formulation.statement
    assert "Eq. 1 to 11 of HaX-CoNN (dispatch rule) have no solution below" in said
    assert said in dse("show", shown).out.replace("\n", " ")
    checked = dse("verify", shown)
    assert checked.status == 0
    assert "holds        formulation: z3 " in checked.out
    again = dse("certify", shown, "--formulation")
    assert again.status == 0
    proof: Any = report_data(read_results(shown), schedule_of)["proofs"]
    assert proof[0]["formulation"] == said


@pytest.mark.parametrize(
    "change",
    [
        lambda claim: claim.update(optimum_ps=claim["optimum_ps"] - 1),
        lambda claim: claim.update(optimum_ps=claim["optimum_ps"] + 1),
        lambda claim: claim.update(parts=claim["parts"] + 1),
        lambda claim: claim.update(questions=claim["questions"] - 1),
    ],
)
def test_a_changed_claim_is_refused(
    shown: Path, tmp_path: Path, change: Callable[[Any], object]
) -> None:
    last = changed(shown, tmp_path / "changed", change)
    assert (last.name, last.verdict) == ("formulation", Verdict.FAILS)


def test_another_setting_is_refused(shown: Path, tmp_path: Path) -> None:
    last = changed(shown, tmp_path / "free", lambda claim: claim.update(setting="free"))
    assert (last.name, last.verdict) == ("files", Verdict.FAILS)


def test_a_front_without_its_fastest_member_is_refused(shown: Path) -> None:
    front = read_results(shown)
    assert front.certificate is not None
    claim = front.certificate.formulation
    assert claim is not None
    assert solvers.formulation_holds(front, claim, seconds=600.0).verdict is Verdict.HOLDS
    slower = replace(front, members=front.members[1:])
    check = solvers.formulation_holds(
        slower, replace(claim, optimum_ps=slower.members[0].makespan_ps), seconds=600.0
    )
    assert check.verdict is Verdict.FAILS
    assert "a design point is faster" in check.detail


def test_what_takes_too_long_is_not_checked(shown: Path) -> None:
    front = read_results(shown)
    assert front.certificate is not None
    assert front.certificate.formulation is not None
    claim = front.certificate.formulation
    check = solvers.formulation_holds(front, claim, seconds=0.0)
    assert check.verdict is Verdict.NOT_CHECKED
    assert f"{claim.questions:,} questions are claimed" in check.detail
