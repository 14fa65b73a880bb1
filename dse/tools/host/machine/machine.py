"""The machine at hand as something that executes plans: one pinned process for every unit."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import NS_PER_S, PS_PER_S
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, ExecutionPlan
from paretosoc.dse.tools.host.machine.frame_stream import (
    FrameRecord,
    FrameShare,
    Ledger,
    Schedule,
    lost_and_doubled,
    release_frames,
)
from paretosoc.dse.tools.host.machine.host_units import HostUnit
from paretosoc.dse.tools.host.machine.sub_models import (
    SubModels,
    TensorMemory,
    fill_inputs,
    lay_out,
)
from paretosoc.dse.tools.host.machine.unit_loop import FIRST, GO, STOP, WIDTH, StreamLog, UnitPart
from paretosoc.dse.tools.host.machine.unit_process import (
    READY,
    Follow,
    Load,
    Request,
    Stream,
    as_board,
    now,
    serve,
)
from paretosoc.results.errors import ResultError

MAX_INSTANCES = 1 << 17
_HEAD_START_NS = 1_000_000
"""From the word of command to the start: all units see it in time."""
_PAUSE_S = 0.0002
"""Between two looks of the coordinator at the board."""
_PATIENCE_S = 600
"""After so long without an answer, when a plan should have ended, something is wrong."""
_SLOWER = 10
"""How many times longer than predicted groups may take."""


def patience_s(plan: ExecutionPlan) -> float:
    """Return how long to wait for the end of a plan."""
    due_ns = max((i.arrival_ns or 0 for i in plan.instances), default=0)
    last_ps = max((i.start_ps for i in plan.instances), default=0)
    return _PATIENCE_S + due_ns / NS_PER_S + _SLOWER * last_ps / PS_PER_S


@dataclass(frozen=True, eq=False)
class Execution:
    """Times at which the instances of a plan ran, ns after the start. Arrays are [instances]."""

    start_ns: IntArray
    end_ns: IntArray
    lost_start_ns: IntArray
    """Time, from the start of all to the instance's, in which the unit's core did other things."""
    lost_end_ns: IntArray
    """The same to the instance's end."""
    streams: Mapping[int, StreamLog]
    """By unit that streamed beside; its instants are counted from the start, too."""

    def lost_ns(self, plan: ExecutionPlan) -> IntArray:
        """Return the time that the units' cores did other things, and all of it: [2], ns."""
        last = [max(order, key=lambda i: int(self.end_ns[i])) for order in plan.order if order]
        return np.array([self.lost_end_ns[last].sum(), self.end_ns[last].sum()])


def check_instances(count: int) -> None:
    """Check that a plan does not have too many group executions.

    Raises:
        ResultError: if it has.
    """
    if count > MAX_INSTANCES:
        raise ResultError(f"at most {MAX_INSTANCES} group executions at once, got {count}")


