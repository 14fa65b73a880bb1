"""Random cyclo-static graphs, and a plain simulation of them token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from hypothesis import assume
from hypothesis import strategies as st

from paretosoc.sdf.analysis.repetition import check_live
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, per_phase


def entries(figure: PerPhase, actor: Actor) -> tuple[int, ...]:
    return (figure,) * len(actor.phases) if isinstance(figure, int) else figure


@st.composite
def split(draw: st.DrawFn, total: int, phases: int) -> PerPhase:
    """A total in so many parts, some of them 0."""
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=phases - 1, max_size=phases - 1)))
    return per_phase([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])


@st.composite
def cyclo_static(draw: st.DrawFn, *, ring: bool, actors: int = 3, chords: int = 2) -> SdfGraph:
    """A consistent graph: every actor has one to three phases and runs through them once to three
    times an iteration. A ring with chords, or a tree with cross links and feedback."""
    count = draw(st.integers(1 if ring else 2, actors))
    cycles = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    phases = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    pairs = [(n, (n + 1) % count) for n in range(count)]
    if not ring:
        pairs = [(draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    ends = st.integers(0, count - 1)
    pairs += draw(st.lists(st.tuples(ends, ends), max_size=chords))
    channels = []
    for source, target in pairs:
        moved = lcm(cycles[source], cycles[target]) * draw(st.sampled_from([1, 1, 2]))
        tokens = draw(st.integers(0, 2))
        if ring or source >= target:
            tokens += draw(st.sampled_from([0, moved, moved, 2 * moved]))
        channels.append(
            Channel(
                f"a{source}",
                f"a{target}",
                draw(split(moved // cycles[source], phases[source])),
                draw(split(moved // cycles[target], phases[target])),
                tokens,
                token_bytes=draw(st.integers(1, 4)),
            )
        )
    made = []
    for number, length in enumerate(phases):
        times = per_phase(draw(st.lists(st.integers(1, 5), min_size=length, max_size=length)))
        made.append(Actor(f"a{number}", execution_times=(("cpu", times),), phases=("",) * length))
    return SdfGraph("g", tuple(made), tuple(channels))


PROCESSORS = ("cpu", "dsp")


@st.composite
def live_graphs(draw: st.DrawFn, actors: int = 4) -> SdfGraph:
    """A graph that can run for ever, some of its channels with a capacity, whose actors have times
    on one of two types of processor, or on both."""
    graph = draw(cyclo_static(ring=draw(st.booleans()), actors=actors))
    room = st.none() | st.integers(0, 12)
    capacities = [None if c.source == c.target else draw(room) for c in graph.channels]
    made = []
    for actor in graph.actors:
        ((_, times),) = actor.execution_times
        kinds = draw(st.sampled_from([PROCESSORS, PROCESSORS[:1], PROCESSORS[1:]]))
        made.append(replace(actor, execution_times=tuple((kind, times) for kind in kinds)))
    graph = replace(
        graph,
        actors=tuple(made),
        channels=tuple(
            channel if more is None else replace(channel, capacity=channel.initial_tokens + more)
            for channel, more in zip(graph.channels, capacities, strict=True)
        ),
    )
    try:
        check_live(graph)
    except GraphError:
        assume(False)
    return graph


@dataclass
class Cell:
    """A token, or a free place for one; ``ready`` once the firing that gives it has ended."""

    ready: bool


@dataclass
class Running:
    """A firing: whose, how many ticks it still takes, what it gives when it ends."""

    actor: int
    left: int
    gives: list[Cell]


def simulated_period(
    graph: SdfGraph,
    cycles: int,
    *,
    capacities: Sequence[int | None] | None = None,
    auto_concurrency: bool = False,
    order: Sequence[str] = (),
) -> Fraction | None:
    """Ticks for ``cycles`` of the first actor, once the state recurs; None if everything stops.

    A firing starts when the next tokens that it reads, and the next places that it writes to, are
    all there. They are given in the order in which firings start, and are there when those end.

    Args:
        order: the actors that one processor fires, over and over, none beside another.
    """
    limits = [None] * len(graph.channels) if capacities is None else capacities
    actors = list(graph.actors)
    names = [actor.name for actor in actors]
    times = [entries(actor.execution_times[0][1], actor) for actor in actors]
    takes: list[list[tuple[list[Cell], tuple[int, ...]]]] = [[] for _ in actors]
    gives: list[list[tuple[list[Cell], tuple[int, ...]]]] = [[] for _ in actors]
    queues: list[list[Cell]] = []
    for channel, limit in zip(graph.channels, limits, strict=True):
        source, target = names.index(channel.source), names.index(channel.target)
        written = entries(channel.production, actors[source])
        read = entries(channel.consumption, actors[target])
        tokens = [Cell(True) for _ in range(channel.initial_tokens)]
        takes[target].append((tokens, read))
        gives[source].append((tokens, written))
        queues.append(tokens)
        if limit is not None:
            places = [Cell(True) for _ in range(limit - channel.initial_tokens)]
            takes[source].append((places, written))
            gives[target].append((places, read))
            queues.append(places)

    phase = [0] * len(actors)
    running: list[Running] = []
    place = started = tick = 0
    seen: dict[object, tuple[int, int]] = {}

    def can_start(actor: int) -> bool:
        if order and (running or names[actor] != order[place]):
            return False
        if not auto_concurrency and any(firing.actor == actor for firing in running):
            return False
        return all(
            len(queue) >= rates[phase[actor]]
            and all(cell.ready for cell in queue[: rates[phase[actor]]])
            for queue, rates in takes[actor]
        )

    while True:
        while any(can_start(actor) for actor in range(len(actors))):
            actor = next(actor for actor in range(len(actors)) if can_start(actor))
            for queue, rates in takes[actor]:
                del queue[: rates[phase[actor]]]
            firing = Running(actor, times[actor][phase[actor]], [])
            for queue, rates in gives[actor]:
                cells = [Cell(False) for _ in range(rates[phase[actor]])]
                queue += cells
                firing.gives += cells
            running.append(firing)
            phase[actor] = (phase[actor] + 1) % len(times[actor])
            place = (place + 1) % len(order) if order else 0
            started += actor == 0
        if not running:
            return None
        giver = {id(cell): n for n, firing in enumerate(running) for cell in firing.gives}
        state = (
            place,
            tuple(phase),
            tuple((firing.actor, firing.left) for firing in running),
            tuple(tuple(giver.get(id(cell), -1) for cell in queue) for queue in queues),
        )
        if state in seen:
            before, count = seen[state]
            return Fraction((tick - before) * cycles * len(times[0]), started - count)
        seen[state] = (tick, started)
        tick += 1
        for firing in running:
            firing.left -= 1
            for cell in firing.gives:
                cell.ready = not firing.left
        running = [firing for firing in running if firing.left]
