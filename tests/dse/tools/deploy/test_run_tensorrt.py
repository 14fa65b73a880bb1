"""``run.py`` of ``--to trtexec``: the planned order, against a stand-in that refuses others."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import onnx
import pytest

from paretosoc.fitness.check.members.frames import simulate
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import SHARED
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.support.tensorrt_stand_in import write_packages

PINS = {"small": ("gpu", "dla0", "gpu"), "other": ("dla0", "gpu", "dla0")}
BYTES = {"float": 4, "float16": 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two networks that share a GPU and a DLA core, deployed, with engines for the stand-in."""
    from paretosoc.dse.cli.main import run

    folder = tmp_path_factory.mktemp("tensorrt")
    command = ["explore", "-p", "jetson-agx-orin", "--groups", "3", "-q", "--max-nodes", "0"]
    for name, units in PINS.items():
        onnx.save(small_network(), str(folder / f"{name}.onnx"))
        command.insert(1, str(folder / f"{name}.onnx"))
        command += [w for g, u in enumerate(units) for w in ("--fix", f"{name}:{g}={u}")]
    command += ["--max-evaluations", "20", "--tolerance", "0.9..1.1", "-o", str(folder / "run")]
    assert run(command) == 0
    deploy = ["deploy", str(folder / "run"), "--to", "trtexec", "--no-check"]
    assert run([*deploy, "-o", str(folder / "out")]) == 0
    document = json.loads((folder / "out" / "deployment.json").read_text())
    for network in document["networks"]:
        for part in network["segments"]:
            tensors = {
                t["name"]: {"shape": t["shape"], "bytes": BYTES[t["type"]], "is_output": is_output}
                for is_output, key in enumerate(("inputs", "outputs"))
                for t in part[key]
            }
            device = document["devices"][part["unit"]]
            engine = {"name": part["file"], "device": device, "tensors": tensors}
            engine["milliseconds"] = 1 + len(part["file"]) / 8
            path = folder / "out" / part["file"].replace(".onnx", ".engine")
            path.write_text(json.dumps(engine))
    return folder, write_packages(folder / "packages")


def planned_queues(folder):
    """Engines of each queue, from the plain simulator's schedule."""
    front = read_results(folder / "run")
    problem, design = front.problem, front.members[0].design
    document = json.loads((folder / "out" / "deployment.json").read_text())
    queues = {}
    rows = simulate(problem, design).schedule.groups
    for row in sorted(rows, key=lambda row: row.start_ps):
        unit = problem.units[row.unit]
        network = problem.networks[row.network]
        local = row.group - network.groups.start
        (part,) = (
            part
            for part in document["networks"][row.network]["segments"]
            if part["first_group"] <= local <= part["last_group"]
        )
        own = queues.setdefault((row.unit, unit.dispatch == SHARED and row.network), [])
        if part["file"] not in own:
            own.append(part["file"])
    return list(queues.values())


