"""Firings of graphs with several rates, against tokens moved one by one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from paretosoc.dse.papers.mobile_i.operation_graph import firing_operations
from paretosoc.sdf.analysis.repetition import repetition_vector
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.graph import Actor, Channel, SdfGraph

EXAMPLES = Path(__file__).parents[4] / "examples" / "sdf"


def test_every_token_goes_from_the_firing_that_makes_it_to_the_one_that_takes_it() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        counts = [draw.randint(1, 6) for _ in range(4)]
        actors = tuple(Actor(f"a{n}", None, (("pe", n + 1),)) for n in range(4))
        # Rates that balance: production x q(source) = consumption x q(target).
        channels = tuple(
            Channel(
                f"a{s}", f"a{t}", counts[t] * k, counts[s] * k, draw.randint(0, 2), token_bytes=3
            )
            for s in range(4)
            for t in range(s + 1, 4)
            for k in (draw.randint(0, 2),)
            if k
        )
        graph = SdfGraph(f"g{seed}", actors, channels)
        firings, edges = firing_operations(graph)
        repetitions = repetition_vector(graph)
        assert Counter(name.split("/")[0] for name, _ in firings) == repetitions
        wanted: Counter[tuple[str, str]] = Counter()
        for channel in channels:
            for token in range(repetitions[channel.source] * channel.production):
                maker = f"{channel.source}/{token // channel.production}"
                wanted[maker, f"{channel.target}/{token // channel.consumption}"] += 3
        found = {(firings[s][0], firings[t][0]): size for (s, t), size in edges.items()}
        assert found == wanted
        assert all(source < target for source, target in edges)


def test_the_example_that_comes_along() -> None:
    firings, _ = firing_operations(read_graph(EXAMPLES / "rate_converter.xml"))
    assert len(firings) == 147 + 147 + 98 + 28 + 32 + 160
    assert firings[-1][0] == "writer/159"


def test_what_has_no_independent_iterations() -> None:
    loop = SdfGraph("loop", (Actor("a", None, (("pe", 1),)),), (Channel("a", "a", 1, 1, 1),))
    with pytest.raises(GraphError, match="must have no cycle for independent iterations, got 'a'"):
        firing_operations(loop)
    with pytest.raises(GraphError, match="must have an execution time"):
        firing_operations(SdfGraph("g", (Actor("a"),)))
    rates = (Channel("a", "b", 99991, 1),)
    large = SdfGraph("g", (Actor("a", None, (("pe", 1),)), Actor("b", None, (("pe", 1),))), rates)
    assert len(firing_operations(large)[0]) == 99992
    with pytest.raises(GraphError, match="at most 100000 firings"):
        firing_operations(SdfGraph("g", large.actors, (Channel("a", "b", 100000, 1),)))
