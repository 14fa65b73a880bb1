"""Strict reader of ``benchmarks/data/validation``: published figures, and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import read_file

FOLDER = Path(__file__).parents[1] / "data" / "validation"
NAME = "name"
"""The unit of a column of texts."""
KEYS = ("title", "repository", "commit", "path", "licence", "note", "columns", "rows")

Cell = str | float


@dataclass(frozen=True)
class DataSet:
    """A file of published figures. ``commit`` is None if the source is an issue.

    ``columns``: name to unit. ``rows``: column to cell, a text or a number above 0.
    """

    name: str
    title: str
    repository: str
    commit: str | None
    path: str
    licence: str
    note: str
    columns: dict[str, str]
    rows: tuple[dict[str, Cell], ...]

    def numbers(self, column: str) -> list[float]:
        """Return one column of numbers.

        Raises:
            DseError: on a column of texts.
        """
        if self.columns[column] == NAME:
            raise DseError(f"{self.name}: {column} is a column of texts")
        return [float(row[column]) for row in self.rows]


def read_set(name: str, folder: Path = FOLDER) -> DataSet:
    """Read the file ``NAME.json``.

    Raises:
        DseError: naming the file, the field, the requirement and the value.
    """
    path = folder / f"{name}.json"
    try:
        return _data_set(name, parse_json(read_file(path, DseError)))
    except DseError as error:
        raise DseError(f"{path.name}: {error}") from None


def _data_set(name: str, document: Any) -> DataSet:
    if not isinstance(document, dict) or set(document) != set(KEYS):
        raise DseError(f"keys must be {', '.join(KEYS)}")
    texts = {key: document[key] for key in ("title", "repository", "path", "licence", "note")}
    for key, value in texts.items():
        if not isinstance(value, str) or not value:
            raise DseError(f"{key} must be a text, got {value!r}")
    commit = document["commit"]
    if commit is not None and not (isinstance(commit, str) and commit):
        raise DseError(f"commit must be a text or null, got {commit!r}")
    columns = document["columns"]
    if not isinstance(columns, dict) or not all(isinstance(u, str) and u for u in columns.values()):
        raise DseError("columns must map names to units")
    if not isinstance(document["rows"], list) or not document["rows"]:
        raise DseError("rows must be a list of rows")
    rows = tuple(_row(columns, row, f"rows[{index}]") for index, row in enumerate(document["rows"]))
    keys = [tuple(row.values()) for row in rows]
    if len(set(keys)) < len(keys):
        raise DseError("rows must differ")
    return DataSet(name=name, commit=commit, columns=columns, rows=rows, **texts)


def _row(columns: Mapping[str, str], cells: Any, where: str) -> dict[str, Cell]:
    if not isinstance(cells, list) or len(cells) != len(columns):
        raise DseError(f"{where} must have {len(columns)} cells")
    row: dict[str, Cell] = {}
    for (name, unit), cell in zip(columns.items(), cells, strict=True):
        if unit == NAME:
            if not isinstance(cell, str) or not cell:
                raise DseError(f"{where}: {name} must be a text, got {cell!r}")
            row[name] = cell
        elif isinstance(cell, bool) or not isinstance(cell, int | float) or cell <= 0:
            raise DseError(f"{where}: {name} must be a number above 0, got {cell!r}")
        else:
            row[name] = float(cell)
    return row
