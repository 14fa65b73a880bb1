"""Makes the catalogue's tables of torchvision's networks: ``python -m
sdf.catalogue.torchvision_export``.

Needs the extra ``torchvision`` (torch, torchvision), and nothing is downloaded: the networks are
built without trained weights, exported to ONNX and stripped to their layers
(:mod:`sdf.onnx.stripped_model`). All parameters share the memory of the largest one, so that the
largest network needs no gigabytes. Every network is exported at the smallest crop that torchvision
has published weights for, batch 1. Those that the catalogue has from elsewhere are left out.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.sdf.catalogue.torchvision_tables import (
    FOLDER,
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


@dataclass(frozen=True)
class _Published:
    """The figures that torchvision's metadata of weights gives of a network."""

    crop: int
    weights: str
    gmacs: float
    parameters: int
    top1: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Exports the networks named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", help="torchvision's names; all by default")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write into")
    chosen = parser.parse_args(arguments)
    torch, models = _packages()
    known = models.list_models(module=models)
    for name in chosen.networks:
        if name not in known:
            near = ", ".join(difflib.get_close_matches(name, known)) or ", ".join(known)
            parser.error(f"networks: torchvision has none named {name!r}; near it are {near}")
    try:
        tables = read_index(chosen.output) if holds_index(chosen.output) else {}
    except GraphError as error:
        parser.error(f"--output: {error}")
    for name in chosen.networks or _wanted(models):
        published = _published(models, name)
        data = strip_model(_export(torch, models, name, published.crop), name=name)
        summary = summarise(import_onnx_bytes(data, name=name))
        table = Table(
            name, published.crop, published.weights, summary.macs, summary.parameters,
            published.top1, summary.sha256,
        )  # fmt: skip
        write_table(chosen.output, table, data)
        tables[name] = table
        write_index(chosen.output, tables.values())
        print(_describe(table, summary.layers, published), flush=True)


def _describe(table: Table, layers: int, published: _Published) -> str:
    """Return one line: the counts and their distance from the published ones."""
    macs = table.macs / 1e9 / published.gmacs - 1
    parameters = table.parameters / published.parameters - 1
    return (
        f"{table.name}: {table.crop} x {table.crop}, {layers} layers, {table.macs / 1e9:.4f} GMAC "
        f"({macs:+.2%}), {table.parameters / 1e6:.3f} M parameters ({parameters:+.2%})"
    )


def _packages() -> tuple[Any, Any]:
    """Return torch and torchvision's models.

    torchvision registers kernels for two operators of detection networks that only its own binary
    for the same build of torch defines. Without one (a torch for CPUs, say) they are declared here.
    No classification network calls them.
    """
    try:
        torch = importlib.import_module("torch")
        library = torch.library.Library("torchvision", "FRAGMENT")
        try:
            models = importlib.import_module("torchvision.models")
        except RuntimeError:
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]
            for operator in ("nms", "qnms"):
                library.define(f"{operator}(Tensor boxes, Tensor scores, float iou) -> Tensor")
            models = importlib.import_module("torchvision.models")
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install paretosoc[torchvision]")
    # The library goes when its object does.
    torch.library._torchvision_operators = library
    return torch, models


def _wanted(models: Any) -> list[str]:
    from paretosoc.sdf.catalogue.catalogue import catalogue
    from paretosoc.sdf.catalogue.torchvision_tables import ORIGIN

    elsewhere = {entry.name for entry in catalogue() if entry.origin != ORIGIN}
    return [name for name in models.list_models(module=models) if name not in elsewhere]


def _published(models: Any, name: str) -> _Published:
    """Return the figures of the first of the weights with the smallest crop."""
    weights = list(models.get_model_weights(name))
    crops = [_crop(weight) for weight in weights]
    crop = min(crops)
    chosen = weights[crops.index(crop)]
    top1 = chosen.meta["_metrics"]["ImageNet-1K"]["acc@1"]
    return _Published(crop, chosen.name, chosen.meta["_ops"], chosen.meta["num_params"], top1)


def _crop(weight: Any) -> int:
    size = weight.transforms.keywords["crop_size"]
    return int(size if isinstance(size, int) else size[0])


def _export(torch: Any, models: Any, name: str, crop: int) -> bytes:
    """Return the network as ONNX. Its weights are inputs of the graph."""
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    with _parameters_without_memory(torch):
        model = models.get_model(name, weights=None, **options).eval()
    shapes = [parameter.shape for parameter in model.parameters()]
    shared = torch.zeros(max(shape.numel() for shape in shapes))
    for module in model.modules():
        for key, parameter in module._parameters.items():
            if parameter is not None:
                value = shared[: parameter.numel()].view(parameter.shape)
                module._parameters[key] = torch.nn.Parameter(value, requires_grad=False)
    # The fast path of attention is one operator that ONNX does not know.
    torch.backends.mha.set_fastpath_enabled(False)
    file = io.BytesIO()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (torch.zeros(1, 3, crop, crop),),
            file,
            dynamo=False,
            export_params=False,
            do_constant_folding=False,
            opset_version=_OPSET,
        )
    return file.getvalue()


@contextmanager
def _parameters_without_memory(torch: Any) -> Iterator[None]:
    """Turn a module's parameters into shapes as soon as it has them, as long as the context lasts.
    Its buffers, which hold tables of indices, are not touched."""
    original = torch.nn.Module.register_parameter

    def register(self: Any, name: str, parameter: Any) -> None:
        original(self, name, parameter)
        if parameter is not None:
            shape = parameter.detach().to("meta")
            self._parameters[name] = torch.nn.Parameter(shape, requires_grad=False)

    torch.nn.Module.register_parameter = register
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = original


if __name__ == "__main__":
    main()
