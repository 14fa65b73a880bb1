"""Profiles: measured times, demands, powers and transitions win over everything else."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.profiles.profile_file import load_profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind
from tests.support.problems.small_networks import chain, layer, window

XAVIER = load_platform("jetson-agx-xavier")
CLOCKS = {"gpu": 905.25, "dla": 1050, "cpu": 1190.4, "emc": 1600}
ROW, COLUMN = 8, 6


def network() -> GroupedNetwork:
    conv = LayerKind.CONVOLUTION
    layers = [
        layer("a", conv, macs=10**9, parameters=1000, window=window()),
        layer("ar", LayerKind.ACTIVATION),
        layer("b", conv, macs=10**8, parameters=1000, window=window()),
        layer("c", LayerKind.POOLING, window=window()),
        layer("d", conv, macs=3 * 10**9, parameters=9000, window=window()),
    ]
    return chain(layers, [2, 4, 5])


def record(**changes: Any) -> dict[str, Any]:
    return {
        "network": "net",
        "precision": "fp16",
        "clocks_mhz": CLOCKS,
        "source": "own board",
        "status": "measured",
    } | changes


def costs_with(folder: Path, *records: dict[str, Any], **changes: Any) -> NetworkCosts:
    path = folder / "profile.json"
    path.write_text(json.dumps({"platform": XAVIER.name, "networks": records} | changes), "utf-8")
    return network_costs(network(), XAVIER, profile=load_profile(path, XAVIER))


def refused(folder: Path, *records: dict[str, Any], **changes: Any) -> str:
    with pytest.raises(PlatformError) as caught:
        costs_with(folder, *records, **changes)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_group_takes_its_measured_time_at_the_measured_clocks(tmp_path: Path) -> None:
    plain = network_costs(network(), XAVIER)
    costs = costs_with(tmp_path, record(groups=[{"name": "g1", "ms": {"gpu": 1.25}}]))
    gpu = costs.units[1]
    assert gpu.origin == (CostOrigin.ESTIMATED, CostOrigin.MEASURED, CostOrigin.ESTIMATED)
    assert gpu.note[1] == "own board"
    assert gpu.time_ps[1, ROW, COLUMN] == 1_250_000_000
    assert (gpu.time_ps[[0, 2]] == plain.units[1].time_ps[[0, 2]]).all()
    assert (costs.units[0].time_ps == plain.units[0].time_ps).all()
    # At other clocks the parts of the estimate scale it.
    assert gpu.time_ps[1, -1, -1] < 1_250_000_000 < gpu.time_ps[1, 0, 0]


def test_groups_without_names_are_all_of_them_in_order(tmp_path: Path) -> None:
    parts = [{"ms": {"gpu": 1 + index, "dla0": 2}, "convolutions": 1} for index in range(3)]
    costs = costs_with(tmp_path, record(groups=parts))
    assert costs.units[1].time_ps[:, ROW, COLUMN].tolist() == [10**9, 2 * 10**9, 3 * 10**9]
    assert costs.units[2].time_ps[:, 3, COLUMN].tolist() == [2 * 10**9] * 3
    assert "with [1, 1, 1] convolutions" in refused(tmp_path, record(groups=parts + parts))


def test_layers_add_up_to_their_groups(tmp_path: Path) -> None:
    layers = [
        {"name": "a", "ms": {"gpu": 0.5}, "traffic_gbps": {"gpu": 10}, "power_mw": {"gpu": 4000}},
        {"name": "b", "ms": {"gpu": 0.25}, "traffic_gbps": {"gpu": 10}, "power_mw": {"gpu": 4000}},
        {"name": "c", "ms": {"gpu": 0.75}, "traffic_gbps": {"gpu": 30}, "power_mw": {"gpu": 8000}},
    ]
    gpu = costs_with(tmp_path, record(layers=layers)).units[1]
    assert gpu.origin == (CostOrigin.MEASURED, CostOrigin.MEASURED, CostOrigin.ESTIMATED)
    assert gpu.time_ps[:2, ROW, COLUMN].tolist() == [500_000_000, 1_000_000_000]
    assert gpu.demand_kbps[:2, ROW, COLUMN].tolist() == [10_000_000, 25_000_000]
    assert gpu.dynamic_mw[:2, ROW, COLUMN].tolist() == [4000, 7000]
    # A group of which one launch was not measured is not.
    partly = costs_with(tmp_path, record(layers=layers[1:2])).units[1]
    assert set(partly.origin) == {CostOrigin.ESTIMATED}


def test_measured_traffic_holds_for_the_other_units_as_bytes(tmp_path: Path) -> None:
    part = {"name": "g0", "ms": {"gpu": 1, "dla0": 4}, "traffic_percent": {"gpu": 40}}
    costs = costs_with(tmp_path, record(groups=[part]))
    peak = 64 * 1_600_000
    assert costs.units[1].demand_kbps[0, ROW, COLUMN] == 40 * peak // 100
    assert costs.units[2].demand_kbps[0, 3, COLUMN] == 10 * peak // 100
    # The other DLA is described alike, and was not measured itself.
    assert (costs.units[3].demand_kbps == costs.units[2].demand_kbps).all()


def test_what_is_requested_of_the_busiest_memory_is_no_traffic(tmp_path: Path) -> None:
    """Contention reads it; energy and the other units keep the bytes."""
    part = {"name": "g0", "ms": {"gpu": 1, "dla0": 4}}
    plain = costs_with(tmp_path, record(groups=[part])).units
    told = costs_with(tmp_path, record(groups=[{**part, "requested_percent": {"gpu": 40}}])).units
    peak = 64 * 1_600_000
    assert told[1].demand_kbps[0, ROW, COLUMN] == 40 * peak // 100
    assert plain[1].demand_kbps[0, ROW, COLUMN] < 40 * peak // 100
    assert (told[1].dynamic_mw == plain[1].dynamic_mw).all()
    assert (told[2].demand_kbps == plain[2].demand_kbps).all()
    # What reaches the memory was requested.
    little = costs_with(tmp_path, record(groups=[{**part, "requested_percent": {"gpu": 0.001}}]))
    assert (little.units[1].demand_kbps == plain[1].demand_kbps).all()


def test_measured_power_holds_at_its_clocks_and_scales_at_others(tmp_path: Path) -> None:
    plain = network_costs(network(), XAVIER).units[1].dynamic_mw[0]
    gpu = costs_with(tmp_path, record(groups=[{"name": "g0", "power_mw": {"gpu": 5000}}])).units[1]
    assert gpu.origin[0] is CostOrigin.ESTIMATED
    assert gpu.dynamic_mw[0, ROW, COLUMN] == 5000
    ratio = gpu.dynamic_mw[0] / plain
    assert ratio == pytest.approx(np.full_like(ratio, 5000 / plain[ROW, COLUMN]), rel=1e-3)


def test_of_two_clocks_the_nearest_holds(tmp_path: Path) -> None:
    slow = record(
        groups=[{"name": "g0", "ms": {"gpu": 20}}],
        clocks_mhz={"gpu": 114.75, "emc": 204},
    )
    fast = record(groups=[{"name": "g0", "ms": {"gpu": 3}}], clocks_mhz={"gpu": 1377, "emc": 2133})
    gpu = costs_with(tmp_path, slow, fast).units[1]
    assert gpu.time_ps[0, 0, 0] == 20 * 10**9
    assert gpu.time_ps[0, -1, -1] == 3 * 10**9
    near_slow = costs_with(tmp_path, slow).units[1].time_ps[0]
    near_fast = costs_with(tmp_path, fast).units[1].time_ps[0]
    assert gpu.time_ps[0, 1, 1] == near_slow[1, 1]
    assert gpu.time_ps[0, -2, -2] == near_fast[-2, -2]


def test_measured_transitions_win(tmp_path: Path) -> None:
    after = [
        {"after": "g0", "from": "gpu", "to": "dla1", "ms": 0.5},
        {"after": 1, "from": "dla1", "to": "cpu", "ms": 0},
    ]
    plain = network_costs(network(), XAVIER).transition_ps
    got = costs_with(tmp_path, record(transitions=after)).transition_ps
    assert got[0, 1, 3] == 500_000_000
    assert got[1, 3, 0] == 0
    changed = got != plain
    assert changed.sum() == 2


def test_a_measurement_proves_that_a_unit_can_run_a_group(tmp_path: Path) -> None:
    softmax = chain([layer("s", LayerKind.SOFTMAX), layer("c", LayerKind.POOLING)], [1, 2])
    path = tmp_path / "p.json"
    part = {"name": "g0", "ms": {"dla0": 1}}
    path.write_text(
        json.dumps({"platform": XAVIER.name, "networks": [record(groups=[part])]}), "utf-8"
    )
    costs = network_costs(softmax, XAVIER, profile=load_profile(path, XAVIER))
    assert costs.units[2].origin[0] is CostOrigin.MEASURED
    assert costs.units[2].note[0] == "own board"
    assert costs.units[3].origin[0] is CostOrigin.MEASURED
    assert costs.units[3].note[0] == "own board (measured on dla0)"


def test_profiles_of_other_networks_or_formats_change_nothing(tmp_path: Path) -> None:
    plain = network_costs(network(), XAVIER)
    part = {"name": "g0", "ms": {"gpu": 1}}
    for other in (
        record(groups=[part], network="another"),
        record(groups=[part], precision="int8"),
        record(groups=[part], macs=10**12),
    ):
        costs = costs_with(tmp_path, other)
        for before, after in zip(plain.units, costs.units, strict=True):
            assert (before.time_ps == after.time_ps).all()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"groups": [{"name": "gx", "ms": {"gpu": 1}}]}, "there is no group 'gx'"),
        ({"layers": [{"name": "ax", "ms": {"gpu": 1}}]}, "there is no layer 'ax'"),
        ({"groups": [{"ms": {"gpu": 1}}]}, "must be those of the network in order"),
        ({"groups": [{"name": "g0"}, {}]}, "must name all of its items or none"),
        ({"groups": [{"name": "g0"}, {"name": "g0"}]}, "must name each once, got 'g0' twice"),
        ({"groups": [{"name": "g0", "ms": {"npu": 1}}]}, "ms must name a unit"),
        ({"groups": [{"name": "g0", "ms": {"gpu": 0}}]}, "groups[0].ms.gpu must be at least"),
        ({"groups": [{"name": "g0", "ms": {"gpu": "1"}}]}, "must be a number"),
        ({"clocks_mhz": {"gpu": 900, "emc": 1600}}, "clocks_mhz.gpu: 900 MHz is not on the ladder"),
        (
            {"clocks_mhz": {"gpu": 1377}, "groups": [{"name": "g0", "ms": {"gpu": 1}}]},
            "must name the clock 'emc'",
        ),
        (
            {"transitions": [{"after": "gx", "from": "gpu", "to": "cpu", "ms": 1}]},
            "there is no group 'gx' for a transition",
        ),
        (
            {"transitions": [{"after": 3, "from": "gpu", "to": "cpu", "ms": 1}]},
            "there is no group 3 for a transition",
        ),
        (
            {"groups": [{"name": "g0", "traffic_gbps": {"gpu": 1}, "traffic_percent": {"gpu": 1}}]},
            "must give the traffic of a unit once",
        ),
        ({"precision": "fp32", "groups": [{"name": "g0", "ms": {"dla0": 1}}]}, "precision must"),
        ({"colour": 1}, "must not have 'colour'"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert expected in refused(tmp_path, record(**changes))


def test_another_platform_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, record(), platform="jetson-tx2")
    assert "platform must be the platform in use ('jetson-agx-xavier')" in message
    with pytest.raises(PlatformError, match="cannot be read"):
        load_profile(tmp_path / "nothing.json", XAVIER)


JUNK: tuple[Any, ...] = (None, True, -1, 0, 2.5, 1e30, "", "gpu", "g1", [], {}, [1], {"gpu": 1})


def test_random_edits_give_costs_or_a_platform_error(tmp_path: Path) -> None:
    original = {
        "platform": XAVIER.name,
        "networks": [
            record(
                groups=[
                    {"name": f"g{index}", "ms": {"gpu": 1}, "power_mw": {"gpu": 50}}
                    for index in range(3)
                ],
                layers=[{"name": "a", "ms": {"cpu": 1}, "traffic_gbps": {"cpu": 1}}],
                transitions=[{"after": 0, "from": "gpu", "to": "cpu", "ms": 1}],
            )
        ],
    }
    generator = random.Random(0)
    refusals = 0
    path = tmp_path / "p.json"
    small = network()
    for _ in range(200):
        document = copy.deepcopy(original)
        place: Any = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = generator.choice(keys)
            inner = place[key]
            if isinstance(inner, (dict, list)) and inner and generator.random() < 0.8:
                place = inner
                continue
            place[key] = copy.deepcopy(generator.choice(JUNK))
            break
        path.write_text(json.dumps(document), "utf-8")
        try:
            network_costs(small, XAVIER, profile=load_profile(path, XAVIER))
        except PlatformError:
            refusals += 1
    assert 50 < refusals < 200


def test_a_profile_holds_in_power_modes_that_leave_its_units_their_processors(
    tmp_path: Path,
) -> None:
    path = tmp_path / "profile.json"
    orin, clocks = "jetson-agx-orin", {"cpu": 1113.6, "gpu": 408, "dla": 614.4, "emc": 2133}

    def load(measured_on: str, used_in: str, unit: str = "gpu") -> str:
        layers = [{"names": ["a", "ar"], "ms": {unit: 1}}]
        content = record(clocks_mhz=clocks, layers=layers)
        path.write_text(json.dumps({"platform": measured_on, "networks": [content]}), "utf-8")
        try:
            load_profile(path, load_platform(used_in))
        except PlatformError as error:
            return str(error)
        return ""

    reduced = load_platform(f"{orin}@MODE_15W").reduced_units
    assert "gpu" in reduced
    assert "dla0" not in reduced
    assert load(orin, orin) == load(f"{orin}@MODE_15W", f"{orin}@MODE_15W") == ""
    assert load(orin, f"{orin}@MODE_15W", "dla0") == ""
    assert "gpu was measured with all its processors" in load(orin, f"{orin}@MODE_15W")
    assert "platform must be the platform in use" in load(f"{orin}@MODE_15W", orin)
    assert "platform must be the platform in use" in load("jetson-nano", f"{orin}@MODE_15W")


def test_a_core_keeps_its_own_measurements_however_the_network_is_written(tmp_path: Path) -> None:
    own = [
        record(network=name, groups=[{"name": "g0", "ms": {unit: ms}}])
        for name, unit, ms in (("net", "dla0", 3), ("NET", "dla1", 5))
    ]
    for records in (own, own[::-1]):
        units = costs_with(tmp_path, *records).units
        assert [unit.time_ps[0, 3, COLUMN] for unit in units[2:4]] == [3 * 10**9, 5 * 10**9]


def test_networks_of_one_name_are_told_apart_by_their_work(tmp_path: Path) -> None:
    def measured(ms: int, unit: str, **of: Any) -> dict[str, Any]:
        return record(groups=[{"name": "g0", "ms": {unit: ms}}], **of)

    other = measured(5, "dla1", macs=10**12)
    for records in (
        [measured(3, "dla0", macs=4 * 10**9), other],
        [measured(3, "dla0"), other],
        [measured(3, "dla0", network="mine", aliases=["NET"]), other],
    ):
        for units in (costs_with(tmp_path, *order).units for order in (records, records[::-1])):
            assert [unit.time_ps[0, 3, COLUMN] for unit in units[2:4]] == [3 * 10**9, 3 * 10**9]
    named = [measured(3, "dla0", network="mine", aliases=["NET"]), measured(5, "dla1")]
    for units in (costs_with(tmp_path, *order).units for order in (named, named[::-1])):
        assert [unit.time_ps[0, 3, COLUMN] for unit in units[2:4]] == [3 * 10**9, 5 * 10**9]


def test_a_core_keeps_its_own_fit_beside_the_measurement_of_another(tmp_path: Path) -> None:
    parts = {key: {"value": 1.0, "error": 0.1} for key in ("overlap", "compute_ms", "memory_ms")}
    fit = {
        "network": "net",
        "precision": "fp16",
        "unit": "dla0",
        "source": "own board",
        "status": "measured",
        "time": {"form": "overlap", "parameters": parts, "residual": 0, "measurements": 3},
    }
    part = {"name": "g0", "ms": {"dla1": 9}}
    units = costs_with(tmp_path, record(groups=[part]), models=[fit]).units
    assert set(units[2].origin) == {CostOrigin.CALIBRATED}
    assert units[3].time_ps[0, 3, COLUMN] == 9 * 10**9
