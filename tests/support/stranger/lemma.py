"""Lower bounds for all design points of a node, and whether they close it
(docs/concepts/certificate.md, Lemmas)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise, takewhile
from typing import Any

from tests.support.stranger.board import ANY, FULL_RATE, Board, Points, require
from tests.support.stranger.open_groups import least_loss, least_memory, may_use
from tests.support.stranger.timeline import Frame, Moment, Run

PPM = 10**6
SPLIT, PART, MEMBERS, TRADE_OFF, TIME_LIMIT, POWER_LIMIT = range(6)


@dataclass(frozen=True)
class Node:
    """Choices so far, and how far they let the frame be played."""

    units: tuple[int | None, ...]
    points: Points
    moment: Moment


@dataclass(frozen=True)
class Claim:
    """Members in the objectives that count."""

    objectives: tuple[Any, ...]
    """Entries of ``objectives`` of problem.json."""
    members: tuple[tuple[int, ...], ...]
    tolerance_ppm: int
    prices: tuple[tuple[int, ...], ...]


def covers(member: int, value: int, ppm: int) -> bool:
    """Whether a member is above a value by no more than so many millionths; of what is negated, a
    rate, the member's is the one that they are of."""
    if member >= 0:
        return member * PPM <= value * (PPM + ppm)
    return -value * PPM <= -member * (PPM + ppm)


