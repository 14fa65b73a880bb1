"""A chip as the explorer sees it: units, clock domains, memory, and the source of each figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import hypot
from typing import Annotated

from paretosoc.common.documents.marks import Key
from paretosoc.common.units import NINE_OF_TEN, percent_off
from paretosoc.platforms.deployment import Deployment
from paretosoc.platforms.measurement import NetworkProfile, NetworkTime
from paretosoc.platforms.source import Exact, Kbps, Ns, SharesOf, Source, Sourced, whole

SHARED_POOL = "shared"
"""The memory of units that name no pool, beside others."""


@dataclass(frozen=True)
class OperatingPoint:
    """One (frequency, voltage) pair of a domain. The voltage may come from a model."""

    frequency_khz: int
    voltage_mv: int | None
    label: str = ""


@dataclass(frozen=True)
class Domain:
    """A clock domain and its ladder, slowest point first.

    ``may_be_off``: the domain is switched off, and draws nothing, when nothing mapped needs it.
    ``parked``: index of the point it is held at when no unit of the search uses it.
    ``lowest_host``: of a domain of CPU cores that feed accelerators, index of the slowest point
    that a search with an accelerator is offered. It is 0 (and has no source) if the file gives
    none.
    """

    name: str
    operating_points: tuple[OperatingPoint, ...]
    may_be_off: bool
    parked: int
    ladder_source: Source
    voltage_source: Source
    lowest_host: int = 0
    lowest_host_source: Source | None = None
    fastest: int | None = None
    """Index of the fastest point that a search is offered. None: the last."""

    @cached_property
    def frequencies_khz(self) -> tuple[int, ...]:
        """Return the frequencies of its ladder."""
        return tuple(point.frequency_khz for point in self.operating_points)

    @property
    def offered_khz(self) -> tuple[int, ...]:
        """Return the frequencies that are no faster than a power mode permits."""
        return self.frequencies_khz[: None if self.fastest is None else self.fastest + 1]


@dataclass(frozen=True)
class FitError:
    """Relative errors of the estimate, in percent, of networks that its fit left out.

    ``networks``: how many of the unit, 0 if it was never measured: then its like were left out as a
    whole. ``constant_percent``: the median error of one time per multiply-accumulate, left out
    alike, None if it was never measured. ``unit_percent`` and ``network_percent``: standard errors
    of the logarithm of a time, times 100 (:class:`results.costs.cost_origins.CostError`): what all
    networks have in common, and the rest.
    """

    networks: int
    median_percent: Exact
    p90_percent: Exact
    unit_percent: Exact
    network_percent: Exact
    constant_percent: Exact | None = None

    @property
    def permille(self) -> tuple[int, int]:
        """Return the standard errors ``unit_percent`` and ``network_percent`` in thousandths."""
        return round(10 * float(self.unit_percent)), round(10 * float(self.network_percent))

    @property
    def words(self) -> str:
        """Return the error that fronts state (:func:`results.text.confidence.describe_costs`), and
        that of the networks left out, in words."""
        scale = round(hypot(*self.permille))
        of = "networks" if self.networks else "networks on units like it that were"
        return (
            f"median {percent_off(scale)} %, 90th percentile {percent_off(scale, NINE_OF_TEN)} % "
            f"({of} left out of the fit: {float(self.median_percent):.0f} and "
            f"{float(self.p90_percent):.0f} %)"
        )


@dataclass(frozen=True)
class Tile:
    """The additional computation of a unit beside a layer's multiply-accumulates.

    ``start_macs`` are added for every result, output channels are padded to a multiple of
    ``channels``, and the pixels of a batch to one of ``rows``. A layer with ``packing`` output
    channels computes twice as long: every operand is packed once, whatever the channels.
    ``winograd`` is the side of the tiles of pixels that Winograd's algorithm computes at once in
    3 x 3 convolutions by steps of one; 0 if the unit does not have it. For every result that
    passes a sigmoid, GELU or the like in the same launch ``activation_operations`` are added,
    ``joined_operations`` for each that an element-wise layer computes there and for each element of
    the second of two activations that are multiplied, which is laid out anew, and
    ``result_operations`` for each that leaves the launch, at the rate of elements. The former two
    are computed in vectors of ``lanes`` output channels, and with such vectors the scale and shift
    of a batch normalisation are no operations of their own.
    """

    start_macs: int = 0
    packing: int = 0
    channels: int = 1
    rows: int = 1
    winograd: int = 0
    activation_operations: Exact = Fraction(0)
    joined_operations: Exact = Fraction(0)
    result_operations: Exact = Fraction(0)
    lanes: int = 1


@dataclass(frozen=True)
class Peak:
    """The highest rate of a unit in one number format. Exact decimals are fractions.

    ``macs_per_cycle``: multiply-accumulates per cycle of the unit's own clock. ``efficiency``:
    share of that peak that large layers reach, by class (:mod:`fitness.cost_model.roofline`) or
    kind (``LayerKind`` value). The key ``default`` holds for those not named. If
    ``bandwidth_share`` or ``ns_per_layer`` is None, the unit's holds.
    """

    precision: str
    bytes_per_element: int
    macs_per_cycle: Exact
    efficiency: SharesOf
    source: Sourced
    tile: Tile = Tile()
    bandwidth_share: Exact | None = None
    ns_per_layer: Annotated[Ns | None, Key("us_per_layer")] = None
    ns_per_network: Annotated[Ns, Key("us_per_network")] = 0
    """Fixed time of every inference."""
    reload_tile: int = 0
    """Results along a side of the tiles whose operands are read anew for each. 0: none are."""
    error: FitError | None = None


@dataclass(frozen=True)
class ClockLaw:
    """The overlap of the parts of a time: it takes their p-norm, p = ``overlap`` >= 1."""

    overlap: Exact
    source: Sourced


@dataclass(frozen=True)
class Contention:
    """Three-region slowdown model (PCCS). Bandwidths are in kB/s at the memory's fastest clock.

    ``max_minor_percent`` is MRMC. ``rate_percent_per_gbps`` is rateN.
    """

    normal_bandwidth_kbps: Annotated[Kbps, Key("normal_gbps")]
    total_bandwidth_kbps: Annotated[Kbps, Key("total_gbps")]
    """TBWDC."""
    balance_point_kbps: Annotated[Kbps, Key("balance_gbps")]
    """CBP."""
    peak_bandwidth_kbps: Annotated[Kbps, Key("peak_gbps")]
    """PBW."""
    max_minor_percent: Exact
    rate_percent_per_gbps: Exact
    source: Sourced


@dataclass(frozen=True)
class Sharing:
    """The loss of a unit if engines of several networks run on it at once.

    ``permille``: of the sum of their times. ``least_permille``, ``most_permille``: range of the
    measurements.
    """

    permille: Annotated[int, whole(10, "permille"), Key("percent")]
    least_permille: Annotated[int, whole(10, "permille"), Key("least_percent")]
    most_permille: Annotated[int, whole(10, "permille"), Key("most_percent")]
    source: Sourced


@dataclass(frozen=True)
class PowerTable:
    """Idle and busy power, mW, one entry per operating point of the domain named. Busy >= idle."""

    domain: str
    idle_mw: tuple[int, ...]
    busy_mw: tuple[int, ...]
    source: Source

    @property
    def above_idle_mw(self) -> tuple[int, ...]:
        """Return the busy power less the idle power."""
        return tuple(busy - idle for busy, idle in zip(self.busy_mw, self.idle_mw, strict=True))


@dataclass(frozen=True)
class Rule:
    """A restriction: layers of ``kind`` or ``operation`` that break it cannot run on the unit.

    ``limit`` names the limited quantity (see the platform schema), with inclusive bounds. A rule
    with no limit forbids the kind or operation outright. ``operation`` "*" and ``kind`` None mean
    any.
    """

    reason: str
    source: Sourced
    kind: str | None = None
    operation: str = "*"
    limit: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    allowed: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Unit:
    """A processor that runs one group at a time.

    ``clocks``: names of its domains in order: its own, its host's (if it has one), the memory's.
    ``bandwidth_share``: share of the memory's peak bandwidth that the unit alone can draw. 0: it
    works in memory of its own. ``supported_kinds``, ``unsupported_operations`` and ``rules`` say
    which layers it can run (see :mod:`fitness.cost_model.support`).
    """

    name: str
    kind: str
    clocks: tuple[str, ...]
    host: str | None
    peaks: tuple[Peak, ...]
    bandwidth_share: Fraction
    bandwidth_source: Source
    clock_law: ClockLaw
    fixed_ns_per_layer: int
    """Time of one launch, for every layer that is not fused with the one before it."""
    fixed_own_share: Fraction
    """Share of it that follows the unit's own clock. The rest follows its host's, or none."""
    fixed_source: Source
    separate_operations: frozenset[str]
    """Activations that it does not fuse with the layer before them."""
    power: tuple[PowerTable, ...]
    """Powers, the unit's own domain first. A hosted unit adds its host's."""
    contention: Contention | None
    supported_kinds: tuple[str, ...] | None
    """Layer kinds that it can run at all. None means every kind."""
    unsupported_operations: tuple[str, ...]
    rules: tuple[Rule, ...]
    max_segments: int | None
    """Maximum number of segments that it holds (a DLA core: 16 loadables)."""
    support_source: Source
    kept_bytes: int = 0
    """A network whose constants have no more bytes stays on the chip: it moves nothing."""
    kept_activation_bytes: int = 0
    """A launch whose activations have no more bytes keeps them on the chip: it moves constants."""
    memory_pool: str | None = None
    """The memory that holds weights and activations of its groups. None: the memory that units
    share."""
    loads_whole_networks: bool = False
    """A network with a group here has all its weights here."""
    sharing: Sharing | None = None
    """None: sharing is free."""
    processor_types: tuple[str, ...] = ()
    """Processor types of dataflow graphs whose execution times are cycles of this unit, before its
    name and its kind."""

    @cached_property
    def peak_by_format(self) -> dict[str, Peak]:
        """Return the peak of each number format that it computes in."""
        return {peak.precision: peak for peak in self.peaks}

    def share_of(self, peak: Peak) -> Fraction:
        """Return the share of the memory's peak bandwidth that it can draw with a peak."""
        return self.bandwidth_share if peak.bandwidth_share is None else peak.bandwidth_share


