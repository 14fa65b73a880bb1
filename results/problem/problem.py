"""The complete numeric problem: all integers that are needed to recompute every objective.

Units: picoseconds, kB/s, milliwatts, femtojoules (mW x ps = fJ), kHz, mV. Arrays are int64 and
read-only. The fields of the classes, with their types and docstrings, declare ``problem.json``
(:mod:`common.documents.marks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Annotated

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.documents.marks import (
    INT64_MAX,
    Array,
    Count,
    Default,
    Items,
    Key,
    Keys,
    LeftOut,
    Maybe,
    Name,
    Range,
)
from paretosoc.results.problem.arithmetic import BY_NOBODY, BY_SOURCE, BY_TARGET
from paretosoc.results.problem.execution import (
    GROUP,
    MAX_TOLERANCE_PERMILLE,
    SHARED,
    ExecutionModel,
    OneFrame,
    Rates,
    SearchedOrder,
)
from paretosoc.results.problem.objectives import Objective
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.parts import (
    DomainIndex,
    MemoryPool,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from paretosoc.results.problem.rows import Delays, Dependencies, dependencies_of, tables_of

_ONE_FRAME = OneFrame()
Permille = Annotated[int, Range(0, MAX_TOLERANCE_PERMILLE)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Networks, units and clocks with all their numbers, the objectives and the limits."""

    objectives: Annotated[tuple[Objective, ...], Items(1)]
    """The objectives, in order. As numbers all are integers and minimised. See front.schema.json
    for their definitions."""
    execution: ExecutionModel = _ONE_FRAME
    """The order of frames, and the time over which idle power is drawn."""
    power_cap_mw: Annotated[int, Range(0, INT64_MAX // 1000)] | None = None
    """Constraint: mean power at most this."""
    energy_budget_fj: Count | None = None
    """Constraint: energy at most this."""
    memory_cap_bytes: Maybe[Count] = None
    """Constraint: all memory_pools together hold at most this. One pool holds the activation_bytes
    of all networks and the weight_bytes of all groups, each on the unit that it is mapped to, or of
    all its network's groups if the unit loads_whole_networks. No limit if it is left out."""
    memory_pools: Annotated[tuple[MemoryPool, ...], Items(1), LeftOut()] = ()
    """Memories that hold weights and activations. Left out: all units have one. What a pool holds:
    weight_bytes of every group whose entry has this memory_pool and not loads_whole_networks; for
    every network and every entry with loads_whole_networks that one of its groups is mapped to, the
    weight_bytes on that entry of all its groups; and for every network with groups here the largest
    of their group_activation_bytes."""
    board_mw: Count
    """Power that is always drawn."""
    runtime: Maybe[Name] = None
    """The runtime that sets units, limits and ways of taking work; left out: none."""
    searched_order: Maybe[SearchedOrder] = None
    """Whose priorities the search chooses, from 0 to 2 and without gaps, those of groups among the
    groups that may wait for one unit; left out if those of the networks hold."""
    tolerance_permille: Maybe[tuple[Permille, Permille]] = None
    """Every group, in every repeat, takes any time from the first to the second of these, in
    thousandths of t, rounded outwards to 1 ps. Guaranteed latencies hold for all of them. The first
    is at most 1000, the second at least. Given if something is guaranteed."""
    guarantee: Default[bool] = False
    """deadline_ps, and the period if the execution model is periodic, limit guaranteed latencies
    instead of nominal ones; left out if they do not."""
    memory_domain: DomainIndex | None
    """The domain whose operating point selects the contention parameters."""
    domains: Annotated[tuple[ProblemDomain, ...], Items(1)]
    """Clock domains."""
    networks: Annotated[tuple[ProblemNetwork, ...], Items(1)]
    """The workload."""
    edges: Annotated[
        tuple[tuple[int, int], ...],
        Keys(
            Dependencies,
            tables_of,
            dependencies_of,
            ("transition_ps", "edge_tokens", "handovers", "handover_ps"),
        ),
    ]
    """(source, target) group indices."""
    transition_ps: Annotated[Delays, Key("edges[*].transition_ps")]
    """[edges, units, units]."""
    edge_tokens: Annotated[IntArray | None, Range(0, INT64_MAX), Key("edges[*].tokens")] = None
    """[edges]: tokens (tensor elements) that pass in one inference. None: not known."""
    handovers: tuple[tuple[int, int], ...] = ()
    """(source, target) groups of two networks, the second of which waits for the first. The
    target's first repeat reads the result of the source's last repeat (a cache)."""
    handover_ps: Annotated[Delays | None, Key("handovers[*].transition_ps")] = None
    """[handovers, units, units]."""
    allowed: Annotated[BoolArray, Array(2)]
    """[group][unit]: whether the search may map the group to the unit."""
    units: Annotated[tuple[ProblemUnit, ...], Items(1)]
    """Processors. dispatch says how each takes its work. If number formats are chosen, there is an
    entry for each that a processor may run groups in; entries with the same unit are one processor,
    in whichever format it runs. It is what transitions, segments and contention count; idle_mw and
    max_segments of its first entry are its own, those of the others 0 and null. If an edge joins
    groups in two formats on one processor, its transition_ps is the time of converting: no
    transition."""

    @cached_property
    def unit_of(self) -> tuple[int, ...]:
        """Return the first entry of the same unit, [units]. It is the entry's own index if one
        number format may be chosen."""
        first: dict[str, int] = {}
        return tuple(
            u if unit.unit is None else first.setdefault(unit.unit, u)
            for u, unit in enumerate(self.units)
        )

    @property
    def has_formats(self) -> bool:
        """Return whether number formats are chosen."""
        return any(unit.unit is not None for unit in self.units)

    @cached_property
    def queue_of(self) -> tuple[tuple[int, ...], ...]:
        """Return where the groups of each network wait for each entry, [networks][units].

        Queues are numbered as units are: a unit's first entry stands for its queue. On a shared
        unit each network but the first has a queue of its own, numbered from the last unit on by
        network and unit.
        """
        further = count(len(self.units))
        shared = [u for u in sorted(set(self.unit_of)) if self.units[u].dispatch == SHARED]
        rows = [self.unit_of]
        for _ in self.networks[1:]:
            own = {u: next(further) for u in shared}
            rows.append(tuple(own.get(u, u) for u in self.unit_of))
        return tuple(rows)

    @cached_property
    def queue_units(self) -> tuple[int, ...]:
        """Return the unit of each queue, [queues]: an entry of ``unit_of``, or its own index."""
        found = dict(enumerate(self.unit_of))
        for row in self.queue_of:
            found |= dict(zip(row, self.unit_of, strict=True))
        return tuple(found[queue] for queue in sorted(found))

    @property
    def runs_engines(self) -> tuple[bool, ...]:
        """Return whether a unit runs engines, [units]."""
        return tuple(unit.dispatch != GROUP for unit in self.units)

    @cached_property
    def joins_engines(self) -> tuple[bool, ...]:
        """Return of which networks engines may read or be read in their middle: all but chains that
        take nothing over, if a unit runs engines."""
        handed = {self.network_of[g] for handover in self.handovers for g in handover}
        edges = set(self.edges)
        return tuple(
            any(self.runs_engines)
            and (
                n in handed
                or {(g, g + 1) for g in network.groups[:-1]}
                != {edge for edge in edges if edge[0] in network.groups}
            )
            for n, network in enumerate(self.networks)
        )

    @property
    def has_priorities(self) -> bool:
        """Return whether networks differ in priority, or may do so."""
        return self.searched_order is not None or len({n.priority for n in self.networks}) > 1

    @property
    def has_rates(self) -> bool:
        """Return whether networks have rates of their own."""
        return isinstance(self.execution, Rates)

    def releases(self, n: int) -> int:
        """Return how often network n is released in a frame."""
        network = self.networks[n]
        return network.repeats if network.paced else 1

    def __repr__(self) -> str:
        networks = ", ".join(network.name for network in self.networks)
        units = ", ".join(unit.name for unit in self.units)
        return f"<Problem: {networks} on {units}>"

    @cached_property
    def images(self) -> tuple[int, ...]:
        """Return [networks]: the images that a network computes in a frame, or in a period of
        rates.

        These are its batch in each repeat. Repeats of a network that continues another one are
        tokens of one answer.
        """
        continued = {target for _, target in self.handovers}
        return tuple(
            network.batch * (1 if continued & set(network.groups) else network.repeats)
            for network in self.networks
        )

    def late_ps(self, n: int) -> int:
        """Return the longest response of network n, which has a rate, that is no miss: its deadline
        or, without one, the time from release to release, rounded down, plus the time that its
        batch waits."""
        deadline, period = self.networks[n].deadline_ps, self.execution.period_ps
        if deadline is not None:
            return deadline
        assert period is not None, "has_rates"
        return period // self.releases(n) + self.networks[n].batch_wait_ps

    def ready_ps(self, n: int, repeat: int) -> int:
        """Return when a repeat of network n, counted from 0, may begin: when the last image of its
        batch has come."""
        return self.release_ps(n, repeat) + self.networks[n].batch_wait_ps

    def release_ps(self, n: int, repeat: int) -> int:
        """Return when a repeat of network n, counted from 0, is released, from the release of the
        frame. All repeats of a network without releases of its own are released at its arrival."""
        network, period = self.networks[n], self.execution.period_ps
        if not network.paced or period is None:
            return network.arrival_ps
        return network.arrival_ps + repeat * period // network.repeats

    def awaited(self, n: int, repeat: int) -> tuple[tuple[int, int], ...]:
        """Return pairs of a network and a repeat of it, counted from 1, whose end in the same frame
        a repeat of network n waits for: its own previous one, and repeats of others. Without rates,
        the first repeat waits for their last ones. With rates, release k of R, from 0, waits for
        their release floor(k S / R) of S."""
        network = self.networks[n]
        own = ((n, repeat - 1),) if repeat > 1 else ()
        if own and not network.paced:
            return own
        return own + tuple(
            (
                m,
                1 + (repeat - 1) * self.releases(m) // self.releases(n)
                if self.networks[m].paced
                else self.networks[m].repeats,
            )
            for m in network.waits_for
        )

    @cached_property
    def priority_of(self) -> tuple[int, ...]:
        """Return [groups]: the place of the group's priority among all those of
        :meth:`priorities`."""
        if self.searched_order is SearchedOrder.GROUPS:
            return tuple(range(self.group_count))
        return self.network_of

    @property
    def priorities_per_network(self) -> tuple[int, ...]:
        """Return [networks]: the number of priorities that the search chooses."""
        if self.searched_order is SearchedOrder.GROUPS:
            return tuple(len(network.groups) for network in self.networks)
        return (int(self.searched_order is SearchedOrder.NETWORKS),) * len(self.networks)

    @property
    def priority_count(self) -> int:
        """Return the number of priorities that the search chooses."""
        return sum(self.priorities_per_network)

    def priorities(self, design: DesignPoint) -> tuple[tuple[int, ...], ...]:
        """Return [networks]: the priority of all groups, or that of each group if the search orders
        groups."""
        if design.priorities is None:
            return tuple((network.priority,) for network in self.networks)
        ends = np.cumsum(self.priorities_per_network)[:-1]
        return tuple(tuple(each.tolist()) for each in np.split(design.priorities, ends))

    def group_priorities(self, design: DesignPoint) -> IntArray:
        """Return [groups]: the priority of each group."""
        every = np.concatenate(self.priorities(design)).astype(np.int64)
        return every[list(self.priority_of)]

    def transition_count(self, design: DesignPoint) -> int:
        """Return the number of edges whose ends are on different units."""
        units = [self.unit_of[unit] for unit in design.units.tolist()]
        return sum(units[source] != units[target] for source, target in self.edges)

    @property
    def objective_names(self) -> tuple[str, ...]:
        """Names of all objectives in ``front.json``, in their order."""
        return tuple(objective.name_in(self) for objective in self.objectives)

    @property
    def basic_objectives(self) -> tuple[Objective, ...]:
        """Return the objectives, with those of a user's own replaced by what these are computed
        from."""
        names = [network.name for network in self.networks]
        return tuple(part for objective in self.objectives for part in objective.parts(names))

    @property
    def of_parts(self) -> Problem:
        """Return the problem of which a proof is one of this problem, too: objectives of a user's
        own are replaced by their parts. Itself if it has none, or one not declared monotone."""
        own = [each.kind for each in self.objectives if isinstance(each.kind, OwnObjective)]
        if not own or not all(kind.monotone for kind in own):
            return self
        return replace(self, objectives=tuple(dict.fromkeys(self.basic_objectives)))

    def proved_in(self, names: Sequence[str]) -> Problem:
        """Return the problem that a proof about objectives of these names is of: :attr:`of_parts`
        if it has them all, else this one."""
        parts = self.of_parts
        return parts if set(names) <= set(parts.objective_names) else self

    def design_of(self, row: IntArray) -> DesignPoint:
        """Return the design point of a row, the inverse of :attr:`DesignPoint.row`."""
        row = np.array(row, dtype=np.int64)
        units, points, priorities = np.split(row, np.cumsum((self.group_count, len(self.domains))))
        return DesignPoint(units, points, priorities if self.priority_count else None)

    def clocks_khz(self, points: Iterable[int | None]) -> dict[str, int | None]:
        """Return the frequency of each domain at its operating point, or None if it is off."""
        return {
            domain.name: None if point is None else domain.frequencies_khz[point]
            for domain, point in zip(self.domains, points, strict=True)
        }

    @property
    def allowed_points(self) -> list[int]:
        """Return [domains]: the operating points that the search may choose, as a set of bits."""
        return [sum(1 << int(k) for k in np.flatnonzero(d.allowed)) for d in self.domains]

    @property
    def group_count(self) -> int:
        """Groups of all networks."""
        return sum(len(network.group_names) for network in self.networks)

    @property
    def repeats(self) -> IntArray:
        """Return how often each group runs in a frame, [groups]."""
        counts = [network.repeats for network in self.networks]
        sizes = [len(network.group_names) for network in self.networks]
        return np.repeat(np.array(counts, dtype=np.int64), sizes)

    def frame_ps(self, u: int) -> IntArray:
        """Return the sum of the stand-alone times on unit ``u`` of all repeats in a frame, in the
        shape of its ``time_ps``, or -1 if it cannot run a group."""
        unit = self.units[u]
        often = self.repeats.reshape(-1, *([1] * (unit.time_ps.ndim - 1)))
        total = often * unit.time_ps + often * (often - 1) // 2 * unit.steps_ps
        return np.where(unit.time_ps < 0, -1, total)

    def last_ps(self, u: int) -> IntArray:
        """Return the stand-alone times on unit ``u`` of last repeats, the longest ones,
        likewise."""
        unit = self.units[u]
        if unit.step_ps is None:
            return unit.time_ps
        often = self.repeats.reshape(-1, *([1] * (unit.time_ps.ndim - 1)))
        return np.where(unit.time_ps < 0, -1, unit.time_ps + (often - 1) * unit.step_ps)

    @property
    def has_phases(self) -> bool:
        """Return whether repeats take longer and longer, or a network hands over to another."""
        return bool(self.handovers) or any(unit.step_ps is not None for unit in self.units)

    @property
    def handovers_ps(self) -> IntArray:
        """Return ``handover_ps``, empty if there are none."""
        units = len(self.units)
        empty = np.zeros((0, units, units), dtype=np.int64)
        return empty if self.handover_ps is None else self.handover_ps

    @property
    def network_of(self) -> tuple[int, ...]:
        """Return the network of each group, [groups]."""
        return tuple(n for n, network in enumerate(self.networks) for _ in network.groups)

    @cached_property
    def mover(self) -> IntArray:
        """Return whose work a transition is, [units, units]: ``BY_SOURCE``, ``BY_TARGET``, or
        ``BY_NOBODY`` if it is a delay."""
        moves = np.array([unit.moves_tensors for unit in self.units])
        source = np.where(moves[:, None], BY_SOURCE, BY_NOBODY)
        return np.where(moves[None], BY_TARGET, source).astype(np.int64)

    @cached_property
    def delay_ps(self) -> IntArray:
        """Return the part of ``transition_ps`` that is no unit's work, [edges, units, units]."""
        return np.where(self.mover == BY_NOBODY, self.transition_ps, 0)

    def moving_ps(self, units: IntArray) -> IntArray:
        """Return how much longer groups take for the transitions that are their units' work.

        Args:
            units: [..., groups]: unit of each group.

        Returns:
            [..., groups]
        """
        added = np.zeros(units.shape, dtype=np.int64)
        ends = np.array(self.edges, dtype=np.int64).reshape(-1, 2).T
        at = units[..., ends[0]], units[..., ends[1]]
        mover, moved = self.mover[at], self.transition_ps[(np.arange(len(self.edges)), *at)]
        for groups, whose in zip(ends, (BY_SOURCE, BY_TARGET), strict=True):
            own = np.where(mover == whose, moved, 0)
            np.add.at(np.moveaxis(added, -1, 0), groups, np.moveaxis(own, -1, 0))
        return added

    @cached_property
    def most_moving_ps(self) -> IntArray:
        """Return the largest :meth:`moving_ps` of a group on each unit, [groups, units]."""
        most = np.zeros((self.group_count, len(self.units)), dtype=np.int64)
        for e, ends in enumerate(self.edges):
            for axis, whose in ((1, BY_SOURCE), (0, BY_TARGET)):
                own = np.where(self.mover == whose, self.transition_ps[e], 0)
                most[ends[1 - axis]] += own.max(axis=axis)
        return most


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """A unit for every group and an operating point for every domain (indices, int64).

    ``operating_points`` names one for a domain that is off too: its ``point_when_off``.
    ``priorities`` [networks, or groups]: from 0 on without gaps, if they are searched.
    """

    units: IntArray
    operating_points: IntArray
    priorities: IntArray | None = None

    def points_of(self, unit: ProblemUnit) -> tuple[int, ...]:
        """Return the operating points of a unit's clocks."""
        return tuple(int(self.operating_points[clock]) for clock in unit.clocks)

    def place_of(self, problem: Problem, group: int) -> tuple[ProblemUnit, tuple[int, ...]]:
        """Return the unit of a group, and the place of its figures in the unit's tables."""
        unit = problem.units[int(self.units[group])]
        return unit, (group, *self.points_of(unit))

    @property
    def row(self) -> IntArray:
        """Return it as one row: the units of the groups, then the operating points of the domains,
        then the priorities if they are searched."""
        parts = [self.units, self.operating_points]
        if self.priorities is not None:
            parts.append(self.priorities)
        return np.concatenate(parts).astype(np.int64)
