"""A network cut into groups: the smallest parts that are mapped as one (HaX-CoNN 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.layer import Layer


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
