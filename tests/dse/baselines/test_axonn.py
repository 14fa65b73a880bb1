"""AxoNN and its budgeted path, against all mappings and all paths."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.baselines import budgeted_path
from paretosoc.dse.baselines.axonn import AxoNN
from paretosoc.dse.baselines.budgeted_path import Layer, fastest_path
from paretosoc.dse.baselines.evaluate_all import baseline_points
from paretosoc.dse.baselines.whole_networks import GpuOnly
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from tests.support.problems.baseline_problems import ALONE, CHAINS, problems


@pytest.mark.parametrize("seed", range(4))
def test_axonn_is_the_fastest_mapping_within_the_budget(seed):
    binding = 0
    for problem in problems(ALONE, 40, 100 + seed):
        space = DesignSpace(problem)
        axes = [np.flatnonzero(row) for row in problem.allowed]
        mappings = np.stack([a.reshape(-1) for a in np.meshgrid(*axes, indexing="ij")], axis=1)
        clocks = np.array([points[-1] for points in space.points])
        rows = space.canonical(
            np.concatenate((mappings, np.tile(clocks, (len(mappings), 1))), axis=1)
        )
        time, energy = make_outcomes(problem)(rows).objectives.T
        rng = np.random.default_rng(seed)
        for budget in np.quantile(energy, rng.random(4)).astype(np.int64).tolist():
            space = DesignSpace(replace(problem, energy_budget_fj=budget))
            (row,) = AxoNN(space).ask()
            (found,) = make_outcomes(problem)(row[None]).objectives
            within = energy <= budget
            if within.any():
                assert found[1] <= budget
                assert found[0] == time[within].min()
                binding += found[0] > time.min()
            else:
                assert found[1] == energy.min()
    assert binding > 2


def test_axonn_without_a_budget_takes_no_more_energy_than_the_gpu():
    for problem in problems(ALONE, 20, 9):
        points = {point.name: point.member for point in baseline_points(DesignSpace(problem))}
        gpu, axonn = points[GpuOnly.name], points[AxoNN.name]
        assert axonn.energy_fj <= gpu.energy_fj
        assert axonn.makespan_ps <= gpu.makespan_ps


def test_axonn_can_do_without_any_figure_of_power():
    for problem in problems(ALONE, 3, 14):
        powerless = replace(
            problem,
            units=tuple(
                replace(unit, dynamic_mw=0 * unit.dynamic_mw, idle_mw=0 * unit.idle_mw)
                for unit in problem.units
            ),
            domains=tuple(
                replace(domain, static_mw=0 * domain.static_mw) for domain in problem.domains
            ),
            board_mw=0,
            energy_budget_fj=1,
        )
        points = {point.name: point for point in baseline_points(DesignSpace(powerless))}
        assert not points[AxoNN.name].breaks


def test_axonn_leaves_graphs_to_others():
    graphs = [
        problem
        for problem in problems(replace(CHAINS, graphs=True, groups=(3, 5)), 30, 10)
        if len(problem.edges) != problem.group_count - len(problem.networks)
    ]
    assert graphs
    for problem in graphs:
        assert len(AxoNN(DesignSpace(problem)).ask()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_budgeted_path_is_the_best_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        layers = []
        for index in range(int(rng.integers(1, 7))):
            options = int(rng.integers(1, 4))
            before = len(layers[-1].units) if index else 0

            def draw(n: int) -> tuple[int, ...]:
                return tuple(rng.integers(0, 30, n).tolist())

            layers.append(
                Layer(
                    tuple(range(options)),
                    draw(options),
                    draw(options),
                    tuple(draw(options) for _ in range(before)),
                    tuple(draw(options) for _ in range(before)),
                )
            )
        sums = []
        for choice in itertools.product(*(layer.units for layer in layers)):
            time = sum(layer.time[o] for layer, o in zip(layers, choice, strict=True))
            energy = sum(layer.energy[o] for layer, o in zip(layers, choice, strict=True))
            for layer, (a, b) in zip(layers[1:], itertools.pairwise(choice), strict=True):
                time += layer.hop_time[a][b]
                energy += layer.hop_energy[a][b]
            sums.append((time, energy))
        budget = int(rng.integers(0, max(energy for _, energy in sums) + 2))
        found = fastest_path(layers, budget)
        assert (found.time, found.energy) in sums
        within = [time for time, energy in sums if energy <= budget]
        if within:
            assert found.energy <= budget
            assert found.time == min(within)
        else:
            assert found.energy == min(energy for _, energy in sums)


def test_too_many_labels_are_cut_but_the_budget_still_holds(monkeypatch):
    monkeypatch.setattr(budgeted_path, "MAX_LABELS", 2)
    rng = np.random.default_rng(11)
    units = (0, 1)
    for _ in range(30):
        layers = [Layer(units, *(tuple(rng.integers(1, 99, 2).tolist()) for _ in range(2)))]
        none = ((0, 0), (0, 0))
        for _ in range(9):
            draws = (tuple(rng.integers(1, 99, 2).tolist()) for _ in range(2))
            layers.append(Layer(units, *draws, none, none))
        budget = sum(min(layer.energy) for layer in layers) + 100
        assert fastest_path(layers, budget).energy <= budget
