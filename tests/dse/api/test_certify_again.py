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
