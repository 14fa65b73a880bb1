"""Random generators that go on from their state, and states that are none."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from paretosoc.dse.search.base import generator_from, state_of


def test_a_generator_goes_on_where_the_other_stood() -> None:
    rng = np.random.default_rng(5)
    rng.random(7)
    # An odd number of 32-bit draws leaves half of a 64-bit one over.
    rng.integers(0, 100, 3, dtype=np.int32)
    state = json.loads(json.dumps(state_of(rng)))
    again = generator_from(state)
    assert rng.integers(0, 100, 9, dtype=np.int32).tolist() == (
        again.integers(0, 100, 9, dtype=np.int32).tolist()
    )
    assert rng.random(20).tolist() == again.random(20).tolist()
    assert state_of(rng) == state_of(again)


@pytest.mark.parametrize("path", [("state",), ("state", "state"), ("state", "inc"), ("uinteger",)])
@pytest.mark.parametrize("value", [None, "x", -1, 2**128, []])
def test_what_is_no_state_is_refused(path: tuple[str, ...], value: object) -> None:
    state = copy.deepcopy(state_of(np.random.default_rng(0)))
    place = state
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match="a state of PCG64 is required"):
        generator_from(state)
    del place[path[-1]]
    with pytest.raises(ValueError, match="a state of PCG64 is required"):
        generator_from(state)
