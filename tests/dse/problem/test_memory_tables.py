"""Memory of networks on units: from layers and number formats to the problem's tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.language_models import LANGUAGE_MODELS
from paretosoc.sdf.grouping.activations import held_activation_elements

PARAMETERS = {"fp16": 2, "int8": 1}


def problem(**options):
    arguments = {"groups": 3, "units": ["gpu", "dla0"], "objectives": ["latency", "memory"]}
    networks = options.pop("networks", ["resnet18", "mobilenet_v2"])
    return dse.Problem(networks, "jetson-agx-orin", **(arguments | options))


def test_weights_follow_the_format_and_activations_the_widest():
    made = problem(precision="int8,fp16")
    layers = [group.layers for network in made.built.networks for group in network.groups]
    for unit in made.numeric.units:
        width = PARAMETERS[unit.number_format]
        expected = [width * sum(layer.parameters for layer in own) for own in layers]
        assert unit.weight_bytes.tolist() == expected
    for network, grouped in zip(made.numeric.networks, made.built.networks, strict=True):
        assert network.activation_bytes == 2 * max(held_activation_elements(grouped.graph))


@pytest.mark.parametrize("name", ["bert-base", "qwen2-0.5b"])
def test_an_embedding_is_held_whole(name: str) -> None:
    made = problem(networks=[name], units=["gpu"], precision="fp16")
    (unit,) = made.numeric.units
    # Parameters, rotary tables, and rows that several layers of a table read.
    assert unit.weight_bytes.sum() == pytest.approx(2 * LANGUAGE_MODELS[name].parameters, rel=2e-3)


def test_frames_in_flight_hold_activations_each():
    alone = problem(precision="int8").numeric
    stream = problem(
        precision="int8", objectives=["throughput", "memory"], frames_in_flight=3
    ).numeric
    pairs = zip(stream.networks, alone.networks, strict=True)
    assert all(many.activation_bytes == 3 * one.activation_bytes for many, one in pairs)


def test_nothing_is_counted_where_nothing_asks_for_it():
    plain = problem(objectives=["latency"]).numeric
    assert all(unit.weight_bytes is None for unit in plain.units)
    assert all(network.activation_bytes == 0 for network in plain.networks)
    capped = problem(objectives=["latency"], memory_cap_mb=40.5).numeric
    assert capped.memory_cap_bytes == 40_500_000
    assert all(unit.weight_bytes is not None for unit in capped.units)


def test_a_unit_with_a_memory_of_its_own_takes_none():
    made = dse.Problem(
        ["resnet18"], "raspberry-pi-5-hailo-8", groups=3, objectives=["latency", "memory"]
    ).numeric
    by_name = {unit.name: unit.weight_bytes for unit in made.units}
    own = [name for name, table in by_name.items() if not table.any()]
    assert any("hailo" in name for name in own), by_name
    assert any(np.all(table > 0) for table in by_name.values())


def two_alexnets(mib: int | None, **options):
    """On an Orin whose memory is so many MiB; 244 MB of weights each in FP32, 1.8 MB more."""
    chip = load_platform("jetson-agx-orin")
    capacity = None if mib is None else mib << 20
    chip = replace(chip, memory=replace(chip.memory, capacity_bytes=capacity))
    arguments = {"groups": 2, "units": ["cpu", "gpu"], "objectives": ["latency"]}
    arguments |= {"runtime": "none"}
    return dse.Problem(["alexnet*2"], chip, **(arguments | options)).numeric


def test_the_memory_of_the_board_is_a_limit_where_a_mapping_could_need_more():
    assert two_alexnets(None, precision="fp32").memory_cap_bytes is None
    whole = two_alexnets(600, precision="fp32")
    assert whole.memory_cap_bytes is None
    assert all(unit.weight_bytes is None for unit in whole.units)
    assert two_alexnets(400, precision="fp32").memory_cap_bytes == 400 << 20
    # The widest format alone needs more.
    mixed = two_alexnets(200, precision="int8,fp16")
    assert mixed.memory_cap_bytes == 200 << 20
    weights = np.array([unit.weight_bytes for unit in mixed.units])
    activations = sum(network.activation_bytes for network in mixed.networks)
    assert weights.min(axis=0).sum() + activations < 200 << 20 < weights.max(axis=0).sum()
    assert two_alexnets(200, precision="int8").memory_cap_bytes is None


def test_the_stricter_cap_counts():
    assert two_alexnets(400, precision="fp32", memory_cap_mb=300).memory_cap_bytes == 300 * 10**6
    assert two_alexnets(400, precision="fp32", memory_cap_mb=450).memory_cap_bytes == 400 << 20
    assert two_alexnets(600, precision="fp32", memory_cap_mb=450).memory_cap_bytes == 450 * 10**6


def test_what_needs_more_than_the_board_has_is_refused_by_the_limit():
    problem = dse.Problem(
        ["qwen2.5-7b"], "jetson-orin-nano-8gb", groups=2, units=["gpu"], precision="fp16"
    )
    assert problem.numeric.memory_cap_bytes == 8 << 30
    limit = r"memory: at most 8590 MB \(asked for, or of the board\)"
    with pytest.raises(InfeasibleError, match=limit):
        dse.explore(problem, max_evaluations=50)


@pytest.mark.parametrize("text", ["0", "-1", "x"])
def test_caps_are_positive(text):
    with pytest.raises(WorkloadError, match="memory_cap_mb"):
        problem(memory_cap_mb=text)


def test_the_command_says_what_is_in_the_way(dse, tmp_path):
    arguments = ("explore", "resnet18", "-p", "jetson-agx-orin", "--groups", "3", "-q")
    few = ("--max-evaluations", "500", "--objective", "latency", "--objective", "memory")
    done = dse(*arguments, *few, "--limit", "memory-cap=5", "-o", tmp_path / "x")
    assert done.status == 3
    assert "memory: at most 5 MB (asked for, or of the board), lowest found" in done.err
    done = dse(*arguments, *few, "--limit", "memory-cap=90", "-o", tmp_path / "x")
    assert done.status == 0, done.err
    assert "memory at most 90 MB" in dse("show", tmp_path / "x").out
    assert dse("verify", tmp_path / "x").status == 0
