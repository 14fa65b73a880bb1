"""From networks and a platform to the numeric problem: import, group, cost, assemble."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from common.arrays import IntArray
from common.units import FJ_PER_MJ, PS_PER_MS, UHZ_PER_HZ
from dse.errors import WorkloadError
from dse.problem.domains import problem_domains
from dse.problem.execution import choose_execution
from dse.problem.int64_bounds import check_magnitudes
from dse.problem.mapping_constraints import allowed_units
from dse.problem.phases import (
    PhaseModel,
    grouped_alike,
    growing_costs,
    grown_dimensions,
    of_continued,
    with_handovers,
)
from dse.workload.options import Options, parse_objective
from dse.workload.workload import Workload, WorkloadNetwork
from dse.workload.workload_check import check_workload
from fitness.contention import contention_table, round_half_up
from fitness.cost_model.channels import channel_costs
from fitness.cost_model.power import unit_idle_mw
from fitness.cost_model.support import layer_support
from fitness.cost_model.tables import CostOrigin, NetworkCosts, UnitCosts
from fitness.costs.network_costs import choose_precision, choose_units, network_costs
from fitness.costs.scale_to_measured import network_record
from fitness.profiles.profile_file import Profile
from platforms.measurement import is_same_network
from platforms.platform import Platform, Unit
from results.front.cost_origins import NetworkSource
from results.front.front import InputFile
from results.io.canonical_json import INT64_MAX
from results.problem.execution import ClosedForm
from results.problem.problem import ChannelCosts, Problem, ProblemNetwork, ProblemUnit
from sdf.catalogue.catalogue import load_network
from sdf.grouping.grouping import group_network
from sdf.grouping.groups import GroupedNetwork
from sdf.onnx.importer import ImportedNetwork

MAX_GROUPS = 4_000
"""Of a problem: a search takes about half a megabyte for each."""
MAX_EDGES = 400_000
"""Between them: each has a table of transition times."""


@dataclass(frozen=True, eq=False)
class BuiltProblem:
    """A problem, and what it was built from."""

    problem: Problem
    networks: tuple[GroupedNetwork, ...]
    sources: tuple[NetworkSource, ...]
    """The model of each network."""
    costs: tuple[NetworkCosts, ...]
    precision: str
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A network that was read, cut into groups, and costed on the units of a platform."""

    imported: ImportedNetwork
    grouped: GroupedNetwork
    costs: NetworkCosts
    grown: ImportedNetwork | None
    """As in :class:`dse.problem.phases.PhaseModel`."""


_Key = tuple[str, tuple[tuple[str, int], ...], tuple[tuple[str, int], ...], int]


def _key(network: WorkloadNetwork) -> _Key:
    """What a network's tables depend on: model, sizes, and, where these grow, how often."""
    return (
        *(network.source, network.dimensions, network.grows),
        network.repeats if network.grows else 1,
    )


def build_problem(
    workload: Workload,
    platform: Platform,
    options: Options | None = None,
    *,
    profile: Profile | None = None,
    known: MutableMapping[Hashable, NetworkTables] | None = None,
) -> BuiltProblem:
    """The numeric problem of a workload on a platform.

    Args:
        known: networks that earlier calls have read, cut and costed, each under all that this
            depends on (a file under its path alone); new ones are added.

    Raises:
        GraphError: where a network cannot be read or cut.
        PlatformError: on a unit or precision that the platform does not have.
        WorkloadError: on a workload that contradicts itself, options that do not fit, or a layer
            that no requested unit can run.
        ResultError: on figures whose products would leave int64.
    """
    options = options or Options()
    check_workload(workload)
    units = choose_units(platform, options.units)
    precision = choose_precision(platform, options.precision)
    known = {} if known is None else known
    tables: dict[_Key, NetworkTables] = {}
    for network in workload.networks:
        key = _key(network)
        if key in tables:
            continue
        under = (
            *(*key, platform.sha256, tuple(unit.name for unit in units), precision),
            *(options.groups, options.branches, options.each_layer),
            None if profile is None else profile.sha256,
        )
        if under not in known:
            known[under] = _tables(network, platform, units, precision, options, profile)
        tables[key] = known[under]
    keys = [_key(network) for network in workload.networks]
    groups = tuple(tables[key].grouped for key in keys)
    _check_size(groups)
    costs = tuple(tables[key].costs for key in keys)
    board = platform.board_mw if profile is None or profile.board_mw is None else profile.board_mw
    problem = _assemble(workload, platform, options, units, groups, costs, precision, board)
    models = [
        PhaseModel(entry, tables[key].imported, tables[key].grouped, tables[key].grown)
        for entry, key in zip(workload.networks, keys, strict=True)
    ]
    problem = with_handovers(problem, models, platform, units, precision)
    check_magnitudes(problem)
    imported = [entry.imported for entry in tables.values()]
    return BuiltProblem(
        problem=problem,
        networks=groups,
        sources=tuple(
            NetworkSource(
                network.source,
                tables[_key(network)].imported.sha256,
                tuple(sorted(network.dimensions)),
            )
            for network in workload.networks
        ),
        costs=costs,
        precision=precision,
        inputs=(
            *(InputFile(network.graph.name, network.sha256) for network in imported),
            *(InputFile(name, digest) for name, digest in workload.inputs),
            InputFile(platform.name, platform.sha256),
        ),
        warnings=(
            *(f"{network.graph.name}: {text}" for network in imported for text in network.warnings),
            *_unused_dimensions(tables),
            *(note for entry in tables.values() for note in entry.costs.notes),
            *_quantised(imported, platform, precision),
            *_without_times(groups, costs, platform, precision),
            *_unused_measurements(groups, precision, profile),
        ),
    )


