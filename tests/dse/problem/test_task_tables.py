"""Tasks: work beside the networks whose times are known."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.problems.enumerated.space import all_designs
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.runtimes import Runtime
from tests.support.problems.workload_texts import read

XAVIER = load_platform("jetson-agx-xavier")
MS = 10**9
CAMERA = """
frames_per_second: 30
tasks:
  - name: resize
    times:
      - {unit: cpu, ms: 2.5, mhz: 2265.6, traffic_mb: 4}
      - {unit: gpu, ms: 0.5, mhz: 1377, traffic_mb: 4, power_mw: 3000}
      - {unit: gpu, ms: 0.9, mhz: 675.75, traffic_mb: 4}
  - name: track
    reads_mb: {detect: 0.5}
    times: [{unit: cpu, ms: 3}]
networks:
  - {name: detect, network: squeezenet, reads_mb: {resize: 0.75}}
"""


def built(text=CAMERA, **options):
    given = {"groups": 2, "runtime": Runtime.TRTEXEC, **options}
    return build_problem(read(text), XAVIER, Options(**given))


def unit_of(problem, name):
    return next(unit for unit in problem.units if unit.unit_name == name)


def ladder(problem, name):
    return next(d for d in problem.domains if d.name == name).frequencies_khz


def test_times_are_those_at_the_named_clocks():
    problem = built().problem
    names = [network.name for network in problem.networks]
    assert names == ["detect", "resize", "track"]
    resize, track = (problem.networks[n].first_group for n in (1, 2))
    cpu, gpu = unit_of(problem, "cpu"), unit_of(problem, "gpu")
    at = {khz: k for k, khz in enumerate(ladder(problem, "gpu"))}
    assert gpu.time_ps[resize, at[1377000], ..., -1].ravel()[0] == MS // 2
    assert gpu.time_ps[resize, at[675750], ..., -1].ravel()[0] == 9 * MS // 10
    assert gpu.dynamic_mw[resize, at[1377000], ..., -1].ravel()[0] == 3000
    # 4 MB in 0.5 ms are 8 GB/s.
    assert gpu.demand_kbps[resize, at[1377000], ..., -1].ravel()[0] == 8_000_000
    assert cpu.time_ps[track, -1, -1] == 3 * MS
    assert cpu.demand_kbps[track].max() == 0
    # Without traffic the time is one over the clock, whatever the memory's.
    khz = np.array(ladder(problem, "cpu"))
    assert np.array_equal(cpu.time_ps[track][:, 0], cpu.time_ps[track][:, -1])
    expected = 3 * MS * khz[-1] / khz
    assert np.abs(cpu.time_ps[track][:, 0] - expected).max() <= 1
    # No time rises with a clock.
    assert (np.diff(gpu.time_ps[resize], axis=-1) <= 0).all()
    assert (np.diff(cpu.time_ps[resize], axis=0) <= 0).all()
    assert (unit_of(problem, "dla0").time_ps[[resize, track]] == -1).all()


def test_only_tasks_run_where_the_runtime_does_not():
    """TensorRT has no CPU: tasks do."""
    problem = built().problem
    assert (unit_of(problem, "cpu").time_ps[:2] == -1).all()
    free = built(runtime=Runtime.NONE).problem
    assert (unit_of(free, "cpu").time_ps[:2] > 0).all()
    assert np.array_equal(unit_of(free, "gpu").time_ps, unit_of(problem, "gpu").time_ps)
    alone = built("networks: [{name: detect, network: squeezenet}]").problem
    assert "cpu" not in [unit.unit_name for unit in alone.units]
    gpu = unit_of(problem, "gpu")
    assert np.array_equal(unit_of(alone, "gpu").time_ps, gpu.time_ps[:2])
    names = [unit.unit_name for unit in alone.units]
    place = [k for k, unit in enumerate(problem.units) if unit.unit_name in names]
    assert np.array_equal(problem.transition_ps[:, place][:, :, place], alone.transition_ps)


def test_formats_have_a_task_once():
    problem = built(precision=("fp16", "int8")).problem
    resize = problem.networks[1].first_group
    runs = [unit.name for unit in problem.units if (unit.time_ps[resize] > 0).any()]
    assert runs == ["cpu:fp16", "gpu:fp16"]


def test_results_move_to_another_unit():
    problem = built().problem
    detect, resize, track = (network.first_group for network in problem.networks)
    assert problem.handovers == ((resize, detect), (detect + 1, track))
    place = {unit.unit_name: u for u, unit in enumerate(problem.units)}
    costs = {entry.unit: entry for entry in XAVIER.transitions}
    out, into = costs["cpu"], costs["gpu"]
    expected = (
        Fraction(750_000 * 10**9, out.out_bandwidth_kbps)
        + Fraction(750_000 * 10**9, into.in_bandwidth_kbps)
        + (out.out_fixed_ns + into.in_fixed_ns) * 1000
    )
    assert abs(problem.handovers_ps[0, place["cpu"], place["gpu"]] - expected) <= 1
    assert problem.handovers_ps[0, place["gpu"], place["gpu"]] == 0


def test_the_front_is_that_of_all_design_points():
    text = CAMERA.replace("frames_per_second: 30\n", "")
    front = dse.explore(
        dse.Problem(
            read(text),
            "jetson-agx-xavier",
            groups=2,
            fixed={"emc": "max", "gpu": "max", "dla": "max"},
            objectives=["latency:track", "energy"],
            max_transitions=1,
        ),
        seed=1,
    )
    outcomes = [
        plain_outcome(front.problem, front.problem.design_of(row))
        for row in all_designs(front.problem)
    ]
    points = {tuple(found.objectives) for found in outcomes if not found.broken}
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert {tuple(member.numeric.objectives) for member in front} == best


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mhz: 1377", "mhz: 1400", "mhz must be one of 114.75, 216.75, .*1377, got 1400"),
        ("mhz: 675.75", "mhz: 1377", "each clock of gpu at most once, got 1377 MHz, 1377 MHz"),
        ("unit: cpu, ms: 3", "unit: vic, ms: 3", "a unit of jetson-agx-xavier is required, got 'v"),
        ("ms: 2.5", "ms: 0.001", "the memory moves at most 0.136512 MB in 0.001 ms"),
        ("ms: 2.5", "ms: 99999", "must stay below 140 s"),
        ("{detect: 0.5}", "{other: 0.5}", r"tasks\[1\].reads_mb.other must name a network or a ta"),
        ("name: track", "name: detect", r"tasks\[1\].name must be unique"),
        ("    times: [{unit: cpu, ms: 3}]", "    times: []", r"tasks\[1\].times"),
        ("name: resize", "rate_hz: 30\n    name: resize", "reads_mb excludes rate_hz"),
        ("name: track", "repeats: 2\n    name: track", "reads_mb excludes repeats"),
        ("{resize: 0.75}", "{track: 0.75}", "wait in a circle"),
        ("name: resize", "batch: 2\n    name: resize", "batch"),
        ("name: track", "network: vgg19\n    name: track", "network"),
    ],
)
def test_what_is_refused(old, new, words):
    text = CAMERA.replace(old, new)
    assert text != CAMERA
    if "rate_hz" in text:
        text = text.replace("frames_per_second: 30\n", "")
    with pytest.raises((WorkloadError, PlatformError), match=words):
        built(text)


def test_times_for_other_boards_are_left_out():
    several = built(
        CAMERA.replace("[{unit: cpu, ms: 3}]", "[{unit: cpu, ms: 3}, {unit: a76, ms: 4}]")
    )
    note = "track: its time on a76 is not used: jetson-agx-xavier has no such unit"
    assert note in several.warnings
    problem = built().problem
    for unit, other in zip(problem.units, several.problem.units, strict=True):
        assert np.array_equal(unit.time_ps, other.time_ps)


def test_batches_are_of_networks():
    several = built(batch=((None, 4),)).problem
    assert [network.batch for network in several.networks] == [4, 1, 1]
    with pytest.raises(WorkloadError, match="task 'resize': batch and continues are of networks"):
        built(batch=(("resize", 4),))


def test_a_workload_of_tasks_alone(tmp_path):
    times = "[{unit: cpu, ms: 4}, {unit: gpu, ms: 2}]"
    text = f"tasks: [{{name: a, times: {times}}}, {{name: b, waits_for: [a], times: {times}}}]"
    problem = build_problem(read(text), XAVIER, Options(fixed=(("emc", "max"),))).problem
    fastest = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    place = {unit.unit_name: u for u, unit in enumerate(problem.units)}
    for units in product(("cpu", "gpu"), repeat=2):
        row = np.array([*(place[u] for u in units), *fastest])
        expected = sum(4 if u == "cpu" else 2 for u in units) * MS
        assert plain_outcome(problem, problem.design_of(row)).latencies_ps[1] == expected


def test_deployments_leave_tasks_to_their_programs(tmp_path):
    file = tmp_path / "camera.yaml"
    file.write_text(CAMERA)
    for runtime in ("trtexec", "triton", "deepstream"):
        front = dse.explore(
            file, "jetson-agx-xavier", runtime=runtime, groups=2, max_evaluations=200, seed=1
        )
        folder = tmp_path / runtime
        notes = dse.deploy(front, runtime, folder, check=False)
        document = json.loads((folder / "deployment.json").read_text())
        sources = {entry["name"]: entry["source"] for entry in document["networks"]}
        assert sources["detect"]["reference"] == "squeezenet"
        assert sources["resize"] is sources["track"] is None
        runs = [document["networks"][run["network"]]["name"] for run in document["plan"]["runs"]]
        assert runs == ["resize", *["detect"] * runs.count("detect"), "track"]
        assert not (folder / "run.py").exists()
        if runtime == "trtexec":
            assert any("run.py is left out: resize, track are programs" in note for note in notes)
        if runtime == "triton":
            assert "The application runs resize, track" in (folder / "README.md").read_text()
