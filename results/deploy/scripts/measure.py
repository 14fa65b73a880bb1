"""Run the experiments of plan.json on this board, and write what they show to results.json.

    sudo python3 measure.py [--seconds 10]

Needs Python 3.8 and the runtime that the plan names, nothing else. Each experiment has its clocks
set, the board's power read while nothing runs, and a stretch of a network run over and over, with
the power read meanwhile, and of a pair once more beside the other one. Clocks are put back after
each experiment, also if it fails or is interrupted. Run it again to continue: what results.json
holds is not repeated. SYSFS_ROOT is put before all paths (for tests).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = os.environ.get("SYSFS_ROOT", "")
SAVED = Path(os.environ.get("SAVED_CLOCKS", ROOT + "/run/paretosoc-clocks"))
RESULTS = FOLDER / "results.json"
FORMAT = "paretosoc-measurements/1"
ENVIRONMENT = dict(
    os.environ, trtexec=os.environ.get("TRTEXEC", "trtexec"), SAVED_CLOCKS=str(SAVED)
)
OF = ("network", "first_group", "last_group", "unit", "clocks_khz")
INTERVAL_S = 0.2
MEDIAN = re.compile(r"GPU Compute Time:.*?\bmedian = ([0-9.]+) ms")
RAIL = re.compile(
    r"(?<=\s)([A-Z][A-Z0-9_]*) ([0-9]+)(?:mW)?/[0-9]+(?:mW)?(?:/[0-9]+(?:mW)?)?(?= |$)"
)
NO_RAILS = ("RAM", "SWAP", "IRAM", "NC")
TYPES = {"float": "float32", "tensor(float)": "float32", "tensor(float16)": "float16",
         "tensor(double)": "float64", "tensor(int64)": "int64", "tensor(int32)": "int32",
         "tensor(uint8)": "uint8", "tensor(int8)": "int8", "tensor(bool)": "bool"}  # fmt: skip


class Failed(Exception):
    """An experiment cannot be run."""


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with its signature."""
    kept = {key: value for key, value in document.items() if key != "content_sha256"}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return dict(kept, content_sha256=hashlib.sha256(text.encode("utf-8")).hexdigest())


def read_document(path: Path) -> dict[str, Any]:
    """Return a signed document."""
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if signed(document) != document:
        sys.exit(f"measure.py: {path.name} was changed after it was written")
    return document


