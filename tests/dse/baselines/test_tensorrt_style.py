"""TensorRT-style runs on the GPU, against every choice of its clocks."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from paretosoc.dse.baselines.base import gpu_of
from paretosoc.dse.baselines.evaluate_all import baseline_points
from paretosoc.dse.baselines.whole_networks import TensorRtStyle
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.baseline_problems import CHAINS, problems


def tensorrt_front(problem):
    space = DesignSpace(problem)
    return space, [p for p in baseline_points(space) if p.name == TensorRtStyle.name]


def test_tensorrt_style_is_the_exhaustive_front_over_the_gpus_clocks():
    """Against every choice of its clocks, one by one, and dominance pair by pair."""
    for problem in problems(replace(CHAINS, networks=(1, 2), unsupported=0.0), 8, 21):
        piped = replace(
            problem,
            objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
            execution=Pipeline(1),
        )
        space, points = tensorrt_front(piped)
        gpu = gpu_of(space)
        unit = piped.units[gpu]
        ladders = [range(len(domain.frequencies_khz)) for domain in piped.domains]
        on = set(unit.clocks) | {
            d for d, domain in enumerate(piped.domains) if not domain.may_be_off
        }
        vectors = set()
        for choice in itertools.product(*ladders):
            fixed = [d for d in on if d not in unit.clocks]
            off = [d for d in range(len(ladders)) if d not in on]
            if any(choice[d] for d in off) or any(choice[d] != len(ladders[d]) - 1 for d in fixed):
                continue
            row = np.array([[gpu] * piped.group_count + list(choice)], dtype=np.int64)
            vectors.add(tuple(make_outcomes(piped)(row).objectives[0].tolist()))
        kept = {
            v for v in vectors if not any(w != v and w[0] <= v[0] and w[1] <= v[1] for w in vectors)
        }
        assert {point.member.objectives for point in points} == kept
        assert points[0].member.objectives == min(kept)


def test_tensorrt_style_needs_throughput_as_an_objective():
    (problem,) = problems(CHAINS, 1, 22)
    assert tensorrt_front(problem)[1] == []
