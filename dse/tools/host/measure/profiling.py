"""The way from networks and this machine to a platform file and a profile, and whole networks run
over and over on it, alone and beside each other.

Beside each other, each network has a process on each unit, pinned to its cores. Two on the same
unit share its cores as the system lets them. A time is that of the processor which an inference
takes: other programs on the machine, and the turns of a shared unit, do not count, what is lost to
caches and memory does.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from multiprocessing.connection import Connection

import numpy as np

from paretosoc.common.text import csv_text, reason_of
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import SubModel, write_sub_models
from paretosoc.dse.tools.host.machine.unit_loop import make_buffer
from paretosoc.dse.tools.host.measure.host_documents import (
    PLATFORM,
    UNKNOWN,
    demands_of,
    host_figures,
    platform_document,
    profile_document,
    sweep_of,
)
from paretosoc.dse.tools.host.measure.measuring import Measured, measure, range_of
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.calibration.co_runs import MEMORY, CoRun, plan
from paretosoc.fitness.profiles.profile_document import document_bytes
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

PLATFORM_FILE, PROFILE_FILE, SWEEP_FILE = "platform.json", "profile.json", "sweep.csv"
FILES = (PLATFORM_FILE, PROFILE_FILE, SWEEP_FILE)


@dataclass(frozen=True, eq=False)
class HostProfile:
    """Measurements, and the files that contain them."""

    built: BuiltProblem
    measured: Measured
    demand_gbps: tuple[tuple[float, ...], ...]
    files: dict[str, bytes]
    source: str


def profile_host(
    networks: Sequence[str],
    units: Sequence[HostUnit],
    host: Host,
    options: Options,
    *,
    frames: int,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> HostProfile:
    """Measure networks on this machine.

    Args:
        networks: names or files, each once.
        units: cores that run one group at a time.
        options: the grouping, and sizes of dynamic dimensions and batches.
        frames: how often each group is measured in each setting.

    Raises:
        WorkloadError, GraphError, PlatformError, ResultError: on input that cannot be used, or if
            ONNX Runtime is missing or fails.
    """
    runtime = optional_import("onnxruntime", extra="host", purpose="measuring on this machine")
    built = draft_problem(workload_from(networks), units, host, options)
    load = os.getloadavg()[0]
    with temporary_folder() as folder:
        say("cutting the networks")
        models = write_sub_models(built.problem, cost_origins(built), folder, seed=seed)
        say("loading them")
        with HostMachine(units, models, slots=1) as machine:
            measured = measure(machine, built.problem, frames=frames, say=say)
    random = sum(models.random_weights)
    source = (
        f"dse profile on {host.processor}: ONNX Runtime {runtime.__version__}, "
        f"{len(units[0].cores)} thread{'s' * (len(units[0].cores) > 1)} per unit, processes "
        f"pinned; medians over {frames} frames; load average {load:.2f} before, cores taken by "
        f"others for {measured.lost_share:.1%} of the time; all units at once read "
        f"{range_of(measured.together_gbps)} GB/s"
        + (f"; {random} weights random (seed {seed})" if random else "")
    )
    return host_profile(built, measured, units, host, source)


def draft_problem(
    workload: Workload, units: Sequence[HostUnit], host: Host, options: Options
) -> BuiltProblem:
    """Return the problem whose groups are to be measured, with placeholder costs.

    Raises:
        WorkloadError: if a network is listed twice, or on what is no network, else as
            ``build_problem``.
    """
    for network in workload.networks:
        if network.is_task:
            kind = "dataflow graph" if network.is_graph else "task"
            raise WorkloadError(
                f"{network.name!r} is a {kind}, whose times are in its file: there is no model to "
                "measure; name networks alone"
            )
    sources = [network.source for network in workload.networks]
    for source in sources:
        if sources.count(source) > 1:
            raise WorkloadError(f"network {source!r}: each is measured once, got it twice")
    chip = _load(json.dumps(platform_document(host, units, UNKNOWN)).encode())
    return build_problem(workload, chip, options)


def host_profile(
    built: BuiltProblem, measured: Measured, units: Sequence[HostUnit], host: Host, source: str
) -> HostProfile:
    """Return the files of the measurements, after reading them back."""
    problem, networks = built.problem, built.networks
    demands = demands_of(measured, _bytes_moved(built))
    figures = host_figures(measured, problem, networks, demands, host, units, source)
    text = json.dumps(platform_document(host, units, figures), indent=1).encode() + b"\n"
    chip = _load(text)
    document = profile_document(chip, problem, networks, measured, demands, source)
    profile = document_bytes(document)
    read_profile(profile, chip, PROFILE_FILE)
    files = {PLATFORM_FILE: text, PROFILE_FILE: profile}
    if measured.co_runs:
        files[SWEEP_FILE] = _sweep_csv(measured, demands)
    return HostProfile(built, measured, demands, files, source)


def _bytes_moved(built: BuiltProblem) -> list[int]:
    """Return [groups]: bytes by the estimate, demand x time."""
    moved = []
    for table in built.costs:
        unit = table.units[0]
        for ps, kbps in zip(unit.time_ps.ravel(), unit.demand_kbps.ravel(), strict=True):
            moved.append(int(ps) * int(kbps) // 10**9)
    return moved


def _load(text: bytes) -> Platform:
    with temporary_folder() as folder:
        path = folder / PLATFORM_FILE
        path.write_bytes(text)
        return replace(load_platform(path), name=PLATFORM)


def _sweep_csv(measured: Measured, demands: Sequence[Sequence[float]]) -> bytes:
    sweep = sweep_of(measured.co_runs, demands)
    rows = zip(sweep.own, sweep.external, sweep.slowdown, strict=True)
    texts = ([f"{value:.6g}" for value in row] for row in rows)
    return csv_text(("own_gbps", "external_gbps", "slowdown"), texts).encode()


NS_PER_MS = 1e6
FEWEST = 3
"""Inferences of a run, however short it is."""
PARTS = 64
"""Of what a reader of memory reads in turn."""
ANSWER_S = 120.0
"""Longest wait for a process."""
Row = tuple[CoRun, float]


def run_co_runs(
    networks: Sequence[str],
    units: Sequence[HostUnit],
    host: Host,
    *,
    rounds: int,
    seconds: float,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Return milliseconds of an inference in each run of each round.

    Raises:
        WorkloadError, GraphError, ResultError: on networks that cannot be run here.
    """
    optional_import("onnxruntime", extra="host", purpose="running networks here")
    built = draft_problem(workload_from(networks), units, host, Options(groups=1))
    names = [network.name for network in built.problem.networks]
    whole = [len(network.group_names) == 1 for network in built.problem.networks]
    if not all(whole):
        raise ResultError(f"network {names[whole.index(False)]!r} cannot be run in one piece")
    with temporary_folder() as folder, ExitStack() as stack:
        say("loading the networks")
        models = write_sub_models(built.problem, cost_origins(built), folder, seed=seed).groups
        started = {
            (name, unit.name): stack.enter_context(_process(unit, model, seed))
            for name, model in [*zip(names, models, strict=True), (MEMORY, None)]
            for unit in units
        }
        runs = plan(names, [unit.name for unit in units])
        rows: list[Row] = []
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}: {len(runs)} runs")
            for first, second in runs:
                rows += _run(started, first, second, seconds)
    return rows