@dataclass(frozen=True)
class Transition:
    """Cost of handing a tensor over: bytes over ``bandwidth_kbps`` plus ``fixed_ns``."""

    unit: str
    out_bandwidth_kbps: Annotated[Kbps, Key("out_gbps")]
    out_fixed_ns: Annotated[Ns, Key("out_us")]
    in_bandwidth_kbps: Annotated[Kbps, Key("in_gbps")]
    in_fixed_ns: Annotated[Ns, Key("in_us")]
    source: Sourced


@dataclass(frozen=True)
class Memory:
    """The shared memory: peak bandwidth = ``bytes_per_cycle`` x the clock of ``domain``."""

    domain: str
    bytes_per_cycle: int
    power: PowerTable
    """Per operating point of the memory's clock: idle, and busy at full bandwidth."""
    source: Source
    capacity_bytes: int | None = None
    """None if boards differ."""


@dataclass(frozen=True)
class MemoryPool:
    """A memory beside the shared one, of one or several units."""

    name: str
    capacity_bytes: Annotated[int, whole(1 << 20, "bytes"), Key("capacity_mib")]
    source: Sourced


@dataclass(frozen=True)
class PeArray:
    """Many engines like ``unit``, for periodic schedules.

    The unit's bandwidth is that of one of ``vaults``. With more engines several share one. A
    transfer within the caches takes bytes over ``cache_bandwidth_kbps`` plus ``cache_fixed_ns``.
    """

    unit: str
    counts: tuple[int, ...]
    vaults: int
    cache_bytes: Annotated[int, whole(1024, "bytes"), Key("cache_kb")]
    """Cache of each engine."""
    cache_bandwidth_kbps: Annotated[Kbps, Key("cache_gbps")]
    cache_fixed_ns: Annotated[Ns, Key("cache_us")]
    source: Sourced


