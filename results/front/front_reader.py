"""A front from JSON content: the inverse of :mod:`results.front.front_document`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds_file import region_from_json
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.certificate_file import formulation_from_document
from paretosoc.results.front.front import (
    BaselinePoint,
    BoundSummary,
    CertificateSummary,
    FreeRun,
    Front,
    HypervolumePoint,
    InputFile,
    Member,
    Provenance,
    Responses,
)
from paretosoc.results.front.front_check import check_front
from paretosoc.results.front.front_document import keep_sha256
from paretosoc.results.io.canonical_json import Json, content_sha256
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.problem.objectives import objective_names
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.problem.problem_reader import read_only


def front_from_document(document: Json, problem: Problem, *, check_hashes: bool = True) -> Front:
    """Return the front that :func:`front_to_document` gave this content for.

    Raises:
        ResultError: if the content does not follow the schema, is not of this problem, or is not a
            sound front of it. It names the JSON path.
    """
    check_against_schema(document, "front")
    content: Any = document
    if check_hashes and content["problem_sha256"] != problem_sha256(problem):
        raise ResultError("$.problem_sha256: is not that of problem.json")
    names = _Names.of(problem)
    if tuple(content["objectives"]) != names.objectives:
        wanted = ", ".join(names.objectives)
        raise ResultError(f"$.objectives: must be those of the problem: {wanted}")
    front = Front(
        problem=problem,
        members=tuple(
            _member_from_document(names, member, f"$.members[{i}]")
            for i, member in enumerate(content["members"])
        ),
        provenance=_provenance_from_document(content["provenance"]),
        certificate=_claim_from_document(content["certificate"]),
        epsilon=_claim_from_document(content["epsilon"]),
        bounds=_bounds_from_document(content["bounds"]),
        baselines=tuple(
            BaselinePoint(
                name=entry["name"],
                label=entry["label"],
                member=_member_from_document(names, entry["point"], f"$.baselines[{i}].point"),
                breaks=tuple(entry["breaks"]),
            )
            for i, entry in enumerate(content["baselines"])
        ),
    )
    check_front(front)
    signed = {key: value for key, value in content.items() if key != "content_sha256"}
    if check_hashes:
        computed = content_sha256(signed)
        keep_sha256(front, computed)
        if content["content_sha256"] != computed:
            raise ResultError("$.content_sha256: the content was changed after it was written")
    return front


def _claim_from_document(content: Any) -> CertificateSummary | None:
    if content is None:
        return None
    return CertificateSummary(
        status=CertificateStatus(content["status"]),
        objectives=tuple(content["objectives"]),
        members=tuple(content["members"]),
        epsilon_ppm=content["epsilon_ppm"],
        space=content["space"],
        lemmas=content["lemmas"],
        nodes=content["nodes"],
        solvers=tuple(content["solvers"]),
        seconds=float(content["seconds"]),
        formulation=formulation_from_document(content["formulation"]),
    )


def _bounds_from_document(content: Any) -> BoundSummary | None:
    if content is None:
        return None
    return BoundSummary(
        objectives=tuple(content["objectives"]),
        members=tuple(content["members"]),
        epsilon_ppm=content["epsilon_ppm"],
        region=region_from_json(content["region"]),
        space=content["space"],
        boxes=content["boxes"],
        inequalities=content["inequalities"],
        seconds=float(content["seconds"]),
    )


def _provenance_from_document(content: Any) -> Provenance:
    return Provenance(
        version=content["version"],
        engine=content["engine"],
        seed=content["seed"],
        evaluations=content["evaluations"],
        stopped_by=content["stopped_by"],
        seconds=float(content["seconds"]),
        inputs=tuple(InputFile(file["name"], file["sha256"]) for file in content["inputs"]),
        platform=content["platform"],
        precision=content["precision"],
        command=content["command"],
        convergence=tuple(
            HypervolumePoint(point["evaluations"], float(point["hypervolume"]))
            for point in content["convergence"]
        ),
        reference_point=tuple(float(value) for value in content["reference_point"]),
        single_decision=content.get("single_decision", False),
    )


@dataclass(frozen=True, eq=False)
class _Names:
    """The indices of the names in a document."""

    problem: Problem
    objectives: tuple[str, ...]
    networks: dict[str, int]
    units: dict[str, int]
    ladders: dict[str, list[dict[str, int | None]]]
    """Per domain its operating points, as they stand in documents."""

    @classmethod
    def of(cls, problem: Problem) -> _Names:
        """Return the names of the problem."""
        return cls(
            problem,
            objective_names(problem),
            {network.name: n for n, network in enumerate(problem.networks)},
            {unit.name: u for u, unit in enumerate(problem.units)},
            {
                domain.name: [
                    {"index": i, "frequency_khz": khz, "voltage_mv": mv}
                    for i, (khz, mv) in enumerate(
                        zip(domain.frequencies_khz, domain.voltages_mv, strict=True)
                    )
                ]
                for domain in problem.domains
            },
        )


def _member_from_document(names: _Names, content: Any, path: str) -> Member:
    points = _values(content, "operating_points", names.ladders, path)
    return Member(
        design=DesignPoint(
            units=read_only(np.array(_mapping(names, content, path), dtype=np.int64)),
            operating_points=read_only(
                np.array(
                    [
                        _operating_point(names, d, point, f"{path}.operating_points")
                        for d, point in enumerate(points)
                    ],
                    dtype=np.int64,
                )
            ),
            priorities=_priorities(names, content, path),
        ),
        objectives=tuple(_values(content, "objectives", names.objectives, path)),
        domain_on=tuple(point is not None for point in points),
        latencies_ps=tuple(_values(content, "latencies_ps", names.networks, path)),
        makespan_ps=content["makespan_ps"],
        energy_fj=content["energy_fj"],
        energy_by_unit_fj=tuple(_values(content, "energy_by_unit_fj", names.units, path)),
        free_run=_free_run(content["free_run"], names, f"{path}.free_run"),
        responses=_responses(names, content, path),
        window_ps=_window(content.get("window_ps")),
    )


def _priorities(names: _Names, content: Any, path: str) -> IntArray | None:
    if names.problem.searches_priorities != ("priorities" in content):
        raise ResultError(
            f"{path}.priorities: must be there where priorities are searched, else not"
        )
    if not names.problem.searches_priorities:
        return None
    chosen = _values(content, "priorities", names.networks, path)
    return read_only(np.array(chosen, dtype=np.int64))


def _responses(names: _Names, content: Any, path: str) -> tuple[Responses, ...] | None:
    for key in ("responses", "window_ps"):
        if names.problem.has_rates != (key in content):
            raise ResultError(f"{path}.{key}: must be there where networks have rates, else not")
    if not names.problem.has_rates:
        return None
    return tuple(
        Responses(**entry) for entry in _values(content, "responses", names.networks, path)
    )


def _window(content: Any) -> tuple[int, int] | None:
    if content is None:
        return None
    begin, end = content
    return begin, end


def _mapping(names: _Names, content: Any, path: str) -> list[int]:
    """Return the unit of each group."""
    units: list[int] = []
    mapping = _values(content, "mapping", names.networks, path)
    for network, chosen in zip(names.problem.networks, mapping, strict=True):
        here = f"{path}.mapping[{network.name!r}]"
        if len(chosen) != len(network.group_names):
            raise ResultError(
                f"{here}: must name {len(network.group_names)} units, one per group, "
                f"got {len(chosen)}"
            )
        units += _indices(names.units, chosen, here)
    return units


def _free_run(content: Any, names: _Names, path: str) -> FreeRun | None:
    if content is None:
        return None
    begin, end = content["window_ps"]
    periods = _values(content, "frame_periods_ps", names.networks, path)
    return FreeRun((begin, end), tuple(periods), content["shown_ps"])


def _values(content: Any, key: str, names: Collection[str], path: str) -> list[Any]:
    """Return the values of an object that must have exactly these keys, in the order of
    ``names``."""
    values = content[key]
    found = [values[name] for name in names if name in values]
    if not len(found) == len(names) == len(values):
        raise ResultError(
            f"{path}.{key}: must have the keys {', '.join(names)}; got {', '.join(values)}"
        )
    return found


def _indices(indices: dict[str, int], names: Sequence[str], path: str) -> list[int]:
    """Return the indices of the names in a list."""
    try:
        return list(map(indices.__getitem__, names))
    except KeyError:
        i = next(i for i, name in enumerate(names) if name not in indices)
        raise ResultError(
            f"{path}[{i}]: must be one of {', '.join(indices)}; got {names[i]!r}"
        ) from None


def _operating_point(names: _Names, d: int, point: Any, path: str) -> int:
    """Return the index of the operating point, or ``point_when_off`` if the domain is off."""
    domain = names.problem.domains[d]
    if point is None:
        return domain.point_when_off
    index: int = point["index"]
    ladder = names.ladders[domain.name]
    if index >= len(ladder) or ladder[index] != point:
        raise ResultError(f"{path}[{domain.name!r}]: no such operating point: {point}")
    return index
