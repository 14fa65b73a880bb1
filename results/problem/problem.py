"""The complete numeric problem: all integers that are needed to recompute every objective.

Units: picoseconds, kB/s, milliwatts, femtojoules (mW x ps = fJ), kHz, mV. Arrays are int64 and
read-only. Written to ``problem.json`` as it stands. :mod:`results.problem.problem_file` does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.results.problem.execution import ExecutionModel, OneFrame, Rates
from paretosoc.results.problem.objectives import Objective

MAX_BATCH = 1000
"""Images that a network computes at once."""


@dataclass(frozen=True)
class MemoryPool:
    """A memory that units have in common."""

    name: str
    cap_bytes: int | None = None
    """Bytes that may be held there at most. None: no limit."""


@dataclass(frozen=True, eq=False)
class ContentionTable:
    """Slowdown parameters of one unit at every operating point of the memory, arrays [M].

    The loss of rate of a group with own demand x beside others' demand y, in 1/65536, is the larger
    of two ceilings, at most ``LOSS_LIMIT`` (:mod:`results.problem.arithmetic`), and 0 if y is 0:

    * ``minor``: ceil(min(y, peak) * num / den).
    * If x >= normal, with a = x + balance - total > 0: for x < total
      ceil(clip(x + y - total, 0, a) * num / den) with ``proportional``, else
      ceil(a * min(y, balance) * num / den) with ``intensive``.
    """

    normal_kbps: IntArray
    total_kbps: IntArray
    balance_kbps: IntArray
    peak_kbps: IntArray
    minor_num: IntArray
    minor_den: IntArray
    proportional_num: IntArray
    proportional_den: IntArray
    intensive_num: IntArray
    intensive_den: IntArray


@dataclass(frozen=True, eq=False)
class ProblemDomain:
    """A clock domain: its ladder, slowest first, and the power it draws whenever it is on."""

    name: str
    frequencies_khz: tuple[int, ...]
    voltages_mv: tuple[int | None, ...]
    may_be_off: bool
    static_mw: IntArray
    """[operating points]."""
    allowed: BoolArray
    """[operating points]: those that the search may choose, at least one."""

    @property
    def point_when_off(self) -> int:
        """Return the operating point that a design point names if the domain is off: the first that
        may be chosen. No figure depends on it."""
        return int(self.allowed.argmax())


@dataclass(frozen=True, eq=False)
class ChannelCosts:
    """The cost of a unit's reading and writing channels (Tang Eq. 7), arrays [operating points of
    the domain ``clock``]: the clock of the core that does it, a GPU's host.

    Writing n tokens takes ceil(n * write_fs / 1000) ps.
    """

    clock: int
    write_fs: IntArray
    """Per token."""
    read_fs: IntArray
    """Per token."""
    busy_mw: IntArray
    """Power above idle meanwhile."""


@dataclass(frozen=True, eq=False)
class ProblemUnit:
    """A target of the mapping: a unit or, if several number formats may be chosen, a unit in one of
    them. Tables have shape [groups of all networks, *operating points of ``clocks``].

    All entries of one unit have its clocks and its contention. The first of them has its idle power
    and its limit on segments. Of the others the power is 0, the limit None.
    """

    name: str
    clocks: tuple[int, ...]
    """Domain indices: its own, its host's, the memory's."""
    time_ps: IntArray
    demand_kbps: IntArray
    dynamic_mw: IntArray
    idle_mw: IntArray
    """[*operating points of clocks]: drawn while the unit's own domain is on."""
    contention: ContentionTable | None
    max_segments: int | None = None
    channels: ChannelCosts | None = None
    """Given for the closed form."""
    step_ps: IntArray | None = None
    """Like ``time_ps``: the time that each further repeat takes longer than the one before it, as a
    token of an answer that reads one more entry of a cache. None: all repeats take the same."""
    unit: str | None = None
    """Name of the unit, if several number formats may be chosen. None: ``name``."""
    number_format: str | None = None
    """Given with ``unit``."""
    loss_ppm: IntArray | None = None
    """[groups]: accuracy that a group costs its network in this number format, in millionths of
    the metric. None: not known."""
    weight_bytes: IntArray | None = None
    """[groups]: memory that the constants of a group take in this number format, or 0 on a unit
    whose memory is not described. None: not counted."""
    memory_pool: int = 0
    """The memory that holds them, with the activations of groups on the unit: index of the
    problem's ``memory_pools``, or 0 if it has none."""
    loads_whole_networks: bool = False
    """A network with a group here has the constants of all its groups here, in this number format.
    """

    @property
    def unit_name(self) -> str:
        """Return the name of the unit itself."""
        return self.name if self.unit is None else self.unit

    @property
    def steps_ps(self) -> IntArray:
        """Return ``step_ps``, 0 if there is none."""
        return np.zeros_like(self.time_ps) if self.step_ps is None else self.step_ps


