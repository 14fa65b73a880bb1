"""A network in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from paretosoc.common.options import as_written
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.network_view import (
    NetworkView,
    layers_of,
    legal_cuts,
    tensors_of,
    transition_points,
)
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork


@dataclass(frozen=True)
class KindSummary:
    """The layers of one kind."""

    kind: str
    layers: int
    macs: int
    parameters: int
    output_elements: int


@dataclass(frozen=True)
class NetworkSummary:
    """Counts of one inference. ``dataclasses.asdict`` makes it ready for JSON."""

    name: str
    sha256: str
    """Hash of the model's bytes."""
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    layers: int
    macs: int
    """Multiply-accumulates of convolutions, matrix products, attention and recurrent layers."""
    parameters: int
    """Constants that the layers read. One that two layers read counts twice."""
    activation_elements: int
    """Elements that the layers write; layers that cost nothing write none."""
    bytes_per_element: int
    parameter_bytes: int
    held_bytes: int
    """Of constants in memory, which holds tables whole."""
    activation_bytes: int
    operations: tuple[tuple[str, int], ...]
    """Layers by operator, most frequent first."""
    kinds: tuple[KindSummary, ...]
    """Layers by kind, in the order of ``LayerKind``."""
    constant_operations: tuple[tuple[str, int], ...]
    """Nodes of the model that are computed before it runs, and so are no layers."""
    legal_cuts: tuple[int, ...]
    """Positions in the order of layers that exactly one tensor crosses: cut i is before layer i."""
    transition_points: tuple[int, ...]
    """Cut points that break no fusion of layers."""
    groups: int
    """As the network is cut by default, any unit running any layer."""
    group_edges: int
    """Hand-overs between groups, one fewer than groups if the network stays a chain."""
    largest_group: str
    """The group with most work."""
    largest_group_layers: int
    largest_group_share: float
    """Share of the network's work, multiply-accumulates and moved elements together."""
    warnings: tuple[str, ...]


def summarise(
    network: ImportedNetwork, *, bytes_per_element: int = 4, in_int8: bool = False
) -> NetworkSummary:
    """Count the layers and costs of a network.

    Args:
        bytes_per_element: of the number format that bytes are told in.
        in_int8: it may run in INT8, which a quantised network is for.

    Raises:
        GraphError: if the graph is not a network.
    """
    layers = layers_of(network.graph)
    grouped = group_network(network.graph, None)
    view = NetworkView(layers, tensors_of(network.graph), np.ones((len(layers), 1), np.bool_))
    place = {id(layer): index for index, layer in enumerate(layers)}
    work = [view.work_of([place[id(layer)] for layer in group.layers]) for group in grouped.groups]
    largest = grouped.groups[work.index(max(work))]
    parameters = sum(layer.parameters for layer in layers)
    written = sum(_written(layer) for layer in layers)
    return NetworkSummary(
        name=network.graph.name,
        sha256=network.sha256,
        inputs=network.inputs,
        outputs=network.outputs,
        layers=len(layers),
        macs=sum(layer.macs for layer in layers),
        parameters=parameters,
        activation_elements=written,
        bytes_per_element=bytes_per_element,
        parameter_bytes=sum(layer.parameter_bytes(bytes_per_element) for layer in layers),
        held_bytes=sum(layer.held_bytes(bytes_per_element) for layer in layers),
        activation_bytes=written * bytes_per_element,
        operations=_ranked(layer.operation for layer in layers),
        kinds=tuple(_of_kind(kind, layers) for kind in LayerKind if any(
            layer.kind is kind for layer in layers)),
        constant_operations=network.constant_operations,
        legal_cuts=legal_cuts(network.graph),
        transition_points=transition_points(network.graph),
        groups=len(grouped.groups),
        group_edges=len(grouped.edges),
        largest_group=largest.name,
        largest_group_layers=len(largest.layers),
        largest_group_share=max(work) / max(1, sum(work)),
        warnings=(*network.warnings, *_notes(network, in_int8=in_int8)),
    )  # fmt: skip


def _notes(network: ImportedNetwork, *, in_int8: bool) -> Iterator[str]:
    for name in network.unused_dimensions:
        yield f"the model has no dynamic dimension {name!r}: its sizes stay as they are"
    if network.is_quantised and not in_int8:
        yield f"this model is quantised: explore it with {as_written('precision', 'int8')}"


def _written(layer: Layer) -> int:
    return 0 if layer.kind is LayerKind.RESHAPE else layer.output_elements


def _of_kind(kind: LayerKind, layers: Iterable[Layer]) -> KindSummary:
    chosen = [layer for layer in layers if layer.kind is kind]
    return KindSummary(
        kind=kind.value,
        layers=len(chosen),
        macs=sum(layer.macs for layer in chosen),
        parameters=sum(layer.parameters for layer in chosen),
        output_elements=sum(_written(layer) for layer in chosen),
    )


def _ranked(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0])))
