"""Fits over clocks: what was put in comes out, and what cannot be known is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paretosoc.fitness.calibration.dvfs import calibrate_rows, predicted, time_errors
from paretosoc.fitness.calibration.dvfs_profile import Subject, clock_profile_document
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.calibration.least_squares import Task, fit
from paretosoc.fitness.cost_model.clock_law import parts_norm
from paretosoc.fitness.cost_model.dvfs_forms import (
    Clocks,
    PowerForm,
    TimeForm,
    clocks_of,
    power_mw,
    time_ms,
)
from paretosoc.fitness.cost_model.power import alone_idle_mw
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.profiles.profile_document import document_bytes, merged
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostOrigin
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

TX2 = load_platform("jetson-tx2")
XAVIER = load_platform("jetson-agx-xavier")
TX2_FILE = Path(__file__).parents[3] / "platforms" / "data" / "jetson-tx2.json"
GPU = TX2.unit_by_name["gpu"]
EMC = len(TX2.domain_by_name["emc"].operating_points) - 1
TRUE = {"compute_ms": 40.0, "memory_ms": 30.0, "host_ms": 12.0, "stall": 0.1, "overlap": 3.0}
TRUE_POWER = {"static_mw": 1500.0, "own_mw": 3000.0, "clock_mw": 900.0, "host_mw": 800.0}


def rows_at(points, *, network="vgg19", layer="", power=True, times=TRUE):
    clocks = clocks_of(TX2, GPU, np.array(points, dtype=np.int64))
    ms = time_ms(times, clocks)
    mw = power_mw(TRUE_POWER, clocks, PowerForm.VOLTAGE_CLOCK, times)
    return [
        ClockMeasurement(network, layer, "gpu", tuple(p), t, w if power else None, None)
        for p, t, w in zip(points, ms.tolist(), mw.tolist(), strict=True)
    ]


NINE = [(g, c, EMC) for g in (0, 6, 12) for c in (0, 6, 11)]


@pytest.fixture(scope="module")
def nine():
    """The fit to nine points, whose forms are chosen."""
    return calibrate_rows(rows_at(NINE), TX2, resamples=0)


def test_the_norm_adds_or_takes_the_largest():
    parts = [np.array([value]) for value in (3.0, 4.0, 1.0)]
    assert parts_norm(parts, 1.0)[0] == pytest.approx(8.0)
    assert parts_norm(parts, 2.0)[0] == pytest.approx(26**0.5)
    assert parts_norm(parts, 64.0)[0] == pytest.approx(4.0, rel=0.01)
    assert parts_norm([np.array([0.0])] * 3, 3.0)[0] == 0


def test_time_and_power_by_hand():
    two = np.array([2.0])
    clocks = Clocks(own=two, host=np.array([4.0]), memory=two, own_v=two / 8, host_v=two / 16)
    values = {"compute_ms": 3.0, "memory_ms": 1.0, "host_ms": 2.0, "fixed_ms": 5.0, "stall": 0.5}
    # |6, 2, 8|_1 = 16, times 1 + 0.5 x 3, and 5.
    assert time_ms(values, clocks)[0] == pytest.approx(45.0)
    power = {"static_mw": 100.0, "own_mw": 40.0, "clock_mw": 20.0, "host_mw": 80.0}
    assert power_mw(power, clocks, PowerForm.VOLTAGE_CLOCK, {})[0] == pytest.approx(130.0)
    share = power_mw(power, clocks, PowerForm.SHARE, values | {"stall": 0.0})[0]
    assert share == pytest.approx(120.0 + 10.0 * 6 / 21)


def test_what_was_put_in_comes_out(nine):
    for name, value in TRUE.items():
        assert nine.time.values[name] == pytest.approx(value, rel=1e-3)
    for name, value in TRUE_POWER.items():
        assert nine.power.values[name] == pytest.approx(value, rel=1e-3)
    assert nine.time.residual < 1e-6


def test_a_held_host_draws_what_the_platform_has():
    """At one clock of the host its part of a power and the constant part are one."""
    held = [(g, 11, m) for g in (0, 3, 6, 9, 12) for m in (3, EMC)]
    found = calibrate_rows(rows_at(held), TX2, resamples=0)
    busy = GPU.power[1].busy_mw
    clocks = clocks_of(TX2, GPU, np.array([(12, 0, EMC), (12, 11, EMC)]))
    predicted_mw = power_mw(found.power.values, clocks, found.power_form, found.time.values)
    assert predicted_mw[1] - predicted_mw[0] == pytest.approx(busy[-1] - busy[0])
    assert predicted_mw[1] == pytest.approx(sum(TRUE_POWER.values()), rel=1e-3)
    assert found.power_reason.endswith("; host_mw is the platform's, as a57 has one clock here")
    few = [row if row.points[0] == 12 else replace(row, mw=None) for row in rows_at(held)]
    with pytest.raises(PlatformError, match=r"own_mw.*; without mw and mj only times are fitted"):
        calibrate_rows(few, TX2, resamples=0)


def test_energy_stands_for_power(nine):
    rows = [replace(row, mw=None, mj=row.mw * row.ms / 1000) for row in rows_at(NINE)]
    result = calibrate_rows(rows, TX2, time_form=nine.time_form, resamples=0)
    assert result.power.values["own_mw"] == pytest.approx(TRUE_POWER["own_mw"], rel=1e-3)


def test_error_bars_cover_the_truth_as_often_as_they_should():
    """Two standard errors hold the truth nearly always, and no bar is far too wide."""
    inside, widths, deviations = 0, [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = [
            replace(row, ms=row.ms * float(np.exp(0.02 * rng.standard_normal())), mw=None)
            for row in rows_at(NINE)
        ]
        form = TimeForm.OVERLAP_STALL
        time = calibrate_rows(rows, TX2, time_form=form, noise=0.02, resamples=25).time
        deviation = time.values["compute_ms"] - TRUE["compute_ms"]
        inside += abs(deviation) <= 2 * time.errors["compute_ms"]
        widths.append(time.errors["compute_ms"])
        deviations.append(deviation)
    assert inside >= 16
    assert np.std(deviations) / 2 < np.mean(widths) < 2 * np.std(deviations)


@pytest.mark.parametrize(
    ("points", "form", "fixed", "named"),
    [
        # One GPU clock: its part and the memory's change together.
        (
            [(12, c, EMC) for c in (0, 3, 6, 9, 11)],
            TimeForm.OVERLAP,
            False,
            "compute_ms.*memory_ms",
        ),
        # One CPU clock: nothing tells the host's part from the memory's.
        ([(g, 11, EMC) for g in (0, 3, 6, 9, 12)], TimeForm.OVERLAP, False, "memory_ms.*host_ms"),
    ],
)
def test_what_the_measurements_cannot_determine_is_named(points, form, fixed, named):
    with pytest.raises(PlatformError, match=f"vgg19 on gpu: .*cannot determine {named}"):
        calibrate_rows(rows_at(points, power=False), TX2, time_form=form, fixed=fixed)


def test_the_richest_form_that_is_determined_is_taken():
    """Four points at one CPU clock, of a law that these four determine: it comes out, and predicts
    the rest of the grid."""
    true = {"compute_ms": 50.0, "memory_ms": 54.0, "host_ms": 42.0, "overlap": 3.7}
    grid = rows_at([(g, 11, m) for g in range(13) for m in (3, 4, 5, 6)], power=False, times=true)
    four = [row for row in grid if row.points in {(12, 11, 6), (12, 11, 3), (0, 11, 6), (6, 11, 3)}]
    result = calibrate_rows(four, TX2, resamples=0)
    assert result.time_form is TimeForm.OVERLAP_FITTED
    assert "not overlap-stall: these measurements cannot determine stall" in result.time_reason
    times, _ = predicted(result, grid, TX2)
    assert np.abs(times / np.array([row.ms for row in grid]) - 1).max() < 1e-3


@pytest.mark.parametrize(
    ("points", "form"),
    [
        (NINE, TimeForm.OVERLAP_STALL),
        ([(12, 11, 6), (12, 11, 3), (0, 11, 6)], TimeForm.OVERLAP),
    ],
)
def test_how_rich_a_form_is_taken(points, form):
    result = calibrate_rows(rows_at(points, power=False), TX2, resamples=0)
    assert (result.time_form, result.time_reason != "") == (form, True)
    named = calibrate_rows(rows_at(points, power=False), TX2, time_form=form, resamples=0)
    assert named.time_reason == ""
    assert named.time == result.time


def test_a_single_run_takes_the_shape_of_the_network():
    """At its clocks it is itself; elsewhere the parts of the shape say."""
    shape = {"compute_ms": 0.8, "memory_ms": 0.6, "host_ms": 0.4, "fixed_ms": 0.1}
    (row,) = rows_at([(12, 11, EMC)], power=False)
    result = calibrate_rows([row], TX2, shape=lambda _: shape, resamples=5)
    assert result.time_form is TimeForm.SHARES
    for name, share in shape.items():
        ratio = result.time.values[name] / result.time.values["compute_ms"]
        assert ratio == pytest.approx(share / 0.8)
        assert 0 < result.time.errors[name] < 0.1 * result.time.values[name]
    times, _ = predicted(result, [row], TX2)
    assert times[0] == pytest.approx(row.ms)
    slow = replace(row, points=(3, 11, EMC))
    (time,), _ = predicted(result, [slow], TX2)
    x = 1300.5 / 420.75

    def length(x: float) -> float:
        return ((0.8 * x) ** 3 + 0.6**3 + 0.4**3) ** (1 / 3) + 0.1

    assert time == pytest.approx(row.ms * length(x) / length(1))


def test_without_a_host_there_is_no_stall_to_determine():
    rows = [
        ClockMeasurement("vgg19", "", "gpu", points, ms, None, None)
        for points, ms in (((13, 8), 10.0), ((13, 3), 14.0), ((2, 8), 38.0), ((6, 3), 19.0))
    ]
    result = calibrate_rows(rows, XAVIER, resamples=0)
    assert result.time_form is TimeForm.OVERLAP
    assert "overlap-stall" not in result.time_reason
    two = calibrate_rows([rows[0], rows[2]], XAVIER, resamples=0)
    assert two.time_form is TimeForm.OVERLAP


def test_the_memory_clock_makes_a_fixed_part_known():
    points = [(g, c, m) for g in (0, 12) for c in (0, 11) for m in (0, 3, EMC)]
    true = TRUE | {"stall": 0.0, "fixed_ms": 7.0}
    rows = rows_at(points, power=False, times=true)
    result = calibrate_rows(rows, TX2, time_form=TimeForm.OVERLAP, fixed=True, resamples=0)
    assert result.time.values["fixed_ms"] == pytest.approx(7.0, rel=1e-3)


def test_too_few_measurements_are_refused():
    rows = rows_at(NINE[:3], power=False)
    with pytest.raises(PlatformError, match=r"4 parameters .* need as many measurements .* got 3"):
        calibrate_rows(rows, TX2, time_form=TimeForm.OVERLAP_STALL)
    with pytest.raises(PlatformError, match=r"3 parameters .* need as many measurements .* got 2"):
        calibrate_rows(rows[:2], TX2, time_form=TimeForm.OVERLAP)
    with pytest.raises(PlatformError, match=r"2 parameters .* need as many measurements .* got 1"):
        calibrate_rows([ClockMeasurement("vgg19", "", "gpu", (3, 3), 9.0, None, None)], XAVIER)
    with pytest.raises(PlatformError, match="the form shares needs an estimate of the network"):
        calibrate_rows(
            [ClockMeasurement("vgg19", "", "gpu", (3, 3), 9.0, None, None)],
            XAVIER,
            time_form=TimeForm.SHARES,
        )
    (row,) = rows_at(NINE[:1])
    with pytest.raises(PlatformError, match="at least one time"):
        calibrate_rows([replace(row, ms=None)], TX2)


def test_a_parameter_that_is_not_there_is_at_its_bound():
    true = TRUE | {"host_ms": 0.0, "stall": 0.0}
    rows = rows_at(NINE, power=False, times=true)
    result = calibrate_rows(rows, TX2, time_form=TimeForm.OVERLAP_STALL, resamples=0)
    assert result.time.values["stall"] == pytest.approx(0.0, abs=1e-3)


def test_left_out_rows_are_predicted_from_the_others():
    rows = rows_at(NINE, power=False)
    assert np.abs(time_errors(rows, TX2, TimeForm.OVERLAP_STALL)).max() < 1e-3
    off = [replace(row, ms=row.ms * (2 if place == 4 else 1)) for place, row in enumerate(rows)]
    assert time_errors(off, TX2, TimeForm.OVERLAP_STALL)[4] == pytest.approx(-0.5, abs=0.01)


def test_fit_keeps_what_is_held():
    def line(values):
        return values["static_mw"] + values["own_mw"] * np.array([1.0, 2.0])

    task = Task(["own_mw"], line, np.array([5.0, 7.0]), "x", {"static_mw": 3.0})
    found = fit(task, noise=0.01)
    assert found.values["own_mw"] == pytest.approx(2.0)
    assert set(found.errors) == {"own_mw"}


# The profile.


def profile_of(results, subject="vgg19", macs=19632062464):
    document = clock_profile_document(
        TX2, results, {subject: Subject(subject, macs)}, precision="fp32", source="a test"
    )
    return document, read_profile(canonical_bytes(document), TX2, "profile.json")


@pytest.fixture(scope="module")
def vgg19():
    graph = load_network("vgg19").graph
    units = np.ones(
        (sum(a.layer is not None for a in graph.actors), len(TX2.units)), dtype=np.bool_
    )
    return group_network(graph, units)


def test_groups_add_up_to_the_fit_at_every_clock(vgg19, nine):
    _, profile = profile_of([nine])
    costs = network_costs(vgg19, TX2, profile=profile)
    gpu = costs.units[-1]
    assert set(gpu.origin) == {CostOrigin.CALIBRATED}
    assert all(note == "overlap-stall over clocks: a test" for note in gpu.note)
    shape = gpu.time_ps.shape[1:]
    points = np.indices(shape).reshape(3, -1).T
    expected = time_ms(nine.time.values, clocks_of(TX2, GPU, points)).reshape(shape)
    assert np.abs(gpu.time_ps.sum(axis=0) / 1e9 / expected - 1).max() < 1e-6
    # What is drawn in all is the fitted power, wherever that is above what idles.
    power = power_mw(
        nine.power.values, clocks_of(TX2, GPU, points), PowerForm.VOLTAGE_CLOCK, {}
    ).reshape(shape)
    idle = alone_idle_mw(TX2, GPU, profile.board_mw)
    whole = gpu.dynamic_mw[0] + idle
    assert np.abs(whole - np.maximum(power, idle)).max() <= 1
    assert (gpu.dynamic_mw == gpu.dynamic_mw[0]).all()
    # Other units keep their estimates.
    assert set(costs.units[0].origin) == {CostOrigin.ESTIMATED}


def test_layers_that_were_fitted_add_up(vgg19, nine):
    """A group whose only launch was fitted, under the name of the layer that leads it."""
    group = next(g for g, entry in enumerate(vgg19.groups) if len(entry.layers) == 2)
    name = vgg19.groups[group].layers[0].name
    rows = rows_at(NINE, layer=name)
    result = calibrate_rows(rows, TX2, time_form=nine.time_form, resamples=0)
    _, profile = profile_of([result])
    gpu = network_costs(vgg19, TX2, profile=profile).units[-1]
    fitted = [g for g, origin in enumerate(gpu.origin) if origin is CostOrigin.CALIBRATED]
    assert fitted == [group]
    (expected,) = time_ms(TRUE, clocks_of(TX2, GPU, np.array([[12, 11, EMC]])))
    assert gpu.time_ps[group, 12, 11, EMC] / 1e9 == pytest.approx(expected, rel=1e-3)


def test_a_measured_group_wins(vgg19, nine):
    document, _ = profile_of([nine])
    name = vgg19.groups[0].name
    measured = {
        "platform": TX2.name,
        "networks": [
            {
                "network": "vgg19",
                "precision": "fp32",
                "clocks_mhz": {"gpu": 1300.5, "a57": 2035.2, "emc": 1866},
                "groups": [{"name": name, "ms": {"gpu": 0.5}}],
                "source": "own",
                "status": "measured",
            }
        ],
    }
    both = json.loads(document_bytes(merged(document, measured)))
    assert set(both) == {"platform", "board_mw", "models", "networks"}
    profile = read_profile(canonical_bytes(both), TX2, "profile.json")
    gpu = network_costs(vgg19, TX2, profile=profile).units[-1]
    assert gpu.origin[0] is CostOrigin.MEASURED
    assert gpu.time_ps[0, -1, -1, -1] == 500_000_000
    assert gpu.origin[1] is CostOrigin.CALIBRATED


def test_another_network_or_precision_is_left_alone(vgg19, nine):
    _, profile = profile_of([nine], macs=10**9)
    gpu = network_costs(vgg19, TX2, profile=profile).units[-1]
    assert set(gpu.origin) == {CostOrigin.ESTIMATED}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": "dla0"}, r"models\[0\]\.unit must name a unit"),
        ({"time": {"form": "sum", "parameters": {}}}, r"models\[0\]\.time\.form must be one of"),
        ({"time": {"form": "shares", "parameters": {}}}, r"models\[0\]\.time\.parameters"),
        ({"power": {"form": "none", "parameters": {}}}, r"models\[0\]\.power"),
    ],
)
def test_models_that_make_no_sense_are_refused(nine, change, message):
    document, _ = profile_of([nine])
    document["models"][0] |= change
    with pytest.raises(PlatformError, match=message):
        read_profile(canonical_bytes(document), TX2, "profile.json")


# The table of measurements.

HEADER = "network,unit,a57_mhz,gpu_mhz,fps,mj"
