"""Cyclo-static graphs: against simulation, brute force, linear algebra, unfolding to one rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paretosoc.dse.papers.mobile_i.operation_graph import firing_operations
from paretosoc.sdf.analysis.buffer_search import (
    buffers_for_throughput,
    deadlock_free_buffers,
    throughput_buffer_trade_off,
)
from paretosoc.sdf.analysis.buffers import capacity_step, smallest_capacity
from paretosoc.sdf.analysis.processor_order import bound_throughput
from paretosoc.sdf.analysis.repetition import check_live, execute_iteration, repetition_vector
from paretosoc.sdf.analysis.sdf_report import analyse, format_report
from paretosoc.sdf.analysis.throughput import execution_times, self_timed_throughput
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, Rate
from tests.sdf.analysis.test_repetition import by_linear_algebra
from tests.support.bounded_channels import bounded_throughput
from tests.support.problems.csdf_graphs import cyclo_static, entries, simulated_period, split


def rate_at(graph: SdfGraph, actor: str, rate: PerPhase, firing: int) -> int:
    by_phase = entries(rate, graph.actor_by_name[actor])
    return by_phase[firing % len(by_phase)]


def cycles_of(graph: SdfGraph) -> dict[str, int]:
    """By linear algebra: an actor's cycles are the firings of one that does all phases at once."""
    whole = [
        replace(
            channel,
            production=sum(entries(channel.production, graph.actor_by_name[channel.source])),
            consumption=sum(entries(channel.consumption, graph.actor_by_name[channel.target])),
        )
        for channel in graph.channels
    ]
    one_phase = tuple(Actor(actor.name) for actor in graph.actors)
    cycles = by_linear_algebra(SdfGraph("whole", one_phase, tuple(whole)))
    assert cycles is not None
    return cycles


def firings_of(graph: SdfGraph) -> dict[str, int]:
    return {
        name: count * len(graph.actor_by_name[name].phases)
        for name, count in cycles_of(graph).items()
    }


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=False))
def test_the_repetition_vector_equals_the_rational_null_space(graph: SdfGraph) -> None:
    assert repetition_vector(graph) == firings_of(graph)


def test_phases_that_do_not_balance() -> None:
    graph = SdfGraph(
        "g",
        (Actor("x", phases=("", "")), Actor("y")),
        (Channel("x", "y", (1, 2), 1), Channel("y", "x", 1, (1, 1))),
    )
    with pytest.raises(GraphError, match="production 1 and consumption 2 in 2 phases"):
        repetition_vector(graph)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=True), st.booleans())
def test_throughput_equals_a_plain_simulation(graph: SdfGraph, auto_concurrency: bool) -> None:
    expected = simulated_period(graph, cycles_of(graph)["a0"], auto_concurrency=auto_concurrency)
    times = execution_times(graph)
    if expected is None:
        with pytest.raises(GraphError, match="deadlock"):
            self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
        return
    found = self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
    assert found.period == expected
    assert found.critical_actors


def unfolded(graph: SdfGraph, *, auto_concurrency: bool) -> tuple[SdfGraph, dict[str, int]]:
    """Actors of one rate: each firing of an iteration, ``a/n``, behind its start ``a+n``, which
    takes no time; a channel for every token, from the firing that writes it to the start of the one
    that reads it. Starts wait for the start before them, or for the end of that firing."""
    counts = firings_of(graph)
    times: dict[str, int] = {}
    channels = []
    for name, count in counts.items():
        time = graph.actor_by_name[name].execution_times[0][1]
        for n in range(count):
            times |= {f"{name}/{n}": rate_at(graph, name, time, n), f"{name}+{n}": 0}
            before = f"{name}+{n}" if auto_concurrency else f"{name}/{n}"
            after = f"{name}+{(n + 1) % count}"
            channels.append(Channel(f"{name}+{n}", f"{name}/{n}"))
            channels.append(Channel(before, after, initial_tokens=int(n + 1 == count)))
    for channel in graph.channels:
        writers, readers = (
            [n for n in range(counts[end]) for _ in range(rate_at(graph, end, rate, n))]
            for end, rate in (
                (channel.source, channel.production),
                (channel.target, channel.consumption),
            )
        )
        for token, writer in enumerate(writers):
            iterations, place = divmod(token + channel.initial_tokens, len(readers))
            reader = f"{channel.target}+{readers[place]}"
            channels.append(Channel(f"{channel.source}/{writer}", reader, 1, 1, iterations))
    return SdfGraph("unfolded", tuple(map(Actor, times)), tuple(channels)), times


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=False, actors=4, chords=3), st.booleans())
def test_throughput_equals_that_of_the_unfolded_graph(
    graph: SdfGraph, auto_concurrency: bool
) -> None:
    times = execution_times(graph)
    other, other_times = unfolded(graph, auto_concurrency=auto_concurrency)
    try:
        expected = self_timed_throughput(other, other_times, auto_concurrency=True).period
    except GraphError:
        with pytest.raises(GraphError, match="deadlock"):
            self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
        return
    found = self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
    assert found.period == expected


