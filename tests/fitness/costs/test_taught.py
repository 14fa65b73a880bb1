"""Measured networks teach the unit: the posterior of its common error, and costs that follow it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from paretosoc.common.units import TAIL
from paretosoc.fitness.cost_model.tables import CostOrigin
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.costs.standard_errors import REPEATED, estimated
from paretosoc.fitness.costs.taught import compared, posterior
from paretosoc.fitness.profiles.profile_document import document_bytes, merged
from paretosoc.fitness.profiles.profile_file import Profile, read_profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.measurement import Comparison
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

BOARD = load_platform("jetson-xavier-nx")
GPU = BOARD.unit_by_name["gpu"]
PLACE = BOARD.units.index(GPU)
ALEXNET = group_network(load_network("alexnet").graph, None, groups=3)
CLOCKS = tuple((name, BOARD.ladder_khz(name)[-1]) for name in GPU.clocks)
BEFORE = CostError(unit=232, network=94, group=250, power=200)


def comparison(ratio: float, network: str = "a", unit: str = "gpu") -> Comparison:
    return Comparison(network, unit, "fp16", round(ratio * 10**9), 10**9)


def costs_with(*comparisons: Comparison, precision: str = "fp16"):
    profile = Profile((), "0" * 64, comparisons=comparisons)
    return network_costs(ALEXNET, BOARD, precision=precision, profile=profile)


SCALE = np.hypot(BEFORE.network, REPEATED) / 1000


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_common_error_is_the_maximum_of_its_density(count: int) -> None:
    """By the densities of SciPy, over a fine grid."""
    logs = np.random.default_rng(count).normal(0.2, 0.3, count)
    factor, _ = posterior(
        BEFORE, [comparison(float(np.exp(log)), str(k)) for k, log in enumerate(logs)]
    )
    common = np.arange(-1, 1, 1e-4)
    density = stats.norm.logpdf(common, scale=BEFORE.unit / 1000)
    density += stats.t.logpdf(logs[:, None], TAIL, common, SCALE).sum(axis=0)
    assert float(factor) == pytest.approx(np.exp(common[density.argmax()]), abs=8e-4)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_its_error_is_that_of_the_information(count: int) -> None:
    """Information is the mean squared slope of the logarithm of a density."""
    _, after = posterior(BEFORE, [comparison(1.3, str(k)) for k in range(count)])
    x = np.linspace(-60, 60, 1_200_001) * SCALE
    slope = np.gradient(stats.t.logpdf(x, TAIL, scale=SCALE), x)
    known = count * integrate.trapezoid(slope**2 * stats.t.pdf(x, TAIL, scale=SCALE), x)
    assert after.unit == pytest.approx(1000 / np.sqrt((1000 / BEFORE.unit) ** 2 + known), abs=0.6)
    assert replace(after, unit=BEFORE.unit) == BEFORE


def test_a_network_far_off_says_little_of_the_others() -> None:
    """A unit whose networks are off together by less than each of them."""
    known = replace(BEFORE, unit=60)
    near, far = (float(posterior(known, [comparison(ratio)])[0]) for ratio in (1.2, 3.0))
    assert 1.01 < far < near < 1.1
    usual = [comparison(1.1, str(k)) for k in range(4)]
    without, beside = (posterior(BEFORE, these)[0] for these in (usual, [*usual, comparison(3.0)]))
    assert 0 < beside - without < Fraction(2, 100)


def test_what_is_sure_is_not_taught() -> None:
    """Estimates of a unit without a common error stay as they are."""
    sure = replace(BEFORE, unit=0)
    assert posterior(sure, [comparison(3.0)]) == (Fraction(1), sure)


def test_two_sizes_of_a_network_are_one_network() -> None:
    for other in ("a", "A"):
        both = [comparison(1.5), comparison(1.5, other)]
        assert posterior(BEFORE, both) == posterior(BEFORE, [comparison(1.5)])


def test_more_networks_teach_more() -> None:
    found = [posterior(BEFORE, [comparison(2.0, str(k)) for k in range(n)]) for n in range(1, 9)]
    factors, widths = zip(*((float(factor), error.unit) for factor, error in found), strict=True)
    assert all(1 < one < two < 2 for one, two in pairwise(factors))
    assert all(one > two for one, two in pairwise(widths))


@pytest.mark.parametrize(("scales", "is_far"), [(2.9, False), (3.1, True), (-3.1, True)])
def test_a_measurement_beyond_three_errors_is_said(scales: float, is_far: bool) -> None:
    error = np.hypot(estimated(GPU.peaks[1]).of_network, REPEATED) / 1000
    ratio = float(np.exp(scales * error))
    note = costs_with(comparison(ratio)).units[PLACE].note[0]
    text = f"a on gpu takes {ratio:.2f} times its estimate, far beyond the stated error"
    assert (text in note) == is_far


def test_estimates_on_the_unit_in_the_format_are_scaled() -> None:
    plain, taught = network_costs(ALEXNET, BOARD, precision="fp16"), costs_with(comparison(1.5))
    factor, error = posterior(estimated(GPU.peaks[1]), [comparison(1.5)])
    assert GPU.peaks[1].precision == "fp16"
    for before, after in zip(plain.units, taught.units, strict=True):
        if before.unit != "gpu":
            assert (after.time_ps == before.time_ps).all()
            assert after.error == before.error
            continue
        assert after.time_ps == pytest.approx(float(factor) * before.time_ps, abs=2)
        assert set(after.error) == {error}
        assert error.of_network < before.error[0].of_network
        assert f"times {float(factor):g}, by the measured a on gpu" in after.note[0]
    other = costs_with(comparison(1.5), precision="fp32").units[PLACE]
    assert (
        other.time_ps == network_costs(ALEXNET, BOARD, precision="fp32").units[PLACE].time_ps
    ).all()


def test_nothing_is_taught_faster_than_the_hardware_or_against_the_clocks() -> None:
    taught = costs_with(*(comparison(1e-6, str(k)) for k in range(50))).units[PLACE].time_ps
    peak = float(GPU.peaks[1].macs_per_cycle) * BOARD.ladder_khz("gpu")[-1] / 1e9
    for group, times in zip(ALEXNET.groups, taught[..., -1, -1], strict=True):
        assert times >= group.macs / peak
    for axis in range(1, taught.ndim):
        assert (np.diff(taught, axis=axis) <= 0).all()


def test_a_measured_network_keeps_its_time() -> None:
    record = {
        "network": ALEXNET.name,
        "precision": "fp16",
        "clocks_mhz": {name: khz / 1000 for name, khz in CLOCKS},
        "groups": [{"name": group.name, "ms": {"gpu": 2.5}} for group in ALEXNET.groups],
        "source": "own board",
        "status": "measured",
    }
    entry = {"network": "a", "unit": "gpu", "precision": "fp16", "ms": 3, "estimate_ms": 2}
    document = {"platform": BOARD.name, "networks": [record], "comparisons": [entry]}
    profile = read_profile(json.dumps(document).encode(), BOARD, "mine")
    assert profile.comparisons == (Comparison("a", "gpu", "fp16", 3 * 10**9, 2 * 10**9),)
    table = network_costs(ALEXNET, BOARD, precision="fp16", profile=profile).units[PLACE]
    assert set(table.origin) == {CostOrigin.MEASURED}
    assert set(table.time_ps[:, -1, -1].tolist()) == {2_500_000_000}


def test_most_of_a_network_must_be_measured() -> None:
    times = dict.fromkeys(range(3), 10**9)
    whole = compared(ALEXNET, BOARD, GPU, "fp16", CLOCKS, times)
    assert whole is not None
    plain = network_costs(ALEXNET, replace(BOARD, measurements=(), profiles=()), precision="fp16")
    estimate = plain.units[PLACE].time_ps[..., -1, -1]
    assert whole.estimated_ps == pytest.approx(estimate.sum(), abs=3)
    least = int(np.argmin(estimate))
    assert compared(ALEXNET, BOARD, GPU, "fp16", CLOCKS, {least: 10**9}) is None
    assert compared(ALEXNET, BOARD, GPU, "int4", CLOCKS, times) is None


def test_a_later_comparison_of_a_network_replaces_the_one_before() -> None:
    def with_ratio(ms: float, network: str) -> dict[str, object]:
        entry = {"network": network, "unit": "gpu", "precision": "fp16", "estimate_ms": 2}
        return {"platform": BOARD.name, "comparisons": [entry | {"ms": ms}]}

    both = merged(merged(with_ratio(3, "a"), with_ratio(5, "b")), with_ratio(4, "a"))
    profile = read_profile(document_bytes(both), BOARD, "both")
    assert [(one.network, one.measured_ps // 10**9) for one in profile.comparisons] == [
        ("a", 4),
        ("b", 5),
    ]


def test_a_comparison_on_a_unit_that_is_not_there_is_refused() -> None:
    entry = {"network": "a", "unit": "npu", "precision": "fp16", "ms": 3, "estimate_ms": 2}
    document = {"platform": BOARD.name, "comparisons": [entry]}
    with pytest.raises(PlatformError, match=r"comparisons\[0\].unit must name a unit .* got 'npu'"):
        read_profile(json.dumps(document).encode(), BOARD, "mine")
