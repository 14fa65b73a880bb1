"""Launches on a unit that keeps activations on the chip, and computes elements one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.roofline import (
    ELEMENTS,
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
    shares = {"default": Fraction(1, 2), ELEMENTS: Fraction(1, 50)}
    unit = model(efficiency=shares, counts_elements=True)
    assert launch_work(launch, unit) == 50 * pooling.output_elements / unit.macs_per_ps
    assert launch_work(launch, replace(unit, counts_elements=False)) == 0
    assert launch_work(launch, replace(unit, efficiency={"default": Fraction(1, 2)})) == (
        2 * pooling.output_elements / unit.macs_per_ps
    )


def test_a_unit_counts_elements_if_it_has_an_efficiency_of_them() -> None:
    cpu, gpu = (load_platform("jetson-agx-orin").unit_by_name[name] for name in ("cpu", "gpu"))
    orin = load_platform("jetson-agx-orin")
    assert unit_model(cpu, orin, cpu.peaks[0]).counts_elements
    assert not unit_model(gpu, orin, gpu.peaks[0]).counts_elements
