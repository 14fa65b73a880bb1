"""Documents against the published JSON Schemas, with one short message for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from types import NoneType
from typing import Any

from results.errors import ResultError
from results.io.canonical_json import Json, parse

MESSAGE_LENGTH = 240


def schema(name: str) -> dict[str, Any]:
    """The schema ``results/io/schemas/NAME.schema.json``."""
    document = parse((files("results.io.schemas") / f"{name}.schema.json").read_bytes())
    assert isinstance(document, dict)
    return document


def check_against_schema(document: Json, name: str) -> None:
    """Accepts documents that follow the schema; 1.0 is not an integer here.

    Raises:
        ResultError: the first thing that does not follow it, with its JSON path.
    """
    error = next(_validator(name).iter_errors(document), None)
    if error is not None:
        message = error.message
        known = error.schema.get("properties") if isinstance(error.schema, dict) else None
        if error.validator == "additionalProperties" and known:
            message += f"; there are {', '.join(sorted(known))}"
        if len(message) > MESSAGE_LENGTH:
            half = MESSAGE_LENGTH // 2
            message = f"{message[:half]} ... {message[-half:]}"
        raise ResultError(f"{error.json_path}: {message}")


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, validators

    def is_integer(_checker: object, value: object) -> bool:
        return type(value) is int

    items_one_by_one = Draft202012Validator.VALIDATORS["items"]

    def items(validator: Any, subschema: Any, values: Any, parent: Any) -> Iterator[Any]:
        if isinstance(values, list) and len(values) > 2:
            some = _representatives(values)
            one = validator.evolve(schema=subschema)
            if all(one.is_valid(value) for value in some):
                return
        yield from items_one_by_one(validator, subschema, values, parent)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    extend: Any = validators.extend  # Untyped.
    strict = extend(Draft202012Validator, {"items": items}, type_checker=checker)
    return strict(schema(name))


def _representatives(values: Sequence[Any]) -> list[Any]:
    """Few values that are valid only if all ``values``, at least one, are.

    In lists our schemas limit numbers by bounds only, lists by their length, and no property by
    another. So the smallest and the largest stand for many numbers, the longest and the shortest,
    filled with what represents the entries of all, for many lists, and a few objects, in which
    what represents each property stands once, for many objects with the same keys. A table of a
    million numbers takes a tenth of a second then, not half a minute.
    """
    kinds = set(map(type, values))
    if len(kinds) > 1:
        groups = ([value for value in values if type(value) is kind] for kind in kinds)
        return [value for group in groups for value in _representatives(group)]
    if kinds == {list}:
        lengths = list(map(len, values))
        entries = list(chain.from_iterable(values))
        some = _representatives(entries) if entries else []
        return [part for length in {min(lengths), max(lengths)} for part in _filled(some, length)]
    if kinds == {dict}:
        by_keys: dict[tuple[str, ...], list[Any]] = {}
        for value in values:
            by_keys.setdefault(tuple(value), []).append(value)
        return [
            row for keys, rows in by_keys.items() for row in _representative_objects(keys, rows)
        ]
    return list(dict.fromkeys(values)) if kinds <= {str, bool, NoneType} else _ends(values)


def _ends(numbers: Sequence[Any]) -> list[Any]:
    return [min(numbers), max(numbers)]


def _filled(values: list[Any], length: int) -> list[list[Any]]:
    """Lists of this length that hold all of the values, the first as often as needed."""
    if not length:
        return [[]]
    parts = [values[begin : begin + length] for begin in range(0, len(values), length)]
    return [part + values[:1] * (length - len(part)) for part in parts]


def _representative_objects(keys: Sequence[str], objects: Sequence[Any]) -> list[Any]:
    columns = {key: _representatives([value[key] for value in objects]) for key in keys}
    count = max(map(len, columns.values()), default=1)
    return [
        {key: column[min(i, len(column) - 1)] for key, column in columns.items()}
        for i in range(count)
    ]
