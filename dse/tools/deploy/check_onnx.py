"""Comparison of sub-models with the whole model, and of casts with their originals, by ONNX
Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.options import as_written
from paretosoc.common.text import reason_of
from paretosoc.dse.tools.deploy.random_weights import (
    numpy_type,
    random_input,
    random_weight,
    take_fillings,
)
from paretosoc.results.deploy.scripts.values import compare, tolerance_of
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.onnx.dimensions import Dimensions
from paretosoc.sdf.onnx.file import parse_model
from paretosoc.sdf.onnx.nodes import FLOAT16
from paretosoc.sdf.onnx.operators.op_kinds import needs_plugin, operation_name
from paretosoc.sdf.onnx.parts import ModelPart, PartTensor, make_runnable

_KNOWN_IR = 10
"""The file format's version that every ONNX Runtime that we take reads."""

Values = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class WrittenPart:
    """A sub-model and the file that it was written to."""

    part: ModelPart
    path: Path


@dataclass(frozen=True)
class Equality:
    """Comparison of the parts with the whole: a network's results and every tensor that passes from
    one part to another."""

    runtime: str
    seed: int
    tensors: int
    largest_difference: float
    """Over all elements of all tensors compared."""
    random_weights: int
    """Weights that the model does not hold, or fills with one number, and that got random ones."""
    format_difference: float | None = None
    """Largest difference of a part in its number format from the part in FP32, as a share of a
    tensor's largest value; None if formats were not compared."""


