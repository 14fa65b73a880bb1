"""Assembles the numeric problem from costed networks, a platform and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from common.arrays import IntArray
from common.units import FJ_PER_MJ, PS_PER_MS, UHZ_PER_HZ
from dse.errors import WorkloadError
from dse.problem.domains import problem_domains
from dse.problem.execution import choose_execution
from dse.problem.mapping_constraints import allowed_units
from dse.problem.phases import (
    of_continued,
)
from dse.workload.options import Options, parse_objective
from dse.workload.releases import with_default_objectives
from dse.workload.workload import Workload, WorkloadNetwork
from fitness.contention import contention_table, round_half_up
from fitness.cost_model.channels import channel_costs
from fitness.cost_model.power import unit_idle_mw
from fitness.cost_model.tables import NetworkCosts, UnitCosts
from platforms.platform import Platform, Unit
from results.io.canonical_json import INT64_MAX
from results.problem.execution import ClosedForm
from results.problem.problem import ChannelCosts, Problem, ProblemNetwork, ProblemUnit
from sdf.grouping.groups import GroupedNetwork


def assemble(
    workload: Workload,
    platform: Platform,
    options: Options,
    units: Sequence[Unit],
    networks: Sequence[GroupedNetwork],
    costs: Sequence[NetworkCosts],
    precision: str,
    board_mw: int,
) -> Problem:
    """The tables of all networks one after the other, with limits and objectives from the options.

    Args:
        networks: one per network of the workload, as ``costs``.
        board_mw: power that nothing changes.

    Raises:
        WorkloadError: on an objective, limit or pin of a network that is not there.
    """
    options = with_default_objectives(options, workload)
    names = tuple(network.name for network in workload.networks)
    first = np.cumsum([0] + [len(network.groups) for network in networks]).tolist()
    domains = problem_domains(platform, units, options.fixed)
    index = {domain.name: d for d, domain in enumerate(domains)}
    memory = index[platform.memory.domain]
    objectives = tuple(
        of_continued(parse_objective(text, names), text, workload) for text in options.objectives
    )
    if len(set(objectives)) != len(objectives):
        raise WorkloadError(f"objectives: each at most once, got {', '.join(options.objectives)}")
    execution = choose_execution(workload, options, objectives)
    closed_form = isinstance(execution, ClosedForm)
    problem_units = tuple(
        _unit(
            platform,
            unit,
            [table.units[u].time_ps for table in costs],
            [table.units[u].demand_kbps for table in costs],
            [table.units[u].dynamic_mw for table in costs],
            _steps([table.units[u] for table in costs]),
            index,
            channel_costs(platform, unit, precision, index) if closed_form else None,
        )
        for u, unit in enumerate(units)
    )
    deadlines = _of_networks("--deadline", options.deadlines_ms, names, min)
    rates = _of_networks("--min-rate", options.min_rates_hz, names, max)
    return Problem(
        networks=tuple(
            _network(
                entry,
                networks[n],
                first[n],
                names,
                options,
                deadlines.get(entry.name),
                rates.get(entry.name),
            )
            for n, entry in enumerate(workload.networks)
        ),
        edges=tuple(
            (first[n] + edge.source, first[n] + edge.target)
            for n, network in enumerate(networks)
            for edge in network.edges
        ),
        transition_ps=np.concatenate([table.transition_ps for table in costs]),
        domains=domains,
        units=problem_units,
        memory_domain=memory,
        board_mw=board_mw,
        allowed=allowed_units(workload, options.pins, networks, problem_units),
        objectives=objectives,
        execution=execution,
        power_cap_mw=_scaled(options.power_cap_w, 1000),
        energy_budget_fj=_scaled(options.energy_budget_mj, FJ_PER_MJ),
        edge_tokens=_edge_tokens(networks),
        searches_priorities=options.search_priorities,
    )


def _edge_tokens(networks: Sequence[GroupedNetwork]) -> IntArray | None:
    """[edges]: tokens are tensor elements; None where there is no edge."""
    tokens = [edge.elements for network in networks for edge in network.edges]
    return np.array(tokens, dtype=np.int64) if tokens else None


def _scaled(value: Fraction | None, factor: int) -> int | None:
    """A limit in integer units, rounded down, at least 1; int64's largest where nothing could pass
    it."""
    return None if value is None else min(max(1, int(value * factor)), INT64_MAX)


def _of_networks(
    option: str,
    given: Sequence[tuple[str | None, Fraction]],
    names: Sequence[str],
    stricter: Callable[[Fraction, Fraction], Fraction],
) -> dict[str, Fraction]:
    """The strictest value for each network that has one; None is all networks."""
    limits: dict[str, Fraction] = {}
    for network, value in given:
        if network is not None and network not in names:
            raise WorkloadError(
                f"{option}: there is no network {network!r} in the workload "
                f"(there are {', '.join(names)})"
            )
        for name in names if network is None else [network]:
            limits[name] = stricter(value, limits.get(name, value))
    return limits


def _network(
    entry: WorkloadNetwork,
    network: GroupedNetwork,
    first: int,
    names: Sequence[str],
    options: Options,
    deadline: Fraction | None,
    rate: Fraction | None,
) -> ProblemNetwork:
    limits = [k for k in (entry.max_transitions, options.max_transitions) if k is not None]
    deadlines = [value for value in (entry.deadline_ms, deadline) if value is not None]
    rates = [value for value in (entry.min_rate_hz, rate) if value is not None]
    return ProblemNetwork(
        name=entry.name,
        first_group=first,
        group_names=tuple(group.name for group in network.groups),
        repeats=entry.repeats,
        waits_for=tuple(names.index(name) for name in entry.waits_for),
        arrival_ps=round_half_up(entry.arrival_ms * PS_PER_MS),
        max_transitions=min(limits) if limits else None,
        deadline_ps=_scaled(min(deadlines), PS_PER_MS) if deadlines else None,
        # Rounded up, as rates are rounded down.
        min_rate_uhz=ceil(max(rates) * UHZ_PER_HZ) if rates else None,
        priority=entry.priority,
        paced=entry.rate_hz is not None,
        deadline_95_ps=_scaled(entry.deadline_95_ms, PS_PER_MS),
        max_jitter_ps=None if entry.max_jitter_ms is None else int(entry.max_jitter_ms * PS_PER_MS),
        max_misses=entry.max_misses,
    )


def _unit(
    platform: Platform,
    unit: Unit,
    times: Sequence[IntArray],
    demands: Sequence[IntArray],
    powers: Sequence[IntArray],
    steps: IntArray | None,
    index: dict[str, int],
    channels: ChannelCosts | None,
) -> ProblemUnit:
    demand = np.concatenate(demands)
    contention = None
    if unit.contention is not None:
        memory = platform.domain_by_name[platform.memory.domain].operating_points
        fastest = memory[-1].frequency_khz
        contention = contention_table(
            unit.contention,
            [Fraction(point.frequency_khz, fastest) for point in memory],
            demand.reshape(-1, demand.shape[-1]).max(axis=0).tolist(),
        )
    return ProblemUnit(
        name=unit.name,
        clocks=tuple(index[clock] for clock in unit.clocks),
        time_ps=np.concatenate(times),
        demand_kbps=demand,
        dynamic_mw=np.concatenate(powers),
        idle_mw=unit_idle_mw(platform, unit),
        contention=contention,
        max_segments=unit.max_segments,
        channels=channels,
        step_ps=steps,
    )


def _steps(costs: Sequence[UnitCosts]) -> IntArray | None:
    """[groups of all networks, ...]; None where nothing grows."""
    if all(table.step_ps is None or not table.step_ps.any() for table in costs):
        return None
    return np.concatenate(
        [np.zeros_like(t.time_ps) if t.step_ps is None else t.step_ps for t in costs]
    )
