"""Rooflines: estimated groups stay below the roofs, and peaks are those of the platform."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.api.front import Front
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.tools.analysis.roofline import rooflines, unit_rooflines
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostOrigin
from paretosoc.results.plots.items import Curve
from paretosoc.results.plots.roofline import Point, Roof, draw_roofline


@pytest.mark.parametrize("which", ["fastest", "lowest-energy"])
def test_estimated_groups_stay_below_the_roofs(pair_folder, which):
    front = Front.load(pair_folder)
    chip = load_platform(front.numeric.provenance.platform)
    roofs = rooflines(front.problem, front[which].numeric, front.costs, chip)
    used = {front.problem.units[u].name for u in front[which].numeric.design.units.tolist()}
    assert {roof.unit for roof in roofs} == used
    origins = {
        entry.origin for n in front.costs.networks for group in n.groups for entry in group.by_unit
    }
    assert CostOrigin.MEASURED not in origins
    for roof in roofs:
        clocks = dict(roof.clocks_mhz)
        unit = chip.unit_by_name[roof.unit]
        (peak,) = (p for p in unit.peaks if p.precision == front.costs.precision)
        per_cycle = 2 * float(peak.macs_per_cycle)
        assert roof.gops == pytest.approx(clocks[unit.clocks[0]] / 1000 * per_cycle)
        for point in roof.points:
            at = np.array([min(point.intensity, 1e9)])
            assert 0 < point.gops <= roof.attainable(at)[0] * (1 + 1e-6)
            assert 0 < point.gops_per_watt <= roof.attainable_per_watt(at)[0] * (1 + 1e-3)
    assert math.isfinite(sum(point.intensity for roof in roofs for point in roof.points))


def test_measured_times_lift_vgg19_alone_above_the_roof():
    """As the guide says."""
    problem = Problem(["vgg19", "resnet50"], "jetson-agx-xavier")
    roofs = unit_rooflines(problem.numeric, problem.costs, problem.platform)
    above = {
        point.network
        for roof in roofs
        for point in roof.points
        if point.gops > 1.1 * roof.attainable(np.array([point.intensity]))[0]
    }
    assert above == {"vgg19"}


def test_units_with_the_same_roof_have_one_line():
    point = Point("alexnet", 10.0, 100.0, 20.0)
    clocks = (("dla", 1395.2),)
    one = Roof("dla0", clocks, 4000.0, 60.0, 3.0, 0.01, (point,))
    (charts,) = draw_roofline(
        [("fastest", [one, replace(one, unit="dla1"), replace(one, unit="gpu", gops=9000.0)])]
    ).rows
    for chart in charts:
        assert sum(isinstance(item, Curve) for item in chart.items) == 2
    assert [name.partition(" (")[0] for name in charts[0].legend] == [
        "fastest: dla0, dla1",
        "fastest: gpu",
        "alexnet",
    ]


def test_groups_with_nearly_no_operations_do_not_stretch_the_axes():
    """They stand at the left edge, as far below the slope of the roof as they are."""
    points = (
        Point("efficientnet_b0", 8e-5, 1e-3, 2e-4),
        Point("efficientnet_b0", 20.0, 200.0, 40.0),
    )
    roof = Roof("gpu", (("gpu", 921.6),), 400.0, 20.0, 3.0, 0.01, points)
    (charts,) = draw_roofline([("fastest", [roof])]).rows
    for chart, field, line in zip(
        charts, ("gops", "gops_per_watt"), (Roof.attainable, Roof.attainable_per_watt), strict=True
    ):
        assert chart.x.low == pytest.approx(400.0 / 20.0 / 200)
        (left, inside) = next(item.points for item in chart.items if len(item.points) == 2)
        assert inside == (20.0, getattr(points[1], field))
        ends = line(roof, np.array([points[0].intensity, chart.x.low]))
        assert left[0] == chart.x.low
        assert left[1] / ends[1] == pytest.approx(getattr(points[0], field) / ends[0])
        assert chart.y.low > 1e-3


def test_a_unit_that_needs_no_bandwidth_has_no_ridge():
    roof = Roof("gpu", (("gpu", 921.6),), 400.0, 2000.0, 3.0, 0.01, ())
    free = replace(roof, unit="cpu", gbps=math.inf)
    for roofs, ridge in (([roof], 0.2), ([roof, free], 0.2), ([free], 1.0)):
        (charts,) = draw_roofline([("fastest", roofs)]).rows
        assert charts[0].x.low == pytest.approx(ridge / 2)
