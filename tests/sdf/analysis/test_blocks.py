"""Blocks of an iteration against an execution, token by token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.sdf.analysis.blocks import BlockedIteration, blocked_iteration
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import in_phases
from tests.support.problems.csdf_graphs import live_graphs


class Tokens:
    """Channels with their tokens, and the firings of each actor so far."""

    def __init__(self, graph: SdfGraph) -> None:
        self.graph = graph.with_rooms
        self.held = [channel.initial_tokens for channel in self.graph.channels]
        self.fired = {actor.name: 0 for actor in graph.actors}

    def _of(self, name: str, rate: int | tuple[int, ...]) -> int:
        phases = len(self.graph.actor_by_name[name].phases)
        return in_phases(rate, phases)[self.fired[name] % phases]

    def fire(self, name: str) -> bool:
        """Fire an actor, if its tokens are there."""
        taken = list(self.held)
        for k, channel in enumerate(self.graph.channels):
            if channel.target == name:
                taken[k] -= self._of(name, channel.consumption)
        if min(taken, default=0) < 0:
            return False
        for k, channel in enumerate(self.graph.channels):
            if channel.source == name:
                taken[k] += self._of(name, channel.production)
        self.held = taken
        self.fired[name] += 1
        return True

    def run(self, block: tuple[str, ...], repetitions: dict[str, int]) -> bool:
        """Make the firings of a block of one iteration, and return whether all were possible."""
        left = {name: repetitions[name] for name in block}
        while any(left.values()):
            able = [name for name in block if left[name] and self.fire(name)]
            if not able:
                return False
            for name in able:
                left[name] -= 1
        return True


def follows(found: BlockedIteration) -> list[set[int]]:
    """Return, for each block, the blocks of its iteration that it waits for."""
    before: list[set[int]] = [set() for _ in found.blocks]
    for each in found.channels:
        if not each.is_earlier and each.source != each.target:
            before[each.target].add(each.source)
    return before


@given(live_graphs(), st.data())
def test_blocks_run_whatever_the_order_of_iterations_is(
    graph: SdfGraph, data: st.DataObject
) -> None:
    found = blocked_iteration(graph)
    assert sorted(name for block in found.blocks for name in block) == sorted(found.repetitions)
    assert all(each.source <= each.target or each.is_earlier for each in found.channels)
    frames = min(found.most_iterations or 3, 3)
    before = follows(found)
    tokens, done = Tokens(graph), [0] * len(found.blocks)
    for _ in range(4 * len(done)):
        ended = min(done)
        able = [
            g
            for g, count in enumerate(done)
            if count < ended + frames and all(done[other] > count for other in before[g])
        ]
        block = data.draw(st.sampled_from(able))
        assert tokens.run(found.blocks[block], found.repetitions)
        done[block] += 1


def pair(back: int, capacity: int | None = None) -> SdfGraph:
    """Two actors that fire 2 and 3 times, with initial tokens on the way back."""
    return SdfGraph(
        "pair",
        (Actor("b"), Actor("a")),
        (Channel("a", "b", 3, 2, 0, capacity=capacity), Channel("b", "a", 2, 3, back)),
    )


@pytest.mark.parametrize(
    ("back", "blocks", "most"),
    [(6, (("a",), ("b",)), 1), (11, (("a",), ("b",)), 1), (12, (("a",), ("b",)), 2)],
)
def test_initial_tokens_are_iterations_ahead(
    back: int, blocks: tuple[tuple[str, ...], ...], most: int
) -> None:
    found = blocked_iteration(pair(back))
    assert (found.blocks, found.most_iterations) == (blocks, most)
    assert "'b' -> 'a'" in found.limited_by
    assert [each.is_earlier for each in found.channels] == [False, True]


def test_actors_that_fire_by_turns_are_one_block() -> None:
    found = blocked_iteration(pair(4))
    assert found.blocks == (("b", "a"),)
    assert found.most_iterations is None
    assert blocked_iteration(pair(12, capacity=4)).blocks == (("b", "a"),)
    assert blocked_iteration(pair(12, capacity=6)).most_iterations == 1


def test_tokens_ahead_of_a_later_block_limit_nothing() -> None:
    graph = SdfGraph("g", (Actor("a"), Actor("b")), (Channel("a", "b"), Channel("a", "b", 1, 1, 1)))
    assert blocked_iteration(graph).most_iterations is None
    graph = SdfGraph("g", (Actor("a"), Actor("b")), (Channel("a", "b", 1, 1, 1),))
    assert blocked_iteration(graph).most_iterations == 1


def test_a_deadlock_is_named() -> None:
    with pytest.raises(GraphError, match="deadlock: the cycle 'b' -> 'a' -> 'b'"):
        blocked_iteration(pair(2))
