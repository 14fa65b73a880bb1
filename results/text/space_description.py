"""The design space of a problem in plain English: the scope of a claim about all design points, and
names of equal units."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import groupby

import numpy as np

from paretosoc.common.text import pluralize
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import (
    ChannelUse,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.limits import UNITS, LimitSpec, Of, fields_of
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork
from paretosoc.results.problem.problem import Problem


def describe_space(problem: Problem) -> str:
    """Return networks, units, operating points and every limit, exactly. Problems with different
    spaces have different descriptions, as long as their costs are the same."""
    networks = ", ".join(_network(problem, n) for n in range(len(problem.networks)))
    units = ", ".join(_unit(problem, u) for u in range(len(problem.units)))
    runtime = f" for {problem.runtime}" if problem.runtime else ""
    parts = [f"{networks} on {units}{runtime}", *(_domain(domain) for domain in problem.domains)]
    match problem.execution:
        case Periodic(period):
            parts.append(f"makespan at most the period, {_decimal(period, 9)} ms")
        case Pipeline(frames):
            parts.append(f"at most {pluralize(frames, 'frame')} in flight")
        case Rates(period):
            parts.append(f"what recurs, with a period of {_decimal(period, 9)} ms")
        case FreeRunning(frames):
            frames_of = f"{pluralize(frames, 'frame')} of each network"
            parts.append(f"at most {frames_of}, which run freely")
    if problem.guarantee and problem.tolerance_permille is not None:
        least, most = (_decimal(permille, 3) for permille in problem.tolerance_permille)
        parts.append(f"deadlines guaranteed for {least} to {most} times the nominal times")
    if problem.searched_order is not None:
        of_each = problem.searched_order.value
        parts.append(f"priorities of {of_each} from 0 to {PRIORITY_LEVELS - 1}")
    parts += _limits(problem, Of.ALL)
    for p, pool in enumerate(problem.memory_pools):
        parts += _limits(problem, Of.POOL, p, f" of {pool.name}")
    return "; ".join(parts)


def describe_execution(execution: ExecutionModel) -> str:
    """Return how frames follow each other: ``a pipeline, 2 frames in flight``."""
    match execution:
        case OneFrame():
            return "one frame at a time"
        case Periodic(period):
            return f"a frame every {_decimal(period, 9)} ms"
        case Rates(period):
            return f"networks with rates of their own, period {_decimal(period, 9)} ms"
        case Pipeline(frames):
            return f"a pipeline, {pluralize(frames, 'frame')} in flight"
        case ClosedForm(channels, idle_time):
            time = idle_time.value.replace("-", " ")
            return f"a pipeline in closed form, {_CHANNELS[channels]}, T = {time}"
        case FreeRunning(frames):
            return f"free-running networks, {pluralize(frames, 'frame')} of each in flight"


_CHANNELS = {ChannelUse.BETWEEN_UNITS: "channels between units", ChannelUse.ALL: "all channels"}


def _limits(problem: Problem, of: Of, index: int = 0, which: str = "") -> list[str]:
    """Return the limits that one owner sets, in the order that published claims have."""
    owner = of.of(problem)[index]
    limits = [
        (next((kind for kind in kinds if kind.applies(problem)), kinds[0]), getattr(owner, field))
        for field, kinds in fields_of(of).items()
    ]
    return [
        _limit(kind, value, which)
        for kind, value in sorted(limits, key=lambda limit: limit[0].is_described_last)
        if value is not None
    ]


def _limit(kind: LimitSpec, value: int, which: str) -> str:
    if kind.counts is not None:
        return f"{kind.at} {pluralize(value, kind.counts)}"
    factor, unit = UNITS[kind.unit]
    number = _decimal(value * kind.scale, len(str(factor)) - 1)
    words = f"{kind.described or kind.words}{which} {kind.at} {number} {unit}"
    return words.replace("images/s", "images per second").rstrip()


def _network(problem: Problem, n: int) -> str:
    network = problem.networks[n]
    notes = [pluralize(len(network.group_names), "group")]
    if network.batch > 1:
        notes.append(f"batches of {network.batch}")
    if network.repeats > 1:
        notes.append(f"{network.repeats} times a {'period' if problem.has_rates else 'frame'}")
    if network.paced:
        notes.append("released evenly")
    if network.waits_for:
        notes.append(f"after {' and '.join(problem.networks[n].name for n in network.waits_for)}")
    if network.arrival_ps:
        notes.append(f"from {_decimal(network.arrival_ps, 9)} ms on")
    if network.priority and problem.searched_order is None:
        notes.append(f"priority {network.priority}")
    notes += _limits(problem, Of.NETWORK, n)
    return f"{network.name} ({', '.join([*notes, *_pins(problem, network)])})"


def _pins(problem: Problem, network: ProblemNetwork) -> list[str]:
    """Return neighbouring groups that may not use every unit that can run them."""
    can_run = np.stack(
        [unit.time_ps.reshape(problem.group_count, -1)[:, 0] >= 0 for unit in problem.units], axis=1
    )

    def units_of(group: int) -> str | None:
        if (problem.allowed[group] == can_run[group]).all():
            return None
        return " or ".join(problem.units[u].name for u in np.flatnonzero(problem.allowed[group]))

    pins = []
    for units, groups in groupby(network.groups, key=units_of):
        places = [group - network.first_group for group in groups]
        if units is not None:
            which = f"groups {places[0]} to {places[-1]}" if places[1:] else f"group {places[0]}"
            pins.append(f"{which} on {units} only")
    return pins


def _unit(problem: Problem, u: int) -> str:
    unit = problem.units[u]
    where = "" if unit.unit is None else f" on {unit.unit}"
    notes = [f"{limit}{where}" for limit in _limits(problem, Of.UNIT, u)]
    return f"{unit.name} ({', '.join(notes)})" if notes else unit.name


def _domain(domain: ProblemDomain) -> str:
    clocks = [_decimal(khz, 3) for khz in np.array(domain.frequencies_khz)[domain.allowed].tolist()]
    points = np.flatnonzero(domain.allowed)
    if len(points) > 1 and points[-1] - points[0] == len(points) - 1:
        text = f"{domain.name} at any of {len(clocks)} clocks from {clocks[0]} to {clocks[-1]} MHz"
    else:
        text = f"{domain.name} at {' or '.join(clocks)} MHz"
    return f"{text}, off where unused" if domain.may_be_off else text


def _decimal(value: int, places: int) -> str:
    """Return ``value`` x 10^-places, exactly."""
    return f"{Decimal(value).scaleb(-places).normalize():f}"


def describe_fixed_clocks(problem: Problem) -> str | None:
    """Return ``cpu at 1190.4 MHz (no unit of gpu, dla0 runs on it, and it is never off); emc at
    2133 MHz (fixed)``: all domains that have several operating points and may run at one only, or
    None if there is none."""
    used = {clock for unit in problem.units for clock in unit.clocks} | {problem.memory_domain}
    parked: list[str] = []
    fixed: list[str] = []
    for d, domain in enumerate(problem.domains):
        if len(domain.frequencies_khz) == 1 or domain.allowed.sum() != 1:
            continue
        khz = domain.frequencies_khz[int(domain.allowed.argmax())]
        (fixed if d in used else parked).append(f"{domain.name} at {khz / 1000:g} MHz")
    parts = []
    if parked:
        units = ", ".join(dict.fromkeys(unit.unit_name for unit in problem.units))
        they = "it is" if len(parked) == 1 else "they are"
        parts.append(f"{', '.join(parked)} (no unit of {units} runs on it, and {they} never off)")
    if fixed:
        parts.append(f"{', '.join(fixed)} (fixed)")
    return "; ".join(parts) if parts else None


_NUMBER = re.compile("[-_]?(?<![0-9])[0-9]+$")
"""Digits at the end of a name. They are looked at from their first on only."""


def without_number(name: str) -> str:
    """Return ``dla`` of ``dla0``, and ``dla:int8`` of ``dla0:int8``. A name that is only a number
    stays."""
    unit, colon, number_format = name.partition(":")
    return (_NUMBER.sub("", unit) or unit) + colon + number_format


def names_of_kinds(problem: Problem) -> tuple[str, ...]:
    """Return the name of each unit, without the number if another unit has the same costs,
    [units]."""
    costs = [
        (
            *(table.tobytes() for table in (unit.time_ps, unit.demand_kbps, unit.dynamic_mw)),
            unit.idle_mw.tobytes(),
            problem.allowed[:, u].tobytes(),
        )
        for u, unit in enumerate(problem.units)
    ]
    return tuple(
        without_number(unit.name) if costs.count(own) > 1 else unit.name
        for unit, own in zip(problem.units, costs, strict=True)
    )
