"""``costs.json``: the origins of the costs in ``problem.json``, and ``results.json`` of a board."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from paretosoc.common.documents.marks import Default, Items, Range, Sha256
from paretosoc.results.costs.cost_origins import (
    CostError,
    CostMeasurement,
    CostOrigin,
    CostOrigins,
    GroupOrigins,
    NetworkOrigins,
    NetworkSource,
    Permille,
    UnitOrigin,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse
from paretosoc.results.io.document import Document
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256, signed_content


@dataclass(frozen=True)
class _Group:
    name: str
    macs: Annotated[int, Range(0)]
    """Multiply-accumulates of one inference."""
    parameters: Annotated[int, Range(0)]
    """Constants that the group reads."""
    layers: tuple[str, ...]
    """Names, in order of execution."""


@dataclass(frozen=True)
class _Columns:
    origin: tuple[CostOrigin, ...]
    """measured: on the device. given: in the file of a workload or dataflow graph. calibrated: an
    estimate scaled so that the network's total is a measured one. estimated: from the unit's peak
    rates and bandwidth. cannot run: a layer is not supported."""
    text: tuple[Annotated[int | None, Range(0)], ...]
    """Index into texts; null if there is none."""
    error: tuple[Annotated[int, Range(0)], ...]
    """Index into errors."""


@dataclass(frozen=True)
class _Network:
    name: str
    source: NetworkSource
    """The model that the network was read from."""
    groups: tuple[_Group, ...]
    units: dict[str, _Columns]
    """Unit to one entry per group, in order."""


@dataclass(frozen=True)
class CostsContent:
    """The origin of every group's time, demand and power in problem.json, for every unit."""

    problem_sha256: Sha256
    """SHA-256 of the bytes of problem.json."""
    precision: str
    """Number format that the costs hold for, such as fp16."""
    texts: tuple[str, ...]
    """Sources of measurements, and reasons why a unit cannot run a group, each once."""
    errors: tuple[CostError, ...]
    """Errors of costs, each once."""
    idle_error: Permille
    """Error of the power that is drawn whatever runs, given as power in errors."""
    demand_error: Permille
    """Error of the demands in problem.json besides that of times, common to a unit."""
    sharing_error: Permille
    """Error of every sharing_permille in problem.json."""
    networks: tuple[_Network, ...]
    """In the order of problem.json."""
    measured: Default[tuple[CostMeasurement, ...]] = ()
    """Measured since problem.json was written, whose costs stay."""


COSTS = Document(
    "costs", CostsContent, "costs.json: where the costs in problem.json came from", is_signed=True
)


def costs_bytes(origins: CostOrigins, problem: Problem) -> bytes:
    """Return the bytes of ``costs.json``.

    Raises:
        ResultError: if the origins are not those of this problem.
    """
    return canonical_bytes(costs_to_document(origins, problem))


def costs_to_document(origins: CostOrigins, problem: Problem) -> dict[str, Json]:
    """Return the origins as JSON content. Each source text occurs once.

    Raises:
        ResultError: if the origins are not those of this problem.
    """
    check_origins(origins, problem)
    texts: dict[str, int] = {}
    errors: dict[CostError, int] = {}
    networks = []
    for network in origins.networks:
        units = {}
        for u, unit in enumerate(problem.units):
            column = [group.by_unit[u] for group in network.groups]
            units[unit.name] = _Columns(
                tuple(entry.origin for entry in column),
                tuple(
                    texts.setdefault(entry.text, len(texts)) if entry.text else None
                    for entry in column
                ),
                tuple(errors.setdefault(entry.error, len(errors)) for entry in column),
            )
        groups = tuple(_Group(g.name, g.macs, g.parameters, g.layers) for g in network.groups)
        networks.append(_Network(network.name, network.source, groups, units))
    return COSTS.write(
        CostsContent(
            problem_sha256(problem),
            origins.precision,
            tuple(texts),
            tuple(errors),
            origins.idle_error,
            origins.demand_error,
            origins.sharing_error,
            tuple(networks),
            origins.measured,
        )
    )


def costs_from_bytes(data: bytes, problem: Problem, *, check_hashes: bool = True) -> CostOrigins:
    """Return the origins in the bytes of a ``costs.json``.

    Args:
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or is not of this
            problem. It names the JSON path.
    """
    content = signed_content(COSTS, parse(data), problem, check_hashes=check_hashes)
    costs = COSTS.read(content)
    networks = []
    for n, network in enumerate(costs.networks):
        columns = [
            _column(
                network.units.get(unit.name),
                costs,
                len(network.groups),
                f"$.networks[{n}].units[{unit.name!r}]",
            )
            for unit in problem.units
        ]
        groups = tuple(
            GroupOrigins(
                group.name,
                group.layers,
                group.macs,
                group.parameters,
                tuple(column[g] for column in columns),
            )
            for g, group in enumerate(network.groups)
        )
        networks.append(NetworkOrigins(network.name, network.source, groups))
    origins = CostOrigins(
        costs.precision,
        tuple(networks),
        costs.idle_error,
        costs.demand_error,
        costs.sharing_error,
        costs.measured,
    )
    check_origins(origins, problem)
    return origins


def _column(
    column: _Columns | None, costs: CostsContent, groups: int, path: str
) -> list[UnitOrigin]:
    """Return the origins of one unit's lists, [groups]."""
    if column is None:
        raise ResultError(f"{path}: is missing")
    for name, values in vars(column).items():
        if len(values) != groups:
            raise ResultError(f"{path}.{name}: must have {groups} entries, one per group")
    for name, indices, known in (
        ("text", column.text, costs.texts),
        ("error", column.error, costs.errors),
    ):
        for index in indices:
            if index is not None and index >= len(known):
                raise ResultError(f"{path}.{name}: must be below {len(known)}, got {index}")
    return [
        UnitOrigin(origin, "" if text is None else costs.texts[text], costs.errors[error])
        for origin, text, error in zip(column.origin, column.text, column.error, strict=True)
    ]


