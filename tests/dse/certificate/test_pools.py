"""Problems with number formats, losses of accuracy and memory pools: compiled evaluators against
plain ones, exact fronts against enumeration.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from benchmarks.problems.enumerated.space import all_designs
from benchmarks.problems.memory import most_bytes, with_memory, with_pools
from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.limits import POOL as POOL_LIMIT
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from tests.support.sample import SAMPLE

PROBLEMS = 40 * SAMPLE
SHAPE = RandomShape(networks=(1, 2), groups=(1, 3), units=(2, 3), points=(1, 2), phases=True)
MAX_DESIGNS = 3000
POOL = (
    Objective(ObjectiveKind.LATENCY),
    Objective(ObjectiveKind.ENERGY),
    Objective(ObjectiveKind.MEMORY),
    Objective(ObjectiveKind.ACCURACY_LOSS),
)


def drawn(rng: np.random.Generator) -> tuple[Problem, np.ndarray]:
    """A problem with some of the objectives, and all its design points."""
    while True:
        base = random_problem(rng, replace(SHAPE, ties=bool(rng.integers(2))))
        problem = with_memory(rng, with_formats(rng, base, most=2))
        problem = with_pools(rng, problem, most_bytes(problem))
        rows = all_designs(problem)
        if len(rows) <= MAX_DESIGNS:
            break
    count = int(rng.integers(1, 4))
    chosen = sorted(rng.choice(len(POOL), count, replace=False).tolist())
    problem = replace(problem, objectives=tuple(POOL[i] for i in chosen))
    check_problem(problem)
    return problem, rows


def test_compiled_equals_plain_and_the_exact_front_the_enumeration() -> None:
    seen: Counter[str] = Counter()
    for seed in range(PROBLEMS):
        rng = np.random.default_rng([32, seed])
        problem, rows = drawn(rng)
        outcomes = make_outcomes(problem)(rows)
        limits = constraints_of(problem)
        for i in rng.integers(len(rows), size=4).tolist():
            plain = plain_outcome(problem, problem.design_of(rows[i]))
            assert tuple(outcomes.objectives[i].tolist()) == plain.objectives, seed
            names = [
                limit.name
                for limit, value in zip(limits, outcomes.constraint_values[i], strict=True)
                if value > limit.limit
            ]
            assert sorted(names) == sorted(str(one.constraint) for one in plain.broken), seed
            seen["pool broken"] += any(name.startswith("memory of") for name in names)
        feasible = outcomes.objectives[outcomes.feasible]
        expected = feasible[non_dominated(feasible)] if len(feasible) else feasible
        result = find_front(problem, jobs=1)
        assert result.complete, seed
        assert {*map(tuple, result.objectives.tolist())} == {*map(tuple, expected.tolist())}, seed
        # What the limits of pools alone rule out.
        of_pools = [limit.kind is POOL_LIMIT for limit in limits]
        others = np.array([limit.limit for limit in limits], dtype=np.int64)
        kept = (outcomes.constraint_values <= others)[:, ~np.array(of_pools, dtype=bool)]
        free = outcomes.objectives[outcomes.possible & kept.all(axis=1)]
        best = free[non_dominated(free)] if len(free) else free
        seen["pools matter"] += {*map(tuple, best.tolist())} != {*map(tuple, expected.tolist())}
        seen["formats"] += problem.has_formats
        seen["losses limited"] += any(n.max_loss_ppm is not None for n in problem.networks)
        seen["whole networks"] += any(unit.loads_whole_networks for unit in problem.units)
        seen["several members"] += len(expected) > 1
        seen["infeasible"] += not len(expected)
    print(PROBLEMS, dict(seen))
    assert min(seen.values()) > PROBLEMS // 20, seen
