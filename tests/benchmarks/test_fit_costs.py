"""Fits of the cost model: deterministic, within the hardware, and what the platform files hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.figures.commands import BY_NAME, ROOT
from benchmarks.fit_costs.__main__ import rows_of
from benchmarks.fit_costs.another import another_network, another_row
from benchmarks.fit_costs.errors import _bound, within
from benchmarks.fit_costs.fit import Prior, fit_pool, left_out
from benchmarks.fit_costs.pools import POOLS
from benchmarks.fit_costs.reliability import diagram
from benchmarks.fit_costs.samples import (
    KEYS,
    LATER_FAMILIES,
    NEW_FAMILIES,
    launches_of,
    of_sets,
    parts_of,
    published,
)
from benchmarks.fit_costs.write import peak_figures, states_peak
from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.roofline import (
    DEPTHWISE,
    ELEMENTS,
    FAST,
    GROUPED,
    POINTWISE,
    PRODUCT,
    TRANSFORM_MACS,
    activated_elements,
    class_of,
    efficiency_key,
    fewest_macs,
    launch_work,
    padded_macs,
    unit_model,
)
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Tile
from paretosoc.sdf.catalogue.catalogue import catalogue, load_network
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.problems.small_networks import layer, window

COSTLY = ("Sigmoid", "Gelu", "HardSwish")
QUICK = ("DLAs", "RK3588's NPU", "Hailo")


def test_rules_let_units_run_what_was_measured_on_them() -> None:
    known = {entry.name for entry in catalogue()}
    measured = {
        (one.entry, one.network)
        for one in (*published(), *of_sets((*NEW_FAMILIES, *LATER_FAMILIES)))
        if one.entry[1].startswith("npu") and one.network in known
    }
    assert len(measured) > 100
    for (platform, unit, precision), network in sorted(measured):
        chip = load_platform(platform)
        layers = [actor.layer for actor in load_network(network).graph.actors if actor.layer]
        place = [one.name for one in chip.units].index(unit)
        reasons = layer_support(layers, chip, precision).reasons
        assert not [row[place] for row in reasons if row[place]], (platform, network)


@pytest.mark.parametrize("name", QUICK)
def test_platform_files_hold_what_the_fit_gives(name: str) -> None:
    pool = next(pool for pool in POOLS if pool.name == name)
    samples = pool.samples()
    fit = fit_pool(samples, pool.prior)
    if name == QUICK[-1]:
        assert np.array_equal(fit.vector, fit_pool(samples, pool.prior).vector)
    for entry in fit.layout.entries:
        _, _, peak = parts_of(entry)
        figures = peak_figures(fit.figures(entry), pool.tile_of(entry), pool.elements, None)
        efficiency = {key: float(share) for key, share in peak.efficiency}
        assert efficiency == pytest.approx(figures["efficiency"], rel=0.01)
        assert float(peak.bandwidth_share or 0) == pytest.approx(
            figures["bandwidth_share"], rel=0.01
        )
        assert (peak.ns_per_layer or 0) / 1000 == pytest.approx(figures["us_per_layer"], abs=0.11)
        assert peak.tile == pool.tile_of(entry)
        assert max(efficiency.values()) <= 1


def test_errors_of_networks_that_are_left_out_are_those_of_the_file() -> None:
    pool = next(pool for pool in POOLS if pool.name == "DLAs")
    samples = pool.samples()
    for row in rows_of(samples, left_out(samples, pool.prior)):
        _, _, peak = parts_of((row.platform, row.unit, row.precision))
        held = peak.error or parts_of(("jetson-agx-orin-32gb", row.unit, row.precision))[2].error
        assert held is not None
        assert 100 * row.median == pytest.approx(float(held.median_percent), abs=0.5)
        assert row.constant is not None
        assert row.median < row.constant


def test_a_unit_with_few_networks_leans_on_its_pool() -> None:
    """Without any deviation of its own from the usual, one network teaches one figure."""
    pool = next(pool for pool in POOLS if pool.name == "DLAs")
    samples = pool.samples()
    board = "jetson-agx-orin-32gb"
    one = [s for s in samples if s.measured.entry[0] == board][:1]
    others = [s for s in samples if s.measured.entry[0] != board]
    prior = Prior(efficiency=0.6, share=0.2, us_per_layer=10)
    fit = fit_pool([*others, *one], prior)
    shares = [fit.figures(entry).efficiency for entry in fit.layout.entries]
    ratios = np.log(shares[0] / shares[1])
    assert np.ptp(ratios[KEYS.index(PRODUCT) :]) < 1e-6
    assert fit.times_ms(one)[0] == pytest.approx(one[0].measured.ms, rel=0.3)


def test_other_networks_foretell_detectors_on_xavier_nx() -> None:
    """None of their activations is a ReLU. Xavier's other networks have mostly ReLUs."""
    pool = next(pool for pool in POOLS if pool.name == "GPUs with tensor cores")
    samples = pool.samples()
    whole = fit_pool(samples, pool.prior)
    own = [
        s
        for s in samples
        if s.measured.entry == ("jetson-xavier-nx", "gpu", "fp16")
        and s.measured.network.startswith("yolo")
    ]
    assert len(own) == 56
    fit = fit_pool([s for s in samples if s not in own], pool.prior, whole)
    errors = fit.times_ms(own) / [s.measured.ms for s in own] - 1
    assert abs(np.median(errors)) < 0.05
    assert np.median(np.abs(errors)) < 0.12
    assert np.abs(errors).max() < 0.26


