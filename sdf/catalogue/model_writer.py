"""ONNX models whose weights have only shapes, written node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretosoc.sdf.onnx.nodes import FLOAT, INT64, Shape


class ModelWriter:
    """Collects the nodes, weights, inputs and outputs of an ONNX model.

    Weights have only shapes, since costs do not depend on their values. Methods that add a tensor
    return its name.
    """

    def __init__(self, name: str, *, opset: int, ir_version: int) -> None:
        self._name = name
        self._opset = opset
        self._ir_version = ir_version
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def node(self, operation: str, name: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node and its only result."""
        from onnx import helper

        self.nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, shape: Shape) -> str:
        """Add a weight."""
        from onnx import TensorProto

        self.weights.append(TensorProto(name=name, data_type=FLOAT, dims=shape))
        return name

    def integers(self, name: str, values: Shape) -> str:
        """Add integers with their values: they say how tensors are cut and joined."""
        from onnx import helper

        self.weights.append(helper.make_tensor(name, INT64, (len(values),), values))
        return name

    def take(self, name: str, shape: Shape, dtype: int = FLOAT) -> str:
        """Add an input of the model."""
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def give(self, name: str, shape: Shape) -> None:
        """Make a tensor an output of the model."""
        from onnx import helper

        self._outputs.append(helper.make_tensor_value_info(name, FLOAT, shape))

    def model(self) -> bytes:
        """Return the finished model, the same bytes every time."""
        from onnx import helper

        graph = helper.make_graph(
            self.nodes, self._name, self._inputs, self._outputs, initializer=self.weights
        )
        opsets = [helper.make_opsetid("", self._opset)]
        made = helper.make_model(graph, ir_version=self._ir_version, opset_imports=opsets)
        data: bytes = made.SerializeToString(deterministic=True)
        return data
