"""Which proposals walkers go on to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.optimizers.annealing import COLD, CYCLE, HOT, RETURNING, AnnealingEngine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.small_spaces import enumerated, small_space

WALKERS = 2000
POWER_CAP_UW = 1_000_000


@pytest.fixture(scope="module")
def space() -> DesignSpace:
    objectives = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))
    found = small_space(0, objectives=objectives)
    networks = tuple(
        replace(n, max_transitions=None, deadline_ps=None) for n in found.problem.networks
    )
    units = tuple(replace(unit, max_segments=None) for unit in found.problem.units)
    return DesignSpace(replace(found.problem, networks=networks, units=units, power_cap_mw=1000))


def told(
    engine: AnnealingEngine, row: IntArray, objectives: tuple[int, int], power_uw: int = 0
) -> float:
    """Tells all walkers the same outcome, and says which share of them is at the row then."""
    shape = (WALKERS, 1)
    kept = np.full(WALKERS, power_uw <= POWER_CAP_UW)
    outcomes = Outcomes(
        possible=np.ones(WALKERS, dtype=np.bool_),
        objectives=np.tile(np.array(objectives, dtype=np.int64), shape),
        constraint_values=np.full(shape, power_uw, dtype=np.int64),
        feasible=kept,
    )
    engine.tell(np.tile(row, shape), outcomes)
    return float((engine.state().arrays["walkers"] == row).all(axis=1).mean())


def test_better_rows_are_always_taken_and_far_worse_ones_never(space: DesignSpace) -> None:
    rows = enumerated(space)
    engine = AnnealingEngine(space, seed=1, walkers=WALKERS)
    assert told(engine, rows[0], (10, 10)) == 1
    assert told(engine, rows[1], (20, 20)) == 0
    assert told(engine, rows[2], (10, 10)) > 1 - 2 * RETURNING, "as good is taken, too"
    assert told(engine, rows[3], (5, 9)) == 1


def test_a_little_worse_is_taken_while_it_is_hot_and_not_when_it_is_cold(
    space: DesignSpace,
) -> None:
    """The product of the shares of the front's ranges is 0.1, and so e^-1 are taken at 0.1."""
    rows = enumerated(space)
    shares = []
    for steps in (0, CYCLE - 1, CYCLE):
        engine = AnnealingEngine(space, seed=1, walkers=WALKERS)
        for row, objectives in ((0, (0, 100)), (1, (100, 0)), (2, (50, 50))):
            told(engine, rows[row], objectives)
        while engine.state().arrays["steps"][0] < steps:
            told(engine, rows[2], (50, 50))
        state = engine.state()
        # All at the same place: walkers that had returned to the front's ends come back.
        state.arrays["walkers"][:] = rows[2]
        state.arrays["objectives"][:] = 50
        state.arrays["steps"][:] = steps
        engine.restore(state)
        shares.append(told(engine, rows[3], (60, 150)))
    hot, cold, hot_again = shares
    expected = np.exp(-0.1 / HOT) * (1 - RETURNING)
    assert hot == pytest.approx(expected, abs=0.03)
    assert hot_again == pytest.approx(expected, abs=0.03)
    assert np.exp(-0.1 / COLD) < 1e-100
    assert cold == 0


def test_what_breaks_constraints_less_is_better(space: DesignSpace) -> None:
    rows = enumerated(space)
    engine = AnnealingEngine(space, seed=1, walkers=WALKERS)
    told(engine, rows[0], (1, 1), 3 * POWER_CAP_UW)
    assert told(engine, rows[1], (50, 50), 2 * POWER_CAP_UW) == 1
    assert told(engine, rows[2], (1, 1), 3 * POWER_CAP_UW) == 0
    assert told(engine, rows[3], (99, 99), POWER_CAP_UW) == 1
    assert told(engine, rows[4], (1, 1), 2 * POWER_CAP_UW) == 0
