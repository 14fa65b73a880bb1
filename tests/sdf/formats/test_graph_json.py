"""Mapped networks as JSON: round trips, and what is refused by the name of its field."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import format_graph_json, parse_graph_json, read_graph
from paretosoc.sdf.formats.sdf3_writer import format_sdf3
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import per_phase
from tests.support.texts import one_line

PAIR = SdfGraph(
    "pair",
    (
        Actor("a", None, (("a", (4, 2)),), ("first", "last")),
        Actor("b", None, (("b", 5),), ("middle",)),
    ),
    (
        Channel("a", "b", (10, 0), 10, 10, 4, "there", 20),
        Channel("b", "a", 7, (0, 7), 7, 2, "back"),
    ),
    "ps",
)


@st.composite
def mapped(draw: st.DrawFn) -> SdfGraph:
    names = draw(st.lists(one_line(max_size=3), min_size=1, max_size=4, unique=True))
    actors = []
    for name in names:
        phases = tuple(draw(st.lists(one_line(max_size=2), min_size=1, max_size=3)))
        size = len(phases)
        times = per_phase(draw(st.lists(st.integers(0, 10**18), min_size=size, max_size=size)))
        actors.append(Actor(name, None, ((name, times),), phases))
    channels = []
    for label in draw(st.lists(one_line(max_size=3), max_size=4)):
        ends = [draw(st.sampled_from(actors)) for _ in range(2)]
        production, consumption = (
            per_phase(draw(st.lists(st.integers(1, 99), min_size=size, max_size=size)))
            for size in (len(end.phases) for end in ends)
        )
        tokens = draw(st.integers(0, 10**18))
        capacity = draw(st.one_of(st.none(), st.integers(tokens, 10**18)))
        size = draw(st.integers(1, 9))
        channels.append(
            Channel(
                ends[0].name, ends[1].name, production, consumption, tokens, size, label, capacity
            )
        )
    return SdfGraph(draw(one_line()), tuple(actors), tuple(channels), draw(one_line()))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(mapped())
def test_round_trip(graph: SdfGraph) -> None:
    assert parse_graph_json(format_graph_json(graph).encode()) == graph


def test_all_is_written() -> None:
    document = json.loads(format_graph_json(PAIR))
    assert document["actors"][0] == {
        "name": "a",
        "phases": [{"name": "first", "time": 4}, {"name": "last", "time": 2}],
    }
    there, back = document["channels"]
    assert (there["production"], there["consumption"]) == ([10, 0], [10])
    assert (there["initial_tokens"], there["capacity"]) == (10, 20)
    assert (back["capacity"], back["token_bytes"]) == (None, 2)


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "pair.json").write_text(format_graph_json(PAIR))
    (tmp_path / "pair.xml").write_text(format_sdf3(PAIR), "utf-8")
    assert read_graph(tmp_path / "pair.json") == PAIR
    read = read_graph(tmp_path / "pair.xml")
    assert read.channels == PAIR.channels
    assert [len(actor.phases) for actor in read.actors] == [2, 1]
    with pytest.raises(GraphError, match=r"none\.json: cannot be read"):
        read_graph(tmp_path / "none.json")


def test_what_cannot_be_written() -> None:
    for times in ((), (("p", 1),), (("x", 1), ("y", 2))):
        with pytest.raises(GraphError, match="'x' must have execution times on one"):
            format_graph_json(SdfGraph("g", (Actor("x", execution_times=times),)))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "paretosoc-csdf/2", r"file: \$\.format: must be paretosoc-csdf/1, got"),
        (["extra"], 1, r"file: \$: must not have 'extra'"),
        (["actors"], {}, r"file: \$\.actors: must be a list, got an object"),
        (["actors", 0], [], r"file: \$\.actors\[0\]: must be an object, got a list"),
        (["actors", 0, "name"], 3, "name: must be a text, got 3"),
        (["actors", 0, "phases"], [], "phases: must have at least 1 item"),
        (["actors", 0, "phases", 1, "time"], -1, r"phases\[1\]\.time: must be at least 0, got -1"),
        (["actors", 0, "phases", 1, "time"], True, "got true"),
        (["actors", 0, "phases", 1, "time"], 1.0, "got 1.0"),
        (["actors", 0, "phases", 1, "time"], 10**19, "must be at most 10000"),
        (["actors", 0, "phases", 1, "extra"], 1, r"phases\[1\]: must not have 'extra'"),
        (["channels", 0, "source"], "c", r"channels\[0\]\.source: must be the name of an actor"),
        (["channels", 1, "target"], "c", r"channels\[1\]\.target: must be the name of an actor"),
        (["channels", 0, "production"], [10], "one entry per phase of 'a' .2., got 1"),
        (["channels", 0, "production"], 10, "production: must be a list, got 10"),
        (["channels", 0, "production"], [0, 0], "production must be at least 1, got 0"),
        (["channels", 0, "capacity"], 9, "at least its 10 initial tokens, got 9"),
        (["channels", 0, "capacity"], "9", 'capacity: must be an integer or null, got "9"'),
        (["channels", 0, "token_bytes"], 0, "token_bytes must be at least 1"),
        (["channels", 0, "initial_tokens"], None, "got null"),
    ],
)
def test_what_is_refused_by_name(path: list[Any], value: Any, message: str) -> None:
    document = json.loads(format_graph_json(PAIR))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(GraphError, match=message):
        parse_graph_json(json.dumps(document).encode(), origin="file")


def test_what_lacks_is_named() -> None:
    whole = json.loads(format_graph_json(PAIR))
    for place in (whole, whole["actors"][0], whole["actors"][0]["phases"][0], whole["channels"][0]):
        for name in list(place):
            value = place.pop(name)
            with pytest.raises(GraphError, match=f"must have {name}, got an object"):
                parse_graph_json(json.dumps(whole).encode())
            place[name] = value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"format": 1, "format": 2}',
        b'{"format": ' + b"9" * 5000 + b"}",
        b"NaN",
    ],
)
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(GraphError, match=r"^file"):
        parse_graph_json(data, origin="file")


def test_too_deep_a_document_is_named() -> None:
    with pytest.raises(GraphError) as caught:
        parse_graph_json(b"[" * 200_000, origin="file")
    assert str(caught.value) == "file: must be JSON of moderate depth, got deeper"


def test_fuzzed_files_are_read_or_refused() -> None:
    source = random.Random(5)
    original = format_graph_json(PAIR).encode()
    refused = 0
    for _ in range(2_000):
        data = bytearray(original)
        for _ in range(source.randint(1, 3)):
            place = source.randrange(len(data))
            if source.random() < 0.5:
                data[place] = source.choice(b'0123456789-,.e[]{}":ntf ')
            else:
                del data[place : place + source.randint(1, 9)]
        try:
            graph = parse_graph_json(bytes(data))
        except GraphError:
            refused += 1
        else:
            assert parse_graph_json(format_graph_json(graph).encode()) == graph
    assert 300 < refused < 2_000