class HostMachine:
    """Processes of this machine, as a context manager.

    Args:
        units: one process each.
        slots: most frames in flight.

    Raises:
        ResultError: if a process cannot run the models, or ends.
    """

    def __init__(self, units: Sequence[HostUnit], models: SubModels, *, slots: int) -> None:
        self.units = tuple(units)
        self.memory: TensorMemory = lay_out(models.groups, slots)
        self._models = models
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        self._shared: list[SharedMemory] = []

    def __enter__(self) -> HostMachine:
        context = multiprocessing.get_context("spawn")
        try:
            board = SharedMemory(create=True, size=8 * (FIRST + WIDTH * MAX_INSTANCES))
            self._shared.append(board)
            self._board = as_board(board)
            tensors = SharedMemory(create=True, size=self.memory.size)
            self._shared.append(tensors)
            fill_inputs(self.memory, tensors.buf, self._models)
            for unit in self.units:
                ours, theirs = context.Pipe()
                process = context.Process(
                    target=serve, args=(theirs, unit, board.name), daemon=True, name=unit.name
                )
                process.start()
                theirs.close()
                self._connections.append(ours)
                self._processes.append(process)
            load = Load(self._models, self.memory, tensors.name)
            for u in range(len(self.units)):
                self._send(u, load)
            self._answers(range(len(self.units)))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execute(
        self,
        plan: ExecutionPlan,
        *,
        dispatch: Dispatch = Dispatch.PLANNED,
        beside: Mapping[int, float | None] | None = None,
    ) -> Execution:
        """Execute a plan. Units in ``beside`` stream meanwhile, at most so many GB/s.

        Raises:
            ResultError: if a unit fails.
        """
        count = len(plan.instances)
        check_instances(count)
        if plan.in_flight > self.memory.slots:
            raise ResultError(
                f"at most {self.memory.slots} frames in flight were prepared, got {plan.in_flight}"
            )
        busy = [u for u, order in enumerate(plan.order) if order]
        others = dict(beside or {})
        requests: dict[int, Request] = {u: Stream(gbps) for u, gbps in others.items()}
        for u in busy:
            instances = tuple((i, plan.instances[i]) for i in plan.order[u])
            requests[u] = UnitPart(instances, dispatch, plan.in_flight)
        self._clear(count)
        self._start(requests)
        self._answers(busy, patience_s(plan))
        self._board[STOP] = 1
        logs = dict(zip(others, self._answers(others), strict=True))
        zero = self._board[GO]
        table = np.array(self._board[FIRST : FIRST + WIDTH * count], dtype=np.int64)
        table = table.reshape(count, WIDTH)
        return Execution(
            start_ns=table[:, 0] - zero,
            end_ns=table[:, 1] - zero,
            lost_start_ns=table[:, 2],
            lost_end_ns=table[:, 3],
            streams={u: StreamLog(log.begin - zero, log.end - zero) for u, log in logs.items()},
        )

    def stream(self, rates: Mapping[int, float | None], seconds: float) -> Mapping[int, StreamLog]:
        """Let units stream beside each other for a while."""
        self._clear(0)
        self._start({u: Stream(gbps) for u, gbps in rates.items()})
        time.sleep(seconds)
        self._board[STOP] = 1
        return dict(zip(rates, self._answers(rates), strict=True))

    def stream_frames(
        self, ledger: Ledger, current: Callable[[], Schedule], more: Callable[[int], bool]
    ) -> tuple[list[FrameRecord], int, int]:
        """Execute frame after frame, each by the schedule that is newest at its release.

        Args:
            ledger: of the problem, with at most as many slots as the machine has.
            more: whether to release one more after so many frames.

        Returns:
            The frames, and how many steps were lost and doubled.

        Raises:
            ResultError: if a unit fails.
        """
        if ledger.size > FIRST + WIDTH * MAX_INSTANCES or ledger.slots > self.memory.slots:
            raise ResultError("too many groups, or frames in flight, for the memory prepared")
        self._clear(-(-ledger.size // WIDTH))
        units = range(len(self.units))
        self._start({u: Follow(u, ledger) for u in units})
        frames = release_frames(
            ledger, self._board, lambda u, share: self._send(u, share), current, more, now
        )
        try:
            while True:
                next(frames)
                time.sleep(_PAUSE_S)
                for u in units:
                    if self._connections[u].poll():
                        self._failed(self._receive(u))
        except StopIteration as end:
            records: list[FrameRecord] = end.value
        except BaseException:
            self._board[STOP] = 1
            raise
        for u in units:
            self._send(u, None)
        self._answers(units)
        return records, *lost_and_doubled(records, ledger, self._board)

    def tensor(self, network: int, name: str, *, slot: int = 0) -> NDArray[Any]:
        """Return a copy of a tensor as the last execution left it."""
        return self.memory.view(self._shared[1].buf, (network, slot, name)).copy()

    def close(self) -> None:
        """End the processes and let the shared memory go."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join(timeout=2)
            if process.is_alive():
                process.terminate()
                process.join()
        self._connections, self._processes = [], []
        if hasattr(self, "_board"):
            self._board.release()
            del self._board
        for shared in self._shared:
            with contextlib.suppress(BufferError):
                shared.close()
            shared.unlink()
        self._shared = []

    def _clear(self, instances: int) -> None:
        board = self._board
        board[GO] = board[STOP] = 0
        np.frombuffer(board, dtype=np.int64)[FIRST : FIRST + WIDTH * instances] = 0

    def _start(self, requests: Mapping[int, Request]) -> None:
        for u, request in requests.items():
            self._send(u, request)
        for u in requests:
            answer = self._receive(u)
            if answer != READY:
                self._failed(answer)
        self._board[GO] = now() + _HEAD_START_NS

    def _send(self, u: int, request: Request | FrameShare | None) -> None:
        try:
            self._connections[u].send(request)
        except OSError:
            self._ended(u)

    def _answers(self, units: Any, patience_s: float = _PATIENCE_S) -> list[Any]:
        results = []
        for u in units:
            answer = self._receive(u, patience_s)
            if not answer[0]:
                self._failed(answer)
            results.append(answer[1])
        return results

    def _receive(self, u: int, patience_s: float = _PATIENCE_S) -> Any:
        try:
            if not self._connections[u].poll(patience_s):
                raise ResultError(f"{self.units[u].name}: no answer in {patience_s:.0f} s")
            return self._connections[u].recv()
        except (EOFError, OSError):
            self._ended(u)

    def _failed(self, answer: Any) -> None:
        self._board[STOP] = 1
        raise ResultError(str(answer[1]))

    def _ended(self, u: int) -> Any:
        self._board[STOP] = 1
        self._processes[u].join(timeout=2)
        raise ResultError(
            f"{self.units[u].name}: its process ended (exit status {self._processes[u].exitcode}); "
            "is there memory enough?"
        )