def test_phases_may_overtake_but_their_tokens_do_not() -> None:
    """x writes in phases of 9 and 1; both may run at once, but y reads the first token first."""
    x = Actor("x", execution_times=(("p", (9, 1)),), phases=("long", "short"))
    y = Actor("y", execution_times=(("p", 1),))
    graph = SdfGraph("g", (x, y), (Channel("x", "y"), Channel("y", "x", initial_tokens=4)))
    times = execution_times(graph)
    assert self_timed_throughput(graph, times).period == 9 + 1
    # Two of each start at 0. y reads the first at 9, the others behind it, and each lets one of x
    # start again: ten ticks for two iterations.
    assert self_timed_throughput(graph, times, auto_concurrency=True).period == 5
    assert simulated_period(graph, 1, auto_concurrency=True) == 5


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=True))
def test_an_iteration_goes_as_far_as_firing_by_firing(graph: SdfGraph) -> None:
    counts = repetition_vector(graph)
    fired = dict.fromkeys(counts, 0)
    tokens = [channel.initial_tokens for channel in graph.channels]

    def needed(channel: Channel) -> int:
        return rate_at(graph, channel.target, channel.consumption, fired[channel.target])

    def can_fire(name: str) -> bool:
        return fired[name] < counts[name] and all(
            tokens[n] >= needed(channel)
            for n, channel in enumerate(graph.channels)
            if channel.target == name
        )

    while any(map(can_fire, counts)):
        name = next(filter(can_fire, counts))
        for n, channel in enumerate(graph.channels):
            if channel.target == name:
                tokens[n] -= needed(channel)
            if channel.source == name:
                tokens[n] += rate_at(graph, name, channel.production, fired[name])
        fired[name] += 1
    initial = [channel.initial_tokens for channel in graph.channels]
    order, blocked = execute_iteration(list(counts), graph.channels, list(counts.values()), initial)
    total = Counter(dict.fromkeys(counts, 0))
    for name, count in order:
        total[name] += count
    assert total == fired
    if fired == counts:
        assert blocked is None
        check_live(graph)
        return
    assert blocked is not None
    follows = (*blocked.channels[1:], blocked.channels[0])
    for channel, after, held, wanted in zip(
        blocked.channels, follows, blocked.tokens, blocked.needed, strict=True
    ):
        assert channel.source == after.target
        assert (held, wanted) in {
            (tokens[n], needed(c)) for n, c in enumerate(graph.channels) if c == channel
        }
        assert held < wanted
    with pytest.raises(GraphError, match="deadlock: the cycle"):
        check_live(graph)


def limits_of(graph: SdfGraph, extra: list[int]) -> list[int | None]:
    """Capacities a little above the initial tokens; none for an actor's own state."""
    return [
        None if channel.keeps_state else channel.initial_tokens + more
        for channel, more in zip(graph.channels, extra, strict=False)
    ]


