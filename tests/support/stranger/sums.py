"""The least weighted sum over all mappings of a box, and the most that units side by side can do
(docs/concepts/certificate.md, Bounds over boxes)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from tests.support.stranger.board import FULL_RATE, Board, Points, require

NOTHING = Fraction(2**200)
"""The sum where there is no mapping."""

ONE = Fraction(1)


@dataclass(frozen=True)
class Box:
    """Operating points left for every domain, and whether it may, or must, be off."""

    points: Points
    may_be_off: tuple[bool, ...]

    @property
    def is_empty(self) -> bool:
        """Whether a domain has nothing left."""
        return any(not p and not off for p, off in zip(self.points, self.may_be_off, strict=True))


@dataclass(frozen=True)
class Weights:
    """One row of multipliers."""

    energy: int
    units: dict[int, tuple[int, ...]]
    """Processor to the prices of its classes, of all its time where there are none."""
    chains: tuple[int, ...]
    segments: tuple[int, ...]
    figures: tuple[int, ...]


class Lines:
    """What all rows of a bounds document share."""

    def __init__(self, board: Board, document: Any) -> None:
        self.board = board
        self.chains: list[list[int]] = document["chains"]
        self.paths: list[list[int]] = document["paths"]
        self.apart: list[int] = document["apart"]
        classes: list[list[int]] = document["classes"]
        self.has_classes = bool(classes)
        self.figures = figures_of(board)
        groups = board.groups
        for chain in self.chains:
            require(all(n < len(groups) for n in chain), "chains: no such network")
            require(bool(chain), "chains: an empty one")
            for one, other in pairwise(chain):
                require(one in board.waits_for[other], "chains: networks that do not wait")
        require(len(self.paths) == len(groups), "paths: one for every network")
        for path, mine in zip(self.paths, groups, strict=True):
            require(bool(path) and all(g in mine for g in path), "paths: groups of another network")
            for edge in pairwise(path):
                require(edge in board.edges, "paths: groups that do not feed each other")
        require(len(set(self.apart)) == len(self.apart), "apart: a network twice")
        require(all(n < len(groups) for n in self.apart), "apart: no such network")
        require(not self.apart or self.has_classes, "apart: without classes")
        if self.has_classes:
            require(len(classes) == len(board.options), "classes: one list for every unit")
            require(
                board.model not in ("closed-form", "free-running"), "classes: nothing contends here"
            )
        frames = board.document["execution"].get("frames_in_flight", 1)
        overlap = board.model == "pipeline" and frames > 1
        require(not self.apart or not overlap, "apart: frames overlap")
        self.begins: dict[int, list[list[int]]] = {}
        for o, processor in enumerate(board.processor):
            if not self.has_classes:
                self.begins[processor] = [[0]]
            elif o != processor:
                require(classes[o] == [], "classes: of a further number format")
            else:
                require(classes[o][:1] == [0], "classes: the first begins at 0")
                owners: list[list[int]] = []
                for begin in classes[o]:
                    if begin == 0:
                        owners.append([])
                    require(not owners[-1] or begin > owners[-1][-1], "classes: do not rise")
                    owners[-1].append(begin)
                require(len(owners) == 1 + len(self.apart), "classes: not for all of apart")
                self.begins[processor] = owners
        self.owner = {
            g: 1 + self.apart.index(n) if n in self.apart else 0
            for n, path in enumerate(self.paths)
            for g in path
        }

    def weights(self, row: Sequence[int]) -> Weights:
        """The parts of a row."""
        sizes = [sum(map(len, self.begins[p])) for p in self.board.processors]
        options = len(self.board.options)
        lengths = [1, *sizes, len(self.chains), options, len(self.figures)]
        require(len(row) == sum(lengths), "multipliers: a row of another length")
        rest, parts = list(row), []
        for length in lengths:
            parts.append(tuple(rest[:length]))
            rest = rest[length:]
        units = dict(zip(self.board.processors, parts[1:-3], strict=True))
        return Weights(parts[0][0], units, parts[-3], parts[-2], parts[-1])

    def class_of(self, processor: int, group: int, demand: int) -> int:
        """Position of the class of a group with this demand."""
        owners = self.begins[processor]
        owner = self.owner.get(group, 0)
        before = sum(map(len, owners[:owner]))
        return before + sum(begin <= demand for begin in owners[owner]) - 1


def figures_of(board: Board) -> list[tuple[str, int | None]]:
    """Losses and memory that are objectives, in their order, or limited."""
    if board.model == "free-running":
        return []
    names = [network["name"] for network in board.networks]
    found: list[tuple[str, int | None]] = [
        (o["kind"], None if o["network"] is None else names.index(o["network"]))
        for o in board.document["objectives"]
        if o["kind"] in ("accuracy-loss", "memory")
    ]
    found += [
        ("accuracy-loss", n)
        for n, network in enumerate(board.networks)
        if network.get("max_loss_ppm") is not None
    ]
    if board.document.get("memory_cap_bytes") is not None:
        found.append(("memory", None))
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Way:
    """To run a group: an option at some points of its clocks, all repeats together."""

    option: int
    time: int
    energy: int
    demand: int
    power: int
    setting: tuple[int, ...]


class BoxSums:
    """Sums over one box."""

    def __init__(self, lines: Lines, box: Box) -> None:
        self.lines, self.box, self.board = lines, box, lines.board
        self.ways = [list(self._ways(g)) for g in range(len(self.board.network_of))]

    def _ways(self, group: int) -> Iterator[Way]:
        board = self.board
        repeats = board.networks[board.network_of[group]]["repeats"]
        for o in board.may_run[group]:
            for setting in board.settings(o, self.box.points):
                longer = repeats * (repeats - 1) // 2 * board.figure(o, "step_ps", group, setting)
                time = repeats * board.figure(o, "time_ps", group, setting) + longer
                power = board.figure(o, "dynamic_mw", group, setting)
                demand = board.figure(o, "demand_kbps", group, setting)
                yield Way(o, time, time * power, demand, power, setting)

    @property
    def is_impossible(self) -> bool:
        """Whether some group can run nowhere."""
        return any(not ways for ways in self.ways)

    @cached_property
    def idle(self) -> int:
        """The least idle power."""
        on = {d for d, off in enumerate(self.box.may_be_off) if not off}
        return self.board.least_idle(on, self.box.points)

    def least(
        self,
        weights: Weights,
        network: int,
        *,
        share: Fraction = ONE,
        of_chain: int = 0,
    ) -> Fraction:
        """The least sum of a network, over all mappings of its groups.

        ``share`` is of the energy that is sure to be drawn; ``of_chain`` is added to the weights of
        the chains that the network is in.
        """
        board, lines = self.board, self.lines
        free = board.model == "free-running"
        path = lines.paths[network]
        of_chains = zip(weights.chains, lines.chains, strict=True)
        path_weight = of_chain + sum(weight for weight, chain in of_chains if network in chain)
        least_power: dict[int, int] = {}
        for g in board.groups[network]:
            for way in self.ways[g]:
                p = board.processor[way.option]
                least_power[p] = min(way.power, least_power.get(p, way.power))

        def cost(group: int, way: Way) -> Fraction:
            processor = board.processor[way.option]
            price = weights.units[processor][lines.class_of(processor, group, way.demand)]
            energy = way.time * least_power[processor] if free else way.energy
            total = price * way.time + share * weights.energy * energy
            for weight, (kind, n) in zip(weights.figures, lines.figures, strict=True):
                if n in (None, network):
                    each = board.loss if kind == "accuracy-loss" else board.weight
                    total += weight * each(way.option, group)
            return total + (path_weight * way.time if group in path else 0)

        total = Fraction(0)
        for g in board.groups[network]:
            if g not in path:
                total += min(cost(g, way) for way in self.ways[g])
        for weight, (kind, _) in zip(weights.figures, lines.figures, strict=True):
            if kind == "memory":
                total += weight * board.networks[network].get("activation_bytes", 0)
        repeats, limit = (board.networks[network][key] for key in ("repeats", "max_transitions"))

        def begins(option: int) -> int:
            """What the beginning of a segment costs; without a limit, or a frame, nothing."""
            first = board.processor[option]
            has_limit = board.options[first]["max_segments"] is not None
            return weights.segments[first] if has_limit and not free else 0

        # Option and transitions so far to the least sum.
        so_far: dict[tuple[int, int], Fraction] = {}
        for position, g in enumerate(path):
            here: dict[int, Fraction] = {}
            for way in self.ways[g]:
                alone = cost(g, way)
                here[way.option] = min(alone, here.get(way.option, alone))
            after: dict[tuple[int, int], Fraction] = {}
            for option, alone in here.items():
                if position == 0:
                    after[option, 0] = alone + begins(option)
                    continue
                delay = board.delay[path[position - 1], g]
                for (before, changes), least in so_far.items():
                    differs = board.processor[before] != board.processor[option]
                    count = 0 if limit is None else changes + differs
                    if limit is not None and count > limit:
                        continue
                    sum_ = least + alone
                    sum_ += 0 if free else path_weight * repeats * delay[before][option]
                    sum_ += begins(option) if before != option else 0
                    after[option, count] = min(sum_, after.get((option, count), sum_))
            so_far = after
        return total + min(so_far.values(), default=NOTHING)

    @cached_property
    def shortest(self) -> list[Fraction]:
        """The least latencies of the networks in one frame."""
        board, lines = self.board, self.lines
        prices = {p: (0,) * sum(map(len, lines.begins[p])) for p in board.processors}
        none, nothing = (0,) * len(board.options), (0,) * len(lines.figures)

        def path(network: int) -> Fraction:
            weights = Weights(0, prices, (0,) * len(lines.chains), none, nothing)
            return self.least(weights, network, of_chain=1)

        alone = [path(n) for n in range(len(board.networks))]
        latencies = list(alone)
        for chain in lines.chains:
            first, last = (board.networks[n]["arrival_ps"] for n in (chain[0], chain[-1]))
            latency = first + sum(alone[n] for n in chain) - last
            latencies[chain[-1]] = max(latencies[chain[-1]], latency)
        return latencies

    def most(self, weights: Weights, share: Fraction = ONE) -> Fraction:
        """W: the largest sum of prices times rates of what can run side by side, less what
        contention adds to energy; prices of classes are over the share that is sure to run."""
        if not self.lines.has_classes:
            return Fraction(sum(sum(prices) for prices in weights.units.values()))
        memory = self.board.memory
        at = (0,) if memory is None else self.box.points[memory]
        return max(self._most_at(weights, point, share) for point in at)

    def _most_at(self, weights: Weights, point: int, share: Fraction) -> Fraction:
        """W where the memory is at one point."""
        board, lines = self.board, self.lines
        # Processor and class to its demands and least power.
        classes: dict[int, dict[int, tuple[set[int], int]]] = {p: {} for p in board.processors}
        for g, ways in enumerate(self.ways):
            for way in ways:
                clocks = board.clocks[way.option]
                if board.memory in clocks and way.setting[clocks.index(board.memory)] != point:
                    continue
                if way.time == 0:
                    continue
                processor = board.processor[way.option]
                k = lines.class_of(processor, g, way.demand)
                demands, power = classes[processor].get(k, (set(), way.power))
                classes[processor][k] = ({*demands, way.demand}, min(power, way.power))

        def owner(processor: int, k: int) -> int:
            sizes = list(map(len, lines.begins[processor]))
            return next(i for i in range(len(sizes)) if k < sum(sizes[: i + 1]))

        def gain(chosen: list[tuple[int, int]]) -> Fraction:
            total = Fraction(0)
            for processor, k in chosen:
                demands, power = classes[processor][k]
                others = sum(min(classes[q][j][0]) for q, j in chosen if q != processor)
                lost = min(board.lost(processor, point, demand, others) for demand in demands)
                rate = Fraction(FULL_RATE - lost, FULL_RATE)
                total += weights.units[processor][k] * rate / share
                total -= weights.energy * power * (1 - rate)
            return total

        def best(rest: list[int], chosen: list[tuple[int, int]], taken: set[int]) -> Fraction:
            if not rest:
                return gain(chosen)
            found = [best(rest[1:], chosen, taken)]
            for k in classes[rest[0]]:
                mine = owner(rest[0], k)
                if mine == 0 or mine not in taken:
                    found.append(best(rest[1:], [*chosen, (rest[0], k)], taken | {mine}))
            return max(found)

        return best(board.processors, [], set())
