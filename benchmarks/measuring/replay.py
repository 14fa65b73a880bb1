"""A decision replayed: measure, decide, and look how far the choice really is from the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from benchmarks.measuring.cases import Case
from paretosoc.common.arrays import FloatArray
from paretosoc.dse.space.members import rows_of
from paretosoc.dse.tools.analysis.cost_draws import CostErrors
from paretosoc.dse.tools.analysis.posterior import Stretch
from paretosoc.dse.tools.measuring.experiments import Experiment, experiments_of
from paretosoc.dse.tools.measuring.planning import Decisions, ExpectedLoss
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.costs.cost_origins import CostMeasurement

ENOUGH = 0.01
"""True regret of a choice that is good enough."""
DRAWS = 250
_MOST_SETS = 25
"""Sets of as many measurements that are tried."""
Policy = Callable[["State"], int]
"""Returns the place of the next experiment among those that are left."""


@dataclass(frozen=True, eq=False)
class State:
    """What a policy knows."""

    case: Case
    goal: str
    errors: CostErrors
    decisions: Decisions
    left: Sequence[Experiment]
    rng: np.random.Generator


def by_value(state: State) -> int:
    """Choose the experiment that ``dse measure next`` puts first; in order if none is worth it."""
    rivals = state.decisions.rivals()
    losses = {state.goal: state.decisions.drawn.losses[state.goal][:, rivals]}
    value = ExpectedLoss(state.errors, losses, DRAWS, 0, has_power=state.case.has_power)
    after = [value.after([experiment]).mean for experiment in state.left]
    return int(np.argmin(after)) if min(after) < value.now else 0


def at_random(state: State) -> int:
    """Choose any."""
    return int(state.rng.integers(len(state.left)))


def in_order(state: State) -> int:
    """Choose the next of the grid: network by network, unit by unit, from the slowest clocks."""
    return 0


def corners_first(state: State) -> int:
    """Choose the corners of the clocks of each network on each unit, then the rest of the grid."""
    for place, experiment in enumerate(state.left):
        if _is_corner(experiment, state.case):
            return place
    return 0


POLICIES: dict[str, Policy] = {
    "value": by_value,
    "random": at_random,
    "grid": in_order,
    "corners": corners_first,
}


def grid_of(case: Case) -> list[Experiment]:
    """Return all experiments on entire networks at clocks of members, in the order of a grid."""
    members = range(len(case.front.members))
    found = experiments_of(case.front, case.errors, members)
    return sorted(found, key=lambda one: (one.network, one.at.unit, _own_points(one)))


def _own_points(experiment: Experiment) -> tuple[int, ...]:
    clocks = experiment.problem.units[experiment.at.unit].clocks
    return tuple(point for d in clocks if (point := experiment.at.points[d]) is not None)


def _is_corner(experiment: Experiment, case: Case) -> bool:
    """Return whether its clocks are the slowest or fastest of all that its unit has in the grid."""
    alike = [
        _own_points(one)
        for one in grid_of_cached(case)
        if (one.network, one.at.unit) == (experiment.network, experiment.at.unit)
    ]
    ends = [{min(axis), max(axis)} for axis in zip(*alike, strict=True)]
    own = _own_points(experiment)
    return all(point in end for point, end in zip(own, ends, strict=True))


class Replay:
    """A case, and what sets of its measurements decide, each simulated once for all goals."""

    def __init__(self, case: Case) -> None:
        self.case, self.grid = case, grid_of_cached(case)
        self._known: dict[tuple[int, ...], tuple[CostErrors, Decisions]] = {}

    def after(self, places: Iterable[int]) -> tuple[CostErrors, Decisions]:
        """Return errors and decisions after the measurements with these places in the grid."""
        key = tuple(sorted(places))
        if key not in self._known:
            case = self.case
            taken = tuple(measured(case, self.grid[place]) for place in key)
            errors = replace(case.errors, measured=taken)
            self._known[key] = errors, Decisions.of(case.front, errors, None, DRAWS, 0)
        return self._known[key]


_GRIDS: dict[Case, list[Experiment]] = {}


def grid_of_cached(case: Case) -> list[Experiment]:
    """Return the grid of a case, made once."""
    if case not in _GRIDS:
        _GRIDS[case] = grid_of(case)
    return _GRIDS[case]


def true_regrets(case: Case, goal: str) -> FloatArray:
    """Return how far each member really is from the best, [members]: a share, for the knee of the
    ranges."""
    figures = make_outcomes(case.truth)(rows_of(case.front.members)).objectives.astype(np.float64)
    if goal == "knee":
        span = np.ptp(figures, axis=0)
        sums = ((figures - figures.min(axis=0)) / np.where(span, span, 1)).sum(axis=1)
        regrets: FloatArray = sums - sums.min()
        return regrets
    column = figures[:, 0 if goal == "fastest" else 1]
    shares: FloatArray = column / column.min() - 1
    return shares


def measured(case: Case, experiment: Experiment) -> CostMeasurement:
    """Return what a board with the case's truth shows."""
    truth = Stretch(replace(case.errors, problem=case.truth), experiment.at)
    idle = round(truth.idle_mw)
    power = idle + round(truth.dynamic_mw)
    powers = (power, idle) if case.has_power and power > idle > 0 else ()
    return experiment.measurement(round(truth.time_ps), *powers)


def of_goal(decisions: Decisions, goal: str) -> Decisions:
    """Return those for one goal."""
    drawn = decisions.drawn
    own = replace(
        drawn,
        values={goal: drawn.values[goal]},
        least={goal: drawn.least[goal]},
        best={goal: drawn.best[goal]},
    )
    return replace(decisions, drawn=own)


def measurements_needed(
    replay: Replay, goal: str, policy: Policy, *, seed: int, most: int
) -> tuple[int | None, list[float]]:
    """Return after how many measurements the choice is good enough, None if not within ``most`` or
    all that there are, and the true regret of the choice after 0, 1, 2, ... of them."""
    regrets, left = true_regrets(replay.case, goal), list(range(len(replay.grid)))
    done, rng, seen = list[int](), np.random.default_rng(seed), list[float]()
    for count in range(most + 1):
        errors, decisions = replay.after(done)
        decisions = of_goal(decisions, goal)
        seen.append(float(regrets[decisions.taken()[goal].member]))
        if seen[-1] < ENOUGH:
            return count, seen
        if not left:
            break
        experiments = [replay.grid[place] for place in left]
        done.append(left.pop(policy(State(replay.case, goal, errors, decisions, experiments, rng))))
    return None, seen


def fewest_needed(replay: Replay, goal: str, *, most: int) -> tuple[int, bool]:
    """Return the fewest measurements after which the choice is good enough, for one who knows the
    truth, and whether it is known that so many are: sets are tried by their size, until there are
    too many of a size. ``most + 1`` if no set of at most ``most`` is good enough."""
    regrets, count = true_regrets(replay.case, goal), len(replay.grid)
    for size in range(1, min(most, count) + 1):
        if size > 1 and comb(count, size) > _MOST_SETS:
            return size, False
        for places in combinations(range(count), size):
            taken = of_goal(replay.after(places)[1], goal).taken()[goal]
            if regrets[taken.member] < ENOUGH:
                return size, True
    return most + 1, True
