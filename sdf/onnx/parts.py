"""An ONNX model cut into sub-models that give, one after the other, the same results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.file import parse_model
from paretosoc.sdf.onnx.importer import model_errors
from paretosoc.sdf.onnx.nodes import Shape
from paretosoc.sdf.onnx.operators.shapes import DATA_DEPENDENT
from paretosoc.sdf.onnx.walk import Walk, walk_model

_OLDEST_IR = 4
"""Before it, every initializer had to be an input of the graph, too."""
_FILLING = 0.02
_MIN_EXTERNAL_BYTES = 1024
"""Bytes from which a tensor goes to the file beside the model, if there is one."""


@dataclass(frozen=True)
class PartTensor:
    """A tensor that enters or leaves a sub-model. ``shape`` is None if it depends on the data."""

    name: str
    shape: Shape | None
    data_type: int
    """Type as in TensorProto.DataType."""


@dataclass(frozen=True, eq=False)
class ModelPart:
    """A sub-model. Its tensors keep their names."""

    model: Any
    """``onnx.ModelProto``. Data in other files is only referred to."""
    inputs: tuple[PartTensor, ...]
    """Activations, in order of first use."""
    weights: tuple[PartTensor, ...]
    """Weights that the model takes as inputs, or lacks. They are inputs of the sub-model, too."""
    outputs: tuple[PartTensor, ...]
    """In the order in which they are computed. A tensor that no other part reads is a network's
    result."""


def cut_model(
    data: bytes,
    folder: Path | None,
    parts: Sequence[Sequence[str]],
    *,
    dimensions: Mapping[str, int] | None = None,
    label: str = "model",
) -> tuple[ModelPart, ...]:
    """Cut a model into sub-models.

    Shapes that the model computes from its activations' shapes become constants, since the sizes of
    all dimensions are known. Nodes get their layers' names.

    Args:
        folder: the folder that may hold data in other files.
        parts: the layers of each part, by the names that the import (:mod:`sdf.onnx.importer`)
            gives. Each layer once, parts in an order of execution.
        dimensions: as for the import.

    Raises:
        GraphError: if the model is not sound, the parts are not exactly its layers, a part reads
            the result of a later one, or a result of the model is computed by no layer.
    """
    with model_errors(label):
        model = parse_model(data, folder)
        make_runnable(model)
        walk = walk_model(model, dict(dimensions or {}))
        owner = _owners(walk, parts)
        _prepare(model, walk)
        return tuple(_part(model, walk, owner, number) for number in range(len(parts)))


def make_runnable(model: Any) -> None:
    """Add what ONNX Runtime needs beside what costs are read from: weights, and grown caches."""
    for node in model.graph.node:
        if node.op_type == "Attention" and not node.domain and len(node.input) > 5:
            # It refuses a cache that nothing takes over, though ONNX makes these results optional.
            node.output.extend(f"{node.output[0]}:{k}" for k in range(len(node.output), 3))
    _fill_absent_weights(model)


def _fill_absent_weights(model: Any) -> None:
    """Give initializers whose values were left out one value for all elements.

    As the graphs in the onnx package do it: ``ConstantOfShape``, so that the file stays small and
    can be run to see how long it takes.
    """
    import numpy as np
    from onnx import helper, numpy_helper

    graph = model.graph
    absent = [tensor for tensor in graph.initializer if _is_absent(tensor)]
    if not absent:
        return
    names = {tensor.name for tensor in absent}
    sizes, fills = [], []
    for tensor in absent:
        dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
        value = numpy_helper.from_array(np.full(1, _FILLING).astype(dtype))
        shape = f"shape of {tensor.name}"
        sizes.append(numpy_helper.from_array(np.array(tensor.dims, np.int64), shape))
        fills.append(helper.make_node("ConstantOfShape", [shape], [tensor.name], value=value))
    held = [tensor for tensor in graph.initializer if tensor.name not in names]
    nodes, inputs = list(graph.node), [v for v in graph.input if v.name not in names]
    for field, content in (
        (graph.initializer, [*held, *sizes]),
        (graph.node, [*fills, *nodes]),
        (graph.input, inputs),
    ):
        put_in(field, content)


def put_in(field: Any, entries: Iterable[Any]) -> None:
    """Replace the content of a repeated field. Entries may be of it: they are copied before they
    are freed."""
    copies = [type(entry).FromString(entry.SerializeToString()) for entry in entries]
    del field[:]
    field.extend(copies)


def _is_absent(tensor: Any) -> bool:
    held = ("raw_data", "float_data", "int32_data", "int64_data", "string_data", "double_data",
            "uint64_data")  # fmt: skip
    return (
        all(size > 0 for size in tensor.dims)
        and tensor.data_location != 1
        and not any(len(getattr(tensor, name)) for name in held)
    )


def save_part(part: ModelPart, path: Path, folder: Path | None) -> tuple[Path, ...]:
    """Write a sub-model, and beside it one file with the data that the model keeps in files.

    Args:
        folder: of the model.

    Returns:
        The files that were written.

    Raises:
        GraphError: if the data cannot be read.
        OSError: if the files cannot be written.
    """
    import onnx
    from onnx.external_data_helper import load_external_data_for_model, uses_external_data

    if not any(uses_external_data(tensor) for tensor in part.model.graph.initializer):
        path.write_bytes(part.model.SerializeToString())
        return (path,)
    assert folder is not None, "data in other files has a folder"
    whole = onnx.ModelProto()
    whole.CopyFrom(part.model)
    try:
        load_external_data_for_model(whole, str(folder))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise GraphError(f"{folder}: the model's data cannot be read: {error}") from None
    outside = path.with_name(path.name + ".data")
    onnx.save_model(
        whole,
        str(path),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=outside.name,
        size_threshold=_MIN_EXTERNAL_BYTES,
    )
    if not outside.exists():
        return (path,)
    outside.chmod(path.stat().st_mode)  # The onnx package leaves it to its owner alone.
    return (path, outside)


def _owners(walk: Walk, parts: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the part by layer name."""
    owner = {name: number for number, part in enumerate(parts) for name in part}
    if sum(map(len, parts)) != len(owner) or set(owner) != {node.name for node in walk.layers}:
        raise GraphError("its layers are not those of the groups; the model is another one")
    return owner


