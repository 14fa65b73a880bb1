"""One unit per network at free clocks: the exact front of all such design points."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from paretosoc.dse.baselines import one_unit
from paretosoc.dse.baselines.base import whole_networks
from paretosoc.dse.baselines.evaluate_all import one_unit_points
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from tests.support.problems.baseline_problems import CHAINS, problems


def test_it_is_the_exhaustive_front():
    """Against every mapping and every choice of clocks, and dominance pair by pair."""
    for problem in problems(replace(CHAINS, networks=(1, 2)), 6, 31):
        space = DesignSpace(problem)
        units = range(len(problem.units))
        rows = np.array(
            [
                [*whole_networks(space, list(choice)).tolist(), *clocks]
                for choice in itertools.product(units, repeat=len(problem.networks))
                for clocks in itertools.product(*(points.tolist() for points in space.points))
            ]
        )
        outcomes = make_outcomes(problem)(space.canonical(rows))
        vectors = {tuple(row) for row in outcomes.objectives[outcomes.feasible].tolist()}
        kept = {
            v
            for v in vectors
            if not any(w != v and all(a <= b for a, b in zip(w, v, strict=True)) for w in vectors)
        }
        points = one_unit_points(space)
        assert {p.member.objectives for p in points if not p.breaks} == kept
        assert len(points) == max(len(kept), 1)


def test_too_many_are_not_tried(monkeypatch):
    (problem,) = problems(CHAINS, 1, 32)
    assert one_unit_points(DesignSpace(problem))
    monkeypatch.setattr(one_unit, "MAX_EXECUTIONS", 1)
    assert one_unit_points(DesignSpace(problem)) == ()


def test_mappings_beyond_the_limit_are_not_written_down(monkeypatch):
    """With ten networks on five units there are millions: the count ends at the limit."""
    (problem,) = problems(replace(CHAINS, networks=(10, 10)), 1, 33)
    written = []

    def noted(space, units):
        written.append(units)
        return whole_networks(space, units)

    monkeypatch.setattr(one_unit, "whole_networks", noted)
    monkeypatch.setattr(one_unit, "MAX_MAPPINGS", 50)
    assert one_unit_points(DesignSpace(problem)) == ()
    assert len(written) == 51
