"""What problem.json says, looked up by name and number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

ANY = 2**63 - 1
FULL_RATE = 65536
MAX_LOSS = 62260

Units = Sequence[int | None] | Mapping[int, int]
"""The option of each group, None if it is open."""
Points = tuple[tuple[int, ...], ...]
"""Operating points left, for every domain."""


class Refused(Exception):
    """What a file says does not follow from the problem."""


def require(holds: bool, message: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise Refused(message)


class Board:
    """A problem document. Options are entries of ``units``; a processor is named by the number of
    its first entry."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.options: list[Any] = document["units"]
        self.networks: list[Any] = document["networks"]
        self.model: str = document["execution"]["model"]
        names = [unit.get("unit", unit["name"]) for unit in self.options]
        self.processor = [names.index(name) for name in names]
        self.processors = sorted(set(self.processor))
        domains = [domain["name"] for domain in document["domains"]]
        self.clocks = [[domains.index(name) for name in unit["clocks"]] for unit in self.options]
        memory = document["memory_domain"]
        self.memory = None if memory is None else domains.index(memory)
        self.groups = [
            range(network["first_group"], network["first_group"] + len(network["group_names"]))
            for network in self.networks
        ]
        self.network_of = [n for n, groups in enumerate(self.groups) for _ in groups]
        self.may_run = [
            tuple(o for o, may in enumerate(row) if may and self.runs(o, g))
            for g, row in enumerate(document["allowed"])
        ]
        self.edges = [(edge["source"], edge["target"]) for edge in document["edges"]]
        self.delay = {
            (edge["source"], edge["target"]): edge["transition_ps"]
            for edge in [*document["edges"], *document.get("handovers", [])]
        }
        self.moves = [unit.get("moves_tensors", False) for unit in self.options]
        self.handovers = [
            (edge["source"], edge["target"]) for edge in document.get("handovers", [])
        ]
        self.sources: dict[int, list[int]] = {g: [] for g in range(len(self.network_of))}
        for source, target in self.edges:
            self.sources[target].append(source)
        self.dispatch = [unit.get("dispatch", "group") for unit in self.options]
        self.overhead = [unit.get("sharing_permille", 0) for unit in self.options]
        position = {network["name"]: n for n, network in enumerate(self.networks)}
        self.waits_for = [
            [position[name] for name in network["waits_for"]] for network in self.networks
        ]

    def runs(self, option: int, group: int) -> bool:
        """Whether the option has a time for the group."""
        entry = self.options[option]["time_ps"][group]
        while isinstance(entry, list):
            entry = entry[0]
        return bool(entry >= 0)

    @cached_property
    def all_points(self) -> Points:
        """Operating points that may be chosen, for every domain."""
        return tuple(
            tuple(k for k, point in enumerate(domain["operating_points"]) if point["allowed"])
            for domain in self.document["domains"]
        )

    def settings(self, option: int, points: Points) -> Iterator[tuple[int, ...]]:
        """Every choice of points for the clocks of an option."""
        return product(*(points[clock] for clock in self.clocks[option]))

    def figure(self, option: int, key: str, group: int, setting: Sequence[int]) -> int:
        """An entry of a table of an option; 0 where it has no such table."""
        return (
            look_up(self.options[option][key][group], setting) if key in self.options[option] else 0
        )

    def time(self, option: int, group: int, repeat: int, setting: Sequence[int]) -> int:
        """Stand-alone time in a repeat, counted from 0."""
        longer = repeat * self.figure(option, "step_ps", group, setting)
        return self.figure(option, "time_ps", group, setting) + longer

    def mover(self, source: int, target: int, units: Units) -> int | None:
        """The group that takes longer for the transition between two, None if nobody does."""
        a, b = units[source], units[target]
        if (source, target) not in self.edges or a is None or b is None:
            return None
        return target if self.moves[b] else source if self.moves[a] else None

    def moving(self, group: int, units: Sequence[int | None]) -> int:
        """How much longer a group takes for transitions that are known to be its own work."""
        return sum(
            self.delay[edge][units[edge[0]]][units[edge[1]]]
            for edge in self.edges
            if self.mover(*edge, units) == group
        )

    def waits(self, source: int, target: int, units: Units) -> int:
        """The delay between two groups whose options are known."""
        if self.mover(source, target, units) is not None:
            return 0
        return int(self.delay[source, target][units[source]][units[target]])

    def open_targets(self, group: int, units: Sequence[int | None]) -> list[int]:
        """The groups without an option on which the time of a group depends."""
        option = units[group]
        if option is None or not self.moves[option]:
            return []
        return [b for a, b in self.edges if a == group and units[b] is None]

    def is_chain(self, network: int) -> bool:
        """Whether each group but the last feeds the next one, and nothing else."""
        groups = self.groups[network]
        mine = sorted(edge for edge in self.edges if edge[0] in groups)
        return mine == [(g, g + 1) for g in groups[:-1]]

    @cached_property
    def chosen_at_once(self) -> set[int]:
        """Networks whose engines are known only once all their groups have an option."""
        if set(self.dispatch) <= {"group"}:
            return set()
        hand = {self.network_of[g] for edge in self.handovers for g in edge}
        return {n for n in range(len(self.networks)) if n in hand or not self.is_chain(n)}

    def continues(self, group: int, units: Sequence[int | None]) -> bool:
        """Whether the group runs in the engine of the one before it."""
        option = units[group]
        return (
            option is not None
            and self.dispatch[option] != "group"
            and group != self.groups[self.network_of[group]][0]
            and units[group - 1] == option
        )

    def engine(self, group: int, units: Sequence[int | None]) -> range:
        """The groups that run without a break, as far as they are known, from this one on."""
        end = group + 1
        while end in self.groups[self.network_of[group]] and self.continues(end, units):
            end += 1
        return range(group, end)

    def loss(self, option: int, group: int) -> int:
        """Accuracy that a group costs there."""
        return int(self.options[option].get("loss_ppm", [0] * (group + 1))[group])

    def weight(self, option: int, group: int) -> int:
        """Bytes of the constants of a group there."""
        return int(self.options[option].get("weight_bytes", [0] * (group + 1))[group])

    def on_for_sure(self, may_use: Sequence[Sequence[int]]) -> set[int]:
        """Domains that are on whichever of the options left every group gets."""
        domains = self.document["domains"]
        on = {d for d, domain in enumerate(domains) if not domain["may_be_off"]}
        for options in may_use:
            on |= set.intersection(*(set(self.clocks[o]) for o in options))
        return on

    def least_idle(self, on: set[int], points: Points) -> int:
        """Idle power if at least these domains are on."""
        total: int = self.document["board_mw"]
        for d in on:
            of_points = self.document["domains"][d]["operating_points"]
            total += min(of_points[k]["static_mw"] for k in points[d])
        for option, unit in enumerate(self.options):
            if self.clocks[option][0] in on:
                # A further clock may be off: idle power does not depend on that one.
                some = tuple(mine or self.all_points[d] for d, mine in enumerate(points))
                settings = self.settings(option, some)
                total += min(look_up(unit["idle_mw"], setting) for setting in settings)
        return total

    def lost(self, option: int, memory_point: int, own: int, others: int) -> int:
        """Of 65536, what contention takes from the rate of a group."""
        table = self.options[option]["contention"]
        if table is None or others == 0:
            return 0
        now = {key: column[memory_point] for key, column in table.items()}

        def share(amount: int, line: str) -> int:
            return -(-amount * now[f"{line}_num"] // now[f"{line}_den"])

        loss = share(min(others, now["peak_kbps"]), "minor")
        room = own + now["balance_kbps"] - now["total_kbps"]
        if own >= now["normal_kbps"] and room > 0:
            if own < now["total_kbps"]:
                loss = max(
                    loss, share(min(max(own + others - now["total_kbps"], 0), room), "proportional")
                )
            else:
                loss = max(loss, share(room * min(others, now["balance_kbps"]), "intensive"))
        asked = own + others
        if "memory_kbps" in now and asked > now["memory_kbps"]:
            loss = max(loss, -(-(asked - now["memory_kbps"]) * FULL_RATE // asked))
        return min(loss, MAX_LOSS)


def look_up(table: Any, setting: Sequence[int]) -> int:
    """The entry of nested lists at these positions."""
    for k in setting:
        table = table[k]
    return int(table)