def check_equality(
    data: bytes,
    folder: Path | None,
    parts: Sequence[WrittenPart],
    *,
    label: str,
    dimensions: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[Equality, Values]:
    """Run a model and its parts, as they were written, on the same random input.

    Both run without graph optimisations, in one thread.

    Args:
        folder: if it keeps data in other files.
        parts: in an order of execution.
        dimensions: as for the import.

    Returns:
        How they compare, and the values of every input, random weight and output of the parts.

    Raises:
        ResultError: if ONNX Runtime is not installed or cannot run one of them, or a tensor has
            no finite value, or differs by more than the tolerance of an exact result, or of a layer
            in FP16 for each part if such tensors pass between them.
    """
    runtime = optional_import("onnxruntime", extra="deploy", purpose="comparing the parts")
    uncut = parse_model(data, folder)
    make_runnable(uncut)
    for number, node in enumerate(uncut.graph.node):
        # The runtime refuses names that stand twice; exporters write them.
        node.name = f"{node.name}#{number}"
    typed = {t.name: t for written in parts for t in written.part.outputs}
    # A tensor that the branch of an ``If`` makes is one of the parts alone.
    made = {name for node in uncut.graph.node for name in node.output}
    wanted = [name for name in typed if name in made]
    kept = {value.name for value in uncut.graph.output}
    uncut.graph.output.extend(_value_info(typed[name]) for name in wanted if name not in kept)
    filled = _fillings_to_inputs(uncut)
    weights = {t.name: t for written in parts for t in written.part.weights}
    held = {tensor.name for tensor in uncut.graph.initializer}
    inputs = {value.name for value in uncut.graph.input}
    uncut.graph.input.extend(
        _value_info(tensor) for name, tensor in weights.items() if name not in inputs | held
    )
    fed: Values = {
        name: random_weight(seed, name, shape, dtype) for name, (shape, dtype) in filled.items()
    }
    for name, tensor in weights.items():
        fed[name] = random_weight(seed, name, tensor.shape or (), numpy_type(tensor, label))
    for written in parts:
        for tensor in written.part.inputs:
            if tensor.name not in typed and tensor.name not in fed:
                fed[tensor.name] = random_input(seed, tensor, numpy_type(tensor, label))
    sizes = Dimensions(dimensions or {}, uncut.graph.input)
    for value in uncut.graph.input:
        if value.name not in fed.keys() | held:
            # No part reads it: at most its shape, which is a constant in the parts, is used.
            shape = sizes.of_input(value, read=False)
            unread = PartTensor(value.name, shape, value.type.tensor_type.elem_type)
            fed[value.name] = random_input(seed, unread, numpy_type(unread, label))
    # The CPU computes FP16 in FP32: the whole need not round where the parts do.
    halves = any(tensor.data_type == FLOAT16 for tensor in typed.values())
    tolerance = tolerance_of(len(parts), "fp16" if halves else "fp32")
    expected = run_model(runtime, uncut, folder, fed, wanted, label)
    found: Values = dict(fed)
    for written in parts:
        found |= _run_part(runtime, written, found, label)
    equality = Equality(
        runtime=f"onnxruntime {runtime.__version__}",
        seed=seed,
        tensors=len(wanted),
        largest_difference=max(
            _difference(
                expected[name],
                found[name],
                f"{label}: tensor {name!r}",
                tolerance,
                "the parts differ from the whole model",
            )[0]
            for name in wanted
        ),
        random_weights=len(filled) + len(weights),
    )
    return equality, found


def check_formats(
    parts: Sequence[tuple[WrittenPart, int]], values: Values, types: str | None, label: str
) -> float | None:
    """Run each part in its number format on the inputs of the same part in FP32.

    Args:
        parts: as they were written, each with its number of layers.
        values: of the parts in FP32, as :func:`check_equality` gives them.
        types: the number format, or None, which runs the parts and compares nothing.

    Returns:
        The largest difference, as a share of its tensor's largest value, or None if nothing was
        compared.

    Raises:
        ResultError: if ONNX Runtime is not installed or cannot run a part, or a result
            has no finite value, or differs by more.
    """
    runtime = optional_import("onnxruntime", extra="deploy", purpose="comparing the parts")
    shares = [0.0]
    for written, layers in parts:
        found = _run_part(runtime, written, values, label)
        if types is None:
            continue
        operations = {node.op_type for node in written.part.model.graph.node}
        tolerance = tolerance_of(layers, types, operations)
        claim = "the part in its number format differs from the part in FP32"
        name = f"{label}, {written.path.name}: tensor"
        shares += [
            _difference(values[tensor], result, f"{name} {tensor!r}", tolerance, claim)[1]
            for tensor, result in found.items()
        ]
    return None if types is None else max(shares)


def _run_part(runtime: Any, written: WrittenPart, values: Values, label: str) -> Values:
    import onnx

    model = onnx.load(str(written.path), load_external_data=False)
    _fillings_to_inputs(model)
    names = [tensor.name for tensor in written.part.outputs]
    name = f"{label}, {written.path.name}"
    return run_model(runtime, model, written.path.parent, values, names, name)


def _difference(
    expected: NDArray[Any], found: NDArray[Any], label: str, tolerance: float, claim: str
) -> tuple[float, float]:
    """Return the largest difference, and as a share of the largest expected value."""
    if expected.shape != found.shape:
        raise ResultError(
            f"{label}: {claim}: the shape is {list(found.shape)} instead of {list(expected.shape)}"
        )
    if not expected.size:
        return 0.0, 0.0
    if not np.isfinite(expected).any():
        unchecked = as_written("check", value=False, command="--no-check")
        raise ResultError(
            f"{label}: has no finite value on random input, so nothing can be compared; "
            f"{unchecked} skips this check"
        )
    difference, largest = compare(found, expected)
    if not difference <= tolerance * largest:
        raise ResultError(
            f"{label}: {claim} by {difference:g}; at most {tolerance * largest:.3g} is permitted"
        )
    return difference, difference / largest if largest else 0.0


def _fillings_to_inputs(model: Any) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Turn fillings into inputs by name. All elements equal would hide mistakes."""
    from onnx import helper

    filled = {name: (shape, dtype) for name, shape, dtype in take_fillings(model)}
    model.graph.input.extend(
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        for name, (shape, dtype) in filled.items()
    )
    return filled


def _value_info(tensor: PartTensor) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.shape)


def _typed(values: NDArray[Any], entry: Any) -> NDArray[Any]:
    """Convert floats to the type of a session's input, since a part may have been cast."""
    wanted = {"tensor(float16)": np.float16, "tensor(float)": np.float32}.get(entry.type)
    return values if wanted is None else values.astype(wanted, copy=False)


def run_model(
    runtime: Any,
    model: Any,
    folder: Path | None,
    values: Mapping[str, NDArray[Any]],
    wanted: Sequence[str],
    label: str,
) -> Values:
    """Return the results of a model by ONNX Runtime, without graph optimisations, in one thread."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if folder is not None:
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(folder)
        )
    # A new onnx package marks files with a version that the runtime may not know yet, even if
    # nothing in them is new.
    model.ir_version = min(model.ir_version, _KNOWN_IR)
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        feeds = {entry.name: _typed(values[entry.name], entry) for entry in session.get_inputs()}
        results = session.run(list(wanted), feeds)
    except Exception as error:
        # ONNX Runtime's errors share no base class but Exception.
        unchecked = as_written("check", value=False, command="--no-check")
        foreign = {
            operation_name(node.domain, node.op_type)
            for node in model.graph.node
            if needs_plugin(node.domain)
        }
        cause = (
            f"{', '.join(sorted(foreign))} needs a plugin of the runtime"
            if foreign
            else "it may have no weights, or not take random input (integers are 0 or 1)"
        )
        raise ResultError(
            f"{label}: ONNX Runtime cannot run it; {cause}. {unchecked} skips this check: "
            f"{reason_of(error)}"
        ) from None
    return dict(zip(wanted, results, strict=True))