def _run(
    started: dict[tuple[str, str], Connection], first: CoRun, second: CoRun | None, seconds: float
) -> Iterator[Row]:
    places = [(first.network, first.unit)]
    if first.beside:
        places.append((first.beside, first.beside_unit))
    for place in places:
        started[place].send(seconds)
    answers = [_answer(started[place]) for place in places]
    yield first, answers[0]
    if second is not None:
        yield second, answers[1]


def _answer(connection: Connection) -> float:
    if not connection.poll(ANSWER_S):
        raise ResultError(f"a process on this machine did not answer for {ANSWER_S:g} s")
    try:
        answer = connection.recv()
    except EOFError:
        answer = "a process on this machine has died"
    if isinstance(answer, str):
        raise ResultError(answer)
    return float(answer)


@contextmanager
def _process(unit: HostUnit, model: SubModel | None, seed: int) -> Iterator[Connection]:
    """Start a process that answers each number of seconds with the time of an inference, ms."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, unit, model, seed), daemon=True)
    process.start()
    there.close()
    try:
        _answer(here)
        yield here
    finally:
        here.close()
        process.join(timeout=5)
        if process.is_alive():
            process.kill()
            process.join()


def _serve(connection: Connection, unit: HostUnit, model: SubModel | None, seed: int) -> None:
    os.sched_setaffinity(0, unit.cores)
    try:
        work = _reader() if model is None else _inference(unit, model, seed)
        work()
        connection.send(0.0)
        while True:
            connection.send(_timed(work, connection.recv()))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass
    except Exception as error:
        # ONNX Runtime's errors share no base class but Exception.
        connection.send(f"{unit.name}: ONNX Runtime cannot run it: {reason_of(error)}")


def _timed(work: Callable[[], object], seconds: float) -> float:
    end = time.monotonic() + seconds
    times: list[int] = []
    while time.monotonic() < end or len(times) < FEWEST:
        begin = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - begin)
    return float(np.median(times)) / NS_PER_MS


def _reader() -> Callable[[], object]:
    """Return what reads the next part of more memory than caches hold."""
    parts = cycle(np.split(make_buffer(), PARTS))
    return lambda: np.add.reduce(next(parts))


def _inference(unit: HostUnit, model: SubModel, seed: int) -> Callable[[], object]:
    runtime = optional_import("onnxruntime", extra="host", purpose="running networks here")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = len(unit.cores)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = runtime.InferenceSession(str(model.path), options, providers=["CPUExecutionProvider"])
    inputs = {
        tensor.name: random_input(seed, tensor, numpy_type(tensor, "input"))
        for tensor in model.inputs
    }

    return lambda: session.run(None, inputs)
