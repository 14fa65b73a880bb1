"""Workload files, YAML or JSON, under ``dse/inputs/data/workload.schema.json``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import parse_input, read_input
from paretosoc.dse.inputs.kinds_by_name import PerName
from paretosoc.dse.workload.options import FIELDS, NETWORK_LIMITS
from paretosoc.dse.workload.workload import (
    SUFFIXES,
    Pin,
    TaskTime,
    Variant,
    Workload,
    WorkloadNetwork,
    find_network,
    short_name,
    split_copies,
    workload_of,
)
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.sdf.catalogue.catalogue import Accuracy


def workload_from(arguments: Sequence[str]) -> Workload:
    """Return the workload that arguments name: one workload file, or networks
    (:func:`workload_of`).

    Raises:
        WorkloadError: on a workload file beside anything else or with copies, one that cannot be
            used, or networks that :func:`workload_of` refuses.
    """
    if len(arguments) == 1 and is_workload_file(arguments[0]):
        return load_workload(arguments[0])
    for argument in arguments:
        if is_workload_file(argument) or is_workload_file(split_copies(argument)[0]):
            raise WorkloadError(
                f"workload file {argument!r}: must stand alone, without copies and without other "
                "networks; name those in the file"
            )
    return workload_of(arguments, find_network)


def is_workload_file(argument: str) -> bool:
    """Return whether a text names a workload file, by its ending."""
    return argument.lower().endswith(SUFFIXES)


def load_workload(path: str | Path) -> Workload:
    """Return the workload in a file. Its paths are relative to the file's folder.

    Raises:
        WorkloadError: if it cannot be read, does not fit the schema or contradicts itself. The
            message names the file and the place.
    """
    return read_workload(read_input(path), os.fspath(path))


def read_workload(data: bytes, path: str) -> Workload:
    """Return the workload in bytes. ``path`` gives the format, the folder and the beginning of
    messages.

    Raises:
        WorkloadError: as :func:`load_workload`.
    """
    document = parse_input(data, path, "workload")
    with naming(path, WorkloadError):
        workload = workload_of_document(document, os.path.dirname(path) or os.curdir)
    digest = hashlib.sha256(data).hexdigest()
    return replace(workload, inputs=((os.path.basename(path), digest),))


def workload_of_document(document: dict[str, Any], folder: str) -> Workload:
    """Return the workload of a document under the schema. Its paths are relative to ``folder``.

    Raises:
        WorkloadError: if it contradicts itself.
    """
    workload = _workload(document, folder)
    check_workload(workload)
    return workload


def _workload(document: dict[str, Any], folder: str) -> Workload:
    kinds = [(kind, index) for kind in ("networks", "tasks") for index in _places(document, kind)]
    entries = [document[kind][index] for kind, index in kinds]
    if not entries:
        raise WorkloadError("must have networks or tasks, got neither")
    paths = [f"{kind}[{index}]" for kind, index in kinds]
    for entry, path in zip(entries, paths, strict=True):
        if "variants" in entry and "name" not in entry:
            raise WorkloadError(f"{path} must have name, as it has variants")
        if not {"network", "variants", "times"} & entry.keys():
            raise WorkloadError(f"{path} must have network or variants")
    names = [entry.get("name") or short_name(entry["network"]) for entry in entries]
    copies: dict[str, tuple[str, ...]] = {}
    owner: dict[str, int] = {}
    for index, (name, entry) in enumerate(zip(names, entries, strict=True)):
        numbered = (f"{name}#{number}" for number in range(2, entry.get("copies", 1) + 1))
        copies[name] = (name, *numbered)
        for copy in copies[name]:
            if copy in owner:
                raise WorkloadError(
                    f"{paths[index]}.name must be unique, got {copy!r}, which is in "
                    f"{paths[owner[copy]]} already (give one of them a 'name', or 'copies')"
                )
            owner[copy] = index
    return Workload(
        networks=tuple(
            network
            for index, entry in enumerate(entries)
            for network in _networks(entry, paths[index], copies[names[index]], copies, folder)
        ),
        frames_in_flight=document.get("frames_in_flight", 2),
        **_options(document, ("frames_per_second", "power_cap_w"), ""),
        free_running=document.get("free_running", False),
        runtime=document.get("runtime"),
    )


def _places(document: dict[str, Any], kind: str) -> range:
    return range(len(document.get(kind, ())))


def _networks(
    entry: dict[str, Any],
    path: str,
    names: tuple[str, ...],
    copies: dict[str, tuple[str, ...]],
    folder: str,
) -> list[WorkloadNetwork]:
    """Return one network for each copy of an entry."""
    source = _source(entry["network"], folder, f"{path}.network") if "network" in entry else ""
    others = [(f"waits_for[{k}]", other) for k, other in enumerate(entry.get("waits_for", ()))]
    others += [(f"reads_mb.{other}", other) for other in entry.get("reads_mb", ())]
    for key, other in others:
        if other not in copies:
            raise WorkloadError(
                f"{path}.{key} must name a network or a task of this file "
                f"({', '.join(map(repr, copies))}), got {other!r}"
            )
    waits_for = list(dict.fromkeys(name for _, other in others for name in copies[other]))
    continued = _continued(entry, path, names, copies)
    waits_for += [name for name in continued if name and name not in waits_for]
    pins = tuple(
        _pin(pin, f"{path}.pins[{index}]") for index, pin in enumerate(entry.get("pins", ()))
    )
    return [
        WorkloadNetwork(
            name=name,
            source=source,
            repeats=entry.get("repeats", 1),
            waits_for=tuple(waits_for),
            arrival_ms=Fraction(entry.get("arrival_ms", 0)),
            jitter_ms=Fraction(entry.get("jitter_ms", 0)),
            priority=entry.get("priority", 0),
            rate_hz=None if "rate_hz" not in entry else Fraction(entry["rate_hz"]),
            **_options(entry, (*NETWORK_LIMITS, "min_accuracy_percent"), f"{path}."),
            pins=pins,
            batch=entry.get("batch", 1),
            dimensions=tuple(entry.get("dimensions", {}).items()),
            grows=tuple(entry.get("grows", {}).items()),
            continues=before,
            times=tuple(_time(time) for time in entry.get("times", ())),
            variants=tuple(
                _variant(entry | variant, folder, f"{path}.variants[{index}]")
                for index, variant in enumerate(entry.get("variants", ()))
            ),
            reads_mb=tuple(
                (each, Fraction(size))
                for other, size in entry.get("reads_mb", {}).items()
                for each in copies[other]
            ),
        )
        for name, before in zip(names, continued, strict=True)
    ]


def _options(entry: dict[str, Any], names: Sequence[str], path: str) -> dict[str, Any]:
    """Return the options of these names that an entry has, numbers with or without units."""
    found = {}
    for name in filter(entry.__contains__, names):
        kind: Any = FIELDS[name].kind
        each = kind.each if isinstance(kind, PerName) else kind
        read = each.parse if isinstance(entry[name], str) else each.read
        found[name] = read(entry[name], f"{path}{name}")
    return found


def _variant(entry: dict[str, Any], folder: str, path: str) -> Variant:
    """Return the variant of an entry whose keys it has overridden. Accuracies of the catalogue hold
    at the input of the catalogue only."""
    from paretosoc.sdf.catalogue.catalogue import catalogue

    if "network" not in entry:
        raise WorkloadError(f"{path} must have network")
    source = _source(entry["network"], folder, f"{path}.network")
    accuracy = next((known.accuracy for known in catalogue() if known.name == source), None)
    if "accuracy_percent" in entry:
        accuracy = Accuracy(float(entry["accuracy_percent"]))
    elif "dimensions" in entry:
        accuracy = None
    return Variant(
        name=entry.get("variant") or short_name(source),
        source=source,
        batch=entry.get("batch", 1),
        dimensions=tuple(entry.get("dimensions", {}).items()),
        accuracy=accuracy,
    )


def _time(time: dict[str, Any]) -> TaskTime:
    """Return a time of a task."""
    numbers = {name: Fraction(time[name]) for name in ("ms", "mhz", "traffic_mb") if name in time}
    return TaskTime(time["unit"], **numbers, power_mw=time.get("power_mw"))


def _continued(
    entry: dict[str, Any], path: str, names: tuple[str, ...], copies: dict[str, tuple[str, ...]]
) -> tuple[str | None, ...]:
    """Return, for each copy of an entry, the copy of another that it continues."""
    other = entry.get("continues")
    if other is None:
        return (None,) * len(names)
    if len(copies.get(other, ())) != len(names):
        raise WorkloadError(
            f"{path}.continues must name a network of this file with as many copies "
            f"({', '.join(map(repr, copies))}), got {other!r}"
        )
    return copies[other]


def _source(text: str, folder: str, path: str) -> str:
    """Return the catalogue's name, or the path of a file as seen from here."""
    with naming(path, WorkloadError):
        # os.path.join keeps "./". Without it, "./vgg19" in this folder would mean the catalogue's.
        source, copies = find_network(text, lambda file: os.path.join(folder, file))
    if copies > 1:
        raise WorkloadError(f"{path}: copies are stated by 'copies', got {text!r}")
    return source


def _pin(pin: dict[str, Any], path: str) -> Pin:
    first = pin.get("first", 0)
    last = pin.get("last", pin.get("first"))
    if last is not None and last < first:
        raise WorkloadError(f"{path}.last must be at least first ({first}), got {last}")
    return Pin(first, last, pin["unit"])
