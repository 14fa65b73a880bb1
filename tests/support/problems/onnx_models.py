"""Small models, node by node, and the layers read from them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import FunctionProto, ModelProto, TensorProto, helper, numpy_helper

from paretosoc.sdf.layer import Layer
from paretosoc.sdf.onnx.importer import ImportedNetwork, import_onnx_bytes

Shapes = dict[str, Sequence[int | str | None]]


def shape_only(name: str, *dims: int) -> Any:
    """An initializer whose data has been left out."""
    return TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)


def integers(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(
    nodes: Sequence[Any],
    inputs: Shapes,
    outputs: Sequence[str],
    weights: Sequence[Any] = (),
    *,
    opset: int = 17,
    domains: Sequence[tuple[str, int]] = (),
    functions: Sequence[FunctionProto] = (),
    value_info: Shapes | None = None,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "trap",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        initializer=list(weights),
        value_info=[
            helper.make_tensor_value_info(name, 1, shape)
            for name, shape in (value_info or {}).items()
        ],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in (("", opset), *domains)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


def read(proto: ModelProto, **options: Any) -> ImportedNetwork:
    return import_onnx_bytes(proto.SerializeToString(), name="trap", **options)


def layers(network: ImportedNetwork) -> list[Layer]:
    return [actor.layer for actor in network.graph.actors if actor.layer is not None]


def only(network: ImportedNetwork) -> Layer:
    (layer,) = layers(network)
    return layer


def node(operation: str, inputs: Sequence[str], output: str | Sequence[str] = "y", **more: Any):
    outputs = [output] if isinstance(output, str) else list(output)
    return helper.make_node(operation, list(inputs), outputs, **more)