def _unused_dimensions(
    tables: Mapping[_Key, NetworkTables],
) -> list[str]:
    """Text about sizes of dimensions that no network has."""
    given = {name for _, dimensions, *_ in tables for name, _ in dimensions}
    used = {
        name
        for (_, dimensions, *_), entry in tables.items()
        for name, _ in dimensions
        if name not in entry.imported.unused_dimensions
    }
    return [f"no network has a dynamic dimension {name!r}" for name in sorted(given - used)]


def _quantised(
    networks: Sequence[ImportedNetwork], platform: Platform, precision: str
) -> list[str]:
    """Text about networks that are costed in a wider format than they compute in."""
    known = {peak.precision for unit in platform.units for peak in unit.peaks}
    if precision == "int8" or "int8" not in known:
        return []
    return [
        f"{network.graph.name}: this model is quantised, and costed in {precision}: "
        "use --precision int8"
        for network in networks
        if network.is_quantised
    ]


def _without_times(
    networks: Sequence[GroupedNetwork],
    costs: Sequence[NetworkCosts],
    platform: Platform,
    precision: str,
) -> list[str]:
    """Text about networks that a source of the platform has no times of on some units."""
    units: dict[tuple[str, str], dict[str, None]] = {}
    for network, table in zip(networks, costs, strict=True):
        macs = sum(group.macs for group in network.groups)
        for entry in table.units:
            record = network_record(platform, network.name, macs, entry.unit, precision)
            if record is None or record.time_ps is not None:
                continue
            if CostOrigin.ESTIMATED in entry.origin:
                units.setdefault((network.name, record.source.text), {})[entry.unit] = None
    return [
        f"{network}: only estimated on {', '.join(names)}: {source}"
        for (network, source), names in units.items()
    ]


def _unused_measurements(
    networks: Sequence[GroupedNetwork], precision: str, profile: Profile | None
) -> list[str]:
    """Text about records of a profile that match no network of the workload."""
    if profile is None or (profile.models and not profile.networks):
        return []
    unused = []
    for record in profile.networks:
        used = record.precision == precision and any(
            is_same_network(
                network.name, sum(group.macs for group in network.groups), record.names, record.macs
            )
            for network in networks
        )
        if not used:
            unused.append(
                f"profile: its measurements of {record.names[0]!r} in {record.precision} are not "
                f"used; the workload has {', '.join(network.name for network in networks)} in "
                f"{precision}"
            )
    return unused


def _tables(
    network: WorkloadNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    options: Options,
    profile: Profile | None,
) -> NetworkTables:
    imported = load_network(network.source, dimensions=dict(network.dimensions))
    grouped = _grouped(imported, platform, units, precision, options)
    _check_size([grouped])

    def costs_of(of: GroupedNetwork) -> NetworkCosts:
        names = [unit.name for unit in units]
        return network_costs(of, platform, precision=precision, units=names, profile=profile)

    costs = costs_of(grouped)
    if not network.grows:
        return NetworkTables(imported, grouped, costs, None)
    grown = load_network(network.source, dimensions=grown_dimensions(network))
    last = costs_of(grouped_alike(grouped, grown))
    return NetworkTables(imported, grouped, growing_costs(costs, last, network.repeats), grown)


def _check_size(networks: Sequence[GroupedNetwork]) -> None:
    groups = sum(len(network.groups) for network in networks)
    edges = sum(len(network.edges) for network in networks)
    if groups > MAX_GROUPS or edges > MAX_EDGES:
        names = ", ".join(dict.fromkeys(network.name for network in networks))
        raise WorkloadError(
            f"{names}: at most {MAX_GROUPS} groups and {MAX_EDGES} edges between them can be "
            f"searched, got {groups} and {edges}; --groups joins groups"
        )


def _grouped(
    network: ImportedNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    options: Options,
) -> GroupedNetwork:
    layers = [actor.layer for actor in network.graph.actors if actor.layer is not None]
    support = layer_support(layers, platform, precision)
    columns = [support.units.index(unit.name) for unit in units]
    table = support.table[:, columns]
    for index in np.flatnonzero(~table.any(axis=1)):
        reasons = "; ".join(
            f"{support.units[column]}: {support.reasons[index][column]}" for column in columns
        )
        raise WorkloadError(
            f"network {network.graph.name!r}: no unit can run layer {support.layers[index]!r} "
            f"({reasons})"
        )
    return group_network(
        network.graph,
        table,
        groups=options.groups,
        branches=options.branches,
        each_layer=options.each_layer,
    )


def _assemble(
    workload: Workload,
    platform: Platform,
    options: Options,
    units: Sequence[Unit],
    networks: Sequence[GroupedNetwork],
    costs: Sequence[NetworkCosts],
    precision: str,
    board_mw: int,
) -> Problem:
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
