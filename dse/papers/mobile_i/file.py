"""The files of periodic schedules: ``periodic.json`` and its pictures."""

from __future__ import annotations

from typing import Any

from paretosoc.dse.papers.mobile_i.periodic import (
    EngineArray,
    PeriodicSchedule,
    Task,
    TaskGraph,
    Transfer,
)
from paretosoc.dse.papers.mobile_i.result import FILE, PeriodicResult
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import REPORT_FILE
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256
from paretosoc.results.io.document import check_against_schema

FORMAT = "paretosoc-periodic/1"
PERIODIC_FOLDER = FolderKind(
    frozenset({FILE, "front.svg", "front.png", "schedule.svg", "schedule.png", REPORT_FILE})
)
Place = tuple[EngineArray, TaskGraph]


def periodic_files(result: PeriodicResult) -> dict[str, bytes]:
    """Return the document and the pictures by name."""
    from paretosoc.dse.papers.mobile_i.views.pictures import front_picture, schedule_picture
    from paretosoc.results.plots.style import picture_settings, png_bytes, svg_bytes

    files = {FILE: canonical_bytes(periodic_to_document(result))}
    with picture_settings():
        for name, figure in (
            ("front", front_picture(result)),
            ("schedule", schedule_picture(result.members[0])),
        ):
            files[f"{name}.svg"] = svg_bytes(figure)
            files[f"{name}.png"] = png_bytes(figure)
    return files


def periodic_to_document(result: PeriodicResult) -> dict[str, Any]:
    """Return the document of ``periodic.json``."""
    places: dict[Place, int] = {}
    for schedule in (*result.members, *result.others):
        places.setdefault((schedule.array, schedule.graph), len(places))
    document: dict[str, Any] = {
        "format": FORMAT,
        "network": result.network,
        "platform": result.platform,
        "platform_sha256": result.platform_sha256,
        "network_sha256": result.network_sha256,
        "inferences": result.inferences,
        "parts": result.parts,
        "command": result.command,
        "version": result.version,
        "arrays": [
            {
                **vars(array),
                "tasks": [vars(task) for task in graph.tasks],
                "transfers": [vars(transfer) for transfer in graph.transfers],
            }
            for array, graph in places
        ],
        "members": [_schedule_document(s, places, result.inferences) for s in result.members],
        "others": [_schedule_document(s, places, result.inferences) for s in result.others],
    }
    document["content_sha256"] = content_sha256(document)
    return document


def _schedule_document(
    schedule: PeriodicSchedule, places: dict[Place, int], inferences: int
) -> dict[str, Any]:
    return {
        "method": schedule.method,
        "array": places[schedule.array, schedule.graph],
        "copies": schedule.copies,
        "period_ps": schedule.period_ps,
        "latency_ps": schedule.latency_ps(inferences),
        "prologue_ps": schedule.prologue_ps,
        "energy_fj": schedule.energy_fj(inferences),
        "engine": list(schedule.engine),
        "start_ps": list(schedule.start_ps),
        "ahead": list(schedule.ahead),
        "cached": list(schedule.cached),
    }


def periodic_from_document(document: Any, *, check_hashes: bool = True) -> PeriodicResult:
    """Return the schedules of a document. Their latency, prologue and energy must be those that it
    states.

    Whether the schedules keep their rules is for ``dse verify`` to say.

    Raises:
        ResultError: as :meth:`PeriodicResult.load`.
    """
    check_against_schema(document, "periodic")
    rest = {key: value for key, value in document.items() if key != "content_sha256"}
    if check_hashes and content_sha256(rest) != document["content_sha256"]:
        raise ResultError("$: was changed after it was written")
    places = [
        (
            EngineArray(entry["engines"], entry["cache_bytes"], entry["idle_mw"]),
            TaskGraph(
                document["network"],
                tuple(Task(**task) for task in entry["tasks"]),
                tuple(Transfer(**transfer) for transfer in entry["transfers"]),
            ),
        )
        for entry in document["arrays"]
    ]
    inferences = document["inferences"]
    return PeriodicResult(
        network=document["network"],
        platform=document["platform"],
        platform_sha256=document["platform_sha256"],
        network_sha256=document["network_sha256"],
        inferences=inferences,
        parts=document["parts"],
        command=document["command"],
        version=document["version"],
        members=_schedules(document["members"], places, inferences, "$.members"),
        others=_schedules(document["others"], places, inferences, "$.others"),
    )


def _schedules(
    entries: list[Any], places: list[Place], inferences: int, where: str
) -> tuple[PeriodicSchedule, ...]:
    schedules = []
    for number, entry in enumerate(entries):
        path = f"{where}[{number}]"
        if entry["array"] >= len(places):
            raise ResultError(f"{path}.array: must be below {len(places)}, got {entry['array']}")
        array, graph = places[entry["array"]]
        size = entry["copies"] * len(graph.tasks)
        for key in ("engine", "start_ps", "ahead"):
            if len(entry[key]) != size:
                raise ResultError(f"{path}.{key}: must have {size} entries, got {len(entry[key])}")
        schedule = PeriodicSchedule(
            method=entry["method"],
            graph=graph,
            array=array,
            copies=entry["copies"],
            period_ps=entry["period_ps"],
            engine=tuple(entry["engine"]),
            start_ps=tuple(entry["start_ps"]),
            ahead=tuple(entry["ahead"]),
            cached=tuple(entry["cached"]),
        )
        for key, value in (
            ("latency_ps", schedule.latency_ps(inferences)),
            ("prologue_ps", schedule.prologue_ps),
            ("energy_fj", schedule.energy_fj(inferences)),
        ):
            if entry[key] != value:
                raise ResultError(f"{path}.{key}: is {value}, not {entry[key]}")
        schedules.append(schedule)
    return tuple(schedules)
