"""Units that run engines, or are shared: a program that knows only the files says of members what
the checker says, and what the three dispatches have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from benchmarks.problems.enumerated.formats import enumerated_formats
from benchmarks.problems.enumerated.frames import enumerated
from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.rates import enumerated_rates
from benchmarks.problems.enumerated.space import Enumerated
from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.simulate import simulate
from paretosoc.results.problem.execution import DISPATCHES, ENGINE, GROUP, SHARED
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_to_document
from tests.results.conftest import load_recompute
from tests.support.sample import SAMPLE

COUNT = 10 * SAMPLE
LONG_RUNS = ("pipeline", "free-running")
OTHERS = RandomShape(networks=(1, 4), groups=(1, 5), phases=True)


@pytest.mark.parametrize(
    "draw", [enumerated, enumerated_model, enumerated_rates, enumerated_formats]
)
def test_members_are_recomputed_from_the_files(draw: Callable[[int], Enumerated | None]) -> None:
    program, seeds, seen = load_recompute(), count(), 0
    while seen < COUNT:
        seed = next(seeds)
        found = draw(seed)
        if found is None or {unit.dispatch for unit in found.problem.units} == {GROUP}:
            continue
        problem, seen = found.problem, seen + 1
        design = random_design(np.random.default_rng(seed), problem)
        said = plain_outcome(problem, design)
        document = problem_to_document(problem)
        model = document["execution"]["model"]
        unit_of = [problem.units[u].name for u in design.units]
        names = [domain.name for domain in problem.domains]
        point = dict(zip(names, design.operating_points.tolist(), strict=True))
        of_networks = problem.priorities(design)
        priorities = {n.name: p for n, p in zip(problem.networks, of_networks, strict=True)}
        rows = program.replay(document, unit_of, point, priorities)
        played = None
        if model in LONG_RUNS:
            played = program.replay(document, unit_of, point, priorities, endless=True)
        if model == "rates":
            played, window = program.what_recurs(document, unit_of, point, priorities, rows)
            assert window == (said.window_ps and [*said.window_ps]), seed
            if window is None:
                continue
        figures, by_unit = program.figures(document, unit_of, point, rows, played)
        asked = [objective["name"] for objective in document["objectives"]]
        assert tuple(figures[name] for name in asked) == said.objectives, seed
        assert tuple(by_unit.values()) == said.energy_by_unit_fj, seed


def dispatched(problem: Problem, dispatch: str, permille: int = 0) -> Problem:
    """Return the problem with this dispatch of all units."""
    units = (replace(u, dispatch=dispatch, sharing_permille=permille) for u in problem.units)
    return replace(problem, units=tuple(units))


def played(problem: Problem, design: DesignPoint) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Return start and end of every execution of one frame."""
    return {
        (one.network, one.repeat, one.group): (one.start_ps, one.end_ps)
        for one in simulate(problem, design).schedule.groups
    }


def longest_path(problem: Problem, design: DesignPoint) -> int:
    """Return the longest time that groups of one network take one after the other in a repeat."""
    ends: dict[int, int] = {}
    moving = problem.moving_ps(design.units)
    for g, u in enumerate(design.units.tolist()):
        unit = problem.units[u]
        at = tuple(int(design.operating_points[clock]) for clock in unit.clocks)
        before = [
            ends[source] + int(problem.delay_ps[e][design.units[source], u])
            for e, (source, target) in enumerate(problem.edges)
            if target == g
        ]
        ends[g] = max([0, *before]) + int(unit.time_ps[(g, *at)]) + int(moving[g])
    return max(ends.values())


@pytest.mark.parametrize("seed", range(4 * COUNT))
def test_what_dispatches_have_in_common(seed: int) -> None:
    rng = np.random.default_rng([71, seed])
    problem = random_problem(rng, replace(OTHERS, ties=bool(rng.integers(2))))
    design = random_design(rng, problem)
    path = longest_path(problem, design)
    for dispatch in DISPATCHES:
        sharing = int(rng.integers(500)) if dispatch == SHARED else 0
        timeline = played(dispatched(problem, dispatch, sharing), design)
        assert max(end for _, end in timeline.values()) >= path, dispatch

    # Of one network there is nothing to share with, whatever sharing costs.
    alone = random_problem(rng, replace(OTHERS, networks=(1, 1)))
    design = random_design(rng, alone)
    engine = played(dispatched(alone, ENGINE), design)
    assert played(dispatched(alone, SHARED, int(rng.integers(500))), design) == engine

    # Nor if every unit has the groups of one network.
    own = random_problem(rng, replace(OTHERS, networks=(2, 2), units=(2, 2), unsupported=0.0))
    units = np.repeat([0, 1], [len(network.group_names) for network in own.networks])
    design = replace(random_design(rng, own), units=units)
    engine = played(dispatched(own, ENGINE), design)
    assert played(dispatched(own, SHARED, int(rng.integers(500))), design) == engine

    # Engines of one group are groups.
    single = random_problem(rng, replace(OTHERS, groups=(1, 1)))
    design = random_design(rng, single)
    assert played(dispatched(single, ENGINE), design) == played(single, design)
