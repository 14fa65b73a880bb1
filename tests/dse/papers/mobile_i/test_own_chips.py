"""The comparison on a chip's own units, with a small budget."""

from __future__ import annotations

import pytest

from examples.mobile_i import own_chips


def test_a_small_comparison() -> None:
    row = own_chips.compared(("alexnet", "squeezenet"), evaluations=300)
    assert 0 < row.periodic_mobile_i <= row.periodic <= row.bound
    assert row.frames >= 1
    for figure in (row.explorer_2, row.explorer_3, row.mobile_i_2):
        # Two or three frames of 200 may be done in part where counting begins.
        assert 0 < figure <= row.bound * (1 + 3 / 200)
    for figure in (row.explorer_2_many, row.self_timed):
        assert 0 < figure <= row.bound * (1 + row.frames / 200)
    gain = 100 * row.periodic / row.explorer_2 - 100
    assert f": {gain:.1f} % in the mean, {gain:.1f} to {gain:.1f} %" in own_chips.summary([row])[0]
    assert own_chips.grid([row]).row_count == 1


@pytest.mark.parametrize("text", ["0", "many"])
def test_a_wrong_budget_is_refused_before_anything_is_searched(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        own_chips.main([text])
    assert ended.value.code == 2
    assert "evaluations" in capsys.readouterr().err
