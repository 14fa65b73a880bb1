"""The layer tables of networks that come with the program.

Each is an ONNX model whose weights have only shapes, compressed. ``index.json`` lists them with
their counts and checksums, so that listing them opens none. In a clone, ``python -m
benchmarks.catalogue`` makes them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paretosoc.sdf.errors import GraphError


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a network, with what it is a share of, and who says so."""

    percent: float
    metric: str = ""
    source: str = ""


@dataclass(frozen=True)
class CatalogueEntry:
    """A network of the catalogue, described without building it."""

    name: str
    family: str
    description: str
    origin: str
    """The source of its layers."""
    input_shape: tuple[int, ...]
    """Batch, channels, height, width. For a language model: batch and tokens."""
    macs: int
    parameters: int
    """Parameters that an inference reads."""
    accuracy: Accuracy | None = None
    """With its published weights, at this input."""

    @property
    def takes_images(self) -> bool:
        """Return whether its input is an image."""
        return len(self.input_shape) == 4


FOLDER = Path(__file__).parent / "data" / "exported"
INDEX = "index.json"
_NAME = re.compile("[a-z0-9_]+")
_HASH = re.compile("[0-9a-f]{64}")
_MAX_BYTES = 64 * 2**20
"""Bytes of a table. Larger unpacked content is no table of layers."""


@dataclass(frozen=True)
class Table(CatalogueEntry):
    """A network whose layers are in a table."""

    sha256: str = ""
    """Hash of the table, unfolded."""


def read_index(folder: Path = FOLDER) -> dict[str, Table]:
    """Return the tables by name, in alphabetical order.

    Raises:
        GraphError: if the index is not sound.
    """
    path = folder / INDEX
    try:
        rows = [
            Table(
                **{
                    **entry,
                    "input_shape": tuple(entry["input_shape"]),
                    "accuracy": Accuracy(**entry["accuracy"]) if entry["accuracy"] else None,
                }
            )
            for entry in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise GraphError(f"{path}: the index of networks cannot be read: {error}") from None
    for row in rows:
        for field, given, sound in (
            ("name", row.name, _matches(_NAME, row.name)),
            ("input_shape", row.input_shape, all(map(_is_count, row.input_shape))),
            ("macs", row.macs, _is_count(row.macs)),
            ("parameters", row.parameters, _is_count(row.parameters)),
            ("sha256", row.sha256, _matches(_HASH, row.sha256)),
        ):
            if not sound:
                raise GraphError(f"{path}: {field} of a network must be sound, got {given!r}")
    names = [row.name for row in rows]
    if sorted(set(names)) != names:
        raise GraphError(f"{path}: names must ascend, each once")
    return {row.name: row for row in rows}


@lru_cache(maxsize=1)
def tables() -> dict[str, Table]:
    """Return the tables that come with the program, by name."""
    return read_index()


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def table_path(table: Table, folder: Path = FOLDER) -> Path:
    """Return the path of a table."""
    return folder / f"{table.name}.onnx.gz"


def read_table(table: Table, folder: Path = FOLDER) -> bytes:
    """Return the ONNX model of a table.

    Raises:
        GraphError: if the file cannot be read, is damaged, or is not the one that the index names.
    """
    path = table_path(table, folder)
    try:
        with gzip.open(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise GraphError(f"{path}: the table of layers cannot be read: {error}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != table.sha256:
        raise GraphError(
            f"{path}: the table of layers is not the one that the index names: its SHA-256 must be "
            f"{table.sha256}, got {found}"
        )
    return data
