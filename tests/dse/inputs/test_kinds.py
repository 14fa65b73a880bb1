"""Values of options: the library's, the command's and the program's."""

from __future__ import annotations

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import Groups, Whole
from paretosoc.sdf.grouping.options import Grouping

GROUPS = Groups(Whole(1, 10**6))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("12", 12),
        ("layers", Grouping(each_layer=True)),
        ("branches", Grouping(branches=True)),
        ("branches:8", Grouping(8, branches=True)),
    ],
)
def test_a_grouping_is_a_number_or_a_value_of_its_own(text: str, meant: int | Grouping) -> None:
    assert GROUPS.parse(text, "--groups") == meant
    assert str(meant) == text
    assert GROUPS.read(meant, "groups") == meant


@pytest.mark.parametrize("text", ["layers:8", "branches:", "branches:0", "branches:N", "8:", "all"])
def test_any_other_text_is_refused(text: str) -> None:
    words = "an integer from 1 to 10.6, or layers, branches, branches:N, is required, got"
    with pytest.raises(WorkloadError, match=f"--groups: {words} '{text}'"):
        GROUPS.parse(text, "--groups")
