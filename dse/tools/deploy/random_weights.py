"""Random values for the weights that a model lacks, and for its inputs.

Values of a tensor follow from the seed and its name, so parts of a model get those of the whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.results.deploy.scripts.values import random_value
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.nodes import numpy_dtype
from paretosoc.sdf.onnx.parts import PartTensor, put_in


def numpy_type(tensor: PartTensor, label: str) -> Any:
    """Return the type of a tensor's elements.

    Raises:
        ResultError: if there is no plain one.
    """
    dtype = numpy_dtype(tensor.data_type)
    if dtype is None:
        raise ResultError(
            f"{label}: tensor {tensor.name!r} has a type that no random values are made for"
        )
    return dtype


def random_weight(seed: int, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return values that keep activations at about their size, positive if they may be
    variances."""
    rng = _generator(seed, name)
    if not np.issubdtype(dtype, np.floating):
        return rng.integers(0, 2, shape).astype(dtype)
    if len(shape) < 2:
        return rng.uniform(0.5, 1.5, shape).astype(dtype)
    spread = np.sqrt(6 / max(1, int(np.prod(shape[1:]))))
    weights = rng.random(shape, dtype=np.float32)
    weights -= np.float32(0.5)
    weights *= np.float32(2 * spread)
    return weights.astype(dtype, copy=False)


def random_input(seed: int, tensor: PartTensor, dtype: Any) -> NDArray[Any]:
    """Return values for an input of a network."""
    made: NDArray[Any] = random_value(_generator(seed, tensor.name), tensor.shape or (), dtype)
    return made


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def give_random_weights(model: Any, absent: Iterable[PartTensor], seed: int, label: str) -> int:
    """Give a model values for weights that it lacks, or fills with one number. Returns their
    number.

    Graphs without weights compute them by ``ConstantOfShape``. These nodes become initializers.

    Args:
        model: ``onnx.ModelProto``, changed in place.
        absent: weights that the model takes as inputs.

    Raises:
        ResultError: if a weight has no plain type.
    """
    from onnx import numpy_helper

    graph = model.graph
    shapes = {name: (shape, dtype) for name, shape, dtype in take_fillings(model)}
    shapes |= {t.name: (t.shape or (), numpy_type(t, label)) for t in absent}
    put_in(graph.input, [value for value in graph.input if value.name not in shapes])
    graph.initializer.extend(
        numpy_helper.from_array(random_weight(seed, name, shape, dtype), name)
        for name, (shape, dtype) in shapes.items()
    )
    return len(shapes)


def take_fillings(model: Any) -> list[tuple[str, tuple[int, ...], Any]]:
    """Remove the ``ConstantOfShape`` nodes of floats from a model. Returns names, shapes and types
    of their outputs. A model without weights has these in their place."""
    from onnx import numpy_helper

    graph = model.graph
    values = {tensor.name: tensor for tensor in graph.initializer}
    values |= {
        node.output[0]: attribute.t
        for node in graph.node
        if node.op_type == "Constant"
        for attribute in node.attribute
        if attribute.name == "value"
    }
    taken = []
    nodes = []
    for node in graph.node:
        shape = values.get(node.input[0]) if node.input else None
        fill = [numpy_dtype(attribute.t.data_type) for attribute in node.attribute] or [np.float32]
        is_filling = node.op_type == "ConstantOfShape" and shape is not None
        # numpy takes None, which stands for a type that it lacks, for a float.
        if not is_filling or fill[0] is None or not np.issubdtype(fill[0], np.floating):
            nodes.append(node)
            continue
        size = tuple(int(number) for number in numpy_helper.to_array(shape).reshape(-1))
        taken.append((node.output[0], size, fill[0]))
    put_in(graph.node, nodes)
    return taken
