"""What a profile of this machine says, held against machines whose truth is known."""

import json
from fractions import Fraction

import numpy as np
import onnx
import pytest

from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.measure.host_documents import MEMORY_MHZ
from paretosoc.dse.tools.host.measure.measuring import measure
from paretosoc.dse.tools.host.measure.memory_rates import make_calibration
from paretosoc.dse.tools.host.measure.profiling import draft_problem, host_profile
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.cost_model.tables import CostOrigin
from paretosoc.fitness.profiles.profile_file import load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.sdf.grouping.options import Grouping
from tests.support.host_machines import SerialMachine, tiny_model

HOST = Host("a processor", 2445.432, energy_readable=False)
UNITS = (HostUnit((0,)), HostUnit((1,)))
LAYERS = (5, 3)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    files = []
    for name, layers in zip(("one", "two"), LAYERS, strict=True):
        path = folder / f"{name}.onnx"
        onnx.save(tiny_model(layers, name=name), str(path))
        files.append(str(path))
    return files


@pytest.fixture(scope="module")
def built(networks):
    return draft_problem(workload_from(networks), UNITS, HOST, Options())


def machine_of(built, **more):
    groups = built.problem.group_count
    rng = np.random.default_rng(5)
    times = rng.integers(400_000, 900_000, (2, groups))
    demands = np.linspace(0.5, 9.0, groups)
    return SerialMachine(times, demands, **more)


@pytest.mark.parametrize("stolen", [0, 300_000])
def test_the_measurement_finds_the_truth(built, stolen):
    machine = machine_of(built, stolen=stolen)
    measured = measure(machine, built.problem, frames=6)
    alone = [[spread.median_ns for spread in row] for row in measured.alone]
    assert alone == machine.times.tolist()
    # An edge within a network, both ways round; none between networks.
    wanted = {
        (source, u, 1 - u)
        for source, target in built.problem.edges
        for u in range(2)
        if (target - source) % 2
    }
    assert set(measured.handovers) == wanted
    assert {entry.median_ns for entry in measured.handovers.values()} == {machine.handover}
    assert measured.stream_gbps == pytest.approx([machine.alone] * 2, rel=1e-3)
    assert measured.calibration.tells
    for row in measured.demand_gbps:
        assert row == pytest.approx(machine.demands.tolist(), rel=0.01)
    for run in measured.co_runs:
        truth = 1 + machine.slope * machine.demands[run.group] * run.external_gbps
        assert run.slowdown == pytest.approx(truth, rel=0.05)
    assert (measured.lost_share > 0.1) == bool(stolen)


def test_a_probe_that_loses_nothing_tells_nothing(built):
    measured = measure(machine_of(built, share=0.01), built.problem, frames=4)
    assert not measured.calibration.tells
    assert measured.demand_gbps == ((None,) * built.problem.group_count,) * 2


def test_the_calibration_never_rises():
    made = make_calibration([(0, 10), (4, 8), (2, 7.5), (8, 4)])
    assert (np.diff(made.probe) <= 0).all()
    assert made.demand_of(made.probe[-1]) == 8
    assert made.demand_of(99) == 0
    assert made.demand_of(3) is None
    assert made.tells  # It loses 6 of 10, and the noise is 0.18.
    assert not make_calibration([(0, 10), (2, 12), (4, 8), (6, 11), (8, 7)]).tells
    assert 2 < made.demand_of(6) < 8


