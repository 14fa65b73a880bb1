"""Check documents against the published JSON Schemas, with one clear message for the first
fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources
from itertools import chain, islice
from types import NoneType
from typing import TYPE_CHECKING, Any

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
    document: Any,
    name: SchemaName,
    shared: tuple[SchemaName, ...] = (),
    *,
    by_representatives: bool = False,
) -> tuple[str, str] | None:
    """Return the JSON path of a fault and its message, with the requirement and the value. Return
    None for a valid document. 1.0 is no integer.

    Args:
        document: as the strict reader returns it.
        name: the schema.
        shared: schemas that it refers to.
        by_representatives: long lists by a few of their values (:func:`_representatives`), for
            schemas that allow it.

    Raises:
        RecursionError: if the document is nested too deeply.
    """
    from jsonschema.exceptions import best_match

    errors = list(
        islice(_validator(name, shared, by_representatives).iter_errors(document), MAX_ERRORS)
    )
    error = best_match(errors)
    if error is None:
        return None
    error = _in_the_form_meant(error)
    path = json_path(list(error.absolute_path))
    return path, f"{_requirement(error)}, got {shown(error.instance)}"


@cache
def _validator(
    name: SchemaName, shared: tuple[SchemaName, ...], by_representatives: bool
) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry, Resource

    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in map(read_schema, shared)
    )
    items_one_by_one = Draft202012Validator.VALIDATORS["items"]

    def items(validator: Any, subschema: Any, values: Any, parent: Any) -> Iterator[Any]:
        if isinstance(values, list) and len(values) > 2:
            some = _representatives(values)
            one = validator.evolve(schema=subschema)
            if all(one.is_valid(value) for value in some):
                return
        yield from items_one_by_one(validator, subschema, values, parent)

    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: type(value) is int
    )
    extend: Any = validators.extend  # Untyped.
    keywords = {"pattern": _pattern} | ({"items": items} if by_representatives else {})
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


def _in_the_form_meant(error: ValidationError) -> ValidationError:
    """Return the fault within the only one of several forms that is of the value's type, if there
    is one."""
    from jsonschema.exceptions import best_match

    while error.validator in ("oneOf", "anyOf"):
        forms: dict[Any, list[ValidationError]] = {}
        for inner in error.context or ():
            forms.setdefault(inner.relative_schema_path[0], []).append(inner)
        meant = [
            faults
            for faults in forms.values()
            if not any(fault.validator == "type" and not fault.relative_path for fault in faults)
        ]
        inner_error = best_match(meant[0]) if len(meant) == 1 else None
        if inner_error is None:
            break
        error = inner_error
    return error


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
        return _forms(error)
    if error.validator in phrases:
        plain = wanted if isinstance(wanted, str) else json.dumps(wanted)
        hint = ""
        if error.validator == "enum" and isinstance(came, str):
            hint = did_you_mean(came, [name for name in wanted if isinstance(name, str)], "")
        text = phrases[str(error.validator)].format(plain)
        return f"{text} ({hint})" if hint else text
    return error.message


def _forms(error: ValidationError) -> str:
    """Return the names, or the keys, of the forms that a value may have."""
    faults = error.context or ()
    if faults and all(fault.validator == "enum" for fault in faults):
        wanted: Any = [fault.validator_value for fault in faults]
        names = list(dict.fromkeys(chain.from_iterable(wanted)))
        hint = did_you_mean(str(error.instance), names, "", most=1)
        return f"must be one of {', '.join(names)}" + (f" ({hint})" if hint else "")
    schemas: Any = error.validator_value
    keys = [", ".join(form["properties"]) for form in schemas if "properties" in form]
    if len(keys) == len(schemas):
        return f"must have keys of one form: {'; or '.join(keys)}"
    return "must have one of the forms that the schema allows"


def _representatives(values: Sequence[Any]) -> list[Any]:
    """Return a few values that are valid only if all ``values``, at least one, are.

    In lists such schemas limit numbers by bounds only, lists by their length (items may repeat),
    and no property by another. So the smallest and the largest stand for many numbers. The longest
    and the shortest list, filled with representatives of all entries, stand for many lists. A few
    objects that hold each representative of a property once stand for many objects with the same
    keys. A table of a million numbers takes a tenth of a second then, not half a minute.
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
        for value, keys in zip(values, map(tuple, values), strict=True):
            by_keys.setdefault(keys, []).append(value)
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
    # The keys are the same ones in the same order, so a column is every so many values.
    values = list(chain.from_iterable(map(dict.values, objects)))
    columns = {key: _representatives(values[k :: len(keys)]) for k, key in enumerate(keys)}
    count = max(map(len, columns.values()), default=1)
    return [
        {key: column[min(i, len(column) - 1)] for key, column in columns.items()}
        for i in range(count)
    ]
