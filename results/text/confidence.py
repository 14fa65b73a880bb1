"""How sure figures are, in words and as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from math import hypot, isinf, log
from typing import TYPE_CHECKING

from paretosoc.common.tables import fitting_tables
from paretosoc.common.units import NINE_OF_TEN, ONE_OF_TWO, percent_off
from paretosoc.results.costs.cost_origins import CostError, CostOrigin, CostOrigins
from paretosoc.results.front.choices import ChoiceConfidence, Confidence
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import KNEE, mark_members
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import names_of_kinds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_MOST_NAMED = 6


def describe_costs(front: Front, origins: CostOrigins | None) -> list[str]:
    """Return how far the times, powers and effects of contention are off that the members of a
    front are made of."""
    if origins is None or not front.members:
        return []
    problem = front.problem
    names = names_of_kinds(problem)
    used = sorted({u for member in front.members for u in member.design.units.tolist()})
    powers = {0}
    grows = False
    found: dict[str, tuple[list[int], dict[str, dict[str, None]]]] = {}
    for network in origins.networks:
        for u in used:
            entries = [group.by_unit[u] for group in network.groups]
            runs = [entry for entry in entries if entry.origin is not CostOrigin.CANNOT_RUN]
            if runs:
                powers |= {entry.error.power for entry in runs}
                grows |= any(entry.error.clock for entry in runs)
                scales = [_at_fastest(problem, u, entry.error) for entry in runs]
                scale = max(scales)
                least = runs[scales.index(scale)]
                words = least.origin.value + _measured_at(problem, u, least.error)
                of_origin, units_of = found.setdefault(words, ([], {}))
                of_origin.append(scale)
                units_of.setdefault(network.name, {})[names[u]] = None
    times = "; ".join(
        f"{_range(scales)} and {_range(scales, NINE_OF_TEN)} % "
        f"({words}: {_places(problem, units_of)})"
        for words, (scales, units_of) in found.items()
    )
    where = " at the fastest clocks" if grows else ""
    lines = [f"Errors of times{where}, median and 90th percentile: {times}."]
    others = _contention(front, origins)
    if any(member.energy_fj for member in front.members):
        power, idle = percent_off(max(powers)), percent_off(origins.idle_error)
        apart = f"powers above idle {power} %, idle power {idle} %"
        others = [apart if power != idle else f"powers {power} %", *others]
    else:
        lines.append("No power is known.")
    if others:
        lines.append(f"Other errors, median: {'; '.join(others)}.")
    if origins.measured:
        count = len(origins.measured)
        lines.append(
            f"{count} measurement{'s' * (count > 1)} of the board since, which error bars know and "
            "the objectives do not."
        )
    return lines


def _range(scales: Sequence[int], wide: float = ONE_OF_TWO) -> str:
    """Return ``2`` or ``8 to 15``: percent."""
    least, most = percent_off(min(scales), wide), percent_off(max(scales), wide)
    return f"{least}" if least == most else f"{least} to {most}"


def _contention(front: Front, origins: CostOrigins) -> list[str]:
    """Return the errors of contention between networks. Nothing unless some member has two of them
    on different units, or on a shared one."""
    problem = front.problem
    apart = shared = False
    for member in front.members:
        networks_on: dict[int, set[int]] = {}
        for g, u in enumerate(member.design.units.tolist()):
            networks_on.setdefault(problem.unit_of[u], set()).add(problem.network_of[g])
        several = len(set().union(*networks_on.values())) > 1
        apart |= several and len(networks_on) > 1
        shared |= any(
            len(networks) > 1 and problem.units[u].dispatch == SHARED
            for u, networks in networks_on.items()
        )
    errors = []
    if apart and origins.demand_error:
        errors.append(f"bandwidth demand {percent_off(origins.demand_error)} %")
    if shared and origins.sharing_error:
        errors.append(f"overhead of a shared unit {percent_off(origins.sharing_error)} %")
    return [f"contention between networks: {', '.join(errors)}"] if errors else []


def _at_fastest(problem: Problem, u: int, error: CostError) -> int:
    """Return the standard error of a network's time on a unit at the fastest clocks that are
    offered, in thousandths."""
    known = error.known_khz(problem.domains)
    slower = (abs(log(_fastest(problem, d) / known[d])) for d in problem.units[u].clocks)
    return round(hypot(error.of_network, *(error.clock * each for each in slower)))


def _measured_at(problem: Problem, u: int, error: CostError) -> str:
    """Return `` at gpu 408, emc 2133 MHz`` for a time that was measured at other clocks than the
    fastest that are offered, else nothing."""
    measured = dict(error.at_khz)
    clocks = [
        f"{name} {measured[name] / 1000:g}"
        for d in problem.units[u].clocks
        if (name := problem.domains[d].name) in measured and measured[name] != _fastest(problem, d)
    ]
    return f" at {', '.join(clocks)} MHz" if clocks else ""


def _fastest(problem: Problem, d: int) -> int:
    domain = problem.domains[d]
    return max(compress(domain.frequencies_khz, domain.allowed))


def _places(problem: Problem, units_of: dict[str, dict[str, None]]) -> str:
    """Return ``vgg19, resnet50 on gpu, dla``; networks on the same units are named together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for network, units in units_of.items():
        together.setdefault(tuple(units), []).append(network)
    return ", and ".join(
        ("all networks" if len(names) == len(problem.networks) > 1 else ", ".join(names))
        + f" on {', '.join(units)}"
        for units, names in together.items()
    )


