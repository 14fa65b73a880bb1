"""Cyclo-static graphs: against a simulation token by token, and by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

from sdf.analysis.csdf import CsdfActor, CsdfChannel, CsdfGraph, Phase, csdf_period
from sdf.errors import GraphError
from sdf.formats.csdf_files import format_csdf_json, format_csdf_sdf3


def simulated(graph: CsdfGraph, *, bounded: bool, iterations: int = 240) -> Fraction | None:
    """Time per iteration of self-timed execution, by playing it: an instant at a time, every actor
    that can starts its next phase. None where it stops."""
    tokens = {c.name: c.initial_tokens for c in graph.channels}
    taken = dict(tokens)
    next_phase = {a.name: 0 for a in graph.actors}
    done = {a.name: 0 for a in graph.actors}
    ends: dict[str, int] = {}
    finished: list[int] = []
    now = 0
    while len(finished) < iterations:
        while True:
            started = False
            for actor in graph.actors:
                k = next_phase[actor.name]
                reads = [c for c in graph.channels if c.target == actor.name]
                writes = [c for c in graph.channels if c.source == actor.name]
                if actor.name in ends or done[actor.name] > min(done.values()) + 50:
                    continue
                if any(tokens[c.name] < c.consumption[k] for c in reads):
                    continue
                if bounded and any(taken[c.name] + c.production[k] > c.capacity for c in writes):
                    continue
                for c in writes:
                    taken[c.name] += c.production[k]
                ends[actor.name] = now + actor.phases[k].time
                started = True
            for actor in graph.actors:
                if ends.get(actor.name) == now:
                    finish(graph, actor, next_phase, tokens, taken, done, ends)
                    started = True
            if not started:
                break
        while len(finished) < iterations and min(done.values()) > len(finished):
            finished.append(now)
        if not ends:
            return None
        now = min(ends.values())
        for actor in graph.actors:
            if ends.get(actor.name) == now:
                finish(graph, actor, next_phase, tokens, taken, done, ends)
    # A multiple of all short cycles, after the transient.
    return Fraction(finished[iterations - 1] - finished[iterations - 121], 120)


def finish(graph, actor, next_phase, tokens, taken, done, ends):
    k = next_phase[actor.name]
    for c in graph.channels:
        if c.source == actor.name:
            tokens[c.name] += c.production[k]
        if c.target == actor.name:
            tokens[c.name] -= c.consumption[k]
            taken[c.name] -= c.consumption[k]
    del ends[actor.name]
    next_phase[actor.name] = (k + 1) % len(actor.phases)
    done[actor.name] += next_phase[actor.name] == 0


def random_graph(rng: np.random.Generator) -> CsdfGraph:
    """Two to four actors of one to three phases, channels with one write an iteration or more."""
    actors = tuple(
        CsdfActor(
            f"a{i}",
            tuple(Phase(f"p{k}", int(rng.integers(1, 9))) for k in range(rng.integers(1, 4))),
        )
        for i in range(rng.integers(2, 5))
    )
    channels = []
    for number in range(rng.integers(1, 6)):
        source, target = (actors[int(rng.integers(len(actors)))] for _ in range(2))
        count = int(rng.integers(1, min(len(source.phases), len(target.phases)) + 1))
        size = int(rng.integers(1, 4))

        def rates(actor: CsdfActor, count: int = count, size: int = size) -> tuple[int, ...]:
            chosen = rng.choice(len(actor.phases), count, replace=False)
            return tuple(size * int(k in chosen) for k in range(len(actor.phases)))

        initial = size * int(rng.integers(0, 2 * count + 1))
        channels.append(
            CsdfChannel(
                f"c{number}", source.name, target.name, rates(source), rates(target), initial,
                initial + size * int(rng.integers(0, 2 * count + 1)),
            )
        )  # fmt: skip
    return CsdfGraph("random", actors, tuple(channels))


@pytest.mark.parametrize("bounded", [True, False])
def test_the_period_is_that_of_a_simulation(bounded):
    live = dead = 0
    for seed in range(150):
        graph = random_graph(np.random.default_rng(seed))
        expected = simulated(graph, bounded=bounded)
        if expected is None:
            with pytest.raises(GraphError):
                csdf_period(graph, bounded=bounded)
            dead += 1
        else:
            assert csdf_period(graph, bounded=bounded) == expected
            live += 1
    assert live > 40
    assert dead > 20


def pair(initial: int, capacity: int) -> CsdfGraph:
    """a -> b -> a: two phases and one; a frame passes from a's first phase over b to its second."""
    actors = (
        CsdfActor("a", (Phase("first", 4), Phase("last", 2))),
        CsdfActor("b", (Phase("middle", 5),)),
    )
    return CsdfGraph(
        "pair",
        actors,
        (
            CsdfChannel("there", "a", "b", (10, 0), (10,), initial, capacity),
            CsdfChannel("back", "b", "a", (7,), (0, 7), 7 * initial // 10, 7 * capacity // 10),
        ),
    )


def test_in_order_all_wait_for_each_other_and_pipelined_the_slowest_counts():
    assert csdf_period(pair(0, 10)) == 4 + 5 + 2
    assert csdf_period(pair(10, 20)) == 6


def test_a_small_buffer_slows_down():
    with pytest.raises(GraphError, match="deadlock"):
        csdf_period(pair(10, 10))
    assert csdf_period(pair(10, 10), bounded=False) == 6


def test_files_have_everything():
    graph = pair(10, 20)
    document = json.loads(format_csdf_json(graph))
    assert document["actors"][0]["phases"] == [
        {"name": "first", "time": 4},
        {"name": "last", "time": 2},
    ]
    (there, back) = document["channels"]
    assert (there["production"], there["consumption"]) == ([10, 0], [10])
    assert (there["initial_tokens"], there["capacity"]) == (10, 20)
    assert back["token_bytes"] == 4
    root = ElementTree.fromstring(format_csdf_sdf3(graph))
    assert root.get("type") == "csdf"
    body = root.find("applicationGraph/csdf")
    ports = {
        (actor.get("name"), port.get("name")): port.get("rate")
        for actor in body.findall("actor")
        for port in actor.findall("port")
    }
    ends = {
        channel.get("name"): (
            ports[channel.get("srcActor"), channel.get("srcPort")],
            ports[channel.get("dstActor"), channel.get("dstPort")],
            int(channel.get("initialTokens", "0")),
        )
        for channel in body.findall("channel")
    }
    assert ends == {
        "there": ("10,0", "10", 10),
        "there_room": ("10", "10,0", 10),
        "back": ("7", "0,7", 7),
        "back_room": ("0,7", "7", 7),
    }
    times = {
        entry.get("actor"): entry.find("processor/executionTime").get("time")
        for entry in root.iter("actorProperties")
    }
    assert times == {"a": "4,2", "b": "5"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "c"}, "there is no actor 'c'"),
        ({"production": (10,)}, "one rate >= 0 per phase of 'a'"),
        ({"production": (10, 10)}, "as many reads as writes"),
        ({"production": (5, 0)}, "all of one size"),
        ({"initial_tokens": 5}, "whole writes of 10"),
        ({"initial_tokens": 30}, "from 0 to the capacity, 20, got 30"),
    ],
)
def test_graphs_that_contradict_themselves_are_refused(change, message):
    graph = pair(10, 20)
    channel = vars(graph.channels[0]) | change
    with pytest.raises(GraphError, match=message):
        CsdfGraph("bad", graph.actors, (CsdfChannel(**channel),))
