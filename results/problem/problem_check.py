"""Is a problem sound? Everything that the timeline takes for granted, checked once."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np

from common.arrays import IntArray
from common.text import has_control_characters
from results.errors import ResultError
from results.problem.arithmetic import (
    MAX_LOSS_PPM,
    MAX_MEMORY_BYTES,
    MAX_PRIORITY,
    MAX_WEIGHT_BYTES,
    TIME_LIMIT_PS,
)
from results.problem.execution import (
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from results.problem.interchangeable import are_equal
from results.problem.objectives import ObjectiveKind
from results.problem.problem import (
    ChannelCosts,
    ContentionTable,
    Problem,
    ProblemNetwork,
    ProblemUnit,
)


def check_problem(problem: Problem) -> None:
    """Accepts a sound problem; paths in messages are those of ``problem.json``.

    Raises:
        ResultError: names that are not unique, indices that lead nowhere, tables of a wrong shape
            or type, times below 1 ps or too long, support that depends on clocks, waiting in a
            circle, choices that are allowed but not supported, an objective that the execution
            model does not have.
    """
    _check_names("$.networks", [network.name for network in problem.networks])
    _check_names("$.domains", [domain.name for domain in problem.domains])
    _check_names("$.units", [unit.name for unit in problem.units])
    _check_networks(problem)
    _check_edges(problem)
    _check_domains(problem)
    for u, unit in enumerate(problem.units):
        _check_unit(problem, unit, f"$.units[{u}]")
    _check_formats(problem)
    _check_allowed(problem)
    _check_objectives(problem)
    _check_execution(problem)
    if problem.searches_priorities:
        _require(
            len(problem.networks) > 1
            and isinstance(problem.execution, OneFrame | Periodic | Rates | Pipeline),
            "$.searches_priorities",
            "must be left out with one network, or where the execution model is "
            f"{FreeRunning.model} or {ClosedForm.model}",
        )


def _require(condition: bool, path: str, requirement: str) -> None:
    if not condition:
        raise ResultError(f"{path}: {requirement}")


def _check_names(path: str, names: list[str]) -> None:
    _require(bool(names), path, "must not be empty")
    seen: set[str] = set()
    for i, name in enumerate(names):
        _require(bool(name), f"{path}[{i}].name", "must not be empty")
        _check_text(name, f"{path}[{i}].name")
        _require(name not in seen, f"{path}[{i}].name", f"{name!r} stands twice")
        seen.add(name)


def _check_text(text: str, path: str) -> None:
    _require(
        not has_control_characters(text), path, f"must not have control characters, got {text!r}"
    )


def _check_networks(problem: Problem) -> None:
    count = len(problem.networks)
    first = 0
    for n, network in enumerate(problem.networks):
        path = f"$.networks[{n}]"
        _require(bool(network.group_names), f"{path}.group_names", "must not be empty")
        for name in network.group_names:
            _check_text(name, f"{path}.group_names")
        _require(
            network.first_group == first,
            f"{path}.first_group",
            f"must be {first}, after the groups of the networks before, got {network.first_group}",
        )
        first += len(network.group_names)
        _require(network.repeats >= 1, f"{path}.repeats", f"must be >= 1, got {network.repeats}")
        _require(
            network.arrival_ps >= 0, f"{path}.arrival_ps", f"must be >= 0, got {network.arrival_ps}"
        )
        _require(
            network.max_loss_ppm is None or network.max_loss_ppm >= 0,
            f"{path}.max_loss_ppm",
            f"must be null or >= 0, got {network.max_loss_ppm}",
        )
        _require(
            0 <= network.activation_bytes <= MAX_MEMORY_BYTES,
            f"{path}.activation_bytes",
            f"must be from 0 to {MAX_MEMORY_BYTES}, got {network.activation_bytes}",
        )
        _require(
            0 <= network.priority <= MAX_PRIORITY,
            f"{path}.priority",
            f"must be from 0 to {MAX_PRIORITY}, got {network.priority}",
        )
        _require(
            all(0 <= other < count for other in network.waits_for),
            f"{path}.waits_for",
            "must name networks of this problem",
        )
    for n, network in enumerate(problem.networks):
        _check_rate(problem, network, f"$.networks[{n}]")
    try:
        TopologicalSorter(
            {n: network.waits_for for n, network in enumerate(problem.networks)}
        ).prepare()
    except CycleError as error:
        names = sorted(problem.networks[n].name for n in set(error.args[1]))
        raise ResultError(
            f"$.networks: {', '.join(names)} wait for each other in a circle"
        ) from None


def _check_rate(problem: Problem, network: ProblemNetwork, path: str) -> None:
    """What is asked of releases needs that there are some, and that networks do not wait for each
    other."""
    if problem.has_rates:
        _require(not network.waits_for, f"{path}.waits_for", f"must be empty under {Rates.model}")
        _require(not problem.has_phases, path, f"must not grow under {Rates.model}")
    limits = {
        "deadline_95_ps": network.deadline_95_ps,
        "max_jitter_ps": network.max_jitter_ps,
        "max_misses": network.max_misses,
    }
    for name, value in {**limits, "paced": network.paced or None}.items():
        _require(
            value is None or problem.has_rates,
            f"{path}.{name}",
            f"must be left out but where the execution model is {Rates.model}",
        )
    for name, value in limits.items():
        _require(value is None or value >= 0, f"{path}.{name}", f"must be >= 0, got {value}")


def _check_edges(problem: Problem) -> None:
    network_of = problem.network_of
    for e, (source, target) in enumerate(problem.edges):
        path = f"$.edges[{e}]"
        _require(
            0 <= source < target < len(network_of),
            path,
            f"must lead from a lower to a higher group below {len(network_of)}, "
            f"got {source} -> {target}",
        )
        _require(
            network_of[source] == network_of[target],
            path,
            f"groups {source} and {target} are of different networks",
        )
    units = len(problem.units)
    _check_array(
        problem.transition_ps, (len(problem.edges), units, units), "$.edges[*].transition_ps"
    )
    _check_range(problem.transition_ps, 0, TIME_LIMIT_PS - 1, "$.edges[*].transition_ps")
    if problem.edge_tokens is not None:
        _check_array(problem.edge_tokens, (len(problem.edges),), "$.edges[*].tokens")
        _check_range(problem.edge_tokens, 0, np.iinfo(np.int64).max, "$.edges[*].tokens")
    _check_handovers(problem)


def _check_handovers(problem: Problem) -> None:
    """What one network leaves to another that waits for it."""
    network_of, units = problem.network_of, len(problem.units)
    for h, (source, target) in enumerate(problem.handovers):
        path = f"$.handovers[{h}]"
        _require(
            min(source, target) >= 0 and max(source, target) < len(network_of),
            path,
            f"must be groups below {len(network_of)}, got {source} -> {target}",
        )
        _require(
            network_of[source] in problem.networks[network_of[target]].waits_for,
            path,
            f"the network of group {target} must wait for that of group {source}",
        )
        _require((source, target) not in problem.handovers[:h], path, "stands twice")
    _check_array(
        problem.handovers_ps,
        (len(problem.handovers), units, units),
        "$.handovers[*].transition_ps",
    )
    _check_range(problem.handovers_ps, 0, TIME_LIMIT_PS - 1, "$.handovers[*].transition_ps")


def _check_array(array: IntArray, shape: tuple[int, ...], path: str) -> None:
    _require(
        array.shape == shape, path, f"must have the shape {list(shape)}, got {list(array.shape)}"
    )
    _require(array.dtype == np.int64, path, f"must be int64, got {array.dtype}")


def _check_range(array: IntArray, low: int, high: int, path: str) -> None:
    if array.size:
        smallest, largest = int(array.min()), int(array.max())
        _require(smallest >= low, path, f"must be >= {low}, got {smallest}")
        _require(largest <= high, path, f"must be <= {high}, got {largest}")


def _check_domains(problem: Problem) -> None:
    for d, domain in enumerate(problem.domains):
        path = f"$.domains[{d}]"
        ladder = domain.frequencies_khz
        _require(bool(ladder), f"{path}.operating_points", "must not be empty")
        _require(
            ladder[0] > 0 and all(a < b for a, b in pairwise(ladder)),
            f"{path}.operating_points[*].frequency_khz",
            "must be positive and rise",
        )
        _require(
            len(domain.voltages_mv) == len(ladder),
            f"{path}.operating_points[*].voltage_mv",
            f"must be {len(ladder)} values, got {len(domain.voltages_mv)}",
        )
        _check_array(domain.static_mw, (len(ladder),), f"{path}.operating_points[*].static_mw")
        _check_range(
            domain.static_mw, 0, np.iinfo(np.int64).max, f"{path}.operating_points[*].static_mw"
        )
        _require(
            domain.allowed.shape == (len(ladder),) and domain.allowed.dtype == np.bool_,
            f"{path}.operating_points[*].allowed",
            "must be one boolean per operating point",
        )
        _require(
            bool(domain.allowed.any()),
            f"{path}.operating_points[*].allowed",
            "must be true at one operating point at least",
        )
    memory = problem.memory_domain
    _require(
        memory is None or 0 <= memory < len(problem.domains),
        "$.memory_domain",
        f"must be a domain, got {memory}",
    )
    _require(
        memory is None or not problem.domains[memory].may_be_off,
        "$.memory_domain",
        "must be a domain that may not be off",
    )
    _require(problem.board_mw >= 0, "$.board_mw", f"must be >= 0, got {problem.board_mw}")


def _check_unit(problem: Problem, unit: ProblemUnit, path: str) -> None:
    _require(bool(unit.clocks), f"{path}.clocks", "must not be empty")
    _require(
        all(0 <= clock < len(problem.domains) for clock in unit.clocks)
        and len(set(unit.clocks)) == len(unit.clocks),
        f"{path}.clocks",
        "must be different domains of this problem",
    )
    points = tuple(len(problem.domains[clock].frequencies_khz) for clock in unit.clocks)
    largest = np.iinfo(np.int64).max
    for name, table, low, high in (
        ("time_ps", unit.time_ps, -1, TIME_LIMIT_PS - 1),
        ("demand_kbps", unit.demand_kbps, 0, largest),
        ("dynamic_mw", unit.dynamic_mw, 0, largest),
    ):
        _check_array(table, (problem.group_count, *points), f"{path}.{name}")
        _check_range(table, low, high, f"{path}.{name}")
    for g, row in enumerate(unit.time_ps):
        _require(
            bool((row == -1).all() or (row >= 1).all()),
            f"{path}.time_ps[{g}]",
            "must be -1 at all operating points (cannot run) or at least 1 at all",
        )
    if unit.step_ps is not None:
        _check_array(unit.step_ps, (problem.group_count, *points), f"{path}.step_ps")
        _check_range(unit.step_ps, 0, TIME_LIMIT_PS - 1, f"{path}.step_ps")
        for network in problem.networks:
            last = np.s_[network.first_group : network.groups.stop]
            longest = unit.time_ps[last].astype(object)
            longest = longest + unit.step_ps[last].astype(object) * (network.repeats - 1)
            _require(
                longest.max(initial=0) < TIME_LIMIT_PS,
                f"{path}.step_ps",
                f"the last of {network.repeats} repeats of {network.name} must take less than "
                "2**47 ps (140 s)",
            )
    _check_array(unit.idle_mw, points, f"{path}.idle_mw")
    _check_range(unit.idle_mw, 0, largest, f"{path}.idle_mw")
    for axis, clock in enumerate(unit.clocks[1:], start=1):
        domain = problem.domains[clock]
        _require(
            not domain.may_be_off or not np.ptp(unit.idle_mw, axis=axis).any(),
            f"{path}.idle_mw",
            f"must not depend on the clock of {domain.name!r}, which may be off while the unit is "
            "on",
        )
    if unit.contention is not None:
        memory = problem.memory_domain
        count = 1 if memory is None else len(problem.domains[memory].frequencies_khz)
        _check_contention(unit.contention, count, f"{path}.contention")
    if unit.channels is not None:
        _require(
            unit.channels.clock in unit.clocks,
            f"{path}.channels.clock",
            "must be one of the unit's clocks",
        )
        _check_channels(problem, unit.channels, f"{path}.channels")


def _check_formats(problem: Problem) -> None:
    """Entries of one unit differ in what depends on the number format only."""
    names = [unit.name for unit in problem.units]
    formats: list[tuple[str, str | None]] = []
    for u, unit in enumerate(problem.units):
        path = f"$.units[{u}]"
        if unit.weight_bytes is not None:
            _check_array(unit.weight_bytes, (problem.group_count,), f"{path}.weight_bytes")
            _check_range(unit.weight_bytes, 0, MAX_WEIGHT_BYTES, f"{path}.weight_bytes")
        if unit.loss_ppm is not None:
            _check_array(unit.loss_ppm, (problem.group_count,), f"{path}.loss_ppm")
            _check_range(unit.loss_ppm, 0, MAX_LOSS_PPM, f"{path}.loss_ppm")
        _require(
            (unit.unit is None) == (unit.number_format is None),
            f"{path}.number_format",
            "must be given where unit is, and only there",
        )
        if unit.unit is None:
            continue
        _check_text(unit.unit, f"{path}.unit")
        _check_text(unit.number_format or "", f"{path}.number_format")
        _require(unit.unit not in names, f"{path}.unit", f"{unit.unit!r} is the name of an entry")
        format_of = unit.unit, unit.number_format
        _require(format_of not in formats, f"{path}.number_format", "stands twice for this unit")
        formats.append(format_of)
        _require(
            not isinstance(problem.execution, ClosedForm),
            f"{path}.number_format",
            f"must be left out where the execution model is {ClosedForm.model}",
        )
        first = problem.units[problem.unit_of[u]]
        if first is not unit:
            _check_further_format(unit, first, path)


def _check_further_format(unit: ProblemUnit, first: ProblemUnit, path: str) -> None:
    """An entry of a unit that has one before it."""
    _require(unit.clocks == first.clocks, f"{path}.clocks", f"must be those of {first.name!r}")
    _require(
        are_equal(unit.contention, first.contention),
        f"{path}.contention",
        f"must be that of {first.name!r}",
    )
    _require(not unit.idle_mw.any(), f"{path}.idle_mw", f"must be 0: {first.name!r} has it")
    _require(
        unit.max_segments is None, f"{path}.max_segments", f"must be null: {first.name!r} has it"
    )


def _check_contention(table: ContentionTable, count: int, path: str) -> None:
    for name, array in vars(table).items():
        _check_array(array, (count,), f"{path}.{name}")
        low = 1 if name.endswith("_den") else 0
        _check_range(array, low, np.iinfo(np.int64).max, f"{path}.{name}")


def _check_channels(problem: Problem, channels: ChannelCosts, path: str) -> None:
    points = len(problem.domains[channels.clock].frequencies_khz)
    tokens = 0 if problem.edge_tokens is None else int(problem.edge_tokens.max(initial=0))
    for name, array in (("write_fs", channels.write_fs), ("read_fs", channels.read_fs)):
        _check_array(array, (points,), f"{path}.{name}")
        _check_range(array, 0, np.iinfo(np.int64).max, f"{path}.{name}")
        _require(
            tokens * int(array.max(initial=0)) < 1000 * TIME_LIMIT_PS,
            f"{path}.{name}",
            f"one channel must take less than 2**47 ps (140 s); the largest has {tokens} tokens",
        )
    _check_array(channels.busy_mw, (points,), f"{path}.busy_mw")
    _check_range(channels.busy_mw, 0, np.iinfo(np.int64).max, f"{path}.busy_mw")


def _check_execution(problem: Problem) -> None:
    """Everything that the execution model needs is there, and nothing that it does not have."""
    execution = problem.execution
    match execution:
        case Periodic() | Rates():
            _check_number(execution.period_ps, "$.execution.period_ps")
        case Pipeline() | FreeRunning():
            _check_number(execution.frames_in_flight, "$.execution.frames_in_flight")
        case ClosedForm():
            _check_closed_form(problem)
        case OneFrame():
            pass
    for i, objective in enumerate(problem.objectives):
        models = objective.kind.spec.models
        _require(
            type(execution) in models,
            f"$.objectives[{i}]",
            f"{objective.kind.value} is an objective of the execution models "
            f"{', '.join(model.model for model in models)} only; the model is {execution.model}",
        )
    for n, network in enumerate(problem.networks):
        _check_frame_of(network, execution, f"$.networks[{n}]")


def _check_number(value: int, path: str) -> None:
    _require(value >= 1, path, f"must be >= 1, got {value}")


def _check_closed_form(problem: Problem) -> None:
    _require(
        problem.edge_tokens is not None or not problem.edges,
        "$.edges[*].tokens",
        "must be given where the execution model is closed-form",
    )
    for u, unit in enumerate(problem.units):
        _require(
            unit.channels is not None,
            f"$.units[{u}].channels",
            "must be given where the execution model is closed-form",
        )


def _check_frame_of(network: ProblemNetwork, execution: ExecutionModel, path: str) -> None:
    """What a network asks of a common frame, or of a rate of its own, needs that there is one."""
    if execution.has_frame:
        _require(
            network.min_rate_uhz is None,
            f"{path}.min_rate_uhz",
            "must be null where networks share a frame",
        )
        return
    why = "where networks are free-running"
    _require(not network.waits_for, f"{path}.waits_for", f"must be empty {why}")
    _require(network.arrival_ps == 0, f"{path}.arrival_ps", f"must be 0 {why}")
    _require(network.priority == 0, f"{path}.priority", f"must be 0 {why}")
    _require(network.deadline_ps is None, f"{path}.deadline_ps", f"must be null {why}")
    if network.min_rate_uhz is not None:
        _check_number(network.min_rate_uhz, f"{path}.min_rate_uhz")


def _check_allowed(problem: Problem) -> None:
    allowed = problem.allowed
    shape = (problem.group_count, len(problem.units))
    _require(
        allowed.shape == shape and allowed.dtype == np.bool_,
        "$.allowed",
        f"must be booleans of the shape {list(shape)}, got {allowed.dtype} {list(allowed.shape)}",
    )
    for u, unit in enumerate(problem.units):
        supported = unit.time_ps.reshape(problem.group_count, -1)[:, 0] >= 1
        for g in np.flatnonzero(allowed[:, u] & ~supported):
            _require(False, f"$.allowed[{g}][{u}]", f"{unit.name!r} cannot run group {g}")


def _check_objectives(problem: Problem) -> None:
    _require(bool(problem.objectives), "$.objectives", "must not be empty")
    for i, objective in enumerate(problem.objectives):
        path = f"$.objectives[{i}]"
        _require(objective not in problem.objectives[:i], path, "stands twice")
        if objective.network is not None:
            _require(
                objective.kind.spec.of_one_network,
                path,
                f"{objective.kind.value} is never of one network",
            )
            _require(
                0 <= objective.network < len(problem.networks),
                path,
                f"must name a network of this problem, got {objective.network}",
            )
        elif objective.kind.spec.needs_network:
            _require(False, path, f"{objective.kind.value} must name a network")
    limited = any(network.max_loss_ppm is not None for network in problem.networks)
    if limited or any(o.kind is ObjectiveKind.ACCURACY_LOSS for o in problem.objectives):
        for u, unit in enumerate(problem.units):
            _require(
                unit.loss_ppm is not None,
                f"$.units[{u}].loss_ppm",
                "must be given where accuracy is an objective or limited",
            )
    if problem.memory_cap_bytes is not None:
        cap = problem.memory_cap_bytes
        _require(cap >= 0, "$.memory_cap_bytes", f"must be null or >= 0, got {cap}")
    is_objective = any(o.kind is ObjectiveKind.MEMORY for o in problem.objectives)
    if problem.memory_cap_bytes is not None or is_objective:
        for u, unit in enumerate(problem.units):
            _require(
                unit.weight_bytes is not None,
                f"$.units[{u}].weight_bytes",
                "must be given where memory is an objective or limited",
            )
