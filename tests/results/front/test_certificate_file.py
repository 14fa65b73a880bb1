"""certificate.json: round trips, tampering, wrong content."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_certificate, write_results
from paretosoc.results.front.certificate import (
    Certificate,
    CertificateStatus,
    FormulationProof,
    ProofArtifacts,
    certificate_bytes,
    certificate_from_bytes,
)
from paretosoc.results.front.proof_tree import MEMBERS, PART, SPLIT, ProofTree, tree_bytes
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256, sha256_of
from paretosoc.results.io.document import schema
from paretosoc.results.problem.problem_file import problem_sha256
from tests.support.texts import one_line

TREE = ProofTree((np.array([SPLIT, MEMBERS, PART], dtype=np.uint8), np.zeros(0, dtype=np.uint8)))


def make_certificate(problem, **changes):
    certificate = Certificate(
        status=CertificateStatus.CERTIFIED,
        problem_sha256=problem_sha256(problem),
        objectives=("latency_ps", "energy_fj"),
        members=((7_325_701_000, 5), (7_325_701_001, 4)),
        epsilon_ppm=0,
        prices=(),
        tree_sha256=sha256_of(tree_bytes(TREE)),
        lemmas=1,
        nodes=4711,
        search_seconds=0.004,
        check_seconds=0.001,
        cover_seconds=0.05,
        solvers=("z3 5.4.0.0",),
        formulation=FormulationProof("dispatch", 7_325_701_000, "z3 5.4.0.0", 102, 3018, 5.8),
    )
    return replace(certificate, **changes)


@pytest.fixture(scope="module")
def certificate(problem):
    return make_certificate(problem)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    status=st.sampled_from(CertificateStatus),
    value=st.integers(-(1 << 63), (1 << 63) - 1),
    epsilon_ppm=st.none() | st.integers(0, (1 << 63) - 1),
    formulation=st.none()
    | st.builds(
        FormulationProof,
        setting=st.just("dispatch"),
        optimum_ps=st.integers(0, (1 << 63) - 1),
        solver=one_line(),
        parts=st.integers(1, (1 << 63) - 1),
        questions=st.integers(1, (1 << 63) - 1),
        seconds=st.floats(0, 1e6),
    ),
    lemmas=st.integers(0, (1 << 63) - 1),
    check_seconds=st.none() | st.floats(0, 1e6),
    cover_seconds=st.none() | st.floats(0, 1e6),
    solvers=st.lists(one_line(), max_size=3),
)
def test_round_trip(problem, status, value, solvers, **changes):
    certificate = make_certificate(
        problem,
        status=status,
        objectives=("latency_ps",),
        members=((value,),),
        solvers=tuple(solvers),
        **changes,
    )
    data = certificate_bytes(certificate)
    again = certificate_from_bytes(data, problem)
    assert again == certificate
    assert certificate_bytes(again) == data
    Draft202012Validator(schema("certificate")).validate(json.loads(data))


def test_schema_is_a_schema():
    Draft202012Validator.check_schema(schema("certificate"))


@pytest.mark.parametrize("name", ["certificate", "epsilon"])
def test_beside_a_front(front, tmp_path, name):
    problem = front.problem
    certificate = make_certificate(problem)
    folder = tmp_path / "run"
    proof = {name: ProofArtifacts(certificate, TREE, "(check-sat)\n")}
    write_results(folder, front, **proof, pictures=False)
    found = read_certificate(folder, problem, name=name)
    assert found is not None
    assert found.certificate == certificate
    assert tree_bytes(found.tree) == tree_bytes(TREE)
    assert found.smtlib == "(check-sat)\n"
    (folder / f"{name}.smt2").unlink()
    found = read_certificate(folder, problem, name=name)
    assert found is not None
    assert found.smtlib is None
    tree = (folder / f"{name}.tree").read_bytes()
    (folder / f"{name}.tree").write_bytes(tree[:-1])
    with pytest.raises(ResultError, match=rf"{name}\.tree: was changed after it was written"):
        read_certificate(folder, problem, name=name)
    with pytest.raises(ResultError, match=rf"{name}\.tree: must have 42 bytes"):
        read_certificate(folder, problem, name=name, check_hashes=False)
    (folder / f"{name}.tree").unlink()
    with pytest.raises(ResultError, match=rf"{name}\.tree: is missing"):
        read_certificate(folder, problem, name=name)
    (folder / f"{name}.json").write_bytes(b"{")
    with pytest.raises(ResultError, match=rf"{name}\.json: must be JSON"):
        read_certificate(folder, problem, name=name)
    (folder / f"{name}.json").unlink()
    assert read_certificate(folder, problem, name=name) is None


def test_another_problem_is_refused(problem, make_problem, certificate):
    other = make_problem(seed=5)
    data = certificate_bytes(certificate)
    with pytest.raises(ResultError, match=r"\$\.problem_sha256: is not that of problem\.json"):
        certificate_from_bytes(data, other)
    assert certificate_from_bytes(data, other, check_hashes=False) == certificate


SHOWN = {
    "setting": "dispatch",
    "optimum_ps": 1,
    "solver": "z3",
    "parts": 1,
    "questions": 1,
    "seconds": 0,
}
EDITS = {
    "status": "gap",
    "objectives": ["energy_fj", "latency_ps"],
    "members": [[7_325_700_999, 5]],
    "epsilon_ppm": 1,
    "nodes": 4712,
    "search_seconds": 0.005,
    "cover_seconds": None,
    "solvers": ["z3 5.4.0.0", "cvc5 1.4.2"],
    "formulation": None,
    "tree_sha256": "0" * 64,
    "lemmas": 2,
    "check_seconds": None,
}


@pytest.mark.parametrize("key", EDITS)
def test_every_edit_is_seen(problem, certificate, key):
    document = json.loads(certificate_bytes(certificate))
    assert document[key] != EDITS[key]
    document[key] = EDITS[key]
    data = canonical_bytes(document)
    with pytest.raises(ResultError, match=r"\$\.content_sha256: the content was changed"):
        certificate_from_bytes(data, problem)
    certificate_from_bytes(data, problem, check_hashes=False)


def test_edits_cover_the_content(certificate):
    document = json.loads(certificate_bytes(certificate))
    assert {*EDITS, "format", "problem_sha256", "content_sha256"} == document.keys()


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("format", "paretosoc-certificate/2", r"\$\.format"),
        ("status", "proved", r"\$\.status"),
        ("objectives", [], r"\$\.objectives"),
        ("members", [[1.0, 2]], r"\$\.members"),
        ("members", [[1 << 63, 2]], r"\$\.members"),
        ("members", [[1]], r"\$\.members\[0\]: must be 2 values, got 1"),
        ("prices", [[1, 2]], r"\$\.prices\[0\]: must be \d+ values, got 2"),
        ("epsilon_ppm", -1, r"\$\.epsilon_ppm"),
        ("prices", [[-1]], r"\$\.prices"),
        ("search_seconds", -0.5, r"\$\.search_seconds"),
        ("cover_seconds", "1", r"\$\.cover_seconds"),
        ("cover_seconds", 10**400, r"\$\.cover_seconds: must be within 1\.8e308 of 0, got an"),
        ("solvers", "z3", r"\$\.solvers"),
        ("formulation", {}, r"\$\.formulation"),
        ("formulation", {**SHOWN, "setting": "free"}, r"\$\.formulation"),
        ("formulation", {**SHOWN, "parts": 0}, r"\$\.formulation"),
        ("status", "searched", r"\$\.status"),
        ("tree_sha256", "", r"\$\.tree_sha256"),
        ("check_seconds", -1, r"\$\.check_seconds"),
        ("problem_sha256", "AB" * 32, r"\$\.problem_sha256"),
        ("extra", 1, "extra"),
        ("lemmas", [7], r"\$\.lemmas"),
        ("lemmas", -1, r"\$\.lemmas"),
    ],
)
def test_wrong_content_is_named(problem, certificate, key, value, complaint):
    document = json.loads(certificate_bytes(certificate))
    document[key] = value
    document["content_sha256"] = content_sha256(
        {name: content for name, content in document.items() if name != "content_sha256"}
    )
    for check_hashes in (True, False):
        with pytest.raises(ResultError, match=complaint):
            certificate_from_bytes(
                json.dumps(document).encode(), problem, check_hashes=check_hashes
            )


@pytest.mark.parametrize("key", ["format", "lemmas", "tree_sha256", "content_sha256"])
def test_missing_content_is_named(problem, certificate, key):
    document = json.loads(certificate_bytes(certificate))
    del document[key]
    with pytest.raises(ResultError, match=key):
        certificate_from_bytes(canonical_bytes(document), problem, check_hashes=False)


def test_prices_are_few(problem):
    """The check has tables for each."""
    data = certificate_bytes(make_certificate(problem, prices=((),) * 65))
    with pytest.raises(ResultError, match=r"\$\.prices: .*64"):
        certificate_from_bytes(data, problem)
