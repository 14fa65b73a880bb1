"""Endless frames, each by the newest schedule at its release.

One coordinator releases frames. A unit gets its share of each frame and runs the shares in order,
so that frames of an old and of a new schedule overlap and none waits for the change. Both are
generators that yield if they wait. Processes drive them here, tests in any order.

A *ledger* on the board records the steps of a frame that have ended, and counts the steps that each
unit has run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass

from paretosoc.dse.tools.host.machine.execution_plan import make_execution_plan
from paretosoc.dse.tools.host.machine.unit_loop import FIRST, Board
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class Step:
    """A group of a frame on a unit. ``number`` and ``after`` count the group executions of a frame
    of the problem."""

    number: int
    group: int
    after: tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """Steps of each unit in a frame, in order."""

    version: int
    steps: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True)
class FrameShare:
    """A unit's steps of one frame. Frames count from 1."""

    frame: int
    slot: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Ledger:
    """Places on the board."""

    steps: int
    """Group executions of a frame of the problem."""
    slots: int
    """Most frames in flight."""
    units: int

    def frame_place(self, slot: int, number: int) -> int:
        """Return the place of the last frame that has ended a step in a slot."""
        return FIRST + 2 * (slot * self.steps + number)

    def end_place(self, slot: int, number: int) -> int:
        """Return the place of the time of that end, ns."""
        return self.frame_place(slot, number) + 1

    def count_place(self, unit: int, number: int) -> int:
        """Return the place at which a unit counts its runs of a step."""
        return FIRST + 2 * self.slots * self.steps + unit * self.steps + number

    @property
    def size(self) -> int:
        """Places in all, from the first of the board."""
        return self.count_place(self.units, 0)


@dataclass(frozen=True)
class FrameRecord:
    """A frame that has ended. Times are ns of the units' clock."""

    frame: int
    version: int
    numbers: tuple[int, ...]
    """Its steps."""
    release_ns: int
    end_ns: int


def schedule_of(
    problem: Problem, design: DesignPoint, version: int, networks: Collection[int] | None = None
) -> Schedule:
    """Return the schedule of a design point.

    Args:
        design: gives the units and the order of the groups, by the timeline.
        version: tells schedules apart.
        networks: that run in such a frame. Default: all.

    Raises:
        ResultError: if a network arrives after the frame's release: frames without an end have
            no such offset.
    """
    late = [n.name for n in problem.networks if n.arrival_ps or n.paced]
    if late:
        raise ResultError(f"network {late[0]!r}: must arrive with its frame for --seconds")
    plan = make_execution_plan(problem, design, frames=1, in_flight=1)
    active = set(range(len(problem.networks)) if networks is None else networks)
    # Instances have the same order whatever the design.
    runs = [instance.network in active for instance in plan.instances]

    def step(number: int) -> Step:
        instance = plan.instances[number]
        return Step(number, instance.group, tuple(k for k in instance.after if runs[k]))

    steps = (tuple(step(i) for i in order if runs[i]) for order in plan.order)
    return Schedule(version, tuple(steps))


def ledger_of(problem: Problem, slots: int) -> Ledger:
    """Return the ledger of a problem."""
    steps = sum(len(network.groups) * network.repeats for network in problem.networks)
    return Ledger(steps, slots, len(problem.units))


WAIT = object()
"""Nothing has come yet."""


def run_shares(
    unit: int,
    ledger: Ledger,
    board: Board,
    receive: Callable[[], object],
    run: Callable[[int, int], None],
    now: Callable[[], int],
) -> Generator[None, None, None]:
    """Run a unit's share of each frame, until ``receive`` gives None.

    Args:
        receive: the next share, ``WAIT`` or None.
        run: runs a group in a slot.
        now: ns of the units' clock.
    """
    while (share := receive()) is not None:
        if not isinstance(share, FrameShare):
            yield
            continue
        for step in share.steps:
            places = [ledger.frame_place(share.slot, number) for number in step.after]
            while any(board[place] != share.frame for place in places):
                yield
            run(step.group, share.slot)
            board[ledger.count_place(unit, step.number)] += 1
            board[ledger.end_place(share.slot, step.number)] = now()
            board[ledger.frame_place(share.slot, step.number)] = share.frame
            yield


def release_frames(
    ledger: Ledger,
    board: Board,
    send: Callable[[int, FrameShare], None],
    current: Callable[[], Schedule],
    more: Callable[[int], bool],
    now: Callable[[], int],
) -> Generator[None, None, list[FrameRecord]]:
    """Return the coordinator, which releases a frame whenever fewer than ``slots`` are in flight.

    Args:
        send: gives a unit a share.
        more: whether to release one more after so many frames.
        now: ns of the units' clock.

    Returns:
        All frames, of which none is left in flight.
    """
    flying: deque[tuple[int, Schedule, tuple[int, ...], int]] = deque()
    records: list[FrameRecord] = []
    released = 0
    while True:
        while len(flying) < ledger.slots and more(released):
            released += 1
            schedule, slot = current(), (released - 1) % ledger.slots
            numbers = tuple(step.number for steps in schedule.steps for step in steps)
            flying.append((released, schedule, numbers, now()))
            for unit, steps in enumerate(schedule.steps):
                if steps:
                    send(unit, FrameShare(released, slot, steps))
        if not flying:
            return records
        frame, schedule, numbers, release = flying[0]
        slot = (frame - 1) % ledger.slots
        if all(board[ledger.frame_place(slot, number)] == frame for number in numbers):
            end = max((board[ledger.end_place(slot, k)] for k in numbers), default=release)
            records.append(FrameRecord(frame, schedule.version, numbers, release, end))
            flying.popleft()
        else:
            yield


def lost_and_doubled(
    records: Sequence[FrameRecord], ledger: Ledger, board: Board
) -> tuple[int, int]:
    """Return the steps of released frames that no unit has run, and those that ran once too
    often."""
    lost = doubled = 0
    for number in range(ledger.steps):
        wanted = sum(number in record.numbers for record in records)
        ran = sum(board[ledger.count_place(unit, number)] for unit in range(ledger.units))
        lost += max(0, wanted - ran)
        doubled += max(0, ran - wanted)
    return lost, doubled
