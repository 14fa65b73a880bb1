"""JSON whose numbers stay the decimals that were written, and its schemas. Inexact numbers are
refused."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from paretosoc.common.documents.schema import violation
from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import naming
from paretosoc.common.text import shortened
from paretosoc.platforms.errors import PlatformError

MAX_DIGITS = 30
"""More digits, or exponents beyond this, are refused: no figure of a chip needs them."""


def exact_decimal(text: str) -> Decimal:
    """Return the decimal number that ``text`` writes.

    Raises:
        PlatformError: if it is no number, or has more than ``MAX_DIGITS`` digits or as large an
            exponent.
    """
    try:
        value = Decimal(text)
        exponent = value.as_tuple().exponent
        digits = len(value.as_tuple().digits)
        if digits <= MAX_DIGITS and isinstance(exponent, int) and abs(exponent) <= MAX_DIGITS:
            return value
    except InvalidOperation:
        # No number, or an exponent of more than 18 digits.
        pass
    raise PlatformError(
        f"numbers must have at most {MAX_DIGITS} digits and an exponent of at most "
        f"{MAX_DIGITS}, got {shortened(text)}"
    )


def exact_integer(text: str) -> int:
    """Return the integer that ``text`` writes, without exponent."""
    if len(text) > MAX_DIGITS:
        raise PlatformError(f"numbers must have at most {MAX_DIGITS} digits, got {shortened(text)}")
    return int(text)


def parse_exact(data: bytes, label: str) -> Any:
    """Return the document in ``data``, numbers as ``int`` or ``Decimal``.

    Raises:
        PlatformError: if it is not strict JSON (:func:`common.documents.strict_json.parse_json`),
            or a number is not short. The message begins with ``label``.
    """
    with naming(label, PlatformError, DseError):
        return parse_json(data, integer=exact_integer, decimal=exact_decimal)


def json_numbers(value: Any) -> Any:
    """Return a document with its decimals as JSON numbers that read back as the same."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_numbers(item) for item in value]
    return value


def canonical_json(document: Any) -> bytes:
    """Return ``document`` in one fixed form: sorted keys, no spaces, no trailing zeros in
    numbers."""

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


_PACKAGE = "paretosoc.platforms.data"


def check_against_schema(
    document: Any, schema_name: str, label: str, *, package: str = _PACKAGE
) -> None:
    """Check ``document`` against ``SCHEMA_NAME.schema.json`` of a package.

    Raises:
        PlatformError: naming ``label``, the place (``units[0].name``), the requirement and the
            value.
    """
    found = violation(document, (package, schema_name), ((_PACKAGE, "figures"),))
    if found is not None:
        path, text = found
        # These files are written by people, in YAML, too: without the root of a JSON path.
        place = path.removeprefix("$").removeprefix(".")
        raise PlatformError(f"{label}: {place} {text}" if place else f"{label}: {text}")
