"""The quick check of long tables says what the plain validator says."""

import copy
import json
import random

import pytest
from jsonschema import Draft202012Validator

from results.errors import ResultError
from results.front.front_document import front_to_document
from results.io.schema import check_against_schema, schema
from results.problem.problem_file import problem_to_document

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


def test_only_whole_numbers_are_integers(front):
    document = json.loads(json.dumps(front_to_document(front)))
    document["members"][0]["makespan_ps"] = 1.0
    with pytest.raises(ResultError, match=r"^\$\.members\[0\]\.makespan_ps: 1\.0 is not of type"):
        check_against_schema(document, "front")


def test_long_messages_are_cut(front):
    document = json.loads(json.dumps(front_to_document(front)))
    document["members"] = {"all of them": document["members"]}
    with pytest.raises(ResultError, match=r"^\$\.members: ") as error:
        check_against_schema(document, "front")
    assert len(str(error.value)) < 300
