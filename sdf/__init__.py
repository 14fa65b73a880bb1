"""Networks as synchronous dataflow graphs: import from ONNX, grouping, analysis."""

from sdf.errors import GraphError
from sdf.graph import Actor, Channel, SdfGraph
from sdf.layer import Layer, LayerKind, Window

__all__ = [
    "Actor",
    "Channel",
    "GraphError",
    "Layer",
    "LayerKind",
    "SdfGraph",
    "Window",
]
