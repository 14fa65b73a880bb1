"""Work of a unit during a plan: wait, start a group, record its end; or, as the co-runner of a
sweep, do nothing but read memory at a given rate.

Units share a *board*, an array of 64-bit integers that all of them see, with the start and end of
each instance. An end is written after the group's results. A unit that sees the end therefore sees
the results (on processors that keep the order of stores, and through the interpreter's own
synchronisation on others). A unit that waits polls the board, since its core has nothing else to
do.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, Instance

GO, STOP, FIRST, WIDTH = 0, 1, 2, 4
"""Places on the board: the instant of the start, whether to give up, the first instance's entries;
and how many of these an instance has."""


class Board(Protocol):
    """Integers that all units see."""

    def __getitem__(self, place: int, /) -> int:
        """Return the integer at a place."""

    def __setitem__(self, place: int, value: int, /) -> None:
        """Change it for all."""


class Stopped(Exception):
    """Somebody asked all units to give up."""


def start_place(instance: int) -> int:
    """Return the place of an instance's start, ns."""
    return FIRST + WIDTH * instance


def end_place(instance: int) -> int:
    """Return the place of its end, ns, which is 0 before."""
    return FIRST + WIDTH * instance + 1


def lost_place(instance: int) -> int:
    """Return the place of the time that the unit's core lost to other work, from the start of all
    to the instance's start, ns. The next place has the same to its end."""
    return FIRST + WIDTH * instance + 2


@dataclass(frozen=True)
class UnitPart:
    """A unit's share of a plan: its instances by index, in the planned order."""

    instances: tuple[tuple[int, Instance], ...]
    dispatch: Dispatch
    slots: int
    """Frames in flight: frame k uses the tensors of slot (k - 1) mod slots."""


def run_unit(
    part: UnitPart,
    board: Board,
    run: Callable[[int, int], None],
    now: Callable[[], int],
    working: Callable[[], int],
) -> None:
    """Execute a unit's part of a plan.

    Args:
        run: runs a group (index) in a slot.
        now: the clock that all units share, ns.
        working: how long this unit's core has worked for it, ns.

    Raises:
        Stopped: if another unit gave up.
    """
    while not board[GO]:
        check_board(board)
    while now() < board[GO]:
        check_board(board)
    queues: dict[int, list[tuple[int, Instance]]] = {}
    for index, instance in sorted(part.instances, key=lambda entry: entry[0]):
        queues.setdefault(instance.network, []).append((index, instance))
    begin, worked = now(), working()
    for planned in part.instances:
        if part.dispatch is Dispatch.PLANNED:
            index, instance = planned
            ready = ready_time(instance, board)
            while ready is None or ready > now():
                check_board(board)
                ready = ready_time(instance, board)
        else:
            found = _first_ready(queues, part.slots, board, now())
            while found is None:
                check_board(board)
                found = _first_ready(queues, part.slots, board, now())
            index, instance = queues[found[0]].pop(found[1])
        start = now()
        board[start_place(index)] = start
        board[lost_place(index)] = start - begin - (working() - worked)
        run(instance.group, (instance.frame - 1) % part.slots)
        end = now()
        board[lost_place(index) + 1] = end - begin - (working() - worked)
        board[end_place(index)] = end


def ready_time(instance: Instance, board: Board) -> int | None:
    """Return the time at which all that an instance waits for has happened, or None before that."""
    ready = 0
    for other in instance.after:
        end = board[end_place(other)]
        if not end:
            return None
        ready = max(ready, end)
    if instance.arrival_ns is None:
        return ready
    release = board[GO]
    for other in instance.release_after:
        end = board[end_place(other)]
        if not end:
            return None
        release = max(release, end)
    return max(ready, release + instance.arrival_ns)


def _first_ready(
    queues: dict[int, list[tuple[int, Instance]]], slots: int, board: Board, now: int
) -> tuple[int, int] | None:
    """Return a network and the place in its queue. Only the first ``slots`` frames of each that
    wait can be ready: so a look takes as long for a thousand frames as for ten."""
    best: tuple[int, int, int] | None = None
    chosen = None
    for network, queue in queues.items():
        for place, (index, instance) in enumerate(queue):
            if instance.frame >= queue[0][1].frame + slots:
                break
            ready = ready_time(instance, board)
            # Indices are in the order (frame, network, repeat, group).
            if ready is None or ready > now:
                continue
            own = instance.priority, ready, index
            if best is None or own < best:
                best, chosen = own, (network, place)
    return chosen


def check_board(board: Board) -> None:
    """Raise Stopped if another unit asked all units to give up."""
    if board[STOP]:
        raise Stopped


CHUNK = 1 << 18
"""Bytes between two looks at the clock."""
BUFFER = 1 << 27
"""Bytes that are read in turn: more than caches hold."""

FEWEST_CHUNKS = 8
"""However short the time, so that there is a rate."""


@dataclass(frozen=True, eq=False)
class StreamLog:
    """Begin and end of each chunk, ns. Arrays are [chunks]."""

    begin: IntArray
    end: IntArray

    @property
    def gbps(self) -> float:
        """Return bytes over the whole time."""
        return float((len(self.begin) - 1) * CHUNK / (self.begin[-1] - self.begin[0]))


def make_buffer() -> IntArray:
    """Create memory to read, written once so that all of it exists."""
    return np.ones(BUFFER // 8, dtype=np.int64)


def stream(
    buffer: IntArray, gbps: float | None, is_over: Callable[[], bool], now: Callable[[], int]
) -> StreamLog:
    """Read chunk after chunk until ``is_over``, a few at least. With ``gbps`` None, read as fast as
    possible."""
    step = CHUNK // 8
    chunks = [buffer[k * step : (k + 1) * step] for k in range(len(buffer) // step)]
    period = 0.0 if gbps is None else CHUNK / gbps
    begins, ends = array("q"), array("q")
    due = float(now())
    place = 0
    while len(begins) < FEWEST_CHUNKS or not is_over():
        begin = now()
        np.add.reduce(chunks[place])
        begins.append(begin)
        ends.append(now())
        place = (place + 1) % len(chunks)
        # Missed reads are not caught up with: the rate is a limit.
        due = max(due + period, ends[-1])
        while now() < due and not is_over():
            pass
    return StreamLog(
        np.frombuffer(begins, dtype=np.int64).copy(), np.frombuffer(ends, dtype=np.int64).copy()
    )
