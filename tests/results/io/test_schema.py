"""The quick check of documents says what the plain validator says."""

import copy
import json
import random

import pytest
from jsonschema import Draft202012Validator

from paretosoc.common.documents.quick_check import QuickCheck
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
def test_the_quick_check_knows_every_keyword(name):
    document = schema(name)
    identity = document["$id"]
    assert not QuickCheck({identity: document}).of(f"{identity}#")({})


def test_a_fault_behind_a_long_table_is_named_at_once(make_problem):
    document = json.loads(json.dumps(problem_to_document(make_problem(groups=(2, 1)))))
    document["networks"] = document["networks"][:1] * 20_000 + [{}]
    with pytest.raises(ResultError, match=r"^\$\.networks\[20000\]: must have "):
        check_against_schema(document, "problem")


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
