"""A member as text, and the differences between two members with their effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from paretosoc.common.units import FJ_PER_MJ
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import KNEE, mark_members, marked_member
from paretosoc.results.problem.interchangeable import nearest_names
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.rates import free_run_lines, image_lines, response_lines

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
    # Other frames of the same networks would be in flight, and networks would run at other rates.
    alone = " if one frame of each network runs" if member.free_run is not None else ""
    if _LATENCY not in problem.objectives and not problem.has_rates:
        name = f"makespan{alone}" if alone else "makespan of a frame that runs alone"
        lines.append(_figure(name, _LATENCY, member.makespan_ps))
    lines += response_lines(problem, member)
    lines += image_lines(problem, member)
    for n, network in enumerate(() if problem.has_rates else problem.networks):
        if len(problem.networks) > 1 and Objective(_LATENCY.kind, n) not in problem.objectives:
            name = f"latency of {network.name}{alone}"
            lines.append(_figure(name, _LATENCY, member.latencies_ps[n]))
    lines += _energy_lines(problem, member)
    for n, network in enumerate(problem.networks):
        runs = ", ".join(f"{groups} on {unit}" for groups, unit in mapping_runs(problem, member, n))
        lines.append(f"groups of {network.name}: {runs}")
    if problem.has_priorities:
        lines.append(f"priorities: {priorities_text(problem, member)}")
    lines.append(f"transitions: {problem.transition_count(member.design)}")
    lines.append(f"clocks (MHz): {clocks_text(problem, member)}")
    return [*lines, *free_run_lines(problem, member)]


def mapping_runs(problem: Problem, member: Member, network: int) -> list[tuple[str, str]]:
    """Return groups of one network, counted from 0, that follow each other on one unit:
    ``("0-21", "gpu")``, ``("22", "cpu")``."""
    units = [int(member.design.units[group]) for group in problem.networks[network].groups]
    return [(groups, problem.units[unit].name) for groups, unit in _runs(units)]


def priorities_text(problem: Problem, member: Member) -> str:
    """Return the priorities of networks, or those of their groups, counted from 0: ``vgg19 1,
    resnet50 0``, ``vgg19 1 for 0-21, 0 for 22; resnet50 0``."""
    texts = []
    for network, levels in zip(problem.networks, problem.priorities(member.design), strict=True):
        runs = [f"{level} for {groups}" for groups, level in _runs(levels)]
        texts.append(f"{network.name} {', '.join(runs) if len(runs) > 1 else levels[0]}")
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


def _runs(values: Sequence[int]) -> list[tuple[str, int]]:
    """Return each value that others follow with the places, from 0, at which it stands."""
    runs, first = [], 0
    for value, run in groupby(values):
        last = first + len(list(run)) - 1
        runs.append((str(first) if first == last else f"{first}-{last}", value))
        first = last + 1
    return runs


def _figure(name: str, objective: Objective, value: int) -> str:
    (text,) = objective.format([value])
    return f"{name}: {text} {objective.unit}"


REST = "idle memory, clocks and board"
"""The energy that no unit takes: memory that nothing uses, power of clocks that are on, and the
board."""


def _energy_lines(problem: Problem, member: Member) -> list[str]:
    """Return a member's energy, and what each unit takes of it."""
    if not member.energy_fj:
        return ["no power is known"]
    lines = []
    if _ENERGY not in problem.objectives:
        name = "energy of a period" if problem.has_rates else "energy"
        lines.append(_figure(name, _ENERGY, member.energy_fj))
    parts = energy_parts_fj(problem, member)
    rest = parts.pop(REST)
    busy = {problem.units[u].unit_name for u in member.design.units.tolist()}
    units = ", ".join(
        f"{name} {format_number(fj / FJ_PER_MJ)}{'' if name in busy else ' (idle power only)'}"
        for name, fj in parts.items()
        if fj
    )
    lines.append(
        f"energy by unit, with its memory traffic (mJ): {units}; {REST}: "
        f"{format_number(rest / FJ_PER_MJ)}"
    )
    return lines


