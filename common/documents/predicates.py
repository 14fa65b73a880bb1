"""Schemas as predicates: whether values follow one, without saying why not.

A predicate takes many values at once: a table is checked as one list of numbers, and many objects
key by key. So it is hundreds of times as fast as the validator that finds the fault, which is then
needed for faults only. The two agree on every value. The keywords are those that the published
schemas use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from operator import ge, gt, le
from types import NoneType
from typing import Any

Predicate = Callable[[Sequence[Any]], bool]
"""Whether all values of a list follow a schema."""
_Schema = Mapping[str, Any]
_ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "default", "then"}
_NUMBERS: set[type] = {int, float, Decimal}
_TYPES: Mapping[str, set[type]] = {
    # 1.0 is no integer here, nor is true.
    "integer": {int},
    "number": _NUMBERS,
    "string": {str},
    "boolean": {bool},
    "array": {list},
    "object": {dict},
    "null": {NoneType},
}
_BOUNDS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any, Any], bool]]] = {
    "minimum": (min, ge),
    "maximum": (max, le),
    "exclusiveMinimum": (min, gt),
}
_SIZES: Mapping[str, tuple[Any, str]] = {
    "minLength": (str, "minimum"),
    "maxLength": (str, "maximum"),
    "minItems": (list, "minimum"),
    "maxItems": (list, "maximum"),
    "minProperties": (dict, "minimum"),
    "maxProperties": (dict, "maximum"),
}
_FORMS: Mapping[str, Callable[[int, int], bool]] = {
    "allOf": lambda right, forms: right == forms,
    "anyOf": lambda right, _: right > 0,
    "oneOf": lambda right, _: right == 1,
    "not": lambda right, _: right == 0,
}


class Predicates:
    """The predicates of schemas that refer to each other."""

    def __init__(self, *schemas: _Schema) -> None:
        self._documents = {schema["$id"]: schema for schema in schemas}
        self._referred: dict[tuple[str, str], Predicate] = {}
        self._known: dict[int, Predicate] = {}

    def known(self, part: _Schema | bool) -> Predicate:
        """Return the predicate of a part of one of the schemas, itself, not a copy of it."""
        return self._known[id(part)]

    def of(self, schema: _Schema | bool, base: str) -> Predicate:
        """Return the predicate of a schema, or part of one, in the document with the id
        ``base``."""
        checks = (
            []
            if isinstance(schema, bool)
            else [
                self._keyword(name, wanted, schema, base)
                for name, wanted in schema.items()
                if name not in _ANNOTATIONS
            ]
        )
        self._known[id(schema)] = lambda values: (
            not values or (schema is not False and all(check(values) for check in checks))
        )
        return self._known[id(schema)]

    def _keyword(self, name: str, wanted: Any, schema: _Schema, base: str) -> Predicate:
        if name in _BOUNDS:
            in_bounds = _within(name, wanted)
            return lambda values: in_bounds([v for v in values if type(v) in _NUMBERS])
        if name in _SIZES:
            kind, bound = _SIZES[name]
            of_size = _within(bound, wanted)
            return lambda values: of_size([len(v) for v in values if type(v) is kind])
        if name in _FORMS:
            is_right = _FORMS[name]
            checks = [self.of(form, base) for form in ([wanted] if name == "not" else wanted)]
            return lambda values: all(
                is_right(sum(check([value]) for check in checks), len(checks)) for value in values
            )
        match name:
            case "$ref":
                return self._reference(wanted, base)
            case "type":
                names = [wanted] if isinstance(wanted, str) else wanted
                kinds = set[type]().union(*(_TYPES[name] for name in names))
                return lambda values: set(map(type, values)) <= kinds
            case "enum" | "const":
                allowed = set(map(_identity, wanted if name == "enum" else [wanted]))
                return lambda values: set(map(_identity, values)) <= allowed
            case "pattern":
                search = re.compile(to_the_end(wanted)).search
                return lambda values: all(map(search, _of(str, values)))
            case "uniqueItems":
                return lambda values: all(
                    len(set(map(_identity, value))) == len(value) for value in _of(list, values)
                )
            case "items":
                check = self.of(wanted, base)
                return lambda values: check(list(chain.from_iterable(_of(list, values))))
            case "required":
                keys = set(wanted)
                return lambda values: all(keys <= value.keys() for value in _of(dict, values))
            case "propertyNames":
                check = self.of(wanted, base)
                return lambda values: check(list(chain.from_iterable(_of(dict, values))))
            case "properties":
                return self._properties(wanted, base)
            case "additionalProperties":
                check, known = self.of(wanted, base), set(schema.get("properties", ()))
                return lambda values: check(
                    [value[key] for value in _of(dict, values) for key in value.keys() - known]
                )
            case "if":
                condition, then = self.of(wanted, base), self.of(schema.get("then", True), base)
                return lambda values: then([value for value in values if condition([value])])
        raise NotImplementedError(f"keyword {name}")

    def _reference(self, reference: str, base: str) -> Predicate:
        document, _, pointer = reference.partition("#")
        key = document or base, pointer
        if key not in self._referred:
            schema: Any = self._documents[key[0]]
            for part in pointer.split("/")[1:]:
                schema = schema[part]
            # A definition may refer to itself.
            self._referred[key] = lambda values: not values or self._referred[key](values)
            self._referred[key] = self.of(schema, key[0])
        return self._referred[key]

    def _properties(self, properties: _Schema, base: str) -> Predicate:
        checks = [(key, self.of(schema, base)) for key, schema in properties.items()]

        def follow(values: Sequence[Any]) -> bool:
            objects = _of(dict, values)
            return not objects or all(
                check([value[key] for value in objects if key in value]) for key, check in checks
            )

        return follow


def _within(bound: str, limit: Any) -> Predicate:
    extreme, compare = _BOUNDS[bound]
    return lambda values: not values or compare(extreme(values), limit)


def _of(kind: type, values: Sequence[Any]) -> list[Any]:
    return [value for value in values if type(value) is kind]


def to_the_end(pattern: str) -> str:
    """Return a pattern for Python. To JSON Schema ``$`` is the end of the text. To Python it is
    also the place before a last line break, which would get into names."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _identity(value: Any) -> Any:
    """Return what is equal for equal JSON values: true is not 1, but 1.0 is."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(_identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((key, _identity(part)) for key, part in value.items()))
    return value
