"""ONNX models as dataflow graphs: one actor per layer, one channel per tensor and reader."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.common.text import reason_of
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.file import parse_model
from paretosoc.sdf.onnx.layers import make_layer
from paretosoc.sdf.onnx.nodes import Shape
from paretosoc.sdf.onnx.operators.op_kinds import needs_plugin, operation_name
from paretosoc.sdf.onnx.tables import Tables
from paretosoc.sdf.onnx.walk import Walk, walk_model

_QUANTISED = re.compile(
    r"(com\.microsoft::)?(QuantizeLinear|DynamicQuantize.*|QLinear.*|QGemm|QAttention|MatMulInteger"
    r"|ConvInteger)"
)
MAX_BYTES = 2**31 - 1
"""Largest size of a protocol buffer."""


@dataclass(frozen=True)
class ImportedNetwork:
    """A network as read from a model."""

    graph: SdfGraph
    """Actors are the layers in an order of execution. The rates of a channel are the elements of
    its tensor."""
    inputs: tuple[tuple[str, Shape], ...]
    """Names and shapes of the inputs, with the sizes taken for dynamic dimensions."""
    outputs: tuple[tuple[str, Shape], ...]
    constant_operations: tuple[tuple[str, int], ...]
    """Numbers of nodes, by operator name, that are computed before the network runs (weights, shape
    arithmetic) and so are no layers."""
    warnings: tuple[str, ...]
    sha256: str
    """Hash of the bytes that the model was read from."""
    unused_dimensions: tuple[str, ...] = ()
    """Dimensions that were given a size and that the model does not have."""
    dynamic_dimensions: tuple[str, ...] = ()
    """Those that the model has, by name or as ``input:axis``."""
    readers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For each input the layers that read it."""

    @property
    def graph_sha256(self) -> str:
        """Return the SHA-256 of inputs, outputs, layers and channels, whatever the weights are."""
        layers = [(actor.name, actor.layer) for actor in self.graph.actors]
        content = repr((self.inputs, self.outputs, layers, self.graph.channels))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def is_quantised(self) -> bool:
        """Return whether operators of the model compute in 8 bits."""
        return any(
            actor.layer is not None and _QUANTISED.fullmatch(actor.layer.operation)
            for actor in self.graph.actors
        )


def read_model(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        GraphError: if it cannot be read or is no protocol buffer for its size.
    """
    return read_file(path, GraphError, MAX_BYTES)


def import_onnx_bytes(
    data: bytes,
    *,
    name: str,
    folder: Path | None = None,
    dimensions: Mapping[str, int] | None = None,
    label: str | None = None,
) -> ImportedNetwork:
    """Return the network of a model's bytes.

    Weights may be absent, since only their shapes are needed. Nodes whose inputs are all constant
    are constants themselves, and nodes that feed no output are left out. A dynamic batch dimension
    (named so, or the first of an input without a name or of four dimensions) is 1.

    Args:
        folder: where external data lies.
        dimensions: sizes of dynamic dimensions by name, or by ``input:axis`` if they have none.
        label: starts messages. Default: the name.

    Raises:
        GraphError: if it is not a sound model, refers to data outside its folder, has control flow
            that depends on the data, or a dynamic dimension without a size.
    """
    with model_errors(name if label is None else label):
        walk = walk_model(parse_model(data, folder), dict(dimensions or {}))
        return _network(walk, name, hashlib.sha256(data).hexdigest())


@contextmanager
def model_errors(label: str) -> Iterator[None]:
    """Turn every exception that a model causes into a GraphError that starts with ``label``."""
    try:
        yield
    except GraphError as error:
        raise GraphError(f"{label}: {error}") from None
    except Exception as error:
        # A model whose bytes are damaged breaks its readers (protobuf, ONNX's inliner and shape
        # inference) with errors of many types, some with no base but Exception.
        raise GraphError(f"{label}: not a sound ONNX model: {reason_of(error)}") from error


def _network(walk: Walk, name: str, sha256: str) -> ImportedNetwork:
    producer: dict[str, str] = {}
    readers = Counter(tensor for node in walk.layers for tensor in set(node.inputs) if tensor)
    results = set(walk.outputs)
    tables = Tables(walk)
    actors: list[Actor] = []
    channels: list[Channel] = []
    for node in walk.layers:
        inputs = [walk.tensors[tensor] if tensor else None for tensor in node.inputs]
        used = [tensor for tensor in node.outputs if tensor in results or readers[tensor]]
        outputs = [walk.tensors[tensor] for tensor in used]
        shared = (tensor for tensor in used if tensor in results and readers[tensor])
        layer = make_layer(
            node, inputs, outputs, sum(walk.tensors[tensor].elements for tensor in shared)
        )
        wide, bits = tables.unread(node, inputs, outputs)
        layer = replace(layer, unread_parameters=wide, unread_narrow_bits=bits)
        actors.append(Actor(node.name, layer))
        for tensor in dict.fromkeys(node.inputs):
            if tensor in producer:
                channels.append(_channel(producer[tensor], node.name, tensor, walk))
        producer.update((tensor, node.name) for tensor in used)
    return ImportedNetwork(
        graph=SdfGraph(name, tuple(actors), tuple(channels)),
        inputs=tuple((tensor, walk.tensors[tensor].shape) for tensor in walk.inputs),
        outputs=tuple((tensor, walk.tensors[tensor].shape) for tensor in walk.outputs),
        constant_operations=tuple(
            sorted(
                Counter(
                    operation_name(node.domain, node.operator) for node in walk.constants
                ).items()
            )
        ),
        warnings=(*walk.warnings, *_unknown(actors)),
        sha256=sha256,
        unused_dimensions=walk.unused_dimensions,
        dynamic_dimensions=walk.dynamic_dimensions,
        readers=tuple(
            (tensor, tuple(node.name for node in walk.layers if tensor in node.inputs))
            for tensor in walk.inputs
        ),
    )


def _unknown(actors: list[Actor]) -> list[str]:
    """Return the operators without a cost of their own, and their share of all traffic."""
    layers = [actor.layer for actor in actors if actor.layer is not None]
    unknown = [layer for layer in layers if layer.kind is LayerKind.UNKNOWN]
    if not unknown:
        return []
    moved, total = (
        sum(layer.parameters + layer.input_elements + layer.output_elements for layer in some)
        for some in (unknown, [layer for layer in layers if layer.kind is not LayerKind.RESHAPE])
    )
    counts = sorted(Counter(layer.operation for layer in unknown).items())
    names = ", ".join(f"{name} ({count}x)" for name, count in counts)
    share = f"{moved / total:.1%}" if total else "none"
    foreign = [name for name, _ in counts if needs_plugin(name.rpartition("::")[0])]
    return [
        f"operations that are not known cost only the bytes they move ({share} of all): {names}",
        *(f"{name} needs a plugin of the runtime: it is of no domain of ONNX" for name in foreign),
    ]


def _channel(source: str, target: str, tensor: str, walk: Walk) -> Channel:
    # An empty tensor still makes its reader wait, and a rate is at least 1.
    elements = max(1, walk.tensors[tensor].elements)
    size: Any = walk.tensors[tensor].element_bytes
    return Channel(source, target, elements, elements, token_bytes=size, name=tensor)
