"""A network cut into groups, the smallest parts that are mapped as one (HaX-CoNN 3.1), for one
image or several at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.layer import Layer
from paretosoc.sdf.rates import single_rate


@dataclass(frozen=True)
class Group:
    """Layers that run one after the other on one unit, in order of execution."""

    name: str
    layers: tuple[Layer, ...]
    external_input_elements: int
    """Activation elements that come from outside the group (other groups or the network's input).
    Tensors between the group's own layers are not counted."""
    external_output_elements: int
    """Activation elements that leave the group (to other groups or as the network's output)."""

    @property
    def macs(self) -> int:
        """Return the multiply-accumulates of one inference."""
        return sum(layer.macs for layer in self.layers)

    @property
    def parameters(self) -> int:
        """Return the number of constants that the group reads."""
        return sum(layer.parameters for layer in self.layers)


@dataclass(frozen=True)
class GroupEdge:
    """Group ``source`` feeds group ``target`` (indices) with ``elements`` tensor elements."""

    source: int
    target: int
    elements: int


@dataclass(frozen=True)
class GroupedNetwork:
    """A network as a directed acyclic graph of groups, numbered in an order of execution.

    Raises:
        GraphError: if an edge does not go from a lower to a higher group.
    """

    name: str
    graph: SdfGraph
    groups: tuple[Group, ...]
    edges: tuple[GroupEdge, ...]

    def __post_init__(self) -> None:
        for edge in self.edges:
            if not 0 <= edge.source < edge.target < len(self.groups):
                raise GraphError(
                    f"network {self.name!r}: edge {edge.source} -> {edge.target} must go from a "
                    f"lower to a higher group, and there are {len(self.groups)}"
                )


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
