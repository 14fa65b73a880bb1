"""When an inequality leaves no design point at or below a corner, for every execution model
(docs/concepts/certificate.md, Bounds over boxes)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import Any

from tests.support.stranger.board import ANY, Board
from tests.support.stranger.lemma import PPM
from tests.support.stranger.sums import ONE, BoxSums, Weights

Line = tuple[Fraction, Fraction]
"""a, b: a + b x time."""


def releases_of(network: Any) -> int:
    """How often a network with a rate is released in a period."""
    return int(network["repeats"]) if network.get("paced") else 1


def images_of(document: dict[str, Any]) -> list[int]:
    """Images of every network in a frame; the tokens of an answer are one."""
    answers = {entry["target"] for entry in document.get("handovers", [])}
    counts = []
    for network in document["networks"]:
        groups = range(len(network["group_names"]))
        answer = any(network["first_group"] + g in answers for g in groups)
        counts.append(network.get("batch", 1) * (1 if answer else network["repeats"]))
    return counts


class Corner:
    """What every feasible design point at or below a corner keeps."""

    def __init__(self, board: Board, values: list[tuple[Any, int]]) -> None:
        self.board = board
        document = board.document
        names = [network["name"] for network in board.networks]
        self.values: dict[tuple[str, int | None], int] = {}
        for objective, value in values:
            n = None if objective["network"] is None else names.index(objective["network"])
            key = (objective["kind"], n)
            self.values[key] = min(value, self.values.get(key, value))
        self.period = document["execution"].get("period_ps")
        networks = board.networks
        self.images = images_of(document)
        of = 1 if board.model == "free-running" else sum(self.images)
        # Energy is at most this; the long run's is rounded down.
        rounding = int(board.model in ("pipeline", "free-running"))
        energies = [ANY + 1]
        for (kind, n), value in self.values.items():
            if kind == "energy":
                energies.append(value + 1)
            if kind == "efficiency":
                energies.append((value + 1) * of)
            if kind == "energy-per-token" and n is not None:
                energies.append((value + 1) * networks[n]["repeats"])
        if document["energy_budget_fj"] is not None:
            energies.append(document["energy_budget_fj"] + 1)
        self.energy = min(energies) - 1 + rounding
        # Mean power is at most this many mW.
        powers = [Fraction(v + 1, 1000) for (kind, _), v in self.values.items() if kind == "power"]
        if document["power_cap_mw"] is not None:
            powers.append(Fraction(document["power_cap_mw"]))
        self.power = min(powers, default=None)

    def figure(self, kind: str, n: int | None) -> int | None:
        """The most that a sum over groups may be."""
        document = self.board.document
        limit = document.get("memory_cap_bytes")
        if kind == "accuracy-loss":
            limit = None if n is None else self.board.networks[n].get("max_loss_ppm")
        found = [v for v in (limit, self.values.get((kind, n))) if v is not None]
        return min(found, default=None)

    def frame_end(self, sums: BoxSums) -> tuple[Fraction | None, list[Fraction | None]]:
        """The most that a frame's makespan, and every network's end, may be."""
        board = self.board
        ends: list[Fraction | None] = []
        makespans = [
            Fraction(value)
            for (kind, n), value in self.values.items()
            if kind == "latency" and n is None
        ]
        if board.model == "periodic":
            makespans.append(Fraction(self.period))
        wanted = self.values.get(("inverse-latency", None))
        for n, network in enumerate(board.networks):
            latest = [self.values.get(("latency", n)), network["deadline_ps"]]
            known = [Fraction(value) for value in latest if value is not None]
            if wanted is not None:
                rates = [10**18 // max(ONE, shortest) for shortest in sums.shortest]
                rate = -wanted - (sum(rates) - rates[n])
                if rate > rates[n]:
                    return Fraction(0), [Fraction(0)] * len(rates)
                if rate > 0:
                    known.append(Fraction(10**18, rate))
            ends.append(min(known) + network["arrival_ps"] if known else None)
        if all(end is not None for end in ends):
            makespans.append(max(end for end in ends if end is not None))
        makespan = min(makespans, default=None)
        if makespan is not None:
            ends = [makespan if end is None else min(end, makespan) for end in ends]
        return makespan, ends

    def release_ends(self) -> list[Fraction]:
        """With rates: the most that all releases of a network in a period may take one by one."""
        ends = []
        for n, network in enumerate(self.board.networks):
            releases = releases_of(network)
            wait = network.get("batch_wait_ps", 0)
            found = [self.period]
            for kind in ("response", "response-95"):
                for of in (None, n):
                    if (kind, of) in self.values:
                        found.append(releases * (self.values[kind, of] - wait))
            for of in (None, n):
                if ("relative-response", of) in self.values:
                    most = (self.values["relative-response", of] + 1) * self.period - 1
                    found.append(releases * (most // (PPM * releases) - wait))
            if network["deadline_ps"] is not None and network.get("max_misses") is None:
                found.append(releases * (network["deadline_ps"] - wait))
            if network.get("deadline_95_ps") is not None:
                found.append(releases * (network["deadline_95_ps"] - wait))
            due = network["deadline_ps"]
            if due is None:
                due = self.period // releases + wait
            late = [
                network.get("max_misses"),
                *(self.values.get(("misses", of)) for of in (None, n)),
            ]
            if any(most is not None and most < releases for most in late):
                found.append(releases * (due - wait))
            ends.append(Fraction(min(found)))
        return ends


def contradicts(sums: BoxSums, weights: Weights, corner: Corner) -> bool:
    """Whether the inequality holds for no design point at or below the corner."""
    if corner.board.model == "free-running":
        return _contradicts_free_run(sums, weights, corner)
    board = corner.board
    share, frames = _share(board), board.document["execution"].get("frames_in_flight", 1)
    overlap = board.model in ("pipeline", "closed-form")
    found = _holds_nowhere(sums, weights, corner, share, frames, of_period=overlap)
    if not found and overlap and weights.energy == 0:
        found = _holds_nowhere(sums, weights, corner, Fraction(1), 1, of_period=False)
    return found


def _holds_nowhere(
    sums: BoxSums,
    weights: Weights,
    corner: Corner,
    share: Fraction,
    frames: int,
    *,
    of_period: bool,
) -> bool:
    """Of T, the makespan or the period of a pipeline."""
    board, lines = corner.board, sums.lines
    if any(v < 0 for (kind, _), v in corner.values.items() if kind == "misses"):
        return True
    least = sum(
        (sums.least(weights, n, share=share) for n in range(len(board.networks))),
        Fraction(0),
    )
    constant = Fraction(0)
    for processor in board.processors:
        weight = weights.segments[processor]
        constant += weight * (board.options[processor]["max_segments"] or 0)
    for weight, (kind, n) in zip(weights.figures, lines.figures, strict=True):
        if weight:
            most = corner.figure(kind, n)
            if most is None:
                return False
            constant += weight * most
    ends: list[Fraction | None]
    if board.model == "rates":
        longest: Fraction | None = Fraction(corner.period)
        ends = [*corner.release_ends()]
    else:
        makespan, ends = corner.frame_end(sums)
        longest = makespan
        if of_period:
            value = corner.values.get(("throughput", None))
            frame = Fraction(sum(corner.images), len(board.networks))
            longest = None if value is None else Fraction(int(value * frame))
    # The right side: a concave function of T, the sum over terms of the least of some lines.
    terms: list[list[Line]] = [[(constant, sums.most(weights, share))]]
    for weight, chain in zip(weights.chains, lines.chains, strict=True):
        if weight == 0:
            continue
        if board.model != "rates":
            least += weight * board.networks[chain[0]]["arrival_ps"]
        end = ends[chain[-1]]
        term: list[Line] = []
        if board.model != "rates" and not (of_period and board.model == "closed-form"):
            term.append((Fraction(0), weight * frames / share))
        if end is not None:
            term.append((weight * end, Fraction(0)))
        if not term:
            return False
        terms.append(term)
    bounds = _energy_lines(sums, corner, of_period=of_period)
    if weights.energy:
        if not bounds:
            return False
        terms.append([(weights.energy * a, weights.energy * b) for a, b in bounds])
    # Dynamic energy is not negative.
    first = Fraction(1)
    if board.model == "rates":
        first = Fraction(corner.period)
    for a, b in bounds if board.model != "pipeline" or of_period else []:
        if b == 0 and a < 0:
            return True
        if b < 0:
            longest = -a / b if longest is None else min(longest, -a / b)
        if b > 0:
            first = max(first, -a / b)
    first = Fraction(first.__ceil__())
    longest = None if longest is None else Fraction(longest.__floor__())
    if longest is not None and longest < first:
        return True
    return _peak_is_below(least, terms, first, longest, whole=True)


def _peak_is_below(
    level: Fraction,
    terms: list[list[Line]],
    first: Fraction,
    longest: Fraction | None,
    *,
    whole: bool,
) -> bool:
    """Whether the sum of the terms, each the least of some lines, stays below a level."""
    times = {first, *([] if longest is None else [longest])}
    for term in terms:
        for (a0, b0), (a1, b1) in combinations(term, 2):
            if b0 != b1:
                at = (a1 - a0) / (b0 - b1)
                # Times are whole; a concave sum has its largest value next to a break.
                near = {Fraction(at.__floor__()), Fraction(at.__ceil__())} if whole else {at}
                times |= {t for t in near if t > first and (longest is None or t < longest)}
    if longest is None and sum(min(b for _, b in term) for term in terms) > 0:
        return False
    return all(sum(min(a + b * t for a, b in term) for term in terms) < level for t in times)


def _energy_lines(sums: BoxSums, corner: Corner, *, of_period: bool) -> list[Line]:
    """What the dynamic energy of a frame, or period, is at most, as lines over T."""
    board, idle = corner.board, sums.idle
    if board.model in ("pipeline", "closed-form") and not of_period:
        return []
    lines: list[Line] = []
    # What is reported is rounded down: by less than 1 fJ, with rates on every unit.
    rounding = len(board.processors) if board.model == "rates" else 0
    fixed = corner.period
    if corner.energy < ANY:
        most = Fraction(corner.energy + rounding)
        lines.append(
            (most, Fraction(-idle)) if fixed is None else (most - idle * fixed, Fraction(0))
        )
    if corner.power is not None:
        if fixed is None:
            lines.append((Fraction(rounding), corner.power - idle))
        else:
            most = Fraction(corner.power * fixed // 1 + rounding)
            lines.append((most - idle * fixed, Fraction(0)))
    return lines


def _share(board: Board) -> Fraction:
    """Of a frame, what every group is sure to execute in a frame's share of the window."""
    if board.model != "pipeline":
        return Fraction(1)
    frames = board.document["execution"]["frames_in_flight"]
    size = sum(
        network["repeats"] * len(groups)
        for network, groups in zip(board.networks, board.groups, strict=True)
    )
    begin = max(frames + 2, -(-2048 // size))
    end = max(2 * frames + 8, -(-8192 // size) - frames + 1)
    ended = end - begin
    return Fraction(max(0, ended - frames + 1), ended + frames - 1)


def _contradicts_free_run(sums: BoxSums, weights: Weights, corner: Corner) -> bool:
    board = corner.board
    count = len(board.networks)
    values = corner.values
    least = [sums.least(weights, n) for n in range(count)]
    rates = []
    for n, network in enumerate(board.networks):
        rate = Fraction(0)
        if network["min_rate_uhz"] is not None:
            rate = Fraction(network["min_rate_uhz"], 10**18 * corner.images[n])
        fairness = values.get(("fairness", None))
        if fairness is not None and fairness < 0:
            rate = max(rate, Fraction(-fairness, PPM * time_alone(board, n)))
        rates.append(rate)
    frames = board.document["execution"]["frames_in_flight"]
    fixed = sums.most(weights) + frames * sum(weights.chains)
    images = corner.images
    lowest = min(d / b for d, b in zip(least, images, strict=True))
    fixed -= sum(r * (d - b * lowest) for r, d, b in zip(rates, least, images, strict=True))
    # Rates of networks that execute nothing count as 0, but are reported as 1 in 2^63 - 1 ps.
    fixed += sum(least) / ANY
    at_least = sum(map(mul, images, rates))
    period = values.get(("throughput", None))
    if period is not None:
        if period <= 0:
            return True
        at_least = max(at_least, Fraction(count, period))
    # lowest x Y <= fixed + energy x X, with Y the images in a time and X the dynamic power.
    powers: list[Line] = []
    if corner.power is not None:
        powers.append((corner.power - sums.idle, Fraction(0)))
    if corner.energy < ANY:
        powers.append((Fraction(-sums.idle), Fraction(corner.energy)))
    for a, b in powers:
        if b == 0 and a < 0:
            return True
        if b > 0:
            at_least = max(at_least, -a / b)
    terms = [[(fixed, -lowest)]]
    if weights.energy:
        if not powers:
            return False
        terms.append([(weights.energy * a, weights.energy * b) for a, b in powers])
    return _peak_is_below(Fraction(0), terms, at_least, None, whole=False)


def time_alone(board: Board, n: int) -> int:
    """The least time of a network on one unit, at any of its operating points."""
    document = board.document
    every = tuple(tuple(range(len(domain["operating_points"]))) for domain in document["domains"])
    repeats = board.networks[n]["repeats"]

    def total(option: int, group: int, setting: tuple[int, ...]) -> int:
        return sum(board.time(option, group, r, setting) for r in range(repeats))

    anywhere = {
        g: min(
            total(o, g, setting)
            for o in range(len(board.options))
            if board.runs(o, g)
            for setting in board.settings(o, every)
        )
        for g in board.groups[n]
    }
    return min(
        sum(total(o, g, setting) if board.runs(o, g) else anywhere[g] for g in board.groups[n])
        for o in range(len(board.options))
        for setting in board.settings(o, every)
    )
