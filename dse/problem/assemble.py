"""Assembles the numeric problem from costed networks, a platform and options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import ANY
from paretosoc.dse.problem.domains import allowed_units, problem_domains
from paretosoc.dse.problem.execution import choose_execution, guarantees
from paretosoc.dse.problem.memory_tables import memory_tables
from paretosoc.dse.problem.phases import of_continued
from paretosoc.dse.problem.runtime_limits import (
    CHOSEN,
    CHOSEN_TRANSITIONS,
    can_be_split,
    dispatch_of,
    transition_limit,
    why_so_many,
    without_rivals,
)
from paretosoc.dse.problem.warnings import unknown_power
from paretosoc.dse.workload.objectives import parse_objective, with_default_objectives
from paretosoc.dse.workload.options import FIELDS, NETWORK_LIMITS, Options, as_written
from paretosoc.dse.workload.with_options import strictest, with_limits
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.fitness.contention import contention_table
from paretosoc.fitness.cost_model.power import unit_idle_mw
from paretosoc.fitness.cost_model.tables import NetworkCosts, UnitCosts, of_all_groups
from paretosoc.fitness.costs.number_formats import UnitFormat
from paretosoc.fitness.costs.transitions import channel_costs
from paretosoc.fitness.profiles.loss_table import COLUMNS
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.source import round_half_up
from paretosoc.results.problem.execution import ClosedForm, LongRun, frames_in_flight
from paretosoc.results.problem.objectives import Kind, ObjectiveKind
from paretosoc.results.problem.parts import ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime
from paretosoc.sdf.grouping.groups import GroupedNetwork


def assemble(
    workload: Workload,
    platform: Platform,
    options: Options,
    units: Sequence[UnitFormat],
    networks: Sequence[GroupedNetwork],
    costs: Sequence[NetworkCosts],
    board_mw: int,
    losses: Sequence[IntArray] | None = None,
    runtime: Runtime = Runtime.NONE,
) -> tuple[Problem, tuple[str, ...], tuple[str, ...]]:
    """Return the tables of all networks one after the other, with limits and objectives from the
    options, notes on what networks may not do that nobody forbade and on unknown powers, and those
    on limits that are raised for groups that units cannot run.

    Args:
        units: units with their number formats. ``costs`` have tables for each of them.
        networks: one per network of the workload, as ``costs``.
        board_mw: power that nothing changes.
        losses: [groups of all networks] of each of ``units``: accuracy in ppm, or None if it is not
            known.

    Raises:
        WorkloadError: on an objective, limit or pin of a network that does not exist.
    """
    tables = [of_all_groups(of_unit) for of_unit in zip(*(c.units for c in costs), strict=True)]
    has_powers = any(table.dynamic_mw.any() for table in tables)
    knows_power = board_mw > 0 or platform.knows_power or has_powers
    options = with_default_objectives(options, workload, knows_power=knows_power)
    names = workload.names
    sizes = [len(network.groups) for network in networks]
    first = np.cumsum([0, *sizes]).tolist()
    chips_units = list(dict.fromkeys(entry.unit for entry in units))
    domains = problem_domains(platform, chips_units, options.fixed)
    index = {domain.name: d for d, domain in enumerate(domains)}
    memory = index[platform.memory.domain]
    objectives = tuple(
        of_continued(parse_objective(text, names), text, workload) for text in options.objectives
    )
    if len(set(objectives)) != len(objectives):
        got = ", ".join(options.objectives)
        raise WorkloadError(f"{as_written('objectives')}: each at most once, got {got}")
    execution = choose_execution(workload, options, objectives)
    kinds = {part.kind for objective in objectives for part in objective.parts(names)}
    workload = with_limits(workload, options)
    closed_form = isinstance(execution, ClosedForm)
    if closed_form and any(entry.is_choice for entry in units):
        raise WorkloadError(
            f"{as_written('throughput_model')}: the closed form has one number format; "
            f"{as_written('precision')} with several needs the timeline"
        )
    frames = frames_in_flight(execution) if isinstance(execution, LongRun) else 1
    held = memory_tables(
        options,
        units,
        networks,
        platform,
        frames=frames,
        has_phases=any(network.continues is not None for network in workload.networks),
        is_objective=ObjectiveKind.MEMORY in kinds,
    )
    rules = RUNTIMES[runtime]
    dispatch = dispatch_of(chips_units, rules, options)
    problem_units = tuple(
        replace(
            _unit(
                platform,
                entry,
                tables[u],
                # All number formats of a unit have one contention, of the largest demands.
                np.maximum.reduce(
                    [
                        table.demand_kbps
                        for table, other in zip(tables, units, strict=True)
                        if other.unit is entry.unit
                    ]
                ),
                index,
                is_first=all(other.unit is not entry.unit for other in units[:u]),
            ),
            channels=channel_costs(platform, entry.unit, entry.number_format, index)
            if closed_form
            else None,
            loss_ppm=None if losses is None else losses[u],
            weight_bytes=None if held is None else held.weights[u],
            memory_pool=0 if held is None else held.pool_of[u],
            loads_whole_networks=held is not None and entry.unit.loads_whole_networks,
            dispatch=dispatch[entry.unit.name][0],
            sharing_permille=dispatch[entry.unit.name][1],
            moves_tensors=entry.unit.kind in rules.moving_kinds,
        )
        for u, entry in enumerate(units)
    )
    _check_losses(options, kinds, losses)
    most_loss = strictest("max_accuracy_loss_percent", options, workload)
    allowed = allowed_units(
        workload, options.pins, networks, problem_units, costs, platform, runtime
    )
    rivals = rules.rivals(platform)
    allowed, kept = without_rivals(allowed, sizes, problem_units, rivals)
    notes = [
        f"{names[n]}: {rules.title} has one of {unit}, {', '.join(rivals[unit])} in a network: "
        f"{unit}, or the one of {as_written('pins')}"
        for n, unit in kept
    ]
    limits, raised = [], []
    for n, entry in enumerate(workload.networks):
        # The default is for engines: actors of a graph run where they are fastest.
        most = entry.max_transitions
        asked = ANY if entry.is_graph and most == CHOSEN else most
        place = (
            allowed[first[n] : first[n + 1]],
            [(edge.source, edge.target) for edge in networks[n].edges],
            problem_units,
        )
        limit, forced = transition_limit(asked, *place)
        layers = [layer.name for group in networks[n].groups for layer in group.layers]
        if not can_be_split(rules, layers):
            limit, forced = 0, 0
            notes.append(
                f"{entry.name}: stays on one unit, since its layers have names that {rules.title} "
                "cannot give to different ones"
            )
        limits.append(limit)
        if forced > CHOSEN_TRANSITIONS:
            raised.append(
                f"{entry.name}: at most {limit} unit changes, as {why_so_many(*place)} {forced} "
                f"({as_written('max_transitions')} sets another limit)"
            )
    tokens = [edge.elements for network in networks for edge in network.edges]
    tolerance = options.tolerance
    problem = Problem(
        networks=tuple(
            _network(
                entry,
                networks[n],
                first[n],
                names,
                options,
                most_loss.get(entry.name),
                (0,) if held is None else held.activations[n],
                in_pools=held is not None and bool(held.pools),
                max_transitions=limits[n],
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
        allowed=allowed,
        objectives=objectives,
        execution=execution,
        **_problem_fields(
            {
                "power_cap_w": FIELDS["power_cap_w"].strictest(
                    (options.power_cap_w, workload.power_cap_w)
                ),
                "energy_budget_mj": options.energy_budget_mj,
            }
        ),
        memory_cap_bytes=None if held is None else held.cap,
        memory_pools=() if held is None else held.pools,
        edge_tokens=np.array(tokens, dtype=np.int64) if tokens else None,
        searched_order=options.search_order,
        runtime=None if runtime is Runtime.NONE else runtime.value,
        # Rounded outwards.
        tolerance_permille=tolerance and (floor(tolerance[0] * 1000), ceil(tolerance[1] * 1000)),
        guarantee=guarantees(workload, options),
    )
    if not knows_power:
        notes += unknown_power(problem, platform.name)
    return problem, tuple(notes), tuple(raised)


def _problem_fields(values: Mapping[str, Fraction | int | None]) -> dict[str, Any]:
    """Return the problem's fields of limits, from their values by the option's name."""
    specs = {name: FIELDS[name].spec for name in values}
    return {
        spec.field: FIELDS[name].figure(values[name])
        for name, spec in specs.items()
        if spec is not None and spec.field is not None
    }


def _network(
    entry: WorkloadNetwork,
    network: GroupedNetwork,
    first: int,
    names: Sequence[str],
    options: Options,
    loss_percent: Fraction | None,
    activation_bytes: tuple[int, ...],
    *,
    in_pools: bool,
    max_transitions: int | None,
) -> ProblemNetwork:
    limits = {name: getattr(entry, name) for name in NETWORK_LIMITS}
    limits["max_accuracy_loss_percent"] = loss_percent
    limits["max_transitions"] = max_transitions
    return ProblemNetwork(
        name=entry.name,
        first_group=first,
        group_names=tuple(group.name for group in network.groups),
        repeats=entry.repeats,
        waits_for=tuple(names.index(name) for name in entry.waits_for),
        arrival_ps=round_half_up(entry.arrival_ms * PS_PER_MS),
        priority=entry.priority,
        activation_bytes=max(activation_bytes),
        group_activation_bytes=activation_bytes if in_pools else None,
        paced=entry.rate_hz is not None,
        batch=entry.batch,
        jitter_ps=ceil(entry.jitter_ms * PS_PER_MS),
        batch_wait_ps=ceil(entry.batch_wait_ms * PS_PER_MS),
        **_problem_fields(limits),
    )


def _check_losses(
    options: Options, kinds: Collection[Kind], losses: Sequence[IntArray] | None
) -> None:
    """Check that the loss of formats is known if accuracy is an objective or limited."""
    name = "max_accuracy_loss_percent"
    asked = as_written(name) if options.max_accuracy_loss_percent else None
    if ObjectiveKind.ACCURACY_LOSS in kinds:
        asked = f"the objective {ObjectiveKind.ACCURACY_LOSS.value}"
    if asked is not None and losses is None:
        raise WorkloadError(
            f"{asked}: {as_written('losses')} is required, a table (CSV) with the columns "
            f"{','.join(COLUMNS)} of what number formats cost; 'dse sensitivity MODEL' measures one"
        )


def _unit(
    platform: Platform,
    entry: UnitFormat,
    costs: UnitCosts,
    demand: IntArray,
    index: dict[str, int],
    *,
    is_first: bool,
) -> ProblemUnit:
    """Return a unit with its costs. ``is_first``: of its number formats."""
    unit = entry.unit
    idle_mw = unit_idle_mw(platform, unit)
    contention = None
    if unit.contention is not None:
        memory = platform.domain_by_name[platform.memory.domain].operating_points
        fastest = memory[-1].frequency_khz
        contention = contention_table(
            unit.contention,
            [Fraction(point.frequency_khz, fastest) for point in memory],
            demand.reshape(-1, demand.shape[-1]).max(axis=0).tolist(),
            [platform.memory.bytes_per_cycle * point.frequency_khz for point in memory],
        )
    return ProblemUnit(
        name=entry.name,
        clocks=tuple(index[clock] for clock in unit.clocks),
        time_ps=costs.time_ps,
        demand_kbps=costs.demand_kbps,
        dynamic_mw=costs.dynamic_mw,
        idle_mw=idle_mw if is_first else np.zeros_like(idle_mw),
        contention=contention,
        max_segments=unit.max_segments if is_first else None,
        step_ps=costs.step_ps,
        unit=unit.name if entry.is_choice else None,
        number_format=entry.number_format if entry.is_choice else None,
    )
