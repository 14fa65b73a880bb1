"""``measure.py`` on boards that are stand-ins: alone in its Python, killed, continued, failing."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import onnx
import pytest

import paretosoc as dse_library
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.dse.tools.measuring.experiments import pairs_of
from paretosoc.dse.tools.measuring.plan_folder import clusters_of, cores_notes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostMeasurement
from paretosoc.results.deploy.scripts import measure, script_text
from paretosoc.results.io.canonical_json import content_sha256
from paretosoc.results.io.document import check_against_schema
from tests.dse.tools.deploy.test_rknn import RKNN
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.results.deploy.test_sysfs_script import BPMP, GPU, Board
from tests.support.measured_fronts import stretch_of

TRTEXEC = """#!/bin/sh
for word; do
    case $word in
        --saveEngine=*) touch "${word#*=}"; exit 0 ;;
        --loadEngine=*) engine=${word#*=} ;;
    esac
done
[ -n "${FAILING:-}" ] && [ "$engine" = "$FAILING" ] && { echo "no such engine" >&2; exit 1; }
touch "$SYSFS_ROOT/running"
echo "$engine $(cat "$SYSFS_ROOT%s/min_freq")" >> "$SYSFS_ROOT/runs"
sleep "${SLEEP:-0.3}"
rm "$SYSFS_ROOT/running"
echo "[I] GPU Compute Time: min = 1 ms, max = 9 ms, mean = 3 ms, median = $(cat "$engine.ms") ms, x"
"""
TEGRASTATS = """#!/bin/sh
while :; do
    power=10000
    [ -e "$SYSFS_ROOT/running" ] && power=14000
    echo "RAM 1/2MB (lfb 3x4MB) CPU [1%%@2] EMC_FREQ 0%% GPU@45C VDD_IN ${power}mW/9000mW NC 5/5"
    sleep 0.02
done
"""


def stated(folder, plan):
    """The stated time and powers of each experiment."""
    front = dse_library.load(folder)
    errors = stated_errors(front.problem, front.costs)
    return [stretch_of(errors, CostMeasurement(**e["of"], time_ps=1)) for e in plan["experiments"]]


class Plans:
    """A plan of the pair and one of its first two experiments, in folders beside the front."""

    def __init__(self, place, pair_folder):
        self.place = place
        shutil.copytree(pair_folder, place / "front")
        front = dse_library.load(place / "front")
        self.plan = dse_library.plan_measurements(front, minutes=9, draws=200)
        self.plan.save(place / "plan")
        first = replace(self.plan.plan, planned=self.plan.plan.planned[:2])
        replace(self.plan, plan=first).save(place / "few")
        plan = json.loads((place / "plan" / "plan.json").read_text())
        self.stretches = stated(place / "front", plan)


class Desk:
    """A plan of the pair, a board, and the stand-ins."""

    def __init__(self, place, plans, name="plan"):
        self.folder = place / "front"
        shutil.copytree(plans.place / "front", self.folder)
        self.plan_folder = place / "plan"
        shutil.copytree(plans.place / name, self.plan_folder)
        self.plan = json.loads((self.plan_folder / "plan.json").read_text())
        self.board = Board(place / "tree", "")
        self.tools = place / "tools"
        self.tools.mkdir()
        self.put("trtexec", TRTEXEC % GPU)
        self.put("tegrastats", TEGRASTATS.replace("%%", "%"))
        self.times = {}
        for entry, stretch in zip(self.plan["experiments"], plans.stretches, strict=False):
            engine = self.plan["networks"][entry["engine"]]["segments"][0]["engine"]
            self.times[entry["engine"]] = f"{1.1 * stretch.time_ps / 1e9:.6f}"
            (self.plan_folder / f"{engine}.ms").write_text(self.times[entry["engine"]])

    def put(self, name, text):
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def start(self, *options, seconds=0.15, **environment):
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "measure.py", "--seconds", str(seconds), *options],
            cwd=self.plan_folder,
            env=os.environ
            | {"PATH": f"{self.tools}:/usr/bin:/bin", "SYSFS_ROOT": str(self.board.root)}
            | {"SAVED_CLOCKS": str(self.board.saved), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *options, **environment):
        process = self.start(*options, **environment)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    @property
    def results(self):
        return json.loads((self.plan_folder / "results.json").read_text())

    def wait_for(self, path):
        while not path.exists():
            time.sleep(0.01)


@pytest.fixture(scope="module")
def plans(tmp_path_factory, pair_folder):
    return Plans(tmp_path_factory.mktemp("plans"), pair_folder)


@pytest.fixture
def desk(tmp_path, plans):
    return Desk(tmp_path, plans)


@pytest.fixture
def small_desk(tmp_path, plans):
    """Two experiments: for what the script does the same for each."""
    return Desk(tmp_path, plans, "few")


def of(rows):
    return [{key: row[key] for key in row if not key.endswith(("_ps", "_mw"))} for row in rows]


def test_the_script_is_python_3_8_with_its_library_alone():
    tree = ast.parse(script_text("measure.py"), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    assert imported <= sys.stdlib_module_names


def test_every_experiment_is_run_at_its_clocks(desk):
    before = desk.board.state()
    status, output = desk.run()
    assert status == 0, output
    results = desk.results
    check_against_schema(results, "measurements")
    assert results["content_sha256"] == content_sha256(
        {key: value for key, value in results.items() if key != "content_sha256"}
    )
    experiments = desk.plan["experiments"]
    assert of(results["measured"]) == [entry["of"] for entry in experiments]
    for row, entry in zip(results["measured"], experiments, strict=True):
        assert row["time_ps"] == round(1e9 * float(desk.times[entry["engine"]]))
        assert row["idle_mw"] == 10000 < row["power_mw"] <= 14000
    runs = (desk.board.root / "runs").read_text().split()
    (desk.board.root / "runs").unlink()
    at = [int(khz) // 1000 for khz in runs[1::2]]
    assert at == [entry["of"]["clocks_khz"]["gpu"] or 114750 for entry in experiments]
    assert desk.board.state() == before
    assert not desk.board.saved.exists()
    status, output = desk.run()
    assert status == 0
    assert " of " not in output, "nothing is left to run"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_continues_after_it_was_ended(desk, number):
    before = desk.board.state()
    process = desk.start()
    desk.wait_for(desk.plan_folder / "results.json")
    desk.wait_for(desk.board.root / "running")
    process.send_signal(number)
    process.communicate(timeout=60)
    done = len(desk.results["measured"])
    assert 0 < done < len(desk.plan["experiments"])
    time.sleep(0.5)  # What the killed process had started ends.
    (desk.board.root / "running").unlink(missing_ok=True)
    if number == signal.SIGTERM:
        (desk.board.root / "runs").unlink()
        assert desk.board.state() == before
    status, output = desk.run(SLEEP="0.05")
    assert status == 0, output
    assert of(desk.results["measured"]) == [entry["of"] for entry in desk.plan["experiments"]]
    (desk.board.root / "runs").unlink()
    assert desk.board.state() == before


def test_a_pair_runs_side_by_side_and_tells_of_demands(desk, plans):
    front, plan = dse_library.load(desk.folder), plans.plan
    errors = front.stated_errors
    pair = pairs_of(front.numeric, errors, range(len(front)))[0]
    assert pair.beside is not None
    desk.plan_folder = desk.folder.with_name("pair")
    entry = replace(plan.experiments[0], experiment=pair)
    replace(plan, plan=replace(plan.plan, planned=(entry,))).save(desk.plan_folder)
    alone, slower = pair.stretch.time_ps / 1e9, 1.6
    for engine in ("engine_0.engine", "engine_1.engine"):
        (desk.plan_folder / f"{engine}.ms").write_text(f"{alone:.6f}")
    # The other one ends too early, as the stand-in takes no time to load.
    assert desk.run()[0] == 1
    assert "ended, which was to run beside it" in desk.results["failed"][0]
    loop = 'for word; do case $word in --duration=1??*) touch "$SYSFS_ROOT/pair"; exec sleep 99;;'
    meanwhile = f'[ -e "$SYSFS_ROOT/pair" ] && echo {slower * alone:.6f} > "$engine.ms"\n'
    stand_in = (TRTEXEC % GPU).replace("#!/bin/sh\n", f"#!/bin/sh\n{loop} esac; done\n")
    desk.put("trtexec", stand_in.replace('touch "$SYSFS_ROOT/running"', meanwhile))
    assert desk.run()[0] == 0
    check_against_schema(desk.results, "measurements")
    (row,) = desk.results["measured"]
    assert row["time_ps"] == round(1e9 * float(f"{alone:.6f}"))
    assert row["beside"]["time_ps"] == round(1e9 * float(f"{slower * alone:.6f}"))
    after = front.update(desk.results).stated_errors
    demands = (one.latent(300, 0)[:, errors.rows.demand] for one in (errors, after))
    before, now = (np.exp(pair.stretch.log_slowdown(demand)) for demand in demands)
    assert abs(np.median(now) - slower) < abs(np.median(before) - slower) / 2


def test_what_fails_is_said_and_tried_again(desk):
    before = desk.board.state()
    status, _ = desk.run(FAILING="engine_0.engine", SLEEP="0.05")
    assert status == 1
    failing = [e["words"] for e in desk.plan["experiments"] if e["engine"] == 0]
    assert [text.rpartition(": ")[0].rpartition(": ")[0] for text in desk.results["failed"]] == (
        failing
    )
    assert all("no such engine" in text for text in desk.results["failed"])
    (desk.board.root / "runs").unlink()
    assert desk.board.state() == before
    assert desk.run(SLEEP="0.05")[0] == 0
    assert desk.results["failed"] == []
    assert len(desk.results["measured"]) == len(desk.plan["experiments"])


def test_a_board_without_trtexec_is_told_how_to_name_it(desk):
    status, output = desk.run(TRTEXEC="/nowhere/trtexec")
    assert status == 1
    assert "failed: /nowhere/trtexec is not found; TRTEXEC is to be its path" in output
    assert output.splitlines()[-1].startswith("measure.py: nothing was measured")


@pytest.mark.parametrize(("load", "is_told"), [("3.20", True), ("0.40", False)])
def test_a_board_that_is_at_work_already_is_told_so(small_desk, load, is_told):
    (small_desk.board.root / "proc").mkdir()
    (small_desk.board.root / "proc" / "loadavg").write_text(f"{load} 1.00 1.00 3/100 77\n")
    _, output = small_desk.run(TRTEXEC="/nowhere/trtexec")
    told = "load average 3.20: programs that run beside this one count in the times\n"
    assert (told in output) == is_told


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf", "x"])
def test_a_time_that_cannot_be_is_refused(small_desk, seconds):
    status, output = small_desk.run(seconds=seconds)
    assert status == 2
    assert f"argument --seconds: a number above 0 is required, got '{seconds}'" in output


def test_clocks_that_cannot_be_set_fail_the_experiment(desk):
    shutil.rmtree(desk.board.path(f"{BPMP}/emc"))
    status, _ = desk.run()
    assert status == 1
    assert desk.results["measured"] == []
    assert "emc: none of these folders exists, or only root sees it" in desk.results["failed"][0]


def test_files_that_were_changed_are_refused(small_desk):
    for name in ("plan.json", "results.json"):
        assert small_desk.run()[0] == 0
        path = small_desk.plan_folder / name
        sound = path.read_text()
        path.write_text(sound.replace('"gpu', '"cpu', 1))
        status, output = small_desk.run()
        assert (status, output) == (1, f"measure.py: {name} was changed after it was written\n")
        path.write_text(sound)


@pytest.mark.parametrize("board_rail", ["VDD_IN", "POM_5V_IN"])
def test_the_sensor_is_read_without_tegrastats(small_desk, board_rail):
    (small_desk.tools / "tegrastats").unlink()
    sensor = "/sys/class/hwmon/hwmon3"
    small_desk.board.put(f"{sensor}/name", "ina3221")
    for k, (label, millivolts, milliamperes) in enumerate(
        [("GPU", 19000, 100), (board_rail, 19000, 500), ("SOC", 19000, 50)], 1
    ):
        small_desk.board.put(f"{sensor}/in{k}_label", label)
        small_desk.board.put(f"{sensor}/in{k}_input", millivolts)
        small_desk.board.put(f"{sensor}/curr{k}_input", milliamperes)
    # Equal powers tell nothing of a unit: the row has none.
    assert small_desk.run(seconds=0.5)[0] == 0
    assert "power_mw" not in small_desk.results["measured"][0]
    small_desk.put(
        "trtexec",
        (TRTEXEC % GPU).replace(
            'touch "$SYSFS_ROOT/running"',
            f'echo 700 > "$SYSFS_ROOT{sensor}/curr2_input"; touch "$SYSFS_ROOT/running"',
        ),
    )
    (small_desk.plan_folder / "results.json").unlink()
    assert small_desk.run(seconds=0.5, SLEEP="1")[0] == 0
    first = small_desk.results["measured"][0]
    assert first["idle_mw"] == 9500 < first["power_mw"] <= 13300


def with_cores(root, cores):
    """The clusters of a board, each named by its first core."""
    for first, numbers in cores.items():
        folder = root / f"sys/devices/system/cpu/cpu{first}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "affected_cpus").write_text(" ".join(map(str, numbers)) + "\n")


@pytest.mark.parametrize(
    ("platform", "unit", "cores"),
    [
        ("rk3588", "a55", [0, 1, 2, 3]),
        ("rk3588", "a76", [4, 5, 6, 7]),
        ("jetson-tx2", "denver2", [2]),
        ("jetson-tx2", "a57-2", [3]),
    ],
)
def test_clusters_are_measured_on_their_own_cores(platform, unit, cores, tmp_path, monkeypatch):
    """ONNX Runtime has one provider for all of them, and would take every core."""
    monkeypatch.setattr(measure, "ROOT", str(tmp_path))
    chip = load_platform(platform)
    clusters = clusters_of(chip, chip.unit_by_name[unit])
    with pytest.raises(SystemExit, match="affected_cpus: is missing"):
        measure.cores_of(clusters)
    of_boards = {"rk3588": {0: range(4), 4: [4, 5], 6: [6, 7]}}
    of_boards["jetson-tx2"] = {1: [1, 2], 0: [0, 3, 4, 5]}
    with_cores(tmp_path, of_boards[platform])
    assert measure.cores_of(clusters) == cores


def test_a_cpu_that_is_alone_has_all_cores():
    chip = load_platform("jetson-agx-orin")
    assert clusters_of(chip, chip.unit_by_name["cpu"]) is None
    assert cores_notes(chip, ["cpu", "gpu"]) == []


def test_clusters_whose_cores_no_file_tells_are_noted():
    chip = load_platform("rk3588")
    assert cores_notes(chip, ["a55", "a76", "npu0"]) == []
    bare = replace(chip, deployment=replace(chip.deployment, controls=()))
    (note,) = cores_notes(bare, ["a55", "a76", "npu0"])
    assert note == "No file tells the cores of a55, a76: each is measured on all cores."


def test_rknn_and_onnxruntime(tmp_path):
    """NPU cores by stand-ins for rknn-toolkit, a CPU by ONNX Runtime itself."""
    from paretosoc.dse.cli.main import run

    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    command = ["explore", str(tmp_path / "small.onnx"), "-p", "rk3588", "--groups", "3", "-q"]
    for g, unit in enumerate(("npu0", "a76", "npu1")):
        command += ["--fix", f"small:{g}={unit}"]
    command += ["--runtime", "rknn", "--precision", "fp16", "--max-evaluations", "200"]
    assert run([*command, "--max-nodes", "0", "-o", str(tmp_path / "run")]) == 0
    plan = dse_library.plan_measurements(dse_library.load(tmp_path / "run"), draws=200)
    folder = tmp_path / "plan"
    plan.save(folder)
    document = json.loads((folder / "plan.json").read_text())
    for entry in document["experiments"]:
        # Clocks of this board are not there.
        (folder / entry["clocks"]).write_text("exit 0\n")
    for package, name, outputs in (
        ("rknn", "RKNN", "None"),
        ("rknnlite", "RKNNLite", "lambda values: [__import__('numpy').zeros((1, 10), 'f4')]"),
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        text = RKNN.replace("class RKNN", f"class {name}")
        (tmp_path / package / "api.py").write_text(text + f"\nOUTPUTS = {outputs}\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "SYSFS_ROOT": str(tmp_path / "tree")}
    with_cores(tmp_path / "tree", {4: [min(os.sched_getaffinity(0))], 6: []})
    for script, more in (("convert.py", ()), ("measure.py", ("--seconds", "0.05"))):
        ran = subprocess.run(
            [sys.executable, str(folder / script), *more],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    results = json.loads((folder / "results.json").read_text())
    assert of(results["measured"]) == [entry["of"] for entry in document["experiments"]]
    assert {row["unit"] for row in results["measured"]} <= {"npu0", "npu1", "a76"}
    assert all(row["time_ps"] > 0 for row in results["measured"])
