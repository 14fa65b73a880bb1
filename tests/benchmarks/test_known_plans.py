"""Co-runs whose plans are published: how a plan becomes a design point, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.validation.known_plans import (
    built_pair,
    co_runs_of,
    left_out,
    plan_row,
    predicted,
    sharing,
)
from paretosoc.results.problem.execution import ENGINE, SHARED
from paretosoc.sdf.layer import LayerKind


@pytest.fixture(scope="module")
def built():
    return built_pair(("googlenet", "resnet101"))


def weighted_on(built, row, network, unit):
    """Convolutions and inner products of a network that a design point puts on a unit."""
    problem = built.problem
    u = [entry.name for entry in problem.units].index(unit)
    first = problem.networks[network].first_group
    return sum(
        layer.kind in (LayerKind.CONVOLUTION, LayerKind.MATRIX_PRODUCT)
        for g, group in enumerate(built.networks[network].groups)
        if row[first + g] == u
        for layer in group.layers
    )


def test_the_artifact_has_five_plans_for_each_of_four_pairs() -> None:
    runs = co_runs_of("artifact")
    assert len({(run.experiment, run.scheduler) for run in runs}) == 20
    assert {run.experiment for run in runs} == {1, 2, 3, 4}
    assert [run.experiment for run in runs if run.is_sum] == [3]
    assert len(co_runs_of("starter guide")) == 4


def test_a_plan_is_cut_at_the_nearest_group(built) -> None:
    """GoogLeNet changes after inception 4c, 33 of 58 weighted layers; ResNet-101 at once."""
    row = plan_row(built, ("gpu", "dla0"), (33, 1))
    largest = max(
        sum(layer.kind is LayerKind.CONVOLUTION for layer in group.layers)
        for network in built.networks
        for group in network.groups
    )
    assert abs(weighted_on(built, row, 0, "gpu") - 33) <= largest / 2
    assert weighted_on(built, row, 1, "dla0") <= largest / 2
    assert weighted_on(built, row, 1, "gpu") >= 104 - largest / 2
    groups = built.problem.group_count
    assert built.problem.allowed[np.arange(groups), row[:groups]].all()


def test_whole_networks_stay_and_the_other_order_is_the_mirror(built) -> None:
    groups = built.problem.group_count
    alone = plan_row(built, ("gpu", "gpu"), (10**6, 10**6))[:groups]
    assert len(set(alone.tolist())) == 1
    there = plan_row(built, ("gpu", "gpu"), (21, 73))[:groups]
    back = plan_row(built, ("dla0", "dla0"), (21, 73))[:groups]
    free = built.problem.allowed.all(axis=1)
    assert (there != back)[free].all()


def test_the_processes_share_the_gpu_as_on_the_board(built) -> None:
    units = [(unit.name, unit.dispatch, unit.sharing_permille) for unit in built.problem.units]
    assert units == [("gpu", SHARED, 120), ("dla0", ENGINE, 0)]
    free = sharing(0)(built.problem)
    assert [unit.sharing_permille for unit in free.units] == [0, 0]


def test_the_agreement_is_no_luck() -> None:
    """Of 2000 ways to swap the plans within each pair less than 1 % agree as well."""
    runs = co_runs_of("artifact")
    measured = np.array([run.measured_ms for run in runs])
    pairs = [[other for other in runs if other.experiment == run.experiment] for run in runs]
    times = np.array(
        [
            predicted([replace(other, is_sum=run.is_sum) for other in pair])
            for run, pair in zip(runs, pairs, strict=True)
        ]
    )
    errors = np.abs(times / measured[:, None] - 1)
    own = np.array([pair.index(run) for run, pair in zip(runs, pairs, strict=True)])
    rng = np.random.default_rng(0)
    medians = np.empty(2000)
    for draw in range(len(medians)):
        swapped = np.concatenate([rng.permutation(5) for _ in range(4)])
        medians[draw] = np.median(errors[np.arange(20), swapped])
    assert (medians <= np.median(errors[np.arange(20), own])).mean() < 0.01


def test_a_sum_and_a_maximum_are_of_the_same_two_times() -> None:
    (run,) = [run for run in co_runs_of("artifact") if run.is_sum]
    both = predicted([run, replace(run, is_sum=False)])
    # Of two times the sum is at least the larger, and at most twice that.
    assert both[1] < both[0] <= 2 * both[1]


def test_a_factor_is_fitted_to_the_other_pairs_only() -> None:
    runs = [replace(run, measured_ms=2.0) for run in co_runs_of("artifact")]
    odd = [replace(run, measured_ms=6.0) if run.experiment == 1 else run for run in runs]
    table = np.outer([1.0, 2.0, 3.0], np.full(20, 2.0))
    found = left_out(odd, table)
    # The odd pair is predicted by the others, and they by each other, two against one.
    assert (found == 2.0).all()
