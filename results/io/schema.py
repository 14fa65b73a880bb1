"""Documents against the published JSON Schemas, with one short message for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
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
            if some is not None and all(one.is_valid(value) for value in some):
                return
        yield from items_one_by_one(validator, subschema, values, parent)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    extend: Any = validators.extend  # Untyped.
    strict = extend(Draft202012Validator, {"items": items}, type_checker=checker)
    return strict(schema(name))


def _representatives(values: list[Any]) -> list[Any] | None:
    """Few values that are valid only if all ``values`` are, or None where there is no such choice.

    Our schemas limit integers by bounds only, lists by being empty or not, and no property by
    another. So the smallest and the largest number represent a table, and a few rows for a list of
    flat objects. A table of a million numbers takes a tenth of a second then, not half a minute.
    """
    if isinstance(values[0], dict):
        return _representative_rows(values)
    ends = _table_ends(values)
    if ends is None:
        return None
    depth, low, high = ends
    some: list[Any] = [low, high]
    for _ in range(depth - 1):
        some = [some]
    return some


def _table_ends(values: list[Any]) -> tuple[int, int, int] | None:
    """Depth, smallest and largest number of evenly nested lists of integers, none of them empty."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return 1, min(values), max(values)
    if kinds != {list}:
        return None
    inner = [_table_ends(value) for value in values]
    known = [ends for ends in inner if ends is not None]
    if len(known) < len(inner) or len({depth for depth, _, _ in known}) != 1:
        return None
    return known[0][0] + 1, min(low for _, low, _ in known), max(high for _, _, high in known)


def _representative_rows(rows: list[Any]) -> list[Any] | None:
    """Objects with the same keys, every number or text: rows in which each text, and the smallest
    and the largest number of each key, stand once."""
    keys = rows[0].keys()
    if not all(isinstance(row, dict) and row.keys() == keys for row in rows):
        return None
    columns: dict[str, list[Any]] = {}
    for key in keys:
        column = [row[key] for row in rows]
        kinds = set(map(type, column))
        if kinds == {int}:
            columns[key] = [min(column), max(column)]
        elif kinds == {str}:
            columns[key] = sorted(set(column))
        else:
            return None
    count = max((len(column) for column in columns.values()), default=0)
    return [
        {key: column[min(i, len(column) - 1)] for key, column in columns.items()}
        for i in range(count)
    ]