EXTRA = st.lists(st.integers(0, 8), min_size=6, max_size=6)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=False), EXTRA)
def test_bounded_channels_equal_a_plain_simulation(graph: SdfGraph, extra: list[int]) -> None:
    limits = limits_of(graph, extra)
    expected = simulated_period(graph, cycles_of(graph)["a0"], capacities=limits)
    times = execution_times(graph)
    capacities = [
        channel.initial_tokens if limit is None else limit
        for channel, limit in zip(graph.channels, limits, strict=True)
    ]
    found = bounded_throughput(graph, times, capacities)
    assert (None if found is None else found.period) == expected
    # The same where the graph itself says so.
    channels = [replace(c, capacity=n) for c, n in zip(graph.channels, limits, strict=True)]
    bounded = replace(graph, channels=tuple(channels))
    if expected is None:
        with pytest.raises(GraphError, match="deadlock"):
            self_timed_throughput(bounded, times)
        return
    stated = self_timed_throughput(bounded, times)
    assert stated.period == expected
    one_each = bound_throughput(
        bounded,
        {a.name: a.name for a in graph.actors},
        processor_types=dict.fromkeys(times, "cpu"),
    )
    assert one_each.throughput.period == expected


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.data())
def test_smallest_capacity_of_one_channel(data: st.DataObject) -> None:
    writes, reads = (
        data.draw(
            st.integers(1, 3).flatmap(lambda phases: split(data.draw(st.integers(1, 9)), phases))
        )
        for _ in range(2)
    )
    phases = [1 if isinstance(rate, int) else len(rate) for rate in (writes, reads)]
    actors = tuple(
        Actor(name, execution_times=(("cpu", 1),), phases=("",) * count)
        for name, count in zip("xy", phases, strict=True)
    )
    channel = Channel("x", "y", writes, reads, data.draw(st.integers(0, 12)))
    graph = SdfGraph("g", actors, (channel,))
    cycles = cycles_of(graph)["x"]
    least = smallest_capacity(channel)
    assert (least - channel.initial_tokens) % capacity_step(
        channel
    ) == 0 or least == channel.initial_tokens
    assert simulated_period(graph, cycles, capacities=[least]) is not None
    if least > channel.initial_tokens:
        assert simulated_period(graph, cycles, capacities=[least - 1]) is None


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.data())
def test_smallest_capacity_of_a_self_loop(data: st.DataObject) -> None:
    phases, total = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 9))
    writes, reads = data.draw(split(total, phases)), data.draw(split(total, phases))
    channel = Channel("x", "x", writes, reads, data.draw(st.integers(0, 12)))
    assume(not channel.keeps_state)
    graph = SdfGraph("g", (Actor("x", None, (("cpu", 1),), ("",) * phases),), (channel,))
    least = smallest_capacity(channel)
    live = simulated_period(graph, 1) is not None
    assert (simulated_period(graph, 1, capacities=[least]) is not None) == live
    if live and least > channel.initial_tokens:
        assert simulated_period(graph, 1, capacities=[least - 1]) is None


def distributions(graph: SdfGraph, size: int) -> Iterator[tuple[int, ...]]:
    """All capacities of this sum that hold the initial tokens."""

    def rest(channels: tuple[Channel, ...], left: int) -> Iterator[tuple[int, ...]]:
        if not channels:
            if not left:
                yield ()
            return
        tokens = channels[0].initial_tokens
        for capacity in [tokens] if channels[0].keeps_state else range(tokens, left + 1):
            for others in rest(channels[1:], left - capacity):
                yield (capacity, *others)

    yield from rest(graph.channels, size)


def best_periods(graph: SdfGraph, sizes: range) -> dict[int, Fraction]:
    """The shortest period of every size at which the graph runs at all, by trying everything."""
    found: dict[int, Fraction] = {}
    cycles = cycles_of(graph)["a0"]
    for size in sizes:
        for capacities in distributions(graph, size):
            limits = [
                None if channel.keeps_state else capacity
                for channel, capacity in zip(graph.channels, capacities, strict=True)
            ]
            period = simulated_period(graph, cycles, capacities=limits)
            if period is not None:
                found[size] = min(period, found.get(size, period))
    return found


def assume_live(graph: SdfGraph) -> None:
    try:
        check_live(graph)
    except GraphError:
        assume(False)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(cyclo_static(ring=False, chords=1))
def test_nothing_smaller_is_live(graph: SdfGraph) -> None:
    assume_live(graph)
    found = deadlock_free_buffers(graph)
    assert found.exact
    assume(found.distribution.tokens <= 14)
    ticks = tuple(replace(actor, execution_times=(("cpu", 1),)) for actor in graph.actors)
    (size,) = best_periods(replace(graph, actors=ticks), range(found.distribution.tokens + 1))
    assert size == found.distribution.tokens


