"""Whole networks run over and over on this machine, alone and beside each other.

Each network has a process on each unit, pinned to its cores. Two on the same unit share its cores
as the system lets them. A time is that of the processor which an inference takes: other programs on
the machine, and the turns of a shared unit, do not count, what is lost to caches and memory does.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import cycle
from multiprocessing.connection import Connection

import numpy as np

from paretosoc.common.text import reason_of
from paretosoc.common.unfinished import temporary_folder
from paretosoc.common.units import NS_PER_MS
from paretosoc.dse.problem.build import cost_origins
from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.machine.sub_models import SubModel, write_sub_models
from paretosoc.dse.tools.host.machine.unit_loop import make_buffer
from paretosoc.dse.tools.host.measure.profiling import draft_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.calibration.co_runs import MEMORY, CoRun, plan
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

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
    options: Options,
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
    built = draft_problem(workload_from(networks), units, host, replace(options, groups=1))
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
    except (EOFError, ConnectionError, KeyboardInterrupt):
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
