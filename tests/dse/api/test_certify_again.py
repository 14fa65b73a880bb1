"""A proof with less effort than an earlier one takes no claim away."""

from __future__ import annotations

from pathlib import Path

import pytest

import paretosoc as dse
from paretosoc.dse.certificate import strategy
from paretosoc.results.front.certificate import CertificateStatus


@pytest.fixture(scope="module")
def explored() -> dse.Front:
    problem = dse.Problem(
        ["vgg19", "resnet50"], "jetson-agx-orin", groups=12, runtime="none", max_transitions=4
    )
    return dse.explore(problem, max_evaluations=3_000)


def test_certificates_are_kept(explored: dse.Front, tmp_path: Path) -> None:
    proved = dse.certify(explored, max_nodes=300_000)
    assert proved.numeric.epsilon is not None
    again = dse.certify(proved, max_nodes=100)
    assert again.numeric.epsilon == proved.numeric.epsilon
    assert again.numeric.bounds is None
    assert again.numeric.certificate is not None
    assert again.numeric.certificate.status is CertificateStatus.CERTIFIED
    again.save(tmp_path / "again")
    assert dse.verify(tmp_path / "again").holds


def test_bounds_are_kept(explored: dse.Front, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = dse.certify(explored, max_nodes=100)
    assert proved.numeric.bounds is not None
    monkeypatch.setattr(strategy, "default_boxes", lambda problem: 1)
    fewer = dse.certify(explored, max_nodes=100).numeric.bounds
    assert fewer is not None
    assert fewer.epsilon_ppm > proved.numeric.bounds.epsilon_ppm
    assert dse.certify(proved, max_nodes=100).numeric.bounds == proved.numeric.bounds


def test_a_proof_of_the_fastest_member_keeps_what_is_known_of_the_front(
    explored: dse.Front,
) -> None:
    proved = dse.certify(explored, max_nodes=100)
    again = dse.certify(proved, max_nodes=100, fastest_only=True)
    assert again.numeric.proved_ppm == proved.numeric.proved_ppm
    assert again.numeric.bounds == proved.numeric.bounds


def test_the_exact_search_goes_on_beside_a_claim_within_a_tolerance(
    explored: dse.Front, tmp_path: Path
) -> None:
    front, nodes = dse.certify(explored, max_nodes=50_000, fastest_only=True), []
    for _ in range(40):
        claim, gap = front.numeric.certificate, front.numeric.epsilon
        assert claim is not None
        assert claim.status is CertificateStatus.CERTIFIED
        if claim.epsilon_ppm == 0:
            break
        assert gap is not None
        assert gap.status is CertificateStatus.GAP
        nodes.append(gap.nodes)
        front.save(tmp_path / f"{len(nodes)}")
        assert dse.verify(tmp_path / f"{len(nodes)}").holds
        front = dse.certify(
            dse.load(tmp_path / f"{len(nodes)}"), max_nodes=2_000, fastest_only=True
        )
    assert claim.epsilon_ppm == 0
    assert len(nodes) > 1
    assert nodes == sorted(set(nodes))
