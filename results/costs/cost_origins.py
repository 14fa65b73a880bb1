"""The origins of the costs in a problem: the content of each group, and the source of each
figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import hypot
from typing import Annotated

from paretosoc.common.documents.marks import As, Default, Maybe, Name, Positive, Range, Sha256
from paretosoc.results.problem.arithmetic import TIME_LIMIT_PS
from paretosoc.results.problem.parts import ProblemDomain


class CostOrigin(Enum):
    """The origin of a cost. A measurement always wins over a calibration, and that over an
    estimate. Times of tasks and of dataflow graphs are given in their files."""

    MEASURED = "measured"
    GIVEN = "given"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"
    CANNOT_RUN = "cannot run"


MAX_ERROR_PERMILLE = 2000
Permille = Annotated[int, Range(0, MAX_ERROR_PERMILLE)]


@dataclass(frozen=True)
class CostError:
    """How far the costs of a group on a unit may be off.

    Each figure is a standard error of a natural logarithm, in thousandths: the scale of Student's t
    with ``common.units.TAIL`` degrees of freedom. The errors add up.
    """

    unit: Permille = 0
    """Error of times that all groups on the unit have in common, in one number format."""
    network: Permille = 0
    """Error of times that the groups of the network have in common on the unit."""
    group: Permille = 0
    """Error of the group's share of the time of its network there."""
    power: Permille = 0
    """Error of the power above idle, common to all groups on the unit."""
    clock: Permille = 0
    """Error of the exponents by which the network's time there follows each clock of the unit, in
    thousandths: at a clock x times slower or faster than the one of ``at_khz``, the logarithm of a
    time is off by this error times log(x)."""
    at_khz: Default[
        Annotated[
            tuple[tuple[str, int], ...],
            As(dict[str, Positive], lambda clocks: tuple(clocks.items()), dict),
        ]
    ] = ()
    """Clocks that the time was measured at, by domain. The fastest of each domain that is not
    named."""

    @property
    def of_network(self) -> int:
        """Return that of the time of the entire network."""
        return round(hypot(self.unit, self.network))

    def known_khz(self, domains: Sequence[ProblemDomain]) -> list[int]:
        """Return the clock in kHz, [domains], at which the clock adds no error to a time: that of
        the measurement, else the fastest of the board."""
        measured = dict(self.at_khz)
        return [measured.get(domain.name, int(domain.frequencies_khz[-1])) for domain in domains]


@dataclass(frozen=True)
class UnitOrigin:
    """The origin of the costs of a group on one unit."""

    origin: CostOrigin
    text: str
    """The source of a measurement, or why the unit cannot run the group. May be empty."""
    error: CostError = CostError()


@dataclass(frozen=True)
class GroupOrigins:
    """One group: its layers, and the origin of its costs on each unit of the problem."""

    name: str
    layers: tuple[str, ...]
    macs: int
    """Multiply-accumulates of one inference."""
    parameters: int
    by_unit: tuple[UnitOrigin, ...]


@dataclass(frozen=True)
class NetworkSource:
    """The model that a network was read from."""

    reference: str
    """A name of the catalogue, or the file's path as it was given. Empty for a task."""
    sha256: Sha256
    """Digest of the graph: inputs, outputs, layers and channels, without the values of weights."""
    dimensions: Annotated[
        tuple[tuple[str, int], ...],
        As(dict[str, Annotated[int, Range(1)]], lambda sizes: tuple(sizes.items()), dict),
    ] = ()
    """Sizes that were given for dynamic dimensions."""
    batch: Default[Annotated[int, Range(2)]] = 1
    """Images that it computes at once. 1 if it is left out."""
    is_task: Default[bool] = False
    """Whether it is no network, but a task, whose digest is that of its times, or a dataflow graph,
    whose digest is that of its file."""


@dataclass(frozen=True)
class NetworkOrigins:
    """The groups of one network, in the problem's order, and the model they were cut from."""

    name: str
    source: NetworkSource
    groups: tuple[GroupOrigins, ...]


@dataclass(frozen=True)
class StretchRun:
    """A stretch of a network that ran over and over on a unit."""

    network: Name
    first_group: Annotated[int, Range(0)]
    """Counted from 0 within the network."""
    last_group: Annotated[int, Range(0)]
    unit: Name
    """As in problem.json, with its number format if there are several."""
    time_ps: Annotated[int, Range(1, TIME_LIMIT_PS - 1)]
    """Time of one inference meanwhile: of the measured stretch, if this one ran beside it."""

    @property
    def words(self) -> str:
        """Return ``net groups 3 to 5 on dla0``."""
        last = "" if self.last_group == self.first_group else f" to {self.last_group}"
        return f"{self.network} group{last and 's'} {self.first_group}{last} on {self.unit}"


@dataclass(frozen=True)
class CostMeasurement(StretchRun):
    """A stretch of a network that ran alone on the board, over and over."""

    clocks_khz: dict[str, Positive | None]
    """Frequency of each clock domain of the problem; null if it is off."""
    power_mw: Maybe[Positive] = None
    """Power of the board meanwhile. Left out if it was not measured."""
    idle_mw: Maybe[Positive] = None
    """Power of the board at these clocks while nothing runs. Given with power_mw."""
    beside: Maybe[StretchRun] = None
    """What ran on another unit beside it then, in time_ps. Left out if it ran alone only."""


@dataclass(frozen=True)
class CostOrigins:
    """The origins of all costs in a problem: its networks, their groups, its units, in its order.

    ``precision``: the number format that the costs hold for.
    """

    precision: str
    networks: tuple[NetworkOrigins, ...]
    idle_error: Permille = 0
    """Error of the power that is drawn whatever runs, as the figures of :class:`CostError`."""
    demand_error: Permille = 0
    """Error of the bandwidth that groups ask for, as far as others are slowed by it, by unit."""
    sharing_error: Permille = 0
    """Error of the overheads of units that several networks share."""
    measured: tuple[CostMeasurement, ...] = ()
    """Measured since the problem was written, whose costs stay."""
