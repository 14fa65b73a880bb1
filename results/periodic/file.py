"""A result folder of periodic schedules: ``periodic.json`` and its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    PERIODIC_FILE,
    PERIODIC_FORMAT,
    check_output_folder,
    write_folder,
)
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256, parse
from paretosoc.results.io.schema import check_against_schema
from paretosoc.results.periodic.periodic import EngineArray, PeriodicSchedule
from paretosoc.results.periodic.result import PeriodicResult
from paretosoc.results.periodic.task_graph import Task, TaskGraph, Transfer

Place = tuple[EngineArray, TaskGraph]


def write_periodic(folder: Path, result: PeriodicResult, *, overwrite: bool = False) -> None:
    """Write the folder atomically, as :func:`results.export.result_folder.write_results` does.

    Raises:
        ResultError: if the folder may not be replaced, or cannot be written.
    """
    check_output_folder(folder, overwrite=overwrite)
    from paretosoc.results.periodic.picture import front_picture, schedule_picture
    from paretosoc.results.plots.style import picture_settings, png_bytes, svg_bytes

    files = {PERIODIC_FILE: canonical_bytes(periodic_to_document(result))}
    with picture_settings():
        for name, figure in (
            ("front", front_picture(result)),
            ("schedule", schedule_picture(result.members[0])),
        ):
            files[f"{name}.svg"] = svg_bytes(figure)
            files[f"{name}.png"] = png_bytes(figure)
    write_folder(folder, files, overwrite=overwrite)


def read_periodic(folder: Path, *, check_hashes: bool = True) -> PeriodicResult:
    """Return the schedules in a result folder.

    Raises:
        ResultError: if the file is missing, cannot be read, does not follow its schema, was
            changed, or contradicts itself.
    """
    path = folder / PERIODIC_FILE
    data = read_file(path, ResultError)
    try:
        return periodic_from_document(parse(data), check_hashes=check_hashes)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from None


def periodic_to_document(result: PeriodicResult) -> dict[str, Any]:
    """Return the document of ``periodic.json``."""
    places: dict[Place, int] = {}
    for schedule in (*result.members, *result.others):
        places.setdefault((schedule.array, schedule.graph), len(places))
    document: dict[str, Any] = {
        "format": PERIODIC_FORMAT,
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
        ResultError: as :func:`read_periodic`.
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
