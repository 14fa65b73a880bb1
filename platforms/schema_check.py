"""Checking a document against one of the published JSON Schemas, with one clear message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from platforms.errors import PlatformError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_WORD = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


def read_schema(name: str, package: str = "platforms.data") -> dict[str, Any]:
    """The schema ``NAME.schema.json`` in a package."""
    text = (resources.files(package) / f"{name}.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator(name: str, package: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry, Resource

    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema))
        for schema in (read_schema("figures"), read_schema(name, package))
    )
    extend: Any = validators.extend  # Untyped.
    strict = extend(Draft202012Validator, {"pattern": _pattern})
    result: Draft202012Validator = strict(read_schema(name, package), registry=registry)
    return result


def _pattern(validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """To JSON Schema ``$`` is the end of the text; to Python also the place before a last line
    break, which would get into names."""
    from jsonschema.exceptions import ValidationError

    if pattern.endswith("$"):
        pattern = pattern[:-1] + r"\Z"
    if validator.is_type(value, "string") and not re.search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def json_path(keys: Sequence[str | int]) -> str:
    """``$.units[0].name`` for ``("units", 0, "name")``; keys that are no plain word are quoted."""
    return "$" + "".join(
        f".{key}" if isinstance(key, str) and _WORD.fullmatch(key) else f"[{json.dumps(key)}]"
        for key in keys
    )


def shown(value: Any) -> str:
    """A short text of a JSON value for an error message."""
    if isinstance(value, dict):
        text = "an object with " + (", ".join(map(str, value)) or "nothing")
    elif isinstance(value, list):
        text = f"a list of {len(value)}"
    elif isinstance(value, Decimal):
        text = str(value)
    else:
        text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


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
        return f"must not have {', '.join(map(repr, extra))} (known: {', '.join(known)})"
    if error.validator == "uniqueItems":
        return "must not have an item twice"
    if error.validator in ("oneOf", "anyOf"):
        return "must have one of the forms that the schema allows"
    if error.validator in phrases:
        plain = wanted if isinstance(wanted, str) else json.dumps(wanted)
        return phrases[str(error.validator)].format(plain)
    return error.message


def check_against_schema(
    document: Any, schema_name: str, label: str, *, package: str = "platforms.data"
) -> None:
    """Checks ``document`` against ``SCHEMA_NAME.schema.json`` of a package.

    Raises:
        PlatformError: naming ``label``, the JSON path, what was required and what came.
    """
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(schema_name, package).iter_errors(document))
    except RecursionError:
        raise PlatformError(f"{label}: must be JSON of moderate depth, got deeper") from None
    if error is not None:
        raise PlatformError(
            f"{label}: {json_path(list(error.absolute_path))} {_requirement(error)}, "
            f"got {shown(error.instance)}"
        )
