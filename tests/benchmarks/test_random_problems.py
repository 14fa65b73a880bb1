"""The claims about random problems, on a few of them."""

from __future__ import annotations

import pytest

from benchmarks import random_problems
from benchmarks.random_problems import judge, show
from paretosoc.dse.certificate.boxes import search


def test_claims_about_random_problems_are_true(capsys: pytest.CaptureFixture[str]) -> None:
    judged = [judge(number) for number in range(20)]
    assert show(judged) == 0, capsys.readouterr().out
    said = {claim for one in judged for claim in one.said}
    assert {"complete", "ended", "bounds"} <= said
    assert len({one.model for one in judged}) >= 4
    assert "20 problems, 0 deviations" in capsys.readouterr().out


@pytest.mark.parametrize("number", [571, 1431])
def test_what_was_a_deviation_is_none(number: int) -> None:
    """Sums of free-running networks that rounding leaves below the least. Powers of some thousand
    microwatts, of which one is more than the margins of an epsilon of 850."""
    assert judge(number).deviation is None


def test_false_claims_and_errors_are_deviations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    number = 1
    assert "bounds" in judge(number).said
    monkeypatch.setattr(random_problems, "is_within", lambda *_: False)
    assert show([judge(number)]) == 1
    assert "1 deviations" in capsys.readouterr().out
    monkeypatch.undo()

    def broken(*_: object) -> float:
        raise ZeroDivisionError

    monkeypatch.setattr(search.BoxSearch, "epsilon", property(broken))
    assert show([judge(number)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
