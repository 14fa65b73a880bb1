"""The layer tables of torchvision's networks that come with the program.

Each is an ONNX model whose weights have only shapes, compressed. ``index.json`` lists them with
their counts and checksums, so that listing them opens none. ``sdf/catalogue/torchvision_export.py``
made them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path

from paretosoc.sdf.errors import GraphError

FOLDER = Path(__file__).parent / "data" / "torchvision"
ORIGIN = "torchvision, exported without weights"
_INDEX = "index.json"
_COUNT = "[1-9][0-9]*"
_FIELD_RULES = {
    "name": "[a-z0-9_]+",
    "crop": _COUNT,
    "weights": "[A-Z0-9_]+",
    "macs": _COUNT,
    "parameters": _COUNT,
    "top1": r"[1-9][0-9]\.[0-9]+",
    "sha256": "[0-9a-f]{64}",
}
_FAMILIES = {
    "convnext": ("ConvNeXt", "7 x 7 depthwise convolutions, layer normalisation"),
    "densenet": ("DenseNet", "every layer of a block reads all before it"),
    "efficientnet_b": ("EfficientNet", "inverted residuals that weigh their channels"),
    "efficientnet_v2": ("EfficientNet", "the first inverted residuals fused to 3 x 3 convolutions"),
    "inception_v3": ("Inception", "convolutions factorised to 1 x 7 and 7 x 1"),
    "maxvit": ("MaxViT", "inverted residuals, attention in blocks and over a grid"),
    "mnasnet": ("MNASNet", "inverted residuals found by search, 3 x 3 and 5 x 5"),
    "mobilenet_v3": ("MobileNet", "inverted residuals found by search, hard swish"),
    "regnet_x": ("RegNet", "residual blocks with grouped convolutions"),
    "regnet_y": ("RegNet", "residual blocks with grouped convolutions that weigh their channels"),
    "resnet": ("ResNet", "residual blocks of two convolutions"),
    "resnext": ("ResNet", "residual blocks with grouped convolutions"),
    "shufflenet_v2": ("ShuffleNet", "half of the channels pass a block unchanged"),
    "squeezenet": ("SqueezeNet", "fire modules"),
    "swin": ("Swin", "attention in windows that shift, transformer of four stages"),
    "vgg": ("VGG", "3 x 3 convolutions and three large products"),
    "vit": ("ViT", "transformer on patches of the image"),
    "wide_resnet": ("ResNet", "residual blocks with twice the channels inside"),
}
"""Family and building blocks of networks, by the beginnings of their names."""
_MAX_BYTES = 64 * 2**20
"""Bytes of a table. Larger unpacked content is no table of layers."""


@dataclass(frozen=True)
class Table:
    """The facts of a network that are known without opening its table."""

    name: str
    crop: int
    """Height and width of the input. Batch 1, three channels."""
    weights: str
    """The name of those of torchvision's weights that are published for this crop."""
    macs: int
    parameters: int
    top1: float
    """Share of ImageNet-1K's validation images that those weights classify rightly, in percent."""
    sha256: str
    """Hash of the table, unfolded."""


def holds_index(folder: Path) -> bool:
    """Return whether a folder has tables."""
    return (folder / _INDEX).is_file()


def read_index(folder: Path = FOLDER) -> dict[str, Table]:
    """Return the tables by name, in alphabetical order.

    Raises:
        GraphError: if the index is not sound.
    """
    path = folder / _INDEX
    try:
        rows = [Table(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise GraphError(f"{path}: the index of networks cannot be read: {error}") from None
    for row in rows:
        for field in fields(Table):
            value = getattr(row, field.name)
            wanted = _FIELD_RULES[field.name]
            if not re.fullmatch(wanted, str(value)) or (wanted is _COUNT) != (type(value) is int):
                raise GraphError(f"{path}: {field.name} must match {wanted}, got {value!r}")
    names = [row.name for row in rows]
    if sorted(set(names)) != names:
        raise GraphError(f"{path}: names must ascend, each once")
    return {row.name: row for row in rows}


@lru_cache(maxsize=1)
def tables() -> dict[str, Table]:
    """Return the tables that come with the program, by name."""
    return read_index()


def described(name: str) -> tuple[str, str]:
    """Return the family and description of a network.

    Raises:
        GraphError: if its name begins with no known family.
    """
    prefix = max((key for key in _FAMILIES if name.startswith(key)), key=len, default=None)
    if prefix is None:
        raise GraphError(f"network {name!r} belongs to no family of torchvision's networks")
    return _FAMILIES[prefix]


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


def write_table(folder: Path, table: Table, data: bytes) -> None:
    """Write a table, the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    table_path(table, folder).write_bytes(gzip.compress(data, 9, mtime=0))


def write_index(folder: Path, entries: Iterable[Table]) -> None:
    """Write the index."""
    rows = [asdict(table) for table in sorted(entries, key=lambda table: table.name)]
    lines = ",\n".join(json.dumps(row) for row in rows)
    (folder / _INDEX).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
