"""Makes the catalogue's tables of networks from Python packages: ``python -m
paretosoc.sdf.catalogue.export``.

Needs the extra ``export``, and nothing is downloaded: the networks are built without trained
weights, exported to ONNX and stripped to their layers (:mod:`sdf.onnx.stripped_model`).
"""

from __future__ import annotations

import argparse
import difflib
import io
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from paretosoc.sdf.catalogue.export_sources import Source, sources
from paretosoc.sdf.catalogue.exported import (
    FOLDER,
    Accuracy,
    Table,
    holds_index,
    read_index,
    write_index,
    write_table,
)
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.onnx.importer import import_onnx_bytes
from paretosoc.sdf.onnx.stripped_model import strip_model

_OPSET = 20
"""The first in which an exporter writes GELU as one operator."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Exports the networks named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", help="names; all by default")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write into")
    chosen = parser.parse_args(arguments)
    try:
        known = {source.name: source for source in sources()}
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install paretosoc[export]")
    for name in chosen.networks:
        if name not in known:
            near = ", ".join(difflib.get_close_matches(name, known)) or ", ".join(known)
            parser.error(f"networks: there is none named {name!r}; near it are {near}")
    try:
        tables = read_index(chosen.output) if holds_index(chosen.output) else {}
    except GraphError as error:
        parser.error(f"--output: {error}")
    for name in chosen.networks or known:
        source = known[name]
        data = strip_model(_export(source), name=name, activations=len(source.inputs))
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


def _export(source: Source) -> bytes:
    """Return the network as ONNX. Its weights are inputs of the graph."""
    import torch

    model = source.build().eval()
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