def energy_parts_fj(problem: Problem, member: Member) -> dict[str, int]:
    """Return energy by unit, idle and busy in all number formats, in the problem's order, and
    ``REST``. The parts add up to all of it."""
    parts = {
        problem.units[u].unit_name: member.energy_by_unit_fj[u]
        for u, first in enumerate(problem.unit_of)
        if u == first
    }
    return {**parts, REST: member.energy_fj - sum(member.energy_by_unit_fj)}


_MANY = 2
"""From here on a ratio is written as "2.1x", below as a percentage."""


def groups_by_unit(problem: Problem, member: Member) -> dict[str, int]:
    """Return how many groups run on each unit that is used, in the problem's order."""
    units = member.design.units.tolist()
    return {unit.name: units.count(u) for u, unit in enumerate(problem.units) if u in units}


def groups_text(problem: Problem, member: Member) -> str:
    """Return ``gpu 20, dla0 4``: how many groups run on each unit that is used."""
    return ", ".join(f"{name} {count}" for name, count in groups_by_unit(problem, member).items())


def clocks_text(problem: Problem, member: Member) -> str:
    """Return ``cpu 1190.4, gpu off``: the clock of each domain in MHz."""
    return ", ".join(
        f"{name} {'off' if mhz is None else f'{mhz:g}'}"
        for name, mhz in clocks_mhz(problem, member).items()
    )


def clocks_mhz(problem: Problem, member: Member) -> dict[str, float | None]:
    """Return the clock of each domain in MHz, or None if it is off."""
    clocks = problem.clocks_khz(member.points)
    return {name: None if khz is None else khz / 1000 for name, khz in clocks.items()}


def clocks_used(front: Front) -> list[set[float | None]]:
    """Return the clocks that members have, for each domain. None: off."""
    used: list[set[int | None]] = [set() for _ in front.problem.domains]
    for member in front.members:
        for d, point in enumerate(member.points):
            used[d].add(point)
    return [
        {None if point is None else domain.frequencies_khz[point] / 1000 for point in points}
        for domain, points in zip(front.problem.domains, used, strict=True)
    ]


def varying_domains(front: Front) -> list[int]:
    """Return the domains that are on at different clocks in different members. Those of the units
    that take most energy come first."""
    problem = front.problem
    energy = [sum(m.energy_by_unit_fj[u] for m in front.members) for u in range(len(problem.units))]
    by_energy = sorted(range(len(energy)), key=lambda u: -energy[u])
    domains = [domain for u in by_energy for domain in problem.units[u].clocks]
    clocks = clocks_used(front)
    return [
        domain
        for domain in dict.fromkeys((*domains, *range(len(problem.domains))))
        if len(clocks[domain] - {None}) > 1
    ]


def is_conversion(problem: Problem, source: int, target: int) -> bool:
    """Return whether between two entries only the number format changes, not the unit."""
    return source != target and problem.unit_of[source] == problem.unit_of[target]


def conversion_count(problem: Problem, member: Member) -> int:
    """Count the edges whose ends are on one unit in two number formats."""
    units = member.design.units.tolist()
    return sum(
        is_conversion(problem, units[source], units[target]) for source, target in problem.edges
    )


