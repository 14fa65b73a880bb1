"""``front.json`` as JSON content: written, and read for a problem."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from paretosoc.common.documents.document import write_document
from paretosoc.common.documents.marks import Context
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.front_check import check_front
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.io.canonical_json import Json, check_signature
from paretosoc.results.io.document import Document
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256

FRONT = Document("front", Front, "front.json: a Pareto front of paretosoc", is_signed=True)
_HASHES: WeakKeyDictionary[Front, str] = WeakKeyDictionary()
"""Hashes of fronts as they were read. To compute one takes as long as to read one."""


def front_to_document(front: Front) -> dict[str, Json]:
    """Return the front as JSON content. Networks, units and domains are given by name, domains that
    are off as ``null``.

    Raises:
        ResultError: if the front or its problem is not sound.
    """
    check_front(front)
    return FRONT.write(front, _context(front.problem))


def front_sha256(front: Front) -> str:
    """Return ``content_sha256`` of the front's document.

    Raises:
        ResultError: if the front or its problem is not sound.
    """
    return _HASHES.get(front) or str(front_to_document(front)["content_sha256"])


def front_from_document(document: Json, problem: Problem, *, check_hashes: bool = True) -> Front:
    """Return the front that :func:`front_to_document` gave this content for.

    Raises:
        ResultError: if the content does not follow the schema, is not of this problem, or is not a
            sound front of it. It names the JSON path.
    """
    content = FRONT.check(document)
    if check_hashes and content["problem_sha256"] != problem_sha256(problem):
        raise ResultError("$.problem_sha256: is not that of problem.json")
    names = problem.objective_names
    if tuple(content["objectives"]) != names:
        raise ResultError(f"$.objectives: must be those of the problem: {', '.join(names)}")
    _check_rates(problem, content)
    front = FRONT.read(content, _context(problem))
    check_front(front)
    if check_hashes:
        _HASHES[front] = check_signature(content)
    return front


def _check_rates(problem: Problem, content: dict[str, Any]) -> None:
    """Check that members have the keys of networks with rates if these have any."""
    members = {f"$.members[{i}]": member for i, member in enumerate(content["members"])}
    members |= {f"$.baselines[{i}].point": b["point"] for i, b in enumerate(content["baselines"])}
    for path, member in members.items():
        for key in ("responses", "window_ps"):
            if problem.has_rates != (key in member):
                raise ResultError(f"{path}.{key}: must be there if networks have rates, else not")


def _context(problem: Problem) -> Context:
    names = {
        "objectives": problem.objective_names,
        "networks": [network.name for network in problem.networks],
        "units": [unit.name for unit in problem.units],
        "domains": [domain.name for domain in problem.domains],
    }
    return Context(names, problem)


def member_to_document(problem: Problem, member: Member) -> dict[str, Json]:
    """Return one member as JSON content of ``front.json``."""
    return write_document(member, _context(problem))


def scheduled_to_document(shown: ScheduledMember) -> dict[str, Json]:
    """Return a member with its schedule: a row per execution, ``group`` counted through all
    networks."""
    network_names = [network.name for network in shown.problem.networks]
    unit_names = [unit.name for unit in shown.problem.units]
    names = {"network": network_names, "unit": unit_names}
    keys = ("network", "frame", "repeat", "group", "unit", "ready_ps", "start_ps", "end_ps")
    return {
        **member_to_document(shown.problem, shown.member),
        "schedule": [
            {
                key: names[key][getattr(row, key)] if key in names else getattr(row, key)
                for key in (*keys, "alone_ps")
            }
            for row in shown.schedule.groups
        ],
    }
