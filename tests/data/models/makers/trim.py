"""Models with the same work in a form that is small, or that ONNX Runtime runs anywhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

_KEPT_ELEMENTS = 64
"""Constants up to this size keep their values: sizes, axes, scales."""


def with_files(work: Callable[[Path, Path], Any], model: Any) -> Any:
    """A tool that reads one file and writes another."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.onnx", Path(folder) / "made.onnx"
        onnx.save(model, given)
        work(given, made)
        return onnx.load(made)


def without_values(model: Any) -> Any:
    """The model with the values of its large constants gone, and no notes of the exporter."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graphs = [made.graph, *made.functions]
    for proto in (made, made.graph):
        proto.doc_string = ""
        del proto.metadata_props[:]
    while graphs:
        graph = graphs.pop()
        tensors = list(getattr(graph, "initializer", ()))
        for value in getattr(graph, "value_info", ()):
            del value.metadata_props[:]
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                if attribute.HasField("t"):
                    tensors.append(attribute.t)
        for tensor in tensors:
            elements = int(np.prod(tensor.dims, dtype=object))
            whole = tensor.data_type == TensorProto.INT64 and elements <= 4096
            if elements > _KEPT_ELEMENTS and not whole:
                bare = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
                tensor.CopyFrom(bare)
    return made


def in_float(model: Any) -> Any:
    """The same graph in 32 bits, for processors whose operators know no half precision."""
    half, single = TensorProto.FLOAT16, TensorProto.FLOAT

    def widen(tensor: Any) -> None:
        if tensor.data_type == half:
            values = numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))

    for tensor in model.graph.initializer:
        widen(tensor)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if value.type.tensor_type.elem_type == half:
            value.type.tensor_type.elem_type = single
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                widen(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == half:
                attribute.i = single
    return model


def without_branches(model: Any, dimensions: dict[str, int]) -> Any:
    """ONNX Runtime resolves an ``If`` on sizes once the sizes are known."""
    if all(node.op_type != "If" for node in model.graph.node):
        return model
    import onnxruntime

    def work(given: Path, made: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(made)
        for name, size in {"batch": 1, **dimensions}.items():
            options.add_free_dimension_override_by_name(name, size)
        onnxruntime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])

    return with_files(work, model)
