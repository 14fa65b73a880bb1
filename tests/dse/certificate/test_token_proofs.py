"""Proofs of how long tokens take, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.certificate import CertificateStatus

ANSWER = """\
networks:
  - {name: prefill, network: smollm-135m, dimensions: {sequence: 64}}
  - name: decode
    network: smollm-135m
    continues: prefill
    dimensions: {sequence: 1, past: 64}
    grows: {past: 1}
    repeats: 5
"""
OBJECTIVES = ("latency:prefill", "tokens-per-second", "energy-per-token")


@pytest.fixture
def explored(dse: Any, tmp_path: Path) -> Any:
    (tmp_path / "answer.yaml").write_text(ANSWER)
    command = [
        *("explore", tmp_path / "answer.yaml", "-p", "rk3588", "--units", "a76,npu0"),
        *("--groups", "2", "--max-evaluations", "200", "-o", tmp_path / "run"),
        *(part for name in OBJECTIVES for part in ("--objective", name)),
    ]
    return lambda *options: (dse(*command, *options), read_results(tmp_path / "run"))


def test_a_front_of_tokens_is_proved_complete(dse: Any, tmp_path: Path, explored: Any) -> None:
    outcome, front = explored()
    assert outcome.status == 0, outcome.err
    claim = front.certificate
    assert claim is not None
    assert claim.status is CertificateStatus.CERTIFIED
    assert claim.objectives == (
        *("latency_ps:prefill", "time_per_token_ps:decode", "energy_per_token_fj:decode"),
    )
    for checker in ("fast", "plain"):
        assert dse("verify", tmp_path / "run", "--checker", checker).status == 0


def test_where_the_search_ends_nothing_is_claimed(dse: Any, tmp_path: Path, explored: Any) -> None:
    """There are no bounds over boxes of tokens per second; that is said."""
    outcome, front = explored("--max-nodes", "3")
    assert outcome.status == 0, outcome.err
    words = (
        "the search was ended, and no bound over boxes is known on tokens-per-second of one frame"
    )
    assert words in " ".join(outcome.err.split())
    assert front.bounds is None
    assert front.certificate is None or front.certificate.status is CertificateStatus.GAP
    assert dse("verify", tmp_path / "run").status == 0
