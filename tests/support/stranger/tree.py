"""Replays a proof's tree node by node and closes every lemma by bounds of its own
(docs/concepts/certificate.md, The tree is the proof)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.stranger.board import Board, require
from tests.support.stranger.lemma import (
    MEMBERS,
    PART,
    POWER_LIMIT,
    SPLIT,
    Bound,
    Claim,
    Node,
)
from tests.support.stranger.open_groups import least_loss, least_memory
from tests.support.stranger.timeline import Frame, Moment


def check_tree(problem: Any, claim: Claim, data: bytes) -> dict[str, int]:
    """Counts of lemmas and of open parts, which members close; refuses a tree that is not a proof
    of the claim."""
    return _Tree(Board(problem), claim, read_parts(data)).check()


def read_parts(data: bytes) -> list[list[int]]:
    """The kinds of all nodes, part by part."""

    def number(k: int) -> int:
        require(len(data) >= 24 + 8 * k, "the file ends in its head")
        return int.from_bytes(data[16 + 8 * k : 24 + 8 * k], "little")

    require(data[:16] == b"paretosoc-tree/1", "another format")
    count = number(0)
    require(count <= len(data), "more parts than bytes")
    sizes = [number(1 + part) for part in range(count)]
    at, parts = 24 + 8 * count, []
    for size in sizes:
        require(at + (size + 1) // 2 <= len(data), "the file ends in a part")
        parts.append([data[at + k // 2] >> 4 * (k % 2) & 15 for k in range(size)])
        require(size % 2 == 0 or data[at + size // 2] >> 4 == 0, "the half left over is not 0")
        at += (size + 1) // 2
    require(at == len(data), "bytes are left over")
    require(count > 0, "no part")
    return parts


class _Tree:
    def __init__(self, board: Board, claim: Claim, parts: list[list[int]]) -> None:
        self.board, self.claim, self.parts = board, claim, parts
        self.frame = Frame(board)
        self.next_part = 1
        self.seen = {"lemmas": 0, "open": 0}
        document = board.document
        kinds = {objective["kind"] for objective in claim.objectives}
        framed = board.model in ("frame", "periodic")
        limits = framed and (document["power_cap_mw"], document["energy_budget_fj"]) != (None, None)
        self.counts_power = limits or bool(kinds & {"energy", "power", "energy-per-token"})
        require(
            framed or not kinds & {"energy", "power", "energy-per-token"},
            "energy is not that of a frame",
        )
        self.alike = _interchangeable(board)

    def check(self) -> dict[str, int]:
        root = Node((None,) * len(self.board.network_of), self.board.all_points, Moment())
        queue = [(0, root)]
        while queue:
            part, node = queue.pop(0)
            if not self.parts[part]:
                self._require_closed(f"part {part}", MEMBERS, self._settled(node)[0])
                self.seen["open"] += 1
                continue
            below: list[tuple[int, Node]] = []
            end = self._walk(part, 0, node, below)
            require(end == len(self.parts[part]), f"part {part}: nodes are left over")
            queue += below
        require(self.next_part == len(self.parts), f"part {self.next_part}: no node leads to it")
        return self.seen

    def _walk(self, part: int, at: int, node: Node, below: list[tuple[int, Node]]) -> int:
        """Check a node and all below it; the position of the next one."""
        nodes = self.parts[part]
        require(at < len(nodes), f"part {part}: ends in the middle of a node's children")
        kind = nodes[at]
        if kind == PART:
            require(self.next_part < len(self.parts), f"part {part}: leads to no part")
            below.append((self.next_part, node))
            self.next_part += 1
            return at + 1
        node, choice = self._settled(node)
        if kind == SPLIT:
            require(choice is not None or self._open_domain(node) is not None, "nothing to split")
            at += 1
            for child in self._children(node, choice):
                at = self._walk(part, at, child, below)
            return at
        require(kind <= POWER_LIMIT, f"part {part}: node {at} is of kind {kind}")
        self._require_closed(f"part {part}: node {at}", kind, node)
        self.seen["lemmas"] += 1
        return at + 1

    def _settled(self, node: Node) -> tuple[Node, tuple[str, int] | None]:
        """The node where its frame stops, and the choice that is open there."""
        moment, choice = self.frame.settle(node.moment, node.units, node.points)
        return Node(node.units, node.points, moment), choice

    def _require_closed(self, where: str, kind: int, node: Node) -> None:
        bound = Bound(self.board, self.frame, self.claim, node)
        require(bound.closes(kind), f"{where} is not closed by kind {kind}")

    def _open_domain(self, node: Node) -> int | None:
        """Once the frame is over, a domain whose point still counts."""
        if not self.counts_power:
            return None
        on = self.board.on_for_sure([(u,) for u in node.units if u is not None])
        return next((d for d in sorted(on) if len(node.points[d]) > 1), None)

    def _children(self, node: Node, choice: tuple[str, int] | None) -> Iterator[Node]:
        if choice is not None and choice[0] == "group":
            yield from self._on_units(node, choice[1])
            return
        d = self._open_domain(node) if choice is None else choice[1]
        assert d is not None
        points = node.points[d]
        slower, faster = points[: len(points) // 2], points[len(points) // 2 :]
        for half in (slower, faster) if choice is None else (faster, slower):
            yield Node(node.units, (*node.points[:d], half, *node.points[d + 1 :]), node.moment)

    def _on_units(self, node: Node, group: int) -> Iterator[Node]:
        board = self.board
        used = {board.processor[u] for u in node.units if u is not None}
        network = board.network_of[group]
        limit = board.networks[network]["max_transitions"]
        for option in board.may_run[group]:
            processor = board.processor[option]
            if processor not in used and any(other not in used for other in self.alike[processor]):
                continue
            units = list(node.units)
            units[group] = option
            formats = [o for o, p in enumerate(board.processor) if p == processor]
            rest = range(group + 1, board.groups[network].stop)
            if (
                limit is not None
                and board.is_chain(network)
                and self._transitions(units, network) == limit
                and len(formats) == 1
            ):
                if any(option not in board.may_run[g] for g in rest):
                    continue
                for g in rest:
                    units[g] = option
            if self._obeys(units, network):
                yield Node(tuple(units), node.points, node.moment)

    def _transitions(self, units: Sequence[int | None], network: int) -> int:
        board = self.board
        return sum(
            board.processor[a] != board.processor[b]
            for source, target in board.edges
            if source in board.groups[network]
            and (a := units[source]) is not None
            and (b := units[target]) is not None
        )

    def _obeys(self, units: Sequence[int | None], n: int) -> bool:
        """Whether no limit is broken by a choice for network n, whatever the open groups choose."""
        board = self.board
        network = board.networks[n]
        most = network["max_transitions"]
        if most is not None and self._transitions(units, n) > most:
            return False
        most = network.get("max_loss_ppm")
        if most is not None and least_loss(board, units, board.groups[n]) > most:
            return False
        for processor in board.processors:
            most = board.options[processor]["max_segments"]
            if most is not None and self._segments(units, processor) > most:
                return False
        caps = {pool["name"]: pool["cap_bytes"] for pool in board.document.get("memory_pools", [])}
        caps[None] = board.document.get("memory_cap_bytes")
        return all(
            cap is None or least_memory(board, units, pool) <= cap for pool, cap in caps.items()
        )

    def _segments(self, units: Sequence[int | None], processor: int) -> int:
        board = self.board
        begun = 0
        for groups in board.groups:
            for g in groups:
                option = units[g]
                if option is not None and board.processor[option] == processor:
                    before = None if g == groups[0] else units[g - 1]
                    begun += g == groups[0] or (before is not None and before != option)
        return begun


def _interchangeable(board: Board) -> dict[int, list[int]]:
    """For every processor those before it that it can change places with."""
    alike: dict[int, list[int]] = {}
    for processor in board.processors:
        alike[processor] = [
            other
            for other in board.processors
            if other < processor and _swap(board, other, processor)
        ]
    return alike


def _swap(board: Board, one: int, other: int) -> bool:
    ours, theirs = ([o for o, p in enumerate(board.processor) if p == q] for q in (one, other))
    if len(ours) != len(theirs):
        return False
    turned = {**dict(zip(ours, theirs, strict=True)), **dict(zip(theirs, ours, strict=True))}
    places = [turned.get(o, o) for o in range(len(board.options))]

    def costs(option: int) -> dict[str, Any]:
        unit = board.options[option]
        return {key: unit[key] for key in unit if key not in ("name", "unit")}

    tables = [*board.delay.values()]
    return (
        all(costs(o) == costs(turned[o]) for o in ours)
        and all(row[o] == row[turned[o]] for row in board.document["allowed"] for o in ours)
        and all(
            table[a][b] == table[places[a]][places[b]]
            for table in tables
            for a in range(len(places))
            for b in range(len(places))
        )
    )
