"""Exact searches that were ended and go on, and snapshots that do not belong to the problem."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from dse.certificate import branch_and_bound as exact_search
from dse.certificate.fastest import find_fastest
from dse.certificate.snapshot import STATE_FIELDS, Snapshot
from fitness.branch_and_bound.search_tree import PROGRESS
from fitness.simulate import row_of
from results.errors import ResultError
from results.front.certificate import LemmaTable
from tests.support.problems.random_spaces import random_limited_problem

DEPTH, LEMMAS, MEMBERS = (PROGRESS.names.index(name) for name in ("depth", "lemmas", "members"))


def test_ended_early_at_every_node_and_gone_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 1)
    rng = np.random.default_rng(7)
    checked = 0
    for _ in range(30):
        problem = random_limited_problem(rng)
        whole = find_fastest(problem)
        if whole.nodes > 300 or whole.best_value is None:
            continue
        part = find_fastest(problem, time_limit_s=0.0)
        nodes = 1
        bounds = [part.bound]
        while not part.complete:
            assert part.nodes == nodes
            assert part.bound <= whole.best_value
            part = find_fastest(problem, time_limit_s=0.0, resume_from=through_json(part.snapshot))
            bounds.append(part.bound)
            nodes += 1
        checked += nodes
        assert bounds[-1] == whole.best_value
        assert (part.best_value, part.nodes) == (whole.best_value, whole.nodes)
        assert part.best is not None
        assert whole.best is not None
        assert row_of(part.best).tolist() == row_of(whole.best).tolist()
        assert part.lemmas.units.tolist() == whole.lemmas.units.tolist()
        assert part.lemmas.points.tolist() == whole.lemmas.points.tolist()
    assert checked > 500


def through_json(snapshot: Snapshot) -> Snapshot:
    """As a certificate keeps it."""
    units, points = snapshot.lemmas.units.tolist(), snapshot.lemmas.points.tolist()
    groups, domains = snapshot.lemmas.units.shape[1], snapshot.lemmas.points.shape[1]
    return replace(
        snapshot,
        arrays=json.loads(json.dumps(snapshot.arrays)),
        lemmas=LemmaTable(
            np.array(units, dtype=np.int64).reshape(-1, groups),
            np.array(points, dtype=np.uint64).reshape(-1, domains),
        ),
    )


Arrays = dict[str, list[int]]


@pytest.fixture(scope="module")
def ended() -> Snapshot:
    """Of the reference problem, after 500 nodes."""
    return find_fastest(reference_problem(points=False), max_nodes=500).snapshot


def go_on(snapshot: Snapshot, arrays: Arrays) -> None:
    find_fastest(
        reference_problem(points=False), max_nodes=1, resume_from=replace(snapshot, arrays=arrays)
    )


@pytest.mark.parametrize("name", STATE_FIELDS)
def test_an_array_of_another_length_is_refused(ended: Snapshot, name: str) -> None:
    go_on(ended, ended.arrays)
    rest = {key: values for key, values in ended.arrays.items() if key != name}
    values = ended.arrays[name]
    for other in (values[:-1], [*values, values[0]], values * 2000):
        with pytest.raises(ResultError, match=rf"\$\.search\.{name}: \d+ numbers are required"):
            go_on(ended, {**rest, name: other})
    with pytest.raises(ResultError, match=rf"\$\.search\.{name}: \d+ numbers are required"):
        go_on(ended, rest)


def changed(arrays: Arrays, name: str, place: int, value: int) -> Arrays:
    values = list(arrays[name])
    values[place] = value
    return {**arrays, name: values}


BEYOND = {
    "a unit that there is not": ("units", 0, 99, "numbers from -1 to"),
    "an empty set of clocks": ("points", 0, 0, "numbers from 1 to"),
    "more than 64 bits": ("bound", 0, 1 << 64, "numbers from"),
    "a group that there is not": ("subject", 0, 99, "numbers from 0 to"),
    "more levels than choices": ("progress", DEPTH, 999, "number of levels"),
    "fewer than no levels": ("progress", DEPTH, -1, "number of levels"),
    "lemmas that are not kept": ("progress", LEMMAS, 1, "number of levels"),
    "more members than there are": ("progress", MEMBERS, 1 << 40, "numbers are required"),
    "fewer than no members": ("progress", MEMBERS, -1, "numbers are required"),
    "a level without a choice": ("kind", 0, -1, "level 0 is not a choice"),
}


@pytest.mark.parametrize("case", BEYOND.values(), ids=BEYOND.keys())
def test_numbers_out_of_range_are_refused(ended: Snapshot, case: tuple[str, int, int, str]) -> None:
    name, place, value, message = case
    with pytest.raises(ResultError, match=message):
        go_on(ended, changed(ended.arrays, name, place, value))
