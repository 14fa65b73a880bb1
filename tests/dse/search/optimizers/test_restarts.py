"""Restarts of NSGA-II: when there is one, what it begins with, and that it resumes."""

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.search.base import EngineState
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers import restarts
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from tests.support.problems.small_spaces import small_space

SETTINGS = {"population": 40, "neighbours": 40, "rebalanced": 10, "surrogate_evaluations": 0}
SPAN = 400


@pytest.fixture
def often(monkeypatch):
    """Growth is looked at every few generations: a few restarts on the reference problem."""
    monkeypatch.setattr(restarts, "SPAN", SPAN)
    monkeypatch.setattr(restarts, "MIN_GROWTH", 0.05)


def proposals(engine, evaluate, generations):
    """The rows of each generation, and the state before its outcomes are told."""
    for _ in range(generations):
        rows = engine.ask()
        yield rows, engine.state()
        engine.tell(rows, evaluate(rows))


def test_up_to_the_first_restart_it_is_one_run(often):
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    one = Nsga2Engine(space, seed=5, **SETTINGS)
    many = RestartingNsga2(space, seed=5, **SETTINGS)
    pairs = zip(proposals(one, evaluate, 60), proposals(many, evaluate, 60), strict=True)
    for (expected, _), (rows, state) in pairs:
        if state.arrays["restarts"][0]:
            break
        assert np.array_equal(rows, expected)
    assert state.arrays["restarts"][0] == 1
    assert not np.array_equal(rows, expected)


def test_every_second_restart_begins_with_members_of_all_runs(often):
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    engine = RestartingNsga2(space, seed=5, **SETTINGS)
    told = np.zeros((0, 2), dtype=np.int64)
    restarted, last = [], 0
    for rows, state in proposals(engine, evaluate, 200):
        now = int(state.arrays["restarts"][0])
        kept = state.arrays["kept_rows"]
        if now != last:
            known = {row.tobytes() for row in kept}
            share = np.mean([row.tobytes() in known for row in rows[: len(kept)]])
            restarted.append((now, share))
            # Nothing told so far dominates what is kept.
            for objectives in state.arrays["kept_objectives"]:
                better = (told <= objectives).all(axis=1) & (told < objectives).any(axis=1)
                assert not better.any()
        told = np.concatenate((told, evaluate(rows).objectives))
        last = now
    assert len(restarted) >= 4
    assert all(share == 1.0 for now, share in restarted if now % 2 == 0)
    assert all(share < 0.5 for now, share in restarted if now % 2 == 1)


def test_it_resumes_before_and_after_every_restart(often):
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    seen = []
    for rows, state in proposals(RestartingNsga2(space, seed=3, **SETTINGS), evaluate, 90):
        seen.append((rows, state, int(state.arrays["restarts"][0])))
    starts = [n for n in range(1, len(seen)) if seen[n][2] != seen[n - 1][2]]
    assert len(starts) >= 2
    for begin in {0, 7, *starts, *(n - 1 for n in starts)}:
        engine = RestartingNsga2(space, seed=3, **SETTINGS)
        engine.restore(seen[begin][1])
        engine.tell(seen[begin][0], evaluate(seen[begin][0]))
        for rows, _, _ in seen[begin + 1 :]:
            expected = engine.ask()
            assert np.array_equal(expected, rows)
            engine.tell(rows, evaluate(rows))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("restarts", np.array([-1])),
        ("evaluated", np.array([0.5])),
        ("kept_rows", np.full((1, 3), 10**6)),
        ("kept_objectives", np.zeros((3, 2), dtype=np.int64)),
        ("before", np.zeros((1, 5), dtype=np.int64)),
    ],
)
def test_a_state_that_is_none_is_refused(name, value):
    space = DesignSpace(reference_problem())
    engine = RestartingNsga2(space, seed=3, **SETTINGS)
    engine.ask()
    state = engine.state()
    broken = EngineState({**state.arrays, name: value}, state.generator)
    with pytest.raises(ValueError, match=name):
        engine.restore(broken)


def test_a_small_space_still_ends(often):
    space = small_space(3)
    result = search(
        RestartingNsga2(space, seed=1, **SETTINGS), make_outcomes(space.problem), Budget(10**6)
    )
    assert result.stopped_by.value == "exhausted"
