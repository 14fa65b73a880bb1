"""Baselines where groups choose among number formats: each method in each of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from paretosoc.dse.baselines.evaluate_all import BASELINES, baseline_points, method_of
from paretosoc.dse.baselines.one_unit import OneFormat, formats_of, in_one_format
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem_check import check_problem
from tests.support.problems.random_spaces import random_limited_problem

ORIN = load_platform("jetson-agx-orin")
KINDS = (
    ObjectiveKind.LATENCY,
    ObjectiveKind.ENERGY,
    ObjectiveKind.ACCURACY_LOSS,
    ObjectiveKind.MEMORY,
)


MEMORY = KINDS.index(ObjectiveKind.MEMORY)


def loads_mixed(view: OneFormat, row: np.ndarray) -> bool:
    """Whether a unit loads a whole network some groups of which cannot run there in the format: the
    whole problem has it there in one format."""
    for network in view.problem.networks:
        groups = list(network.groups)
        for u in set(row[groups].tolist()):
            mixed = len(set(view.entries[groups, u].tolist())) > 1
            if mixed and view.problem.units[u].loads_whole_networks:
                return True
    return False


def built(precision: str) -> BuiltProblem:
    options = Options(
        precision=tuple(precision.split(",")), groups=4, objectives=("latency", "energy")
    )
    return build_problem(workload_from(["alexnet", "mobilenet_v2"]), ORIN, options)


def test_rows_of_one_format_mean_the_same_in_the_whole_problem() -> None:
    """By the plain evaluator in one format, by the compiled one in the whole problem."""
    compared = left_out = mixed = 0
    for seed in range(60):
        rng = np.random.default_rng([31, seed])
        problem = with_memory(rng, with_formats(rng, random_limited_problem(rng, engines=False)))
        problem = replace(problem, objectives=tuple(map(Objective, KINDS)))
        space = DesignSpace(problem)
        for name in formats_of(problem):
            view = in_one_format(problem, name)
            check_problem(view.problem)
            rows = DesignSpace(view.problem).random(rng, 4)
            for row in rows:
                found = view.rows(row[None])
                left_out += not len(found)
                for whole in found:
                    (outcome,) = make_outcomes(problem)(whole[None]).objectives.tolist()
                    plain = plain_outcome(view.problem, view.problem.design_of(row))
                    expected = list(plain.objectives)
                    if loads_mixed(view, row):
                        expected[MEMORY] = outcome[MEMORY]
                        mixed += 1
                    assert outcome == expected
                    assert space.holds(whole[None]).all()
                    compared += 1
    assert compared - mixed > 200
    assert left_out > 5


def test_a_group_falls_back_to_another_format_on_its_unit() -> None:
    fallen = 0
    for seed in range(40):
        rng = np.random.default_rng([32, seed])
        problem = with_formats(rng, random_limited_problem(rng))
        for name in formats_of(problem):
            view = in_one_format(problem, name)
            for (g, u), entry in np.ndenumerate(view.entries):
                unit = problem.units[entry]
                own = [e for e, other in enumerate(problem.units) if other.unit == unit.unit]
                assert view.problem.units[u].name == unit.unit
                runs = [e for e in own if problem.allowed[g, e]]
                assert view.problem.allowed[g, u] == bool(runs)
                asked = [e for e in runs if problem.units[e].number_format == name]
                if asked:
                    assert [entry] == asked
                elif runs:
                    assert entry == runs[0]
                    fallen += 1
    assert fallen > 20


@pytest.mark.parametrize("name", ["int8", "fp16"])
def test_a_method_in_one_format_is_that_of_a_run_in_it(name: str) -> None:
    """Where nothing contends: all on the GPU."""
    mixed, alone = built("int8,fp16"), built(name)
    points = {point.name: point for point in baseline_points(DesignSpace(mixed.problem))}
    others = {point.name: point for point in baseline_points(DesignSpace(alone.problem))}
    ours, theirs = points[f"gpu-only:{name}"], others["gpu-only"]
    assert ours.label == f"GPU only ({name})"
    assert ours.member.objectives == theirs.member.objectives
    units = {mixed.problem.units[u].name for u in ours.member.design.units.tolist()}
    assert units == {f"gpu:{name}"}


def test_every_method_is_there_in_every_format() -> None:
    points = baseline_points(DesignSpace(built("int8,fp16").problem))
    assert [point.name for point in points] == [
        f"{method.name}:{name}"
        for method in BASELINES
        if not method.has_front
        for name in ("int8", "fp16")
    ]
    assert {method_of(point.name) for point in points} <= {method.name for method in BASELINES}
