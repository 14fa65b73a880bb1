"""What the plain evaluator finds wrong with members that the compiled one has made."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.dse.certificate.verify import members
from paretosoc.dse.certificate.verify.members import check_members, what_is_wrong
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.front import Member
from paretosoc.results.problem.execution import (
    ExecutionModel,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
)
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import random_power_problem

SHAPE = RandomShape(networks=(1, 3), groups=(1, 3), units=(1, 3), points=(1, 3))
ENERGY = (Objective(ObjectiveKind.ENERGY),)


def member_of(problem: Problem, rng: np.random.Generator) -> tuple[Member, tuple[str, ...]]:
    """A design point as a member, and the names of the limits that it breaks."""
    row = DesignSpace(problem).canonical(random_design(rng, problem).row[None])
    outcomes = make_outcomes(problem)(row)
    assert outcomes.possible.all()
    (member,) = make_members(problem, row, outcomes.objectives)
    pairs = zip(constraints_of(problem), outcomes.constraint_values[0].tolist(), strict=True)
    return member, tuple(constraint.name for constraint, value in pairs if value > constraint.limit)


@pytest.mark.parametrize(
    "execution",
    [OneFrame(), Periodic(12_345_678_901), Pipeline(2), FreeRunning(2)],
    ids=lambda execution: execution.model,
)
def test_energy_by_unit_is_what_the_members_have(execution: ExecutionModel) -> None:
    shape = SHAPE if execution.has_frame else replace(SHAPE, waiting=False)
    drawing = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        problem = replace(random_problem(rng, shape), objectives=ENERGY, execution=execution)
        member, _ = member_of(problem, rng)
        assert what_is_wrong(problem, member, ()) is None
        for u, energy in enumerate(member.energy_by_unit_fj):
            claimed = [*member.energy_by_unit_fj]
            claimed[u] = energy - 1
            wrong = what_is_wrong(problem, replace(member, energy_by_unit_fj=tuple(claimed)), ())
            assert wrong == f"energy of {problem.units[u].name} is {energy}, not {energy - 1}"
            drawing += energy > 0
    assert drawing > 25


def test_processes_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    problem = replace(random_problem(rng, SHAPE), objectives=ENERGY)
    member, breaks = member_of(problem, rng)
    false = replace(member, energy_fj=member.energy_fj + 1)
    claims = [(member, breaks), (false, breaks)] * 20
    alone = list(check_members(problem, claims))
    monkeypatch.setattr(members, "MANY_EXECUTIONS", 0)
    monkeypatch.setattr(members.os, "cpu_count", lambda: 2)
    started, pool = [], members.ProcessPoolExecutor

    def counted(processes: int, context: BaseContext, begin: Any) -> ProcessPoolExecutor:
        started.append(processes)
        return pool(processes, context, begin)

    monkeypatch.setattr(members, "ProcessPoolExecutor", counted)
    assert list(check_members(problem, claims)) == alone
    assert started == [2]
    assert alone[0] is None
    assert alone[1] is not None


def test_exactly_the_limits_that_a_point_breaks_are_named() -> None:
    seen: Counter[str] = Counter()
    for seed in range(80):
        rng = np.random.default_rng(seed)
        problem = random_power_problem(rng, ObjectiveKind.LATENCY)
        member, breaks = member_of(problem, rng)
        assert what_is_wrong(problem, member, breaks) is None, (seed, breaks)
        for index, name in enumerate(breaks):
            without = breaks[:index] + breaks[index + 1 :]
            assert what_is_wrong(problem, member, without) is not None
            seen[name.split()[0]] += 1
        others = [c.name for c in constraints_of(problem) if c.name not in breaks]
        for name in (*others, "gap"):
            wrong = what_is_wrong(problem, member, (*breaks, name))
            assert wrong is not None
            assert wrong.startswith("breaks ")
    assert set(seen) == {"transitions", "segments", "latency", "makespan", "power", "energy"}, seen


def test_so_are_least_rates() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = replace(
            random_problem(rng, replace(SHAPE, waiting=False)),
            objectives=ENERGY,
            execution=FreeRunning(1),
        )
        networks = [
            replace(network, min_rate_uhz=1 if n % 2 else 10**18)
            for n, network in enumerate(problem.networks)
        ]
        problem = replace(problem, networks=tuple(networks))
        member, breaks = member_of(problem, rng)
        assert breaks == tuple(f"rate of {network.name}" for network in networks[::2])
        assert what_is_wrong(problem, member, breaks) is None
        for claimed in (breaks[1:], (*breaks, "power")):
            assert what_is_wrong(problem, member, claimed) is not None
