"""The parts of a problem: networks, units, clock domains and memories, with their numbers.

The fields of the classes, with their types and docstrings, declare ``problem.json``
(:mod:`common.documents.marks`). Units: see :mod:`results.problem.problem`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.documents.marks import (
    INT64_MAX,
    Array,
    Choices,
    Count,
    Default,
    Items,
    Key,
    Keys,
    LeftOut,
    Maybe,
    Name,
    NameOf,
    Positive,
    Range,
)
from paretosoc.results.problem.arithmetic import (
    MAX_LOSS_PPM,
    MAX_MEMORY_BYTES,
    MAX_PRIORITY,
    MAX_WEIGHT_BYTES,
    TIME_LIMIT_PS,
)
from paretosoc.results.problem.execution import DISPATCHES, MAX_BATCH
from paretosoc.results.problem.rows import Ladder, columns_of, ladder_of

MAX_SHARING_PERMILLE = 10_000
NO_LIMIT_KBPS = 1 << 46
"""Above the sum of all demands."""

Column = Annotated[IntArray, Items(1), Range(0, INT64_MAX)]
Denominators = Annotated[IntArray, Items(1), Range(1, INT64_MAX)]
Table = Annotated[IntArray, Items(1), Array(None), Range(0, INT64_MAX)]
DomainIndex = Annotated[int, NameOf("domains")]
HeldBytes = Annotated[int, Range(0, MAX_MEMORY_BYTES)]


@dataclass(frozen=True)
class MemoryPool:
    """A memory that units have in common."""

    name: Name
    cap_bytes: Count | None = None
    """Constraint: the pool holds at most this; null: no limit."""


@dataclass(frozen=True, eq=False)
class ContentionTable:
    """Slowdown parameters of one unit at every operating point of the memory, arrays [M].

    The loss of rate of a group with own demand x beside others' demand y, in 1/65536, is the
    largest of three ceilings, at most ``LOSS_LIMIT`` (:mod:`results.problem.arithmetic`), and 0 if
    y is 0:

    * ``minor``: ceil(min(y, peak) * num / den).
    * If x >= normal, with a = x + balance - total > 0: for x < total
      ceil(clip(x + y - total, 0, a) * num / den) with ``proportional``, else
      ceil(a * min(y, balance) * num / den) with ``intensive``.
    * If x + y > memory: ceil(65536 * (x + y - memory) / (x + y)).
    """

    normal_kbps: Column
    total_kbps: Column
    balance_kbps: Column
    peak_kbps: Column
    minor_num: Column
    minor_den: Denominators
    proportional_num: Column
    proportional_den: Denominators
    intensive_num: Column
    intensive_den: Denominators
    memory_kbps: Maybe[Denominators] = None
    """Bandwidth of the memory. All units together get no more of it. No limit if it is left out."""

    @property
    def columns(self) -> dict[str, IntArray]:
        """Return all columns by name. A bandwidth without limit is ``NO_LIMIT_KBPS``."""
        columns: dict[str, IntArray] = vars(self)
        if self.memory_kbps is None:
            return columns | {"memory_kbps": np.full_like(self.peak_kbps, NO_LIMIT_KBPS)}
        return columns


@dataclass(frozen=True, eq=False)
class ProblemDomain:
    """A clock domain: its ladder, slowest first, and the power it draws whenever it is on."""

    name: Name
    frequencies_khz: Annotated[
        tuple[Positive, ...], Items(1), Key("operating_points[*].frequency_khz")
    ]
    voltages_mv: tuple[int | None, ...]
    may_be_off: bool
    """Off, and without static and idle power, when no group is mapped to a unit that has it among
    its clocks."""
    static_mw: Annotated[
        IntArray,
        Range(0, INT64_MAX),
        Key("operating_points[*].static_mw"),
        Keys(Ladder, columns_of, ladder_of, ("frequencies_khz", "voltages_mv", "allowed")),
    ]
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

    clock: DomainIndex
    write_fs: Column
    """Per token."""
    read_fs: Column
    """Per token."""
    busy_mw: Column
    """Power above idle meanwhile."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ProblemUnit:
    """A target of the mapping: a unit or, if several number formats may be chosen, a unit in one of
    them. Tables have shape [groups of all networks, *operating points of ``clocks``].

    All entries of one unit have its clocks and its contention. The first of them has its idle power
    and its limit on segments. Of the others the power is 0, the limit None.
    """

    name: Name
    clocks: Annotated[tuple[DomainIndex, ...], Items(1)]
    """The domains whose operating points its tables depend on. The first is its own."""
    max_segments: Count | None = None
    """Constraint: at most so many stretches of groups of one network with consecutive numbers,
    whatever the edges, in one number format on this unit, over all networks."""
    idle_mw: Table
    """[operating point of each clock in turn]: drawn while its own domain is on."""
    contention: ContentionTable | None
    """How others' memory traffic slows a group on this unit; every list has one entry per operating
    point of the memory domain (one entry if there is none). Null: nothing slows this unit. Let x be
    the group's own demand_kbps, y the sum of the demands of all other units; that of a unit is the
    largest demand_kbps of the groups that it runs. Its loss is 0 if y = 0, else the largest of
    three terms, at most 62260 (95 % of 65536, rounded up). First term: ceil(min(y, peak) *
    minor_num / minor_den). Second term, only if x >= normal and a = x + balance - total > 0: if x <
    total, ceil(clip(x + y - total, 0, a) * proportional_num / proportional_den), else ceil(a *
    min(y, balance) * intensive_num / intensive_den). Third term, only if x + y > memory: ceil(65536
    * (x + y - memory) / (x + y)), so that all units together get at most the memory's
    bandwidth."""
    channels: ChannelCosts | None = None
    """Time and power of reading and writing channels, given if the execution model is closed-form;
    lists have one entry per operating point of the domain named clock. Writing n tokens takes
    ceil(n * write_fs / 1000) ps, reading them ceil(n * read_fs / 1000) ps; meanwhile busy_mw is
    drawn above idle."""
    time_ps: Annotated[IntArray, Items(1), Array(None), Range(-1, TIME_LIMIT_PS - 1)]
    """[group][operating point of each clock in turn]: stand-alone time, or -1 if the unit cannot
    run the group."""
    demand_kbps: Table
    """[group][operating point of each clock in turn]: memory bandwidth that the group asks for
    while it runs alone."""
    dynamic_mw: Table
    """[group][operating point of each clock in turn]: power above idle while the group runs."""
    step_ps: Maybe[Table] = None
    """[group][operating point of each clock in turn]: time that each further repeat in a frame
    takes longer than the one before. Left out if all repeats take the same."""
    unit: Maybe[Name] = None
    """Given if number formats are chosen: the processor."""
    number_format: Maybe[Name] = None
    """Given with unit: the format in which groups of this entry run."""
    loss_ppm: Maybe[Annotated[IntArray, Items(1), Range(0, MAX_LOSS_PPM)]] = None
    """[group]: accuracy that a group on this entry costs its network, in millionths of the metric.
    Given if accuracy is an objective or limited."""
    weight_bytes: Maybe[Annotated[IntArray, Items(1), Range(0, MAX_WEIGHT_BYTES)]] = None
    """[group]: memory that the constants of a group on this entry take. Given if memory is an
    objective or limited. 0 on a unit whose memory is not described."""
    memory_pool: Annotated[int, NameOf("memory_pools"), LeftOut()] = 0
    """Given if there are memory_pools: the one with the weights and activations of groups on this
    entry."""
    loads_whole_networks: Default[bool] = False
    """A network with a group on this entry has the weights of all its groups here."""
    dispatch: Default[Annotated[str, Choices(DISPATCHES)]] = DISPATCHES[0]
    """How the unit takes its work: group by group, an engine at a time, or shared by the engines of
    all networks. Group by group if left out. All entries of one unit have the same."""
    sharing_permille: Default[Annotated[int, Range(0, MAX_SHARING_PERMILLE)]] = 0
    """Given if dispatch is shared: time that k > 1 engines running at once lose beyond k times
    their own time, in thousandths of it. 0 if it is left out."""
    moves_tensors: Default[bool] = False
    """Transitions between this unit and others are its work. All entries of one unit have the
    same. If the target's unit has it, or else the source's, transition_ps is added to the time of
    that group, in every repeat. Otherwise it is a delay and occupies no unit."""

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

    name: Name
    first_group: Count
    """Number of its first group. Groups are numbered through all networks."""
    repeats: Positive = 1
    """Inferences per frame, one after the other, with one mapping."""
    waits_for: tuple[Annotated[int, NameOf("networks")], ...] = ()
    """Networks whose last repeat in the same frame must have ended before this one starts. If the
    execution model is rates, repeat k of r, from 0, if this network is paced, and the first one if
    it is not (r = 1), waits for the end of repeat floor(k s / r) of s of one that is paced, in the
    same frame, and of the last repeat of one that is not."""
    arrival_ps: Count = 0
    """Offset from the release of the frame."""
    max_transitions: Count | None = None
    """Constraint: at most so many edges of this network whose ends are on different units."""
    deadline_ps: Count | None = None
    """Constraint: latency at most this."""
    min_rate_uhz: Positive | None = None
    """Constraint, if the execution model is free-running: its rate (see execution) times the images
    of a frame, batch times repeats, at least this. Else null."""
    priority: Default[Annotated[int, Range(0, MAX_PRIORITY)]] = 0
    """Among groups that wait for a unit, those of the networks with the smallest priority come
    first. 0 if it is left out."""
    max_loss_ppm: Maybe[Count] = None
    """Constraint: the loss_ppm of its groups, each on the unit that it is mapped to, add up to at
    most this. No limit if it is left out."""
    activation_bytes: Default[Annotated[int, Range(1, MAX_MEMORY_BYTES)]] = 0
    """Memory of its activations if all its groups are in one pool. 0 if it is left out."""
    group_activation_bytes: Maybe[Annotated[tuple[HeldBytes, ...], Items(1)]] = None
    """[group of the network]: memory of activations while it runs. The largest is activation_bytes,
    which holds for each if this is left out."""
    paced: Default[bool] = False
    """Repeat k, from 0, is not ready before the frame's release + arrival_ps + floor(k * period_ps
    / repeats), and its latency is the largest over its repeats of end - that instant. False if it
    is left out. Only if the execution model is rates."""
    batch: Default[Annotated[int, Range(2, MAX_BATCH)]] = 1
    """Images that it computes at once. 1 if it is left out. Times, demands and powers are of the
    batch."""
    batch_wait_ps: Default[Positive] = 0
    """A paced network's repeats are ready so much later, when the last image of the batch has come.
    Latencies and responses still count from the first. 0 if it is left out."""
    jitter_ps: Default[Positive] = 0
    """Releases of a paced network may be so much later: only guaranteed latencies and responses,
    which count from the release in time, take it into account. 0 if it is left out. Only if
    guarantee is true."""
    deadline_95_ps: Maybe[Count] = None
    """Constraint, if the execution model is rates: the 95th percentile of its responses at most
    this."""
    max_jitter_ps: Maybe[Count] = None
    """Constraint, if the execution model is rates: its longest response less its shortest at most
    this."""
    max_misses: Maybe[Count] = None
    """Constraint, if the execution model is rates, in place of that of deadline_ps: at most so many
    misses. A miss is a response above deadline_ps or, if that is null, above floor(period_ps /
    repeats) + batch_wait_ps; see misses in front.schema.json."""
    group_names: Annotated[tuple[str, ...], Items(1)] = field(kw_only=True)
    """One name per group, in order."""

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