@dataclass(frozen=True)
class Platform:
    """A chip."""

    name: str
    title: str
    domains: tuple[Domain, ...]
    units: tuple[Unit, ...]
    memory: Memory
    transitions: tuple[Transition, ...]
    board_mw: int
    board_source: Source
    default_precision: str
    measurements: tuple[NetworkTime, ...]
    """Times of entire networks, which costs are calibrated on."""
    profiles: tuple[NetworkProfile, ...]
    """Measured groups of networks."""
    sha256: str
    """Hash of the resolved JSON document, in canonical form."""
    deployment: Deployment | None = None
    pe_array: PeArray | None = None
    memory_pools: tuple[MemoryPool, ...] = ()
    reduced_units: frozenset[str] = frozenset()
    """Units of which the power mode turns processors off."""
    file: str = field(default="", compare=False)
    """Path of the user's own file, as it was given."""

    def __repr__(self) -> str:
        units = ", ".join(unit.name for unit in self.units)
        return f"<dse.Platform {self.name}: {units}>"

    @cached_property
    def domain_by_name(self) -> dict[str, Domain]:
        """Map names to clock domains."""
        return {domain.name: domain for domain in self.domains}

    @property
    def knows_power(self) -> bool:
        """Return whether any power is above 0: none is where nobody measured one."""
        tables = (self.memory.power, *(table for unit in self.units for table in unit.power))
        return self.board_mw > 0 or any(any(table.busy_mw) for table in tables)

    @property
    def board_name(self) -> str:
        """Return the name without the power mode."""
        return self.name.partition("@")[0]

    @property
    def measured_name(self) -> str:
        """Return the name under which measurements are kept: without the power mode, if it leaves
        all units their processors."""
        return self.name if self.reduced_units else self.board_name

    @cached_property
    def unit_by_name(self) -> dict[str, Unit]:
        """Map names to units."""
        return {unit.name: unit for unit in self.units}

    @cached_property
    def transition_by_unit(self) -> dict[str, Transition]:
        """Return the cost of handing tensors over, by the unit's name."""
        return {transition.unit: transition for transition in self.transitions}

    @cached_property
    def memory_peak_kbps(self) -> int:
        """Return the peak bandwidth at the memory's fastest clock, in kB/s."""
        fastest = self.domain_by_name[self.memory.domain].frequencies_khz[-1]
        return self.memory.bytes_per_cycle * fastest

    def ladder_khz(self, domain: str) -> tuple[int, ...]:
        """Return the frequencies of a clock domain, slowest first."""
        return self.domain_by_name[domain].frequencies_khz
