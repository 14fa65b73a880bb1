"""Networks as synchronous dataflow graphs: import from ONNX, grouping, analysis."""

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.layer import Layer, LayerKind, Window

__all__ = [
    "Actor",
    "Channel",
    "GraphError",
    "Layer",
    "LayerKind",
    "SdfGraph",
    "Window",
]
