"""Options with a number for one network, or memory pool, or for all: ``[NETWORK=]NUMBER``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import MAX_NUMBER, MAX_RELEASES, MIN_NUMBER, parse_number

ByNetwork = tuple[str | None, Fraction]
"""A network, or None for all, and its number."""


@dataclass(frozen=True)
class PerNetwork:
    """Range and meaning of an option that is given per network."""

    option: str
    number: str
    """What stands for it in messages."""
    least: Fraction
    most: Fraction
    bounds: str
    """The two as they are written."""
    is_whole: bool = False
    of: str = "NETWORK"
    """Whose number it is."""

    def parse(self, text: str, what: str | None = None) -> ByNetwork:
        """Parse ``33.3`` or ``NETWORK=33.3``.

        Args:
            text: as it was given.
            what: name of the value in messages, if not the option.

        Raises:
            WorkloadError: if it is no such number, or out of bounds.
        """
        network, equals, number = text.rpartition("=")
        value = parse_number(number)
        is_one = value is not None and (value.denominator == 1 or not self.is_whole)
        if value is None or not is_one or not self.least <= value <= self.most:
            integer = f" with an integer {self.number}" if self.is_whole else ""
            raise WorkloadError(
                f"{what or self.option}: [{self.of}=]{self.number}{integer} {self.bounds} is "
                f"required, got {text!r}"
            )
        return (network if equals else None), value

    def parse_all(
        self, texts: Sequence[str] | None, what: str | None = None
    ) -> tuple[ByNetwork, ...]:
        """Parse each of the texts, or return an empty result for None."""
        return tuple(self.parse(text, what) for text in texts or ())


def _positive(option: str, number: str) -> PerNetwork:
    return PerNetwork(option, number, MIN_NUMBER, Fraction(MAX_NUMBER), "from 10^-9 to 10^9")


def _limit(option: str, number: str) -> PerNetwork:
    return PerNetwork(option, number, Fraction(0), Fraction(10**6), "from 0 to 10^6")


DEADLINE = _positive("--deadline", "MS")
DEADLINE_95 = _positive("--deadline-95", "MS")
MIN_RATE = _positive("--min-rate", "HZ")
MAX_JITTER = _limit("--max-jitter", "MS")
MAX_LOSS = _limit("--max-accuracy-loss", "PERCENT")
MEMORY_CAP = replace(_positive("--memory-cap", "MB"), of="POOL")
MAX_MISSES = PerNetwork(
    *("--max-misses", "N", Fraction(0), Fraction(MAX_RELEASES), f"from 0 to {MAX_RELEASES}"),
    is_whole=True,
)
BATCH = PerNetwork("--batch", "N", Fraction(1), Fraction(10**9), "from 1 to 10^9", is_whole=True)


def in_whole(numbers: Sequence[ByNetwork]) -> tuple[tuple[str | None, int], ...]:
    """Convert the numbers to integers."""
    return tuple((network, int(number)) for network, number in numbers)
