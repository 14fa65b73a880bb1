"""The runs of a campaign as flat rows, for other programs: CSV, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from paretosoc.dse.tools.campaign.analyse.fields import field_of
from paretosoc.dse.tools.campaign.analyse.values import parse_value
from paretosoc.dse.tools.campaign.plan.settings import AXES
from paretosoc.dse.tools.campaign.store.run_record import RunRecord
from paretosoc.results.io.optional import optional_import
from paretosoc.results.problem.objectives import (
    Objective,
    ObjectiveKind,
    objective_unit,
    objective_value,
)

SUFFIXES = (".csv", ".parquet")
_KIND_OF = {kind.spec.file_name: kind for kind in ObjectiveKind}
_NUMBERS = ("seconds", "cpu_seconds", "evaluations", "members", "attempts")


def run_rows(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per run: fields, tags, the best of each objective in its unit, hypervolume and
    gain. Missing numbers are None. All rows have the same keys."""
    tags = dict.fromkeys(name for record in records for name in record.tags)
    volume, gain = parse_value("hypervolume", records), parse_value("gain", records)
    names = dict.fromkeys(
        name for record in records if record.figures for name in record.figures.names
    )
    return [
        {
            "hash": record.hash,
            "name": record.name,
            "workload": record.workload,
            **{f"tag_{name}": record.tags.get(name) for name in tags},
            **{axis.name: _plain(record, axis.name) for axis in AXES},
            "status": record.status.value,
            "error": record.error,
            **{name: getattr(record, name) for name in _NUMBERS},
            **{_column(name): _best(record, name) for name in names},
            "hypervolume_percent": volume.of(record),
            "gain_over_baselines": gain.of(record),
        }
        for record in records
    ]


def member_rows(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per member of a front: the run's hash and name, and its objectives in their
    units."""
    rows = []
    names = dict.fromkeys(
        name for record in records if record.figures for name in record.figures.names
    )
    for record in records:
        if record.figures is None:
            continue
        own = record.figures.names
        for index, member in enumerate(record.figures.objectives):
            rows.append(
                {
                    "hash": record.hash,
                    "name": record.name,
                    "member": index,
                    **{
                        _column(name): _shown(name, member[own.index(name)])
                        if name in own
                        else None
                        for name in names
                    },
                }
            )
    return rows


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as CSV, with a line of names."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def parquet_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return the rows as a Parquet file.

    Raises:
        ResultError: if pyarrow is not installed.
    """
    arrow: Any = optional_import("pyarrow", extra="parquet", purpose="Parquet")
    parquet: Any = optional_import("pyarrow.parquet", extra="parquet", purpose="Parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), stream)
    return stream.getvalue()


def _plain(record: RunRecord, name: str) -> Any:
    value = getattr(record.settings, name)
    return field_of(record, name) if isinstance(value, str) else value


def _kind(name: str) -> Objective:
    return Objective(_KIND_OF[name.partition(":")[0]])


def _column(name: str) -> str:
    """Rename ``latency_ps:vgg19`` to ``latency_ms:vgg19``."""
    _, colon, network = name.partition(":")
    objective = _kind(name)
    unit = objective_unit(objective).replace("/", "_per_").replace("%", "percent")
    return f"{objective.kind.value.replace('-', '_')}_{unit}{colon}{network}"


def _shown(name: str, value: int) -> float:
    return objective_value(_kind(name), value)


def _best(record: RunRecord, name: str) -> float | None:
    if record.figures is None or name not in record.figures.names:
        return None
    column = record.figures.names.index(name)
    return _shown(name, min(row[column] for row in record.figures.objectives))
