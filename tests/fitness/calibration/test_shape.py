"""Shapes of times over clocks before a network was measured at several."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretosoc.fitness.calibration.dvfs import (
    calibrate_rows,
    choose_form,
    estimated_shapes,
    predicted,
    time_errors,
)
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.calibration.shape import Run, Shape, estimated_shape, shape_of
from paretosoc.fitness.cost_model.clock_law import LaunchTime, TimeParts
from paretosoc.fitness.cost_model.dvfs_forms import Clocks, TimeForm
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
    own = shape_of(parts, board, unit)
    length = (4**3 + 3**3 + 2**3) ** (1 / 3)
    wanted = {"compute_ms": 4 / length, "memory_ms": 3 / length, "host_ms": 2 / length}
    assert own["overlap"] == pytest.approx(3, rel=1e-3)
    for name, part in wanted.items():
        assert own[name] == pytest.approx(part, rel=1e-3)


def test_launches_after_each_other_overlap_less_than_the_parts_of_one() -> None:
    board = load_platform("jetson-agx-xavier")
    unit = board.unit_by_name["gpu"]
    apart = [parts_with(10**9, 0, 0, "0", 3), parts_with(0, 10**9, 0, "0", 3)]
    shape = shape_of(apart, board, unit)
    assert shape["overlap"] == pytest.approx(1, abs=1e-3)


def fp32_run(ms: float) -> Shape:
    """The shape of VGG-19 on TX2's GPU after a run at the fastest clocks."""
    board = load_platform("jetson-tx2")
    network = group_network(load_network("vgg19").graph, None, groups=1)
    one = np.ones(1)
    run = None if ms == 0 else Run(ms, Clocks(one, one, one, one, one))
    shape = estimated_shape(network, board, board.unit_by_name["gpu"], "fp32", run=run)
    assert shape is not None
    return shape


def test_tiles_read_their_operands_anew() -> None:
    """2 x 4 bytes for 128 multiply-accumulates: 29 ms of VGG-19's 19.6 10^9 at 42 GB/s."""
    board = load_platform("jetson-tx2")
    unit = board.unit_by_name["gpu"]
    network = group_network(load_network("vgg19").graph, None, groups=1)
    peaks = tuple(replace(peak, reload_tile=0) for peak in unit.peaks)
    without = estimated_shape(network, board, replace(unit, peaks=peaks), "fp32")
    assert without is not None
    assert fp32_run(0)["memory_ms"] > 1.5 * without["memory_ms"]


def test_computing_takes_what_a_run_is_off_before_memory_does() -> None:
    estimate, fast, slow = (
        {name: shape[name] / shape["memory_ms"] for name in ("compute_ms", "memory_ms")}
        for shape in map(fp32_run, (0, 67.2, 76))
    )
    assert fast["compute_ms"] < slow["compute_ms"]
    assert fast["compute_ms"] < 0.9 * estimate["compute_ms"]


def test_a_run_as_long_as_all_layers_one_by_one_has_their_shape() -> None:
    """However long it is."""
    first, second = fp32_run(100), fp32_run(300)
    assert first == pytest.approx(second)
    assert first["overlap"] < 0.98 * fp32_run(76)["overlap"]


@pytest.mark.parametrize("name", platform_names())
def test_one_run_is_enough_on_every_unit(name: str) -> None:
    """At its clocks the run comes out. No slower clock makes it faster."""
    board = load_platform(name)
    for unit in {unit.kind: unit for unit in board.units}.values():
        peak = unit.peaks[-1]
        one = np.ones(1)
        run = Run(7.0, Clocks(one, one, one, one, one))
        shape = estimated_shape(ALEXNET, board, unit, peak.precision, run=run)
        ladders = [len(board.ladder_khz(clock)) for clock in unit.clocks]
        grid = [
            ClockMeasurement("alexnet", "", unit.name, tuple(points.tolist()), 7.0, None, None)
            for points in np.indices(ladders).reshape(len(ladders), -1).T
        ]
        result = calibrate_rows([grid[-1]], board, shape=lambda _, own=shape: own, resamples=0)
        assert result.time_form is TimeForm.SHARES
        times = predicted(result, grid, board)[0].reshape(ladders)
        assert times.reshape(-1)[-1] == pytest.approx(7.0)
        for axis in range(times.ndim):
            assert (np.diff(times, axis=axis) <= 1e-9).all()


def test_a_run_that_is_left_out_says_nothing_of_its_own_parts() -> None:
    """The fastest run is left out: parts are those of the fastest of the others. With it the form
    would be chosen for what it has seen."""
    board = load_platform("jetson-orin-nano-8gb")
    unit = board.unit_by_name["gpu"]
    shapes = estimated_shapes(ALEXNET, board, unit, "fp16")
    own, memory = (len(board.ladder_khz(clock)) - 1 for clock in unit.clocks)
    rows = [
        ClockMeasurement("alexnet", "", "gpu", points, ms, None, None)
        for points, ms in (
            ((own, memory), 3.0),
            ((own, 0), 9.0),
            ((0, memory), 8.0),
            ((0, 0), 12.0),
            ((1, memory), 6.0),
        )
    ]
    errors = time_errors(rows, board, TimeForm.SHARES, shapes)
    for place, row in enumerate(rows):
        others = rows[:place] + rows[place + 1 :]
        form = TimeForm.SHARES
        fitted = calibrate_rows(others, board, time_form=form, shape=shapes, resamples=0)
        (ms,), _ = predicted(fitted, [row], board)
        assert errors[place] == pytest.approx(ms / (row.ms or 0) - 1, rel=1e-6)
    seen = time_errors(rows, board, TimeForm.SHARES, lambda _: shapes(rows))
    assert errors[1:] == pytest.approx(seen[1:])
    assert abs(errors[0] - seen[0]) > 0.01
    reason = choose_form(rows, board, shapes)[1]
    assert f"shares {100 * np.sqrt((errors**2).mean()):.1f} %" in reason