@dataclass(frozen=True)
class ProblemNetwork:
    """One network of the workload: its groups are ``first_group`` and the following."""

    name: str
    first_group: int
    group_names: tuple[str, ...]
    repeats: int = 1
    waits_for: tuple[int, ...] = ()
    """Indices of networks whose last repeat of the same frame must have ended. With rates see
    :meth:`Problem.awaited`."""
    arrival_ps: int = 0
    """Offset from the release of the frame."""
    max_transitions: int | None = None
    deadline_ps: int | None = None
    min_rate_uhz: int | None = None
    """Least images in 10^6 s, only if networks run freely."""
    priority: int = 0
    """A free unit starts a waiting group of the networks with the smallest one."""
    max_loss_ppm: int | None = None
    """Most accuracy that its groups may cost it together, in millionths of the metric."""
    activation_bytes: int = 0
    """Memory that its activations take, all groups in one pool."""
    group_activation_bytes: tuple[int, ...] | None = None
    """Of each of its groups: the bytes of activations while it runs. The largest is
    ``activation_bytes``. None: that for every group."""
    paced: bool = False
    """Repeats are released evenly over the period, each when its time has come and the one before
    has ended."""
    batch: int = 1
    """Images that it computes at once. Its tables are of all of them."""
    batch_wait_ps: int = 0
    """Paced repeats are ready this much later, when the last image of its batch has come. Responses
    count from the first."""
    deadline_95_ps: int | None = None
    """Limits the 95th percentile of its responses. Like the next two, only if networks have
    rates."""
    max_jitter_ps: int | None = None
    """Limits its longest response less its shortest."""
    max_misses: int | None = None
    """Number of responses of a period that may be beyond the deadline. None: none may."""

    @property
    def groups(self) -> range:
        """Return its groups, as indices over all networks."""
        return range(self.first_group, self.first_group + len(self.group_names))

    @property
    def held_bytes(self) -> tuple[int, ...]:
        """Return ``group_activation_bytes``, or ``activation_bytes`` for each group if there are
        none."""
        given = self.group_activation_bytes
        return (self.activation_bytes,) * len(self.group_names) if given is None else given


_ONE_FRAME = OneFrame()


