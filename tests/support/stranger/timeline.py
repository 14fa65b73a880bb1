"""One frame played as far as the choices of a node decide it (docs/concepts/model.md, The timeline;
certificate.md, The tree is the proof)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.support.stranger.board import FULL_RATE, Board, Points

Run = tuple[int, int, int]
"""Network, repeat, group."""
Place = tuple[int, int | None]
"""A processor; one that is shared has a place for each network."""


@dataclass(frozen=True)
class Going:
    """What runs at a place: work left, and dynamic power times the time since its start, 0 where a
    processor is shared."""

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
    going: dict[Place, Going] = field(default_factory=dict)
    ready: dict[Run, int] = field(default_factory=dict)
    """Of all that waits for its unit, or for its ready time; of an engine its first group."""
    spent_fj: int = 0
    """Dynamic energy of what has ended, and of shared processors so far."""


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
            continuing = list(self._continuing(moment, units))
            for processor in board.processors:
                starts = {
                    place: run
                    for run in continuing
                    if (place := self._place(run, _at(units, run)))[0] == processor
                }
                queues: dict[Place, list[Run]] = {}
                for run, ready in moment.ready.items():
                    place = self._place(run, _at(units, run))
                    there = place in going or place in starts
                    if ready <= moment.now and place[0] == processor and not there:
                        queues.setdefault(place, []).append(run)
                clocks = board.clocks[processor]
                memory = [] if board.memory is None else [board.memory]
                for clock in [*clocks, *memory] if queues else []:
                    if len(points[clock]) > 1:
                        return moment, ("domain", clock)
                for place, waiting in queues.items():
                    starts[place] = min(waiting, key=lambda run: self._turn(run, moment.ready[run]))
                heads = [h for run in starts.values() for h in board.open_targets(run[2], units)]
                if heads:
                    return moment, ("group", min(heads))
                for place, run in starts.items():
                    going[place] = self._begin(run, units, points)
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
        board = self.board
        ready = dict(moment.ready)
        started = {one.run for one in moment.going.values()}
        for run in self.runs:
            n, repeat, g = run
            if run in moment.ended or run in started or run in ready:
                continue
            if all(need in moment.ended for need, _ in self.needs[run]):
                if units[g] is None:
                    return moment, g
                if n in board.chosen_at_once and None in [units[h] for h in board.groups[n]]:
                    return moment, next(h for h in board.groups[n] if units[h] is None)
            if units[g] is None or board.continues(g, units):
                continue
            # All that reaches any of the groups that run without a break.
            inside = [(n, repeat, h) for h in board.engine(g, units)]
            needs = [
                (need, self._delay(need[2], one[2], units) if delayed else 0)
                for one in inside
                for need, delayed in self.needs[one]
                if need not in inside
            ]
            lasts = [(m, r, board.engine(h, units)[-1]) for (m, r, h), _ in needs]
            if any(last not in moment.ended for last in lasts):
                continue
            left = [moment.ended[last] for last in lasts]
            ends = [end + delay for end, (_, delay) in zip(left, needs, strict=True)]
            ready[run] = max([*(self.arrival(one) for one in inside), *ends])
        return replace(moment, ready=ready), None

    def _continuing(self, moment: Moment, units: Sequence[int | None]) -> Iterator[Run]:
        """What runs directly after the group before it, which has ended."""
        started = {one.run for one in moment.going.values()}
        for run in self.runs:
            n, repeat, g = run
            waits = run not in moment.ended and run not in started
            if waits and self.board.continues(g, units) and (n, repeat, g - 1) in moment.ended:
                yield run

    def _place(self, run: Run, option: int) -> Place:
        shared = self.board.dispatch[option] == "shared"
        return self.board.processor[option], run[0] if shared else None

    def _delay(self, source: int, target: int, units: Sequence[int | None]) -> int:
        return self.board.waits(source, target, units)

    def _turn(self, run: Run, ready: int) -> tuple[int, ...]:
        return (self.board.networks[run[0]].get("priority", 0), ready, *run)

    def _begin(self, run: Run, units: Sequence[int | None], points: Points) -> Going:
        option = _at(units, run)
        setting = tuple(points[clock][0] for clock in self.board.clocks[option])
        time = self.board.time(option, run[2], run[1], setting)
        time += self.board.moving(run[2], units)
        demand, power = (
            self.board.figure(option, key, run[2], setting) for key in ("demand_kbps", "dynamic_mw")
        )
        return Going(run, time * FULL_RATE, demand, power)

    def _advance(self, moment: Moment, later: list[int], points: Points) -> Moment:
        board = self.board
        memory = 0 if board.memory is None else points[board.memory][0]
        sharing: dict[int, list[Going]] = {}
        for (processor, _), one in moment.going.items():
            sharing.setdefault(processor, []).append(one)
        demand = {p: max(one.demand for one in some) for p, some in sharing.items()}
        rates = {}
        for place, one in moment.going.items():
            processor = place[0]
            others = sum(demand.values()) - demand[processor]
            rates[place] = FULL_RATE - board.lost(processor, memory, one.demand, others)
            count = len(sharing[processor])
            if count > 1:
                share = 1000 * FULL_RATE // (count * (1000 + board.overhead[processor]))
                rates[place] = max(1, rates[place] * share // FULL_RATE)
        steps = [-(-one.left // rates[p]) for p, one in moment.going.items()]
        step = min([*steps, *(ready - moment.now for ready in later)])
        ended, going, spent = dict(moment.ended), {}, moment.spent_fj
        for processor, some in sharing.items():
            if board.dispatch[processor] == "shared":
                spent += step * -(-sum(one.power for one in some) // len(some))
        for place, one in moment.going.items():
            left = one.left - step * rates[place]
            fj = 0 if place[1] is not None else one.spent_fj + one.power * step
            if left <= 0:
                ended[one.run] = moment.now + step
                spent += fj
            else:
                going[place] = replace(one, left=left, spent_fj=fj)
        return Moment(moment.now + step, ended, going, moment.ready, spent)


def _at(units: Sequence[int | None], run: Run) -> int:
    option = units[run[2]]
    assert option is not None
    return option
