"""The design space of a problem in plain English: the scope of a claim about all design points."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby

import numpy as np

from paretosoc.results.io.plural import pluralize
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
from paretosoc.results.problem.problem import Problem, ProblemDomain, ProblemNetwork, ProblemUnit


def describe_space(problem: Problem) -> str:
    """Return networks, units, operating points and every limit, exactly. Problems with different
    spaces have different descriptions, as long as their costs are the same."""
    networks = ", ".join(_network(problem, network) for network in problem.networks)
    units = ", ".join(_unit(unit) for unit in problem.units)
    parts = [f"{networks} on {units}", *(_domain(domain) for domain in problem.domains)]
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
    if problem.searches_priorities:
        parts.append(f"priorities 0 to {PRIORITY_LEVELS - 1}")
    if problem.power_cap_mw is not None:
        parts.append(f"mean power at most {_decimal(problem.power_cap_mw, 3)} W")
    if problem.energy_budget_fj is not None:
        parts.append(f"energy at most {_decimal(problem.energy_budget_fj, 12)} mJ")
    if problem.memory_cap_bytes is not None:
        parts.append(f"memory at most {_decimal(problem.memory_cap_bytes, 6)} MB")
    parts += [
        f"memory of {pool.name} at most {_decimal(pool.cap_bytes, 6)} MB"
        for pool in problem.memory_pools
        if pool.cap_bytes is not None
    ]
    return "; ".join(parts)


def describe_execution(execution: ExecutionModel) -> str:
    """Return how frames follow each other: ``a pipeline, 2 frames in flight``."""
    match execution:
        case OneFrame():
            return "one frame alone"
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


def _network(problem: Problem, network: ProblemNetwork) -> str:
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
    if network.priority and not problem.searches_priorities:
        notes.append(f"priority {network.priority}")
    if network.max_transitions is not None:
        notes.append(f"at most {pluralize(network.max_transitions, 'transition')}")
    if network.max_loss_ppm is not None:
        notes.append(f"accuracy loss at most {_decimal(network.max_loss_ppm, 4)} %")
    if network.deadline_ps is not None:
        what = "response" if problem.has_rates else "latency"
        notes.append(f"{what} at most {_decimal(network.deadline_ps, 9)} ms")
    if network.max_misses is not None:
        notes.append(f"misses at most {network.max_misses}")
    if network.deadline_95_ps is not None:
        notes.append(f"95th percentile at most {_decimal(network.deadline_95_ps, 9)} ms")
    if network.max_jitter_ps is not None:
        notes.append(f"jitter at most {_decimal(network.max_jitter_ps, 9)} ms")
    if network.min_rate_uhz is not None:
        notes.append(f"rate at least {_decimal(network.min_rate_uhz, 6)} images per second")
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


def _unit(unit: ProblemUnit) -> str:
    if unit.max_segments is None:
        return unit.name
    where = "" if unit.unit is None else f" on {unit.unit}"
    return f"{unit.name} (at most {pluralize(unit.max_segments, 'segment')}{where})"


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
