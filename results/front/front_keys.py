"""Keys of ``front.json`` that are not fields of a front or of its members: hashes, names, and the
choices of a member by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from paretosoc.common.documents.marks import (
    ByName,
    Context,
    Count,
    Fault,
    Maybe,
    NameOf,
    Positive,
    Range,
    Sha256,
)
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.problem.rows import read_only

if TYPE_CHECKING:
    from paretosoc.results.front.front import Front, Member

Priority = Annotated[int, Range(0, PRIORITY_LEVELS - 1)]


@dataclass(frozen=True)
class ProblemHash:
    """The problem of a document, by its hash."""

    problem_sha256: Sha256
    """SHA-256 of the bytes of problem.json."""


def problem_of(_: ProblemHash, context: Context) -> dict[str, Problem]:
    """Return the problem that a front is read for."""
    return {"problem": context.subject}


def problem_sha256_of(front: Front, _: Context) -> ProblemHash:
    """Return the hash of a front's problem."""
    return ProblemHash(problem_sha256(front.problem))


@dataclass(frozen=True)
class ChosenPoint:
    """An operating point of a domain."""

    index: Count
    frequency_khz: Positive
    voltage_mv: Count | None


@dataclass(frozen=True)
class Choice:
    """A design point, by names."""

    operating_points: Annotated[tuple[ChosenPoint | None, ...], ByName("domains")]
    """Domain to operating point, null if it is off."""
    priorities: Maybe[Annotated[tuple[tuple[Priority, ...], ...], ByName("networks")]] = None
    """Network to the priority of all its groups, or to those of each, if they are searched: from 0
    on without gaps, so that 2 needs a 1, for groups among those that may wait for one unit."""
    mapping: Annotated[
        tuple[tuple[Annotated[int, NameOf("units")], ...], ...], ByName("networks")
    ] = ()
    """Network to the unit of each of its groups, in order."""


def choice_of(member: Member, context: Context) -> Choice:
    """Return the choices of a member."""
    problem: Problem = context.subject
    units = member.design.units.tolist()
    return Choice(
        tuple(
            None if p is None else ChosenPoint(p, domain.frequencies_khz[p], domain.voltages_mv[p])
            for domain, p in zip(problem.domains, member.points, strict=True)
        ),
        problem.priorities(member.design) if problem.priority_count else None,
        tuple(tuple(units[g] for g in network.groups) for network in problem.networks),
    )


def design_of(choice: Choice, context: Context) -> dict[str, Any]:
    """Return the fields of a member, the inverse of :func:`choice_of`."""
    problem: Problem = context.subject
    if (problem.searched_order is None) != (choice.priorities is None):
        raise Fault("must be there where priorities are searched, else not", ".priorities")
    for network, chosen in zip(problem.networks, choice.mapping, strict=True):
        if len(chosen) != len(network.group_names):
            raise Fault(
                f"must name {len(network.group_names)} units, one per group, got {len(chosen)}",
                f".mapping[{network.name!r}]",
            )
    for network, count, levels in zip(
        problem.networks, problem.priorities_per_network, choice.priorities or (), strict=False
    ):
        if len(levels) != count:
            raise Fault(f"must have {count}, got {len(levels)}", f".priorities[{network.name!r}]")
    points = []
    for domain, point in zip(problem.domains, choice.operating_points, strict=True):
        if point is None:
            points.append(domain.point_when_off)
            continue
        index = point.index
        if index >= len(domain.frequencies_khz) or (point.frequency_khz, point.voltage_mv) != (
            domain.frequencies_khz[index],
            domain.voltages_mv[index],
        ):
            raise Fault(
                f"no such operating point: {vars(point)}", f".operating_points[{domain.name!r}]"
            )
        points.append(index)
    return {
        "design": DesignPoint(
            units=_integers([unit for chosen in choice.mapping for unit in chosen]),
            operating_points=_integers(points),
            priorities=None
            if choice.priorities is None
            else _integers([level for each in choice.priorities for level in each]),
        ),
        "domain_on": tuple(point is not None for point in choice.operating_points),
    }


def _integers(values: Any) -> Any:
    return read_only(np.array(values, dtype=np.int64))
