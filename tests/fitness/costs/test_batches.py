"""Costs of batches: against the estimate of the larger model, the calibration of one image, and
profiles that name their batch."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.fitness.cost_model.tables import CostOrigin
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.costs.scale_to_measured import calibrate, clock_ratios, network_record
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.sdf.catalogue.catalogue import load_network, model_file
from paretosoc.sdf.grouping.grouping import group_network, groups_from_parts
from paretosoc.sdf.grouping.groups import GroupedNetwork, batched
from paretosoc.sdf.onnx.batch import model_of_batch
from paretosoc.sdf.onnx.importer import import_onnx_bytes

XAVIER = load_platform("jetson-agx-xavier")
BARE = replace(XAVIER, measurements=(), profiles=())


def grouped(name: str, images: int = 1) -> GroupedNetwork:
    """Read from the model with a batch of its own."""
    file = model_file(name)
    data = model_of_batch(file.data, file.folder, images)
    network = import_onnx_bytes(data, name=name, folder=file.folder)
    single = group_network(load_network(name).graph, None, groups=4)
    place = {actor.name: index for index, actor in enumerate(network.graph.actors)}
    found = groups_from_parts(
        network.graph, [[place[layer.name] for layer in group.layers] for group in single.groups]
    )
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["squeezenet", "resnet50"])
def test_an_estimate_is_that_of_the_larger_model(name: str) -> None:
    ours = network_costs(grouped(name), BARE, precision="fp16", batch=6)
    theirs = network_costs(grouped(name, 6), BARE, precision="fp16")
    assert (ours.transition_ps == theirs.transition_ps).all()
    for one, other in zip(ours.units[:2], theirs.units[:2], strict=True):
        assert (one.time_ps == other.time_ps).all()
        assert (one.demand_kbps == other.demand_kbps).all()
        assert (one.dynamic_mw == other.dynamic_mw).all()


def test_weights_and_launches_count_once() -> None:
    """On a GPU without a memory limit on computing a batch lies between one image and all of
    them, the nearer to one the more weights."""
    times = {
        images: network_costs(grouped("alexnet"), BARE, units=["gpu"], batch=images)
        .units[0]
        .time_ps[:, -1, -1]
        for images in (1, 8)
    }
    assert (times[1] < times[8]).all()
    assert (times[8] < 8 * times[1]).all()


def test_a_calibration_of_one_image_scales_the_batch() -> None:
    """Computing, memory and launches are scaled by the factors that one image needs."""
    network = grouped("resnet50")
    macs = sum(group.macs for group in network.groups)
    record = network_record(XAVIER, "resnet50", macs, "gpu", "fp16")
    assert record is not None
    unit = XAVIER.unit_by_name["gpu"]
    (peak,) = (peak for peak in unit.peaks if peak.precision == "fp16")
    model = unit_model(unit, XAVIER, peak)
    (table,) = network_costs(network, XAVIER, precision="fp16", units=["gpu"], batch=4).units
    assert set(table.origin) == {CostOrigin.CALIBRATED}
    one = network_parts(network_launches(network), model)
    scaled = calibrate(one, unit, XAVIER, record)
    four = network_parts(network_launches(batched(network, 4)), model)
    ratios = clock_ratios(unit, XAVIER, record.clocks_khz)
    for g, part in enumerate(four):
        factors = [
            Fraction(getattr(scaled[g], name), getattr(one[g], name))
            for name in ("compute", "memory", "fixed")
        ]
        assert table.time_ps[g, -1, -1] == pytest.approx(
            float(part.scaled(*factors).at(ratios)), abs=1
        )


def test_a_profile_holds_for_its_batch() -> None:
    network = group_network(load_network("squeezenet").graph, None, groups=2)
    macs = sum(group.macs for group in network.groups)
    clocks = {"gpu": 1377, "emc": 2133}

    def record(ms: float, **batch: int) -> dict[str, object]:
        return {
            "network": "squeezenet", "macs": macs, "precision": "fp16", "clocks_mhz": clocks,
            "groups": [{"name": group.name, "ms": {"gpu": ms}} for group in network.groups],
            "source": "a test", "status": "measured", **batch,
        }  # fmt: skip

    document = {"platform": XAVIER.name, "networks": [record(5), record(20, batch=8)]}
    profile = read_profile(canonical_bytes(document), XAVIER, "test")  # type: ignore[arg-type]

    def costs(images: int) -> tuple[list[int], set[CostOrigin]]:
        (table,) = network_costs(
            network, XAVIER, precision="fp16", units=["gpu"], profile=profile, batch=images
        ).units
        return table.time_ps[:, -1, -1].tolist(), set(table.origin)

    assert costs(1) == ([5 * 10**9] * 2, {CostOrigin.MEASURED})
    assert costs(8) == ([20 * 10**9] * 2, {CostOrigin.MEASURED})
    assert CostOrigin.MEASURED not in costs(4)[1]


def test_a_softmax_at_the_end_of_a_batch_is_left_to_the_host() -> None:
    table = network_costs(grouped("squeezenet"), XAVIER, precision="fp16", batch=8)
    (dla,) = (unit for unit in table.units if unit.unit == "dla0")
    (alone,) = (
        unit
        for unit in network_costs(grouped("squeezenet"), XAVIER, precision="fp16").units
        if unit.unit == "dla0"
    )
    assert [origin is CostOrigin.CANNOT_RUN for origin in dla.origin] == [
        origin is CostOrigin.CANNOT_RUN for origin in alone.origin
    ]
    assert np.all(dla.time_ps[:, 0, 0] >= alone.time_ps[:, 0, 0])