def check_origins(origins: CostOrigins, problem: Problem) -> None:
    """Accept origins of exactly the networks, groups and units of ``problem``.

    Raises:
        ResultError: if a network or group has another name, a unit is missing, or a group can run
            according to one and cannot according to the other, or a measurement cannot be of this
            problem.
    """
    names = [network.name for network in problem.networks]
    if [network.name for network in origins.networks] != names:
        raise ResultError(f"$.networks: must be {', '.join(names)}, as in problem.json")
    for n, (network, entry) in enumerate(zip(problem.networks, origins.networks, strict=True)):
        path = f"$.networks[{n}]"
        if tuple(group.name for group in entry.groups) != network.group_names:
            raise ResultError(f"{path}.groups: must be those of {network.name!r} in problem.json")
        for g, group in zip(network.groups, entry.groups, strict=True):
            if len(group.by_unit) != len(problem.units):
                raise ResultError(f"{path}.units: must be the {len(problem.units)} of problem.json")
            for unit, origin in zip(problem.units, group.by_unit, strict=True):
                runs = int(unit.time_ps[g].reshape(-1)[0]) >= 0
                if runs == (origin.origin is CostOrigin.CANNOT_RUN):
                    raise ResultError(
                        f"{path}.units[{unit.name!r}].origin[{g - network.first_group}]: "
                        f"must agree with problem.json, where the unit "
                        f"{'can' if runs else 'cannot'} run the group"
                    )
    for k, measurement in enumerate(origins.measured):
        measured_at(problem, measurement, f"$.measured[{k}]")


@dataclass(frozen=True)
class MeasuredAt:
    """The place of a measurement in a problem."""

    unit: int
    groups: range
    """Numbered through all networks."""
    points: tuple[int | None, ...]
    """Operating point of each domain, None if it is off."""
    beside: MeasuredAt | None = None
    """The place of what ran beside it."""


def measured_at(problem: Problem, measurement: CostMeasurement, path: str) -> MeasuredAt:
    """Return the place of a measurement.

    Raises:
        ResultError: naming the field below ``path`` that the problem does not have.
    """
    networks = {network.name: network for network in problem.networks}
    units = {unit.name: unit for unit in problem.units}
    for key, names in (("network", networks), ("unit", units)):
        if (name := getattr(measurement, key)) not in names:
            raise ResultError(f"{path}.{key}: must be one of {', '.join(names)}, got {name!r}")
    network, unit = networks[measurement.network], units[measurement.unit]
    first, last, count = measurement.first_group, measurement.last_group, len(network.groups)
    if not first <= last < count:
        raise ResultError(
            f"{path}.last_group: must be from first_group, {first}, to {count - 1}, got {last}"
        )
    groups = network.groups[first : last + 1]
    if any(int(unit.time_ps[g].reshape(-1)[0]) < 0 for g in groups):
        raise ResultError(f"{path}.unit: {unit.name} cannot run these groups")
    if (measurement.power_mw is None) != (measurement.idle_mw is None):
        raise ResultError(f"{path}.idle_mw: must be given with power_mw, and only with it")
    points = _points(problem, measurement, f"{path}.clocks_khz")
    for d in unit.clocks:
        if points[d] is None:
            name = problem.domains[d].name
            raise ResultError(f"{path}.clocks_khz.{name}: must be on, for {unit.name}, got null")
    at = MeasuredAt(problem.units.index(unit), groups, points)
    beside = measurement.beside
    if beside is None:
        return at
    names_of = {name: value for name, value in vars(beside).items() if name != "time_ps"}
    alone = replace(measurement, **names_of, power_mw=None, idle_mw=None, beside=None)
    other = measured_at(problem, alone, f"{path}.beside")
    if problem.unit_of[other.unit] == problem.unit_of[at.unit]:
        raise ResultError(
            f"{path}.beside.unit: must be another unit than {measurement.unit}, got {beside.unit}"
        )
    return replace(at, beside=other)


def _points(problem: Problem, measurement: CostMeasurement, path: str) -> tuple[int | None, ...]:
    names = [domain.name for domain in problem.domains]
    if set(measurement.clocks_khz) != set(names):
        got = ", ".join(measurement.clocks_khz)
        raise ResultError(f"{path}: must have the keys {', '.join(names)}, got {got or 'none'}")
    points: list[int | None] = []
    for domain in problem.domains:
        khz, ladder = measurement.clocks_khz[domain.name], domain.frequencies_khz
        if khz is not None and khz not in ladder:
            raise ResultError(
                f"{path}.{domain.name}: must be one of the {len(ladder)} frequencies of the "
                f"domain, {ladder[0]} to {ladder[-1]} kHz, got {khz}"
            )
        points.append(None if khz is None else ladder.index(khz))
    return tuple(points)


@dataclass(frozen=True)
class BoardResults:
    """Times and powers that a board showed in the experiments of ``dse measure next``."""

    problem_sha256: Sha256
    """SHA-256 of the bytes of problem.json."""
    plan_sha256: Sha256
    """content_sha256 of plan.json."""
    measured: Annotated[tuple[CostMeasurement, ...], Items(1)]
    failed: tuple[str, ...] = ()
    """Experiments that could not be run, and why."""


MEASUREMENTS = Document(
    "measurements",
    BoardResults,
    "results.json: what a board showed in the experiments of 'dse measure next'",
    is_signed=True,
)
