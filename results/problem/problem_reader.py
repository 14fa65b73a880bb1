"""``problem.json`` read: the inverse of :mod:`results.problem.problem_file`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, parse
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.problem.execution import (
    ChannelUse,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    IdleTime,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.limits import Of, limits_from_document
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, objective_name
from paretosoc.results.problem.problem import (
    ChannelCosts,
    ContentionTable,
    MemoryPool,
    Problem,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from paretosoc.results.problem.problem_check import check_problem

ArrayT = TypeVar("ArrayT", IntArray, BoolArray)


def problem_from_bytes(data: bytes) -> Problem:
    """Return the problem in the bytes of a ``problem.json``.

    Raises:
        ResultError: if it is not a sound problem.
    """
    return problem_from_document(parse(data))


def problem_from_document(document: Json) -> Problem:
    """Return the problem that :func:`problem_to_document` gave this content for.

    Raises:
        ResultError: if the content does not follow the schema or is not sound. It names the JSON
            path.
    """
    check_against_schema(document, "problem")
    content: Any = document
    networks = _indices("$.networks", content["networks"])
    domains = _indices("$.domains", content["domains"])
    pools = _indices("$.memory_pools", content.get("memory_pools", []))
    units = tuple(
        _unit_from_document(unit, domains, pools, f"$.units[{u}]")
        for u, unit in enumerate(content["units"])
    )
    memory = content["memory_domain"]
    edges, handovers = content["edges"], content.get("handovers", [])
    problem = Problem(
        networks=tuple(
            ProblemNetwork(
                name=network["name"],
                first_group=network["first_group"],
                group_names=tuple(network["group_names"]),
                repeats=network["repeats"],
                waits_for=tuple(
                    _look_up(networks, other, f"$.networks[{n}].waits_for")
                    for other in network["waits_for"]
                ),
                arrival_ps=network["arrival_ps"],
                **limits_from_document(Of.NETWORK, network),
                priority=network.get("priority", 0),
                activation_bytes=network.get("activation_bytes", 0),
                group_activation_bytes=(
                    tuple(network["group_activation_bytes"])
                    if "group_activation_bytes" in network
                    else None
                ),
                paced=network.get("paced", False),
                batch=network.get("batch", 1),
                batch_wait_ps=network.get("batch_wait_ps", 0),
            )
            for n, network in enumerate(content["networks"])
        ),
        edges=tuple((edge["source"], edge["target"]) for edge in edges),
        transition_ps=(
            _integers([edge["transition_ps"] for edge in edges], "$.edges[*].transition_ps")
            if edges
            else read_only(np.zeros((0, len(units), len(units)), dtype=np.int64))
        ),
        domains=tuple(_domain_from_document(domain) for domain in content["domains"]),
        units=units,
        memory_domain=None if memory is None else _look_up(domains, memory, "$.memory_domain"),
        board_mw=content["board_mw"],
        allowed=_booleans(content["allowed"], "$.allowed"),
        objectives=tuple(
            Objective(
                _kind(objective["kind"], f"$.objectives[{i}].kind"),
                None
                if objective["network"] is None
                else _look_up(networks, objective["network"], f"$.objectives[{i}].network"),
            )
            for i, objective in enumerate(content["objectives"])
        ),
        execution=_execution_from_document(content["execution"]),
        **limits_from_document(Of.ALL, content),
        memory_pools=tuple(MemoryPool(**pool) for pool in content.get("memory_pools", [])),
        edge_tokens=_tokens(edges),
        handovers=tuple((entry["source"], entry["target"]) for entry in handovers),
        handover_ps=_integers(
            [entry["transition_ps"] for entry in handovers], "$.handovers[*].transition_ps"
        )
        if handovers
        else None,
        searches_priorities=content.get("searches_priorities", False),
    )
    check_problem(problem)
    for i, objective in enumerate(problem.objectives):
        name = objective_name(problem, objective)
        if content["objectives"][i]["name"] != name:
            raise ResultError(f"$.objectives[{i}].name: must be {name!r}")
    return problem


def _execution_from_document(document: Any) -> ExecutionModel:
    match document["model"]:
        case OneFrame.model:
            return OneFrame()
        case Periodic.model:
            return Periodic(document["period_ps"])
        case Rates.model:
            return Rates(document["period_ps"])
        case Pipeline.model:
            return Pipeline(document["frames_in_flight"])
        case ClosedForm.model:
            return ClosedForm(ChannelUse(document["channels"]), IdleTime(document["idle_time"]))
        case _:
            return FreeRunning(document["frames_in_flight"])


def _domain_from_document(domain: Any) -> ProblemDomain:
    points = domain["operating_points"]
    return ProblemDomain(
        name=domain["name"],
        frequencies_khz=tuple(point["frequency_khz"] for point in points),
        voltages_mv=tuple(point["voltage_mv"] for point in points),
        may_be_off=domain["may_be_off"],
        static_mw=read_only(np.array([point["static_mw"] for point in points], dtype=np.int64)),
        allowed=read_only(np.array([point["allowed"] for point in points], dtype=np.bool_)),
    )


_UNIT_TABLES = (
    *("time_ps", "demand_kbps", "dynamic_mw", "idle_mw", "step_ps", "loss_ppm", "weight_bytes"),
)


def _unit_from_document(
    unit: Any, domains: dict[str, int], pools: dict[str, int], path: str
) -> ProblemUnit:
    contention, channels = unit["contention"], unit["channels"]
    tables: dict[str, Any] = {
        name: _integers(unit[name], f"{path}.{name}") for name in _UNIT_TABLES if name in unit
    }
    return ProblemUnit(
        name=unit["name"],
        clocks=tuple(_look_up(domains, clock, f"{path}.clocks") for clock in unit["clocks"]),
        contention=None
        if contention is None
        else ContentionTable(
            **{
                name: _integers(values, f"{path}.contention.{name}")
                for name, values in contention.items()
            }
        ),
        **limits_from_document(Of.UNIT, unit),
        unit=unit.get("unit"),
        number_format=unit.get("number_format"),
        memory_pool=(
            _look_up(pools, unit["memory_pool"], f"{path}.memory_pool")
            if "memory_pool" in unit
            else 0
        ),
        loads_whole_networks=unit.get("loads_whole_networks", False),
        channels=None
        if channels is None
        else ChannelCosts(
            clock=_look_up(domains, channels["clock"], f"{path}.channels.clock"),
            **{
                name: _integers(channels[name], f"{path}.channels.{name}")
                for name in ("write_fs", "read_fs", "busy_mw")
            },
        ),
        **tables,
    )


def _kind(text: str, path: str) -> ObjectiveKind:
    kinds = {kind.value: kind for kind in ObjectiveKind}
    if text not in kinds:
        raise ResultError(f"{path}: must be one of {', '.join(kinds)}; got {text!r}")
    return kinds[text]


def _tokens(edges: list[Any]) -> IntArray | None:
    known = [edge["tokens"] for edge in edges if edge["tokens"] is not None]
    if not known:
        return None
    if len(known) < len(edges):
        raise ResultError("$.edges[*].tokens: must be known for all edges or for none")
    return _integers(known, "$.edges[*].tokens")


def _indices(path: str, things: list[Any]) -> dict[str, int]:
    indices = {thing["name"]: i for i, thing in enumerate(things)}
    if len(indices) != len(things):
        raise ResultError(f"{path}[*].name: a name stands twice")
    return indices


def _look_up(indices: dict[str, int], name: str, path: str) -> int:
    if name not in indices:
        raise ResultError(f"{path}: must be one of {', '.join(indices)}; got {name!r}")
    return indices[name]


def _integers(values: list[Any], path: str) -> IntArray:
    try:
        return read_only(np.array(values, dtype=np.int64))
    except (ValueError, TypeError, OverflowError):
        raise ResultError(f"{path}: must be rows of equal length of int64 numbers") from None


def _booleans(values: list[Any], path: str) -> BoolArray:
    try:
        return read_only(np.array(values, dtype=np.bool_))
    except (ValueError, TypeError):
        raise ResultError(f"{path}: must be rows of equal length of booleans") from None


def read_only(array: ArrayT) -> ArrayT:
    """Return the same array, closed for writing."""
    array.setflags(write=False)
    return array
