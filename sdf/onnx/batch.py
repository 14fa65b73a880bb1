"""An ONNX model whose inputs hold a batch of images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.file import parse_model
from paretosoc.sdf.onnx.importer import model_errors
from paretosoc.sdf.onnx.walk import Walk, walk_model


def model_of_batch(
    data: bytes,
    folder: Path | None,
    images: int,
    *,
    dimensions: Mapping[str, int] | None = None,
    label: str = "model",
) -> bytes:
    """Return the model with the first dimension of every input ``images`` instead of 1.

    A ``Reshape`` that keeps a first dimension of 1 keeps the batch.

    Args:
        folder: of its data in other files.

    Raises:
        GraphError: if a tensor does not grow with the batch because the number of images is fixed
            in the model.
    """
    if images == 1:
        return data
    with model_errors(label):
        single = walk_model(parse_model(data, folder), dict(dimensions or {}))
        model = parse_model(data, folder)
        for value in model.graph.input:
            if value.name in single.inputs:
                value.type.tensor_type.shape.dim[0].dim_value = images
        for value in (*model.graph.value_info, *model.graph.output):
            value.type.tensor_type.ClearField("shape")
        _keep_batch(model, single, images)
        with naming(f"a batch of {images}", GraphError):
            several = walk_model(model, dict(dimensions or {}))
        for node in several.layers:
            for name in filter(None, node.outputs):
                one, all_of = single.tensors[name].elements, several.tensors[name].elements
                if all_of != images * one:
                    raise GraphError(
                        f"a batch of {images}: the tensor {name!r} must have {images} times "
                        f"{one} elements, got {all_of}: the model is written for one image; "
                        "export it with a dynamic batch"
                    )
        changed: bytes = model.SerializeToString()
        return changed


def _keep_batch(model: Any, single: Walk, images: int) -> None:
    """Give every reshape from a first dimension of 1 to one of 1 the batch instead."""
    import numpy as np
    from onnx import numpy_helper

    for node in model.graph.node:
        if node.op_type != "Reshape" or len(node.input) < 2 or node.input[0] not in single.tensors:
            continue
        shape = single.tensors[node.input[1]].value
        first = single.tensors[node.input[0]].shape[:1]
        if shape is None or shape.ndim != 1 or shape[:1].tolist() != [1] or first != (1,):
            continue
        name = f"shape of the batch for {node.output[0]}"
        size = np.concatenate([[images], shape[1:]]).astype(np.int64)
        model.graph.initializer.append(numpy_helper.from_array(size, name))
        node.input[1] = name
