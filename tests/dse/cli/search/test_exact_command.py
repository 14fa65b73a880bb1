"""``dse explore`` with the exact search: what it says, what the folder holds, what verify makes of
it."""

import json
import os
import re
import shutil
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO

import pytest

from paretosoc.common.units import PPM
from paretosoc.results.io.canonical_json import canonical_bytes

SMALL = (
    *("explore", "inception_v1", "squeezenet", "-p", "jetson-agx-xavier"),
    *("--units", "gpu,dla0", "--groups", "4", "--fix", "emc=max"),
)
LARGER = (
    *("explore", "vgg19", "resnet50", "-p", "jetson-agx-xavier", "--units", "gpu,dla0"),
    *("--fix", "emc=max", "--max-transitions", "2"),
)
COMPLETE = "complete: no design point is missing from the"


def front_in(folder):
    return json.loads((folder / "front.json").read_text())


def values_in(folder):
    """Latency and energy of the members, in order."""
    members = front_in(folder)["members"]
    return [(m["objectives"]["latency_ps"], m["objectives"]["energy_fj"]) for m in members]


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """A folder that the exact engine has written: never changed."""
    from paretosoc.dse.cli.main import run

    folder = tmp_path_factory.mktemp("exact") / "result"
    assert run([*SMALL, "--engine", "exact", "-q", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def larger_values(tmp_path_factory):
    """The whole front of the larger problem."""
    from paretosoc.dse.cli.main import run

    folder = tmp_path_factory.mktemp("larger") / "result"
    assert run([*LARGER, "--engine", "exact", "-q", "-o", str(folder)]) == 0
    assert front_in(folder)["certificate"]["epsilon_ppm"] == 0
    return values_in(folder)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A folder of the larger problem whose proof was ended, and what was said: never changed."""
    from paretosoc.dse.cli.main import run

    folder = tmp_path_factory.mktemp("stopped") / "result"
    limits = ("--max-evaluations", "300", "--max-nodes", "1000")
    with redirect_stdout(StringIO()) as out:
        assert run([*LARGER, *limits, "-o", str(folder)]) == 0
    return folder, out.getvalue()


def test_exact_finds_all_that_enumeration_finds_and_verify_agrees(dse, exact, tmp_path):
    enumerated = dse(*SMALL, "--engine", "exhaustive", "--max-nodes", "0", "-o", tmp_path / "all")
    assert enumerated.status == 0
    assert COMPLETE not in enumerated.out
    assert values_in(exact) == values_in(tmp_path / "all")
    assert COMPLETE in dse("show", exact).out
    verified = dse("verify", exact)
    assert verified.status == 0
    assert f"complete: {len(values_in(exact))} members" in verified.out
    assert "unsat" in verified.out


def test_auto_with_time_enough_is_complete_and_verifies(dse, exact, tmp_path):
    folder = tmp_path / "auto"
    outcome = dse(
        *SMALL, "--engine", "auto", "--max-evaluations", "400", "--time-limit", "600", "-o", folder
    )
    assert outcome.status == 0
    assert f"{COMPLETE} {len(values_in(exact))} members;" in " ".join(outcome.out.split())
    assert values_in(folder) == values_in(exact)
    assert front_in(folder)["provenance"]["engine"] == "nsga2"
    assert dse("verify", folder).status == 0


@pytest.mark.parametrize("ends", [True, False], ids=["nodes", "seconds"])
def test_auto_says_how_far_the_front_can_be_where_it_was_stopped(
    dse, larger_values, stopped, tmp_path, ends
):
    """Seconds may suffice on some machine; what is said must hold all the same."""
    folder, out = stopped
    if not ends:
        folder = tmp_path / "stopped"
        limits = ("--max-evaluations", "300", "--time-limit", "0.02")
        outcome = dse(*LARGER, *limits, "-o", folder)
        assert outcome.status == 0
        out = outcome.out
    said = " ".join(out.split())
    front = front_in(folder)
    claim = front["bounds"] or front["epsilon"] or front["certificate"]
    is_stopped = front["bounds"] is not None
    assert is_stopped or not ends
    assert dse("verify", folder).status == 0
    if claim["epsilon_ppm"] is None:
        # Too little time for any bound.
        assert not ends
        assert COMPLETE not in said
        assert ": for every design point a member is worse" not in said
        return
    assert (COMPLETE in said) == (claim["epsilon_ppm"] == 0)
    if is_stopped:
        assert claim["epsilon_ppm"] > 0
        assert "by the search's own account" not in said
        assert "Run 'dse certify' to" in said
        # Rounded up, since more must not be claimed.
        percent = f"{-(-claim['epsilon_ppm'] // 100) / 100:.2f} %"
        assert f"within {percent}:" in said
    factor = 1 + Fraction(claim["epsilon_ppm"], PPM)
    for latency, energy in larger_values:
        assert any(
            mine <= latency * factor and other <= energy * factor
            for mine, other in values_in(folder)
        )
    verified = dse("verify", folder)
    assert verified.status == 0
    reach = r"within [\d.]+ % of every point: \d+ box" if is_stopped else "complete"
    assert re.search(reach, " ".join(verified.out.split()))


def without_member(front, certificate):
    """One member less in both files, which no baseline is."""
    known = [one["point"]["objectives"] for one in front["baselines"]]
    index = next(k for k, one in enumerate(front["members"]) if one["objectives"] not in known)
    front["members"].pop(index)
    front["certificate"]["members"].pop()
    certificate["members"].pop(index)


def frugal_member(front, certificate):
    """A member that is said to draw less than it does."""
    member = front["members"][5]
    member["objectives"]["energy_fj"] -= 1
    member["energy_fj"] -= 1
    member["energy_by_unit_fj"]["gpu"] -= 1
    certificate["members"][5][1] -= 1


def fewer_lemmas(front, certificate):
    """As if half of the space need not be looked at."""
    for claim in (front["certificate"], certificate):
        claim["lemmas"] //= 2


@pytest.mark.parametrize(
    ("change", "check"),
    [(without_member, "tree"), (frugal_member, "members"), (fewer_lemmas, "tree")],
)
def test_verify_refuses_a_changed_front(dse, exact, tmp_path, change, check):
    folder = tmp_path / "changed"
    shutil.copytree(exact, folder)
    names = ("front.json", "certificate.json")
    front, certificate = documents = [json.loads((folder / name).read_text()) for name in names]
    change(front, certificate)
    for name, document in zip(names, documents, strict=True):
        (folder / name).write_bytes(canonical_bytes(document))
    refused = dse("verify", folder)
    assert refused.status == 1
    assert "FAILS        files:" in refused.out
    refused = dse("verify", folder, "--ignore-hashes")
    assert refused.status == 1
    assert refused.out.count("FAILS") == 1
    assert f"FAILS        {check}:" in refused.out


def test_bounds_made_into_a_complete_front_are_refused(dse, stopped, tmp_path):
    folder = shutil.copytree(stopped[0], tmp_path / "gap")
    front = front_in(folder)
    claimed = front["bounds"]["epsilon_ppm"]
    for epsilon in (0, claimed - 1):
        front["bounds"]["epsilon_ppm"] = epsilon
        (folder / "front.json").write_bytes(canonical_bytes(front))
        refused = dse("verify", folder, "--ignore-hashes")
        assert refused.status == 1
        assert "FAILS        bounds: epsilon_ppm" in refused.out
    front["bounds"]["epsilon_ppm"] = claimed
    # The fastest member is proved within a tolerance only.
    assert 0 < front["certificate"]["epsilon_ppm"] <= 100_000
    front["certificate"]["epsilon_ppm"] = 0
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["epsilon_ppm"] = 0
    (folder / "front.json").write_bytes(canonical_bytes(front))
    (folder / "certificate.json").write_bytes(canonical_bytes(certificate))
    refused = dse("verify", folder, "--ignore-hashes")
    assert refused.status == 1
    assert "FAILS        tree:" in refused.out


@pytest.mark.parametrize("reason", ["foreign", "unwritable"])
def test_a_folder_that_cannot_be_replaced_is_refused_before_the_proof(
    dse, pair_folder, tmp_path, monkeypatch, reason
):
    folder = tmp_path / "result"
    shutil.copytree(pair_folder, folder)
    if reason == "foreign":
        (folder / "notes.txt").write_text("mine")
    else:
        monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK | os.X_OK)
    monkeypatch.setattr("paretosoc.dse.api.proof.prove", lambda *_, **__: pytest.fail("proved"))
    done = dse("certify", folder)
    assert done.status == 2
    assert re.search("is not replaced|cannot be written", done.err)


def test_resuming_into_a_folder_that_lacks_only_its_proof_names_certify(dse, tmp_path, pair_folder):
    checkpoint = tmp_path / "search.npz"
    done = dse(*SMALL, "--checkpoint", checkpoint, "-o", pair_folder)
    assert done.status == 2
    assert f"'dse certify {pair_folder}' continues its proof" in done.err
