"""Objectives and constraints of one design point once more, in Python integers.

Like :mod:`fitness.reference.timeline`, which it simulates, it shares no code with what a search
uses; the definitions are those of :mod:`fitness.objectives`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fitness.reference.closed_form import plain_loads
from fitness.reference.long_run import play_long_run
from fitness.reference.timeline import PlainTimeline, play
from results.front.front import FreeRun
from results.front.schedule import Schedule
from results.io.canonical_json import INT64_MAX
from results.io.plural import pluralize
from results.problem.problem import DesignPoint, EnergyUse, ObjectiveKind, Problem


@dataclass(frozen=True)
class Broken:
    """A mapping rule or a limit that a design point breaks."""

    constraint: str | None
    """Name of the limit, as in ``breaks`` of ``front.json``; None: a rule, which nothing may break.
    """
    why: str
    """With figures."""


@dataclass(frozen=True)
class PlainOutcome:
    """What a design point gives."""

    timeline: PlainTimeline
    """One frame alone."""
    schedule: Schedule
    """That of a member: the frame's, or the beginning of a free run."""
    free_run: FreeRun | None
    objectives: tuple[int, ...]
    """In the problem's order."""
    energy_fj: int
    energy_by_unit_fj: tuple[int, ...]
    """Per unit, idle and busy."""
    broken: tuple[Broken, ...]
    """First rules, then limits: transitions, segments, deadlines, period, power, energy."""


