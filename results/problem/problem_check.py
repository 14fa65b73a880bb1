"""Is a problem sound? Everything that the timeline takes for granted, checked once."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np

from paretosoc.common.documents.marks import Fault
from paretosoc.common.documents.values import check_values
from paretosoc.common.files import naming
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import (
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
    SearchedOrder,
)
from paretosoc.results.problem.limits import Of, fields_of
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.parts import ProblemNetwork
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.unit_check import check_array, check_formats, check_unit, require


def check_problem(problem: Problem) -> None:
    """Accept a sound problem. Paths in messages are those of ``problem.json``.

    Raises:
        ResultError: names that are not unique, indices that lead nowhere, tables of a wrong shape
            or type, times below 1 ps or too long, support that depends on clocks, waiting in a
            circle, choices that are allowed but not supported, an objective that the execution
            model does not have.
    """
    with naming("", ResultError, Fault):
        check_values(problem)
    for key in ("networks", "domains", "units", "memory_pools"):
        names = [thing.name for thing in getattr(problem, key)]
        for i, name in enumerate(names):
            require(name not in names[:i], f"$.{key}[{i}].name", f"{name!r} stands twice")
    _check_networks(problem)
    _check_edges(problem)
    _check_domains(problem)
    for u, unit in enumerate(problem.units):
        check_unit(problem, unit, f"$.units[{u}]")
    check_formats(problem)
    _check_allowed(problem)
    _check_objectives(problem)
    _check_execution(problem)
    _check_limits(problem)
    _check_tolerance(problem)
    if problem.searched_order is not None:
        require(
            (problem.searched_order is SearchedOrder.GROUPS or len(problem.networks) > 1)
            and isinstance(problem.execution, OneFrame | Periodic | Rates | Pipeline),
            "$.searched_order",
            "must be left out for one network's priority, or where the execution model is "
            f"{FreeRunning.model} or {ClosedForm.model}",
        )


def _check_networks(problem: Problem) -> None:
    count = len(problem.networks)
    first = 0
    for n, network in enumerate(problem.networks):
        path = f"$.networks[{n}]"
        require(
            network.first_group == first,
            f"{path}.first_group",
            f"must be {first}, after the groups of the networks before, got {network.first_group}",
        )
        first += len(network.group_names)
        held = network.held_bytes
        require(
            len(held) == len(network.group_names),
            f"{path}.group_activation_bytes",
            f"must be {len(network.group_names)} numbers, got {list(held)}",
        )
        require(
            max(held) == network.activation_bytes,
            f"{path}.activation_bytes",
            f"must be the largest of group_activation_bytes, {max(held)}, "
            f"got {network.activation_bytes}",
        )
        require(
            all(0 <= other < count for other in network.waits_for),
            f"{path}.waits_for",
            "must name networks of this problem",
        )
    for n in range(count):
        _check_rate(problem, problem.networks[n], f"$.networks[{n}]")
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
    """Check that requirements on releases come with releases."""
    if problem.has_rates:
        require(not problem.has_phases, path, f"must not grow under {Rates.model}")
    require(
        network.batch_wait_ps == 0 or network.paced,
        f"{path}.batch_wait_ps",
        f"must be left out but for a paced network, got {network.batch_wait_ps}",
    )
    require(
        not network.paced or problem.has_rates,
        f"{path}.paced",
        f"must be left out but where the execution model is {Rates.model}",
    )


def _check_edges(problem: Problem) -> None:
    network_of = problem.network_of
    for e, (source, target) in enumerate(problem.edges):
        path = f"$.edges[{e}]"
        require(
            0 <= source < target < len(network_of),
            path,
            f"must lead from a lower to a higher group below {len(network_of)}, "
            f"got {source} -> {target}",
        )
        require(
            network_of[source] == network_of[target],
            path,
            f"groups {source} and {target} are of different networks",
        )
    units = len(problem.units)
    check_array(
        problem.transition_ps, (len(problem.edges), units, units), "$.edges[*].transition_ps"
    )
    if problem.edge_tokens is not None:
        check_array(problem.edge_tokens, (len(problem.edges),), "$.edges[*].tokens")
    _check_handovers(problem)


def _check_handovers(problem: Problem) -> None:
    """Check the hand-overs of networks to others that wait for them."""
    network_of, units = problem.network_of, len(problem.units)
    for h, (source, target) in enumerate(problem.handovers):
        path = f"$.handovers[{h}]"
        require(
            min(source, target) >= 0 and max(source, target) < len(network_of),
            path,
            f"must be groups below {len(network_of)}, got {source} -> {target}",
        )
        require(
            network_of[source] in problem.networks[network_of[target]].waits_for,
            path,
            f"the network of group {target} must wait for that of group {source}",
        )
        require((source, target) not in problem.handovers[:h], path, "stands twice")
    check_array(
        problem.handovers_ps, (len(problem.handovers), units, units), "$.handovers[*].transition_ps"
    )


def _check_domains(problem: Problem) -> None:
    for d, domain in enumerate(problem.domains):
        path = f"$.domains[{d}]"
        ladder = domain.frequencies_khz
        require(
            all(a < b for a, b in pairwise(ladder)),
            f"{path}.operating_points[*].frequency_khz",
            "must rise",
        )
        require(
            len(domain.voltages_mv) == len(ladder),
            f"{path}.operating_points[*].voltage_mv",
            f"must be {len(ladder)} values, got {len(domain.voltages_mv)}",
        )
        check_array(domain.static_mw, (len(ladder),), f"{path}.operating_points[*].static_mw")
        require(
            domain.allowed.shape == (len(ladder),) and domain.allowed.dtype == np.bool_,
            f"{path}.operating_points[*].allowed",
            "must be one boolean per operating point",
        )
        require(
            bool(domain.allowed.any()),
            f"{path}.operating_points[*].allowed",
            "must be true at one operating point at least",
        )
    memory = problem.memory_domain
    require(
        memory is None or 0 <= memory < len(problem.domains),
        "$.memory_domain",
        f"must be a domain, got {memory}",
    )
    require(
        memory is None or not problem.domains[memory].may_be_off,
        "$.memory_domain",
        "must be a domain that may not be off",
    )


def _check_execution(problem: Problem) -> None:
    """Check that the problem has all fields of its execution model, and no others."""
    execution = problem.execution
    if isinstance(execution, ClosedForm):
        _check_closed_form(problem)
    for i, objective in enumerate(problem.objectives):
        models = objective.kind.spec.models
        require(
            type(execution) in models,
            f"$.objectives[{i}]",
            f"{objective.kind.value} is an objective of the execution models "
            f"{', '.join(model.model for model in models)} only; the model is {execution.model}",
        )
    for n, network in enumerate(problem.networks):
        _check_frame_of(network, execution, f"$.networks[{n}]")


def _check_closed_form(problem: Problem) -> None:
    require(
        problem.edge_tokens is not None or not problem.edges,
        "$.edges[*].tokens",
        "must be given where the execution model is closed-form",
    )
    for u, unit in enumerate(problem.units):
        require(
            unit.channels is not None,
            f"$.units[{u}].channels",
            "must be given where the execution model is closed-form",
        )


def _check_frame_of(network: ProblemNetwork, execution: ExecutionModel, path: str) -> None:
    """Check that requirements on a common frame fit the model."""
    if execution.has_frame:
        return
    why = "if networks are free-running"
    require(not network.waits_for, f"{path}.waits_for", f"must be empty {why}")
    require(network.arrival_ps == 0, f"{path}.arrival_ps", f"must be 0 {why}")
    require(network.priority == 0, f"{path}.priority", f"must be 0 {why}")


def _check_allowed(problem: Problem) -> None:
    allowed = problem.allowed
    shape = (problem.group_count, len(problem.units))
    require(
        allowed.shape == shape and allowed.dtype == np.bool_,
        "$.allowed",
        f"must be booleans of the shape {list(shape)}, got {allowed.dtype} {list(allowed.shape)}",
    )
    for u, unit in enumerate(problem.units):
        supported = unit.time_ps.reshape(problem.group_count, -1)[:, 0] >= 1
        for g in np.flatnonzero(allowed[:, u] & ~supported):
            require(False, f"$.allowed[{g}][{u}]", f"{unit.name!r} cannot run group {g}")


def _check_objectives(problem: Problem) -> None:
    for i, objective in enumerate(problem.objectives):
        path = f"$.objectives[{i}]"
        require(objective not in problem.objectives[:i], path, "stands twice")
        if objective.network is not None:
            require(
                objective.kind.spec.of_one_network,
                path,
                f"{objective.kind.value} is never of one network",
            )
            require(
                0 <= objective.network < len(problem.networks),
                path,
                f"must name a network of this problem, got {objective.network}",
            )
        elif objective.kind.spec.needs_network:
            require(False, path, f"{objective.kind.value} must name a network")


def _check_tolerance(problem: Problem) -> None:
    """Check that nominal times are tolerated, and that a guarantee has a tolerance."""
    tolerance = problem.tolerance_permille
    if tolerance is not None:
        require(
            tolerance[0] <= 1000 <= tolerance[1],
            "$.tolerance_permille",
            f"must be at most 1000 and at least 1000, got {list(tolerance)}",
        )
    kinds = {objective.kind for objective in problem.basic_objectives}
    guaranteed = {ObjectiveKind.GUARANTEED_LATENCY, ObjectiveKind.GUARANTEED_RESPONSE}
    require(
        tolerance is not None or not (problem.guarantee or guaranteed & kinds),
        "$.tolerance_permille",
        "must be given where something is guaranteed",
    )
    require(
        not problem.guarantee or isinstance(problem.execution, OneFrame | Periodic | Rates),
        "$.guarantee",
        "must be left out but where the execution model is "
        f"{OneFrame.model}, {Periodic.model} or {Rates.model}",
    )
    require(
        problem.guarantee or ObjectiveKind.GUARANTEED_RESPONSE not in kinds,
        "$.guarantee",
        "must be true where responses are guaranteed: all must end within the period",
    )
    for n, network in enumerate(problem.networks):
        require(
            network.jitter_ps == 0 or (network.paced and problem.guarantee),
            f"$.networks[{n}].jitter_ps",
            "must be left out but for a paced network where guarantee is true",
        )
    late = [n.name for n in problem.networks if n.max_misses is not None]
    require(
        not (problem.guarantee and late),
        "$.guarantee",
        f"must be left out where max_misses are given, got those of {', '.join(late)}",
    )


def _check_limits(problem: Problem) -> None:
    """Check that limits fit the execution model, and that units have the tables of all figures."""
    kinds = {objective.kind for objective in problem.basic_objectives}
    for owner in Of:
        for field, limits in fields_of(owner).items():
            models = [model for limit in limits for model in limit.models]
            for index, holder in enumerate(owner.of(problem)):
                value = getattr(holder, field)
                if value is None:
                    continue
                where = "$" if owner is Of.ALL else f"$.{owner.value}[{index}]"
                require(
                    type(problem.execution) in models,
                    f"{where}.{field}",
                    f"must be {'left out' if limits[0].is_optional else 'null'} but where the "
                    f"execution model is {', '.join(model.model for model in models)}",
                )
                kinds |= {limit.figure for limit in limits if limit.figure is not None}
    for kind in kinds:
        table = kind.spec.unit_table
        for u, unit in enumerate(problem.units):
            require(
                table is None or getattr(unit, table) is not None,
                f"$.units[{u}].{table}",
                f"must be given where {kind.spec.label} is an objective or limited",
            )
