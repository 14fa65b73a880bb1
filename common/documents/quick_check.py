"""Whether a document follows a JSON Schema, by the keywords that the published schemas use.

jsonschema, which takes a tenth of a second to import and a minute for a table of a million numbers,
is needed only to say what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

Check = Callable[[Any], bool]
"""Returns whether a value is valid."""

_NUMBERS = (int, float, Decimal)
_TYPES: dict[str, Check] = {
    # 1.0 is no integer.
    "integer": lambda value: type(value) is int,
    "number": lambda value: isinstance(value, _NUMBERS) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_OF_NUMBERS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, limit: value >= limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
}
_OF_LENGTHS: dict[str, type[str] | type[list[Any]] | type[dict[str, Any]]] = {
    "Length": str,
    "Items": list,
    "Properties": dict,
}
_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description", "default", "then"})
_WHOLE = frozenset({"type", "minimum", "maximum", "description"})


class QuickCheck:
    """The check of a schema. An unknown keyword is a ``KeyError``.

    Args:
        schemas: by ``$id``, the one to check against and those that it refers to.
    """

    def __init__(self, schemas: Mapping[str, dict[str, Any]]) -> None:
        self._schemas = schemas
        self._known: dict[str, Check] = {}

    def of(self, place: str) -> Check:
        """Return the check of ``ID#/$defs/NAME``, or of ``ID#``."""
        if place not in self._known:
            base, _, path = place.partition("#")
            schema: Any = self._schemas[base]
            for key in path.split("/")[1:]:
                schema = schema[key]
            self._known[place] = self.check(schema, base)
        return self._known[place]

    def check(self, schema: Any, base: str) -> Check:
        """Return the check of a part of the schema with the ``$id`` ``base``."""
        if isinstance(schema, bool):
            return lambda _: schema
        checks = [
            self._keyword(keyword, wanted, schema, base)
            for keyword, wanted in schema.items()
            if keyword not in _ANNOTATIONS
        ]
        return checks[0] if len(checks) == 1 else _all(checks)

    def _keyword(self, keyword: str, wanted: Any, schema: dict[str, Any], base: str) -> Check:
        if keyword == "type":
            kinds = [_TYPES[kind] for kind in ([wanted] if isinstance(wanted, str) else wanted)]
            return kinds[0] if len(kinds) == 1 else _any(kinds)
        if keyword in _OF_NUMBERS:
            compare = _OF_NUMBERS[keyword]
            return lambda value: not isinstance(value, _NUMBERS) or compare(value, wanted)
        if (kind := _OF_LENGTHS.get(keyword[3:])) is not None:
            sign = 1 if keyword.startswith("min") else -1
            return lambda value: not isinstance(value, kind) or sign * len(value) >= sign * wanted
        if keyword in ("enum", "const"):
            allowed = wanted if keyword == "enum" else [wanted]
            if set(map(type, allowed)) == {str}:
                names = frozenset(allowed)
                return lambda value: isinstance(value, str) and value in names
            return lambda value: any(type(value) is type(one) and value == one for one in allowed)
        if keyword == "pattern":
            search = re.compile(wanted[:-1] + r"\Z" if wanted.endswith("$") else wanted).search
            return lambda value: not isinstance(value, str) or search(value) is not None
        if keyword == "required":
            keys = frozenset(wanted)
            return lambda value: not isinstance(value, dict) or keys <= value.keys()
        if keyword == "uniqueItems":
            return lambda value: (
                not isinstance(value, list)
                or not any(one in value[:i] for i, one in enumerate(value))
            )
        if keyword == "$ref":
            place = wanted if not wanted.startswith("#") else base + wanted
            return lambda value: self.of(place)(value)
        if keyword in ("anyOf", "oneOf", "allOf"):
            parts = [self.check(part, base) for part in wanted]
            if keyword == "anyOf":
                return _any(parts)
            least = 1 if keyword == "oneOf" else len(parts)
            return lambda value: sum(check(value) for check in parts) == least
        return self._nested(keyword, wanted, schema, base)

    def _nested(self, keyword: str, wanted: Any, schema: dict[str, Any], base: str) -> Check:
        if keyword == "properties":
            known = {key: self.check(part, base) for key, part in wanted.items()}
            return lambda value: not isinstance(value, dict) or _parts_fit(value, known)
        if keyword == "additionalProperties":
            others, listed = self.check(wanted, base), schema.get("properties", {}).keys()
            if wanted is False:
                return lambda value: not isinstance(value, dict) or value.keys() <= listed
            return lambda value: (
                not isinstance(value, dict)
                or all(others(part) for key, part in value.items() if key not in listed)
            )
        if keyword == "items" and wanted.keys() <= _WHOLE and wanted["type"] == "integer":
            low, high = wanted.get("minimum"), wanted.get("maximum")
            return lambda values: not isinstance(values, list) or _are_whole(values, low, high)
        check = self.check(wanted, base)
        if keyword == "items":
            return lambda values: not isinstance(values, list) or all(map(check, values))
        if keyword == "propertyNames":
            return lambda value: not isinstance(value, dict) or all(map(check, value))
        if keyword == "if":
            then = self.check(schema["then"], base)
            return lambda value: not check(value) or then(value)
        if keyword == "not":
            return lambda value: not check(value)
        raise KeyError(keyword)


def _all(checks: list[Check]) -> Check:
    def check_all(value: Any) -> bool:
        # A loop: all() over a generator takes twice as long.
        for check in checks:  # noqa: SIM110
            if not check(value):
                return False
        return True

    return check_all


def _parts_fit(value: dict[str, Any], known: Mapping[str, Check]) -> bool:
    for key, part in value.items():
        check = known.get(key)
        if check is not None and not check(part):
            return False
    return True


def _any(checks: list[Check]) -> Check:
    return lambda value: any(check(value) for check in checks)


def _are_whole(values: list[Any], low: int | None, high: int | None) -> bool:
    return not values or (
        set(map(type, values)) == {int}
        and (low is None or min(values) >= low)
        and (high is None or max(values) <= high)
    )
