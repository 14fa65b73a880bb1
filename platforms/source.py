"""Figures of a platform's files: their sources, and the units that they are written in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any

from paretosoc.common.documents.marks import As, Fault, Key, Keys
from paretosoc.common.units import KBPS_PER_GBPS, PS_PER_MS


class Status(Enum):
    """The trustworthiness of a figure."""

    MEASURED = "measured"
    DERIVED = "derived"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Source:
    """The source of a figure, and whether it was measured, derived or assumed."""

    status: Status
    text: Annotated[str, Key("source")]


def round_half_up(value: Fraction) -> int:
    """Return the nearest integer. Halves go up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def whole(factor: int, unit: str) -> As:
    """Mark an integer that a file has in a larger unit, ``factor`` times this one."""

    def read(value: Any) -> int:
        scaled = Fraction(value) * factor
        if scaled.denominator != 1:
            raise Fault(f"must be a whole number of {unit}, got {value}")
        return scaled.numerator

    return As(int, read, lambda value: value / factor)


def decimal_number(value: int, scale: int) -> int | float:
    """Return value / scale as a JSON number that reads back as that very decimal."""
    if value % scale == 0:
        return value // scale
    return float(Decimal(value) / scale)


def in_ms(least: int) -> As:
    """Mark a time in ps, at least ``least``, that a file has in ms."""
    return As(
        float,
        lambda ms: max(least, round_half_up(Fraction(ms) * PS_PER_MS)),
        lambda ps: decimal_number(max(least, ps), PS_PER_MS),
    )


def pairs(kind: Any) -> As:
    """Mark pairs of a name and a value that a file has as an object."""
    return As(dict[str, kind], lambda entry: tuple(entry.items()), dict)


Sourced = Annotated[
    Source, Keys(Source, lambda source, _: {"source": source}, lambda owner, _: owner.source)
]
"""The source of the figures of an entry, in its keys ``source`` and ``status``."""
Exact = Annotated[Fraction, As(int, Fraction, float)]
Kbps = Annotated[
    int,
    As(
        int,
        lambda gbps: round_half_up(Fraction(gbps) * KBPS_PER_GBPS),
        lambda kbps: kbps / KBPS_PER_GBPS,
    ),
]
Khz = Annotated[int, whole(1000, "kHz")]
Ns = Annotated[int, whole(1000, "ns")]
Shares = tuple[tuple[str, Fraction], ...]
SharesOf = Annotated[Shares, pairs(Exact)]
