"""Whole networks take what was measured, and their layers keep the estimate's shares."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.costs.scale_to_measured import SHARE_STEPS, _largest_share
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.measurement import is_same_network
from paretosoc.platforms.platform import Platform
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind
from tests.support.problems.small_networks import chain, layer, window

XAVIER = load_platform("jetson-agx-xavier")
ORIN = load_platform("jetson-agx-orin-32gb")

# HaX-CoNN (PPoPP'24), Table 5, ms; the first name is the catalogue's.
TABLE_5 = """network,orin_gpu,orin_dla,xavier_gpu,xavier_dla
caffenet,0.74,1.79,2.26,5.51
densenet121,2.19,3.10,7.84,
googlenet,0.99,1.52,,
inception_resnet_v2,3.06,5.15,15.12,17.95
inception_v4,2.49,5.66,8.31,15.94
resnet18,0.41,0.74,1.37,2.81
resnet50,0.91,1.67,2.88,6.01
resnet101,1.56,2.47,5.34,10.6
resnet152,2.19,3.26,7.7,12.71
vgg19,1.07,2.93,5.95,19.05
"""
ROWS = list(csv.DictReader(io.StringIO(TABLE_5)))


@pytest.mark.parametrize("largest", [0, 1, 7, SHARE_STEPS // 3, SHARE_STEPS - 1, SHARE_STEPS])
def test_the_largest_share_is_found_from_any_guess(largest: int) -> None:
    asked = []

    def fits(share: Fraction) -> bool:
        asked.append(share)
        return share * SHARE_STEPS <= largest

    for near in (0, 1, largest, SHARE_STEPS // 2, SHARE_STEPS):
        assert _largest_share(fits, near) * SHARE_STEPS == largest
    asked.clear()
    _largest_share(fits, largest)
    assert len(asked) <= 2


def group(name: str, platform: Platform, groups: int | None = None) -> GroupedNetwork:
    graph = load_network(name).graph
    layers = [actor.layer for actor in graph.actors if actor.layer]
    return group_network(graph, layer_support(layers, platform).table, groups=groups)


def totals(costs: NetworkCosts) -> dict[str, float]:
    """Milliseconds at the fastest clocks, by unit."""
    return {table.unit: table.time_ps[:, -1, -1].sum() / 1e9 for table in costs.units}


@pytest.mark.parametrize("row", ROWS, ids=[row["network"] for row in ROWS])
@pytest.mark.parametrize("groups", [None, 10])
def test_table_5(row: dict[str, str], groups: int | None) -> None:
    for platform, column in ((XAVIER, "xavier"), (ORIN, "orin")):
        costs = network_costs(group(row["network"], platform, groups), platform)
        got = totals(costs)
        for kind, units in (("gpu", ["gpu"]), ("dla", ["dla0", "dla1"])):
            if not row[f"{column}_{kind}"]:
                continue
            for name in units:
                assert got[name] == pytest.approx(float(row[f"{column}_{kind}"]), rel=1e-3)
                origins = next(table.origin for table in costs.units if table.unit == name)
                assert set(origins) == {CostOrigin.CALIBRATED}


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_where_table_5_has_no_time_a_network_is_not_supported(precision: str) -> None:
    """DenseNet on Xavier's DLA."""
    network = group("densenet121", XAVIER)
    costs = network_costs(network, XAVIER, precision=precision)
    unnamed = network_costs(replace(network, name="somebody's own"), XAVIER, precision=precision)
    told = "the network counts as not supported on dla0, dla1: HaX-CoNN (PPoPP'24), Table 5, has no"
    for unit, other in zip(costs.units, unnamed.units, strict=True):
        if unit.unit in ("dla0", "dla1"):
            assert set(unit.origin) == {CostOrigin.CANNOT_RUN}
            assert all(note.startswith(told) for note in unit.note)
            assert (unit.time_ps == -1).all()
            assert set(other.origin) == {CostOrigin.ESTIMATED}
        else:
            assert not any("no time of it" in note for note in unit.note)
    (note,) = costs.notes
    assert note.startswith(told)
    assert not unnamed.notes
    assert not network_costs(network, XAVIER, precision=precision, units=["gpu"]).notes


