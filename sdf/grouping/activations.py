"""Memory that the activations of a network take while it runs."""

from __future__ import annotations

from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.network_view import layers_of, tensors_of
from paretosoc.sdf.layer import LayerKind

_IN_PLACE = frozenset({LayerKind.ACTIVATION, LayerKind.ELEMENTWISE, LayerKind.NORMALISATION})
"""Kinds that may write over their input if nothing reads it later. Runtimes run them with the layer
before them, or in place."""


def held_activation_elements(graph: SdfGraph) -> tuple[int, ...]:
    """Return the tensor elements that are held while each layer runs, [layers], in their order.

    A tensor is held from the layer that makes it to the last one that reads it, an input of the
    network while a layer reads it, a result while it is made. A reshaped tensor uses the same
    memory. So does the result of an activation, element-wise layer or normalisation that is the
    last to read a tensor of the same size.

    Raises:
        GraphError: if the graph is not a network in an order of execution.
    """
    layers, tensors = layers_of(graph), tensors_of(graph)
    made: list[list[int]] = [[] for _ in layers]
    read: list[list[int]] = [[] for _ in layers]
    for t, tensor in enumerate(tensors):
        made[tensor.source].append(t)
        for reader in tensor.readers:
            read[reader].append(t)
    home = list(range(len(tensors)))
    last = [tensor.readers[-1] for tensor in tensors]
    held, freed = 0, [0] * (len(layers) + 1)
    found = []
    size = [tensor.elements for tensor in tensors]
    for i, layer in enumerate(layers):
        for t in made[i]:
            in_place = layer.kind in _IN_PLACE
            home[t] = next(
                (
                    home[other]
                    for other in read[i]
                    if size[home[other]] == size[t]
                    and (layer.kind is LayerKind.RESHAPE or (in_place and last[home[other]] == i))
                ),
                t,
            )
            if home[t] == t:
                held += size[t]
                freed[last[t]] += size[t]
            elif last[t] > last[home[t]]:
                freed[last[home[t]]] -= size[home[t]]
                last[home[t]] = last[t]
                freed[last[t]] += size[home[t]]
        outside = layer.input_elements - sum(size[t] for t in read[i])
        results = layer.output_elements - sum(size[t] for t in made[i])
        found.append(held + max(0, outside) + max(0, results))
        held -= freed[i]
    return tuple(found)
