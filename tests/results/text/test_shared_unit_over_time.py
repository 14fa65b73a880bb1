"""Of groups that run at once on a shared unit, power is the mean and demand the largest."""

from itertools import pairwise

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.space.members import evaluate_row
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.plots.items import Curve
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.text.schedule import activity, largest_of, mean_of, steps_by_unit


@pytest.fixture(scope="module")
def shared():
    """Return two networks at once on a GPU."""
    problem = dse.Problem(
        ("alexnet", "squeezenet"),
        "jetson-agx-xavier",
        groups=3,
        pins={"alexnet": "gpu", "squeezenet": "gpu"},
    ).numeric
    gpu = [unit.name for unit in problem.units].index("gpu")
    assert problem.units[gpu].dispatch == SHARED
    fastest = [np.flatnonzero(domain.allowed)[-1] for domain in problem.domains]
    row = np.array([gpu] * problem.group_count + fastest)
    return gpu, evaluate_row(problem, row).scheduled


def test_power_over_time_is_the_energy(shared):
    gpu, shown = shared
    figures = activity(shown.problem, shown.member)
    steps = steps_by_unit(shown, figures.dynamic_mw, mean_of)
    spent = sum(
        row[gpu] * (after - before)
        for (before, after), row in zip(pairwise(steps.instants_ps), steps.values, strict=False)
    )
    spent += figures.idle_mw[gpu] * shown.member.makespan_ps
    assert spent == shown.member.energy_by_unit_fj[gpu]


def test_no_more_is_asked_for_than_by_the_largest(shared):
    gpu, shown = shared
    figures = activity(shown.problem, shown.member)
    steps = steps_by_unit(shown, figures.demand_kbps, largest_of)
    asked = {row[gpu] for row in steps.values}
    assert asked <= {0, *figures.demand_kbps}
    assert steps.values[-1][gpu] == 0


def test_networks_have_parts_of_the_row(shared):
    """Bars of two networks at the same time do not hide each other."""
    _, shown = shared
    items = draw_gantts([("", shown)]).items
    bars = [item.points for item in items if isinstance(item, Curve) and item.points]
    parts = sorted({(round(bar[0][1], 6), round(bar[2][1], 6)) for bar in bars})
    assert len(parts) == 2
    assert parts[0][0] < parts[0][1] <= parts[1][0] < parts[1][1]