def describe_front(front: Front) -> list[str]:
    """Return sentences about a front's measure, objectives, knee and marked members.

    There is one for the measure of a robust front, one for each objective whose name does not say
    what it is, one for the knee, and one for each other marked member, against the first.
    """
    marks = mark_members(front)
    if not marks:
        return []
    meanings = []
    if front.robust is not None:
        meanings.append(
            f"searched by {measure_in_words(front.robust.measure)} over {front.robust.draws} draws "
            "of the costs, by which no member is behind another and all keep the limits; figures "
            "without a measure are of nominal costs"
        )
    for objective in front.problem.objectives:
        spec = objective.kind.spec
        if spec.meaning:
            side = "largest" if spec.larger_is_better else "smallest"
            label = objective.label(front.problem)
            meanings.append(f"{label}: {spec.meaning} ({spec.best}: the {side})")
    base = next(iter(marks))
    knee = marked_member(front, KNEE)
    others = [index for index in marks if index not in (base, knee)]
    if knee is not None and knee != base:
        others.insert(0, knee)
    return [
        *meanings,
        *(
            f"{' and '.join(marks[index])} against {' and '.join(marks[base])}: "
            + describe_difference(front.problem, front.members[base], front.members[index])
            for index in others
        ),
    ]


def measure_in_words(measure: str) -> str:
    """Return a measure in words: the mean, percentile 90 or the mean of the worst 10 %."""
    if measure == "mean":
        return "the mean"
    if measure.startswith("p"):
        return f"percentile {measure.removeprefix('p')}"
    return f"the mean of the worst {100 - int(measure.removeprefix('cvar'))} %"


def describe_difference(problem: Problem, base: Member, other: Member) -> str:
    """Return ``gpu at 676 MHz instead of 1377: 2.1x the latency for 44 % of the energy``."""
    return f"{_choices(problem, base, other)}: {_effects(problem, base, other)}"


def _choices(problem: Problem, base: Member, other: Member) -> str:
    before, after = clocks_mhz(problem, base), clocks_mhz(problem, other)
    parts = []
    for name, now in after.items():
        was = before[name]
        if now == was:
            continue
        if now is None:
            parts.append(f"{name} off")
        elif was is None:
            parts.append(f"{name} on at {now:.0f} MHz")
        else:
            parts.append(f"{name} at {now:.0f} MHz instead of {was:.0f}")
    moved, converted = _changed_groups(problem, base, other)
    if moved or converted:
        share, old = groups_text(problem, other), groups_text(problem, base)
        of = f" of {problem.group_count} groups"
        text = f"{moved}{of} on other units" if moved else ""
        if converted:
            text += (
                f", {converted} in other formats" if moved else f"{converted}{of} in other formats"
            )
        parts.append(text if share == old else f"{text} ({share} instead of {old})")
    return ", ".join(parts) if parts else "the same choices"


def _changed_groups(problem: Problem, base: Member, other: Member) -> tuple[int, int]:
    """Return how many groups are on another unit, and on the same in another format, under the
    kindest names of interchangeable units."""
    before = base.design.units
    after = nearest_names(problem, other.design.units, before)
    pairs = list(zip(before.tolist(), after.tolist(), strict=True))
    differ = sum(source != target for source, target in pairs)
    converted = sum(is_conversion(problem, source, target) for source, target in pairs)
    return differ - converted, converted


def _effects(problem: Problem, base: Member, other: Member) -> str:
    worse: list[str] = []
    better: list[str] = []
    for objective, was, now in zip(
        problem.objectives, base.objectives, other.objectives, strict=True
    ):
        if was == now:
            continue
        label = objective.label(problem)
        first, second = objective.shown(was), objective.shown(now)
        improved = second > first if objective.larger_is_better else second < first
        (better if improved else worse).append(_effect(label, first, second))
    if not worse and not better:
        return "the same figures"
    return " for ".join(" and ".join(part) for part in (worse, better) if part)


def _effect(label: str, first: float, second: float) -> str:
    if first <= 0 or not math.isfinite(first) or not math.isfinite(second):
        return f"{label} {format_number(second)} instead of {format_number(first)}"
    ratio = second / first
    if ratio >= _MANY:
        return f"{ratio:.1f}x the {label}"
    if 0 < ratio < 0.095:
        return f"{100 * ratio:.1g} % of the {label}"
    decimals = 0 if abs(ratio - 1) >= 0.02 else 1
    return f"{100 * ratio:.{decimals}f} % of the {label}"
