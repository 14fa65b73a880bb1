"""One frame played as far as the choices of a node decide it (docs/concepts/model.md, The timeline;
certificate.md, The tree is the proof)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.support.stranger.board import FULL_RATE, Board, Points

Run = tuple[int, int, int]
"""Network, repeat, group."""


@dataclass(frozen=True)
class Going:
    """What runs on a processor: work left, and dynamic power times the time since its start."""

    run: Run
    left: int
    demand: int
    power: int
    spent_fj: int = 0


@dataclass(frozen=True)
class Moment:
    """What has happened so far."""

    now: int = 0
    ended: dict[Run, int] = field(default_factory=dict)
    going: dict[int, Going] = field(default_factory=dict)
    ready: dict[Run, int] = field(default_factory=dict)
    """Of all that waits for its unit, or for its ready time."""
    spent_fj: int = 0
    """Dynamic energy of what has ended."""


class Frame:
    """The executions of one frame, and what each waits for."""

    def __init__(self, board: Board) -> None:
        self.board = board
        repeats = [network["repeats"] for network in board.networks]
        self.runs: list[Run] = [
            (n, r, g)
            for n, groups in enumerate(board.groups)
            for r in range(repeats[n])
            for g in groups
        ]
        self.needs: dict[Run, list[tuple[Run, bool]]] = {}
        """Run to all that must end before, and whether a transition follows."""
        for n, r, g in self.runs:
            needs = [((n, r, s), True) for s in board.sources[g]]
            if not needs:
                before = (
                    [(m, repeats[m] - 1) for m in board.waits_for[n]] if r == 0 else [(n, r - 1)]
                )
                needs = [((m, last, h), False) for m, last in before for h in board.groups[m]]
            for source, target in board.handovers:
                if target == g and r == 0:
                    m = board.network_of[source]
                    needs.append(((m, repeats[m] - 1, source), True))
            self.needs[n, r, g] = needs

    def arrival(self, run: Run) -> int:
        """Before this a run is not ready."""
        n, r, g = run
        first = r == 0 and not self.board.sources[g]
        return int(self.board.networks[n]["arrival_ps"]) if first else 0

    def settle(
        self, moment: Moment, units: Sequence[int | None], points: Points
    ) -> tuple[Moment, tuple[str, int] | None]:
        """Play until a choice is open: ("group", g) or ("domain", d); None at the end."""
        board = self.board
        while True:
            moment, group = self._become_ready(moment, units)
            if group is not None:
                return moment, ("group", group)
            going = dict(moment.going)
            for processor in board.processors:
                waiting = [
                    run
                    for run, ready in moment.ready.items()
                    if ready <= moment.now and board.processor[_at(units, run)] == processor
                ]
                if processor in going or not waiting:
                    continue
                clocks = board.clocks[processor]
                memory = [] if board.memory is None else [board.memory]
                for clock in [*clocks, *memory]:
                    if len(points[clock]) > 1:
                        return moment, ("domain", clock)
                run = min(waiting, key=lambda run: self._turn(run, moment.ready[run]))
                going[processor] = self._begin(run, _at(units, run), points)
            waits = {
                run: ready
                for run, ready in moment.ready.items()
                if all(one.run != run for one in going.values())
            }
            moment = replace(moment, going=going, ready=waits)
            later = [ready for ready in waits.values() if ready > moment.now]
            if not going and not later:
                return moment, None
            moment = self._advance(moment, later, points)

    def _become_ready(
        self, moment: Moment, units: Sequence[int | None]
    ) -> tuple[Moment, int | None]:
        ready = dict(moment.ready)
        started = {one.run for one in moment.going.values()}
        for run in self.runs:
            if run in moment.ended or run in started or run in ready:
                continue
            needs = self.needs[run]
            if any(need not in moment.ended for need, _ in needs):
                continue
            if units[run[2]] is None:
                return moment, run[2]
            ends = [
                moment.ended[need] + (self._delay(need[2], run[2], units) if delayed else 0)
                for need, delayed in needs
            ]
            ready[run] = max([self.arrival(run), *ends])
        return replace(moment, ready=ready), None

    def _delay(self, source: int, target: int, units: Sequence[int | None]) -> int:
        a, b = units[source], units[target]
        assert a is not None
        assert b is not None
        return int(self.board.delay[source, target][a][b])

    def _turn(self, run: Run, ready: int) -> tuple[int, ...]:
        return (self.board.networks[run[0]].get("priority", 0), ready, *run)

    def _begin(self, run: Run, option: int, points: Points) -> Going:
        setting = tuple(points[clock][0] for clock in self.board.clocks[option])
        time = self.board.time(option, run[2], run[1], setting)
        demand, power = (
            self.board.figure(option, key, run[2], setting) for key in ("demand_kbps", "dynamic_mw")
        )
        return Going(run, time * FULL_RATE, demand, power)

    def _advance(self, moment: Moment, later: list[int], points: Points) -> Moment:
        board = self.board
        memory = 0 if board.memory is None else points[board.memory][0]
        total = sum(one.demand for one in moment.going.values())
        rates = {}
        for processor, one in moment.going.items():
            loss = board.lost(processor, memory, one.demand, total - one.demand)
            rates[processor] = FULL_RATE - loss
        steps = [-(-one.left // rates[p]) for p, one in moment.going.items()]
        step = min([*steps, *(ready - moment.now for ready in later)])
        ended, going, spent = dict(moment.ended), {}, moment.spent_fj
        for processor, one in moment.going.items():
            left = one.left - step * rates[processor]
            fj = one.spent_fj + one.power * step
            if left <= 0:
                ended[one.run] = moment.now + step
                spent += fj
            else:
                going[processor] = replace(one, left=left, spent_fj=fj)
        return Moment(moment.now + step, ended, going, moment.ready, spent)


def _at(units: Sequence[int | None], run: Run) -> int:
    option = units[run[2]]
    assert option is not None
    return option
