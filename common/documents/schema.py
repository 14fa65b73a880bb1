"""Check documents against the published JSON Schemas, with one clear message for the first
fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache, cached_property
from importlib import resources
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from paretosoc.common.documents.predicates import Predicates, to_the_end
from paretosoc.common.documents.strict_json import json_path, parse_json
from paretosoc.common.text import did_you_mean, pluralize

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}
"""The types of JSON in words."""
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
        shared: schemas that it refers to.
    """
    schemas = _Schemas.read(name, *shared)
    try:
        if schemas.follow([document]):
            return None
        from jsonschema.exceptions import best_match

        faults = list(islice(schemas.validator.iter_errors(document), MAX_ERRORS))
        # The first place: best_match takes the last of several in a list.
        place = min((fault.path for fault in faults), key=len, default=None)
        error = best_match([fault for fault in faults if fault.path == place])
    except RecursionError:
        return "$", "must be JSON of moderate depth, got deeper"
    if error is None:
        return None
    error = _in_the_form_meant(error)
    path = json_path(list(error.absolute_path))
    return path, f"{_requirement(error)}, got {shown(error.instance)}"


class _Schemas:
    """A schema and those that it refers to, as a predicate and as the validator that names
    faults."""

    def __init__(self, *names: SchemaName) -> None:
        self._schemas = list(map(read_schema, names))
        self._predicates = Predicates(*self._schemas)
        self.follow = self._predicates.of(self._schemas[0], self._schemas[0]["$id"])

    @staticmethod
    @cache
    def read(*names: SchemaName) -> _Schemas:
        """Return the first of these schemas, which may refer to all."""
        return _Schemas(*names)

    @cached_property
    def validator(self) -> Draft202012Validator:
        """Return the validator."""
        from jsonschema import Draft202012Validator, validators
        from referencing import Registry, Resource

        registry: Registry[Any] = Registry().with_resources(
            (schema["$id"], Resource.from_contents(schema)) for schema in self._schemas
        )
        checker = Draft202012Validator.TYPE_CHECKER.redefine(
            "integer", lambda _checker, value: type(value) is int
        )
        extend: Any = validators.extend  # Untyped.
        keywords = {"pattern": _pattern, "items": self._items, "properties": self._properties}
        strict = extend(Draft202012Validator, keywords, type_checker=checker)
        result: Draft202012Validator = strict(self._schemas[0], registry=registry)
        return result

    def _items(self, validator: Any, schema: Any, value: Any, _: Any) -> Iterator[ValidationError]:
        """Find the faults of the items that have any: few of the numbers of a long table."""
        if isinstance(value, list):
            follow = self._predicates.known(schema)
            for index, item in enumerate(value):
                if not follow([item]):
                    yield from validator.descend(item, schema, path=index)

    def _properties(
        self, validator: Any, schemas: Any, value: Any, _: Any
    ) -> Iterator[ValidationError]:
        """Find the faults of the properties that have any."""
        for name in schemas if isinstance(value, dict) else ():
            if name in value and not self._predicates.known(schemas[name])([value[name]]):
                yield from validator.descend(
                    value[name], schemas[name], path=name, schema_path=name
                )


def _pattern(validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(value, "string") and not re.search(to_the_end(pattern), value):
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
    """Return the fault within the only form of the value's type, or that has its keys, if any."""
    from jsonschema.exceptions import best_match

    while error.validator in ("oneOf", "anyOf"):
        forms: dict[Any, list[ValidationError]] = {}
        for inner in error.context or ():
            forms.setdefault(inner.relative_schema_path[0], []).append(inner)
        meant = list(forms.values())
        for kinds in (("type",), ("required", "additionalProperties")):
            if len(meant) != 1:
                meant = [
                    faults
                    for faults in meant
                    if not any(f.validator in kinds and not f.relative_path for f in faults)
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
        "type": "must be {}",
        "enum": "must be one of {}",
        "const": "must be {}",
        "minimum": "must be at least {}",
        "maximum": "must be at most {}",
        "exclusiveMinimum": "must be above {}",
        "pattern": "must match {}",
    }
    sizes = {
        "minLength": ("least", "character", "characters"),
        "maxLength": ("most", "character", "characters"),
        "minItems": ("least", "item", "items"),
        "maxItems": ("most", "item", "items"),
        "minProperties": ("least", "entry", "entries"),
    }
    if size := sizes.get(str(error.validator)):
        bound, *nouns = size
        return f"must have at {bound} {pluralize(wanted, *nouns)}"
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
        if error.validator == "type":
            kinds = [wanted] if isinstance(wanted, str) else wanted
            plain = " or ".join(map(_KINDS.__getitem__, kinds))
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
    missing: list[Any] = [f.validator_value for f in faults if f.validator == "required"]
    if len(missing) == len(schemas):
        return f"must have {' or '.join(map(', '.join, missing))}"
    of_type = [f for f in faults if f.validator == "type" and not f.relative_path]
    if len(of_type) == len(schemas):
        return f"must be {' or '.join(_KINDS[str(fault.validator_value)] for fault in of_type)}"
    return "must have one of the forms that the schema allows"
