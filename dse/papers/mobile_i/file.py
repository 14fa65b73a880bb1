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
from paretosoc.results.io.canonical_json import canonical_bytes, check_signature, signed
from paretosoc.results.io.document import check_against_schema

FORMAT = "paretosoc-periodic/1"
PERIODIC_FOLDER = FolderKind(
    frozenset({FILE, "front.svg", "front.png", "schedule.svg", "schedule.png", REPORT_FILE})
)
Place = tuple[EngineArray, TaskGraph]
PLAIN = (
    *("network", "platform", "platform_sha256", "network_sha256"),
    *("inferences", "parts", "command", "version"),
)
SCHEDULE, LISTS = ("method", "copies", "period_ps"), ("engine", "start_ps", "ahead", "cached")
"""Keys that results and schedules have as they are."""


def periodic_files(result: PeriodicResult) -> dict[str, bytes]:
    """Return the document and the pictures by name."""
    from paretosoc.dse.papers.mobile_i.views.pictures import front_picture, schedule_picture
    from paretosoc.results.plots.style import png_bytes

    files = {FILE: canonical_bytes(periodic_to_document(result))}
    for name, picture in (
        ("front", front_picture(result)),
        ("schedule", schedule_picture(result.members[0])),
    ):
        files[f"{name}.svg"] = picture.svg()
        files[f"{name}.png"] = png_bytes(picture)
    return files


def periodic_to_document(result: PeriodicResult) -> dict[str, Any]:
    """Return the document of ``periodic.json``."""
    places: dict[Place, int] = {}
    for schedule in (*result.members, *result.others):
        places.setdefault((schedule.array, schedule.graph), len(places))
    document: dict[str, Any] = {
        "format": FORMAT,
        **{key: getattr(result, key) for key in PLAIN},
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
    return signed(document)


def _schedule_document(
    schedule: PeriodicSchedule, places: dict[Place, int], inferences: int
) -> dict[str, Any]:
    return {
        "array": places[schedule.array, schedule.graph],
        **{key: getattr(schedule, key) for key in SCHEDULE},
        **_figures(schedule, inferences),
        **{key: list(getattr(schedule, key)) for key in LISTS},
    }


def _figures(schedule: PeriodicSchedule, inferences: int) -> dict[str, int]:
    """Return the keys whose values follow from the others."""
    return {
        "latency_ps": schedule.latency_ps(inferences),
        "prologue_ps": schedule.prologue_ps,
        "energy_fj": schedule.energy_fj(inferences),
    }


def periodic_from_document(document: Any, *, check_hashes: bool = True) -> PeriodicResult:
    """Return the schedules of a document. Their latency, prologue and energy must be those that it
    states.

    Whether the schedules keep their rules is for ``dse verify`` to say.

    Raises:
        ResultError: as :meth:`PeriodicResult.load`.
    """
    check_against_schema(document, "periodic")
    if check_hashes:
        check_signature(document)
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
        **{key: document[key] for key in PLAIN},
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
        for key in LISTS[:3]:
            if len(entry[key]) != size:
                raise ResultError(f"{path}.{key}: must have {size} entries, got {len(entry[key])}")
        read: dict[str, Any] = {key: entry[key] for key in SCHEDULE}
        read.update({key: tuple(entry[key]) for key in LISTS})
        schedule = PeriodicSchedule(graph=graph, array=array, **read)
        for key, value in _figures(schedule, inferences).items():
            if entry[key] != value:
                raise ResultError(f"{path}.{key}: is {value}, not {entry[key]}")
        schedules.append(schedule)
    return tuple(schedules)