@settings(derandomize=True, deadline=None, max_examples=60)
@given(cyclo_static(ring=False, chords=1), st.sampled_from([2, 3, 4]))
def test_nothing_smaller_is_as_fast(graph: SdfGraph, halves: int) -> None:
    assume_live(graph)
    times = execution_times(graph)
    most = self_timed_throughput(graph, times)
    goal = most.period * halves / 2 or Fraction(7, 2)
    found = buffers_for_throughput(graph, times, 1 / goal)
    assert found.exact
    assert found.distribution.throughput.period <= goal
    assume(found.distribution.tokens <= 14)
    periods = best_periods(graph, range(found.distribution.tokens + 1))
    assert [size for size, period in periods.items() if period <= goal] == [
        found.distribution.tokens
    ]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(cyclo_static(ring=False, chords=1))
def test_the_trade_off_is_the_exhaustive_front(graph: SdfGraph) -> None:
    assume_live(graph)
    found = throughput_buffer_trade_off(graph, execution_times(graph))
    assert found.complete
    assume(found.points[-1].tokens <= 14)
    front: list[tuple[int, Fraction]] = []
    for size, period in best_periods(graph, range(found.points[-1].tokens + 1)).items():
        if not front or period < front[-1][1]:
            front.append((size, period))
    assert [(point.tokens, point.throughput.period) for point in found.points] == front


@settings(derandomize=True, deadline=None, max_examples=60)
@given(cyclo_static(ring=False), EXTRA)
def test_buffers_stay_within_the_capacities_of_the_graph(graph: SdfGraph, extra: list[int]) -> None:
    channels = [
        replace(channel, capacity=None if limit is None else smallest_capacity(channel) + more)
        for channel, limit, more in zip(
            graph.channels, limits_of(graph, extra), extra, strict=False
        )
    ]
    bounded = replace(graph, channels=tuple(channels))
    assume_live(bounded)
    times = execution_times(graph)
    most = self_timed_throughput(bounded, times)
    found = [
        deadlock_free_buffers(bounded).distribution,
        buffers_for_throughput(bounded, times).distribution,
        *throughput_buffer_trade_off(bounded, times).points,
    ]
    assert found[1].throughput.period == found[-1].throughput.period == most.period
    assert found[1].tokens == found[-1].tokens
    for distribution in found:
        for channel, capacity in zip(channels, distribution.capacities, strict=True):
            assert channel.capacity is None or capacity <= channel.capacity
    # Nothing smaller within these bounds does it.
    assume(found[1].tokens <= 12)
    for capacities in distributions(bounded, found[1].tokens - 1):
        pairs = list(zip(channels, capacities, strict=True))
        if all(channel.capacity is None or n <= channel.capacity for channel, n in pairs):
            reached = bounded_throughput(graph, times, capacities)
            assert reached is None or reached.period > most.period


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=True, actors=4))
def test_on_one_processor_in_the_order_of_the_list_schedule(graph: SdfGraph) -> None:
    binding = {actor.name: "cpu" for actor in graph.actors}
    if simulated_period(graph, 1) is None:
        with pytest.raises(GraphError, match="deadlock"):
            bound_throughput(graph, binding)
        return
    found = bound_throughput(graph, binding)
    ((_, order),) = found.orders
    assert Counter(order) == firings_of(graph)
    cycles = cycles_of(graph)["a0"]
    assert found.throughput.period == simulated_period(graph, cycles, order=order)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cyclo_static(ring=False, chords=0))
def test_tokens_go_from_the_firing_that_writes_them_to_the_one_that_reads_them(
    graph: SdfGraph,
) -> None:
    firings, edges = firing_operations(graph)
    counts = firings_of(graph)
    assert dict(firings) == {
        f"{name}/{n}": rate_at(graph, name, graph.actor_by_name[name].execution_times[0][1], n)
        for name, count in counts.items()
        for n in range(count)
    }
    wanted: Counter[tuple[str, str]] = Counter()
    for channel in graph.channels:
        writers, readers = (
            [f"{end}/{n}" for n in range(counts[end]) for _ in range(rate_at(graph, end, rate, n))]
            for end, rate in (
                (channel.source, channel.production),
                (channel.target, channel.consumption),
            )
        )
        for pair in zip(writers, readers, strict=True):
            wanted[pair] += channel.token_bytes
    assert {(firings[s][0], firings[t][0]): size for (s, t), size in edges.items()} == wanted


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 5), st.integers(1, 12), st.data())
def test_sums_of_rates(phases: int, total: int, data: st.DataObject) -> None:
    by_phase = data.draw(split(total, phases))
    rate = Rate(by_phase)
    each = (by_phase,) if isinstance(by_phase, int) else by_phase

    def moved(firings: int) -> int:
        return sum(each[n % len(each)] for n in range(firings))

    for tokens in range(30):
        most = rate.most(tokens)
        assert moved(most) <= tokens < moved(most + 1)
        assert rate.moved(tokens) == moved(tokens)
    assert rate.moved(-len(each)) == -sum(each)


