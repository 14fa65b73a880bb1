"""``costs.json``: the origins of the costs in ``problem.json``. Described in
``schemas/costs.schema.json``."""

from __future__ import annotations

from typing import Any

from paretosoc.results.costs.cost_origins import (
    CostOrigin,
    CostOrigins,
    GroupOrigins,
    NetworkOrigins,
    NetworkSource,
    UnitOrigin,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, canonical_bytes, content_sha256, parse
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.problem.content_hashes import check_content_hashes
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256

COSTS_FORMAT = "paretosoc-costs/1"


def costs_bytes(origins: CostOrigins, problem: Problem) -> bytes:
    """Return the bytes of ``costs.json``.

    Raises:
        ResultError: if the origins are not those of this problem.
    """
    return canonical_bytes(costs_to_document(origins, problem))


def costs_from_bytes(data: bytes, problem: Problem) -> CostOrigins:
    """Return the origins in the bytes of a ``costs.json``.

    Raises:
        ResultError: as :func:`costs_from_document`, or if the text is not sound JSON.
    """
    return costs_from_document(parse(data), problem)


def costs_to_document(origins: CostOrigins, problem: Problem) -> dict[str, Json]:
    """Return the origins as JSON content. Each source text occurs once.

    Raises:
        ResultError: if the origins are not those of this problem.
    """
    check_origins(origins, problem)
    texts: dict[str, int] = {}
    networks: list[Json] = []
    for network in origins.networks:
        units: dict[str, Json] = {}
        for u, unit in enumerate(problem.units):
            column = [group.by_unit[u] for group in network.groups]
            units[unit.name] = {
                "origin": [entry.origin.value for entry in column],
                "text": [
                    texts.setdefault(entry.text, len(texts)) if entry.text else None
                    for entry in column
                ],
            }
        networks.append(
            {
                "name": network.name,
                "source": {
                    "reference": network.source.reference,
                    "sha256": network.source.sha256,
                    "dimensions": dict(network.source.dimensions),
                    **({"batch": network.source.batch} if network.source.batch > 1 else {}),
                },
                "groups": [
                    {
                        "name": group.name,
                        "macs": group.macs,
                        "parameters": group.parameters,
                        "layers": list(group.layers),
                    }
                    for group in network.groups
                ],
                "units": units,
            }
        )
    document: dict[str, Json] = {
        "format": COSTS_FORMAT,
        "problem_sha256": problem_sha256(problem),
        "precision": origins.precision,
        "texts": list(texts),
        "networks": networks,
    }
    document["content_sha256"] = content_sha256(document)
    return document


def costs_from_document(
    document: Json, problem: Problem, *, check_hashes: bool = True
) -> CostOrigins:
    """Return the origins that :func:`costs_to_document` gave this content for.

    Args:
        check_hashes: refuse content that was changed, or that belongs to another problem.

    Raises:
        ResultError: if the content does not follow the schema, was changed, or is not of this
            problem. It names the JSON path.
    """
    check_against_schema(document, "costs")
    content: Any = document
    if check_hashes:
        check_content_hashes(content, problem)
    texts = content["texts"]
    networks = []
    for n, network in enumerate(content["networks"]):
        path = f"$.networks[{n}]"
        columns = [
            _column(network["units"].get(unit.name), texts, len(network["groups"]), path, unit.name)
            for unit in problem.units
        ]
        networks.append(
            NetworkOrigins(
                name=network["name"],
                source=NetworkSource(
                    reference=network["source"]["reference"],
                    sha256=network["source"]["sha256"],
                    dimensions=tuple(network["source"]["dimensions"].items()),
                    batch=network["source"].get("batch", 1),
                ),
                groups=tuple(
                    GroupOrigins(
                        name=group["name"],
                        layers=tuple(group["layers"]),
                        macs=group["macs"],
                        parameters=group["parameters"],
                        by_unit=tuple(column[g] for column in columns),
                    )
                    for g, group in enumerate(network["groups"])
                ),
            )
        )
    origins = CostOrigins(precision=content["precision"], networks=tuple(networks))
    check_origins(origins, problem)
    return origins


def _column(column: Any, texts: list[str], groups: int, path: str, unit: str) -> list[UnitOrigin]:
    """Return the origins of one unit's lists, [groups]."""
    here = f"{path}.units[{unit!r}]"
    if column is None:
        raise ResultError(f"{here}: is missing")
    for name in ("origin", "text"):
        if len(column[name]) != groups:
            raise ResultError(f"{here}.{name}: must have {groups} entries, one per group")
    entries = []
    for origin, index in zip(column["origin"], column["text"], strict=True):
        if index is not None and index >= len(texts):
            raise ResultError(f"{here}.text: must be below {len(texts)}, got {index}")
        entries.append(UnitOrigin(CostOrigin(origin), "" if index is None else texts[index]))
    return entries


def check_origins(origins: CostOrigins, problem: Problem) -> None:
    """Accept origins of exactly the networks, groups and units of ``problem``.

    Raises:
        ResultError: if a network or group has another name, a unit is missing, or a group can run
            according to one and cannot according to the other.
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
