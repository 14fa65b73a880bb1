"""A model with its weights, ready to have single layers in another number format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paretosoc.dse.tools.deploy.random_weights import take_fillings
from paretosoc.dse.tools.deploy.strong_types import QDQ_OPSET
from paretosoc.results.errors import ResultError
from paretosoc.sdf.catalogue.catalogue import model_file
from paretosoc.sdf.onnx.importer import import_onnx_bytes, model_errors
from paretosoc.sdf.onnx.parts import PartTensor, cut_model


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A network whose nodes have the names of its layers."""

    name: str
    model: Any
    """``onnx.ModelProto``, all weights inside."""
    layers: tuple[str, ...]
    """In an order of execution."""
    inputs: tuple[PartTensor, ...]
    outputs: tuple[str, ...]


def trained_model(source: str, dimensions: Mapping[str, int] | None = None) -> TrainedModel:
    """Reads a model.

    Args:
        source: an ``.onnx`` file, or a name of the catalogue.
        dimensions: sizes of dynamic dimensions by name.

    Raises:
        GraphError: if it cannot be read or has a dimension without a size.
        ResultError: if it has no trained weights, or is quantised.
    """
    from onnx import version_converter
    from onnx.external_data_helper import load_external_data_for_model

    file = model_file(source, dimensions)
    network = import_onnx_bytes(
        file.data, name=file.name, folder=file.folder, dimensions=dimensions, label=file.label
    )
    if network.is_quantised:
        raise ResultError(f"{file.label}: a model in floats is required, this one is quantised")
    layers = tuple(actor.name for actor in network.graph.actors)
    (part,) = cut_model(file.data, file.folder, [layers], dimensions=dimensions, label=file.label)
    model = part.model
    with model_errors(file.label):
        if file.folder is not None:
            load_external_data_for_model(model, str(file.folder))
        if part.weights or _is_filled(model):
            raise ResultError(
                f"{file.label}: a model with trained weights is required, this one has none"
            )
        version = next(entry.version for entry in model.opset_import if not entry.domain)
        if version < QDQ_OPSET:
            model = version_converter.convert_version(model, QDQ_OPSET)
    return TrainedModel(
        file.name, model, layers, part.inputs, tuple(tensor.name for tensor in part.outputs)
    )


def _is_filled(model: Any) -> bool:
    """Return whether most weights are one number for all elements, as graphs without weights have
    it."""
    held = sum(math.prod(tensor.dims) for tensor in model.graph.initializer)
    copy = type(model).FromString(model.SerializeToString())
    filled = sum(math.prod(shape) for _, shape, _ in take_fillings(copy))
    return filled > int(held)