class Bound:
    """What all design points of a node have at least."""

    def __init__(self, board: Board, frame: Frame, claim: Claim, node: Node) -> None:
        self.board, self.frame, self.claim, self.node = board, frame, claim, node
        self.may_use = may_use(board, node.units)
        self.running = {one.run: one for one in node.moment.going.values()}
        self.left = [
            run for run in frame.runs if run not in node.moment.ended and run not in self.running
        ]
        self._ends: dict[Run, int] = {}
        self._paths: dict[Run, int] = {}
        self._least: dict[tuple[int, int, str], int] = {}

    def closes(self, kind: int) -> bool:
        """Whether the node is closed by what this kind says."""
        if kind == MEMBERS:
            return self._is_covered()
        if kind == TRADE_OFF:
            return self._no_room()
        if kind == TIME_LIMIT:
            period = self.board.document["execution"].get("period_ps")
            deadlines = [network["deadline_ps"] for network in self.board.networks]
            return any(
                limit is not None and self.latency(n) > limit for n, limit in enumerate(deadlines)
            ) or (self.board.model == "periodic" and self.makespan > period)
        capped = self.board.document["power_cap_mw"] is not None
        return self._breaks_power() or (capped and self._is_covered())

    def _is_covered(self) -> bool:
        values = [self._value(objective) for objective in self.claim.objectives]
        return any(self._covered(member, values) for member in self.claim.members)

    def _covered(self, member: Sequence[int], values: Sequence[int | None]) -> bool:
        return all(
            value is None or covers(m, value, self.claim.tolerance_ppm)
            for m, value in zip(member, values, strict=True)
        )

    def _least_of(self, group: int, repeat: int, what: str) -> int:
        """The smallest time, or dynamic energy, of an execution over all that is left."""
        key = (group, repeat, what)
        if key not in self._least:
            self._least[key] = min(
                self.board.time(o, group, repeat, setting)
                * (self.board.figure(o, "dynamic_mw", group, setting) if what == "energy" else 1)
                for o in self.may_use[group]
                for setting in self.board.settings(o, self.node.points)
            )
        return self._least[key]

    def _time(self, group: int, repeat: int) -> int:
        """The smallest time of an execution, with the transitions that it is sure to do."""
        known = self.board.moving(group, self.node.units)
        return self._least_of(group, repeat, "time") + known

    def _least_power(self, group: int) -> int:
        """The smallest power above idle of a group."""
        return min(
            int(self.board.figure(o, "dynamic_mw", group, setting))
            for o in self.may_use[group]
            for setting in self.board.settings(o, self.node.points)
        )

    def _delay(self, source: int, target: int) -> int:
        return min(
            self.board.waits(source, target, {source: a, target: b})
            for a in self.may_use[source]
            for b in self.may_use[target]
        )

    def end(self, run: Run) -> int:
        """The earliest end of an execution."""
        moment = self.node.moment
        if run in moment.ended:
            return moment.ended[run]
        if run in self.running:
            return moment.now - -self.running[run].left // FULL_RATE
        if run not in self._ends:
            start = max(moment.now, self._may_start(run))
            self._ends[run] = start + self._time(run[2], run[1])
        return self._ends[run]

    def _may_start(self, run: Run) -> int:
        board, units = self.board, self.node.units
        n, repeat, g = run
        joined = n in board.chosen_at_once
        if board.continues(g, units):
            after, engine = [self.end((n, repeat, g - 1))], range(g, g + 1)
        else:
            known = joined and None not in [units[h] for h in board.groups[n]]
            after, engine = [], board.engine(g, units) if known else range(g, g + 1)
        for h in engine:
            after.append(self.frame.arrival((n, repeat, h)))
            for need, delayed in self.frame.needs[n, repeat, h]:
                m, r, source = need
                if (m, r) == (n, repeat) and source in engine:
                    continue
                last = source
                if m in board.chosen_at_once:
                    last = board.engine(source, units)[-1]
                if (m, r) == (n, repeat) and g <= last:
                    last = source
                delay = self._delay(source, h) if delayed else 0
                after.append(self.end((m, r, last)) + delay)
        return max(after)

    def _path(self, run: Run) -> int:
        """The longest way through a network to the end of an execution, from 0 on."""
        if run not in self._paths:
            before = [
                (self._path(need) if need[0] == run[0] else 0)
                + (self._delay(need[2], run[2]) if delayed else 0)
                for need, delayed in self.frame.needs[run]
            ]
            self._paths[run] = max([0, *before]) + self._time(run[2], run[1])
        return self._paths[run]

    def _last(self, network: int) -> list[Run]:
        repeat = self.board.networks[network]["repeats"] - 1
        return [(network, repeat, g) for g in self.board.groups[network]]

    def latency(self, network: int) -> int:
        """Of a network, from its arrival."""
        end = max(self.end(run) for run in self._last(network))
        return end - int(self.board.networks[network]["arrival_ps"])

    def token(self, network: int) -> int:
        """Time of one repeat of a network that continues others."""
        waits = [run for m in self.board.waits_for[network] for run in self._last(m)]
        moment = self.node.moment
        arrival = self.board.networks[network]["arrival_ps"]
        time = max(self._path(run) for run in self._last(network))
        if all(run in moment.ended for run in waits):
            base = max([arrival, *(moment.ended[run] for run in waits)])
            time = max(time, max(self.end(run) for run in self._last(network)) - base)
        return -(-time // self.board.networks[network]["repeats"])

    @cached_property
    def makespan(self) -> int:
        """The earliest end of all."""
        board, moment = self.board, self.node.moment
        work = dict.fromkeys(board.processors, 0)
        total = 0
        for (processor, _), one in moment.going.items():
            left = -(-one.left // FULL_RATE)
            work[processor] += left
            total += left
        for _, repeat, group in self.left:
            least = self._time(group, repeat)
            total += least
            processors = {board.processor[o] for o in self.may_use[group]}
            if len(processors) == 1:
                work[processors.pop()] += least
        spread = -(-total // len(board.processors))
        return max(
            *(self.end(run) for n in range(len(board.networks)) for run in self._last(n)),
            moment.now + max(spread, *work.values()) if self.left or self.running else 0,
            *(moment.now + self._priced(row[1:]) for row in self.rows if row[0] == 0),
        )

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """The rows of prices, if they are as they must be."""
        numbers = 1 + len(self.board.options) + len(self.board.networks)
        for row in self.claim.prices:
            require(len(row) == numbers, "prices: another number of them")
            require(min(row) >= 0 and any(row[1:]), "prices: a negative one, or none")
            require(row[0] <= 1, "prices: neither of the makespan nor of energy")
        return list(self.claim.prices)

    def _priced(self, row: Sequence[int]) -> int:
        """What is left of the time, by prices of options and then of networks."""
        return -(-self._sum(row, 0, None) // self._whole(row))

    def _whole(self, row: Sequence[int]) -> int:
        """The prices of all units, each once, and networks."""
        board, options = self.board, len(self.board.options)
        dearest = [
            max(row[o] for o in range(options) if board.processor[o] == one)
            for one in board.processors
        ]
        return sum(dearest) + sum(row[options:])

    def _cost(self, row: Sequence[int], energy: int, option: int, group: int, repeat: int) -> int:
        """The least of an execution on an option: its priced time, with its energy if asked for."""
        board = self.board
        return min(
            board.time(option, group, repeat, setting)
            * (
                self._price(row, option, board.network_of[group])
                + energy * board.figure(option, "dynamic_mw", group, setting)
            )
            for setting in board.settings(option, self.node.points)
        )

    def _price(self, row: Sequence[int], option: int, network: int) -> int:
        own = row[len(self.board.options) + network] if self.board.is_chain(network) else 0
        return row[option] + own

    def _sum(self, row: Sequence[int], energy: int, on: set[int] | None) -> int:
        """All that is left at these prices, if only some domains may be on: any for None. Energies
        are of what has not started."""
        board = self.board
        total = sum(
            self._price(row, self.node.units[one.run[2]], one.run[0]) * -(-one.left // FULL_RATE)
            for one in self.running.values()
        )
        for network, repeat, group in self.left:
            if board.is_chain(network):
                continue
            moving = board.moving(group, self.node.units)
            total += min(
                self._cost(row, energy, o, group, repeat) + self._price(row, o, network) * moving
                for o in self.may_use[group]
                if on is None or on.issuperset(board.clocks[o])
            )
        for network in filter(board.is_chain, range(len(board.networks))):
            total += self._priced_chain(row, network, energy, on)
        return total

    def _priced_chain(
        self, row: Sequence[int], network: int, energy: int, on: set[int] | None
    ) -> int:
        """Of what has not started of a chain, with the delays before it."""
        board, units, total = self.board, self.node.units, 0
        own, groups = row[len(board.options) + network], board.groups[network]
        known = list(takewhile(lambda g: units[g] is not None, groups))
        left = [run for run in self.left if run[0] == network]
        runs = any(run[0] == network for run in self.running)
        for run in left:
            _, repeat, g = run
            if g not in known:
                if g == groups[len(known)]:
                    total += self._cheapest_from(row, network, g, energy, on)
                    if run == left[0] and g == groups[0]:
                        total += own * max(0, self._may_start(run) - self.node.moment.now)
                continue
            total += self._cost(row, energy, units[g], g, repeat)
            total += (row[units[g]] + own) * board.moving(g, units)
            if run == left[0] and not runs:
                total += own * max(0, self._may_start(run) - self.node.moment.now)
            elif g != groups[0]:
                total += own * board.waits(g - 1, g, units)
        return total

    def _cheapest_from(
        self, row: Sequence[int], network: int, first: int, energy: int, on: set[int] | None
    ) -> int:
        """The cheapest way through a chain from an open group on, 0 if there is none."""
        board, units = self.board, self.node.units
        own, groups = row[len(board.options) + network], board.groups[network]
        limit = board.networks[network]["max_transitions"]
        limit = None if limit is None or limit >= 8 else limit
        used = sum(
            board.processor[a] != board.processor[b] for a, b in pairwise(units[groups[0] : first])
        )

        @cache
        def cheapest(g: int, before: int | None, moved: int) -> int | None:
            if g == groups[-1] + 1:
                return 0
            ways = []
            for o in board.may_run[g]:
                if on is not None and not on.issuperset(board.clocks[o]):
                    continue
                count, delay = moved, 0
                if before is not None:
                    count += board.processor[o] != board.processor[before]
                    delay = board.waits(g - 1, g, {g - 1: before, g: o})
                after = cheapest(g + 1, o, count)
                # A chain that has used up its limit before stays where it is.
                if after is not None and (limit is None or count <= max(limit, used)):
                    ways.append(self._cost(row, energy, o, g, 0) + own * delay + after)
            return min(ways, default=None)

        return cheapest(first, None if first == groups[0] else units[first - 1], used) or 0

    @cached_property
    def dynamic(self) -> int:
        """Dynamic energy of a frame."""
        later = sum(
            self._least_of(g, repeat, "energy")
            + self.board.moving(g, self.node.units) * self._least_power(g)
            for _, repeat, g in self.left
        )
        return self.started + later

    @cached_property
    def started(self) -> int:
        """Dynamic energy of what has started."""
        moment = self.node.moment
        running = sum(
            one.spent_fj - one.power * (-one.left // FULL_RATE) for one in moment.going.values()
        )
        return moment.spent_fj + running

    @cached_property
    def idle(self) -> int:
        """Idle power."""
        return self.board.least_idle(self.board.on_for_sure(self.may_use), self.node.points)

    @cached_property
    def span(self) -> int:
        """The makespan, as a power cap needs it to be."""
        cap = self.board.document["power_cap_mw"]
        over = not self.left and not self.running
        if self.board.model != "frame" or cap is None or cap <= self.idle or over:
            return self.makespan
        return max(self.makespan, -(-self.dynamic // (cap - self.idle)))

    @property
    def energy(self) -> int:
        """Energy of a frame."""
        execution = self.board.document["execution"]
        return self.idle * execution.get("period_ps", self.span) + self.dynamic

    def _value(self, objective: Any) -> int | None:
        """The bound of an objective; None where there is none."""
        board = self.board
        network = None if objective["network"] is None else self._number(objective["network"])
        every = range(len(board.networks))
        match objective["kind"]:
            case "latency":
                return self.span if network is None else self.latency(network)
            case "inverse-latency":
                return -sum(10**18 // self.latency(n) for n in every)
            case "energy":
                return self.energy
            case "power" if board.model == "periodic":
                return 1000 * self.energy // int(board.document["execution"]["period_ps"])
            case "tokens-per-second" if network is not None:
                return self.token(network)
            case "energy-per-token" if network is not None:
                return self.energy // int(board.networks[network]["repeats"])
            case "accuracy-loss":
                groups = range(len(board.network_of)) if network is None else board.groups[network]
                return least_loss(board, self.node.units, groups)
            case "memory":
                return least_memory(board, self.node.units)
        return -ANY

    def _number(self, name: str) -> int:
        return [network["name"] for network in self.board.networks].index(name)

    def _breaks_power(self) -> bool:
        document = self.board.document
        cap, budget = document["power_cap_mw"], document["energy_budget_fj"]
        if self.board.model not in ("frame", "periodic"):
            return False
        if budget is not None and self.energy > budget:
            return True
        if cap is None:
            return False
        if self.board.model == "periodic":
            return self.energy > int(cap) * int(document["execution"]["period_ps"])
        if not self.left and not self.running:
            return self.energy > int(cap) * self.makespan
        return bool(self.idle + (self.dynamic > 0) > cap)

    def _no_room(self) -> bool:
        """Whether every makespan leaves no room below the energies of the members."""
        kinds = [o["kind"] if o["network"] is None else "" for o in self.claim.objectives]
        if "latency" not in kinds or "energy" not in kinds:
            return False
        t, e = kinds.index("latency"), kinds.index("energy")
        values = [
            None if k in (t, e) else self._value(o) for k, o in enumerate(self.claim.objectives)
        ]
        ppm = self.claim.tolerance_ppm
        # At these makespans, and above, a member covers all energies from the second number on.
        steps = sorted(
            (-(-m[t] * PPM // (PPM + ppm)), -(-m[e] * PPM // (PPM + ppm)))
            for m in self.claim.members
            if self._covered(m, values)
        )
        from_ps, least = self.span, None
        for at, energy in steps:
            if at > from_ps and (least is None or self._least_energy(from_ps, at - 1) < least):
                return False
            from_ps = max(from_ps, at)
            least = energy if least is None else min(least, energy)
        # A frame that is repeated ends within the period.
        period = self.board.document["execution"].get("period_ps")
        if period is not None and from_ps > period:
            return True
        return least is not None and self._least_energy(from_ps, period) >= least

    def _least_energy(self, first: int, last: int | None) -> Fraction:
        """The least energy of a design point with a makespan from ``first`` to ``last``.

        It is that of the cheapest set of domains that may be on.
        """
        return min(self._least_with(idle, lines, first, last) for idle, lines in self._sets)

    @cached_property
    def _sets(self) -> list[tuple[int, list[tuple[int, int]]]]:
        """Idle power and lines for each set of domains that may be on."""
        board = self.board
        sure = board.on_for_sure(self.may_use)
        may = [d for d in range(len(board.document["domains"])) if d not in sure]
        sets = [
            sure | set(more) for size in range(len(may) + 1) for more in combinations(may, size)
        ]
        lines = [(on, self._lines(on)) for on in sets]
        return [
            (board.least_idle(on, self.node.points), of_set)
            for on, of_set in lines
            if of_set is not None
        ]

    def _least_with(
        self, idle: int, lines: list[tuple[int, int]], first: int, last: int | None
    ) -> Fraction:
        """The same with this idle power and these lines."""
        period = self.board.document["execution"].get("period_ps")
        slope = 0 if period is not None else idle
        crossings = {
            Fraction(b0 - a0, a1 - b1) for (a0, a1), (b0, b1) in combinations(lines, 2) if a1 != b1
        }
        times = [
            Fraction(first),
            *(t for t in crossings if t > first and (last is None or t < last)),
        ]
        times += [] if last is None else [Fraction(last)]
        fixed = self.dynamic + (0 if period is None else idle * period)
        return min(fixed + slope * t + max(a + b * t for a, b in lines) for t in times)

    def _lines(self, on: set[int]) -> list[tuple[int, int]] | None:
        """Pairs a, b: beyond the bound the frame draws a + b x makespan or more, if just these
        domains are on. None if some group can be nowhere."""
        board, lines = self.board, [(0, 0)]
        for _, _, g in self.left:
            if not any(on.issuperset(board.clocks[o]) for o in self.may_use[g]):
                return None
        for row in (row[1:] for row in self.rows if row[0] == 1):
            total = self.started + self._sum(row, 1, on) - self.dynamic
            lines.append((total + self._whole(row) * self.node.moment.now, -self._whole(row)))
        return lines
