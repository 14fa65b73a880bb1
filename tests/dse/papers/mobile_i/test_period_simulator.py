"""One period under contention, against the plain timeline."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from examples.mobile_i.pipeline import PeriodSimulator
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.results.problem.parts import ProblemNetwork


def alone(problem):
    """The same groups, each a network of its own, nothing waiting for anything."""
    names = [
        (n.first_group + k, name) for n in problem.networks for k, name in enumerate(n.group_names)
    ]
    units = len(problem.units)
    return replace(
        problem,
        networks=tuple(ProblemNetwork(f"{g}", g, group_names=(name,)) for g, name in names),
        edges=(),
        transition_ps=np.zeros((0, units, units), dtype=np.int64),
    )


def test_groups_that_wait_for_nothing_are_played_as_the_timeline_plays_them():
    rng = np.random.default_rng(5)
    met: Counter[str] = Counter()
    for _ in range(300):
        problem = random_problem(rng, RandomShape(groups=(1, 6)))
        design = random_design(rng, problem)
        lists = [np.flatnonzero(design.units == u).tolist() for u in range(len(problem.units))]
        played = PeriodSimulator(problem, design).simulate(lists)
        plain = simulate(alone(problem), design)
        rows = {row.group: row for row in plain.schedule.groups}
        for groups, starts, ends in zip(lists, played.start_ps, played.end_ps, strict=True):
            assert [rows[g].start_ps for g in groups] == list(starts)
            assert [rows[g].end_ps for g in groups] == list(ends)
        assert played.period_ps == plain.frame_end_ps[0]
        loads = [sum(rows[g].alone_ps for g in groups) for groups in lists]
        assert played.period_ps >= max(loads)
        met["stretched"] += played.period_ps > max(loads)
        met["several units"] += sum(map(bool, lists)) > 1
    assert min(met.values()) > 50, met


def test_without_contention_the_period_is_the_largest_load_in_any_order():
    rng = np.random.default_rng(6)
    for _ in range(100):
        problem = random_problem(rng, RandomShape(contention=False, groups=(1, 6)))
        design = random_design(rng, problem)
        simulator = PeriodSimulator(problem, design)
        lists = [np.flatnonzero(design.units == u) for u in range(len(problem.units))]
        shuffled = [rng.permutation(groups).tolist() for groups in lists]
        largest = max(sum(simulator.alone_ps[g] for g in groups) for groups in shuffled)
        assert simulator.simulate(shuffled).period_ps == largest


def test_a_unit_that_cannot_run_a_group_is_named():
    rng = np.random.default_rng(7)
    while True:
        problem = random_problem(rng, RandomShape(unsupported=0.5))
        if not problem.allowed.all():
            break
    design = random_design(rng, problem)
    group, unit = np.argwhere(~problem.allowed)[0]
    design.units[group] = unit
    with pytest.raises(ValueError, match=f"group {group} cannot run on unit"):
        PeriodSimulator(problem, design)
