"""Shapes of times over clocks before a network was measured at several."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretosoc.fitness.calibration.dvfs import calibrate_rows, predicted
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.calibration.shape import OWN, shape_of
from paretosoc.fitness.cost_model.clock_law import LaunchTime, TimeParts
from paretosoc.fitness.cost_model.dvfs_forms import TimeForm
from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

ALEXNET = group_network(load_network("alexnet").graph, None, groups=1)


def parts_with(compute: int, memory: int, fixed: int, own_share: str, overlap: int) -> TimeParts:
    launch = LaunchTime(Fraction(compute), Fraction(memory), 1)
    return TimeParts(
        (launch,), Fraction(overlap), Fraction(1), Fraction(fixed), 0, Fraction(own_share)
    )


def test_one_launch_has_its_own_parts() -> None:
    """Without a host a launch's time stands beside the norm: all of it fixed, if nothing of it
    follows the clock."""
    board = load_platform("jetson-xavier-nx")
    unit = board.unit_by_name["gpu"]
    (shape,) = (shape_of([parts_with(4 * 10**9, 3 * 10**9, 10**9, "0", 3)], board, unit),)
    length = (4**3 + 3**3) ** (1 / 3) + 1
    assert shape["compute_ms"] == pytest.approx(4 / length, rel=1e-3)
    assert shape["memory_ms"] == pytest.approx(3 / length, rel=1e-3)
    assert shape["fixed_ms"] == pytest.approx(1 / length, rel=1e-3)


def test_a_host_launches_beside_the_work_and_the_board_counts_as_much() -> None:
    board = load_platform("jetson-tx2")
    unit = board.unit_by_name["gpu"]
    parts = [parts_with(4 * 10**9, 3 * 10**9, 2 * 10**9, "0", 3)]
    alone = replace(unit, clock_law=replace(unit.clock_law, shares=()))
    own = shape_of(parts, board, alone)
    length = (4**3 + 3**3 + 2**3) ** (1 / 3)
    wanted = {"compute_ms": 4 / length, "memory_ms": 3 / length, "host_ms": 2 / length}
    for name, part in wanted.items():
        assert own[name] == pytest.approx(part, rel=1e-3)
    shares = {f"{name}_ms": float(share) for name, share in unit.clock_law.shares}
    whole = sum(share**3 for share in shares.values()) ** (1 / 3)
    both = shape_of(parts, board, unit)
    for name, part in wanted.items():
        mean = OWN * part + (1 - OWN) * shares[name] / whole
        assert both[name] == pytest.approx(mean, rel=1e-3)


@pytest.mark.parametrize("name", platform_names())
def test_one_run_is_enough_on_every_unit(name: str) -> None:
    """At its clocks the run comes out. No slower clock makes it faster."""
    board = load_platform(name)
    for unit in {unit.kind: unit for unit in board.units}.values():
        peak = unit.peaks[-1]
        launches = network_launches(ALEXNET)
        shape = shape_of(network_parts(launches, unit_model(unit, board, peak)), board, unit)
        ladders = [len(board.ladder_khz(clock)) for clock in unit.clocks]
        grid = [
            ClockMeasurement("alexnet", "", unit.name, tuple(points.tolist()), 7.0, None, None)
            for points in np.indices(ladders).reshape(len(ladders), -1).T
        ]
        result = calibrate_rows([grid[-1]], board, shape=shape, resamples=0)
        assert result.time_form is TimeForm.SHARES
        times = predicted(result, grid, board)[0].reshape(ladders)
        assert times.reshape(-1)[-1] == pytest.approx(7.0)
        for axis in range(times.ndim):
            assert (np.diff(times, axis=axis) <= 1e-9).all()