def test_an_own_measurement_shows_that_a_unit_runs_the_network() -> None:
    network = group("densenet121", XAVIER, 2)
    first = network.groups[0].name
    document = {
        "platform": XAVIER.name,
        "networks": [
            {
                "network": "densenet121", "precision": "fp16",
                "clocks_mhz": {"dla": 1395.2, "emc": 2133},
                "groups": [{"name": first, "ms": {"dla0": 3}}],
                "source": "a test", "status": "measured",
            }
        ],
    }  # fmt: skip
    profile = read_profile(canonical_bytes(document), XAVIER, "test")  # type: ignore[arg-type]
    costs = network_costs(network, XAVIER, profile=profile, units=["dla0"])
    assert costs.units[0].origin == (CostOrigin.MEASURED, CostOrigin.CANNOT_RUN)
    assert costs.units[0].time_ps[0, -1, -1] == 3_000_000_000


def test_shares_stay_those_of_the_estimate() -> None:
    network = group("resnet101", XAVIER)
    estimated = network_costs(replace(network, name="somebody's own"), XAVIER)
    calibrated = network_costs(network, XAVIER)
    for unit in (1, 2, 3):
        before = estimated.units[unit]
        after = calibrated.units[unit]
        assert before.origin[0] is CostOrigin.ESTIMATED
        # What scales is the time less the fixed time of the launches, which a difference between
        # two clocks of the unit and the memory isolates.
        part = before.time_ps[:, 0, 0] - before.time_ps[:, -1, -1]
        scaled = after.time_ps[:, 0, 0] - after.time_ps[:, -1, -1]
        assert scaled / scaled.sum() == pytest.approx(part / part.sum(), abs=1e-9)


def test_another_network_of_the_same_name_is_not_calibrated() -> None:
    other = chain(
        [layer("a", LayerKind.CONVOLUTION, macs=10**9, window=window())], [1], "ResNet-50"
    )
    assert network_costs(other, XAVIER).units[1].origin == (CostOrigin.ESTIMATED,)


def test_the_zoo_googlenet_is_not_the_measured_one() -> None:
    assert network_costs(group("inception_v1", XAVIER), XAVIER).units[1].origin[0] is (
        CostOrigin.ESTIMATED
    )
    assert not is_same_network("GoogLeNet", 1_431_600_000, ("GoogLeNet",), 1_582_700_000)
    assert is_same_network("ResNet-50", 4_089_000_000, ("resnet50",), 3_858_000_000)


def test_a_calibration_holds_for_its_precision_only() -> None:
    network = group("vgg19", XAVIER)
    assert network_costs(network, XAVIER, precision="int8").units[1].origin[0] is (
        CostOrigin.ESTIMATED
    )


def test_where_launches_alone_take_longer_everything_is_scaled() -> None:
    record = next(item for item in XAVIER.measurements if "VGG19" in item.names)
    assert record.time_ps is not None
    macs = 10**6
    fast = replace(record, names=("tiny",), macs=macs, time_ps=5_000_000)
    platform = replace(XAVIER, measurements=(fast,))
    tiny = chain(
        [
            layer("a", LayerKind.CONVOLUTION, macs=macs, window=window()),
            layer("b", LayerKind.POOLING, window=window()),
        ],
        [1, 2],
        "tiny",
    )
    costs = network_costs(tiny, platform).units[1]
    assert costs.origin[0] is CostOrigin.CALIBRATED
    assert abs(int(costs.time_ps[:, -1, -1].sum()) - 5_000_000) <= 1
    assert (costs.time_ps > 0).all()


def mixed_network() -> GroupedNetwork:
    layers = [
        layer("a", LayerKind.CONVOLUTION, macs=10**9, window=window()),
        layer("b", LayerKind.CONVOLUTION, macs=3 * 10**9, window=window(kernel=33)),
    ]
    return chain(layers, [1, 2], "mixed")


def test_a_time_of_the_whole_network_proves_that_the_unit_runs_its_layers() -> None:
    record = next(item for item in XAVIER.measurements if "dla0" in item.units)
    assert record.time_ps is not None
    record = replace(record, names=("mixed",), macs=4 * 10**9)
    costs = network_costs(mixed_network(), replace(XAVIER, measurements=(record,)))
    dla = costs.units[2]
    assert set(dla.origin) == {CostOrigin.CALIBRATED}
    assert dla.time_ps[:, -1, -1].sum() == pytest.approx(record.time_ps, rel=1e-9)
    assert not costs.notes


def test_what_rules_forbid_is_said_with_its_share_of_the_work() -> None:
    costs = network_costs(mixed_network(), XAVIER)
    assert costs.units[2].origin == (CostOrigin.ESTIMATED, CostOrigin.CANNOT_RUN)
    assert costs.refused == (
        "dla0, dla1 cannot run 1 of 2 groups, 75 % of its multiply-accumulates: "
        "b: dla0 does not run a kernel outside 1 to 32 (Conv)",
    )