def test_every_published_time_is_above_the_peak() -> None:
    everything = (*published(), *of_sets((*NEW_FAMILIES, *LATER_FAMILIES)))
    for pool in POOLS:
        for one in pool.samples(everything):
            measured = one.measured
            platform, unit, peak = parts_of(measured.entry)
            khz = dict(measured.clocks)[unit.clocks[0]]
            assert khz in platform.ladder_khz(unit.clocks[0])
            fewest = sum(
                fewest_macs(layer, peak.tile)
                for launch in launches_of(measured.network, measured.pixels)
                for layer in launch.layers
            )
            assert measured.ms >= fewest / (peak.macs_per_cycle * khz), measured


def test_layers_have_classes_and_tiles() -> None:
    def conv(kernel: int = 3, stride: int = 1, groups: int = 1) -> str:
        shape = window(kernel, stride, kernel // 2, groups=groups)
        return class_of(layer("c", LayerKind.CONVOLUTION, window=shape, macs=9, parameters=1))

    assert conv() == FAST
    assert conv(1) == POINTWISE
    assert conv(stride=2) == conv(5) == "convolution"
    assert conv(groups=4) == GROUPED
    assert conv(groups=16) == DEPTHWISE
    product = layer("p", LayerKind.MATRIX_PRODUCT, macs=1)
    assert class_of(product) == PRODUCT
    assert efficiency_key(product, {"default", "matrix product"}) == "matrix product"
    assert efficiency_key(product, {"default"}) == "default"
    # 16 channels of 64 pixels, 144 multiply-accumulates each.
    whole = layer("c", LayerKind.CONVOLUTION, window=window(), macs=144 * 1024, parameters=1)
    assert padded_macs(whole, Tile()) == 144 * 1024
    assert padded_macs(whole, Tile(channels=64)) == 4 * 144 * 1024
    assert padded_macs(whole, Tile(start_macs=16, channels=16)) == 160 * 1024
    assert padded_macs(whole, Tile(rows=128)) == 2 * 144 * 1024
    assert padded_macs(whole, Tile(packing=16)) == 2 * 144 * 1024


def test_winograd_saves_multiplications_of_wide_layers_only() -> None:
    def conv(channels: int, side: int) -> Layer:
        shape, macs = (2, channels, side, side), 2 * 9 * channels**2 * side**2
        return replace(
            layer("c", LayerKind.CONVOLUTION, window=window(), macs=macs, parameters=1),
            output_shapes=(shape,),
            output_elements=2 * channels * side**2,
        )

    tile = Tile(packing=16, winograd=6)
    # 2 images of 2 x 2 tiles, whose 8 x 8 values are multiplied and transformed.
    expected = 2 * 4 * 64 * (512 * (512 + 16) + TRANSFORM_MACS * (512 + 512))
    assert padded_macs(conv(512, 12), tile) == padded_macs(conv(512, 7), tile) == expected
    assert fewest_macs(conv(512, 12), tile) == 2 * 4 * 64 * 512**2
    for wide, side in ((512, 12), (512, 7), (64, 56), (8, 56), (512, 1)):
        one, plain = conv(wide, side), Tile(packing=16)
        assert fewest_macs(one, tile) <= padded_macs(one, tile) <= padded_macs(one, plain)
    for wide, side in ((8, 56), (512, 1)):
        assert padded_macs(conv(wide, side), tile) == padded_macs(conv(wide, side), plain)
    strided = layer("c", LayerKind.CONVOLUTION, window=window(stride=2), macs=9 * 1024)
    assert padded_macs(strided, tile) == padded_macs(strided, Tile(packing=16))
    assert fewest_macs(strided, tile) == 9 * 1024


def test_costly_activations_take_work_beside_products() -> None:
    def worked(*operations: str, activation_operations: Fraction = Fraction(1, 2)) -> Fraction:
        unit = load_platform("snapdragon-8-elite").unit_by_name["npu"]
        peak = next(peak for peak in unit.peaks if peak.precision == "fp16")
        model = unit_model(unit, load_platform("snapdragon-8-elite"), peak)
        layers = [layer("c", LayerKind.CONVOLUTION, window=window(), macs=10**6)]
        layers += [
            replace(layer(name, LayerKind.ACTIVATION), operation=name) for name in operations
        ]
        launch = Launch(tuple(layers), 0, is_free=False)
        assert activated_elements(launch) == sum(
            x.output_elements for x in layers[1:] if x.name in COSTLY
        )
        whole = launch_work(
            launch, replace(model, tile=Tile(activation_operations=activation_operations))
        )
        assert peak.tile.activation_operations == Fraction(1, 2)
        element = 1 / (model.macs_per_ps * model.efficiency[ELEMENTS])
        return (whole - launch_work(launch, replace(model, tile=Tile()))) / element

    results = layer("c", LayerKind.ACTIVATION).output_elements
    assert worked("Relu") == worked("Clip") == worked(activation_operations=Fraction(3)) == 0
    for name in COSTLY:
        assert worked(name) == Fraction(results, 2)
        assert worked("Relu", name, activation_operations=Fraction(3)) == 3 * results


def test_results_of_launches_take_work_where_a_tile_says_so() -> None:
    chip = load_platform("raspberry-pi-5-hailo-8")
    unit = chip.unit_by_name["hailo"]
    (peak,) = unit.peaks
    model = unit_model(unit, chip, peak)
    conv = layer("c", LayerKind.CONVOLUTION, window=window(), macs=10**6)
    pool = layer("p", LayerKind.POOLING)
    element = 1 / (model.macs_per_ps * model.efficiency[ELEMENTS])
    for layers, results in (((conv,), conv.output_elements), ((pool,), 0)):
        launch = Launch(layers, 0, is_free=False)
        plain = launch_work(launch, replace(model, tile=Tile()))
        for operations in (1, 3):
            tile = Tile(result_operations=Fraction(operations))
            work = launch_work(launch, replace(model, tile=tile))
            assert work - plain == operations * results * element
    assert peak.tile.result_operations == 1


def test_hailos_yolov4_has_no_mish() -> None:
    samples = next(one for one in POOLS if one.name == "Hailo").samples()
    measured = next(one for one in samples if one.measured.network == "yolov4")
    held = {layer.operation for launch in measured.held for layer in launch.layers}
    assert "Conv" in held
    assert not held & {"Softplus", "Tanh", "Mish"}


def test_one_network_makes_the_others_on_the_unit_nearer() -> None:
    """On units that are in no fit: nearer in the median and for nine of ten, and the narrower
    intervals hold what they say."""
    pool = next(pool for pool in POOLS if pool.name == "CPUs in INT8")
    found = another_network(pool, pool.samples())
    row = another_row(pool.name, found)
    assert row["pairs"] == 7 * 7 * 6
    assert row["scaled_median"] < min(row["estimate_median"], row["factor_median"])
    assert row["scaled_p90"] < min(row["estimate_p90"], row["factor_p90"])
    assert row["scaled_median"] < row["constant_median"]
    assert found.after.unit < found.before.unit
    assert 0.85 <= row["within_90"] <= 0.97


def test_the_diagram_on_the_page_is_that_of_the_table() -> None:
    table = BY_NAME["intervals"].stored().splitlines()
    rows, error = table[-1].split("|")[4].strip(), table[-1].split("|")[-2].strip(" %")
    page = (ROOT / "docs/concepts/confidence.md").read_text("utf-8")
    assert "images/reliability.svg" in page
    picture = (ROOT / "docs/images/reliability.svg").read_text("utf-8")
    assert f"all ({rows}), error {error} %" in picture


def test_a_row_to_which_a_scale_is_widened_is_within() -> None:
    """It is at the end of the interval, however the quotient of quotients is rounded."""
    bound, ratios = _bound(0.9), np.random.default_rng(0).uniform(3, 9, 1000)
    assert (ratios / (ratios / bound) > bound).any()
    assert within(ratios / (ratios / bound), 0.9) == 1
    assert within(np.full(3, 1.001 * bound), 0.9) == 0


def test_a_diagram_has_a_line_for_each_kind_of_unit_and_one_for_all() -> None:
    ratios = {"A": np.zeros(3), "B": np.full(1, np.inf)}
    picture = diagram(ratios).decode()
    # Three of four are always within: 0.65, 0.55 ... 0.05, 0.05 and 0.15 off, 0.294 in the mean.
    assert all(text in picture for text in ("A (3)", "B (1)", "all (4), error 29.4 %"))


@pytest.mark.parametrize(
    ("entry", "stated"),
    [
        (("rk3588", "npu0", "int8"), True),
        (("rk3588", "npu1", "int8"), False),
        (("jetson-orin-nx-16gb", "dla0", "fp16"), True),
        (("jetson-orin-nx-16gb", "dla1", "fp16"), False),
        (("jetson-agx-orin-32gb", "dla0", "fp16"), False),
    ],
)
def test_a_peak_from_another_file_or_unit_is_not_stated(
    entry: tuple[str, str, str], stated: bool
) -> None:
    assert states_peak(entry) is stated
