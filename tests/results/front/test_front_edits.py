"""Fronts and problems that were edited at random, or forged, are refused."""

import dataclasses
import json
import random

import numpy as np
import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.front.front import HypervolumePoint
from paretosoc.results.front.front_document import front_from_document, front_to_document
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256, parse
from paretosoc.results.problem.problem import DesignPoint
from paretosoc.results.problem.problem_file import problem_from_bytes


def random_edit(document, rng):
    """Changes one value or key somewhere, or takes a part away or doubles it."""
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.85:
            place = place[key]
            continue
        break
    value = place[key]
    if rng.random() < 0.2:
        del place[key]
    elif isinstance(place, list) and rng.random() < 0.2:
        place.append(value)
    elif isinstance(place, dict) and rng.random() < 0.1:
        place[f"{key}x"] = place.pop(key)
    elif type(value) is int and rng.random() < 0.6:
        place[key] = value + rng.choice([-1, 1, -(10**9), 10**9, 1 << 63])
    elif isinstance(value, str) and value and rng.random() < 0.6:
        place[key] = value[1:]
    else:
        place[key] = rng.choice([None, True, -1, 0, 1.5, "", "gpu", [], {}, [[]], 1e300])


def attempt(read):
    """What ``read`` gives, or None and the complaint; any other error is a failure."""
    try:
        return read(), ""
    except ResultError as error:
        return None, str(error)


def test_random_edits_of_the_front_are_refused_or_mean_the_same(front, folder):
    original = parse((folder / "front.json").read_bytes())
    problem = problem_from_bytes((folder / "problem.json").read_bytes())
    rng = random.Random(7)
    refused = 0
    for _ in range(150):
        document = json.loads(json.dumps(original))
        random_edit(document, rng)
        again, complaint = attempt(lambda content=document: front_from_document(content, problem))
        if again is None:
            assert complaint.startswith("$")
            assert "\n" not in complaint
            refused += 1
        else:
            assert front_to_document(again) == original
    assert refused > 135


def test_random_edits_of_the_problem_are_refused(folder):
    path = folder / "problem.json"
    original = parse(path.read_bytes())
    meaning = front_to_document(read_results(folder))
    rng = random.Random(8)
    for _ in range(70):
        document = json.loads(json.dumps(original))
        random_edit(document, rng)
        path.write_bytes(canonical_bytes(document))
        if document == original:
            continue
        with pytest.raises(ResultError, match=r"(problem|front)\.json: \$"):
            read_results(folder)
    path.write_bytes(canonical_bytes(original))
    assert front_to_document(read_results(folder)) == meaning


@pytest.mark.parametrize("name", ["front.json", "problem.json"])
def test_random_bytes_are_refused_or_mean_the_same(folder, name):
    path = folder / name
    data = path.read_bytes()
    meaning = front_to_document(read_results(folder))
    rng = random.Random(9)
    for _ in range(60):
        at, length = rng.randrange(len(data)), rng.choice([1, 1, 1, 2, 30, 4000])
        middle = rng.choice([b"", bytes([rng.randrange(256)]), b"0", b" ", b"\x00", data[:20]])
        path.write_bytes(data[:at] + middle + data[at + length :])
        again, complaint = attempt(lambda: read_results(folder))
        if again is None:
            assert ".json: " in complaint
        else:
            assert front_to_document(again) == meaning


def resigned(document):
    """As a forger would leave it: the content hash made right again."""
    document.pop("content_sha256")
    document["content_sha256"] = content_sha256(document)
    return document


def set_value(path, value):
    def forge(document):
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value

    return forge


MEMBER = ("members", 0)
FORGERIES = {
    "objective": (
        set_value((*MEMBER, "objectives", "energy_fj"), lambda v: v - 1),
        r"\$\.members\[0\]\.objectives\['energy_fj'\]: must be",
    ),
    "makespan": (set_value((*MEMBER, "makespan_ps"), lambda v: v - 1), "must be"),
    "unit": (set_value((*MEMBER, "mapping", "vgg19", 0), "npu"), r"vgg19\[0\]: must be one of"),
    "too few units": (set_value((*MEMBER, "mapping", "vgg19"), ["gpu"]), "must name 6 units"),
    "clock": (
        set_value((*MEMBER, "operating_points", "emc", "frequency_khz"), 5),
        r"operating_points\['emc'\]: no such",
    ),
    "off": (
        set_value((*MEMBER, "operating_points", "emc"), None),
        r"'emc'\]: the domain must be on",
    ),
    "a schedule": (lambda d: d["members"][0].update(schedule=[]), "schedule"),
    "latency": (set_value((*MEMBER, "latencies_ps", "vgg19"), 5), "makespan_ps: must be"),
    "energy of a unit": (
        set_value((*MEMBER, "energy_by_unit_fj", "gpu"), 1 << 60),
        "energy_by_unit_fj",
    ),
    "order": (lambda d: d["members"].reverse(), "order of the first objective"),
    "twice": (lambda d: d["members"].insert(0, d["members"][0]), "is dominated by, or equal to"),
    "seed as float": (set_value(("provenance", "seed"), 0.0), r"\$\.provenance\.seed"),
    "another problem": (set_value(("problem_sha256",), "0" * 64), "not that of problem.json"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_named(front, folder, name):
    forge, complaint = FORGERIES[name]
    path = folder / "front.json"
    document = json.loads(path.read_bytes())
    forge(document)
    path.write_bytes(canonical_bytes(resigned(document)))
    with pytest.raises(ResultError, match=complaint) as error:
        read_results(folder)
    assert str(error.value).startswith(f"{path}: $")


def test_unsound_fronts_are_not_written(front, tmp_path):
    member = front.members[0]
    elsewhere = DesignPoint(np.zeros_like(member.design.units), member.design.operating_points)
    point = HypervolumePoint(1, float("nan"))
    for spoiled in (
        dataclasses.replace(front, members=(member, member)),
        dataclasses.replace(front, members=(dataclasses.replace(member, design=elsewhere),)),
        dataclasses.replace(front, members=(dataclasses.replace(member, energy_fj=0),)),
        dataclasses.replace(front, members=(dataclasses.replace(member, objectives=(1,)),)),
        dataclasses.replace(
            front, provenance=dataclasses.replace(front.provenance, convergence=(point,))
        ),
    ):
        with pytest.raises(ResultError, match=r"\$"):
            write_results(tmp_path / "run", spoiled, pictures=False)
        assert list(tmp_path.iterdir()) == []
