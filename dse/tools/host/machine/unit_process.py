"""The process of a unit: pinned to its cores, it holds the sub-models and executes commands."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from paretosoc.common.text import reason_of
from paretosoc.dse.tools.host.machine.frame_stream import Ledger, run_shares
from paretosoc.dse.tools.host.machine.host_units import HostUnit
from paretosoc.dse.tools.host.machine.sub_models import SubModels, TensorMemory
from paretosoc.dse.tools.host.machine.unit_loop import (
    GO,
    STOP,
    Stopped,
    StreamLog,
    UnitPart,
    check_board,
    make_buffer,
    run_unit,
    stream,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

now = time.perf_counter_ns
"""One clock for all processes of the machine."""


@dataclass(frozen=True)
class Load:
    """Hold these sub-models, with their tensors in the shared memory of that name."""

    models: SubModels
    memory: TensorMemory
    name: str


@dataclass(frozen=True)
class Stream:
    """Read memory until the board says stop. With ``gbps`` None, read as fast as possible."""

    gbps: float | None


def as_board(memory: SharedMemory) -> memoryview[int]:
    """Return shared memory as 64-bit integers."""
    assert memory.buf is not None, "the memory is open"
    return memory.buf.cast("q")


@dataclass(frozen=True)
class Follow:
    """Run the shares of frames that come, until None comes."""

    unit: int
    ledger: Ledger


READY = "ready"
Request = Load | UnitPart | Stream | Follow


def serve(connection: Connection, unit: HostUnit, board_name: str) -> None:
    """Serve requests until the process ends. Answers are (True, result) or (False, error)."""
    os.sched_setaffinity(0, unit.cores)
    board_memory = SharedMemory(board_name)
    board = as_board(board_memory)
    process = _Process(unit, board)
    try:
        while True:
            request = connection.recv()
            try:
                answer = process.do(request, lambda: connection.send(READY), connection.recv)
                connection.send((True, answer))
            except Stopped:
                connection.send((True, None))
            except Exception as error:
                board[STOP] = 1
                connection.send((False, f"{unit.name}: {error}"))
    except (EOFError, KeyboardInterrupt, ConnectionError):
        pass
    finally:
        process.close()
        board.release()
        board_memory.close()


class _Process:
    def __init__(self, unit: HostUnit, board: memoryview) -> None:
        self._unit = unit
        self._board = board
        self._tensors: SharedMemory | None = None
        self._run: list[list[Callable[[], object]]] = []
        self._buffer: Any = None

    def do(
        self, request: Request, ready: Callable[[], None], receive: Callable[[], object]
    ) -> StreamLog | None:
        if isinstance(request, Load):
            self._load(request)
            return None
        if isinstance(request, Stream):
            if self._buffer is None:
                self._buffer = make_buffer()
            ready()
            board = self._board
            while not (board[GO] or board[STOP]):
                pass
            return stream(self._buffer, request.gbps, lambda: bool(board[STOP]), now)
        ready()

        def run(group: int, slot: int) -> None:
            self._run[group][slot]()

        if isinstance(request, UnitPart):
            run_unit(request, self._board, run, now, time.thread_time_ns)
            return None
        for _ in run_shares(request.unit, request.ledger, self._board, receive, run, now):
            check_board(self._board)
        return None

    def _load(self, request: Load) -> None:
        runtime = optional_import("onnxruntime", extra="host", purpose="running networks here")
        self.close()
        self._tensors = SharedMemory(request.name)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = len(self._unit.cores)
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        for model in request.models.groups:
            if model.program is not None:
                self._run.append([model.program.load()] * request.memory.slots)
                continue
            path = str(model.path)
            try:
                # Copies of a network are processes' own networks: each has its weights.
                session = runtime.InferenceSession(
                    path, options, providers=["CPUExecutionProvider"]
                )
            except Exception as error:
                # ONNX Runtime's errors share no base class but Exception.
                raise ResultError(f"ONNX Runtime cannot run it: {reason_of(error)}") from None
            self._run.append(
                [
                    self._bound(session, request.memory, model, slot)
                    for slot in range(request.memory.slots)
                ]
            )

    def _bound(
        self, session: Any, memory: TensorMemory, model: Any, slot: int
    ) -> Callable[[], None]:
        assert self._tensors is not None, "the memory is there"
        binding = session.io_binding()
        bound = [
            (binding.bind_input, t.name, memory.input_key(model, slot, t.name))
            for t in model.inputs
        ] + [(binding.bind_output, t.name, (model.network, slot, t.name)) for t in model.outputs]
        for bind, name, key in bound:
            view = memory.view(self._tensors.buf, key)
            bind(name, "cpu", 0, view.dtype.type, list(view.shape), view.ctypes.data)
        return partial(session.run_with_iobinding, binding)

    def close(self) -> None:
        """Let the sub-models and the shared memory go."""
        self._run.clear()
        if self._tensors is not None:
            self._tensors.close()
            self._tensors = None