@pytest.fixture(scope="module")
def profiled(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    machine = machine_of(built)
    measured = measure(machine, built.problem, frames=6)
    made = host_profile(built, measured, UNITS, HOST, "a test")
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    return machine, made, folder


def test_the_files_give_the_problem_that_was_measured(profiled, networks):
    machine, made, folder = profiled
    chip = load_platform(folder / "platform.json")
    profile = load_profile(folder / "profile.json", chip)
    options = Options(objectives=("latency", "throughput"))
    built = build_problem(workload_from(networks), chip, options, profile=profile)
    for u, unit in enumerate(built.problem.units):
        assert unit.time_ps[:, 0, 0].tolist() == (machine.times[u] * 1000).tolist()
        assert unit.demand_kbps[:, 0, 0] == pytest.approx(machine.demands * 1e6, rel=0.01)
        assert not unit.dynamic_mw.any()
    for table in built.costs:
        for unit in table.units:
            assert set(unit.origin) == {CostOrigin.MEASURED}
    for k, (source, target) in enumerate(built.problem.edges):
        if (target - source) % 2:
            delays = built.problem.transition_ps[k]
            assert delays.tolist() == [[0, 5_000_000], [5_000_000, 0]]
    # Contention: the slowdowns that the timeline computes are those that were measured.
    table = built.problem.units[0].contention
    errors = []
    for run in made.measured.co_runs:
        own, other = (round(v * 1e6) for v in (machine.demands[run.group], run.external_gbps))
        lost = lost_rate(table, 0, own, other)
        errors.append(abs(WORK_PER_PS / (WORK_PER_PS - lost) / run.slowdown - 1))
    assert np.median(errors) < 0.05


def test_a_machine_that_does_more_than_was_assumed_can_be_explored(networks, tmp_path):
    """Wide vector units, or cores above the clock that the system tells: what was measured is the
    peak, since nothing may beat that."""
    host = Host("a processor", 0.01, energy_readable=False)
    built = draft_problem(workload_from(networks), UNITS, host, Options())
    made = host_profile(
        built, measure(machine_of(built), built.problem, frames=4), UNITS, host, "x"
    )
    for name, data in made.files.items():
        (tmp_path / name).write_bytes(data)
    chip = load_platform(tmp_path / "platform.json")
    profile = load_profile(tmp_path / "profile.json", chip)
    again = build_problem(workload_from(networks), chip, Options(), profile=profile)
    assert again.problem.group_count == built.problem.group_count
    document = json.loads(made.files["platform.json"])
    assert document["units"][0]["peaks"][0]["macs_per_cycle"] > 16


def test_the_platform_says_that_no_power_is_known(profiled):
    _, _, folder = profiled
    document = json.loads((folder / "platform.json").read_text())
    assert document["memory"]["bytes_per_cycle"] * Fraction(MEMORY_MHZ) >= 9000
    sources = [table["source"] for unit in document["units"] for table in unit["power"]]
    assert all(text.startswith("Not known: no power") for text in sources)
    assert load_platform(folder / "platform.json").board_mw == 0


def test_the_sweep_can_be_fitted_again(profiled, dse):
    _, made, folder = profiled
    lines = (folder / "sweep.csv").read_text().splitlines()
    assert len(lines) == 1 + len(made.measured.co_runs)
    found = dse("measure", "contention", folder / "sweep.csv", "--known", "normal_gbps=0.01")
    assert found.status in (0, 2), "a sweep may leave parameters open, but can be read"
    assert "row" not in found.err


def test_a_demand_that_the_probe_cannot_tell_is_bytes_over_time(built):
    machine = machine_of(built, share=0.01)
    measured = measure(machine, built.problem, frames=4)
    made = host_profile(built, measured, UNITS, HOST, "a test")
    group = built.networks[0].groups[1]
    moved = group.external_input_elements + group.external_output_elements + group.parameters
    nanoseconds = machine.times[0][1]
    assert made.demand_gbps[0][1] == pytest.approx(max(4 * moved / nanoseconds, 1e-3), rel=0.01)
    notes = json.loads(made.files["profile.json"])["networks"][0]["groups"][1]["notes"]
    assert "bytes by the estimate" in notes["cpu0"]


def test_one_unit_knows_no_contention(networks, tmp_path):
    built = draft_problem(workload_from(networks), UNITS[:1], HOST, Options())
    machine = SerialMachine(np.full((1, built.problem.group_count), 1_000_000), np.ones(99))
    made = host_profile(built, measure(machine, built.problem, frames=4), UNITS[:1], HOST, "a test")
    assert set(made.files) == {"platform.json", "profile.json"}
    (tmp_path / "p.json").write_bytes(made.files["platform.json"])
    assert load_platform(tmp_path / "p.json").units[0].contention is None


def test_the_phases_of_a_language_model_are_measured_at_once(tmp_path):
    path = tmp_path / "phases.yaml"
    path.write_text(
        "networks:\n"
        "  - {name: prefill, network: smollm-135m, dimensions: {sequence: 16}}\n"
        "  - {name: decode, network: smollm-135m, continues: prefill, repeats: 2,\n"
        "     dimensions: {sequence: 1, past: 16}, grows: {past: 1}}\n"
    )
    options = Options(groups=Grouping(2), objectives=("latency",))
    built = draft_problem(workload_from([str(path)]), UNITS, HOST, options)
    assert [len(network.groups) for network in built.problem.networks] == [2, 2]
    made = host_profile(
        built, measure(machine_of(built), built.problem, frames=3), UNITS, HOST, "a test"
    )
    for name, data in made.files.items():
        (tmp_path / name).write_bytes(data)
    chip = load_platform(tmp_path / "platform.json")
    profile = load_profile(tmp_path / "profile.json", chip)
    again = build_problem(workload_from([str(path)]), chip, options, profile=profile)
    origins = {origin for costs in again.costs for unit in costs.units for origin in unit.origin}
    assert origins == {CostOrigin.MEASURED}
    assert not [text for text in again.warnings if "mixes both" in text]


@pytest.mark.parametrize(
    ("keys", "objectives"),
    [
        ({}, ("latency", "throughput")),
        ({"rate_hz": 5}, ("relative-response",)),
        ({"free_running": True}, ("throughput", "fairness")),
    ],
)
def test_objectives_are_of_time_where_no_power_is_known(
    keys, objectives, networks, profiled, tmp_path
):
    chip = load_platform(profiled[2] / "platform.json")
    of_all = {key: keys[key] for key in keys if key == "free_running"}
    entries = [
        {"name": name, "network": path, **{key: keys[key] for key in keys if key not in of_all}}
        for name, path in zip(("one", "two"), networks, strict=True)
    ]
    work = tmp_path / "work.json"
    work.write_text(json.dumps({"networks": entries, **of_all}))
    built = build_problem(workload_from([str(work)]), chip)
    assert tuple(each.kind.value for each in built.problem.objectives) == objectives
    assert not [text for text in built.warnings if "no power of host is known" in text]
    capped = build_problem(workload_from([str(work)]), chip, Options(power_cap_w=3))
    asked = build_problem(workload_from([str(work)]), chip, Options(objectives=("power",)))
    for each in (capped, asked):
        assert "no power of host is known: power and energy are 0 and keep every limit" in (
            each.warnings
        )


def test_powers_of_a_profile_are_known_powers(networks, profiled, tmp_path):
    chip = load_platform(profiled[2] / "platform.json")
    document = json.loads((profiled[2] / "profile.json").read_bytes())
    for record in document["networks"]:
        for group in record["groups"]:
            group["power_mw"] = dict.fromkeys(group["ms"], 1000)
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(document))
    built = build_problem(workload_from(networks), chip, profile=load_profile(path, chip))
    assert [each.kind.value for each in built.problem.objectives] == ["latency", "energy"]
    assert not [text for text in built.warnings if "no power of host is known" in text]


def test_what_cannot_be_measured_is_said(dse, networks, tmp_path):
    other = dse("profile", networks[0], "-p", "jetson-tx2", "-o", tmp_path / "new")
    assert (other.status, len(other.lines)) == (2, 1)
    assert "--platform: 'host' (this machine) is required" in other.err
    twice = dse("profile", networks[0], networks[0], "-o", tmp_path / "new")
    assert twice.status == 2
    assert "each is measured once" in twice.err or "twice" in twice.err
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "notes.txt").write_text("mine")
    foreign = dse("profile", networks[0], "-o", taken, "--force")
    assert "it holds 'notes.txt', which this command does not write" in foreign.err
    many = dse("profile", networks[0], "--threads", 5000, "-o", tmp_path / "new")
    assert "--threads must be from 1" in many.err
    assert not (tmp_path / "new").exists()