def _prepare(model: Any, walk: Walk) -> None:
    """Make the model one that can be cut anywhere: nodes in order and named, every activation
    with type and shape, no constant that depends on an activation."""
    from onnx import helper, numpy_helper

    graph = model.graph
    if graph.sparse_initializer:
        raise GraphError("it has sparse initializers; a model with these cannot be cut")
    del graph.quantization_annotation[:]
    for node in walk.layers:
        node.proto.name = node.name
    bound: set[str] = set()
    nodes = []
    baked = []
    for node in walk.constants:
        inputs = [name for name in node.inputs if name]
        if any(name in bound or not walk.tensors[name].constant for name in inputs):
            values = {name: walk.tensors[name].value for name in node.outputs if name}
            bound.update(values)
            if all(value is not None for value in values.values()):
                baked += [numpy_helper.from_array(value, name) for name, value in values.items()]
                continue
        nodes.append(node.proto)
    put_in(graph.node, [*nodes, *(node.proto for node in walk.layers)])
    graph.initializer.extend(baked)
    unsized = _unsized(walk)
    del graph.value_info[:]
    del graph.input[:]
    del graph.output[:]
    held = {tensor.name for tensor in graph.initializer}
    made = {name for node in walk.constants for name in node.outputs}
    graph.value_info.extend(
        helper.make_tensor_value_info(
            name, tensor.dtype, None if name in unsized else list(tensor.shape)
        )
        for name, tensor in walk.tensors.items()
        if not (tensor.constant and (name in held or name in made))
    )
    model.ir_version = max(model.ir_version, _OLDEST_IR)


def _unsized(walk: Walk) -> set[str]:
    """Return the tensors whose shape depends on the data."""
    names: set[str] = set()
    for node in walk.layers:
        by_data = node.domain == "" and node.operator in DATA_DEPENDENT
        if by_data or names.intersection(node.inputs):
            names.update(filter(None, node.outputs))
    return names


def _part(model: Any, walk: Walk, owner: Mapping[str, int], number: int) -> ModelPart:
    from onnx.utils import Extractor

    producer: dict[str, int] = {}
    read_elsewhere: set[str] = set(walk.outputs)
    activations: list[str] = []
    made: list[str] = []
    for node in walk.layers:
        here = owner[node.name] == number
        for name in dict.fromkeys(filter(None, node.inputs)):
            if name in producer and producer[name] > owner[node.name]:
                raise GraphError(f"{node.label}: reads {name!r}, which a later part computes")
            if not here:
                read_elsewhere.add(name)
            elif producer.get(name) != number and not walk.tensors[name].constant:
                activations.append(name)
        for name in filter(None, node.outputs):
            producer[name] = owner[node.name]
            if here:
                made.append(name)
    lost = [name for name in walk.outputs if name not in producer]
    if lost:
        raise GraphError(f"its result {lost[0]!r} is computed by no layer; it cannot be cut")
    inputs = list(dict.fromkeys(activations))
    outputs = [name for name in made if name in read_elsewhere]
    if not outputs:
        raise GraphError(f"nothing that part {number} computes is used")
    extractor = Extractor(model)
    extracted = extractor.extract_model(inputs, outputs)
    absent = _read_from_nowhere(extracted.graph)
    extracted.graph.input.extend(extractor.value_infos[name] for name in absent)
    extracted.graph.name = f"part {number} of {model.graph.name}"
    # The walk serves costs: the type of a tensor that is never read may be wrong.
    del extracted.graph.value_info[:]
    unsized = _unsized(walk)

    def described(names: Sequence[str]) -> tuple[PartTensor, ...]:
        return tuple(
            PartTensor(
                name,
                None if name in unsized else walk.tensors[name].shape,
                walk.tensors[name].dtype,
            )
            for name in names
        )

    return ModelPart(extracted, described(inputs), described(absent), described(outputs))


def _read_from_nowhere(graph: Any) -> list[str]:
    """Return tensors neither computed nor held nor an input: weights that the model lacks."""
    known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    known.update(name for node in graph.node for name in node.output)
    read = [name for node in graph.node for name in node.input if name]
    return [name for name in dict.fromkeys(read) if name not in known]
