"""One design point as text: figures, mapping, clocks, energy. Its schedule is a table."""

from __future__ import annotations

from itertools import groupby

from paretosoc.common.units import FJ_PER_MJ
from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.batches import batch_lines
from paretosoc.results.text.free_running import free_run_lines
from paretosoc.results.text.member_diff import clocks_mhz
from paretosoc.results.text.releases import response_lines

_LATENCY = Objective(ObjectiveKind.LATENCY)
_ENERGY = Objective(ObjectiveKind.ENERGY)


def member_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line each for objectives, makespan and latencies (with rates response times), energy
    by unit, mapping, priorities if these may differ, transitions, clocks. Networks that run freely
    add the window and their throughputs."""
    lines = [
        _figure(objective.label(problem), objective, value)
        for objective, value in zip(problem.objectives, member.objectives, strict=True)
    ]
    if _LATENCY not in problem.objectives and not problem.has_rates:
        lines.append(_figure("makespan of a frame that runs alone", _LATENCY, member.makespan_ps))
    lines += response_lines(problem, member)
    lines += batch_lines(problem, member)
    for n, network in enumerate(() if problem.has_rates else problem.networks):
        if len(problem.networks) > 1 and Objective(_LATENCY.kind, n) not in problem.objectives:
            name = f"latency of {network.name}"
            if member.free_run is not None:
                name += " if a frame runs alone"
            lines.append(_figure(name, _LATENCY, member.latencies_ps[n]))
    if _ENERGY not in problem.objectives:
        lines.append(_figure("energy", _ENERGY, member.energy_fj))
    parts = energy_parts_fj(problem, member)
    rest = parts.pop(REST)
    busy = {problem.units[u].unit_name for u in member.design.units.tolist()}
    units = ", ".join(
        f"{name} {format_number(fj / FJ_PER_MJ)}{'' if name in busy else ' (idle power only)'}"
        for name, fj in parts.items()
        if fj
    )
    lines.append(f"energy by unit (mJ): {units}; {REST}: {format_number(rest / FJ_PER_MJ)}")
    for n, network in enumerate(problem.networks):
        runs = ", ".join(f"{groups} on {unit}" for groups, unit in mapping_runs(problem, member, n))
        lines.append(f"groups of {network.name}: {runs}")
    priorities = problem.priorities(member.design)
    if problem.has_priorities:
        pairs = zip(problem.networks, priorities, strict=True)
        lines.append(f"priorities: {', '.join(f'{n.name} {p}' for n, p in pairs)}")
    lines.append(f"transitions: {problem.transition_count(member.design)}")
    clocks = ", ".join(
        f"{name} {'off' if mhz is None else f'{mhz:g}'}"
        for name, mhz in clocks_mhz(problem, member).items()
    )
    lines.append(f"clocks (MHz): {clocks}")
    return [*lines, *free_run_lines(problem, member)]


def mapping_runs(problem: Problem, member: Member, network: int) -> list[tuple[str, str]]:
    """Groups of one network, counted from 0, that follow each other on one unit: ``("0-21",
    "gpu")``, ``("22", "cpu")``."""
    units = [int(member.design.units[group]) for group in problem.networks[network].groups]
    runs, first = [], 0
    for unit, run in groupby(units):
        last = first + len(list(run)) - 1
        runs.append((str(first) if first == last else f"{first}-{last}", problem.units[unit].name))
        first = last + 1
    return runs


def _figure(name: str, objective: Objective, value: int) -> str:
    (text,) = objective.format([value])
    return f"{name}: {text} {objective.unit}"


REST = "memory, clocks, board"
"""The energy that no unit takes: memory, power of clocks that are on, and the board."""


def energy_parts_fj(problem: Problem, member: Member) -> dict[str, int]:
    """Return energy by unit, idle and busy in all number formats, in the problem's order, and
    ``REST``. The parts add up to all of it."""
    parts = {
        problem.units[u].unit_name: member.energy_by_unit_fj[u]
        for u, first in enumerate(problem.unit_of)
        if u == first
    }
    return {**parts, REST: member.energy_fj - sum(member.energy_by_unit_fj)}
