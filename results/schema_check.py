"""Documents against the published JSON Schemas, with one short message for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from results.canonical_json import Json, parse
from results.errors import ResultError

MESSAGE_LENGTH = 240


def schema(name: str) -> dict[str, Any]:
    """The schema ``results/schemas/NAME.schema.json``."""
    document = parse((files("results.schemas") / f"{name}.schema.json").read_bytes())
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
        # Long rows of integers: our schemas limit integers by bounds only, so the smallest and
        # the largest decide. A table of a million numbers takes a tenth of a second, not ten.
        if isinstance(values, list) and len(values) > 2 and all(type(v) is int for v in values):
            ends = [min(values), max(values)]
            if all(validator.evolve(schema=subschema).is_valid(end) for end in ends):
                return
        yield from items_one_by_one(validator, subschema, values, parent)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    strict = validators.extend(Draft202012Validator, {"items": items}, type_checker=checker)
    return strict(schema(name))