def pair(initial: int, capacity: int | None) -> SdfGraph:
    """a -> b -> a: two phases and one; a frame passes from a's first phase over b to its second."""
    scaled = None if capacity is None else 7 * capacity // 10
    return SdfGraph(
        "pair",
        (
            Actor("a", None, (("a", (4, 2)),), ("first", "last")),
            Actor("b", None, (("b", 5),), ("middle",)),
        ),
        (
            Channel("a", "b", (10, 0), 10, initial, 4, "there", capacity),
            Channel("b", "a", 7, (0, 7), 7 * initial // 10, 4, "back", scaled),
        ),
        "ps",
    )


def period_of(graph: SdfGraph) -> Fraction:
    return self_timed_throughput(graph, execution_times(graph)).period


def test_in_order_all_wait_for_each_other_and_pipelined_the_slowest_counts() -> None:
    assert period_of(pair(0, 10)) == 4 + 5 + 2
    assert period_of(pair(10, 20)) == 6
    with pytest.raises(GraphError, match="deadlock"):
        period_of(pair(10, 10))
    assert period_of(pair(10, None)) == 6


def test_the_report_names_phases_unit_and_capacities() -> None:
    report = analyse(pair(10, 30))
    assert report.throughput is not None
    assert report.fast_enough is not None
    assert report.fast_enough.distribution.capacities == (20, 14)
    text = format_report(report)
    assert "  a: 2 in 2 phases, 6 ps for all phases\n  b: 1, 5 ps each\n" in text
    assert "throughput: 1/6 iterations per ps (period 6; limited by a)" in text
    assert "note: no buffer is larger than the graph says" in text
    assert "note" not in format_report(analyse(pair(10, None)))


def test_astronomic_rates() -> None:
    big = 10**30
    graph = SdfGraph(
        "g",
        (Actor("x", None, (("p", (1, 2)),), ("", "")), Actor("y", None, (("p", 1),))),
        (
            Channel("x", "y", (big, 2 * big), 3 * big, big),
            Channel("y", "x", 3 * big, (2 * big, big), 4 * big, capacity=9 * big),
        ),
    )
    small = replace(
        graph,
        channels=(
            Channel("x", "y", (1, 2), 3, 1),
            Channel("y", "x", 3, (2, 1), 4, capacity=9),
        ),
    )
    assert period_of(graph) == period_of(small)
    found, expected = (deadlock_free_buffers(g).distribution.capacities for g in (graph, small))
    assert found == tuple(big * capacity for capacity in expected)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (Channel("a", "c", 1, 1), "there is no actor 'c'"),
        (Channel("a", "b", (1, 2, 3), 6), "one entry per phase of 'a' .2., got 3"),
        (Channel("a", "b", (0, 0), 1), "not always 0, got 0"),
        (Channel("a", "b", (-1, 2), 1), "at least 0 in every phase, .* got -1"),
        (Channel("a", "b", 0, 1), "production must be at least 1, got 0"),
        (Channel("b", "a", 1, (1,)), "one entry per phase of 'a' .2., got 1"),
        (Channel("a", "b", 1, 1, 3, capacity=2), "at least its 3 initial tokens, got 2"),
    ],
)
def test_graphs_that_contradict_themselves_are_refused(channel: Channel, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        SdfGraph("bad", pair(0, 10).actors, (channel,))


def test_actors_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(GraphError, match="actor 'x' must have a phase"):
        SdfGraph("bad", (Actor("x", phases=()),))
    with pytest.raises(GraphError, match="time on 'p' must have one entry per phase of 'x'"):
        SdfGraph("bad", (Actor("x", execution_times=(("p", (1, 2)),)),))
    graph = SdfGraph("g", (Actor("x", phases=("", "")),))
    with pytest.raises(GraphError, match="2 phases need as many execution times, got 3"):
        self_timed_throughput(graph, {"x": (1, 2, 3)})
    with pytest.raises(GraphError, match="at least 0, got -2"):
        self_timed_throughput(graph, {"x": (1, -2)})
