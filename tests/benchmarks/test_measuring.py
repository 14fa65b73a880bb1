"""The replay of published figures: its truth is what was published, and its count is of that."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.measuring.__main__ import summaries
from benchmarks.measuring.cases import BUILDERS
from benchmarks.measuring.exponents import _row
from benchmarks.measuring.replay import (
    ENOUGH,
    POLICIES,
    Replay,
    State,
    corners_first,
    fewest_needed,
    grid_of,
    in_order,
    measured,
    measurements_needed,
    true_regrets,
)
from benchmarks.validation.published import read_set
from paretosoc.fitness.check.members.outcome import plain_outcome


@pytest.fixture(scope="module")
def tx2():
    case = BUILDERS[7]()
    assert case.name == "vgg19 over GPU and memory clocks of jetson-tx2"
    return case


def test_a_measurement_is_the_published_figure(tx2):
    published = {
        (float(row["gpu"]), float(row["memory"])): float(row["latency"])
        for row in read_set("tx2_gpu_memory").rows
        if row["network"] == "vgg19"
    }
    grid = grid_of(tx2)
    assert len(grid) == len(tx2.front.members)
    for experiment in grid:
        row = measured(tx2, experiment)
        clocks = [row.clocks_khz[name] / 1000 for name in ("gpu", "emc")]
        nearest = min(published, key=lambda pair: abs(np.log(np.divide(pair, clocks))).sum())
        assert row.time_ps / 1e9 == pytest.approx(published[nearest])
        assert row.power_mw is None, "the source has no power"


def test_regrets_are_those_of_the_truth(tx2):
    figures = np.array(
        [plain_outcome(tx2.truth, member.design).objectives for member in tx2.front.members], float
    )
    for column, goal in enumerate(("fastest", "lowest-energy")):
        expected = figures[:, column] / figures[:, column].min() - 1
        assert true_regrets(tx2, goal) == pytest.approx(expected)
    knee = true_regrets(tx2, "knee")
    assert knee.min() == 0
    assert knee.max() > 0


def test_counts_end_when_the_choice_is_good_enough():
    case, goal = BUILDERS[11](), "knee"
    assert case.name.startswith("bvlc_alexnet over GPU and CPU clocks of jetson-tx2")
    replay = Replay(case)
    fewest, is_exact = fewest_needed(replay, goal, most=2)
    assert is_exact
    for policy in POLICIES.values():
        count, regrets = measurements_needed(replay, goal, policy, seed=0, most=2)
        assert count is None or count >= fewest
        assert regrets[0] > ENOUGH, "the estimate alone is wrong here"
        assert all(regret >= ENOUGH for regret in regrets[:-1])
        assert (count is None) == (regrets[-1] >= ENOUGH)
        assert len(regrets) == (3 if count is None else count + 1)
    again = measurements_needed(Replay(case), goal, in_order, seed=0, most=2)
    assert again == measurements_needed(replay, goal, in_order, seed=0, most=2)


def test_corners_come_first(tx2):
    grid = grid_of(tx2)
    ends = [
        {min(axis), max(axis)}
        for axis in zip(
            *([e.at.points[d] for d in e.problem.units[0].clocks] for e in grid), strict=True
        )
    ]
    state = State(tx2, "knee", tx2.errors, None, grid, None)
    first = grid[corners_first(state)]
    own = [first.at.points[d] for d in first.problem.units[0].clocks]
    assert all(point in end for point, end in zip(own, ends, strict=True))


def test_exponents_are_found():
    slower = np.log(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [5.0, 1.5]]))
    row = _row("x", slower, slower @ [0.05, -0.1])
    assert (row["gpu"], row["memory"]) == pytest.approx((0.05, -0.1))
    assert row["rest"] == pytest.approx(0, abs=1e-12)


def test_medians_are_of_all_and_of_each_kind():
    def row(kind, *counts):
        return {"kind": kind, **dict(zip((*POLICIES, "clairvoyant"), counts, strict=True))}

    rows = [
        row("mappings", 2, 4, 8, 6, "2"),
        row("clocks", 3, 3, 3, 1, "1"),
        row("clocks", 1, 3, 5, 3, "2+"),
    ]
    all_rows, never, mappings, _, clocks, _, _ = summaries(rows)
    assert all_rows.endswith(
        "(all): value 2, random 3, grid 5, corners 3, clairvoyant at least 2; by value 67% of the "
        "best of the others, clairvoyant at least 67%."
    )
    assert never == "No order needs half of the best other in 2 of them."
    assert (
        "value 2, random 4, grid 8, corners 6, clairvoyant at least 2; by value 50% of" in mappings
    )
    assert (
        "value 2, random 3, grid 4, corners 2, clairvoyant at least 1.5; by value 100% of" in clocks
    )
