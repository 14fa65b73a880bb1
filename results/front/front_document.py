"""A front as JSON content. Described in ``schemas/front.schema.json``."""

from __future__ import annotations

from dataclasses import asdict
from weakref import WeakKeyDictionary

from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds_file import region_to_json
from paretosoc.results.front.certificate_file import formulation_to_document
from paretosoc.results.front.front import (
    BoundSummary,
    CertificateSummary,
    Front,
    Member,
)
from paretosoc.results.front.front_check import check_front
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.io.canonical_json import Json, content_sha256
from paretosoc.results.problem.objectives import objective_names
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256

FRONT_FORMAT = "paretosoc-front/1"

_HASHES: WeakKeyDictionary[Front, str] = WeakKeyDictionary()
"""Of fronts as they were read: to compute one takes as long as to read one."""


def front_to_document(front: Front) -> dict[str, Json]:
    """Return the front as JSON content. Networks, units and domains are given by name, domains that
    are off as ``null``.

    Raises:
        ResultError: if the front or its problem is not sound.
    """
    check_front(front)
    problem, provenance = front.problem, front.provenance
    document: dict[str, Json] = {
        "format": FRONT_FORMAT,
        "problem_sha256": problem_sha256(problem),
        "provenance": {
            "version": provenance.version,
            "command": provenance.command,
            "platform": provenance.platform,
            "precision": provenance.precision,
            "engine": provenance.engine,
            **({"single_decision": True} if provenance.single_decision else {}),
            "seed": provenance.seed,
            "evaluations": provenance.evaluations,
            "stopped_by": provenance.stopped_by,
            "seconds": provenance.seconds,
            "inputs": [{"name": file.name, "sha256": file.sha256} for file in provenance.inputs],
            "reference_point": list(provenance.reference_point),
            "convergence": [
                {"evaluations": point.evaluations, "hypervolume": point.hypervolume}
                for point in provenance.convergence
            ],
        },
        "objectives": list(objective_names(problem)),
        "members": [member_to_document(problem, member) for member in front.members],
        "certificate": _claim_to_document(front.certificate),
        "epsilon": _claim_to_document(front.epsilon),
        "bounds": _bounds_to_document(front.bounds),
        "baselines": [
            {
                "name": point.name,
                "label": point.label,
                "breaks": list(point.breaks),
                "point": member_to_document(problem, point.member),
            }
            for point in front.baselines
        ],
    }
    try:
        document["content_sha256"] = content_sha256(document)
    except ValueError:
        raise ResultError("$.provenance: numbers must be finite") from None
    return document


def front_sha256(front: Front) -> str:
    """Return ``content_sha256`` of the front's document.

    Raises:
        ResultError: if the front or its problem is not sound.
    """
    return _HASHES.get(front) or str(front_to_document(front)["content_sha256"])


def keep_sha256(front: Front, content: str) -> None:
    """Set the hash that :func:`front_sha256` will return for a front that was read."""
    _HASHES[front] = content


def _claim_to_document(claim: CertificateSummary | None) -> Json:
    if claim is None:
        return None
    return {
        "status": claim.status.value,
        "objectives": list(claim.objectives),
        "members": list(claim.members),
        "epsilon_ppm": claim.epsilon_ppm,
        "space": claim.space,
        "lemmas": claim.lemmas,
        "nodes": claim.nodes,
        "solvers": list(claim.solvers),
        "seconds": claim.seconds,
        "formulation": formulation_to_document(claim.formulation),
    }


def _bounds_to_document(claim: BoundSummary | None) -> Json:
    if claim is None:
        return None
    return {
        "objectives": list(claim.objectives),
        "members": list(claim.members),
        "epsilon_ppm": claim.epsilon_ppm,
        "region": region_to_json(claim.region),
        "space": claim.space,
        "boxes": claim.boxes,
        "inequalities": claim.inequalities,
        "seconds": claim.seconds,
    }


def member_to_document(problem: Problem, member: Member) -> dict[str, Json]:
    """Return one member as JSON content of ``front.json``."""
    network_names = [network.name for network in problem.networks]
    unit_names = [unit.name for unit in problem.units]
    units = member.design.units.tolist()
    points = member.design.operating_points.tolist()
    return {
        "objectives": dict(zip(objective_names(problem), member.objectives, strict=True)),
        "makespan_ps": member.makespan_ps,
        "latencies_ps": dict(zip(network_names, member.latencies_ps, strict=True)),
        **(
            {
                "responses": dict(zip(network_names, map(asdict, member.responses), strict=True)),
                "window_ps": None if member.window_ps is None else list(member.window_ps),
            }
            if member.responses is not None
            else {}
        ),
        "energy_fj": member.energy_fj,
        "energy_by_unit_fj": dict(zip(unit_names, member.energy_by_unit_fj, strict=True)),
        "operating_points": {
            domain.name: {
                "index": point,
                "frequency_khz": domain.frequencies_khz[point],
                "voltage_mv": domain.voltages_mv[point],
            }
            if on
            else None
            for domain, point, on in zip(problem.domains, points, member.domain_on, strict=True)
        },
        **(
            {"priorities": dict(zip(network_names, problem.priorities(member.design), strict=True))}
            if problem.searches_priorities
            else {}
        ),
        "mapping": {
            network.name: [unit_names[units[group]] for group in network.groups]
            for network in problem.networks
        },
        "free_run": None
        if member.free_run is None
        else {
            "window_ps": list(member.free_run.window_ps),
            "frame_periods_ps": dict(zip(network_names, member.free_run.periods_ps, strict=True)),
            "shown_ps": member.free_run.shown_ps,
        },
    }


def scheduled_to_document(shown: ScheduledMember) -> dict[str, Json]:
    """Return a member with its schedule: a row per execution, ``group`` counted through all
    networks."""
    network_names = [network.name for network in shown.problem.networks]
    unit_names = [unit.name for unit in shown.problem.units]
    return {
        **member_to_document(shown.problem, shown.member),
        "schedule": [
            {
                "network": network_names[row.network],
                "frame": row.frame,
                "repeat": row.repeat,
                "group": row.group,
                "unit": unit_names[row.unit],
                "ready_ps": row.ready_ps,
                "start_ps": row.start_ps,
                "end_ps": row.end_ps,
                "alone_ps": row.alone_ps,
            }
            for row in shown.schedule.groups
        ],
    }
