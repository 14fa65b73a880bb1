"""Measured times of networks on a platform's units, at clocks that the record names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from paretosoc.common.documents.marks import Key
from paretosoc.platforms.source import Source, in_ms

Clocks = tuple[tuple[str, int], ...]
"""(domain, kHz) pairs: the clocks that a measurement was made at."""


@dataclass(frozen=True)
class NetworkTime:
    """The time of an entire network on one unit, alone on the chip.

    ``names``: the network's names, the first being the source's own. ``macs``: of the network that
    was measured, to distinguish another network of the same name. ``time_ps``: None if the source
    has the network, but no time of it on these units: it counts as not supported there.
    """

    names: tuple[str, ...]
    macs: int
    units: tuple[str, ...]
    time_ps: int | None
    precision: str
    clocks_khz: Clocks
    source: Source


@dataclass(frozen=True)
class UnitMeasurement:
    """A measurement of one group or layer on one unit. Fields that were not measured are None.

    ``traffic_kbps`` is what reaches the memory. ``requested_kbps`` is what the busiest part of the
    memory system does, as a share of the memory's peak; contention reads it in place of the
    traffic. ``power_mw`` is the power above idle while it runs. ``note`` is the source of these
    figures, if it says more than the record's source.
    """

    unit: str
    time_ps: int | None
    traffic_kbps: int | None
    requested_kbps: int | None
    power_mw: int | None
    note: str = ""


@dataclass(frozen=True)
class PartMeasurement:
    """One group of a network, or one or several of its layers.

    ``names`` is the group's name, or the layers that were measured together. If it is empty, groups
    are matched by their order, and by ``convolutions``, the number of convolution layers in the
    group, if that is given.
    """

    names: tuple[str, ...]
    convolutions: int | None
    units: tuple[UnitMeasurement, ...]


@dataclass(frozen=True)
class TransitionMeasurement:
    """The time of handing a tensor from one unit to another after a group (name or index)."""

    after: str | int
    source_unit: Annotated[str, Key("from")]
    target_unit: Annotated[str, Key("to")]
    time_ps: Annotated[int, in_ms(0), Key("ms")]


@dataclass(frozen=True)
class NetworkProfile:
    """Measurements of one network's groups or layers at one set of clocks.

    ``macs`` None: any network of that name.
    """

    names: tuple[str, ...]
    macs: int | None
    precision: str
    clocks_khz: Clocks
    groups: tuple[PartMeasurement, ...]
    layers: tuple[PartMeasurement, ...]
    transitions: tuple[TransitionMeasurement, ...]
    source: Source
    batch: int = 1
    """Images that were computed at once. ``macs`` are of one."""


@dataclass(frozen=True)
class Comparison:
    """The measured time of a network, or of most of it, on a unit, and the platform file's estimate
    of the same at the same clocks."""

    network: str
    unit: str
    precision: str
    measured_ps: Annotated[int, in_ms(1), Key("ms")]
    estimated_ps: Annotated[int, in_ms(1), Key("estimate_ms")]


MACS_TOLERANCE = Fraction(8, 100)
"""Largest difference between the multiply-accumulates of a network and those of the measured one.
Variants of one architecture (strides of a residual block in the 3x3 or the 1x1 convolution: 6 % for
ResNet-50) pass. The model zoo's GoogLeNet with floor pooling (9.5 % below Caffe's) does not."""


def plain_name(name: str) -> str:
    """Return ``name`` in lower case without punctuation. ``ResNet-50`` and ``resnet50`` are the
    same."""
    return "".join(character for character in name.lower() if character.isalnum())


def is_same_network(
    name: str, macs: int, names: tuple[str, ...], measured_macs: int | None
) -> bool:
    """Return whether a network is the one that a record measured, by its name and its work."""
    if plain_name(name) not in {plain_name(other) for other in names}:
        return False
    return measured_macs is None or abs(macs - measured_macs) <= measured_macs * MACS_TOLERANCE