def write_results(results: dict[str, Any]) -> None:
    """Replace the file in one step, so that it is whole at every instant."""
    part = RESULTS.with_name(RESULTS.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(json.dumps(signed(results), ensure_ascii=False, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(str(part), str(RESULTS))


def shell(command: str) -> str:
    """Run a command in the folder. Return what it prints."""
    ran = subprocess.run(
        ["sh", "-c", command], cwd=str(FOLDER), env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    text = ran.stdout.decode("utf-8", "replace")
    if ran.returncode:
        lines = text.strip().splitlines() or [f"status {ran.returncode}"]
        if ran.returncode == 127 and "trtexec" in command:
            raise Failed(f"{ENVIRONMENT['trtexec']} is not found; TRTEXEC is to be its path")
        raise Failed(f"{command.split(' --')[0]}: {'; '.join(lines[-2:])}")
    return text


def restore(script: str) -> None:
    """Put back the clocks that were set before, also by a run that was killed."""
    if SAVED.exists():
        shell(f"sh ./{script} --restore")


@contextlib.contextmanager
def clocks(script: str) -> Iterator[None]:
    """Set clocks, and put them back."""
    restore(script)
    shell(f"sh ./{script} --apply")
    try:
        yield
    finally:
        restore(script)


def board_mw(rails: dict[str, float], plan: dict[str, Any]) -> float | None:
    """Return the power of the board: its input, or the sum of rails outside each other."""
    for name in plan["board_rails"]:
        if name in rails:
            return rails[name]
    outside = [mw for name, mw in rails.items() if name not in plan["rails_inside"]]
    return sum(outside) if outside else None


def sensor_rails() -> dict[str, float]:
    """Return the rails of the INA3221, in mW."""
    rails = {}
    for folder in sorted(Path(ROOT + "/sys/class/hwmon").glob("hwmon*")):
        with contextlib.suppress(OSError, ValueError):
            if (folder / "name").read_text().strip() != "ina3221":
                continue
            for label in sorted(folder.glob("in[1-3]_label")):
                volts = float(label.with_name(label.name.replace("label", "input")).read_text())
                amperes = label.name.replace("in", "curr", 1).replace("label", "input")
                rails[label.read_text().strip()] = (
                    volts * float(label.with_name(amperes).read_text()) / 1000
                )
    return rails


class Power:
    """Samples of the board's power, taken while a block runs: of tegrastats, else the INA3221."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.samples: list[float] = []

    def __enter__(self) -> Power:
        self.ended = threading.Event()
        self.tegrastats: subprocess.Popen[str] | None = None
        with contextlib.suppress(OSError):
            self.tegrastats = subprocess.Popen(
                ["tegrastats", "--interval", str(int(1000 * INTERVAL_S))],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
            )  # fmt: skip
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.tegrastats is not None:
            self.tegrastats.kill()
            self.tegrastats.wait()
        self.thread.join(5)

    def _sample(self) -> None:
        if self.tegrastats is not None:
            assert self.tegrastats.stdout is not None
            for line in self.tegrastats.stdout:
                found = RAIL.findall(" " + line.strip())
                self._add({name: float(mw) for name, mw in found if name not in NO_RAILS})
            return
        while not self.ended.wait(INTERVAL_S):
            self._add(sensor_rails())

    def _add(self, rails: dict[str, float]) -> None:
        power = board_mw(rails, self.plan)
        if power is not None and not self.ended.is_set():
            self.samples.append(power)

    def mean_mw(self) -> int | None:
        """Return the mean of the second half: in the first one engines are loaded."""
        kept = self.samples[len(self.samples) // 2 :]
        return round(statistics.mean(kept)) if kept else None


def time_ms(plan: dict[str, Any], engine: dict[str, Any], seconds: float) -> float:
    """Run an engine over and over. Return the median time of an inference."""
    if plan["runtime"] == "trtexec":
        found = MEDIAN.search(shell(f"{engine['run']} --duration={seconds:g}"))
        if not found:
            raise Failed("trtexec printed no median of 'GPU Compute Time'")
        return float(found.group(1))
    ran = subprocess.run(
        command_of(plan, engine, seconds), cwd=str(FOLDER), capture_output=True, check=False
    )
    if ran.returncode:
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Failed(lines[-1] if lines else f"status {ran.returncode}")
    return float(ran.stdout.split()[-1])


def command_of(plan: dict[str, Any], engine: dict[str, Any], seconds: float) -> list[str]:
    """Return the command that runs an engine over and over."""
    if plan["runtime"] == "trtexec":
        return ["sh", "-c", f"exec {engine['run']} --duration={seconds:g}"]
    return [sys.executable, str(FOLDER / "measure.py"), "--child", json.dumps(engine),
            "--seconds", str(seconds)]  # fmt: skip


@contextlib.contextmanager
def running(plan: dict[str, Any], engine: dict[str, Any], seconds: float) -> Iterator[None]:
    """Run an engine in the background, from ``seconds`` before the block on, in which it loads."""
    process = subprocess.Popen(
        command_of(plan, engine, 100 * seconds + 100), cwd=str(FOLDER), env=ENVIRONMENT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        time.sleep(seconds)
        yield
        if process.poll() is not None:
            raise Failed(f"{engine['file']} ended, which was to run beside it")
    finally:
        process.kill()
        process.wait()


def cores_of(clusters: dict[str, Any]) -> list[int]:
    """Return the cores of a CPU: its share of those that the folders of its clock name."""
    cores: list[int] = []
    for paths in clusters["folders"]:
        files = [Path(ROOT + path, "affected_cpus") for path in paths]
        file = next((file for file in files if file.exists()), None)
        if file is None:
            sys.exit(f"{files[0]}: is missing, which tells the cores to measure")
        cores += map(int, file.read_text().split())
    place, count = clusters["share"]
    size = len(cores) // count
    return sorted(cores)[place * size : (place + 1) * size]


def loaded(engine: dict[str, Any]) -> Any:
    """Return the function that runs an engine once, in the runtime's own Python."""
    import numpy as np

    rng, model, device = np.random.default_rng(0), FOLDER / engine["file"], engine["device"]

    def value(shape: Any, kind: str) -> Any:
        sizes = [size if isinstance(size, int) else 1 for size in shape]
        kind = TYPES.get(kind, kind)
        if kind.startswith("float"):
            return rng.uniform(-1, 1, sizes).astype(kind)
        return rng.integers(0, 2, sizes).astype(kind)

    if isinstance(device, dict):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if device.get("clusters"):
            cores = cores_of(device["clusters"])
            os.sched_setaffinity(0, cores)
            options.intra_op_num_threads = len(cores)
        for key, entry in device["session"].items():
            options.add_session_config_entry(key, entry)
        providers = [(device["provider"], device["options"]), ("CPUExecutionProvider", {})]
        session = onnxruntime.InferenceSession(
            str(model), options, providers=providers[: 1 if device["provider"][:3] == "CPU" else 2]
        )
        values = {entry.name: value(entry.shape, entry.type) for entry in session.get_inputs()}
        return lambda: session.run(None, values)
    from rknnlite.api import RKNNLite

    rknn = RKNNLite()
    if rknn.load_rknn(str(model.with_suffix(".rknn"))):
        sys.exit(f"cannot load {model.stem}.rknn; convert.py makes it on a host")
    if rknn.init_runtime(core_mask=getattr(RKNNLite, device)):
        sys.exit(f"cannot run {model.stem}.rknn on {device}")
    inputs = [value(entry["shape"], entry["type"]) for entry in engine["inputs"]]
    return lambda: rknn.inference(inputs=inputs, data_format="nchw")


def child(engine: dict[str, Any], seconds: float) -> None:
    """Print the median time of an inference in ms."""
    run = loaded(engine)
    for _ in range(3):
        run()
    times: list[int] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    print(statistics.median(times) / 1e6)


def measure(plan: dict[str, Any], experiment: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run one experiment. Return its row of the results."""
    places = [place for place in (experiment["engine"], experiment["beside"]) if place is not None]
    engine, *others = [plan["networks"][place]["segments"][0] for place in places]
    for one in (engine, *others):
        if "build" in one and not (FOLDER / one["engine"]).exists():
            shell(one["build"])
    setting = clocks(experiment["clocks"]) if experiment["clocks"] else contextlib.nullcontext()
    with setting:
        with Power(plan) as idle:
            time.sleep(seconds if plan["has_power"] else 0)
        with Power(plan) as busy:
            milliseconds = time_ms(plan, engine, seconds)
        row = dict(experiment["of"], time_ps=round(1e9 * milliseconds))
        for other in others:
            with running(plan, other, seconds):
                meanwhile = time_ms(plan, engine, seconds)
            row["beside"] = dict(row["beside"], time_ps=round(1e9 * meanwhile))
    idle_mw, power_mw = idle.mean_mw(), busy.mean_mw()
    if plan["has_power"] and idle_mw is not None and power_mw is not None and power_mw > idle_mw:
        row.update(power_mw=power_mw, idle_mw=idle_mw)
    return row


def place_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row of the results is of."""
    place = {key: row[key] for key in OF}
    if "beside" in row:
        place["beside"] = {key: row["beside"][key] for key in OF[:4]}
    return place


def positive(text: str) -> float:
    """Return a number of the command line."""
    with contextlib.suppress(ValueError):
        if 0 < float(text) < float("inf"):
            return float(text)
    raise argparse.ArgumentTypeError(f"a number above 0 is required, got {text!r}")


def main() -> int:
    """Run the command. Return the exit status."""
    parser = argparse.ArgumentParser(description="Run the experiments of plan.json.")
    parser.add_argument("--seconds", type=positive, default=10.0, help="Time of each run.")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(json.loads(given.child), given.seconds)
        return 0
    plan = read_document(FOLDER / "plan.json")
    results: dict[str, Any] = {
        "format": FORMAT,
        "problem_sha256": plan["problem_sha256"],
        "plan_sha256": plan["content_sha256"],
        "measured": [],
        "failed": [],
    }
    if RESULTS.exists():
        results = read_document(RESULTS)
        if results["plan_sha256"] != plan["content_sha256"]:
            sys.exit("measure.py: results.json is of another plan; move it away")
    with contextlib.suppress(OSError):
        load = Path(f"{ROOT}/proc/loadavg").read_text().split(" ", 1)[0]
        if float(load) > 0.5:
            print(f"load average {load}: programs that run beside this one count in the times")
    # As exceptions, so that clocks are put back.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    measured = [place_of(row) for row in results["measured"]]
    results["failed"] = []
    for k, experiment in enumerate(plan["experiments"], 1):
        if experiment["of"] in measured:
            continue
        print(f"{k} of {len(plan['experiments'])}: {experiment['words']}", flush=True)
        try:
            results["measured"].append(measure(plan, experiment, given.seconds))
        except Failed as error:
            results["failed"].append(f"{experiment['words']}: {error}")
            print(f"    failed: {error}", flush=True)
        write_results(results)
    if not results["measured"]:
        sys.exit("measure.py: nothing was measured; the same command tries again")
    print(f"written: {RESULTS}; 'dse measure take DIR {RESULTS.name}' reads it")
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
