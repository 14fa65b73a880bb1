"""The claims about random problems, on a few of them."""

from __future__ import annotations

import pytest

from benchmarks import random_problems
from benchmarks.random_problems import judge, judge_application, show
from paretosoc.dse.certificate.boxes import search
from paretosoc.dse.tools.choose import joined_result
from paretosoc.dse.tools.choose.joined import CombinationFront, JoinedFront, join


def test_claims_about_random_problems_are_true(capsys: pytest.CaptureFixture[str]) -> None:
    judged = [judge(number) for number in range(20)]
    assert show(judged) == 0, capsys.readouterr().out
    said = {claim for one in judged for claim in one.said}
    assert {"complete", "ended", "bounds"} <= said
    assert len({one.model for one in judged}) >= 4
    assert "20 problems, 0 deviations" in capsys.readouterr().out


def test_fronts_of_applications_are_those_of_all_combinations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = [judge_application(number) for number in range(6)]
    assert show(judged) == 0, capsys.readouterr().out
    assert {"complete", "joined complete"} <= {claim for one in judged for claim in one.said}
    assert {"variants", "batches", "waiting"} <= {name for one in judged for name in one.features}

    def first_only(board: str, fronts: list[CombinationFront], *, is_complete: bool) -> JoinedFront:
        return join(board, fronts[:1], is_complete=is_complete)

    monkeypatch.setattr(joined_result, "join", first_only)
    deviations = [judge_application(number).deviation or "" for number in range(6)]
    assert any("the joined front is not within 0 ppm" in text for text in deviations)


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
