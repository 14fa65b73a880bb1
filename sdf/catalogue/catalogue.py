"""Named networks, and the layer tables of those that come with the program.

Each table is an ONNX model whose weights have only shapes, compressed. ``index.json`` lists them
with their counts and checksums, so that listing them opens none. In a clone, ``python -m
benchmarks.catalogue`` makes them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from paretosoc.common.text import did_you_mean, has_control_characters
from paretosoc.sdf.catalogue.language_models import (
    DEFAULT_SEQUENCE,
    LANGUAGE_MODELS,
    PAST,
    SEQUENCE,
    description,
    sizes,
)
from paretosoc.sdf.catalogue.transformer_builder import build
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats import is_graph_file
from paretosoc.sdf.onnx.importer import ImportedNetwork, import_onnx_bytes, read_model


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


DATA = Path(__file__).parent / "data"
FOLDER, INDEX = DATA / "exported", "index.json"
IN_PACKAGE = DATA / "in_package.json"
"""Networks whose graphs, without weights, are in the package onnx."""
Entry = TypeVar("Entry", bound=CatalogueEntry)
_NAME = re.compile("[a-z0-9_]+")
_HASH = re.compile("[0-9a-f]{64}")
_MAX_BYTES = 64 * 2**20
"""Bytes of a table. Larger unpacked content is no table of layers."""


@dataclass(frozen=True)
class Table(CatalogueEntry):
    """A network whose layers are in a table."""

    sha256: str = ""
    """Hash of the table, unfolded."""


def _read_entries(kind: type[Entry], path: Path) -> list[Entry]:
    return [
        kind(
            **{
                **entry,
                "input_shape": tuple(entry["input_shape"]),
                "accuracy": Accuracy(**entry["accuracy"]) if entry["accuracy"] else None,
            }
        )
        for entry in json.loads(path.read_text(encoding="utf-8"))
    ]


def read_index(folder: Path = FOLDER) -> dict[str, Table]:
    """Return the tables by name, in alphabetical order.

    Raises:
        GraphError: if the index is not sound.
    """
    path = folder / INDEX
    try:
        rows = _read_entries(Table, path)
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


@lru_cache(maxsize=1)
def _in_package() -> list[CatalogueEntry]:
    return _read_entries(CatalogueEntry, IN_PACKAGE)


@lru_cache(maxsize=1)
def catalogue() -> tuple[CatalogueEntry, ...]:
    """Return all networks of the catalogue, in alphabetical order."""
    language = (
        CatalogueEntry(
            model.name, model.family, description(model), f"config.json of {model.source}",
            (1, DEFAULT_SEQUENCE), model.macs(DEFAULT_SEQUENCE), model.read(DEFAULT_SEQUENCE),
        )
        for model in LANGUAGE_MODELS.values()
    )  # fmt: skip
    entries = (*_in_package(), *tables().values(), *language)
    return tuple(sorted(entries, key=lambda entry: entry.name))


@dataclass(frozen=True)
class ModelFile:
    """The bytes of a model, and the folder it lies in."""

    name: str
    data: bytes
    folder: Path | None
    """The folder that may hold data in other files, or None for a model that a program builds."""
    label: str
    """Starts messages."""


def find_source(text: str, locate: Callable[[str], str] = str) -> str:
    """Return the name in the catalogue or the file that a text names, wherever it comes from.

    A name of the catalogue wins over a file of that name. ``./NAME`` means the file.

    Args:
        text: is taken as it is, blanks included.
        locate: turns a file that is named into the one that is read, and raises if it may not be.

    Raises:
        GraphError: if there is neither.
    """
    if has_control_characters(text):
        raise GraphError(f"network {text!r}: must not have control characters")
    if any(entry.name == text for entry in catalogue()):
        return text
    file = locate(text)
    if os.path.isfile(file):
        return file
    if os.path.isdir(file) and os.path.splitext(text)[1]:
        raise GraphError(f"network {text!r}: must be a file, got the folder {file!r}")
    if text.endswith(".onnx") or is_graph_file(text):
        path = Path(file)
        beside = sorted(found.name for found in path.parent.glob(f"*{path.suffix}"))
        hint = did_you_mean(path.name, beside, "", most=1, cutoff=0.8)
        if "=" in text:
            hint = "a workload file gives networks other names"
        raise GraphError(f"network {text!r}: there is no file {file!r}" + f"; {hint}" * bool(hint))
    raise GraphError(
        f"no network {text!r} in the catalogue, and no such .onnx file; {nearest_names(text)}"
    )


def model_file(name_or_path: str, dimensions: Mapping[str, int] | None = None) -> ModelFile:
    """Return the model of a network of the catalogue, or of a file (:func:`find_source`).

    A language model is built for the sizes that ``dimensions`` name.

    Raises:
        GraphError: if there is neither, or the file cannot be read.
    """
    path = Path(find_source(name_or_path))
    if is_graph_file(name_or_path):
        raise GraphError(
            f"{name_or_path}: is a dataflow graph, and no network: 'dse sdf' shows it, 'dse "
            "explore' maps it"
        )
    if any(entry.name == name_or_path for entry in _in_package()):
        path = _package_folder() / f"light_{name_or_path}.onnx"
        return ModelFile(name_or_path, read_model(path), path.parent, str(path))
    if name_or_path in LANGUAGE_MODELS:
        model = LANGUAGE_MODELS[name_or_path]
        data = build(model, *sizes(model, dimensions or {}))
        return ModelFile(name_or_path, data, None, name_or_path)
    if name_or_path in tables():
        return ModelFile(name_or_path, read_table(tables()[name_or_path]), None, name_or_path)
    return ModelFile(path.stem, read_model(path), path.parent, str(path))


def load_network(
    name_or_path: str, *, dimensions: Mapping[str, int] | None = None
) -> ImportedNetwork:
    """Return a network of the catalogue, or one from an ``.onnx`` file.

    Raises:
        GraphError: as :func:`model_file`, or if the model cannot be used.
    """
    chosen = tuple(sorted((dimensions or {}).items()))
    is_known = any(entry.name == name_or_path for entry in catalogue())
    return (_load_known if is_known else _load)(name_or_path, chosen)


def _load(name_or_path: str, dimensions: tuple[tuple[str, int], ...]) -> ImportedNetwork:
    file = model_file(name_or_path, dict(dimensions))
    own: tuple[str, ...] = ()
    if name_or_path in LANGUAGE_MODELS:
        own = (SEQUENCE,) if LANGUAGE_MODELS[name_or_path].is_encoder else (SEQUENCE, PAST)
    left = {name: size for name, size in dimensions if name not in own}
    network = import_onnx_bytes(
        file.data, name=file.name, folder=file.folder, dimensions=left, label=file.label
    )
    return replace(network, dynamic_dimensions=own) if own else network


_load_known = lru_cache(maxsize=64)(_load)
"""Networks of the catalogue, which change in no process."""


def nearest_names(name: str) -> str:
    """Return a hint for an unknown ``name``: the nearest names, or how to list all."""
    names = [entry.name for entry in catalogue()]
    every = f"'dse networks' lists the {len(names)} names that are known"
    return did_you_mean(name.lower(), names, every, most=3)


def _package_folder() -> Path:
    import onnx

    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
