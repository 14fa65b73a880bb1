"""The quick check of long tables says what the plain validator says."""

import copy
import json
import random

import pytest
from jsonschema import Draft202012Validator

from paretosoc.results.errors import ResultError
from paretosoc.results.front.front_document import front_to_document
from paretosoc.results.io.document import check_against_schema, schema
from paretosoc.results.problem.problem_file import problem_to_document

SCHEMAS = (
    "bounds",
    "certificate",
    "costs",
    "deployment",
    "front",
    "joined",
    "mapping",
    "measurements",
    "periodic",
    "problem",
)
WRONG = (None, -2, -1, 0, 1 << 63, 1.5, "", "x", True, [], [1], [[1, 2, 3]], {}, {"name": 1})


def leaves(value, path=()):
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in items:
            yield from leaves(child, (*path, key))
            yield (*path, key)


@pytest.mark.parametrize("name", ["problem", "front"])
def test_quick_check_agrees_with_the_plain_validator(make_problem, front, name):
    small = make_problem(groups=(2, 1))
    document = problem_to_document(small) if name == "problem" else front_to_document(front)
    document = json.loads(json.dumps(document))
    plain = Draft202012Validator(schema(name))
    check_against_schema(document, name)
    paths = sorted(set(leaves(document)), key=repr)
    rng = random.Random(3)
    accepted = 0
    for _ in range(120):
        spoiled = copy.deepcopy(document)
        place = spoiled
        *before, last = rng.choice(paths)
        for key in before:
            place = place[key]
        place[last] = rng.choice(WRONG)
        sound = plain.is_valid(spoiled)
        accepted += sound
        if sound:
            check_against_schema(spoiled, name)
        else:
            with pytest.raises(ResultError, match=r"^\$"):
                check_against_schema(spoiled, name)
    assert 0 < accepted < 120


@pytest.mark.parametrize("name", SCHEMAS)
def test_entries_of_lists_are_limited_as_the_quick_check_needs_it(name):
    """By bounds, lengths and kinds; no entry by another, no property by another."""
    document = schema(name)
    allowed = {"type", "properties", "additionalProperties", "required", "items", "description"}
    allowed |= {
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "pattern",
        "enum",
        "$ref",
    }
    todo = [entries for part in subschemas(document) if (entries := part.get("items"))]
    seen = []
    while todo:
        part = todo.pop()
        if part in seen:
            continue
        seen.append(part)
        assert set(part) <= allowed, part
        assert all(isinstance(value, str) for value in part.get("enum", ()))
        if "$ref" in part:
            todo.append(document["$defs"][part["$ref"].removeprefix("#/$defs/")])
        todo += [*part.get("properties", {}).values()]
        todo += [part[key] for key in ("items", "additionalProperties") if part.get(key)]
    assert seen


def subschemas(part):
    if isinstance(part, dict):
        yield part
        for child in part.values():
            yield from subschemas(child)
    elif isinstance(part, list):
        for child in part:
            yield from subschemas(child)


def test_only_whole_numbers_are_integers(front):
    document = json.loads(json.dumps(front_to_document(front)))
    document["members"][0]["makespan_ps"] = 1.0
    with pytest.raises(ResultError, match=r"^\$\.members\[0\]\.makespan_ps: .* integer, got 1\.0"):
        check_against_schema(document, "front")


def test_long_messages_are_cut(front):
    document = json.loads(json.dumps(front_to_document(front)))
    document["members"] = {"all of them": document["members"]}
    with pytest.raises(ResultError, match=r"^\$\.members: ") as error:
        check_against_schema(document, "front")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("name", SCHEMAS)
def test_content_too_deep_to_be_checked_is_refused(name):
    deep: object = 1
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(ResultError, match="moderate depth"):
        check_against_schema(dict.fromkeys(schema(name)["required"], deep), name)