def confidence_views(front: Front, found: Confidence, width: int) -> list[RenderableType]:
    """Return a table of the choices, in parts that fit into this width, and what it says about each
    goal."""
    return [
        f"{found.draws} draws of the costs, seed {found.seed}. Figures: 5th to 95th percentile.",
        "",
        *_tables(front, found, width),
        *describe_confidence(front, found),
    ]


def describe_confidence(front: Front, found: Confidence) -> list[str]:
    """Return which choice is advised for each goal and what it cannot be told apart from, and how
    often limits are kept that a draw breaks."""
    goals = found.choices[0].goals
    return [
        *(line for goal in goals for line in _judged(front, found, goal)),
        *describe_limits(found),
    ]


def _tables(front: Front, found: Confidence, width: int) -> list[Table | str]:
    marks = mark_members(front)
    uncertain = any(entry.meets_limits < 1 for entry in found.choices)
    figures = (name.replace(" [", "\n").removesuffix("]") for name in found.choices[0].intervals)
    goals = list(found.choices[0].goals)
    return fitting_tables(
        [
            *(">\n#", ""),
            *(f">{figure}" for figure in figures),
            *([">keeps all\nlimits"] if uncertain else []),
            *(f">{goal}:\nbest, regret" for goal in goals),
        ],
        [
            [
                str(entry.member),
                ", ".join(marks.get(entry.member, ())),
                *(_interval(interval) for interval in entry.intervals.values()),
                *((_share(entry.meets_limits),) if uncertain else ()),
                *(_odds(entry, goal) for goal in goals),
            ]
            for entry in found.choices
        ],
        2,
        width,
        ["bold" if entry.member in marks else None for entry in found.choices],
    )


def _interval(values: tuple[float, float]) -> str:
    least, most = ("overloaded" if isinf(value) else format_number(value) for value in values)
    return f"{least} to {most}"


def _odds(entry: ChoiceConfidence, goal: str) -> str:
    odds = entry.goals[goal]
    regret = "" if odds.regret is None else f", {100 * odds.regret:.1f} %"
    return f"{_share(odds.best)}{regret}"


def _judged(front: Front, found: Confidence, goal: str) -> Iterable[str]:
    """Return which choice is advised for a goal, how sure that is, and which are as good."""
    advised = found.advised(goal)
    odds = advised.goals[goal]
    if odds.regret is None:
        yield f"{goal}: no choice keeps all limits in any draw."
        return
    names = ", ".join(mark_members(front).get(advised.member, ()))
    behind = "of the front's ranges behind" if goal == KNEE else "worse than"
    text = (
        f"{goal}: take member {advised.member}{f' ({names})' if names else ''}: best with "
        f"{_share(odds.best)}, in the mean {100 * odds.regret:.1f} % {behind} the best member"
    )
    if advised.meets_limits < 1:
        text += f", keeps all limits with {_share(advised.meets_limits)}"
    text += "."
    pairs = [pair for pair in found.alike[goal] if advised.member in pair]
    others = [str(a + b - advised.member) for a, b in pairs]
    if others:
        more = len(others) - _MOST_NAMED
        listed = ", ".join(others[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        text += f" It cannot be told apart from {listed}."
    yield text


def describe_limits(found: Confidence) -> list[str]:
    """Return, for each limit that some draws break, in how many draws it is kept."""
    lines = []
    for name in found.choices[0].limits:
        shares = {entry.member: entry.limits[name] for entry in found.choices}
        rarest = min(shares, key=shares.__getitem__)
        least, most = _share(shares[rarest]), _share(max(shares.values()))
        if shares[rarest] < 1:
            text = f"Limit on {name}: kept in {least} of {found.draws} draws by member {rarest}"
            lines.append(text + ("." if least == most else f", in up to {most} by others."))
    return lines


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"
