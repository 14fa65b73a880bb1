"""A network that computes several images at once."""

from __future__ import annotations

from dataclasses import replace

from paretosoc.sdf.grouping.groups import Group, GroupedNetwork
from paretosoc.sdf.layer import Layer
from paretosoc.sdf.rates import single_rate


def batched(network: GroupedNetwork, images: int) -> GroupedNetwork:
    """Return the network for a batch. Computation and activation traffic are multiplied by the
    number of images. Constants are read once.

    Args:
        network: for one image.
        images: in a batch, at least 1.
    """
    if images == 1:
        return network
    layers = {
        actor.layer.name: _batched_layer(actor.layer, images)
        for actor in network.graph.actors
        if actor.layer is not None
    }
    graph = replace(
        network.graph,
        actors=tuple(
            actor if actor.layer is None else replace(actor, layer=layers[actor.layer.name])
            for actor in network.graph.actors
        ),
        channels=tuple(
            replace(
                channel,
                production=images * single_rate(channel.production, "production"),
                consumption=images * single_rate(channel.consumption, "consumption"),
            )
            for channel in network.graph.channels
        ),
    )
    return GroupedNetwork(
        name=network.name,
        graph=graph,
        groups=tuple(
            Group(
                group.name,
                tuple(layers[layer.name] for layer in group.layers),
                images * group.external_input_elements,
                images * group.external_output_elements,
            )
            for group in network.groups
        ),
        edges=tuple(replace(edge, elements=images * edge.elements) for edge in network.edges),
    )


def _batched_layer(layer: Layer, images: int) -> Layer:
    return replace(
        layer,
        macs=images * layer.macs,
        input_elements=images * layer.input_elements,
        output_elements=images * layer.output_elements,
        result_elements=images * layer.result_elements,
        input_shapes=tuple(_batched_shape(shape, images) for shape in layer.input_shapes),
        output_shapes=tuple(_batched_shape(shape, images) for shape in layer.output_shapes),
    )


def _batched_shape(shape: tuple[int, ...], images: int) -> tuple[int, ...]:
    """Return the shape with its first dimension multiplied. A tensor without dimensions is the same
    for all images."""
    return (images * shape[0], *shape[1:]) if shape else shape
