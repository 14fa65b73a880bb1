"""Idle power, and the closed form of Tang et al., of one design point in Python integers."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.problem import DesignPoint, Problem


def idle_mw(problem: Problem, design: DesignPoint) -> tuple[list[int], int]:
    """Return the idle power of every unit, 0 if it is off, and that of the board and all domains
    that are on."""
    used = {clock for u in set(design.units.tolist()) for clock in problem.units[u].clocks}
    on = [not domain.may_be_off or d in used for d, domain in enumerate(problem.domains)]
    static = [
        int(domain.static_mw[int(design.operating_points[d])])
        for d, domain in enumerate(problem.domains)
        if on[d]
    ]
    idle = [
        int(unit.idle_mw[design.points_of(unit)]) if on[unit.clocks[0]] else 0
        for unit in problem.units
    ]
    return idle, problem.board_mw + sum(static)


@dataclass(frozen=True)
class PlainLoads:
    """Loads, period and energy of a pipeline at one design point."""

    load_ps: tuple[int, ...]
    """Per unit: computing, and reading and writing of channels (Eq. 3, 4)."""
    period_ps: int
    """The largest load: 1 / phi_1 (Eq. 1, 2)."""
    idle_time_ps: int
    """T (Eq. 12, or the period)."""
    energy_fj: int
    """phi_2, of one frame (Eq. 8)."""
    energy_by_unit_fj: tuple[int, ...]
    """Idle and busy energy (Eq. 9-11). The rest is the memory's and the board's."""


def plain_loads(problem: Problem, design: DesignPoint) -> PlainLoads:
    """Return the loads of a pipeline, added up group by group and channel by channel.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it, or the execution
            model is not the closed form.
    """
    execution = problem.execution
    if not isinstance(execution, ClosedForm):
        raise ValueError(f"the execution model must be closed-form, got {execution.model}")
    units = design.units.tolist()
    load = [0] * len(problem.units)
    busy_fj = [0] * len(problem.units)
    for network in problem.networks:
        for g in network.groups:
            u = units[g]
            unit, at = design.place_of(problem, g)
            time = int(unit.time_ps[at])
            if time < 0:
                raise ValueError(f"group {g} cannot run on unit {unit.name}")
            step = int(unit.steps_ps[at])
            for repeat in range(network.repeats):
                load[u] += time + repeat * step
                busy_fj[u] += (time + repeat * step) * int(problem.units[u].dynamic_mw[at])
    for u, passing in channel_executions(problem, design):
        channels = problem.units[u].channels
        assert channels is not None
        load[u] += passing
        busy_fj[u] += passing * int(channels.busy_mw[int(design.operating_points[channels.clock])])
    period = max(load)
    time = period if execution.idle_time is IdleTime.PERIOD else sum(load)
    idle_of_unit, idle_of_rest = idle_mw(problem, design)
    by_unit = tuple(fj + mw * time for fj, mw in zip(busy_fj, idle_of_unit, strict=True))
    return PlainLoads(
        load_ps=tuple(load),
        period_ps=period,
        idle_time_ps=time,
        energy_fj=idle_of_rest * time + sum(by_unit),
        energy_by_unit_fj=by_unit,
    )


def channel_executions(problem: Problem, design: DesignPoint) -> list[tuple[int, int]]:
    """Return (unit, ps in a frame) of every counted write and read of a channel (Eq. 7)."""
    passing = []
    for e, (source, target) in enumerate(problem.edges):
        times = channel_times(problem, design, e)
        network = next(n for n in problem.networks if source in n.groups)
        if times is not None:
            passing.append((int(design.units[source]), network.repeats * times[0]))
            passing.append((int(design.units[target]), network.repeats * times[1]))
    return passing


def channel_times(problem: Problem, design: DesignPoint, e: int) -> tuple[int, int] | None:
    """Return (ps of writing, ps of reading) of edge ``e`` once, or None if it is free of charge."""
    source, target = (int(design.units[group]) for group in problem.edges[e])
    assert isinstance(problem.execution, ClosedForm)
    if source == target and problem.execution.channels is ChannelUse.BETWEEN_UNITS:
        return None
    writer, reader = problem.units[source].channels, problem.units[target].channels
    assert writer is not None
    assert reader is not None
    assert problem.edge_tokens is not None
    tokens = int(problem.edge_tokens[e])
    write_fs = int(writer.write_fs[int(design.operating_points[writer.clock])])
    read_fs = int(reader.read_fs[int(design.operating_points[reader.clock])])
    return (tokens * write_fs + 999) // 1000, (tokens * read_fs + 999) // 1000
