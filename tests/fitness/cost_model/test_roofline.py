"""Launches on a unit that keeps activations on the chip, and computes elements one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.roofline import (
    ELEMENTS,
    LINEAR_RESIZE,
    UnitModel,
    launch_work,
    moved_bytes,
    unit_model,
)
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.layer import LayerKind
from tests.support.problems.small_networks import layer

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


def test_the_npus_of_snapdragon_keep_a_mebibyte() -> None:
    assert model().kept_activation_bytes == 1 << 20


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
