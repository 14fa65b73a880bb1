"""A member as a cyclo-static dataflow graph: one actor per unit (Tang et al. 3.1, step 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.fitness.check.members.closed_form import channel_times
from paretosoc.results.problem.execution import ClosedForm
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.sdf.analysis.throughput import execution_times, self_timed_throughput
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import per_phase


@dataclass(frozen=True)
class MappedDataflow:
    """A mapping as a dataflow graph, and its speed. Times are in ps.

    ``pipelined``: every channel between units holds an iteration at the start, or more, so that the
    phases of a unit work on different frames. ``in_order``: the same graph without initial tokens.
    """

    pipelined: SdfGraph
    in_order: SdfGraph
    load_ps: tuple[int, ...]
    """Load of each actor: its phases added up."""
    period_ps: Fraction
    """Period of the pipelined graph with its buffers: the largest load."""
    in_order_period_ps: Fraction
    """Period of the graph in order with its buffers, at least as long."""
    frames_ahead: int
    """Largest difference of frames between two phases that run in one iteration."""


def mapped_dataflow(problem: Problem, design: DesignPoint, name: str) -> MappedDataflow:
    """Return the graph of a design point.

    A unit's phases are its groups in the order (network, repeat, group), with the reads before and
    the writes after each if the throughput model is analytic. An edge becomes a channel, a loop if
    both ends are on one unit. Software pipelining delays a group by a frame against its inputs from
    other units. All units of an iteration are then independent, and the slowest sets the period. A
    channel's buffer holds its initial tokens and one frame more.

    Waiting and hand-overs between networks and arrivals are no part of this graph, nor are initial
    tokens of a dataflow graph, which may let frames overlap less.

    Raises:
        GraphError: if the graph is deadlocked.
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    units = [problem.unit_of[unit] for unit in design.units.tolist()]
    stages = [0] * problem.group_count
    # The least delays that let every unit start at once. An edge always leads to a larger number.
    for source, target in sorted(problem.edges):
        stages[target] = max(stages[target], stages[source] + (units[source] != units[target]))
    phases = _phases(problem, design, units)
    pipelined, in_order = (
        _graph(problem, units, name, phases, of_each)
        for of_each in (stages, [0] * problem.group_count)
    )
    period, in_order_period = (
        self_timed_throughput(graph, execution_times(graph)).period
        for graph in (pipelined, in_order)
    )
    return MappedDataflow(
        pipelined=pipelined,
        in_order=in_order,
        load_ps=tuple(sum(entry.time_ps for entry in phases[u]) for u in sorted(phases)),
        period_ps=period,
        in_order_period_ps=in_order_period,
        frames_ahead=max(stages),
    )


@dataclass(frozen=True)
class _Placed:
    """A phase, and which group it runs."""

    name: str
    time_ps: int
    group: int


def _phases(
    problem: Problem, design: DesignPoint, units: Sequence[int]
) -> dict[int, list[_Placed]]:
    """Return the phases of each unit in order."""
    spent = [0] * problem.group_count
    if isinstance(problem.execution, ClosedForm):
        for e, (source, target) in enumerate(problem.edges):
            times = channel_times(problem, design, e)
            if times is not None:
                spent[source] += times[0]
                spent[target] += times[1]
    placed: dict[int, list[_Placed]] = {}
    for network in problem.networks:
        for repeat in range(1, network.repeats + 1):
            for g in network.groups:
                unit, place = design.place_of(problem, g)
                time = int(unit.time_ps[place])
                if time < 0:
                    raise ValueError(f"group {g} cannot run on unit {unit.name}")
                time += (repeat - 1) * int(unit.steps_ps[place])
                label = f"{network.name}:{network.group_names[g - network.first_group]}"
                if network.repeats > 1:
                    label += f"#{repeat}"
                placed.setdefault(units[g], []).append(_Placed(label, time + spent[g], g))
    return placed


def _graph(
    problem: Problem,
    units: Sequence[int],
    name: str,
    phases: dict[int, list[_Placed]],
    stages: Sequence[int],
) -> SdfGraph:
    names = [unit.unit_name for unit in problem.units]
    channels = []
    for e, (source, target) in enumerate(problem.edges):
        tokens = 1 if problem.edge_tokens is None else max(int(problem.edge_tokens[e]), 1)
        production, consumption = (
            [tokens if entry.group == group else 0 for entry in phases[units[group]]]
            for group in (source, target)
        )
        frame = sum(production)
        initial = (stages[target] - stages[source]) * frame
        channels.append(
            Channel(
                name=f"c{source}_{target}",
                source=names[units[source]],
                target=names[units[target]],
                production=per_phase(production),
                consumption=per_phase(consumption),
                initial_tokens=initial,
                capacity=initial + frame,
            )
        )
    actors = tuple(
        Actor(
            names[u],
            execution_times=((names[u], per_phase([entry.time_ps for entry in phases[u]])),),
            phases=tuple(entry.name for entry in phases[u]),
        )
        for u in sorted(phases)
    )
    return SdfGraph(name=name, actors=actors, channels=tuple(channels), time_unit="ps")