def test_every_reason_is_said_once_and_at_most_four() -> None:
    kinds = [
        layer(f"{operation}{k}", LayerKind.UNKNOWN, operation=operation)
        for operation in ("HardSwish", "Erf", "Sin", "Cos", "Tan", "Atan")
        for k in range(2)
    ]
    (text,) = network_costs(chain(kinds, range(1, 13), "odd"), XAVIER).refused
    assert text.endswith(
        "HardSwish0: dla0 runs no HardSwish; Erf0: dla0 runs no Erf; "
        "Sin0: dla0 runs no Sin; Cos0: dla0 runs no Cos; and 2 more"
    )


@pytest.mark.parametrize(
    ("name", "precision"), [("vit_b_16", "fp16"), ("shufflenet_v2_x0_5", "int8")]
)
def test_npus_run_the_networks_that_were_measured_on_them(name: str, precision: str) -> None:
    network = group_network(load_network(name).graph, None)
    for board in ("snapdragon-8-elite", "snapdragon-8-gen-3", "snapdragon-x-elite"):
        costs = network_costs(network, load_platform(board), precision=precision, units=["npu"])
        assert CostOrigin.CANNOT_RUN not in costs.units[0].origin
        assert not costs.notes


def test_inception_v3_on_snapdragon_npus_is_that_of_224_pixels() -> None:
    for board in ("snapdragon-8-elite", "snapdragon-8-gen-3", "snapdragon-x-elite"):
        records = [r for r in load_platform(board).measurements if r.names[0] == "inception_v3"]
        assert {record.macs for record in records} == {2837921120}


# HaX-CoNN, Table 2: ms on the GPU and the DLA, percent of the peak bandwidth.
TABLE_2 = [
    (0.45, 0.75, 41.97), (0.19, 0.34, 62.21), (0.31, 0.45, 78.49), (0.18, 0.37, 53.41),
    (0.16, 0.31, 55.70), (0.17, 0.33, 59.24), (0.21, 0.31, 62.60), (0.25, 0.35, 76.12),
    (0.16, 0.27, 66.95), (0.24, 0.36, 47.96),
]  # fmt: skip


def measured_modules(network: GroupedNetwork) -> list[list[int]]:
    """Groups of the network by the ten measured ones: a new one begins at every module."""
    modules: list[list[int]] = [[]]
    convolutions = 0
    for index, part in enumerate(network.groups):
        own = sum(item.kind is LayerKind.CONVOLUTION for item in part.layers)
        if own and convolutions >= 3 and (convolutions - 3) % 6 == 0:
            modules.append([])
        convolutions += own
        modules[-1].append(index)
    return modules


def test_googlenet_on_xavier_takes_the_measured_groups() -> None:
    network = group("googlenet", XAVIER)
    modules = measured_modules(network)
    assert len(modules) == 10
    _, gpu, dla, _ = network_costs(network, XAVIER).units
    assert set(gpu.origin) == set(dla.origin) == {CostOrigin.MEASURED}
    for groups, (gpu_ms, dla_ms, percent) in zip(modules, TABLE_2, strict=True):
        assert gpu.time_ps[groups, -1, -1].sum() / 1e9 == pytest.approx(gpu_ms, abs=1e-8)
        assert dla.time_ps[groups, -1, -1].sum() / 1e9 == pytest.approx(dla_ms, abs=1e-8)
        demand = gpu.demand_kbps[groups, -1, -1] / 136_512_000 * 100
        assert demand == pytest.approx(np.full(len(groups), percent), rel=1e-5)
        # What a profiler says of the GPU's busiest memory is no traffic of the DLA.
        requested = (gpu.demand_kbps * gpu.time_ps.astype(float))[groups, -1, -1].sum()
        on_dla = (dla.demand_kbps * dla.time_ps.astype(float))[groups, -1, -1].sum()
        assert 0 < on_dla < requested / 1.5


def test_googlenets_measured_transitions() -> None:
    network = group("googlenet", XAVIER)
    costs = network_costs(network, XAVIER)
    last = [groups[-1] for groups in measured_modules(network)]
    first = [number for number, edge in enumerate(network.edges) if edge.source == last[0]]
    assert first
    for number in first:
        assert costs.transition_ps[number, 1, 2] == 56_000_000
        assert costs.transition_ps[number, 2, 1] == 150_000_000


def test_a_coarser_grouping_adds_the_measured_groups_up() -> None:
    network = group("googlenet", XAVIER, 3)
    costs = network_costs(network, XAVIER)
    assert totals(costs)["gpu"] == pytest.approx(2.32, abs=1e-7)
    assert totals(costs)["dla0"] == pytest.approx(3.84, abs=1e-7)