def execute(made, *options, plan=None):
    folder, path = made
    file = folder / "out" / "deployment.json"
    document = json.loads(file.read_text())
    order = [{"engines": queue} for queue in planned_queues(folder)]
    env = os.environ | {"PYTHONPATH": path, "STAND_IN_ORDER": json.dumps(order)}
    held = file.read_bytes()
    if plan is not None:
        file.write_text(json.dumps({**document, "plan": plan(document["plan"])}))
    try:
        return subprocess.run(
            [sys.executable, str(folder / "out" / "run.py"), *options],
            env=env, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
    finally:
        file.write_bytes(held)


def test_engines_run_in_planned_order(made):
    ran = execute(made, "--frames", "4", "--warm-up", "1")
    assert (ran.returncode, ran.stderr) == (0, "")
    folder, _ = made
    document = json.loads((folder / "out" / "deployment.json").read_text())
    # The DLA core has one queue, the GPU one for each network.
    assert {run["queue"] for run in document["plan"]["runs"]} == {"dla0", "gpu/small", "gpu/other"}
    script = (folder / "out" / "engines.sh").read_text()
    ends, free = [], {}
    for run in document["plan"]["runs"]:
        part = document["networks"][run["network"]]["segments"][run["segment"]]
        assert f"--saveEngine={part['file'].replace('.onnx', '.engine')}" in script
        before = [ends[other] for other in run["waits_for"]] + [free.get(run["queue"], 0)]
        ends.append(max(before) + 1 + len(part["file"]) / 8)
        free[run["queue"]] = ends[-1]
    for n, network in enumerate(document["networks"]):
        own = [e for e, r in zip(ends, document["plan"]["runs"], strict=True) if r["network"] == n]
        said = f"{network['name']}: latency {max(own):.3f} ms (median), {max(own):.3f} ms (longest"
        assert f"{said} of 4); predicted " in ran.stdout
    assert ran.stdout.count("guaranteed ") == 2


NVTX = """
import atexit, json, pathlib, time
EVENTS = []
atexit.register(
    lambda: pathlib.Path(__file__).with_name("trace.json").write_text(json.dumps(EVENTS))
)
class annotate:
    def __init__(self, name):
        self.event = {"ph": "X", "name": name, "pid": 1, "tid": 1}
    def __enter__(self):
        self.event["ts"] = time.perf_counter() * 1e6
    def __exit__(self, *_):
        self.event["dur"] = time.perf_counter() * 1e6 - self.event["ts"]
        EVENTS.append(self.event)
"""


def test_ranges_have_the_names_that_a_trace_is_read_by(made, tmp_path, dse):
    folder, path = made
    (tmp_path / "nvtx.py").write_text(NVTX)
    ran = execute(
        (folder, os.pathsep.join((str(tmp_path), path))), "--frames", "3", "--warm-up", "1"
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    outcome = dse("measure", "trace", folder / "run", tmp_path / "trace.json", "--json")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["frames"] == 4
    document = json.loads((folder / "out" / "deployment.json").read_text())
    assert len(found["rows"]) == len(document["plan"]["runs"])
    for row in found["rows"]:
        assert len(row["measured_ms"]) == 4
        assert all(start < end for start, end in row["measured_ms"])


def without_a_wait(plan):
    run = next(r for r in plan["runs"] if r["waits_for"])
    run["waits_for"].pop()
    return plan


def with_swapped_engines(plan):
    """Two networks change places on the DLA core."""
    runs = plan["runs"]
    on_dla = [i for i, run in enumerate(runs) if run["queue"] == "dla0"]
    for first, second in pairwise(on_dla):
        # What waits for the first run goes with it.
        with_it = {first}
        for k in range(first + 1, second + 1):
            if with_it & set(runs[k]["waits_for"]):
                with_it.add(k)
        if runs[first]["network"] != runs[second]["network"] and second not in with_it:
            break
    else:
        raise AssertionError("no two networks on the DLA core can change places")
    kept = [runs[k] for k in range(first, second + 1) if k not in with_it]
    moved = [*runs[:first], *kept, *(runs[k] for k in sorted(with_it)), *runs[second + 1 :]]
    place = {id(run): i for i, run in enumerate(moved)}
    for run in moved:
        run["waits_for"] = [place[id(runs[other])] for other in run["waits_for"]]
    return {**plan, "runs": moved}


def in_one_queue(plan):
    return {**plan, "runs": [{**run, "queue": "gpu"} for run in plan["runs"]]}


def waiting_for_a_later_one(plan):
    plan["runs"][0]["waits_for"] = [1]
    return plan


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (without_a_wait, "has written it"),
        (with_swapped_engines, "is the next of the order"),
        (in_one_queue, "is in the stream of another queue"),
        (waiting_for_a_later_one, "run 0 of the plan must wait for earlier runs"),
    ],
)
def test_another_order_is_refused(made, plan, words):
    ran = execute(made, "--frames", "2", plan=plan)
    assert ran.returncode == 1
    assert words in ran.stderr


def test_an_engine_that_is_not_there(made):
    folder, _ = made
    engine = next((folder / "out").glob("*dla0.engine"))
    text = engine.read_text()
    engine.unlink()
    ran = execute(made)
    engine.write_text(text)
    assert ran.returncode == 1
    assert ran.stderr == (
        f"run.py: cannot load {engine.name}; 'sh engines.sh build' makes it on this board\n"
    )


def test_a_tensor_without_a_size_is_refused(made):
    """Its size depends on the data, and the engine would write behind the memory it is given."""
    folder, _ = made
    engine = next((folder / "out").glob("*dla0.engine"))
    text = engine.read_text()
    document = json.loads(text)
    name = next(iter(document["tensors"]))
    document["tensors"][name]["shape"] = [-1, 4]
    engine.write_text(json.dumps(document))
    ran = execute(made)
    engine.write_text(text)
    said = f"run.py: tensor {name!r}: has a size that depends on the data, which is not planned\n"
    assert (ran.returncode, ran.stderr) == (1, said)
