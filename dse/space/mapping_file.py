"""A user's mapping: from a file, or a member of a front, to a design point of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.files import naming
from paretosoc.common.text import did_you_mean, shortened
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import read_input
from paretosoc.dse.problem.domains import clocks_at
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Member
from paretosoc.results.front.front_document import member_to_document
from paretosoc.results.io.canonical_json import Json, parse
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.problem.parts import ProblemNetwork
from paretosoc.results.problem.problem import Problem

MAX_BYTES = 16 << 20


@dataclass(frozen=True)
class UserMapping:
    """Units and clocks as the user wrote them. ``label``: the file, or nothing for arguments.

    ``units``: network to a unit, a list of units, or ranges of groups to units.
    ``clocks``: domain to ``max``, ``min`` or a frequency in MHz.
    ``priorities``: network to the priority of all its groups, or to one of each.
    """

    label: str
    units: Mapping[str, Any]
    clocks: Mapping[str, str]
    priorities: Mapping[str, Any]

    def place(self, field: str) -> str:
        """Return a field of the file, or the argument that stands for it."""
        argument = "clocks_mhz" if field == "operating_points" else field
        return f"{self.label}: $.{field}" if self.label else argument


def load_mapping(path: Path) -> UserMapping:
    """Read the mapping in a JSON file under ``results/io/schemas/mapping.schema.json``.

    Raises:
        WorkloadError: if the file cannot be read or does not follow the schema. The message names
            the JSON path.
    """
    data = read_input(path, MAX_BYTES)
    with naming(path, WorkloadError, ResultError):
        document = parse(data)
    return mapping_from_document(document, str(path))


def mapping_from_document(document: Json, label: str) -> UserMapping:
    """Return the mapping in JSON content, which a member of ``front.json`` has with its objectives.

    Raises:
        WorkloadError: if the content does not follow the schema.
    """
    content: Any = document
    if isinstance(document, dict) and {"mapping", "objectives"} <= document.keys():
        names = ("mapping", "operating_points", "priorities")
        content = {name: document[name] for name in names if name in document}
    with naming(label or "mapping", WorkloadError, ResultError):
        check_against_schema(content, "mapping")
    clocks = {}
    for domain, value in content.get("operating_points", {}).items():
        if isinstance(value, dict):
            value = value["frequency_khz"] / 1000
        if value is not None:
            # The shortest text of a float is the decimal that was written.
            clocks[domain] = str(value)
    return UserMapping(label, content["mapping"], clocks, content.get("priorities", {}))


def mapping_of_member(problem: Problem, member: Member, label: str) -> UserMapping:
    """Return the choices of a member, to be tried elsewhere."""
    return mapping_from_document(member_to_document(problem, member), label)


def row_of_mapping(
    mapping: UserMapping, problem: Problem, origins: CostOrigins | None = None
) -> IntArray:
    """Return [groups + domains]: the design point of a mapping, canonical.

    A domain that is not named runs at its fastest clock that may be chosen. Priorities count if
    they are searched.

    Args:
        origins: the reasons why a unit cannot run a group.

    Raises:
        WorkloadError: on a network, unit or domain that the problem does not have, a network that
            is not named, a number of units other than that of groups, a group in no range or in
            two, a unit that cannot run its group or may not, a clock that is not on the ladder or
            may not be chosen.
    """
    known = [network.name for network in problem.networks]
    for field, name in [
        *(("mapping", name) for name in mapping.units),
        *(("priorities", name) for name in mapping.priorities),
    ]:
        if name not in known:
            raise WorkloadError(
                f"{mapping.place(field)}: there is no network {shortened(name)!r} in the "
                f"workload ({_hint(name, known)})"
            )
    units = [unit.name for unit in problem.units]
    row: list[int] = []
    for n, network in enumerate(problem.networks):
        path = f"{mapping.place('mapping')}[{network.name!r}]"
        if network.name not in mapping.units:
            raise WorkloadError(f"{path}: is missing")
        chosen = _units_of(mapping.units[network.name], network, path)
        for index, name in enumerate(chosen):
            if name not in units:
                raise WorkloadError(
                    f"{path}: group {index} is on {shortened(name)!r}, which is no unit of "
                    f"the search ({_hint(name, units)})"
                )
            _check_allowed(problem, origins, n, index, units.index(name), path)
        row += [units.index(name) for name in chosen]
    with naming(mapping.place("operating_points"), WorkloadError):
        row += clocks_at(problem, list(mapping.clocks.items()), permitted=True).tolist()
    for network, count in zip(problem.networks, problem.priorities_per_network, strict=True):
        levels = mapping.priorities.get(network.name, 0)
        levels = [levels] * count if isinstance(levels, int) else levels
        if count and len(levels) != count:
            raise WorkloadError(
                f"{mapping.place('priorities')}[{network.name!r}]: an integer, or {count} in a "
                f"list, are required, got {len(levels)}"
            )
        row += levels[:count]
    rows = np.array([row], dtype=np.int64)
    canonical: IntArray = DesignSpace(problem).canonical(rows)[0]
    return canonical


def _units_of(choice: Any, network: ProblemNetwork, path: str) -> list[str]:
    """Return one unit per group from any of the three forms."""
    count = len(network.group_names)
    if isinstance(choice, str):
        return [choice] * count
    if isinstance(choice, list):
        if len(choice) != count:
            raise WorkloadError(
                f"{path}: one unit for each of the {count} groups is required, got {len(choice)}"
            )
        return list(choice)
    units: list[str | None] = [None] * count
    for text, unit in choice.items():
        first, _, last = text.partition("-")
        begin, end = int(first), int(last or first)
        if end < begin:
            raise WorkloadError(f"{path}: range {text!r}: the last group lies before the first")
        if end >= count:
            raise WorkloadError(f"{path}: range {text!r}: there are groups 0 to {count - 1}")
        for index in range(begin, end + 1):
            if units[index] is not None:
                raise WorkloadError(f"{path}: group {index} is in two ranges")
            units[index] = unit
    missing = [index for index, unit in enumerate(units) if unit is None]
    if missing:
        raise WorkloadError(f"{path}: group {missing[0]} is in no range")
    return [unit for unit in units if unit is not None]


def _check_allowed(
    problem: Problem, origins: CostOrigins | None, n: int, index: int, u: int, path: str
) -> None:
    network, unit = problem.networks[n], problem.units[u]
    group = network.first_group + index
    if problem.allowed[group, u]:
        return
    label = f"{path}: {unit.name} cannot run group {index} ({network.group_names[index]})"
    if int(unit.time_ps[group].reshape(-1)[0]) >= 0:
        others = [problem.units[v].name for v in np.flatnonzero(problem.allowed[group])]
        raise WorkloadError(f"{label}: a pin allows only {', '.join(others)}")
    reason = "" if origins is None else origins.networks[n].groups[index].by_unit[u].text
    raise WorkloadError(f"{label}{': ' if reason else ''}{reason}")


def _hint(name: str, known: list[str]) -> str:
    return did_you_mean(name, known, f"there are {', '.join(known)}")
