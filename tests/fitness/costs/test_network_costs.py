"""Costs against the formula computed again from the text of the platform files, in fractions."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.common.units import NINE_OF_TEN, percent_off
from paretosoc.fitness.calibration.shape import estimated_shape
from paretosoc.fitness.cost_model.power import domain_static_mw, unit_idle_mw
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.costs.standard_errors import estimated
from paretosoc.fitness.costs.taught import compared
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform, platform_names, platform_source
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.problems.small_networks import chain, layer, window

XAVIER = load_platform("jetson-agx-xavier")


def figures(name: str) -> dict[str, Any]:
    text = platform_source(name)
    document: dict[str, Any] = json.loads(text, parse_float=Fraction, parse_int=Fraction)
    return document


def test_a_platform_states_the_errors_that_costs_are_drawn_with() -> None:
    for peak in (peak for unit in XAVIER.units for peak in unit.peaks if peak.error):
        scale = estimated(peak).of_network
        half, most = percent_off(scale), percent_off(scale, NINE_OF_TEN)
        assert f"median {half} %, 90th percentile {most} %" in peak.error.words


def test_a_file_says_which_activations_a_unit_launches_for_themselves(tmp_path: Path) -> None:
    fixed = {"us_per_layer": 30, "separate": [], "source": "own timing", "status": "measured"}
    units = [{"name": "gpu", "fixed": fixed}]
    (tmp_path / "fusing.json").write_text(
        json.dumps({"extends": "jetson-nano", "name": "fusing", "units": units})
    )
    boards = load_platform("jetson-nano"), load_platform(tmp_path / "fusing.json")
    conv = layer("a", LayerKind.CONVOLUTION, macs=10**6, window=window())
    hard = replace(layer("b", LayerKind.ACTIVATION), operation="HardSwish")
    apart, joined = (times_of(chain([conv, hard], [2]), board) for board in boards)
    assert apart > joined
    # So a measured time is another share of the estimate.
    network, clocks = chain([conv, hard], [2]), (("gpu", 921_600), ("emc", 1_600_000))
    lessons, shapes = [], []
    for board in boards:
        gpu = board.unit_by_name["gpu"]
        lessons.append(compared(network, board, gpu, "fp16", clocks, {0: 10**9}))
        shapes.append(estimated_shape(network, board, gpu, "fp16"))
    assert [one.estimated_ps for one in lessons if one] == [apart, joined]
    assert shapes[0] != shapes[1]
    relu = replace(hard, operation="Relu")
    assert len({times_of(chain([conv, relu], [2]), board) for board in boards}) == 1


def times_of(network: GroupedNetwork, platform: Platform) -> int:
    """Return the estimate on the GPU in FP16 at the fastest clocks."""
    (costs,) = network_costs(network, platform, precision="fp16", units=["gpu"]).units
    return int(costs.time_ps[0].reshape(-1)[-1])


def half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def cube_root(value: Fraction) -> Fraction:
    """To thirty decimal places, by bisection of whole numbers."""
    scaled = value.numerator * 10**90 // value.denominator
    low, high = 0, 1 << (scaled.bit_length() // 3 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= scaled else (low, middle)
    return Fraction(low, 10**30)


def random_network(seed: int, name: str = "net") -> GroupedNetwork:
    """A chain of convolutions, activations, poolings and products, cut at random."""
    generator = random.Random(seed)
    layers: list[Layer] = []
    for index in range(generator.randrange(3, 15)):
        kind = generator.choice(
            [
                LayerKind.CONVOLUTION,
                LayerKind.CONVOLUTION,
                LayerKind.POOLING,
                LayerKind.MATRIX_PRODUCT,
                LayerKind.NORMALISATION,
            ]
        )
        shape = (1, generator.choice([8, 64, 512]), *[generator.choice([7, 14, 56])] * 2)
        works = kind in (LayerKind.CONVOLUTION, LayerKind.MATRIX_PRODUCT)
        layers.append(
            layer(
                f"l{index}",
                kind,
                reads=[shape],
                writes=shape,
                macs=generator.randrange(10**10) if works else 0,
                parameters=generator.randrange(1, 10**7) if works else 0,
                window=window() if kind is LayerKind.CONVOLUTION else None,
            )
        )
    cuts = sorted(generator.sample(range(1, len(layers)), generator.randrange(len(layers) - 1)))
    return chain(layers, [*cuts, len(layers)], name)


@pytest.mark.parametrize("name", ["jetson-agx-xavier", "jetson-tx2", "snapdragon-865"])
@pytest.mark.parametrize("seed", range(3))
def test_costs_are_the_formula_to_the_last_picosecond(name: str, seed: int) -> None:
    document = figures(name)
    network = random_network(seed)
    costs = network_costs(network, load_platform(name))
    ladders = {
        domain["name"]: domain["ladder"]["frequencies_mhz"] for domain in document["domains"]
    }
    width = document["memory"]["bytes_per_cycle"]
    memory_mhz = ladders[document["memory"]["domain"]]
    generator = random.Random(seed)
    for unit, table in zip(document["units"], costs.units, strict=True):
        own_mhz = ladders[unit["clocks"][0]]
        peak = next(
            peak for peak in unit["peaks"] if peak["precision"] == document["default_precision"]
        )
        efficiency = peak["efficiency"]
        for _ in range(40):
            group = generator.randrange(len(network.groups))
            row, column = generator.randrange(len(own_mhz)), generator.randrange(len(memory_mhz))
            place = (group, row, *([generator.randrange(12)] if unit["host"] else []), column)
            host_mhz = ladders[unit["host"]] if unit["host"] else [Fraction(1)]
            slower_host = host_mhz[-1] / host_mhz[place[2] if unit["host"] else 0]
            share = unit["fixed"].get("own_share", 0)
            slower_launch = share * own_mhz[-1] / own_mhz[row] + (1 - share) * slower_host
            time = Fraction(0)
            moved = Fraction(0)
            for item in network.groups[group].layers:
                convolves = item.kind is LayerKind.CONVOLUTION
                key = "3 x 3 convolution" if convolves else item.kind.value
                reached = [efficiency[k] for k in (key, item.kind.value) if k in efficiency]
                rate = (
                    peak["macs_per_cycle"]
                    * own_mhz[-1]
                    * (reached[0] if reached else efficiency["default"])
                )
                tile = {"start_macs": 0, "packing": 0, "channels": 1, "rows": 1}
                tile |= peak.get("tile", {})
                outputs = item.output_shapes[0][1 if convolves else -1]
                padded = -(-outputs // tile["channels"]) * tile["channels"]
                macs = item.macs * (1 + Fraction(tile["packing"], outputs))
                macs += item.macs and tile["start_macs"] * item.output_elements
                size = peak["bytes_per_element"] * (
                    item.parameters + item.input_elements + item.output_elements
                )
                compute = macs * Fraction(padded, outputs) / rate
                if convolves:
                    rows = item.output_elements // outputs
                    compute *= Fraction(-(-rows // tile["rows"]) * tile["rows"], rows)
                    if side := tile.get("winograd", 0):
                        inputs = Fraction(item.macs, 9 * item.output_elements)
                        tiles = math.prod(-(-n // side) for n in item.output_shapes[0][2:])
                        values = inputs * (outputs + tile["packing"]) + 48 * (inputs + outputs)
                        compute = min(compute, tiles * (side + 2) ** 2 * values / rate)
                elements = efficiency.get(
                    "elements", efficiency["default"] if unit["kind"] == "cpu" else None
                )
                if elements is not None and not item.macs:
                    lanes = peak["macs_per_cycle"] * elements
                    compute = item.output_elements / (lanes * own_mhz[-1])
                transfer = size / (
                    width * memory_mhz[-1] * peak.get("bandwidth_share", unit["bandwidth"]["share"])
                )
                assert unit["clock_law"]["overlap"] == 3
                time += cube_root(
                    (compute * own_mhz[-1] / own_mhz[row]) ** 3
                    + (transfer * memory_mhz[-1] / memory_mhz[column]) ** 3
                )
                fixed = peak.get("us_per_layer", unit["fixed"]["us_per_layer"])
                time += fixed * slower_launch
                moved += size
            # MACs / (MAC/cycle x MHz) are microseconds; bytes / us = 1000 kB/s.
            assert table.time_ps[place] == half_up(time * 10**6)
            demand = min(half_up(moved / time * 1000), width * memory_mhz[column] * 1000)
            assert table.demand_kbps[place] == demand
            assert table.origin[group] is CostOrigin.ESTIMATED


def test_dynamic_power_is_busy_minus_idle_and_the_traffic() -> None:
    costs = network_costs(random_network(1), XAVIER)
    memory = XAVIER.memory.power
    for unit, table in zip(XAVIER.units, costs.units, strict=True):
        power = unit.power[0]
        for row in range(table.time_ps.shape[1]):
            for column in (0, 4, 8):
                above = memory.busy_mw[column] - memory.idle_mw[column]
                peak = 64 * XAVIER.domain_by_name["emc"].operating_points[column].frequency_khz
                traffic = Fraction(int(table.demand_kbps[0, row, column]) * above, peak)
                expected = power.busy_mw[row] - power.idle_mw[row] + half_up(traffic)
                assert table.dynamic_mw[0, row, column] == expected


def test_a_hosted_unit_adds_its_host_and_its_host_idles_anyway() -> None:
    platform = load_platform("jetson-tx2")
    gpu = platform.unit_by_name["gpu"]
    costs = network_costs(random_network(2), platform, units=["gpu"]).units[0]
    assert costs.time_ps.shape[1:] == costs.dynamic_mw.shape[1:] == (13, 12, 7)
    own, host = gpu.power
    # The clocks differ by a factor of 5.9; a launch takes some us at the fastest.
    launches = sum(len(group.layers) for group in random_network(2).groups)
    slowest, fastest = (costs.time_ps[:, -1, host, -1].sum() for host in (0, -1))
    assert slowest - fastest == pytest.approx(
        launches * 1000 * (gpu.peaks[0].ns_per_layer or 0) * (2035.2 / 345.6 - 1),
        abs=len(costs.origin),
    )
    memory = platform.memory.power
    peak = 32 * platform.domain_by_name["emc"].operating_points[2].frequency_khz
    traffic = [
        half_up(Fraction(int(kbps) * (memory.busy_mw[2] - memory.idle_mw[2]), peak))
        for kbps in costs.demand_kbps[0, 3, :, 2]
    ]
    dynamic = costs.dynamic_mw[0, 3, :, 2] - np.array(traffic)
    rise = dynamic - dynamic[0]
    above = np.array(host.busy_mw) - np.array(host.idle_mw)
    assert (rise == above - above[0]).all()
    idle = unit_idle_mw(platform, gpu)
    assert idle.shape == (13, 12, 7)
    assert (idle[:, 5, 5] == own.idle_mw).all()
    assert domain_static_mw(platform, "a57").tolist() == list(host.idle_mw)
    assert domain_static_mw(platform, "denver").tolist() == [0] * 12
    assert domain_static_mw(platform, "emc").tolist() == list(platform.memory.power.idle_mw)


@pytest.mark.parametrize("name", platform_names())
def test_every_network_of_the_onnx_package_has_sound_costs(name: str) -> None:
    platform = load_platform(name)
    for network in ("vgg19", "squeezenet", "shufflenet"):
        graph = load_network(network).graph
        layers = [actor.layer for actor in graph.actors if actor.layer]
        costs = network_costs(group_network(graph, layer_support(layers, platform).table), platform)
        check_sound(costs)


def test_a_unit_with_memory_of_its_own_moves_nothing_through_the_shared_one() -> None:
    platform = load_platform("raspberry-pi-5-hailo-8")
    graph = load_network("squeezenet").graph
    layers = [actor.layer for actor in graph.actors if actor.layer]
    costs = network_costs(group_network(graph, layer_support(layers, platform).table), platform)
    cpu, hailo = costs.units
    assert platform.unit_by_name["hailo"].kept_bytes > 0
    assert not hailo.demand_kbps.any()
    assert (cpu.demand_kbps > 0).any()


def test_constants_that_do_not_fit_on_the_chip_come_from_the_shared_memory() -> None:
    small, large = map(load_platform, ("raspberry-pi-5-hailo-8l", "raspberry-pi-5-hailo-8"))
    network = group_network(load_network("regnet_x_8gf").graph, None)
    few = group_network(load_network("resnet34").graph, None)
    for platform, of, moves in ((small, few, True), (large, few, False), (large, network, True)):
        bare = replace(platform, measurements=())
        (table,) = network_costs(of, bare, units=["hailo"]).units
        assert bool(table.demand_kbps.any()) is moves
        check_sound(NetworkCosts("n", (table,), np.zeros((0, 1, 1), dtype=np.int64)))


def test_a_network_in_one_context_waits_for_no_launch_and_one_with_attention_runs_in_several() -> (
    None
):
    """Hailo: YOLOv8n is fast, YOLO11n is not, which is smaller. One image of it takes 5.4 ms."""
    platform = replace(load_platform("raspberry-pi-5-hailo-8"), measurements=())
    times = {}
    for name in ("yolov8n", "yolo11n"):
        network = group_network(load_network(name).graph, None)
        (table,) = network_costs(network, platform, units=["hailo"]).units
        times[name] = int(table.time_ps.sum()) / 10**9
        assert bool(table.demand_kbps.any()) is (name == "yolo11n")
    assert times["yolov8n"] < 1.5
    assert times["yolo11n"] == pytest.approx(5.4, rel=0.2)


def check_sound(costs: NetworkCosts) -> None:
    for table in costs.units:
        assert table.time_ps.dtype == table.demand_kbps.dtype == table.dynamic_mw.dtype == np.int64
        runs = np.array([origin is not CostOrigin.CANNOT_RUN for origin in table.origin])
        assert (table.time_ps[runs] >= 1).all()
        assert (table.time_ps[~runs] == -1).all()
        assert (table.demand_kbps[~runs] == 0).all()
        assert (table.dynamic_mw[~runs] == 0).all()
        assert (table.demand_kbps >= 0).all()
        assert (table.dynamic_mw >= 0).all()
        # A faster clock never takes longer where nothing else runs.
        assert (np.diff(table.time_ps[runs], axis=1) <= 0).all()
        assert (np.diff(table.time_ps[runs], axis=-1) <= 0).all()
        assert all(table.note[index] for index in np.flatnonzero(~runs))
    assert (costs.transition_ps[:, range(len(costs.units)), range(len(costs.units))] == 0).all()


def test_what_cannot_run_says_why() -> None:
    network = chain([layer("a", LayerKind.ATTENTION), layer("b", LayerKind.ACTIVATION)], [1, 2])
    dla = network_costs(network, XAVIER, units=["dla0"]).units[0]
    assert dla.origin == (CostOrigin.CANNOT_RUN, CostOrigin.ESTIMATED)
    assert dla.note[0] == "a: dla0 runs no attention (attention)"


def test_a_dla_cannot_run_fp32_but_the_others_can() -> None:
    costs = network_costs(random_network(4), XAVIER, precision="fp32")
    runs = [bool((table.time_ps > 0).all()) for table in costs.units]
    assert runs == [True, True, False, False]
    assert costs.units[2].note[0].endswith("not in fp32")


def test_transitions_by_hand() -> None:
    network = random_network(6)
    assert len(network.edges) == 8
    costs = network_costs(network, XAVIER)
    assert costs.transition_ps.shape == (len(network.edges), 4, 4)
    by_unit = {transition["unit"]: transition for transition in figures(XAVIER.name)["transitions"]}
    names = [unit.name for unit in XAVIER.units]
    for number, edge in enumerate(network.edges):
        for row, source in enumerate(names):
            for column, target in enumerate(names):
                out, into = by_unit[source], by_unit[target]
                size = 2 * edge.elements
                expected = 10**6 * (out["out_us"] + into["in_us"]) + 1000 * (
                    size / out["out_gbps"] + size / into["in_gbps"]
                )
                same = row == column
                got = costs.transition_ps[number, row, column]
                assert got == (0 if same else half_up(expected))


def test_a_tensor_passes_in_the_format_of_its_source() -> None:
    chip = load_platform("snapdragon-865")
    widths = {
        unit.name: peak.bytes_per_element
        for unit in chip.units
        for peak in unit.peaks
        if peak.precision == chip.default_precision
    }
    assert len(set(widths.values())) > 1
    network = random_network(6)
    costs = network_costs(network, chip)
    by_unit = {transition["unit"]: transition for transition in figures(chip.name)["transitions"]}
    for number, edge in enumerate(network.edges):
        for row, source in enumerate(widths):
            for column, target in enumerate(widths):
                if row == column:
                    continue
                out, into = by_unit[source], by_unit[target]
                size = widths[source] * edge.elements
                expected = 10**6 * (out["out_us"] + into["in_us"]) + 1000 * (
                    size / out["out_gbps"] + size / into["in_gbps"]
                )
                assert costs.transition_ps[number, row, column] == half_up(expected)


def test_units_keep_the_order_of_the_platform() -> None:
    costs = network_costs(random_network(0), XAVIER, units=["dla0", "gpu"])
    assert [table.unit for table in costs.units] == ["gpu", "dla0"]
    assert costs.transition_ps.shape[1:] == (2, 2)
    whole = network_costs(random_network(0), XAVIER)
    assert (costs.units[0].time_ps == whole.units[1].time_ps).all()
    assert (costs.transition_ps[:, 0, 1] == whole.transition_ps[:, 1, 2]).all()


def test_wrong_names_are_refused() -> None:
    with pytest.raises(PlatformError, match="did you mean dla1 or dla0"):
        network_costs(random_network(0), XAVIER, units=["dla"])
    with pytest.raises(PlatformError, match="at least one unit"):
        network_costs(random_network(0), XAVIER, units=[])
    with pytest.raises(PlatformError, match="precision must be one"):
        network_costs(random_network(0), XAVIER, precision="fp64")


def test_a_group_that_takes_minutes_is_refused() -> None:
    heavy = chain([layer("a", LayerKind.CONVOLUTION, macs=10**14, window=window())], [1])
    with pytest.raises(PlatformError, match=r"group 'g0' on cpu: .* below 140 s"):
        network_costs(heavy, XAVIER)


def test_depthwise_convolutions_have_their_own_efficiency() -> None:
    def time(groups: int) -> int:
        item = layer("a", LayerKind.CONVOLUTION, macs=10**10, window=window(groups=groups))
        costs = network_costs(chain([item], [1]), XAVIER, units=["gpu"])
        return int(costs.units[0].time_ps[0, -1, -1])

    assert time(16) > 2 * time(1)
    # Four channels in a group: padded to as many as one group of 64.
    assert time(4) > 2 * time(1)


def test_the_memory_is_never_asked_for_more_than_its_peak() -> None:
    network = random_network(7)
    macs = sum(group.macs for group in network.groups)
    record = replace(XAVIER.measurements[0], names=("net",), macs=macs, time_ps=10**6)
    platform = replace(XAVIER, measurements=(record,))
    gpu = network_costs(network, platform, units=["gpu"]).units[0]
    khz = [point.frequency_khz for point in XAVIER.domain_by_name["emc"].operating_points]
    assert (gpu.demand_kbps <= 64 * np.array(khz)).all()
    assert (gpu.demand_kbps.max(axis=(0, 1)) == 64 * np.array(khz)).all()
    total = gpu.time_ps[:, -1, -1].sum()
    assert abs(total - 10**6) <= len(gpu.origin)


def test_a_cpu_at_its_slowest_clock_moves_no_more_than_its_lanes_can() -> None:
    """Element-wise layers of a large tensor: not in the time that the memory alone would take."""
    elements = 64 * 112 * 112
    large = replace(layer("a", LayerKind.ELEMENTWISE), output_elements=elements)
    network = chain([large], [1])
    (costs,) = [c for c in network_costs(network, XAVIER).units if c.unit == "cpu"]
    slow, fast = (int(costs.time_ps[0, k, -1]) for k in (0, -1))
    assert slow > fast
    (peak,) = (p for p in XAVIER.unit_by_name["cpu"].peaks if p.precision == "fp16")
    lanes = float(peak.macs_per_cycle * dict(peak.efficiency)["elements"])
    assert slow >= elements / (lanes * 115.2e6) * 1e12
