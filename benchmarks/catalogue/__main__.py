"""Makes the catalogue's tables of networks: ``python -m benchmarks.catalogue``.

Some are written down in this folder, others are built by Python packages without trained weights,
exported to ONNX and stripped to their layers. Those need the extra ``export``. Nothing is
downloaded.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import io
import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.catalogue import built, packages
from benchmarks.catalogue.source import Source
from benchmarks.catalogue.stripped_model import strip_model
from paretosoc.sdf.catalogue.catalogue import FOLDER, INDEX, Accuracy, Table, read_index, table_path
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.onnx.importer import import_onnx_bytes

_OPSET = 20
"""The first in which an exporter writes GELU as one operator."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Exports the networks named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", help="names; all by default")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write into")
    chosen = parser.parse_args(arguments)
    known = {source.name: source for source in built.sources()}
    try:
        if not chosen.networks or not known.keys() >= {*chosen.networks}:
            known |= {source.name: source for source in packages.sources()}
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install paretosoc[export]")
    for name in chosen.networks:
        if name not in known:
            near = ", ".join(difflib.get_close_matches(name, known)) or ", ".join(known)
            parser.error(f"networks: there is none named {name!r}; near it are {near}")
    try:
        tables = read_index(chosen.output) if (chosen.output / INDEX).is_file() else {}
    except GraphError as error:
        parser.error(f"--output: {error}")
    for name in chosen.networks or known:
        source = known[name]
        model = source.build()
        data = model if isinstance(model, bytes) else _stripped(source, model)
        summary = summarise(import_onnx_bytes(data, name=name))
        accuracy = Accuracy(source.percent, source.metric, source.says) if source.percent else None
        table = Table(
            name, source.family, source.description, source.origin, source.inputs[0],
            summary.macs, summary.parameters, accuracy, summary.sha256,
        )  # fmt: skip
        write_table(chosen.output, table, data)
        tables[name] = table
        write_index(chosen.output, tables.values())
        print(
            f"{name}: {' x '.join(map(str, table.input_shape))}, {summary.layers} layers, "
            f"{table.macs / 1e9:.4f} GMAC, {table.parameters / 1e6:.3f} M parameters",
            flush=True,
        )


def write_table(folder: Path, table: Table, data: bytes) -> None:
    """Write a table, the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    table_path(table, folder).write_bytes(gzip.compress(data, 9, mtime=0))


def write_index(folder: Path, entries: Iterable[Table]) -> None:
    """Write the index."""
    rows = [asdict(table) for table in sorted(entries, key=lambda table: table.name)]
    lines = ",\n".join(json.dumps(row) for row in rows)
    (folder / INDEX).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _stripped(source: Source, model: Any) -> bytes:
    made = export_model(source, model)
    return strip_model(made, name=source.name, activations=len(source.inputs))


def export_model(source: Source, model: Any) -> bytes:
    """Return a module of PyTorch as ONNX. Its weights are inputs of the graph."""
    import torch

    model = model.eval()
    # The fast path of attention is one operator that ONNX does not know.
    torch.backends.mha.set_fastpath_enabled(False)
    # Tokens are whole numbers, and all inputs of two dimensions are tokens.
    given = tuple(
        torch.zeros(shape, dtype=torch.long if len(shape) == 2 else torch.float)
        for shape in source.inputs
    )
    file = io.BytesIO()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, given, file, dynamo=False, export_params=False, do_constant_folding=False,
            opset_version=_OPSET,
        )  # fmt: skip
    return file.getvalue()


if __name__ == "__main__":
    main()
