"""Every objective, energy use and constraint end to end: explored, written, and recomputed by a
script that knows only the files."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import OneFrame, Periodic, Pipeline

SCRIPT = Path(__file__).parents[2] / "support" / "recompute_front.py"
NETWORKS = ("inception_v1", "squeezenet")
SMALL = ("--groups", "4", "--engine", "nsga2", "--max-nodes", "0", "--max-evaluations", "350", "-q")
PLATFORMS = ("jetson-agx-xavier", "jetson-agx-orin", "jetson-tx2", "snapdragon-865")


def load_script():
    spec = importlib.util.spec_from_file_location("recompute_front", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def explored(dse, tmp_path, capsys):
    """Explores, lets the script recompute everything, and returns the front."""

    def call(platform, *options):
        folder = tmp_path / "run"
        got = dse("explore", *NETWORKS, "-p", platform, *SMALL, *options, "-o", folder)
        assert (got.status, got.err) == (0, "")
        assert load_script().main(folder) == 0, capsys.readouterr().out
        return read_results(folder)

    return call


OBJECTIVES = [
    ("latency:squeezenet", "latency:inception_v1", "energy"),
    ("inverse-latency", "power"),
    ("throughput", "energy", "power"),
    ("stretch", "latency"),
]


@pytest.mark.parametrize("objectives", OBJECTIVES, ids=lambda names: "+".join(names))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_objectives_are_recomputed_from_the_files(explored, platform, objectives):
    front = explored(platform, *(x for name in objectives for x in ("--objective", name)))
    assert front.members
    expected = Pipeline(2) if "throughput" in objectives else OneFrame()
    assert front.problem.execution == expected


@pytest.mark.parametrize("platform", PLATFORMS)
def test_period_and_limits_hold(explored, platform):
    front = explored(
        platform, "--fps", "4", "--power-cap", "20", "--deadline", "240", "--max-transitions", "2"
    )
    problem = front.problem
    period_ps = 250 * 10**9
    assert problem.execution == Periodic(period_ps)
    for member in front.members:
        assert member.makespan_ps <= period_ps
        assert max(member.latencies_ps) <= 240 * 10**9
        assert member.energy_fj <= 20_000 * period_ps
        units = member.design.units
        for network in problem.networks:
            inside = [e for e in problem.edges if e[0] in network.groups]
            assert sum(units[a] != units[b] for a, b in inside) <= 2


def test_a_period_makes_slow_clocks_worth_it(explored):
    """Against racing to idle: over the same period the slow member needs less than the fast one."""
    front = explored("jetson-agx-xavier", "--fps", "10")
    first, last = front.members[0], front.members[-1]
    assert first.makespan_ps < last.makespan_ps
    assert first.energy_fj > last.energy_fj


def test_pins_units_and_clocks_hold(explored):
    front = explored(
        "jetson-agx-xavier",
        *("--units", "gpu,dla1", "--fix", "inception_v1:1-2=dla1", "--fix", "squeezenet:3=gpu"),
        *("--fix", "gpu=905.25", "--fix", "emc=min"),
    )
    problem = front.problem
    names = [unit.name for unit in problem.units]
    assert names == ["gpu", "dla1"]
    squeezenet = problem.networks[1].first_group
    for member in front.members:
        units = [names[u] for u in member.design.units]
        assert units[1:3] == ["dla1", "dla1"]
        assert units[squeezenet + 3] == "gpu"
        clocks = {
            domain.name: domain.frequencies_khz[point]
            for domain, point in zip(problem.domains, member.design.operating_points, strict=True)
        }
        assert clocks["gpu"] == 905_250
        assert clocks["emc"] == min(
            next(d.frequencies_khz for d in problem.domains if d.name == "emc")
        )


def test_precision_changes_the_costs(dse, tmp_path):
    totals = {}
    for precision in ("fp16", "int8"):
        folder = tmp_path / precision
        got = dse(
            *("explore", "squeezenet", "-p", "jetson-agx-xavier", "--units", "gpu"),
            *("--precision", precision, "--max-evaluations", "20", "-q", "-o", folder),
        )
        assert got.status == 0
        document = json.loads((folder / "costs.json").read_bytes())
        assert document["precision"] == precision
        totals[precision] = int(np.sum(read_results(folder).problem.units[0].time_ps[:, -1, -1]))
    assert totals["int8"] < totals["fp16"]


def test_pipelines_gain_over_frames_one_by_one(explored):
    """Two frames in flight give at least what one after the other gives, on the best member."""
    front = explored("jetson-agx-xavier", "--objective", "throughput", "--objective", "latency")
    periods = [member.objectives[0] for member in front.members]
    fastest = min(member.makespan_ps for member in front.members)
    assert min(periods) <= fastest


@pytest.mark.parametrize(
    ("options", "members"),
    [
        (("--groups", "1", "--units", "gpu", "--fix", "gpu=max", "--fix", "emc=max"), 1),
        (("--groups", "1", "--units", "gpu", "--fix", "emc=max"), None),
    ],
)
def test_a_tiny_space_is_exhausted(dse, tmp_path, options, members):
    folder = tmp_path / "run"
    got = dse("explore", "squeezenet", "-p", "jetson-agx-xavier", *options, "-o", folder)
    assert got.status == 0
    front = read_results(folder)
    assert front.provenance.stopped_by == "exhausted"
    assert members is None or len(front.members) == members
    assert "Traceback" not in got.err
    assert dse("analyze", "confidence", folder, "--draws", "5").status == 0
    assert dse("compare", folder, folder).status == 0
    assert dse("show", folder).status == 0
