"""JSON whose numbers stay the decimals that were written; refuses what could not be exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from platforms.errors import PlatformError

MAX_DIGITS = 30
"""More digits, or exponents beyond this, are refused: no figure of a chip needs them."""


def exact_decimal(text: str) -> Decimal:
    """The decimal number that ``text`` writes.

    Raises:
        PlatformError: where it has more than ``MAX_DIGITS`` digits, or such an exponent.
    """
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    digits = len(value.as_tuple().digits)
    if digits > MAX_DIGITS or not isinstance(exponent, int) or abs(exponent) > MAX_DIGITS:
        raise PlatformError(
            f"numbers must have at most {MAX_DIGITS} digits and an exponent of at most "
            f"{MAX_DIGITS}, got {_shortened(text)}"
        )
    return value


def exact_integer(text: str) -> int:
    """The same for a whole number without exponent."""
    if len(text) > MAX_DIGITS:
        raise PlatformError(
            f"numbers must have at most {MAX_DIGITS} digits, got {_shortened(text)}"
        )
    return int(text)


def _not_a_number(text: str) -> Any:
    raise PlatformError(f"numbers must be finite, got {text}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise PlatformError(f"key {_shortened(key)!r} is there twice in one object")
        result[key] = value
    return result


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def parse_exact(data: bytes, label: str) -> Any:
    """The document in ``data``, numbers as ``int`` or ``Decimal``.

    Raises:
        PlatformError: where it is not UTF-8 JSON, has a key twice, or a number that is not finite
            or not short; the message begins with ``label``.
    """
    parse: Callable[..., Any] = json.loads
    try:
        return parse(
            data.decode("utf-8-sig"),
            parse_float=exact_decimal,
            parse_int=exact_integer,
            parse_constant=_not_a_number,
            object_pairs_hook=_unique_keys,
        )
    except PlatformError as error:
        raise PlatformError(f"{label}: {error}") from None
    except UnicodeDecodeError:
        raise PlatformError(f"{label}: must be JSON in UTF-8, got other bytes") from None
    except json.JSONDecodeError as error:
        raise PlatformError(
            f"{label}: must be JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise PlatformError(f"{label}: must be JSON of moderate depth, got deeper") from None


def canonical_json(document: Any) -> bytes:
    """``document`` in one fixed form: sorted keys, no spaces, numbers without trailing zeros."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            fraction = Fraction(value)
            return (
                fraction.numerator
                if fraction.denominator == 1
                else f"{fraction.numerator}/{fraction.denominator}"
            )
        return value

    return json.dumps(plain(document), sort_keys=True, separators=(",", ":")).encode()


def rounded_half_up(value: Fraction) -> int:
    """The nearest whole number; halves go up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
