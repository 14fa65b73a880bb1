"""Launches on a unit that keeps activations on the chip, and computes elements one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.roofline import (
    DEPTHWISE,
    ELEMENTS,
    LINEAR_RESIZE,
    UnitModel,
    launch_work,
    loaded,
    moved_bytes,
    unit_model,
)
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Tile
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.problems.small_networks import layer, window

CHIP = load_platform("snapdragon-8-elite")


def model(**changes: object) -> UnitModel:
    unit = CHIP.unit_by_name["npu"]
    peak = next(peak for peak in unit.peaks if peak.precision == "fp16")
    return replace(unit_model(unit, CHIP, peak), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kept", "moved"), [(0, 2000), (1799, 2000), (1800, 200), (9999, 200)])
def test_activations_that_fit_stay_on_the_chip_and_constants_move(kept: int, moved: int) -> None:
    convolution = layer("a", LayerKind.CONVOLUTION, parameters=100)
    launch = Launch((convolution,), elements=1000, is_free=False)
    assert moved_bytes(launch, model(kept_activation_bytes=kept)) == moved


def test_the_npus_of_snapdragon_keep_two_mebibytes() -> None:
    assert model().kept_activation_bytes == 2 << 20


TENSOR = (1, 16, 8, 8)


def wise(operation: str, parameters: int = 0, operands: int = 1) -> Layer:
    return layer(
        operation,
        LayerKind.ELEMENTWISE,
        operation=operation,
        parameters=parameters,
        reads=(TENSOR,) * operands,
    )


@pytest.mark.parametrize(
    ("others", "operations"),
    [
        ((), 0),
        ((wise("Add", operands=2),), 1),
        ((wise("Mul", 16), wise("Add", 16)), 2),
        ((wise("Add", 8),), 0),
        ((wise("Mul", 8),), 1),
        ((wise("Mul", 1),), 0),
        ((wise("Cast"),), 0),
        ((layer("r", LayerKind.RESHAPE), wise("Add", 8)), 0),
        ((layer("a", LayerKind.ACTIVATION, operation="Relu"),), 0),
    ],
)
def test_element_wise_layers_take_work_beside_products(
    others: tuple[Layer, ...], operations: int
) -> None:
    """A bias, which has a number for each of 8 channels, and a scale of one number do not."""
    product = layer("p", LayerKind.MATRIX_PRODUCT, macs=10**6, parameters=64)
    launch = Launch((product, *others), elements=1000, is_free=False)
    half = model(tile=Tile(joined_operations=Fraction(1, 2)))
    extra = launch_work(launch, half) - launch_work(launch, model(tile=Tile()))
    each = product.output_elements / half.rates[ELEMENTS]
    assert extra == operations * each / 2


def test_the_second_of_two_activations_is_laid_out_anew() -> None:
    reads = ((1, 4, 20, 8), (1, 4, 8, 32))
    product = layer("p", LayerKind.MATRIX_PRODUCT, macs=10**6, reads=reads)
    launch = Launch((product,), elements=1000, is_free=False)
    unit = model(tile=Tile(joined_operations=Fraction(1, 2)))
    extra = launch_work(launch, unit) - launch_work(launch, model(tile=Tile()))
    assert extra == 4 * 8 * 32 / unit.rates[ELEMENTS] / 2


@pytest.mark.parametrize(("kind", "channels"), [("convolution", 16), ("matrix product", 8)])
def test_activations_and_joined_layers_fill_vectors(kind: str, channels: int) -> None:
    """Results have 16 channels, or 8 as the last of their sizes."""
    sides = window() if channels > 8 else None
    product = layer("p", LayerKind(kind), macs=10**6, parameters=64, window=sides)
    launch = Launch((product, wise("Add", operands=2)), elements=1000, is_free=False)
    plain, narrow, wide = (
        model(tile=Tile(joined_operations=Fraction(joined), lanes=lanes))
        for joined, lanes in ((0, 1), (1, 4), (1, 64))
    )
    base = launch_work(launch, plain)
    each = product.output_elements / plain.rates[ELEMENTS]
    assert launch_work(launch, narrow) - base == each
    assert launch_work(launch, wide) - base == 64 // channels * each


@pytest.mark.parametrize(("parameters", "count"), [((16, 16), 2), ((16, 0), 3), ((8, 1), 4)])
def test_scale_and_shift_of_a_normalisation_are_part_of_it(
    parameters: tuple[int, int], count: int
) -> None:
    """Caffe has them as layers, with a number for each of 16 channels."""
    first = layer("n", LayerKind.NORMALISATION, operation="BatchNormalization", parameters=64)
    relu = layer("r", LayerKind.ACTIVATION)
    steps = (wise("Mul", parameters[0]), wise("Add", parameters[1]))
    launch = Launch((first, *steps, relu), elements=1000, is_free=False)
    unit = model(tile=Tile(lanes=64))
    each = first.output_elements / unit.rates["normalisation"]
    assert launch_work(launch, unit) == count * each
    assert launch_work(launch, model(tile=Tile())) == 4 * each
    product = layer("p", LayerKind.CONVOLUTION, macs=10**6, window=window())
    joined = replace(launch, layers=(product, first, *steps, relu))
    unit = model(tile=Tile(joined_operations=Fraction(1)))
    extra = launch_work(joined, unit) - launch_work(joined, model(tile=Tile()))
    assert extra == (parameters[0] == 8) * first.output_elements / unit.rates[ELEMENTS]


def test_several_contexts_slow_down_elements_and_depthwise_convolutions() -> None:
    chip = load_platform("raspberry-pi-5-hailo-8")
    unit = chip.unit_by_name["hailo"]
    hailo = unit_model(unit, chip, unit.peak_by_format["int8"])
    small, large = (
        Launch((layer("a", LayerKind.CONVOLUTION, parameters=size),), size, is_free=False)
        for size in (1 << 20, 1 << 26)
    )
    one, several = loaded([[small]], hailo), loaded([[large]], hailo)
    assert (one.fixed_ps, one.efficiency) == (0, hailo.efficiency)
    assert several.fixed_ps == hailo.fixed_ps
    for key, share in hailo.efficiency.items():
        assert several.efficiency[key] == share / (3 if key in (ELEMENTS, DEPTHWISE) else 1)


def test_whole_channels_are_moved_without_computing() -> None:
    shuffle = layer("s", LayerKind.DATA_MOVEMENT, operation="DepthToSpace")
    launch = Launch((shuffle,), elements=1000, is_free=False)
    assert launch_work(launch, model()) == 0
    slices = replace(launch, layers=(replace(shuffle, operation="Slice"),))
    assert launch_work(slices, model()) > 0


def test_a_launch_without_multiplications_takes_an_operation_for_each_element() -> None:
    pooling = layer("a", LayerKind.POOLING, macs=0)
    launch = Launch((pooling,), elements=1000, is_free=False)
    unit = model(efficiency={"default": Fraction(1, 2), ELEMENTS: Fraction(1, 50)})
    assert launch_work(launch, unit) == 50 * pooling.output_elements / unit.macs_per_ps
    assert launch_work(launch, replace(unit, efficiency={"default": Fraction(1, 2)})) == 0
    pools = replace(unit, efficiency=unit.efficiency | {"pooling": Fraction(1, 10)})
    assert launch_work(launch, pools) == 10 * pooling.output_elements / unit.macs_per_ps
    resize = Launch((layer("a", LayerKind.RESIZE, macs=0),), elements=1000, is_free=False)
    assert launch_work(resize, pools) == launch_work(resize, unit) > 0
    bilinear = replace(pools, efficiency=unit.efficiency | {LINEAR_RESIZE: Fraction(1, 500)})
    assert launch_work(resize, bilinear) == launch_work(resize, unit)
    linear = replace(resize, layers=(replace(resize.layers[0], mode="linear asymmetric"),))
    assert launch_work(linear, bilinear) == 10 * launch_work(linear, unit)


def test_a_cpu_computes_elements_by_default() -> None:
    orin = load_platform("jetson-agx-orin")
    cpu, gpu = (orin.unit_by_name[name] for name in ("cpu", "gpu"))
    (peak, *_) = cpu.peaks
    bare = replace(peak, efficiency=(("default", Fraction(1, 3)),))
    assert unit_model(cpu, orin, bare).efficiency[ELEMENTS] == Fraction(1, 3)
    assert unit_model(cpu, orin, peak).efficiency[ELEMENTS] == dict(peak.efficiency)[ELEMENTS]
    bare = replace(gpu.peaks[0], efficiency=(("default", Fraction(1, 3)),))
    assert ELEMENTS not in unit_model(gpu, orin, bare).efficiency