@dataclass(frozen=True, eq=False)
class Problem:
    """Networks, units and clocks with all their numbers, the objectives and the limits.

    ``edges``: (source, target) group indices. ``transition_ps`` [edges, units, units].
    ``handovers``: (source, target) groups of two networks, the second of which waits for the first.
    The target's first repeat reads the result of the source's last repeat (a cache).
    ``handover_ps`` [handovers, units, units]. ``units``: if several number formats may be chosen,
    an entry for each format of a unit. ``allowed`` [groups, units]: the choices of the search
    (support, pins, ``--units``). ``execution``: the sequence of frames, and the time over which
    energy is counted. ``edge_tokens`` [edges]: tokens (tensor elements) that pass an edge in one
    inference, or None if they are not known. ``memory_cap_bytes``: limits the bytes that all
    ``memory_pools`` hold together. None: all units have one. ``searches_priorities``: the search
    chooses priorities below ``PRIORITY_LEVELS``.
    """

    networks: tuple[ProblemNetwork, ...]
    edges: tuple[tuple[int, int], ...]
    transition_ps: IntArray
    domains: tuple[ProblemDomain, ...]
    units: tuple[ProblemUnit, ...]
    memory_domain: int | None
    board_mw: int
    allowed: BoolArray
    objectives: tuple[Objective, ...]
    execution: ExecutionModel = _ONE_FRAME
    power_cap_mw: int | None = None
    energy_budget_fj: int | None = None
    memory_cap_bytes: int | None = None
    memory_pools: tuple[MemoryPool, ...] = ()
    edge_tokens: IntArray | None = None
    handovers: tuple[tuple[int, int], ...] = ()
    handover_ps: IntArray | None = None
    searches_priorities: bool = False

    @cached_property
    def unit_of(self) -> tuple[int, ...]:
        """Return the first entry of the same unit, [units]. It is the entry's own index if one
        number format may be chosen. A unit runs one group at a time, in whichever format."""
        first: dict[str, int] = {}
        return tuple(
            u if unit.unit is None else first.setdefault(unit.unit, u)
            for u, unit in enumerate(self.units)
        )

    @property
    def has_formats(self) -> bool:
        """Return whether number formats are chosen."""
        return any(unit.unit is not None for unit in self.units)

    @property
    def has_priorities(self) -> bool:
        """Return whether networks differ in priority, or may do so."""
        return self.searches_priorities or len({n.priority for n in self.networks}) > 1

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
        """[networks]: images that a network computes in a frame, with rates in a period: its batch
        in each repeat. Repeats of what continues another network are tokens of one answer."""
        continued = {target for _, target in self.handovers}
        return tuple(
            network.batch * (1 if continued & set(network.groups) else network.repeats)
            for network in self.networks
        )

    def late_ps(self, n: int) -> int:
        """Return the longest response of network n, which has a rate, that is no miss: its deadline
        or, without one, the time from release to release, rounded down, plus the time that its
        batch waits.
        """
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
        a repeat of network n waits for, besides its own previous one. Without rates, the first
        repeat waits for their last ones. With rates, release k of R, from 0, waits for their
        release floor(k S / R) of S."""
        network = self.networks[n]
        if repeat > 1 and not network.paced:
            return ()
        return tuple(
            (
                m,
                1 + (repeat - 1) * self.releases(m) // self.releases(n)
                if self.networks[m].paced
                else self.networks[m].repeats,
            )
            for m in network.waits_for
        )

    def priorities(self, design: DesignPoint) -> tuple[int, ...]:
        """Return the priorities of a design point, [networks]."""
        if design.priorities is None:
            return tuple(network.priority for network in self.networks)
        return tuple(design.priorities.tolist())

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
        count = self.repeats.reshape(-1, *([1] * (unit.time_ps.ndim - 1)))
        total = count * unit.time_ps + count * (count - 1) // 2 * unit.steps_ps
        return np.where(unit.time_ps < 0, -1, total)

    def last_ps(self, u: int) -> IntArray:
        """Return the stand-alone times on unit ``u`` of last repeats, the longest ones,
        likewise."""
        unit = self.units[u]
        if unit.step_ps is None:
            return unit.time_ps
        count = self.repeats.reshape(-1, *([1] * (unit.time_ps.ndim - 1)))
        return np.where(unit.time_ps < 0, -1, unit.time_ps + (count - 1) * unit.step_ps)

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


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """A unit for every group and an operating point for every domain (indices, int64).

    ``operating_points`` names one for a domain that is off too: its ``point_when_off``.
    ``priorities`` [networks]: from 0 on without gaps, if they are searched.
    """

    units: IntArray
    operating_points: IntArray
    priorities: IntArray | None = None
