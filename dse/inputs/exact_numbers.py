"""Numbers that are exact as they are written, in decimal, with or without a unit."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational, Real

Number = int | float | Fraction | Decimal

UNIT_SIZES: dict[str, dict[str, int | Fraction]] = {
    "MS": {"us": Fraction(1, 1000), "ms": 1, "s": 1000},
    "W": {"mW": Fraction(1, 1000), "W": 1},
    "MJ": {"mJ": 1, "J": 1000},
    "MB": {"MB": 1, "GB": 1000, "MiB": Fraction(2**20, 10**6), "GiB": Fraction(2**30, 10**6)},
    "HZ": {"Hz": 1},
    "MHZ": {"MHz": 1, "GHz": 1000},
    "PERCENT": {"%": 1},
}
"""Units that may stand behind a number in a text, with their sizes in the option's own unit."""


def exact(value: object) -> Fraction | None:
    """Return a number exactly as it is written in decimal, and None for anything else."""
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    if isinstance(value, Rational):
        return Fraction(value)
    return Fraction(str(value)) if math.isfinite(value) else None


def _of_decimal(number: Decimal) -> Fraction | None:
    # Looked at before it becomes a fraction: 1e999999999 would take all memory.
    if not number.is_finite() or (number and not -100 <= number.adjusted() < 12):
        return None
    return Fraction(number) if number else Fraction(0)


def parse_number(text: str) -> Fraction | None:
    """Return a decimal number, or a quotient of integers such as 1/30, exactly. Return None for any
    other text, and for a number out of range.

    The range is below 10^12, and at most a hundred places.
    """
    if re.fullmatch(r"[0-9]{1,12}/0*[1-9][0-9]{0,11}", text):
        return Fraction(text)
    try:
        return _of_decimal(Decimal(text))
    except InvalidOperation:
        return None


def parse_with_unit(text: str, metavar: str) -> Fraction | None:
    """Return a number (:func:`parse_number`) with or without one of the units of a key of
    ``UNIT_SIZES``, in the option's own unit. Return None for any other text."""
    found = re.fullmatch("([^A-Za-z%]*(?:[eE][-+]?[0-9]+)?) ?([A-Za-z%]+)", text)
    if not found:
        return parse_number(text)
    number, size = parse_number(found[1]), UNIT_SIZES.get(metavar, {}).get(found[2])
    return None if number is None or size is None else number * size


def without_unit(text: str, metavar: str) -> str:
    """Return a text with a number and a unit as one in the option's own unit: ``0.033`` for
    ``33us`` of a time in ms. Return any other text, or one without an exact decimal, as it is."""
    number = None if parse_number(text) is not None else parse_with_unit(text, metavar)
    if number is None:
        return text
    decimal = Decimal(number.numerator) / number.denominator
    return f"{decimal:f}" if Fraction(decimal) == number else text


def clock_text(clock: str | Fraction) -> str:
    """Return a clock as it is written: ``max``, ``min`` or MHz."""
    return clock if isinstance(clock, str) else f"{float(clock):.12g}"


def power(number: Fraction | int) -> str:
    """Return a bound as text, with large and small ones as powers of ten."""
    for exponent in range(6, 13):
        if number in (10**exponent, Fraction(1, 10**exponent)):
            return f"10^{exponent if number > 1 else -exponent}"
    return str(number)
