"""The runs of a campaign as flat rows, for other programs: CSV, Parquet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from paretosoc.common.tables import csv_text
from paretosoc.dse.tools.campaign.analyse.pivot import field_of
from paretosoc.dse.tools.campaign.analyse.values import (
    best_of,
    objective_names,
    objective_of,
    parse_value,
)
from paretosoc.dse.tools.campaign.store.run import DONE, RunRecord
from paretosoc.dse.workload.options import AXES
from paretosoc.results.io.optional import optional_import

SUFFIXES = (".csv", ".parquet")
_NUMBERS = ("seconds", "cpu_seconds", "evaluations", "members")


def run_rows(records: Sequence[RunRecord], everything: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per run: fields, tags, the best of each objective in its unit, hypervolume
    beside ``everything``, and gain. Missing numbers are None. All rows have the same keys."""
    tags = dict.fromkeys(name for record in records for name in record.tags)
    volume, gain = parse_value("hypervolume", everything), parse_value("gain", everything)
    names = objective_names(records)
    return [
        {
            "hash": record.hash,
            "name": record.name,
            "workload": record.workload,
            **{f"tag_{name}": record.tags.get(name) for name in tags},
            **{name: _plain(record, name) for name in AXES},
            "status": record.status.value,
            "error": record.error,
            **{name: getattr(record, name) for name in _NUMBERS},
            "attempts": record.attempts + (record.status in DONE),
            **{_column(name): best_of(record.figures, name) for name in names},
            "hypervolume_percent": volume.of(record),
            "gain_over_baselines": gain.of(record),
        }
        for record in records
    ]


def member_rows(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per member of a front: the run's hash and name, and its objectives in their
    units."""
    names = objective_names(records)
    return [
        {
            "hash": record.hash,
            "name": record.name,
            "member": index,
            **{_column(name): best_of(record.figures, name, [row]) for name in names},
        }
        for record in records
        if record.figures is not None
        for index, row in enumerate(record.figures.objectives)
    ]


def rows_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as CSV, with a line of names."""
    return csv_text(rows[0] if rows else [], (row.values() for row in rows))


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


def _column(name: str) -> str:
    """Rename ``latency_ps:vgg19`` to ``latency_ms:vgg19``."""
    _, colon, network = name.partition(":")
    objective = objective_of(name)
    unit = objective.unit.replace("/", "_per_").replace("%", "percent")
    return f"{objective.kind.value.replace('-', '_')}_{unit}{colon}{network}"
