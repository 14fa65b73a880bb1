"""A predicate of a schema says of every value what the validator says, which is a library's."""

from __future__ import annotations

import copy
import json
import random
import re
from decimal import Decimal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from paretosoc.common.documents.predicates import Predicates
from paretosoc.common.documents.schema import read_schema

ROOT = Path(__file__).parents[3]
ROOMS = ("results/io/schemas", "platforms/data", "fitness/profiles", "dse", "sdf")
FILES = sorted(
    path
    for room in ROOMS
    for path in (ROOT / room).rglob("*.schema.json")
    if path.name != "figures.schema.json"
)
"""Those of documents: figures has definitions for others."""
FIGURES = read_schema(("paretosoc.platforms.data", "figures"))
WRONG = (None, True, False, 0, 1, -1, 1.0, 2.5, Decimal("1.5"), 2**63, "", "x", "a\n", [], {}, [1])


def validator(schema):
    def pattern(of, text, value, _):
        text = re.sub(r"\$\Z", r"\\Z", text)
        if of.is_type(value, "string") and not re.search(text, value):
            yield ValidationError("pattern")

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, v: type(v) is int)
    strict = validators.extend(Draft202012Validator, {"pattern": pattern}, type_checker=checker)
    registry = Registry().with_resources([(FIGURES["$id"], Resource.from_contents(FIGURES))])
    return strict(schema, registry=registry)


def some_value(schema, document, rng, depth=0):
    """Return a value that follows a schema for the most part."""
    if schema is True:
        return rng.choice(WRONG)
    if "$ref" in schema:
        where, _, pointer = schema["$ref"].partition("#")
        target = FIGURES if where else document
        for part in pointer.split("/")[1:]:
            target = target[part]
        return some_value(target, FIGURES if where else document, rng, depth)
    for forms in ("oneOf", "anyOf"):
        if forms in schema:
            return some_value(rng.choice(schema[forms]), document, rng, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type", "object")
    kind = kind if isinstance(kind, str) else rng.choice(kind)
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    most = min(schema.get("maximum", least + 9), least + 9)
    if kind == "object":
        keys = schema.get("properties", {})
        needed = set(schema.get("required", ()))
        value = {
            key: some_value(part, document, rng, depth + 1)
            for key, part in keys.items()
            if key in needed or (depth < 6 and rng.random() < 0.5)
        }
        if isinstance(other := schema.get("additionalProperties"), dict):
            for name in ("a", "b2", "c-3")[: max(1, schema.get("minProperties", 0))]:
                value[name] = some_value(other, document, rng, depth + 1)
        return value
    if kind == "array":
        count = schema.get("minItems", 0) + (rng.randrange(3) if depth < 6 else 0)
        return [
            some_value(schema.get("items", True), document, rng, depth + 1) for _ in range(count)
        ]
    return {
        "integer": lambda: rng.randint(int(least), int(most)),
        "number": lambda: rng.choice([least, most, (least + most) / 2, Decimal(int(most))]),
        "string": lambda: rng.choice(["a", "gpu", "a" * schema.get("minLength", 2), "0" * 64]),
        "boolean": lambda: rng.random() < 0.5,
        "null": lambda: None,
    }[kind]()


def changed(value, rng):
    """Return a copy with another value, another key, one key less or an item twice."""
    copied = copy.deepcopy(value)
    place, at = copied, None
    while isinstance(place, dict | list) and place and rng.random() < 0.85:
        at = place, rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place = place[at[1]]
    if at is None:
        return rng.choice(WRONG)
    parent, key = at
    kind = rng.randrange(4)
    if kind == 0 and isinstance(parent, dict):
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent["other"] = rng.choice(WRONG)
    elif kind == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[key] = rng.choice(WRONG)
    return copied


def parts(schema):
    """Yield a schema and all schemas in it."""
    yield schema
    inner = [
        schema[key]
        for key in ("items", "additionalProperties", "not", "if", "then", "propertyNames")
        if key in schema
    ]
    for key in ("oneOf", "anyOf", "allOf"):
        inner += schema.get(key, ())
    for key in ("properties", "$defs"):
        inner += schema.get(key, {}).values()
    for part in inner:
        if isinstance(part, dict):
            yield from parts(part)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".schema.json"))
def test_a_predicate_agrees_with_the_validator(path):
    """Of a schema and all of its parts: few values that are made at random follow the whole."""
    schema = json.loads(path.read_text("utf-8"))
    predicates, oracle = Predicates(schema, FIGURES), validator(schema)
    rng = random.Random(path.name)
    verdicts = []
    for part in parts(schema):
        follows, of_part = predicates.of(part, schema["$id"]), oracle.evolve(schema=part)
        value = some_value(part, schema, rng)
        for _ in range(4):
            verdicts.append(of_part.is_valid(value))
            assert follows([value]) is verdicts[-1], value
            value = changed(value, rng)
    assert 0.2 * len(verdicts) < sum(verdicts) < 0.8 * len(verdicts)


def test_equal_values_are_those_of_json():
    values = [True, 1, 1.0, False, 0, "1", None, [1], [True], {"a": 1}, {"a": True}]
    unique = {"$id": "u", "uniqueItems": True}
    follows = Predicates(unique).of(unique, "u")
    for value in values:
        for other in values:
            assert follows([[value, other]]) is validator(unique).is_valid([value, other])
            same = {"$id": "c", "const": value}
            assert Predicates(same).of(same, "c")([other]) is validator(same).is_valid(other)
