"""certificate.json: round trips, a stranger's reading of it, tampering, wrong content."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from results.errors import ResultError
from results.export.result_folder import read_certificate, write_results
from results.front.certificate import (
    NOT_NAMED,
    Certificate,
    CertificateStatus,
    LemmaTable,
    ProofArtifacts,
)
from results.front.certificate_file import certificate_bytes, certificate_from_bytes
from results.io.canonical_json import canonical_bytes, content_sha256
from results.io.schema import schema
from results.problem.problem_file import problem_sha256
from tests.support.texts import one_line


def random_table(rng, count, groups, domains, most_units=3):
    units = rng.integers(NOT_NAMED, most_units, (count, groups))
    points = rng.integers(0, 1 << 63, (count, domains), dtype=np.uint64) * np.uint64(2)
    return LemmaTable(units, points + np.uint64(1))


def make_certificate(problem, lemmas, **changes):
    certificate = Certificate(
        status=CertificateStatus.CERTIFIED,
        problem_sha256=problem_sha256(problem),
        objectives=("latency_ps", "energy_fj"),
        members=((7_325_701_000, 5), (7_325_701_001, 4)),
        epsilon_ppm=0,
        rates_mw=(1, 70),
        lemmas=lemmas,
        nodes=4711,
        search_seconds=0.004,
        cover_seconds=0.05,
        solvers=("z3 5.4.0.0",),
    )
    return replace(certificate, **changes)


@pytest.fixture(scope="module")
def certificate(problem):
    rng = np.random.default_rng(1)
    lemmas = random_table(rng, 40, problem.group_count, len(problem.domains))
    return make_certificate(problem, lemmas)


def assert_same(one, other):
    for name, value in vars(one).items():
        if name == "lemmas":
            assert np.array_equal(value.units, other.lemmas.units)
            assert np.array_equal(value.points, other.lemmas.points)
            assert other.lemmas.units.dtype == np.int64
            assert other.lemmas.points.dtype == np.uint64
        else:
            assert value == getattr(other, name), name


def strangers_lemmas(texts, groups):
    """What the schema says of the texts, read anew: [(units, masks)], None where not named."""
    lemmas = []
    for text in texts:
        named, masks = text.split("|")
        width = len(named) // groups
        pieces = [named[i : i + width] for i in range(0, len(named), width)]
        units = [None if set(piece) == {"."} else int(piece, 36) for piece in pieces]
        lemmas.append((units, [int(mask, 16) for mask in masks.split(",")]))
    return lemmas


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.integers(0, 30),
    most_units=st.sampled_from([1, 3, 36, 37, 100, 1296]),
    status=st.sampled_from(CertificateStatus),
    value=st.integers(-(1 << 63), (1 << 63) - 1),
    epsilon_ppm=st.none() | st.integers(0, (1 << 63) - 1),
    cover_seconds=st.none() | st.floats(0, 1e6),
    solvers=st.lists(one_line(), max_size=3),
    search=st.none()
    | st.dictionaries(
        st.sampled_from(["units", "bound"]), st.lists(st.integers(-(1 << 63), (1 << 63) - 1))
    ),
)
def test_round_trip(
    problem, seed, count, most_units, status, value, epsilon_ppm, cover_seconds, solvers, search
):
    rng = np.random.default_rng(seed)
    groups, domains = problem.group_count, len(problem.domains)
    certificate = make_certificate(
        problem,
        random_table(rng, count, groups, domains, most_units),
        status=status,
        objectives=("latency_ps",),
        members=((value,),),
        bounds=((value,), (-1,)),
        epsilon_ppm=epsilon_ppm,
        cover_seconds=cover_seconds,
        solvers=tuple(solvers),
        search=search,
    )
    data = certificate_bytes(certificate)
    again = certificate_from_bytes(data, problem)
    assert_same(certificate, again)
    assert certificate_bytes(again) == data
    document = json.loads(data)
    Draft202012Validator(schema("certificate")).validate(document)
    for (units, masks), row, points in zip(
        strangers_lemmas(document["lemmas"], groups),
        certificate.lemmas.units.tolist(),
        certificate.lemmas.points.tolist(),
        strict=True,
    ):
        assert [NOT_NAMED if unit is None else unit for unit in units] == row
        assert masks == points


def test_schema_is_a_schema():
    Draft202012Validator.check_schema(schema("certificate"))


def test_lemmas_are_one_short_text_each(problem):
    groups, domains = problem.group_count, len(problem.domains)
    units = np.full((1, groups), NOT_NAMED)
    units[0, :3] = [2, 0, 11]
    points = np.full((1, domains), 10, dtype=np.uint64)
    document = json.loads(certificate_bytes(make_certificate(problem, LemmaTable(units, points))))
    assert document["lemmas"] == ["20b" + "." * (groups - 3) + "|" + ",".join("a" * domains)]


def test_too_many_units_are_refused(problem, certificate):
    units = certificate.lemmas.units.copy()
    units[3, 1] = 1296
    lemmas = LemmaTable(units, certificate.lemmas.points)
    with pytest.raises(ResultError, match=r"units must be below 1296, got 1296"):
        certificate_bytes(replace(certificate, lemmas=lemmas))


@pytest.mark.parametrize("name", ["certificate", "epsilon"])
def test_beside_a_front(front, tmp_path, name):
    rng = np.random.default_rng(2)
    problem = front.problem
    lemmas = random_table(rng, 5, problem.group_count, len(problem.domains))
    certificate = make_certificate(problem, lemmas)
    folder = tmp_path / "run"
    proof = {name: ProofArtifacts(certificate, "(check-sat)\n")}
    write_results(folder, front, **proof, pictures=False)
    found = read_certificate(folder, problem, name=name)
    assert found is not None
    assert_same(certificate, found.certificate)
    assert found.smtlib == "(check-sat)\n"
    (folder / f"{name}.smt2").unlink()
    found = read_certificate(folder, problem, name=name)
    assert found is not None
    assert found.smtlib is None
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
    assert_same(certificate, certificate_from_bytes(data, other, check_hashes=False))


EDITS = {
    "status": "searched",
    "objectives": ["energy_fj", "latency_ps"],
    "members": [[7_325_700_999, 5]],
    "epsilon_ppm": 1,
    "bounds": [[1, 2]],
    "rates_mw": [],
    "nodes": 4712,
    "search_seconds": 0.005,
    "cover_seconds": None,
    "solvers": ["z3 5.4.0.0", "cvc5 1.4.2"],
    "lemmas": [],
    "search": {},
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


def test_every_changed_character_of_a_lemma_is_seen(problem, certificate):
    rng = np.random.default_rng(3)
    document = json.loads(certificate_bytes(certificate))
    for _ in range(100):
        lemmas = list(document["lemmas"])
        index, at = rng.integers(len(lemmas)), rng.integers(problem.group_count)
        old = lemmas[index][at]
        new = str(rng.choice([c for c in ".012" if c != old]))
        lemmas[index] = lemmas[index][:at] + new + lemmas[index][at + 1 :]
        with pytest.raises(ResultError, match="content_sha256"):
            certificate_from_bytes(canonical_bytes({**document, "lemmas": lemmas}), problem)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("format", "paretosoc-certificate/1", r"\$\.format"),
        ("status", "proved", r"\$\.status"),
        ("objectives", [], r"\$\.objectives"),
        ("members", [[1.0, 2]], r"\$\.members"),
        ("members", [[1 << 63, 2]], r"\$\.members"),
        ("members", [[1]], r"\$\.members\[0\]: must be 2 values, got 1"),
        ("bounds", [[1, 2], [3]], r"\$\.bounds\[1\]: must be 2 values, got 1"),
        ("epsilon_ppm", -1, r"\$\.epsilon_ppm"),
        ("rates_mw", [-1], r"\$\.rates_mw"),
        ("search_seconds", -0.5, r"\$\.search_seconds"),
        ("cover_seconds", "1", r"\$\.cover_seconds"),
        ("solvers", "z3", r"\$\.solvers"),
        ("search", {"units": [0.5]}, r"\$\.search"),
        ("problem_sha256", "AB" * 32, r"\$\.problem_sha256"),
        ("extra", 1, "extra"),
        ("lemmas", [7], r"\$\.lemmas\[0\]"),
        ("lemmas", [""], r"\$\.lemmas\[0\]"),
        ("lemmas", ["...........|f,f,f,f", "...........|g,f,f,f"], r"\$\.lemmas\[1\]"),
        ("lemmas", ["...........|f,f,f,f,"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["..........A|f,f,f,f"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["..........١|f,f,f,f"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["...........|f,f,f,-f"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["...........|f,f,f,0x1"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["...........|f,f,f,11112222333344445"], r"\$\.lemmas\[0\]"),
        ("lemmas", ["...........|f,f,f"], r"\$\.lemmas\[0\]: must have 11 .* 4 sets, got 11 and 3"),
        ("lemmas", ["..........|f,f,f,f"], r"\$\.lemmas\[0\]: must have 11 char.*got 10 and 4"),
        ("lemmas", ["...........|f,f,f,f", "1|f,f,f,f"], r"\$\.lemmas\[1\]: must have 11.*got 1 "),
        ("lemmas", ["...........|1,1,1,1", "." * 22 + "|1,1,1,1"], r"\$\.lemmas\[1\]: must have"),
        ("lemmas", ["." * 22 + "|1,1,1,1", ".1" * 11 + "|1,1,1,1"], r"lemmas\[1\]: a unit must"),
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


@pytest.mark.parametrize("key", ["format", "lemmas", "search", "content_sha256"])
def test_missing_content_is_named(problem, certificate, key):
    document = json.loads(certificate_bytes(certificate))
    del document[key]
    with pytest.raises(ResultError, match=key):
        certificate_from_bytes(canonical_bytes(document), problem, check_hashes=False)
