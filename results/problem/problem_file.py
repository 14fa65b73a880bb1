"""``problem.json`` written: the complete numeric problem, described in
``schemas/problem.schema.json``.

The SHA-256 of the file's bytes is the problem's identity.
"""

from __future__ import annotations

from enum import Enum
from weakref import WeakKeyDictionary

from paretosoc.results.io.canonical_json import Json, canonical_bytes, sha256_of
from paretosoc.results.problem.execution import (
    ExecutionModel,
)
from paretosoc.results.problem.limits import Of, limits_to_document
from paretosoc.results.problem.objectives import objective_name
from paretosoc.results.problem.problem import (
    ChannelCosts,
    ContentionTable,
    Problem,
    ProblemDomain,
)
from paretosoc.results.problem.problem_check import check_problem

PROBLEM_FORMAT = "paretosoc-problem/1"

_SHA256: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()
"""Of problems that were written out: several documents name the same one."""


def problem_bytes(problem: Problem) -> bytes:
    """Return the bytes of ``problem.json``.

    Raises:
        ResultError: if the problem is not sound.
    """
    data = canonical_bytes(problem_to_document(problem))
    _SHA256[problem] = sha256_of(data)
    return data


def problem_sha256(problem: Problem) -> str:
    """Return the hash that identifies the problem.

    Raises:
        ResultError: if the problem is not sound.
    """
    if problem not in _SHA256:
        problem_bytes(problem)
    return _SHA256[problem]


def problem_to_document(problem: Problem) -> dict[str, Json]:
    """Return the problem as JSON content. Clocks, networks and domains are given by name, tables as
    nested lists.

    Raises:
        ResultError: if the problem is not sound.
    """
    check_problem(problem)
    domain_names = [domain.name for domain in problem.domains]
    network_names = [network.name for network in problem.networks]
    return {
        "format": PROBLEM_FORMAT,
        "objectives": [
            {
                "kind": objective.kind.value,
                "network": None if objective.network is None else network_names[objective.network],
                "name": objective_name(problem, objective),
            }
            for objective in problem.objectives
        ],
        "execution": _execution_to_document(problem.execution),
        **limits_to_document(Of.ALL, problem),
        **(
            {"memory_pools": [vars(pool) for pool in problem.memory_pools]}
            if problem.memory_pools
            else {}
        ),
        "board_mw": problem.board_mw,
        **({"searches_priorities": True} if problem.searches_priorities else {}),
        "memory_domain": (
            None if problem.memory_domain is None else domain_names[problem.memory_domain]
        ),
        "domains": [_domain_to_document(domain) for domain in problem.domains],
        "networks": [
            {
                "name": network.name,
                "first_group": network.first_group,
                "repeats": network.repeats,
                "waits_for": [network_names[other] for other in network.waits_for],
                "arrival_ps": network.arrival_ps,
                **limits_to_document(Of.NETWORK, network),
                **({"priority": network.priority} if network.priority else {}),
                **(
                    {"activation_bytes": network.activation_bytes}
                    if network.activation_bytes
                    else {}
                ),
                **(
                    {}
                    if network.group_activation_bytes is None
                    else {"group_activation_bytes": list(network.group_activation_bytes)}
                ),
                **({"paced": True} if network.paced else {}),
                **({"batch": network.batch} if network.batch > 1 else {}),
                **({"batch_wait_ps": network.batch_wait_ps} if network.batch_wait_ps else {}),
                "group_names": list(network.group_names),
            }
            for network in problem.networks
        ],
        "edges": [
            {
                "source": source,
                "target": target,
                "tokens": None if problem.edge_tokens is None else int(problem.edge_tokens[e]),
                "transition_ps": problem.transition_ps[e].tolist(),
            }
            for e, (source, target) in enumerate(problem.edges)
        ],
        **_handovers_to_document(problem),
        "allowed": problem.allowed.tolist(),
        "units": [
            {
                "name": unit.name,
                "clocks": [domain_names[clock] for clock in unit.clocks],
                **limits_to_document(Of.UNIT, unit),
                "idle_mw": unit.idle_mw.tolist(),
                "contention": _contention_to_document(unit.contention),
                "channels": _channels_to_document(unit.channels, domain_names),
                "time_ps": unit.time_ps.tolist(),
                "demand_kbps": unit.demand_kbps.tolist(),
                "dynamic_mw": unit.dynamic_mw.tolist(),
                **({} if unit.step_ps is None else {"step_ps": unit.step_ps.tolist()}),
                **({} if unit.unit is None else {"unit": unit.unit}),
                **({} if unit.unit is None else {"number_format": unit.number_format}),
                **({} if unit.loss_ppm is None else {"loss_ppm": unit.loss_ppm.tolist()}),
                **(
                    {}
                    if unit.weight_bytes is None
                    else {"weight_bytes": unit.weight_bytes.tolist()}
                ),
                **(
                    {"memory_pool": problem.memory_pools[unit.memory_pool].name}
                    if problem.memory_pools
                    else {}
                ),
                **({"loads_whole_networks": True} if unit.loads_whole_networks else {}),
            }
            for unit in problem.units
        ],
    }


def _handovers_to_document(problem: Problem) -> dict[str, Json]:
    """Return the hand-overs between networks, empty if there are none."""
    if not problem.handovers:
        return {}
    return {
        "handovers": [
            {"source": source, "target": target, "transition_ps": delay}
            for (source, target), delay in zip(
                problem.handovers, problem.handovers_ps.tolist(), strict=True
            )
        ]
    }


def _execution_to_document(execution: ExecutionModel) -> Json:
    """Return the model's name and its fields."""
    fields = {
        name: value.value if isinstance(value, Enum) else value
        for name, value in vars(execution).items()
    }
    return {"model": execution.model, **fields}


def _domain_to_document(domain: ProblemDomain) -> Json:
    columns = zip(
        domain.frequencies_khz,
        domain.voltages_mv,
        domain.static_mw.tolist(),
        domain.allowed.tolist(),
        strict=True,
    )
    return {
        "name": domain.name,
        "may_be_off": domain.may_be_off,
        "operating_points": [
            {"frequency_khz": khz, "voltage_mv": mv, "static_mw": mw, "allowed": allowed}
            for khz, mv, mw, allowed in columns
        ],
    }


def _contention_to_document(table: ContentionTable | None) -> Json:
    if table is None:
        return None
    return {name: array.tolist() for name, array in vars(table).items()}


def _channels_to_document(channels: ChannelCosts | None, domain_names: list[str]) -> Json:
    if channels is None:
        return None
    return {
        "clock": domain_names[channels.clock],
        "write_fs": channels.write_fs.tolist(),
        "read_fs": channels.read_fs.tolist(),
        "busy_mw": channels.busy_mw.tolist(),
    }
