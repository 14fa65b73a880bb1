"""Fields that distinguish runs in tables: settings, parts of their workloads, tags."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.plan.settings import AXES, FILE_FIELDS, file_label
from paretosoc.dse.tools.campaign.store.run import RunRecord

_PLACES = ("first", "second", "third", "fourth")
"""The networks of a workload, one by one."""
_OTHERS = ("name", "workload", "status")


def field_names(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return all fields that these runs have."""
    tags = dict.fromkeys(name for record in records for name in record.tags)
    return (*_OTHERS, *_PLACES, *(axis.name for axis in AXES), *tags)


def field_of(record: RunRecord, name: str) -> str:
    """Return the value of a field as text, empty if it was not given."""
    if name in record.tags:
        value: object = record.tags[name]
    elif name in _PLACES:
        place = _PLACES.index(name)
        value = record.networks[place] if place < len(record.networks) else None
    elif name == "status":
        value = record.status.value
    elif name in _OTHERS:
        value = getattr(record, name)
    else:
        value = getattr(record.settings, name, None)
        if name in FILE_FIELDS and value is not None:
            value = file_label(value)
    return "" if value is None else str(value)


def check_fields(names: Sequence[str], records: Sequence[RunRecord], option: str) -> None:
    """Check names of fields.

    Raises:
        WorkloadError: on any other. The existing fields are named.
    """
    known = field_names(records)
    for name in names:
        if name not in known:
            raise WorkloadError(f"{option}: one of {', '.join(known)} is required, got {name!r}")


def varying_fields(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return the settings beside the workload that are not the same in all runs."""
    return tuple(
        axis.name for axis in AXES if len({field_of(record, axis.name) for record in records}) > 1
    )


def chosen(records: Sequence[RunRecord], where: Sequence[str]) -> list[RunRecord]:
    """Return the runs that fit all of ``FIELD=VALUE``.

    Raises:
        WorkloadError: on another form, or a field that there is not.
    """
    kept = list(records)
    for text in where:
        name, equals, value = text.partition("=")
        if not equals:
            raise WorkloadError(f"--where: FIELD=VALUE is required, got {text!r}")
        check_fields([name], records, "--where")
        kept = [record for record in kept if field_of(record, name) == value]
    return kept
