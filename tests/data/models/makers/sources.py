"""How a model file is made: the registry, and exporters that several makers use."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import torch


@dataclass(frozen=True)
class Source:
    """How a file is made."""

    exporter: str
    make: Callable[[], Any]
    dimensions: dict[str, int] = field(default_factory=dict)
    """What ``--dim`` has to give."""
    feeds: dict[str, Any] = field(default_factory=dict)
    """Values of inputs that must not be random."""
    counted: Callable[[], Any] | None = None
    """Makes a model of the same work that ONNX Runtime can run without an accelerator."""


SOURCES: dict[str, Source] = {}


def source(
    exporter: str, *, feeds: dict[str, Any] | None = None, counted: Any = None, **dimensions: int
) -> Any:
    """Registers the function as the maker of a file."""

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        SOURCES[make.__name__] = Source(exporter, make, dimensions, feeds or {}, counted)
        return make

    return register


def by_script(
    model: Any, inputs: tuple[Any, ...], opset: int, names: str = "x", outputs: str = "y",
    dynamic: dict[str, dict[int, str]] | None = None,
) -> Any:  # fmt: skip
    """Exported by torch's TorchScript exporter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            model, inputs, str(path), opset_version=opset, input_names=names.split(),
            output_names=outputs.split(), dynamic_axes=dynamic or {}, dynamo=False,
        )  # fmt: skip
        return onnx.load(path)


def by_dynamo(
    model: Any, inputs: tuple[Any, ...], opset: int, names: str = "x", outputs: str = "y",
    dynamic: Any = None,
) -> Any:  # fmt: skip
    """Exported by torch.export."""
    program = torch.onnx.export(
        model, inputs, opset_version=opset, input_names=names.split(),
        output_names=outputs.split(), dynamic_shapes=dynamic, dynamo=True,
    )  # fmt: skip
    return program.model_proto


def hf(name: str, configuration: Any, **more: Any) -> Any:
    import transformers

    configuration._attn_implementation = more.get("attention", "eager")
    return getattr(transformers, name)(configuration).eval()


class First(torch.nn.Module):
    """A network of transformers with one result or several, and no cache."""

    def __init__(self, network: Any, names: str, results: str, **fixed: Any) -> None:
        super().__init__()
        self.network, self.names, self.results = network, names.split(), results.split()
        self.fixed = fixed

    def forward(self, *tensors: Any) -> Any:
        given = dict(zip(self.names, tensors, strict=True))
        result = self.network(**given, **self.fixed)
        found = tuple(getattr(result, name) for name in self.results)
        return found[0] if len(found) == 1 else found
