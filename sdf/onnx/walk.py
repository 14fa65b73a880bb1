"""One pass over a model in execution order: shapes, constants, and which nodes are layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.constants import MAX_VALUE_ELEMENTS, constant, fill, fold, tensor_value
from paretosoc.sdf.onnx.dimensions import Dimensions
from paretosoc.sdf.onnx.file import opset_versions
from paretosoc.sdf.onnx.nodes import (
    FLOAT,
    MAX_TENSOR_ELEMENTS,
    Namer,
    Node,
    Shape,
    Tensor,
    Value,
    chosen_branch,
    dtype_of,
    in_order,
    needed,
)
from paretosoc.sdf.onnx.operators.op_kinds import CONTROL_FLOW
from paretosoc.sdf.onnx.operators.shapes import DATA_DEPENDENT, knows, output_types

# Inputs that hold weights in every network that is trained and exported.
_WEIGHT_SLOTS: dict[str, range] = {
    **dict.fromkeys(["Conv", "ConvTranspose", "Gemm", "BatchNormalization"], range(1, 5)),
    **dict.fromkeys(["InstanceNormalization", "LayerNormalization", "PRelu"], range(1, 3)),
    **dict.fromkeys(["LSTM", "GRU", "RNN"], range(1, 4)),
}


@dataclass
class Walk:
    """The facts known of a model after the pass."""

    tensors: dict[str, Tensor]
    layers: list[Node]
    """In an order of execution, names unique."""
    inputs: list[str]
    outputs: list[str]
    constants: list[Node]
    """Nodes that are computed before the network runs (weights, shape arithmetic), in order."""
    warnings: list[str] = field(default_factory=list)
    unused_dimensions: tuple[str, ...] = ()
    """Dimensions that were given a size and that the model does not have."""
    dynamic_dimensions: tuple[str, ...] = ()
    """Those that the model has, each once."""


def walk_model(model: Any, dimensions: dict[str, int]) -> Walk:
    """Walk a model that :func:`sdf.onnx.file.parse_model` made.

    Raises:
        GraphError: if a tensor has no producer or no shape, nodes wait for each other in a circle,
            or control flow depends on the data.
    """
    graph = model.graph
    outputs = [value.name for value in graph.output]
    if not outputs:
        raise GraphError("the graph has no output; the file may be cut off")
    namer = Namer(opset_versions(model))
    nodes, dead = needed(in_order(namer.nodes(graph.node)), outputs)
    read = {name for node in nodes for name in node.inputs}.union(outputs)
    state = _State(graph, Dimensions(dimensions, graph.input), read, namer)
    state.read_initializers(nodes)
    for node in nodes:
        state.visit(node)
    # Nodes that only the branches not taken read.
    layers, idle = needed(state.layers, outputs)
    walk = Walk(state.tensors, layers, [], outputs, state.constants)
    walk.unused_dimensions = state.dimensions.unused
    walk.dynamic_dimensions = tuple(dict.fromkeys(state.dimensions.names))
    for name in outputs:
        if name not in state.tensors:
            raise GraphError(f"output {name!r} is computed by no node; the file may be cut off")
    if not walk.layers:
        raise GraphError("nothing but constants is computed: there is no layer")
    used = {name for node in walk.layers for name in node.inputs}
    walk.inputs = [name for name in state.free_inputs if name in used]
    walk.warnings = state.warnings()
    if dead + idle:
        count = pluralize(dead + idle, "node")
        walk.warnings.append(f"{count} left out, which no output depends on")
    return walk


class _State:
    """Tensors known so far, and the assumptions to warn of."""

    def __init__(self, graph: Any, dimensions: Dimensions, read: set[str], namer: Namer) -> None:
        self.graph = graph
        self.dimensions = dimensions
        self._read = read
        self._namer = namer
        self.tensors: dict[str, Tensor] = {}
        self.layers: list[Node] = []
        self.free_inputs: list[str] = []
        self.constants: list[Node] = []
        self._absent_weights: list[str] = []
        self._guessed: list[str] = []
        self._bounded: list[str] = []
        self._declared = {
            value.name: value for value in (*graph.output, *graph.value_info, *graph.input)
        }

    def read_initializers(self, nodes: list[Node]) -> None:
        """Read initializers and inputs. Inputs that only serve as weights are constants."""
        for tensor in self.graph.initializer:
            self._read_initializer(tensor)
        for sparse in self.graph.sparse_initializer:
            shape = tuple(sparse.dims)
            self._set(sparse.values.name, Tensor(shape, sparse.values.data_type, True))
        slots: dict[str, bool] = {}
        for node in nodes:
            weights = _WEIGHT_SLOTS.get(node.operator, range(0)) if node.domain == "" else range(0)
            for index, name in enumerate(node.inputs):
                slots[name] = slots.get(name, True) and index in weights
        free = [value for value in self.graph.input if value.name not in self.tensors]
        for value in free:
            weight = slots.get(value.name, False)
            shape, dtype = self._input_shape(value, read=value.name in slots)
            self._set(value.name, Tensor(shape, dtype, constant=weight))
            if weight:
                self._absent_weights.append(value.name)
            else:
                self.free_inputs.append(value.name)
        self.dimensions.check()

    def _read_initializer(self, tensor: Any) -> None:
        shape = tuple(tensor.dims)
        self._set(tensor.name, Tensor(shape, tensor.data_type, True, tensor_value(tensor)))

    def visit(self, node: Node) -> None:
        """Compute a node's outputs, and add it as a layer if it is one."""
        if node.domain == "" and node.operator in CONTROL_FLOW:
            self._visit_branch(node)
            return
        inputs = [self._input(node, name) for name in node.inputs]
        if self._fold(node, inputs):
            self.constants.append(node)
            return
        fixed = bool(node.outputs) and all(tensor is None or tensor.constant for tensor in inputs)
        if fixed and not any(inputs) and not knows(node):
            raise node.error("its operator is not known and it has no input")
        for index, found in enumerate(output_types(node, inputs)):
            name = node.outputs[index]
            if not name or (found is None and name not in self._read):
                continue
            shape, dtype = found or self._declared_type(name) or self._guess(node, inputs, index)
            self._set(name, Tensor(shape, dtype, fixed, stored_as=_stored_type(node, inputs)))
        if fixed:
            self.constants.append(node)
            return
        if node.domain == "" and node.operator in DATA_DEPENDENT:
            self._bounded.append(node.name)
        self.layers.append(node)

    def warnings(self) -> list[str]:
        """Return all assumptions that a user should know, each kind once."""
        texts = []
        if self.dimensions.batch:
            texts.append(f"dynamic batch dimension taken as 1 ({_some(self.dimensions.batch)})")
        if self._absent_weights:
            texts.append(f"inputs without values taken as weights: {_some(self._absent_weights)}")
        if self._guessed:
            texts.append(
                "outputs without a known shape taken to have that of the first input: "
                + _some(self._guessed)
            )
        if self._bounded:
            texts.append(
                "output sizes that depend on the data taken at their largest: "
                + _some(self._bounded)
            )
        return texts

    def _visit_branch(self, node: Node) -> None:
        """Put the branch that an ``If`` takes in its place."""
        condition = self.tensors.get(node.inputs[0]) if node.inputs else None
        value = None if condition is None else condition.value
        if node.operator != "If" or value is None or value.size != 1:
            reason = "it repeats a graph; export the model without it, as unrolled layers"
            if node.operator == "If":
                names = ", ".join(map(repr, self._inputs_behind(node.inputs[0]))) or "the data"
                reason = (
                    f"its condition depends on {names}; export the model without it, or with "
                    f"{names} as a constant"
                )
            raise GraphError(
                f"node {node.name!r}: control flow ({node.operator}) cannot be mapped, for {reason}"
            )
        branch = chosen_branch(node, condition=bool(value.reshape(())))
        for tensor in branch.initializer:
            self._read_initializer(tensor)
        self.graph.initializer.extend(branch.initializer)
        self._declared.update((value.name, value) for value in branch.value_info)
        nodes, _ = needed(in_order(self._namer.nodes(branch.node)), list(node.outputs))
        self._read.update(name for inner in nodes for name in inner.inputs)
        for inner in nodes:
            self.visit(inner)

    def _inputs_behind(self, tensor: str) -> list[str]:
        """Return the inputs of the network that a tensor depends on."""
        nodes, _ = needed(self.layers, [tensor])
        read = {tensor, *(name for node in nodes for name in node.inputs)}
        return [name for name in self.free_inputs if name in read]

    def _fold(self, node: Node, inputs: list[Tensor | None]) -> bool:
        """Set the outputs of a node with known values. Return False if they are not known."""
        if node.domain != "" or not node.outputs:
            return False
        known = [None if tensor is None else tensor.value for tensor in inputs]
        if node.operator in ("Shape", "Size"):
            if not inputs or inputs[0] is None:
                raise node.error("its first input is missing")
            shape = inputs[0].shape
            start, end = node.integer("start", 0), node.integer("end", len(shape))
            import numpy as np

            size = shape[start:end] if node.operator == "Shape" else inputs[0].elements
            self._set_value(node.outputs[0], np.array(size, np.int64))
        elif node.operator == "Constant":
            dims, dtype, value = constant(node)
            self._set(node.outputs[0], Tensor(dims, dtype, True, value))
        elif node.operator == "ConstantOfShape":
            if not known or known[0] is None:
                raise node.error("its shape is not a constant that is known")
            value = fill(node, known[0])
            if value is None:
                filler = node.attributes.get("value")
                dtype = FLOAT if filler is None else int(filler.data_type)
                dims = tuple(int(size) for size in known[0].reshape(-1))
                self._set(node.outputs[0], Tensor(dims, dtype, True))
            else:
                self._set_value(node.outputs[0], value)
        else:
            if any(tensor is not None and tensor.value is None for tensor in inputs):
                return False
            values = fold(node, known)
            if values is None or len(values) < len(node.outputs):
                return False
            for name, value in zip(node.outputs, values, strict=False):
                if name:
                    self._set_value(name, value)
        return True

    def _set_value(self, name: str, value: Value) -> None:
        kept = value if value.size <= MAX_VALUE_ELEMENTS else None
        self._set(name, Tensor(value.shape, dtype_of(value), True, kept))

    def _set(self, name: str, tensor: Tensor) -> None:
        if any(size < 0 for size in tensor.shape) or tensor.elements > MAX_TENSOR_ELEMENTS:
            raise GraphError(f"tensor {name!r} cannot have the shape {list(tensor.shape)}")
        self.tensors[name] = tensor

    def _input(self, node: Node, name: str) -> Tensor | None:
        if not name:
            return None
        if name not in self.tensors:
            # Weights that were stripped off; their shape may still be known.
            declared = self._declared_type(name)
            if declared is None:
                raise node.error(
                    f"its input {name!r} is computed by no node, and neither an input nor an "
                    "initializer of the graph; its shape is unknown"
                )
            self._set(name, Tensor(*declared, constant=True))
            self._absent_weights.append(name)
        return self.tensors[name]

    def _guess(self, node: Node, inputs: list[Tensor | None], index: int) -> tuple[Shape, int]:
        first = next((tensor for tensor in inputs if tensor and not tensor.constant), None)
        if knows(node) or first is None:
            sizes = as_written("dimensions", {"NAME": "N"}, command="--dim")
            raise node.error(
                f"the shape of its output {node.outputs[index]!r} is unknown; run shape "
                f"inference over the model, or give its dynamic dimensions with {sizes}, or "
                "INPUT:AXIS=N where they have no name"
            )
        self._guessed.append(node.outputs[index])
        return first.shape, first.dtype

    def _declared_type(self, name: str) -> tuple[Shape, int] | None:
        """Return the shape and type that the file itself states, if all its sizes are known."""
        value = self._declared.get(name)
        if value is None or not value.type.HasField("tensor_type"):
            return None
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            return None
        shape = self.dimensions.of_tensor(tensor.shape)
        return None if shape is None else (shape, int(tensor.elem_type))

    def _input_shape(self, value: Any, *, read: bool) -> tuple[Shape, int]:
        if not value.type.HasField("tensor_type"):
            raise GraphError(f"input {value.name!r} is not a tensor; only tensors can be mapped")
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            raise GraphError(f"input {value.name!r} has no shape")
        return self.dimensions.of_input(value, read=read), int(tensor.elem_type) or FLOAT


def _stored_type(node: Node, inputs: list[Tensor | None]) -> int:
    """Return the type of a constant in the file if the node gives it another one, else 0."""
    source = inputs[0] if inputs else None
    if source is None or not source.constant:
        return 0
    if node.operator == "DequantizeLinear":
        return source.dtype
    # Exporters transpose quantised weights after they have been dequantised.
    return source.stored_as if node.operator in ("Transpose", "Reshape", "Identity") else 0


def _some(names: list[str]) -> str:
    """Return a few names, and how many more there are."""
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
