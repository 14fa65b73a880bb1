"""Check documents against the published JSON Schemas, with one clear message for the first
fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any

from paretosoc.common.documents.quick_check import QuickCheck
from paretosoc.common.documents.strict_json import json_path, parse_json
from paretosoc.common.text import did_you_mean

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

MAX_SHOWN = 80
MAX_ERRORS = 100
"""Most errors that are collected, of which the most telling one is named: a table of wrong numbers
has millions."""

SchemaName = tuple[str, str]
"""Package and name: ``("results.io.schemas", "front")`` is ``front.schema.json`` there."""


def read_schema(name: SchemaName) -> dict[str, Any]:
    """Return a published schema."""
    package, stem = name
    document: dict[str, Any] = parse_json(
        (resources.files(package) / f"{stem}.schema.json").read_bytes()
    )
    return document


def violation(
    document: Any, name: SchemaName, shared: tuple[SchemaName, ...] = ()
) -> tuple[str, str] | None:
    """Return the JSON path of a fault and its message, with the requirement and the value. Return
    None for a valid document. 1.0 is no integer.

    Args:
        document: as the strict reader returns it.
        name: the schema.
        shared: schemas that it refers to.

    Raises:
        RecursionError: if the document is nested too deeply.
    """
    quick, place = _quick_check(name, shared)
    if quick.of(place)(document):
        return None
    from jsonschema.exceptions import best_match

    error = best_match(list(islice(_validator(name, shared).iter_errors(document), MAX_ERRORS)))
    assert error is not None, "the quick check has refused it"
    path = json_path(list(error.absolute_path))
    return path, f"{_requirement(error)}, got {shown(error.instance)}"


@cache
def _quick_check(name: SchemaName, shared: tuple[SchemaName, ...]) -> tuple[QuickCheck, str]:
    schemas = [read_schema(one) for one in (name, *shared)]
    return QuickCheck({schema["$id"]: schema for schema in schemas}), f"{schemas[0]['$id']}#"


@cache
def _validator(name: SchemaName, shared: tuple[SchemaName, ...]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry, Resource

    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in map(read_schema, shared)
    )
    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: type(value) is int
    )
    quick, place = _quick_check(name, shared)
    one_by_one = Draft202012Validator.VALIDATORS["items"]

    def items(validator: Any, subschema: Any, values: Any, parent: Any) -> Iterator[Any]:
        # A table of a million numbers may stand before the fault.
        if shared or not quick.check({"items": subschema}, place[:-1])(values):
            yield from one_by_one(validator, subschema, values, parent)

    keywords = {"pattern": _pattern, "items": items}
    extend: Any = validators.extend  # Untyped.
    strict = extend(Draft202012Validator, keywords, type_checker=checker)
    result: Draft202012Validator = strict(read_schema(name), registry=registry)
    return result


def _pattern(validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """Check a pattern. To JSON Schema ``$`` is the end of the text. To Python it is also the place
    before a last line break, which would get into names."""
    from jsonschema.exceptions import ValidationError

    if pattern.endswith("$"):
        pattern = pattern[:-1] + r"\Z"
    if validator.is_type(value, "string") and not re.search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def shown(value: Any) -> str:
    """Return a short text of a JSON value for an error message."""
    if isinstance(value, dict):
        text = "an object with " + (", ".join(map(str, islice(value, 20))) or "nothing")
    elif isinstance(value, list):
        text = f"a list of {len(value)}"
    elif isinstance(value, Decimal):
        text = str(value)
    else:
        text = json.dumps(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def _requirement(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    came: Any = error.instance
    phrases = {
        "type": "must be of type {}",
        "enum": "must be one of {}",
        "const": "must be {}",
        "minimum": "must be at least {}",
        "maximum": "must be at most {}",
        "exclusiveMinimum": "must be above {}",
        "minLength": "must have at least {} characters",
        "maxLength": "must have at most {} characters",
        "minItems": "must have at least {} items",
        "maxItems": "must have at most {} items",
        "minProperties": "must have at least {} entries",
        "pattern": "must match {}",
    }
    if error.validator == "required":
        missing = [key for key in wanted if key not in came]
        return f"must have {', '.join(missing)}"
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        extra = [key for key in came if key not in known]
        hint = did_you_mean(extra[0], known)
        return f"must not have {', '.join(map(repr, extra[:20]))} ({hint})"
    if error.validator == "uniqueItems":
        return "must not have an item twice"
    if error.validator in ("oneOf", "anyOf"):
        return "must have one of the forms that the schema allows"
    if error.validator in phrases:
        plain = wanted if isinstance(wanted, str) else json.dumps(wanted)
        hint = ""
        if error.validator == "enum" and isinstance(came, str):
            hint = did_you_mean(came, [name for name in wanted if isinstance(name, str)], "")
        text = phrases[str(error.validator)].format(plain)
        return f"{text} ({hint})" if hint else text
    return error.message