def plain_outcome(problem: Problem, design: DesignPoint) -> PlainOutcome:
    """Simulates a design point and adds up.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    frame = play(problem, design)
    makespan = frame.frame_end_ps[0]
    latency = frame.latency_ps[0]
    idle_of_unit, idle_of_rest = _idle_mw(problem, design)
    idle = sum(idle_of_unit) + idle_of_rest
    period = 0
    schedule, free_run = frame.schedule, None
    periods: tuple[int, ...] = ()
    if problem.is_analytic:
        loads = plain_loads(problem, design)
        period, energy = loads.period_ps, loads.energy_fj
        time = max(loads.idle_time_ps, 1)
        drawn, by_unit = energy, loads.energy_by_unit_fj
    elif problem.energy_use is EnergyUse.PIPELINE:
        run = play_long_run(problem, design)
        streams, period = len(run.periods_ps), run.frame_period_ps
        time = run.window_ps[1] - run.window_ps[0]
        drawn = idle * time + sum(run.dynamic_fj)
        energy = min(drawn * period // (streams * time), INT64_MAX)
        by_unit = tuple(
            (mw * time + fj) * period // (streams * time)
            for mw, fj in zip(idle_of_unit, run.dynamic_fj, strict=True)
        )
        if problem.free_running:
            schedule, free_run, periods = run.schedule, run.free_run, run.periods_ps
    else:
        time = makespan if problem.energy_use is EnergyUse.FRAME else problem.period_ps or 0
        time = max(time, 1)
        dynamic = _dynamic_by_unit_fj(problem, design, frame)
        energy = drawn = idle * time + sum(dynamic)
        by_unit = tuple(mw * time + fj for mw, fj in zip(idle_of_unit, dynamic, strict=True))
    power = drawn * 1000 // time
    alone = sum(row.alone_ps for row in frame.schedule.groups)
    busy = sum(row.end_ps - row.start_ps for row in frame.schedule.groups)
    values = []
    for objective in problem.objectives:
        match objective.kind:
            case ObjectiveKind.LATENCY:
                n = objective.network
                values.append(makespan if n is None else latency[n])
            case ObjectiveKind.INVERSE_LATENCY:
                values.append(-sum(10**18 // max(value, 1) for value in latency))
            case ObjectiveKind.THROUGHPUT:
                values.append(period)
            case ObjectiveKind.ENERGY:
                values.append(energy)
            case ObjectiveKind.POWER:
                values.append(power)
            case ObjectiveKind.EFFICIENCY:
                inferences = 1 if problem.free_running else len(problem.networks)
                values.append(energy // inferences)
            case ObjectiveKind.STRETCH:
                values.append((busy - alone) * 10**6 // max(alone, 1))
            case ObjectiveKind.FAIRNESS:
                values.append(-min(_relative_rates_ppm(problem, periods)))
    broken = _broken_rules(problem, design)
    for n, network in enumerate(problem.networks):
        if network.deadline_ps is not None and latency[n] > network.deadline_ps:
            why = f"latency of {network.name} is {latency[n]} ps, above {network.deadline_ps} ps"
            broken.append(Broken(f"latency of {network.name}", why))
    for network, each in zip(problem.networks, periods, strict=problem.free_running):
        rate, least = 10**18 // each, network.min_rate_uhz
        if least is not None and rate < least:
            why = f"rate of {network.name} is {rate} uHz, at least {least} asked for"
            broken.append(Broken(f"rate of {network.name}", why))
    if problem.period_ps is not None and makespan > problem.period_ps:
        why = f"the makespan is {makespan} ps, above the period of {problem.period_ps}"
        broken.append(Broken("makespan within the period", why))
    if problem.power_cap_mw is not None and drawn > problem.power_cap_mw * time:
        broken.append(Broken("power", f"power is above the cap of {problem.power_cap_mw} mW"))
    if problem.energy_budget_fj is not None and energy > problem.energy_budget_fj:
        why = f"energy is {energy} fJ, at most {problem.energy_budget_fj} allowed"
        broken.append(Broken("energy", why))
    return PlainOutcome(frame, schedule, free_run, tuple(values), energy, by_unit, tuple(broken))


def _relative_rates_ppm(problem: Problem, periods: tuple[int, ...]) -> list[int]:
    """Each network's rate, one frame in its period, as a share of one frame in its time alone."""
    pairs = zip(_times_alone(problem), periods, strict=True)
    return [min(10**6 * time // period, INT64_MAX) for time, period in pairs]


@lru_cache(maxsize=1)
def _times_alone(problem: Problem) -> tuple[int, ...]:
    """Per network the least time of a frame with all of it on one unit at one choice of clocks;
    what cannot run there counts as it is anywhere at best."""
    # [unit][group][operating points]
    times = [unit.time_ps.reshape(problem.group_count, -1).tolist() for unit in problem.units]
    least = []
    for network in problem.networks:
        best = {g: min(t for unit in times for t in unit[g] if t > 0) for g in network.groups}
        frames = []
        for unit in times:
            for choice in zip(*(unit[g] for g in network.groups), strict=True):
                pairs = zip(network.groups, choice, strict=True)
                frames.append(sum(time if time > 0 else best[g] for g, time in pairs))
        least.append(network.repeats * min(frames))
    return tuple(least)


def _points(problem: Problem, design: DesignPoint, u: int) -> tuple[int, ...]:
    return tuple(int(design.operating_points[clock]) for clock in problem.units[u].clocks)


def _idle_mw(problem: Problem, design: DesignPoint) -> tuple[list[int], int]:
    """Power of every unit, 0 where it is off; of the board and of all domains that are on."""
    used = {clock for u in set(design.units.tolist()) for clock in problem.units[u].clocks}
    on = [not domain.may_be_off or d in used for d, domain in enumerate(problem.domains)]
    static = [
        int(domain.static_mw[int(design.operating_points[d])])
        for d, domain in enumerate(problem.domains)
        if on[d]
    ]
    idle = [
        int(unit.idle_mw[_points(problem, design, u)]) if on[unit.clocks[0]] else 0
        for u, unit in enumerate(problem.units)
    ]
    return idle, problem.board_mw + sum(static)


def _dynamic_by_unit_fj(
    problem: Problem, design: DesignPoint, timeline: PlainTimeline
) -> list[int]:
    """Per unit: dynamic power from start to end, over all its executions."""
    drawn = [0] * len(problem.units)
    for row in timeline.schedule.groups:
        at = (row.group, *_points(problem, design, row.unit))
        power = int(problem.units[row.unit].dynamic_mw[at])
        drawn[row.unit] += power * (row.end_ps - row.start_ps)
    return drawn


def _broken_rules(problem: Problem, design: DesignPoint) -> list[Broken]:
    broken = []
    units = design.units.tolist()
    for g, u in enumerate(units):
        if not problem.allowed[g, u]:
            broken.append(Broken(None, f"group {g} may not be on {problem.units[u].name}"))
    used = {clock for u in set(units) for clock in problem.units[u].clocks}
    for d, domain in enumerate(problem.domains):
        needed = not domain.may_be_off or d in used
        if needed and not domain.allowed[int(design.operating_points[d])]:
            why = f"{domain.name} may not have operating point {design.operating_points[d]}"
            broken.append(Broken(None, why))
    for network in problem.networks:
        count = sum(
            units[source] != units[target]
            for source, target in problem.edges
            if source in network.groups
        )
        if network.max_transitions is not None and count > network.max_transitions:
            found = f"{network.name} has {pluralize(count, 'transition')}"
            why = f"{found}, at most {network.max_transitions} allowed"
            broken.append(Broken(f"transitions of {network.name}", why))
    for u, unit in enumerate(problem.units):
        fed = {target for source, target in problem.edges if units[source] == units[target]}
        count = sum(units[g] == u and g not in fed for g in range(len(units)))
        if unit.max_segments is not None and count > unit.max_segments:
            found = f"{unit.name} has {pluralize(count, 'segment')}"
            why = f"{found}, at most {unit.max_segments} allowed"
            broken.append(Broken(f"segments on {unit.name}", why))
    return broken
